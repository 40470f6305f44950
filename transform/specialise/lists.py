"""Lists of run-time length: places of the core that grow and shrink.

    xs = []                          Alloc(xs)
    for k in range(n):               For(k, 0, n, 1, [
        xs.append(x * k)     ->          Let(product, mul, [x, k]), Insert(xs, product)])
    return sum(xs)

A list is a `Structure` that its methods change, until a run-time loop or branch changes
it or an index asks for an item that only the run knows.  Then the function is
specialised anew, and that list is a `Listed` from where it is made: one list of the
core, or one for each part of what it holds (a list of pairs is two lists).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import gast

import numpy as np

from gradwright.transform.build import convert, with_own_dims
from gradwright.transform.core import (
    Alloc,
    At,
    Const,
    For,
    Insert,
    Length,
    List,
    Load,
    Operand,
    Remove,
    Span,
    Store,
    Take,
    Value,
    stores,
    type_of,
    walk,
)
from gradwright.transform.errors import AliasError, UnsupportedSyntax
from gradwright.transform.indices import Linear, linear, symbol
from gradwright.transform.liveness import after_loop, assigned
from gradwright.transform.specialise.abstract import (
    BoundMethod,
    Counting,
    Items,
    Listed,
    ListItems,
    Static,
    Structure,
    Zipped,
    as_constant,
    describe,
    is_operand,
    leaves,
    mapped,
)
from gradwright.transform.specialise.frame import Frame, ProgramError
from gradwright.transform.specialise.methods import call_function
from gradwright.transform.types import FLOAT, INT, VARYING, Type, join

OPEN = Linear({"open": 1})
"""The dim of items of which none is there yet."""


class Promotion(Exception):
    """A list that is made at `origin` is of run-time length, with items of a kind."""

    def __init__(self, origin: Any, kind: Kind) -> None:
        self.origin = origin
        self.kind = kind


@dataclass(eq=False)
class Kind:
    """The types of what a list holds: a type, or a structure of them; None: unknown.

    `guessed`: an item was read before any was put in.
    """

    tree: Any = None
    guessed: bool = False


@dataclass(eq=False)
class Birth:
    """Where a list came into being, and the run-time constructs around that place.

    Without an `origin` it is a copy of what a variable holds.  `held` says of what a
    list is an item since.
    """

    origin: Any
    within: tuple[Any, ...]
    held: str | None = None


# ---- lists that are known while the program is rewritten ---------------------------


def born(frame: Frame, value: Any, node: Any) -> Any:
    """A list as its expression gives it: known, or of run-time length."""
    program = frame.program
    if not (isinstance(value, Structure) and value.kind is list):
        return value
    if value in program.births or frame.in_rule:
        return value
    origin = origin_of(frame, node) if _makes_list(node) else None
    return _entered(frame, value, origin, node)


def origin_of(frame: Frame, node: Any) -> Any:
    """What tells the place where a list is made, in every attempt."""
    what = type(node).__name__
    return (frame.site, frame.source.filename, what, *_position(node))


def given(frame: Frame, value: Any, path: tuple[Any, ...]) -> Any:
    """An argument with lists of its own: those of the caller do not change."""
    if not isinstance(value, Structure):
        return value
    named = zip(value.labels, value.items, strict=True)
    own = value.of(given(frame, item, (*path, label)) for label, item in named)
    if own.kind is not list:
        return own
    return _entered(frame, own, (frame.site, "argument", *path), frame.source.node)


def _entered(frame: Frame, value: Structure, origin: Any, node: Any) -> Any:
    program = frame.program
    if origin is not None and origin in program.kinds:
        made = begin(frame, origin, node)
        for item in value.items:
            insert(frame, made, item, None, node)
        return made
    program.births[value] = Birth(origin, tuple(program.constructs))
    return value


def _makes_list(node: Any) -> bool:
    """Whether an expression gives a list that nobody else has."""
    if isinstance(node, gast.Subscript):
        return isinstance(node.slice, gast.Slice)
    made = gast.List | gast.ListComp | gast.GeneratorExp | gast.BinOp | gast.Call
    return isinstance(node, made)


def change(frame: Frame, a: Structure, items: Any, node: Any) -> None:
    """Let a list hold other items, wherever it is known under a name."""
    birth = may_change(frame, a, node)
    if birth.within != tuple(frame.program.constructs):
        raise Promotion(birth.origin, Kind())
    a.items = tuple(items)


def may_change(frame: Frame, a: Structure, node: Any) -> Birth:
    """Where a list that is about to change came into being."""
    from gradwright.transform.specialise.units import InlineInstead

    birth = frame.program.births.get(a)
    if a.kind is not list:
        raise frame.error(
            UnsupportedSyntax,
            f"gradwright does not rewrite stores into {describe(a)} yet",
            node,
        )
    if birth is None or birth.origin is None:
        if frame.unit is not frame.program.root:
            raise InlineInstead
        raise frame.error(
            UnsupportedSyntax,
            "a list is changed here that a loop or branch assigns, or that is an item",
            node,
            instead="list(...) of it, under a name of its own",
        )
    if birth.held is not None and birth.held.startswith("'"):
        raise Promotion(birth.origin, Kind())
    if birth.held is not None:
        raise frame.error(
            AliasError,
            f"a list is changed here that {birth.held} holds",
            node,
            instead="append(list(...)) of it",
        )
    return birth


def note_read(frame: Frame, a: Structure, origin: Any) -> None:
    """What a variable holds is of run-time length once it is changed."""
    frame.program.births[a] = Birth(origin, ("a variable",))


def _hold(frame: Frame, item: Any, holder: str) -> None:
    """A list that is an item elsewhere does not change any more."""
    if isinstance(item, Structure):
        birth = frame.program.births.get(item)
        if birth is not None:
            birth.held = holder
        for inner in item.items:
            _hold(frame, inner, holder)


def promote_for(frame: Frame, a: Structure, position: Any, node: Any) -> None:
    """An item that only the run knows: of a list that is of run-time length then."""
    birth = frame.program.births.get(a)
    if birth is None or birth.origin is None or not is_operand(position):
        return
    if isinstance(position, Linear):
        if all(map(lambda s: _may_be_known(frame, s, node), position.symbols())):
            return
    elif not isinstance(position, Value):
        return
    raise Promotion(birth.origin, Kind())


def _may_be_known(frame: Frame, s: Any, node: Any) -> bool:
    """Whether a number may be made known: a parameter, or a loop that is written out."""
    loop = getattr(s, "node", None)
    if loop is not None:
        return s.is_known and _name_of(node) not in _resized(loop)
    return s in frame.unit.params


def _name_of(node: Any) -> str | None:
    owner = getattr(node, "value", None)
    return owner.id if isinstance(owner, gast.Name) else None


def _resized(loop: Any) -> set[str]:
    """The names of lists whose length a loop changes."""
    found: set[str] = set()
    for n in gast.walk(loop):
        match n:
            case gast.Call(func=gast.Attribute(value=gast.Name(id=name), attr=method)):
                if method in RESIZING:
                    found.add(name)
            case gast.AugAssign(target=gast.Name(id=name)):
                found.add(name)
    return found


# ---- lists of run-time length begin ------------------------------------------------


def begin(frame: Frame, origin: Any, node: Any, length: Operand | None = None) -> Any:
    """An empty list, or one of so many zeros."""
    from gradwright.transform.specialise.units import InlineInstead

    program = frame.program
    if frame.unit is not program.root and not frame.unit.stands_alone:
        raise InlineInstead("has a list whose length only the run knows")
    kind = program.kinds.setdefault(origin, Kind())
    made = Listed(origin, kind, None, tuple(program.constructs))
    if kind.tree is not None:
        made.tree = mapped(lambda t: List("items", t), kind.tree)
        for place in leaves(made.tree):
            place.length = length
            frame.builder.add(Alloc(place))
    return made


def named(listed: Listed, name: str) -> None:
    """Give a list the name to which it is bound first."""
    if listed.named:
        return
    listed.named = True

    def name_all(tree: Any, name: str) -> None:
        if isinstance(tree, Structure):
            for label, item in zip(tree.labels, tree.items, strict=True):
                name_all(item, f"{name}_{label}")
        elif tree is not None:
            tree.name = name

    name_all(listed.tree, name)


def _kind_of(frame: Frame, a: Any, node: Any) -> Any:
    """The types of what is put into a list."""
    if isinstance(a, Structure) and a.keys is None:
        return a.of(_kind_of(frame, item, node) for item in a.items)
    a = as_constant(a)
    if not is_operand(a) or not type_of(a).is_number:
        raise frame.error(
            UnsupportedSyntax,
            f"{describe(a)} in a list of run-time length",
            node,
            instead="numbers, arrays, or tuples of them",
        )
    t = type_of(a)
    if t.dims is not None:
        seen = frame.unit.sees
        t = replace(t, dims=tuple(d if seen(d) else VARYING for d in t.dims))
    return replace(t, optional=False)


def _joined(frame: Frame, a: Any, b: Any, node: Any) -> Any:
    """The types of what holds both."""
    if isinstance(a, Structure) and isinstance(b, Structure) and a.form == b.form:
        pairs = zip(a.items, b.items, strict=True)
        return a.of(_joined(frame, x, y, node) for x, y in pairs)
    if isinstance(a, Type) and isinstance(b, Type) and a.is_array is b.is_array:
        if a.dims and b.dims and OPEN in (*a.dims, *b.dims) and a.rank == b.rank:
            pairs = zip(a.dims, b.dims, strict=True)
            a = replace(a, dims=tuple(y if x == OPEN else x for x, y in pairs))
            pairs = zip(a.dims or (), b.dims, strict=True)
            b = replace(b, dims=tuple(x if y == OPEN else y for x, y in pairs))
        joined = join(a, b)
        if joined is not None:
            return joined
    raise frame.error(
        UnsupportedSyntax,
        f"a list of run-time length holds {_words(a)} and {_words(b)}",
        node,
        instead="items of one kind",
    )


def _words(kind: Any) -> str:
    return describe(kind) if isinstance(kind, Structure) else f"a value of type {kind}"


def _same_kind(a: Any, b: Any) -> bool:
    if isinstance(a, Structure) and isinstance(b, Structure):
        pairs = zip(a.items, b.items, strict=False)
        return a.form == b.form and all(_same_kind(x, y) for x, y in pairs)
    return bool(a == b)


def _kept(t: Type) -> Type:
    """A type as the next attempt can know it: without lengths of this one's arrays."""
    if t.dims is None:
        return t
    known = (VARYING, OPEN)
    dims = (d if d.constant is not None or d in known else OPEN for d in t.dims)
    return replace(t, dims=tuple(dims))


def _settle_kind(frame: Frame, listed: Listed, item: Any, node: Any) -> None:
    """Let the list take items of this kind; specialise anew where it did not."""
    _refuse_old(frame, listed)
    wanted, kind = _kind_of(frame, item, node), listed.kind
    if kind.tree is None or kind.guessed:
        raise Promotion(listed.origin, Kind(mapped(_kept, wanted)))
    now = mapped(lambda place: place.type, listed.tree)
    joined = _joined(frame, now, wanted, node)
    if _same_kind(joined, now):
        return
    opened = [p for p in leaves(listed.tree) if OPEN in (p.type.dims or ())]
    if opened and _same_kind(mapped(_kept, joined), mapped(_kept, now)):
        pairs = zip(leaves(listed.tree), leaves(joined), strict=True)
        for place, t in pairs:
            place.type = t
        return
    raise Promotion(listed.origin, Kind(mapped(_kept, joined)))


def _settled(frame: Frame, listed: Listed) -> Any:
    """The places of a list whose items are read now."""
    if listed.kind.tree is None:
        raise Promotion(listed.origin, Kind(FLOAT, guessed=True))
    _refuse_old(frame, listed)
    for place in leaves(listed.tree):
        if OPEN in (place.type.dims or ()):
            varying = (VARYING if d == OPEN else d for d in place.type.dims)
            place.type = replace(place.type, dims=tuple(varying))
    return listed.tree


def first_place(listed: Listed) -> List | None:
    """A list of the core that is as long as the list."""
    return next((p for p in leaves(listed.tree) if p is not None), None)


# ---- variables that a loop or branch assigns ---------------------------------------


def adopted(frame: Frame, value: Listed) -> Listed:
    """The list that a variable holds on entry is the variable's own from there on."""
    held = replace(value)
    for place in leaves(held.tree):
        _renew(frame, place)
    return held


def variable(frame: Frame, slot: Any, value: Listed) -> Listed:
    """A list of a variable's own, which holds lists of such items."""
    origin = ("variable", value.origin, slot.name)
    held = Listed(origin, value.kind, None, tuple(frame.program.constructs))
    held.tree = mapped(lambda place: List(slot.name, place.type), value.tree)
    slot.owner.allocated += [p for p in leaves(held.tree) if p is not None]
    return held


def take(frame: Frame, name: str, held: Listed, value: Listed, node: Any) -> None:
    """Let a variable hold a list that was made for it, and goes by its name now."""
    if value.version is not None or value.within != tuple(frame.program.constructs):
        raise frame.error(
            UnsupportedSyntax,
            f"'{name}' is a list that has another name, and a loop or branch assigns it",
            node,
            instead=f"{name} = list(...) of it",
        )
    if value.kind.tree is None or held.kind.tree is None:
        unknown = value if value.kind.tree is None else held
        other = held if unknown is value else value
        raise Promotion(unknown.origin, Kind(other.kind.tree or FLOAT, guessed=True))
    now_held = mapped(lambda place: place.type, held.tree)
    wanted = mapped(lambda place: place.type, value.tree)
    both = _joined(frame, now_held, wanted, node)
    if not _same_kind(both, now_held):
        if any(OPEN in (t.dims or ()) for t in leaves(now_held)):
            _settled(frame, held)
        raise Promotion(_origin_of(held), Kind(mapped(_kept, both)))
    for place, source in zip(leaves(held.tree), leaves(value.tree), strict=True):
        frame.builder.add(Take(place, source))
        _renew(frame, place)
    value.tree = held.tree  # whatever else it is called
    value.version = frame.program.versions[first_place(held)]


def _origin_of(held: Listed) -> Any:
    """Where the items of a variable's list come from."""
    origin = held.origin
    return origin[1] if origin[0] == "variable" else origin


def now(frame: Frame, held: Listed) -> Listed:
    """The list that a variable holds now."""
    read = replace(held, named=True)
    read.version = frame.program.versions.get(first_place(held), 0)
    return read


def _renew(frame: Frame, place: Any) -> None:
    """Other names of what a variable held before are out of date."""
    if place is not None:
        frame.program.versions[place] = frame.program.versions.get(place, 0) + 1


def _refuse_old(frame: Frame, listed: Listed) -> None:
    """Refuse a list whose name has been given to another one since."""
    place = first_place(listed)
    if frame.program.versions.get(place, 0) != (listed.version or 0):
        raise AliasError(
            f"a list is used here that was '{place.name}' once, "  # type: ignore[union-attr]
            "and a loop or branch gives that name to another list",
            at=frame.builder.where,
            instead="list(...) of it, before the loop or branch",
        )


# ---- truth ---------------------------------------------------------------------------


def is_test(frame: Frame, node: Any) -> bool:
    """Whether of an `and` or an `or` only the truth is asked for."""
    tests = frame.program.tests.get(id(frame.source.node))
    if tests is None:
        found = {_position(t) for n in gast.walk(frame.source.node) for t in _tests(n)}
        tests = frame.program.tests[id(frame.source.node)] = found
    return _position(node) in tests


def _tests(node: Any) -> Iterator[Any]:
    """The `and`s and `or`s whose truth a node asks for."""
    match node:
        case gast.If() | gast.While() | gast.IfExp() | gast.Assert():
            asked = [node.test]
        case gast.comprehension():
            asked = list(node.ifs)
        case gast.UnaryOp(op=gast.Not()):
            asked = [node.operand]
        case _:
            return
    while asked:
        test = asked.pop()
        if isinstance(test, gast.BoolOp):
            yield test
            asked += test.values


def _position(node: Any) -> tuple[int, ...]:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


# ---- reading -----------------------------------------------------------------------


def length(frame: Frame, listed: Listed) -> Linear:
    """len(xs), now."""
    place = first_place(listed)
    if place is None:
        return linear(0)
    _refuse_old(frame, listed)
    n = frame.builder.element(place, (Length(),), INT, "count", safe=True)
    assert isinstance(n, Linear)
    return n


def item(frame: Frame, listed: Listed, position: Operand, safe: bool = False) -> Any:
    """xs[position]."""
    symbols = position.symbols() if isinstance(position, Linear) else ()
    names = [s.name for s in symbols if isinstance(s, Value)]
    suffix = names[0] if names else "item"

    def read(place: List) -> Any:
        name = f"{place.name}_{suffix}"
        return frame.builder.element(
            place, (At(position),), place.type, name, safe=safe
        )

    return mapped(read, _settled(frame, listed))


def part(frame: Frame, listed: Listed, span: Span, node: Any) -> Listed:
    """A new list of some of the items: xs[1:], or xs.copy() for all of them."""
    step = span.step
    if step is not None and not (isinstance(step, Linear) and step.constant):
        raise frame.error(
            UnsupportedSyntax, "a slice of a list with a step of the run", node
        )
    tree = _settled(frame, listed)
    whole = span == Span()
    within = tuple(frame.program.constructs)
    made = Listed(listed.origin, listed.kind, None, within)

    def copied(place: List) -> List:
        new = List(place.name, place.type)
        frame.builder.add(Load(new, place, () if whole else (span,)))
        return new

    made.tree = mapped(copied, tree)
    return made


def as_array(frame: Frame, listed: Listed, node: Any) -> Any:
    """np.array(xs): the items along a first axis."""

    def whole(place: List) -> Any:
        t = place.type
        dtype = np.dtype(t.weak()) if t.python else np.dtype(t.dtype)
        made = Type(dtype.name, dims=(VARYING, *(t.dims or ())))
        return frame.builder.element(place, (), made, place.name)

    tree = _settled(frame, listed)
    found = mapped(whole, tree)
    if not isinstance(found, Structure):
        return found
    ranks = {type_of(a).rank for a in leaves(found)}
    if len(ranks) > 1 or any(isinstance(a, Structure) for a in found.items):
        raise frame.error(
            UnsupportedSyntax, "an array of items that are not alike", node
        )
    rows = Structure(list, found.items)
    return call_function(frame, np.stack, [rows], {"axis": linear(1)}, node)


def subscript(frame: Frame, listed: Listed, node: Any) -> Any:
    """xs[k] or xs[a:b]."""
    from gradwright.transform.specialise.subscripts import part_value

    at = part_value(frame, node.slice)
    if isinstance(at, Span):
        return part(frame, listed, at, node)
    return item(frame, listed, index_of(frame, at))


def index_of(frame: Frame, a: Any) -> Operand:
    """A position, or Python's own error about what it is."""
    if is_operand(a) and not type_of(a).is_array:
        t = type_of(a)
        if t.is_integer or t.is_bool:
            return a  # type: ignore[no-any-return]
        name = t.dtype if t.python else f"numpy.{t.dtype}"
        text = f"list indices must be integers or slices, not {name}"
        raise ProgramError(TypeError(text))
    kind = a.kind.__name__ if isinstance(a, Structure) else "str"
    text = f"list indices must be integers or slices, not {kind}"
    raise ProgramError(TypeError(text))


# ---- changing ----------------------------------------------------------------------


def insert(frame: Frame, listed: Listed, item: Any, position: Any, node: Any) -> None:
    """xs.insert(position, item), xs.append(item) without a position."""
    _settle_kind(frame, listed, item, node)
    _hold(frame, item, "another list")
    pairs = zip(leaves(listed.tree), leaves(item), strict=True)
    for place, operand in pairs:
        new = convert(as_constant(operand), place.type)
        frame.builder.add(Insert(place, new, position))


def remove(frame: Frame, listed: Listed, position: Any) -> Any:
    """xs.pop(position)."""
    b = frame.builder

    def popped(place: List) -> Any:
        out = Value(f"{place.name}_item", place.type)
        out.type = with_own_dims(out)
        b.add(Remove(out, place, position))
        return symbol(out) if out.type == INT else out

    return mapped(popped, _settled(frame, listed))


def put(
    frame: Frame,
    listed: Listed,
    position: Operand,
    value: Any,
    node: Any,
    function: Any = None,
) -> None:
    """xs[position] = value, or an operator's store of it."""
    from gradwright.transform.specialise.expressions import binary

    if function is not None:
        tree = _settled(frame, listed)
        t = tree.type if isinstance(tree, List) else None
        if t is None or t.is_array:
            raise frame.error(
                UnsupportedSyntax,
                "an operator changes an item of a list in place, which is no number",
                node,
                instead="xs[k] = xs[k] + ...",
            )
        added = function in (operator.add, operator.sub) and is_operand(value)
        if added and t.is_inexact and not type_of(value).is_array:
            if join(t, type_of(value)) == t:
                if function is operator.sub:
                    value = frame.builder.operator(operator.neg, value)
                new = Store(tree, value, (At(position),), accumulate=True)
                frame.builder.add(new)
                return
        value = binary(frame, function, item(frame, listed, position), value, node)
    _settle_kind(frame, listed, value, node)
    _hold(frame, value, "another list")
    for place, operand in zip(leaves(listed.tree), leaves(value), strict=True):
        new_item = convert(as_constant(operand), place.type)
        frame.builder.add(Store(place, new_item, (At(position),)))


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
        may_change(frame, owner, node)
        if not isinstance(items, Structure):
            raise Promotion(frame.program.births[owner].origin, Kind())
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
    if items is owner:
        items = part(frame, owner, Span(), node)
    lower, upper = bounds_of(frame, owner, span, node)

    times = Counting(lower, upper, linear(1))
    each(frame, times, node, lambda k, _: remove(frame, owner, lower))
    if isinstance(items, Structure):
        for k, new in enumerate(items.items):
            insert(frame, owner, new, lower + k, node)
        return
    each(frame, items, node, lambda k, new: insert(frame, owner, new, lower + k, node))


def bounds_of(frame: Frame, owner: Listed, span: Span, node: Any) -> Any:
    """Where a slice begins and ends, counted from the front."""
    from gradwright.transform.specialise.expressions import choose, comparison, operate

    n = length(frame, owner)

    def place(bound: Any, default: Linear) -> Any:
        if bound is None:
            return default
        if bound == linear(0):
            return bound
        from_end = lambda: operate(frame, max, node, n + bound, linear(0))  # noqa: E731
        from_front = lambda: operate(frame, min, node, bound, n)  # noqa: E731
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
    if isinstance(items, Counting):
        loop = For(k, items.start, items.stop, items.step, [], items.backwards)
    else:
        backwards = isinstance(items, Items | ListItems) and items.backwards
        n = length_of(frame, items, node)
        loop = For(k, linear(0), n, linear(1), [], backwards)
    loop.body = frame.block(lambda: act(symbol(k), item_in(frame, items, loop)))
    frame.builder.add(loop)
    frame.builder.forget(stores(loop))


def refuse_resized(items: Any, loop: For, frame: Frame, node: Any) -> None:
    """A loop over a list does not change its length."""
    match items:
        case Zipped():
            for p in items.parts:
                refuse_resized(p, loop, frame, node)
        case ListItems():
            places = set(leaves(items.listed.tree))
            changed = (s for s in walk(loop.body) if isinstance(s, Insert | Remove))
            if any(s.place in places for s in changed):
                raise frame.error(
                    UnsupportedSyntax,
                    "the length of a list changes in a loop over it",
                    node,
                    instead="for ... in list(...) of it",
                )


# ---- comprehensions ----------------------------------------------------------------

GATHERED = "the list of a comprehension"


class Gather(gast.stmt):  # type: ignore[misc]
    """The innermost statement of a comprehension: its element joins the list."""

    _fields = ("elt",)


def gather(frame: Frame, node: Any) -> None:
    """Append the element to the list that the comprehension makes."""
    insert(frame, frame.env[GATHERED], frame.evaluate(node.elt), None, node.elt)


def comprehension(frame: Frame, node: Any) -> Listed:
    """[element for target in items if test], written as a loop."""
    made: Listed = begin(frame, origin_of(frame, node), node)
    inner = frame.scope(assigned([g.target for g in node.generators]))
    inner.env[GATHERED] = made
    loop = frame.program.comprehensions.get(id(node))
    if loop is None:
        loop = frame.program.comprehensions[id(node)] = _as_loop(node)
        after_loop(inner.liveness, [loop], frozenset())
    inner.run([loop])
    return made


def _as_loop(node: Any) -> Any:
    """The loop that a comprehension is."""
    inner: Any = gast.copy_location(Gather(elt=node.elt), node)
    for g in reversed(node.generators):
        for test in reversed(g.ifs):
            made = gast.If(test=test, body=[inner], orelse=[])
            inner = gast.copy_location(made, node)
        made = gast.For(
            target=g.target, iter=g.iter, body=[inner], orelse=[], type_comment=None
        )
        inner = gast.copy_location(made, node)
    return inner


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
    items = items_of(frame, a, node)
    if items is listed:
        items = part(frame, listed, Span(), node)
    if isinstance(items, Structure):
        for new in items.items:
            insert(frame, listed, new, None, node)
    else:
        each(frame, items, node, lambda k, new: insert(frame, listed, new, None, node))


def joined(frame: Frame, a: Any, b: Any, node: Any) -> Listed:
    """a + b."""
    made = listed_of(frame, a, node)
    extend(frame, made, b, node)
    return made


def repeated(frame: Frame, a: Any, n: Linear, node: Any) -> Listed:
    """a * n."""
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


def sequence(frame: Frame, function: Any, a: Any, b: Any, node: Any) -> Listed | None:
    """a + b and a * n of lists of run-time length; None where NumPy decides."""
    lists = [isinstance(x, Listed) for x in (a, b)]
    if function is operator.add:
        both = [is_list or _is_list(x) for is_list, x in zip(lists, (a, b), strict=True)]
        return joined(frame, a, b, node) if any(lists) and all(both) else None
    if function is operator.mul:
        for x, n in ((a, b), (b, a)):
            if isinstance(n, Linear) and (isinstance(x, Listed) or _is_list(x)):
                if isinstance(x, Listed) or n.constant is None:
                    return repeated(frame, x, n, node)
    return None


def _is_list(a: Any) -> bool:
    return isinstance(a, Structure) and a.kind is list


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
    birth, items = may_change(frame, xs, node), items_of(frame, a, node)
    if not isinstance(items, Structure):
        raise Promotion(birth.origin, Kind())
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
        raise Promotion(birth.origin, Kind())
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
        raise Promotion(birth.origin, Kind())
    held = list(xs.items)
    if birth.within != tuple(frame.program.constructs):
        raise Promotion(birth.origin, Kind())
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


METHODS: dict[str, Callable[..., Any]] = {
    "append": _append, "extend": _extend, "insert": _insert, "pop": _pop,
    "copy": _copy, "reverse": _reverse, "clear": _clear,
}  # fmt: skip
RESIZING = ("append", "extend", "insert", "pop", "clear")


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
    if f not in (np.stack, np.concatenate, np.vstack, np.hstack, np.column_stack):
        return None
    no_more(frame, keywords, f, node)
    whole = as_array(frame, xs, node)
    dims = type_of(whole).dims or ()
    axis = keywords.get("axis", linear(0))
    if f is np.stack:
        return (
            whole
            if axis == linear(0)
            else call_function(frame, np.moveaxis, [whole, linear(0), axis], {}, node)
        )
    if f is np.column_stack and len(dims) == 2:
        return call_function(frame, np.transpose, [whole], {}, node)
    if (f is np.vstack and len(dims) == 2) or (f is np.hstack and len(dims) == 1):
        return whole
    along_first = axis == linear(0) and len(dims) > 1
    if f is np.hstack or f is np.column_stack:
        along_first = along_first and f is np.hstack and len(dims) == 2
    place = first_place(xs)
    if not along_first or place is None or VARYING in (place.type.dims or ()):
        raise frame.error(
            UnsupportedSyntax,
            f"np.{f.__name__} of a list of run-time length whose items are "
            "not known to be of one length, or along another axis",
            node,
            instead="np.stack(...) of items of one shape",
        )
    shape = Structure(tuple, (linear(-1), *dims[2:]))
    return call_function(frame, np.reshape, [whole, shape], {}, node)


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
