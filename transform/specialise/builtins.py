"""Python's builtins, and NumPy's functions that ask for shapes or make arrays.

    len(xs)  ->  the dim n            zip(xs, ys)  ->  what a loop runs over

Each handler gives the abstract result of a call; `BUILTINS` finds it by the callable.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from gradwright.transform.build import constant
from gradwright.transform.core import Const, Effect, Value, type_of
from gradwright.transform.errors import UnsupportedSyntax
from gradwright.transform.indices import Linear, linear
from gradwright.transform.primitives.record import has_none, is_written
from gradwright.transform.specialise import gathering, listing, lists
from gradwright.transform.specialise.abstract import (
    Closure,
    Counting,
    From,
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
from gradwright.transform.specialise.frame import (
    MOST_UNROLLED,
    Frame,
    ProgramError,
    lift,
)
from gradwright.transform.specialise.gathering import NotKnown
from gradwright.transform.specialise.methods import (
    as_dtype,
    as_new,
    call_function,
    copy,
    size,
)
from gradwright.transform.specialise.structures import dict_of, known_key, pairs_of
from gradwright.transform.types import array

BUILTINS: dict[Any, Callable[..., Any]] = {}


def builtin(*functions: Any) -> Callable[[Any], Any]:
    """Enter the meaning of a callable of Python or NumPy that is no row."""

    def register(handler: Any) -> Any:
        for f in functions:
            BUILTINS[f] = handler
        return handler

    return register


def no_keywords(frame: Frame, keywords: dict[str, Any], node: Any, *known: str) -> None:
    """Refuse the keywords of a call that are not among these."""
    for k in keywords:
        if k not in known:
            raise frame.error(
                UnsupportedSyntax,
                f"gradwright does not know {k}= of this call yet",
                node,
            )


@builtin(len)
def _len(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    (a,) = arguments
    match a:
        case Structure():
            return constant(len(a.items))
        case Listed():
            return lists.length(frame, a)
        case Static():
            frame.program.guard_length(a)
            return constant(len(a.value))
        case Value() if a.type.is_array and a.type.dims:
            return a.type.dims[0]
    lists.promote_guess(frame, a)
    raise frame.error(UnsupportedSyntax, f"len() of {describe(a)}", node)


@builtin(range)
def _range(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    for a in arguments:
        if not is_operand(a) or not type_of(a).is_integer:
            found = "float" if is_operand(a) else type(a).__name__.lower()
            text = f"'{found}' object cannot be interpreted as an integer"
            raise ProgramError(TypeError(text))
    bounds = [*arguments] if len(arguments) > 1 else [linear(0), *arguments]
    step = bounds[2] if len(bounds) == 3 else linear(1)
    return Counting(bounds[0], bounds[1], step)


@builtin(enumerate)
def _enumerate(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    start = keywords.get("start", arguments[1] if len(arguments) > 1 else linear(0))
    items = stepwise(frame, arguments[0], node)
    known = _known(items)
    if known is not None:
        numbers = Structure(tuple, tuple(start + k for k in range(len(known))))
        return _in_rows([numbers, items])
    return Zipped((From(start), items))


@builtin(zip)
def _zip(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    no_keywords(frame, keywords, node, "strict")
    strict = getattr(keywords.get("strict"), "value", False)
    parts = [stepwise(frame, a, node) for a in arguments]
    fixed = [len(known) for p in parts if (known := _known(p)) is not None]
    if len(fixed) == len(parts):
        if strict and len(set(fixed)) > 1:
            raise ProgramError(_unequal(fixed))
        return _in_rows(parts)
    if fixed:
        raise frame.error(
            UnsupportedSyntax,
            "zip() of a tuple and of something of run-time length",
            node,
        )
    if strict:
        raise frame.error(
            UnsupportedSyntax, "zip() with strict=True of run-time lengths", node
        )
    return Zipped(tuple(parts))


def _known(a: Any) -> tuple[Any, ...] | None:
    """The items of which it is known how many there are, or what they are made of."""
    held = a.items if isinstance(a, Mapped) else a
    return held.items if isinstance(held, Structure) else None


def _in_rows(parts: list[Any]) -> Any:
    """Known items side by side; what a generator makes of one is made in its turn."""
    rows = zip(*map(_known, parts), strict=False)
    known = Structure(tuple, tuple(Structure(tuple, tuple(r)) for r in rows))
    if not any(isinstance(p, Mapped) for p in parts):
        return known

    def row(items: Structure) -> Structure:
        pairs = zip(parts, items.items, strict=True)
        return items.of(p.function(a) if isinstance(p, Mapped) else a for p, a in pairs)

    return Mapped(known, row)


def _unequal(lengths: list[int]) -> ValueError:
    """What zip() raises where its arguments must have one length."""
    k = next(k for k, n in enumerate(lengths) if n != lengths[0])
    word = "shorter" if lengths[k] < lengths[0] else "longer"
    before = "argument 1" if k == 1 else f"arguments 1-{k}"
    return ValueError(f"zip() argument {k + 1} is {word} than {before}")


@builtin(reversed)
def _reversed(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    items = iterable(frame, arguments[0], node)
    match items:
        case Structure():
            return Structure(items.sequence, items.items[::-1])
        case Counting():
            return Counting(items.start, items.stop, items.step, not items.backwards)
        case Items():
            return Items(items.array, not items.backwards)
        case ListItems():
            return ListItems(items.listed, not items.backwards)
    raise ProgramError(TypeError("'zip' object is not reversible"))


def stepwise(frame: Frame, a: Any, node: Any) -> Any:
    """What a loop runs over: a generator gives an item when its turn comes."""
    if isinstance(a, Generator):
        return gathering.step_by_step(frame, a, node)
    return a if isinstance(a, Mapped) else iterable(frame, a, node)


def iterable(frame: Frame, a: Any, node: Any) -> Any:
    """What is gone through at once."""
    match a:
        case Generator():
            return iterable(frame, gathering.drained(frame, a, node), node)
        case Mapped(items=Structure()):
            return Structure(tuple, tuple(map(a.function, a.items.items)))
        case Structure(keys=tuple(keys)):
            return Structure(tuple, tuple(map(lift, keys)))
        case Structure() | Counting() | Items() | ListItems() | Zipped() | Mapped():
            return a
        case Listed():
            return ListItems(a)
        case Static() if type(a.value) is dict:
            return iterable(frame, frame.opened(a), node)
        case Value() if a.type.dims:
            return Items(a)
        case Static() if isinstance(a.value, str | tuple | list | range):
            frame.program.guard_length(a)
            if a.path is None or isinstance(a.value, str | range):
                return Structure(tuple, tuple(map(lift, a.value)))
            items = (frame.wrap(v, a.path.item(k)) for k, v in enumerate(a.value))
            return Structure(type(a.value), tuple(items))
    lists.promote_guess(frame, a)
    raise frame.error(UnsupportedSyntax, f"a loop over {describe(a)}", node)


def known_items(frame: Frame, a: Any, node: Any) -> Any:
    """The items of an iterable of which it is known how many there are."""
    found = iterable(frame, a, node)
    match found:
        case Structure():
            return found.items
        case Counting(
            Linear(constant=int(i)), Linear(constant=int(j)), Linear(constant=int(k))
        ):
            if k and len(range(i, j, k)) <= MOST_UNROLLED:
                numbers = range(i, j, k)
                ordered = reversed(numbers) if found.backwards else numbers
                return [linear(n) for n in ordered]
    if node is None or isinstance(node, gast.ListComp | gast.GeneratorExp):
        raise NotKnown
    raise frame.refusal(node)


@builtin(tuple)
def _tuple(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    return _sequence(tuple, frame, arguments, node)


@builtin(list)
def _list(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    return _sequence(list, frame, arguments, node)


@builtin(dict)
def _dict(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    pairs: list[tuple[Any, Any]] = []
    for a in arguments:
        held = frame.opened(a) if isinstance(a, Static) else a
        if isinstance(held, Structure) and held.keys is not None:
            pairs += pairs_of(held)
            continue
        for pair in known_items(frame, held, node):
            k, v = known_items(frame, pair, node)
            pairs.append((known_key(frame, k, node), v))
    return dict_of([*pairs, *keywords.items()])


@builtin(sorted)
def _sorted(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """Of what is known now, as the keys of a dict are, or of numbers of the run."""
    (a,) = arguments
    items = iterable(frame, a, node)
    if isinstance(items, Structure):
        known = listing.sorted_now(frame, items, keywords, node)
        if known is not None:
            return Structure(list, known)
    values: Any
    match items:
        case ListItems(backwards=False):
            values = items.listed
        case Items(backwards=False):
            values = items.array
        case _:
            values = listing.listed_of(frame, items, node)
    return listing.in_order(frame, values, keywords, node)


def _sequence(kind: Any, frame: Frame, arguments: list[Any], node: Any) -> Any:
    if not arguments:
        return Structure(kind, ())
    (a,) = arguments
    if isinstance(a, Generator) and kind is list:
        a = gathering.drained(frame, a, node)
        if isinstance(a, Listed):
            return a
    items = iterable(frame, a, node)
    if not isinstance(items, Structure) and kind is list:
        return listing.listed_of(frame, a, node)
    if not isinstance(items, Structure):
        raise frame.error(
            UnsupportedSyntax, "a tuple of run-time length", node, instead="list(...)"
        )
    return Structure(kind, items.items)


@builtin(isinstance)
def _isinstance(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    a, classes = arguments
    wanted = tuple(c.value for c in leaves(classes))
    return constant(any(_is_instance(a, c) for c in wanted))


def _is_instance(a: Any, cls: Any) -> bool:
    match a:
        case Static():
            return isinstance(a.value, cls)
        case Structure():
            return issubclass(a.kind, cls)
        case Listed():
            return issubclass(list, cls)
        case Closure():
            return issubclass(types.FunctionType, cls)
    t = type_of(a)
    if t.is_array:
        return issubclass(np.ndarray, cls)
    kinds = {"bool": bool, "int": int, "float": float, "complex": complex, "str": str}
    real = kinds[t.dtype] if t.python else np.dtype(t.dtype).type
    return issubclass(real, cls)


@builtin(print)
def _print(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    from gradwright.transform.specialise.expressions import as_operand

    no_keywords(frame, keywords, node, "sep", "end", "flush")
    shown = [as_operand(frame, as_constant(a), node) for a in arguments]
    named = tuple(
        (k, as_operand(frame, as_constant(a), node)) for k, a in keywords.items()
    )
    frame.builder.add(Effect(print, tuple(shown), named))
    return Static(None)


@builtin(np.iscomplexobj)
def _is_complex(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    return constant(all(is_operand(a) and type_of(a).is_complex for a in arguments))


@builtin(is_written)
def _is_written(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    return constant(all(isinstance(a, Static | Const) for a in arguments))


@builtin(has_none)
def _has_none(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    (lengths,) = arguments
    for n in lengths.items:
        frame.unit.assume_length(n - 1)
    return constant(any(n.constant == 0 for n in lengths.items))


@builtin(np.array)
def _new_array(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    made = _array(frame, arguments, keywords, node)
    return as_new(frame, made, keywords) if made is arguments[0] else made


@builtin(np.asarray, np.ascontiguousarray, np.asfortranarray)
def _array(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    from gradwright.transform.specialise.expressions import display

    no_keywords(frame, keywords, node, "dtype", "copy")
    made = display(frame, arguments[0], node)
    if not type_of(made).is_array:
        made = display(frame, Structure(list, (made,)), node)
        shape = Structure(tuple, ())
        made = call_function(frame, np.reshape, [made, shape], {}, node)
    wanted = keywords.get("dtype", arguments[1] if len(arguments) > 1 else None)
    if wanted is None or (isinstance(wanted, Static) and wanted.value is None):
        return made
    return as_dtype(frame, made, wanted, node)


@builtin(np.copy)
def _copy(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    (a,) = arguments
    made = copy(frame, a, [], keywords, node)
    frame.program.copied.discard(made)  # it is laid out as the array is
    return made


@builtin(np.astype)
def _astype(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    x, wanted = arguments
    return as_dtype(frame, x, wanted, node)


@builtin(np.ndim)
def _ndim(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    (a,) = arguments
    return constant(len(_dims(frame, a, node)))


@builtin(np.shape)
def _np_shape(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    (a,) = arguments
    return Structure(tuple, tuple(_dims(frame, a, node)))


@builtin(np.size)
def _np_size(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    a, *axis = arguments
    dims = _dims(frame, a, node)
    if axis:
        return dims[frame.static_int(axis[0], node, "the axis")]
    return size(frame, array(float, tuple(dims)), node)


def _dims(frame: Frame, a: Any, node: Any) -> Any:
    """The shape of anything that NumPy would take for an array."""
    from gradwright.transform.specialise.expressions import display

    return type_of(display(frame, a, node)).dims or ()


@builtin(np.empty, np.empty_like)
def _empty(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """Nobody knows what an empty array holds: zeros will do."""
    is_like = isinstance(arguments[0], Value) and arguments[0].type.is_array
    function = np.zeros_like if is_like else np.zeros
    return call_function(frame, function, arguments, keywords, node)


@builtin(slice)
def _slice(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    from gradwright.transform.specialise.subscripts import span

    bounds = [None, *arguments] if len(arguments) == 1 else arguments
    return span(frame, *bounds, *([None] * (3 - len(bounds))))


@builtin(max)
def _max(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    return _extreme(max, frame, arguments, keywords, node)


@builtin(min)
def _min(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    return _extreme(min, frame, arguments, keywords, node)


def _extreme(
    f: Any, frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """The larger or smaller of several arguments, or of the items of one."""
    from gradwright.transform.primitives.reductions import (
        largest_of_values,
        smallest_of_values,
    )
    from gradwright.transform.specialise.expressions import operate

    no_keywords(frame, keywords, node, "key")
    if "key" in keywords:
        return _extreme_by(f, frame, arguments, keywords["key"], node)
    items = arguments
    if len(arguments) == 1:
        found = iterable(frame, arguments[0], node)
        if isinstance(found, ListItems) and not found.backwards:
            of_values = {max: largest_of_values, min: smallest_of_values}[f]
            return call_function(frame, of_values, [found.listed], {}, node)
        if not isinstance(found, Structure):
            instead = f"np.{f.__name__}(...)"
            raise frame.error(
                UnsupportedSyntax, f"{f.__name__}() over an array yet", node, instead
            )
        items = list(found.items)
    if not items:
        raise _of_nothing(f)
    best = items[0]
    for other in items[1:]:
        pair = [getattr(x, "constant", None) for x in (best, other)]
        known = None not in pair
        best = linear(f(pair)) if known else operate(frame, f, node, best, other)
    return best


def _extreme_by(f: Any, frame: Frame, arguments: list[Any], key: Any, node: Any) -> Any:
    """That of several values whose key is the largest or smallest."""
    from gradwright.transform.primitives.reductions import largest_by, smallest_by

    if isinstance(key, Static) and key.value is None:
        return _extreme(f, frame, arguments, {}, node)
    items: Any = arguments
    if len(arguments) == 1:
        found = iterable(frame, arguments[0], node)
        try:
            items = known_items(frame, found, None)
        except NotKnown:
            raise frame.error(
                UnsupportedSyntax,
                f"{f.__name__}() with key= of {describe(found)}, whose length may vary",
                node,
                instead="a loop",
            ) from None
    if not items:
        raise _of_nothing(f)
    function = {max: largest_by, min: smallest_by}[f]
    values = Structure(tuple, tuple(items))
    return call_function(frame, function, [values, key], {}, node)


def _of_nothing(f: Any) -> ProgramError:
    """Python's own error of max and min."""
    try:
        f(())
    except ValueError as e:
        return ProgramError(e)
    raise AssertionError
