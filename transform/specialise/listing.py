"""What a program does with lists: stores, methods, sums of lists, NumPy's functions.

    xs[1:3] = [x, x * x]     ->   for ...: Remove(xs, 1); Insert(xs, x, 1) ...
    xs.extend(ys)            ->   for y in ys: Insert(xs, y)
    np.stack(xs)             ->   Load(rows, xs)

Each does the same to a list that is known while the program is rewritten.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import gast
import numpy as np

from gradwright.transform.build import constant
from gradwright.transform.core import (
    Const,
    For,
    If,
    Insert,
    List,
    Raise,
    Remove,
    Span,
    Value,
    stores,
    type_of,
    walk,
)
from gradwright.transform.errors import UnsupportedSyntax
from gradwright.transform.indices import Linear, linear, symbol
from gradwright.transform.specialise import gathering
from gradwright.transform.specialise.abstract import (
    BoundMethod,
    Counting,
    Generator,
    Items,
    Listed,
    ListItems,
    Mapped,
    Static,
    Structure,
    Zipped,
    as_constant,
    describe,
    is_operand,
    leaves,
)
from gradwright.transform.specialise.births import (
    change,
    may_change,
    origin_of,
    promote_for,
)
from gradwright.transform.specialise.frame import Frame, ProgramError
from gradwright.transform.specialise.lists import (
    as_array,
    begin,
    first_place,
    holds_lists,
    index_of,
    insert,
    item,
    length,
    part,
    put,
    remove,
    settled,
)
from gradwright.transform.specialise.methods import call_function
from gradwright.transform.types import INT, VARYING, Type

# ---- stores ------------------------------------------------------------------------


def store(
    frame: Frame, owner: Any, target: Any, value: Any, function: Any = None
) -> None:
    """owner[index] = value, or an operator's store, into a list."""
    from gradwright.transform.specialise.expressions import binary
    from gradwright.transform.specialise.subscripts import part_value

    at = part_value(frame, target.slice)
    if isinstance(at, Span):
        if function is not None:
            raise frame.error(
                UnsupportedSyntax, "an operator on a slice of a list", target
            )
        _put_slice(frame, owner, at, value, target)
        return
    if isinstance(owner, Listed):
        put(frame, owner, index_of(frame, at), value, target, function)
        return
    may_change(frame, owner, target)
    promote_for(frame, owner, at, target)
    k = frame.static_int(at, target, "the position in a list")
    held = list(owner.items)
    if not -len(held) <= k < len(held):
        raise ProgramError(IndexError("list assignment index out of range"))
    if function is not None and in_place(frame, function, held[k], value, target):
        return
    held[k] = value if function is None else binary(
        frame, function, held[k], value, target
    )  # fmt: skip
    change(frame, owner, held, target)


def _put_slice(frame: Frame, owner: Any, span: Span, value: Any, node: Any) -> None:
    """owner[a:b] = values."""
    items = items_of(frame, value, node)
    if isinstance(owner, Structure):
        bounds = [
            None if b is None else frame.static_int(b, node, "this bound")
            for b in (span.lower, span.upper, span.step)
        ]
        birth = may_change(frame, owner, node)
        if not isinstance(items, Structure):
            raise birth.promotion()
        held = list(owner.items)
        try:
            held[slice(*bounds)] = items.items
        except ValueError as e:
            raise ProgramError(e) from None
        change(frame, owner, held, node)
        return
    if span.step is not None and span.step != linear(1):
        raise frame.error(
            UnsupportedSyntax, "a store into a slice of a list with a step", node
        )
    if _read_from(items, owner) or _makes_items(items):
        items = listed_of(frame, items, node)
    lower, upper = bounds_of(frame, owner, span, node)

    times = Counting(lower, upper, linear(1))
    each(frame, times, node, lambda k, _: remove(frame, owner, lower))
    if isinstance(items, Structure):
        for k, new in enumerate(items.items):
            insert(frame, owner, new, lower + k, node)
        return
    each(frame, items, node, lambda k, new: insert(frame, owner, new, lower + k, node))


def delete(frame: Frame, target: Any) -> None:
    """Del xs[k], del xs[a:b]."""
    from gradwright.transform.primitives.reductions import delete_at
    from gradwright.transform.specialise.subscripts import part_value

    owner = frame.evaluate(target.value)
    if not isinstance(owner, Listed) and not _is_list(owner):
        raise frame.error(UnsupportedSyntax, f"'del' of {describe(owner)}", target)
    at = part_value(frame, target.slice)
    if isinstance(at, Span):
        _put_slice(frame, owner, at, Structure(tuple, ()), target)
        return
    if isinstance(owner, Structure):
        birth = may_change(frame, owner, target)
        if getattr(at, "constant", None) is None:
            raise birth.promotion()
    call_function(frame, delete_at, [owner, index_of(frame, at)], {}, target)


def bounds_of(frame: Frame, owner: Listed, span: Span, node: Any) -> Any:
    """Where a slice begins and ends, counted from the front."""
    from gradwright.transform.specialise.expressions import choose, comparison, operate

    n = length(frame, owner)

    def place(bound: Any, default: Linear) -> Any:
        if bound is None:
            return default
        if bound == linear(0):
            return bound

        def from_end() -> Any:
            return operate(frame, max, node, n + bound, linear(0))

        def from_front() -> Any:
            return operate(frame, min, node, bound, n)

        test = comparison(frame, gast.Lt(), bound, linear(0), node)
        if isinstance(test, Const):
            return from_end() if test.value else from_front()
        return choose(frame, test, from_end, from_front, node, "bound")

    return place(span.lower, linear(0)), place(span.upper, n)


# ---- loops over them ---------------------------------------------------------------


def items_of(frame: Frame, a: Any, node: Any) -> Any:
    """What is iterated over: known items, a list, or something of the run."""
    from gradwright.transform.specialise.builtins import iterable

    return a if isinstance(a, Listed) else iterable(frame, a, node)


def each(
    frame: Frame, items: Any, node: Any, act: Callable[[Linear, Any], None]
) -> None:
    """Write a loop over items of the run; `act` takes a count and an item."""
    from gradwright.transform.specialise.statements import item_in, length_of

    k = Value("k", INT)
    if isinstance(items, Listed):
        items = ListItems(items)
    over = items.items if isinstance(items, Mapped) else items
    if isinstance(over, Counting):
        loop = For(k, over.start, over.stop, over.step, [], over.backwards)
    else:
        backwards = isinstance(over, Items | ListItems) and over.backwards
        n = length_of(frame, items, node)
        loop = For(k, linear(0), n, linear(1), [], backwards)
    loop.body = frame.block(lambda: act(symbol(k), item_in(frame, items, loop)))
    frame.builder.add(loop)
    frame.builder.forget(stores(loop))


def _read_from(items: Any, owner: Listed) -> bool:
    """Whether iterating reads a list, under this name or another one."""
    match items:
        case Zipped():
            return any(_read_from(p, owner) for p in items.parts)
        case Mapped():
            return _read_from(items.items, owner)
        case ListItems():
            return _read_from(items.listed, owner)
        case Listed():
            place = first_place(items)
            return items is owner or (place is not None and place is first_place(owner))
    return False


def _makes_items(items: Any) -> bool:
    """Whether what is iterated over comes into being on the way."""
    if isinstance(items, Zipped):
        return any(map(_makes_items, items.parts))
    return isinstance(items, Mapped)


def refuse_resized(items: Any, loop: For, frame: Frame, node: Any) -> None:
    """A loop over a list does not change its length."""
    match items:
        case Zipped():
            for p in items.parts:
                refuse_resized(p, loop, frame, node)
        case Mapped():
            refuse_resized(items.items, loop, frame, node)
        case ListItems():
            places, path = set(leaves(items.listed.tree)), items.listed.path
            changed = (s for s in walk(loop.body) if isinstance(s, Insert | Remove))
            if any(s.place in places and len(s.path) <= len(path) for s in changed):
                raise frame.error(
                    UnsupportedSyntax,
                    "the length of a list changes in a loop over it",
                    node,
                    instead="for ... in list(...) of it",
                )


# ---- from other values -------------------------------------------------------------


def listed_of(frame: Frame, a: Any, node: Any) -> Listed:
    """A new list with the items of anything."""
    items = items_of(frame, a, node)
    if isinstance(items, Listed):
        return part(frame, items, Span(), node)
    made: Listed = begin(frame, origin_of(frame, node), node)
    extend(frame, made, items, node)
    return made


def extend(frame: Frame, listed: Listed, a: Any, node: Any) -> None:
    """Append every item of something."""
    if isinstance(a, Generator):
        gathering.append_all(frame, listed, a, node)
        return
    items = items_of(frame, a, node)
    if _read_from(items, listed):
        items = listed_of(frame, items, node)
    if isinstance(items, Structure):
        for new in items.items:
            insert(frame, listed, new, None, node)
    else:
        each(frame, items, node, lambda k, new: insert(frame, listed, new, None, node))


def joined(frame: Frame, a: Any, b: Any, node: Any) -> Listed:
    """A + b."""
    made = listed_of(frame, a, node)
    extend(frame, made, b, node)
    return made


def repeated(frame: Frame, a: Any, n: Linear, node: Any) -> Listed:
    """A * n."""
    held = a.items if isinstance(a, Structure) else ()
    if holds_lists(a) or any(isinstance(x, Listed) or _is_list(x) for x in held):
        raise frame.error(
            UnsupportedSyntax,
            "a list that holds one list several times",
            node,
            instead="[list(row) for _ in range(n)]",
        )
    origin = origin_of(frame, node)
    kind = frame.program.kinds.get(origin)
    if isinstance(a, Structure) and len(a.items) == 1 and kind is not None:
        zero = as_constant(a.items[0])
        is_zero = (zero == linear(0)) or (isinstance(zero, Const) and zero.value == 0)
        if is_zero and isinstance(kind.tree, Type) and str(zero) != "-0.0":
            return begin(frame, origin, node, length=n)  # type: ignore[no-any-return]
    made: Listed = begin(frame, origin, node)
    times = Counting(linear(0), n, linear(1))
    each(frame, times, node, lambda k, _: extend(frame, made, a, node))
    return made


def in_place(frame: Frame, function: Any, xs: Any, a: Any, node: Any) -> bool:
    """Xs += a, and xs *= n; False where this changes no list, as of an array beside."""
    if not (isinstance(xs, Listed) or _is_list(xs)):
        return False
    if is_operand(a) and not type_of(a).python:
        return False  # NumPy makes an array of both
    if function is operator.add:
        _extend(frame, xs, [a], {}, node)
        return True
    if function is operator.mul and isinstance(a, Linear):
        _repeat(frame, xs, a, node)
        return True
    return False


def _repeat(frame: Frame, xs: Any, n: Linear, node: Any) -> None:
    """Let a list hold what it holds n times, in place."""
    if isinstance(xs, Structure):
        birth = may_change(frame, xs, node)
        if n.constant is None:
            raise birth.promotion()
        change(frame, xs, xs.items * n.constant, node)
        return
    once = part(frame, xs, Span(), node)
    more, never = Counting(linear(1), n, linear(1)), Counting(n, linear(1), linear(1))
    each(frame, more, node, lambda k, _: extend(frame, xs, once, node))
    each(frame, never, node, lambda k, _: _clear(frame, xs, [], {}, node))


def sequence(frame: Frame, function: Any, a: Any, b: Any, node: Any) -> Listed | None:
    """A + b and a * n of lists of run-time length; None where NumPy decides."""
    lists = [isinstance(x, Listed) for x in (a, b)]
    if function is operator.add:
        both = [
            is_list or _is_list(x) for is_list, x in zip(lists, (a, b), strict=True)
        ]
        return joined(frame, a, b, node) if any(lists) and all(both) else None
    if function is operator.mul:
        for x, n in ((a, b), (b, a)):
            if not isinstance(n, Linear):
                continue
            if isinstance(x, Listed) or (_is_list(x) and n.constant is None):
                return repeated(frame, x, n, node)
    return None


def _is_list(a: Any) -> bool:
    return isinstance(a, Structure) and a.kind is list


# ---- sorting -----------------------------------------------------------------------


def sorted_now(frame: Frame, xs: Structure, keywords: dict[str, Any], node: Any) -> Any:
    """The items in order, where all of them are known; None where they are not."""
    from gradwright.transform.specialise.expressions import known_value

    key, reverse = _sorting(frame, keywords, node)
    known = list(map(known_value, xs.items))
    if key is not None or () in known:
        return None
    try:
        places = sorted(range(len(known)), key=lambda k: known[k], reverse=reverse)
    except TypeError as e:
        raise ProgramError(e) from None
    return tuple(xs.items[k] for k in places)


def in_order(frame: Frame, values: Any, keywords: dict[str, Any], node: Any) -> Any:
    """A new list of the items of a list or of an array with one axis, sorted."""
    from gradwright.transform.primitives.reductions import keys_of, sorted_by

    key, reverse = _sorting(frame, keywords, node)
    keys = values
    if key is not None:
        keys = call_function(frame, keys_of, [values, key], {}, node)
    t = _number_in(frame, keys)
    if t is None:
        raise frame.error(
            UnsupportedSyntax,
            "a sort by what is not a number",
            node,
            instead="key=... that gives a number",
        )
    if t.is_complex:
        raise frame.error(UnsupportedSyntax, "a sort of complex numbers", node)
    arguments = [values, keys, constant(reverse)]
    return call_function(frame, sorted_by, arguments, {}, node)


def _sorting(frame: Frame, keywords: dict[str, Any], node: Any) -> tuple[Any, bool]:
    """What a sort goes by, None for the items themselves; and whether it goes down."""
    from gradwright.transform.specialise.builtins import no_keywords
    from gradwright.transform.specialise.expressions import truth

    no_keywords(frame, keywords, node, "key", "reverse")
    key, reverse = keywords.get("key"), keywords.get("reverse", constant(False))
    reverse = truth(frame, reverse, node)
    if not isinstance(reverse, bool):
        raise frame.error(UnsupportedSyntax, "a sort with reverse= of the run", node)
    is_none = isinstance(key, Static) and key.value is None
    return None if is_none else key, reverse


def _number_in(frame: Frame, xs: Any) -> Type | None:
    """The type of the numbers in a list or an array; None of other items."""
    if isinstance(xs, Listed):
        tree = settled(frame, xs)
        return tree.type if isinstance(tree, List) and not tree.type.is_array else None
    t = type_of(xs) if is_operand(xs) else None
    return t if t is not None and t.rank == 1 else None


# ---- methods -----------------------------------------------------------------------


def _append(
    frame: Frame, xs: Any, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """xs.append(item)."""
    (new,) = arguments
    if isinstance(xs, Listed):
        insert(frame, xs, new, None, node)
    else:
        change(frame, xs, (*xs.items, new), node)
    return Static(None)


def _extend(
    frame: Frame, xs: Any, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """xs.extend(items)."""
    (a,) = arguments
    if isinstance(xs, Listed):
        extend(frame, xs, a, node)
        return Static(None)
    birth = may_change(frame, xs, node)
    if isinstance(a, Generator):
        if not gathering.append_known(frame, xs, a, node):
            raise birth.promotion()
        return Static(None)
    items = items_of(frame, a, node)
    if not isinstance(items, Structure):
        raise birth.promotion()
    change(frame, xs, (*xs.items, *items.items), node)
    return Static(None)


def _insert(
    frame: Frame, xs: Any, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """xs.insert(position, item)."""
    at, new = arguments
    position = index_of(frame, at)
    if isinstance(xs, Listed):
        insert(frame, xs, new, position, node)
        return Static(None)
    birth = may_change(frame, xs, node)
    if not isinstance(position, Linear) or position.constant is None:
        raise birth.promotion()
    held = list(xs.items)
    held.insert(position.constant, new)
    change(frame, xs, held, node)
    return Static(None)


def _pop(
    frame: Frame, xs: Any, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """xs.pop(), xs.pop(position)."""
    position: Any = index_of(frame, arguments[0]) if arguments else None
    if isinstance(xs, Listed):
        return remove(frame, xs, None if position == linear(-1) else position)
    birth = may_change(frame, xs, node)
    k = -1 if position is None else getattr(position, "constant", None)
    if k is None:
        raise birth.promotion()
    held = list(xs.items)
    if birth.within != tuple(frame.program.constructs):
        raise birth.promotion()
    try:
        found = held.pop(k)
    except IndexError as e:
        raise ProgramError(e) from None
    change(frame, xs, held, node)
    return found


def _copy(
    frame: Frame, xs: Any, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """xs.copy()."""
    if isinstance(xs, Listed):
        return part(frame, xs, Span(), node)
    return Structure(list, xs.items)


def _reverse(
    frame: Frame, xs: Any, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """xs.reverse()."""
    if isinstance(xs, Listed):
        turned = part(frame, xs, Span(None, None, linear(-1)), node)
        each(frame, turned, node, lambda k, new: put(frame, xs, k, new, node))
    else:
        change(frame, xs, xs.items[::-1], node)
    return Static(None)


def _sort(
    frame: Frame, xs: Any, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """xs.sort(), xs.sort(key=..., reverse=...)."""
    if isinstance(xs, Structure):
        birth = may_change(frame, xs, node)
        known = sorted_now(frame, xs, keywords, node)
        if known is None:
            raise birth.promotion()
        change(frame, xs, known, node)
        return Static(None)
    made = in_order(frame, xs, keywords, node)
    each(frame, made, node, lambda k, new: put(frame, xs, k, new, node))
    return Static(None)


def _clear(
    frame: Frame, xs: Any, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """xs.clear()."""
    if isinstance(xs, Listed):
        times = Counting(linear(0), length(frame, xs), linear(1))
        each(frame, times, node, lambda k, _: remove(frame, xs, None))
    else:
        change(frame, xs, (), node)
    return Static(None)


def _index(
    frame: Frame, xs: Any, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """xs.index(item)."""
    from gradwright.transform.primitives.reductions import index_of

    return _found(frame, index_of, xs, arguments, node)


def _count(
    frame: Frame, xs: Any, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """xs.count(item)."""
    from gradwright.transform.primitives.reductions import count_of

    return _found(frame, count_of, xs, arguments, node)


def _remove(
    frame: Frame, xs: Any, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """xs.remove(item)."""
    from gradwright.transform.primitives.reductions import remove_from

    if isinstance(xs, Structure):
        may_change(frame, xs, node)
    return _found(frame, remove_from, xs, arguments, node)


def contains(frame: Frame, xs: Any, a: Any, node: Any) -> Any:
    """A in xs, of a list or of an array with one axis."""
    from gradwright.transform.primitives.reductions import is_among

    return _found(frame, is_among, xs, [a], node)


def _found(frame: Frame, f: Any, xs: Any, arguments: list[Any], node: Any) -> Any:
    """What a search for a number among numbers finds."""
    if len(arguments) != 1:
        raise frame.error(UnsupportedSyntax, "a search in a part of a list", node)
    (a,) = arguments
    is_number = is_operand(a) and type_of(a).is_number and not type_of(a).is_array
    if not is_number or (not isinstance(xs, Structure) and not _number_in(frame, xs)):
        raise frame.error(
            UnsupportedSyntax, "a search for what is not a number among numbers", node
        )
    return call_function(frame, f, [xs, a], {}, node)


METHODS: dict[str, Callable[..., Any]] = {
    "append": _append, "extend": _extend, "insert": _insert, "pop": _pop,
    "copy": _copy, "reverse": _reverse, "clear": _clear,
    "sort": _sort, "index": _index, "count": _count, "remove": _remove,
}  # fmt: skip


def attribute(frame: Frame, owner: Any, name: str, node: Any) -> Any:
    """A method of a list."""
    if name in METHODS:
        return BoundMethod(owner, METHODS[name])
    if not hasattr(list, name):
        text = f"'list' object has no attribute '{name}'"
        raise ProgramError(AttributeError(text))
    raise frame.error(
        UnsupportedSyntax,
        f"gradwright does not know .{name} of {describe(owner)} yet",
        node,
    )


# ---- NumPy's functions of a sequence of arrays -------------------------------------


def of_numpy(
    frame: Frame, f: Any, xs: Listed, keywords: dict[str, Any], node: Any
) -> Any:
    """np.stack, np.concatenate and the like of a list; None for other functions."""
    from gradwright.transform.primitives.shaping import concatenate_items

    if f not in (np.stack, np.concatenate, np.vstack, np.hstack, np.column_stack):
        return None
    no_more(frame, keywords, f, node)
    tree = settled(frame, xs)
    rank = tree.type.rank if isinstance(tree, List) else 0
    axis = keywords.get("axis", linear(0))
    _refuse_none(frame, xs, "stack" if f is np.stack else "concatenate")
    if f is np.stack or (f in (np.vstack, np.column_stack) and rank < 2) or not rank:
        return _stacked(frame, f, xs, axis, node)
    if f is np.column_stack or (f is np.hstack and rank > 1):
        axis = linear(1)
    along = axis.constant if isinstance(axis, Linear) else None
    if along is None or not -rank <= along < rank:
        raise frame.error(
            UnsupportedSyntax,
            f"np.{f.__name__} of a list of run-time length along no axis of its items",
            node,
            instead="axis=0",
        )
    if along % rank or VARYING in (tree.type.dims or ()):
        first = item(frame, xs, linear(0), safe=True)
        arguments = [xs, first, linear(along % rank)]
        return call_function(frame, concatenate_items, arguments, {}, node)
    whole = as_array(frame, xs, node)
    shape = Structure(tuple, (linear(-1), *(type_of(whole).dims or ())[2:]))
    return call_function(frame, np.reshape, [whole, shape], {}, node)


def _stacked(frame: Frame, f: Any, xs: Listed, axis: Any, node: Any) -> Any:
    """The items of a list along a new axis."""
    whole = as_array(frame, xs, node)
    rank = type_of(whole).rank
    if f is np.stack and axis != linear(0):
        return call_function(frame, np.moveaxis, [whole, linear(0), axis], {}, node)
    if f is np.column_stack and rank == 2:
        return call_function(frame, np.transpose, [whole], {}, node)
    if (
        f is np.stack
        or (f is np.vstack and rank == 2)
        or (f is np.hstack and rank == 1)
    ):
        return whole
    raise frame.error(
        UnsupportedSyntax,
        f"np.{f.__name__} of a list of run-time length whose items are no arrays",
        node,
        instead="np.stack(...) of it",
    )


def _refuse_none(frame: Frame, xs: Listed, verb: str) -> None:
    """NumPy's own error of a list without arrays."""
    b = frame.builder
    is_empty = b.operator(operator.eq, length(frame, xs), linear(0))
    with b.nested([]) as block:
        text = constant(f"need at least one array to {verb}")
        b.add(Raise(ValueError, (text,)))
    b.add(If(is_empty, block, []))


def no_more(frame: Frame, keywords: dict[str, Any], f: Any, node: Any) -> None:
    """Refuse keywords other than the axis."""
    for k in keywords:
        if k != "axis":
            raise frame.error(
                UnsupportedSyntax,
                f"gradwright does not know {k}= of np.{f.__name__} of a list yet",
                node,
            )


# ---- where they may not go ---------------------------------------------------------


def inside(a: Any) -> Iterator[Listed]:
    """The lists of run-time length in an abstract value."""
    return (leaf for leaf in leaves(a) if isinstance(leaf, Listed))


def refuse_results(frame: Frame, value: Any, node: Any) -> None:
    """A list is no result: only the run knows how many there are in it."""
    for listed in inside(value):
        raise frame.error(
            UnsupportedSyntax,
            f"{describe(listed)} is a result here",
            node,
            instead="np.array(...) of it",
        )
