"""array[index]: numbers, slices, new axes, an ellipsis, arrays of indices, masks.

    X[1:, None, k]  ->  Load(part, X, [Span(1, None), NewAxis, At(k)])

A slice is a value like any other, so that an index may be put together by a program.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import gast
import numpy as np

from gradwright.transform import core
from gradwright.transform.core import (
    At,
    Const,
    Let,
    NewAxis,
    Pick,
    Span,
    Value,
    Whole,
    type_of,
)
from gradwright.transform.errors import UnsupportedSyntax
from gradwright.transform.indices import Dim, Linear, is_length, linear, symbol
from gradwright.transform.primitives.structural import DISPLAY
from gradwright.transform.shapes import infer
from gradwright.transform.specialise.abstract import (
    Region,
    Static,
    Structure,
    as_constant,
    describe,
    is_operand,
    leaves,
)
from gradwright.transform.specialise.frame import Frame, ProgramError
from gradwright.transform.specialise.regions import composed, view_of
from gradwright.transform.types import VARYING, Type, array, numpy_scalar

REFUSED = (TypeError, ValueError, IndexError)


def stored_region(frame: Frame, value: Any) -> Region | None:
    """The region that is stored into through a value; None if it is no view of one."""
    found = view_of(frame, value)
    while found is not None:  # the store raises what reading raises
        made: Any = frame.builder.definition.get(value)
        made.safe = True
        if isinstance(made, core.Load) and isinstance(made.source, core.Buffer):
            break
        value = made.source if isinstance(made, core.Load) else made.operands[0]
    return found


def index_of(frame: Frame, node: Any) -> core.Index:
    """What stands between the brackets."""
    parts = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
    values = [part_value(frame, p) for p in parts]
    if len(values) == 1 and isinstance(values[0], Structure):
        held = values[0]
        if held.kind is tuple:
            values = list(held.items)
    return tuple(as_index(frame, v, node) for v in values)


def region_item(frame: Frame, region: Region, node: Any) -> Any:
    """The value of region[index], as it is now."""
    return part_now(frame, region, index_of(frame, node), node)


def part_now(frame: Frame, region: Region, index: core.Index, node: Any) -> Any:
    """What a part of a region holds now."""
    full = composed(region, index)
    if _new_axes(index, region.type.rank) is not None:
        return item_of(frame, frame.read(region), index, node)
    like = Value(region.place.name, region.type)
    out = Value(f"{region.place.name}_{_suffix(index)}", region.type)
    out.type = type_of_part(like, index, out, frame, node)
    s = core.Load(out, region.place, full)
    frame.builder.definition[out] = s
    frame.builder.add(s)
    return out


def array_item(frame: Frame, owner: Value, node: Any) -> Any:
    """The value of array[index]."""
    return item_of(frame, owner, index_of(frame, node), node)


def item_of(frame: Frame, owner: Value, index: core.Index, node: Any) -> Any:
    """The same, of an index that is evaluated."""
    if (axes := _new_axes(index, owner.type.rank)) is not None:
        return _with_axes(frame, owner, axes, node)
    out = Value(f"{owner.name}_{_suffix(index)}", owner.type)
    out.type = type_of_part(owner, index, out, frame, node)
    s = core.Load(out, owner, index)
    frame.builder.definition[out] = s
    frame.builder.add(s)
    return out


def number_item(frame: Frame, owner: Value, node: Any) -> Any:
    """The value of number[index], of NumPy's number: as of an array without axes."""
    from gradwright.transform.specialise.methods import call_function

    index = index_of(frame, node)
    if not index:
        return owner
    new = tuple(i for i in index if isinstance(i, NewAxis))
    if len(new) + index.count(Whole()) < len(index):
        raise frame.error(UnsupportedSyntax, f"{describe(owner)} has no elements", node)
    if new:
        return _with_axes(frame, owner, tuple(range(len(new))), node)
    return call_function(frame, np.asarray, [owner], {}, node)


def _new_axes(index: core.Index, rank: int) -> tuple[int, ...] | None:
    """Where an index puts axes of length one, if it does nothing else."""
    new = sum(isinstance(i, NewAxis) for i in index)
    taken = sum(isinstance(i, Span) for i in index)
    plain = all(i == Span() or isinstance(i, NewAxis | Whole) for i in index)
    if not new or not plain or taken > rank or Whole() in index[:-1]:
        return None
    return tuple(k for k, i in enumerate(index) if isinstance(i, NewAxis))


def _with_axes(frame: Frame, owner: Value, axes: tuple[int, ...], node: Any) -> Any:
    from gradwright.transform.specialise.methods import call_function

    numbers = tuple(map(linear, axes))
    axis = numbers[0] if len(axes) == 1 else Structure(tuple, numbers)
    made = call_function(frame, np.expand_dims, [owner, axis], {}, node)
    made.name = f"{owner.name}_part"
    return made


def part_value(frame: Frame, node: Any) -> Any:
    """One item between the brackets; a slice is a `Span`."""
    if not isinstance(node, gast.Slice):
        return frame.evaluate(node)
    bounds = (node.lower, node.upper, node.step)
    return span(frame, *(None if b is None else frame.evaluate(b) for b in bounds))


def span(frame: Frame, lower: Any, upper: Any, step: Any) -> Span:
    """The slice with these bounds, None where there is none."""

    def bound(a: Any) -> Any:
        a = as_constant(a)
        if a is None or (isinstance(a, Const) and a.value is None):
            return None
        if is_operand(a) and type_of(a).is_integer and not type_of(a).is_array:
            return a
        text = "slice indices must be integers or None or have an __index__ method"
        raise ProgramError(TypeError(text))

    return Span(bound(lower), bound(upper), bound(step))


def as_index(frame: Frame, value: Any, node: Any) -> Any:
    """An abstract value as an item of an index."""
    from gradwright.transform.specialise.expressions import display
    from gradwright.transform.specialise.methods import as_dtype

    if isinstance(value, Span):
        return value
    if isinstance(value, Static):
        if value.value is None:
            return NewAxis()
        if value.value is Ellipsis:
            return Whole()
        if isinstance(value.value, slice):
            s = value.value
            bounds = (s.start, s.stop, s.step)
            return Span(*(None if b is None else linear(b) for b in bounds))
    operand = display(frame, value, node)
    if isinstance(value, Structure) and not any(True for _ in leaves(value)):
        operand = as_dtype(frame, operand, Static(np.intp), node)  # as NumPy has it
    t = type_of(operand)
    if not (t.is_integer or t.is_bool):
        raise frame.error(
            UnsupportedSyntax, f"gradwright does not index by a {t} yet", node
        )
    if t.is_bool and not t.rank:
        raise frame.error(UnsupportedSyntax, "an index that is one truth value", node)
    return Pick(operand, _is_distinct(frame, operand)) if t.is_array else At(operand)


def _is_distinct(frame: Frame, places: Any) -> bool:
    """Whether an array of places is known to name none of them twice."""
    t, made = type_of(places), frame.builder.definition.get(places)
    if t.is_bool:
        return True
    if t.rank != 1 or not isinstance(made, Let):
        return False
    if made.primitive is DISPLAY:
        known = [getattr(o, "constant", None) for o in made.operands]
        same_sign = all(k is not None and (k < 0) == (known[0] < 0) for k in known)  # type: ignore[operator]
        return same_sign and len(set(known)) == len(known)
    if made.primitive.function is np.arange:
        return _counts_up(made)
    return made.primitive.function is np.argsort


def _counts_up(made: Let) -> bool:
    """Whether a range has no numbers below zero, which count from the end."""
    bounds = made.primitive.template(made.attribute).filled(lambda k: made.operands[k])
    first = linear(0) if bounds["stop"] is None else bounds["start"]
    step = linear(1) if bounds["step"] is None else bounds["step"]
    known = (getattr(first, "constant", None), getattr(step, "constant", None))
    match known:
        case (int(begin), int(by)):
            return begin >= 0 and by > 0
    return False


def _suffix(index: core.Index) -> str:
    match index:
        case (At(position=Linear(constant=int(k))),) if k >= 0:
            return str(k)
        case (At(position=Linear() as k),):
            names = [s.name for s in k.symbols() if isinstance(s, Value)]
            return names[0] if len(names) == 1 else "item"
    is_part = any(isinstance(i, Span | Pick) for i in index)
    return "part" if is_part else "item"


def type_of_part(
    owner: Value, index: core.Index, out: Value, frame: Frame, node: Any
) -> Type:
    """The type of array[index]: an element, or an array of the axes that stay."""
    taken = sum(_taken(i) for i in index)
    if taken > owner.type.rank:
        text = (
            f"too many indices for array: array is {owner.type.rank}-dimensional, "
            f"but {taken} were indexed"
        )
        raise ProgramError(IndexError(text))
    if any(isinstance(i, Pick) for i in index):
        return _picked(frame, owner, index, out)
    dims = list(owner.type.dims or ())
    items = list(index)
    if not any(isinstance(i, Whole) for i in items):
        items.append(Whole())
    kept: list[Linear] = []
    for item in items:
        match item:
            case NewAxis():
                kept.append(linear(1))
            case Whole():
                missing = owner.type.rank - taken
                kept.extend(dims[:missing])
                del dims[:missing]
            case At():
                dims.pop(0)
            case Span():
                dim = dims.pop(0)
                known = length(frame, item, dim)
                if known is None:
                    known = _known_as(frame, (item, dim), out, len(kept))
                kept.append(known)
    if not kept and not any(isinstance(i, Whole) for i in index):
        return numpy_scalar(owner.type.dtype)
    return array(owner.type.dtype, tuple(kept))


def _taken(item: Any) -> int:
    """How many axes of the array an item of an index stands for."""
    if isinstance(item, Pick):
        t = type_of(item.places)
        return t.rank if t.is_bool else 1
    return 1 if isinstance(item, At | Span) else 0


def length(frame: Frame, span: Span, dim: Linear) -> Linear | None:
    """The length of a slice, where it is a linear form.

    `x[1:-1]` has length n - 2: the entry checks that n is 2 or more.
    """
    lower, upper, step = span.lower, span.upper, span.step
    reverses = isinstance(step, Linear) and step.constant in (1, -1)
    if lower is None and upper is None and (step is None or reverses):
        return dim
    if (known := _counted(span, dim)) is not None:
        return known
    if step is None or (isinstance(step, Linear) and step.constant == 1):
        start: Any = _place(lower, dim, linear(0))
        stop: Any = _place(upper, dim, dim)
        if frame.in_rule:  # a rule's slices lie inside their axes
            start, stop = start or lower, stop or upper
        if isinstance(start, Linear) and isinstance(stop, Linear):
            found = stop - start
            forms = [start, dim - start, stop, dim - stop, found]
            if frame.in_rule or (not _follows_loop(found) and _holds(frame, forms)):
                return found
    return None


def _counted(span: Span, dim: Linear) -> Linear | None:
    """The length of a slice where all is a number."""
    bounds = (span.lower, span.upper, span.step)
    numbers = [b.constant if isinstance(b, Linear) else b for b in bounds]
    is_known = all(
        b is None or n is not None for b, n in zip(bounds, numbers, strict=True)
    )
    if dim.constant is None or not is_known or numbers[2] == 0:
        return None
    return linear(len(range(*slice(*numbers).indices(dim.constant))))


def _known_as(frame: Frame, key: Any, out: Value, axis: int) -> Linear:
    """A length that is no linear form: that of the first array which has it."""
    return frame.builder.lengths.setdefault(key, symbol(Dim(out, axis)))


def _place(bound: Any, dim: Linear, default: Linear) -> Linear | None:
    """Where a slice begins or ends, counted from the front; None if that varies."""
    if bound is None:
        return default
    if not isinstance(bound, Linear) or bound.constant is None:
        return bound if _follows_loop(bound) else None
    return dim + bound if bound.constant < 0 else bound


def _follows_loop(bound: Any) -> bool:
    """Whether a bound moves with the variable of a loop over a range."""
    return isinstance(bound, Linear) and any(
        getattr(s, "ends", None) for s in bound.symbols()
    )


def _at_least(form: Linear) -> Linear:
    """A form without variables of loops, which it is never less than."""
    while s := next((s for s in form.symbols() if getattr(s, "ends", None)), None):
        c = form.terms[s]
        low, high = s.ends
        form = form - Linear({s: c}) + (low if c > 0 else high) * c
    return form


def _holds(frame: Frame, forms: list[Linear]) -> bool:
    """Whether the forms are never negative: known now, or checked at the entry.

    In a loop nothing new is checked: there a slice may well end outside its axis.
    """
    in_loop = any(map(_follows_loop, forms))
    forms = list(dict.fromkeys(map(_at_least, forms)))
    open_ = [f for f in forms if f.constant is None]
    if any(f.constant is not None and f.constant < 0 for f in forms):
        return False
    if not all(map(frame.unit.sees, open_)):
        return False
    unsure = [f for f in open_ if not is_length(f)]
    if in_loop:
        return frame.unit.at_least_zero.keys() >= set(unsure)
    frame.unit.at_least_zero.update(dict.fromkeys(unsure))
    return True


def _sliced(
    frame: Frame, t: Type, index: core.Index, counts: dict[Any, Linear]
) -> Type:
    """An array's type once its axes are sliced, and nothing is picked yet."""
    dims, axis = list(t.dims or ()), 0
    for k, item in enumerate(index):
        if isinstance(item, Span):
            key = item, dims[axis]
            known = length(frame, *key)
            if known is None:
                known = counts.setdefault(key, symbol(("slice", k)))
            dims[axis] = known
        axis += t.rank - sum(map(_taken, index)) if item == Whole() else _taken(item)
    return array(t.dtype, tuple(dims))


def _picked(frame: Frame, owner: Value, index: core.Index, out: Value) -> Type:
    """NumPy's own result for arrays of indices; a mask is as long as what it picks."""
    counts: dict[Any, Linear] = {}  # of what a mask or a slice leaves
    operands: list[Any] = [_sliced(frame, owner.type, index, counts)]

    def put(o: Any) -> int:
        operands.append(o if isinstance(o, Linear) else type_of(o))
        return len(operands) - 1

    def part(item: Any, axis: int) -> Any:
        match item:
            case At():
                return [("is", 0)]
            case Pick(places=places) if type_of(places).is_bool:
                rank = type_of(places).rank
                own = (owner.type.dims or ())[axis : axis + rank]
                key = _mask_key(frame, places)
                count = counts.setdefault(key, symbol(("count", places)))
                if 0 in [d.constant for d in (*(type_of(places).dims or ()), *own)]:
                    count = linear(0)
                at = []
                for _ in range(rank):
                    operands.append(array(np.intp, (count,)))
                    at.append(("at", len(operands) - 1))
                return at
            case Pick():
                return [("at", put(item.places))]
            case Span():
                return [("is", slice(None))]
            case NewAxis():
                return [("is", None)]
        return [("is", ...)]

    axes = _axes_of(index, owner.type.rank)
    parts = [p for item, k in zip(index, axes, strict=True) for p in part(item, k)]

    def run(values: list[Any]) -> Any:
        def made(kind: str, x: Any) -> Any:
            if kind == "at":
                return values[x] * 0  # an index of every axis
            return x

        return values[0][tuple(made(kind, x) for kind, x in parts)]

    places = [o.dims for o in operands[1:] if isinstance(o, Type) and o.dims]
    meets = list(_pairs_that_meet(places))
    seen = [pair for pair in meets if all(map(frame.unit.sees, pair))]
    frame.unit.assume_equal(seen)
    open_ended = {d for pair in meets if pair not in seen for d in pair}  # may be 1
    try:
        found = infer(run, operands, meets)
    except REFUSED as e:
        raise ProgramError(e) from None
    dims = []
    for axis, d in enumerate(found.dims or ()):
        what = next((key for key, c in counts.items() if d == c), None)
        if what is not None:
            d = _known_as(frame, what, out, axis)
        elif d in {VARYING, *open_ended} or any(type(s) is tuple for s in d.symbols()):
            d = symbol(Dim(out, axis))
        dims.append(d)
    return array(owner.type.dtype, tuple(dims))


def _axes_of(index: core.Index, rank: int) -> list[int]:
    """The first axis of an array that each item of an index is about."""
    sizes = []
    for item in index:
        of_mask = isinstance(item, Pick) and type_of(item.places).is_bool
        size = type_of(item.places).rank if of_mask else 1  # type: ignore[union-attr]
        sizes.append(0 if isinstance(item, NewAxis | Whole) else size)
    rest = rank - sum(sizes)
    sizes = [
        rest if isinstance(i, Whole) else n for i, n in zip(index, sizes, strict=True)
    ]
    return [sum(sizes[:k]) for k in range(len(sizes))]


def _mask_key(frame: Frame, mask: Any) -> Any:
    """What two masks share that are computed alike: they pick as many elements."""
    made = frame.builder.definition.get(mask)
    return (made.primitive, made.operands) if isinstance(made, Let) else mask


def _pairs_that_meet(
    shapes: Sequence[tuple[Linear, ...]],
) -> Iterator[tuple[Linear, Linear]]:
    """The dims that are taken to be equal where shapes are stretched to one."""
    for k in range(1, max(map(len, shapes), default=0) + 1):
        met = [s[-k] for s in shapes if len(s) >= k and s[-k].constant != 1]
        yield from ((met[0], other) for other in met[1:])
