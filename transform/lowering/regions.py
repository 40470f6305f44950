"""Parts of arrays while they are lowered: where the elements of x[1:-1, k] stand in x.

    x[lower:upper:step]     ->     length elements, at start + i * step

Bounds are read as Python reads them; what is known of them is not asked again.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from gradwright.transform.core import (
    At,
    Index,
    Let,
    NewAxis,
    Operand,
    Pick,
    Span,
    Value,
    Whole,
    steps,
    type_of,
)
from gradwright.transform.indices import Linear, linear, symbol
from gradwright.transform.lowering.choice import chosen, taken_apart
from gradwright.transform.lowering.masks import places_of
from gradwright.transform.lowering.nests import Places, Scope
from gradwright.transform.lowering.program import Lowering, Shape
from gradwright.transform.lowering.views import Move, Region, plus, times, viewed
from gradwright.transform.picks import picked_first, taken
from gradwright.transform.primitives.structural import WITHIN
from gradwright.transform.types import BOOL, INT, NONE

ZERO = linear(0)
Along = Callable[[Scope, Places], Operand]
"""Where an element of a part stands along one axis of the whole."""


def region(
    L: Lowering, shape: Shape, index: Index, dims: tuple[Linear, ...] | None
) -> Region:
    """The part that an index names; its dims are taken for granted where known."""
    moves: list[Move] = []
    reads: tuple[Any, ...] = ()
    parts = list(steps(index))
    for k, (items, view) in enumerate(parts):
        is_last = k == len(parts) - 1
        wanted = dims if is_last else view.type.dims if view is not None else None
        if items:
            found = _part(L, shape, items, None if view is not None else wanted)
            shape, reads = found.shape, (*reads, *found.reads)
            moves.append(found.move)
        if view is not None and view.primitive is not None:
            found = viewed(L, view.primitive, view.attribute, view.operands, shape)
            shape, reads = found.shape, (*reads, *found.reads)
            moves.append(found.move)

    def move(w: Scope, places: Places) -> Places:
        for m in reversed(moves):
            places = m(w, places)
        return places

    return Region(shape, move, reads)


def _part(
    L: Lowering, shape: Shape, index: Index, dims: tuple[Linear, ...] | None
) -> Region:
    """The part that one pair of brackets names."""
    rank = len(shape)
    missing = rank - sum(map(taken, index))
    items: list[Any] = []
    for item in index:
        items += [Span()] * missing if isinstance(item, Whole) else [item]
    if not any(isinstance(i, Whole) for i in index):
        items += [Span()] * missing
    if any(isinstance(i, Pick) for i in items):
        return _picked(L, shape, tuple(items))
    found: list[Linear] = []
    moves: list[Along] = []
    axis = 0
    for item in items:
        k = len(found)
        match item:
            case NewAxis():
                found.append(linear(1))
            case At(position=position):
                place = position_in(L, position, shape[axis], axis)
                moves.append(_standing(place))
                axis += 1
            case Span():
                given = dims[k] if dims is not None and len(dims) > k else None
                start, step, length = span(L, item, shape[axis], L.granted(given))
                found.append(length)
                moves.append(_striding(k, start, step))
                axis += 1
            case _:
                raise L.refuse("this index")
    return Region(tuple(found), lambda w, places: tuple(m(w, places) for m in moves))


def _standing(place: Linear) -> Along:
    return lambda w, places: place


def _striding(k: int, start: Linear, step: int | Linear) -> Along:
    return lambda w, places: plus(w, start, times(w, places[k], step))


def position_in(L: Lowering, position: Operand, length: Linear, axis: int) -> Linear:
    """A place counted from the start of an axis; IndexError where it is outside."""
    if isinstance(position, Linear):
        position = L.form(position)
        if L.forms.is_within(position, length):
            return position
        if L.forms.is_within(position + length, length):
            return position + length
        if L.assume_natural(position) and L.assume_natural(length - position - 1):
            return position
    out = Value("place", INT)
    L.add(Let(out, WITHIN, (position, length), axis))
    return symbol(out)


def span(
    L: Lowering, item: Span, length: Linear, known: Linear | None
) -> tuple[Linear, int | Linear, Linear]:
    """Where a slice starts, its step, and how many elements it has.

    The step is a form where only the run knows it.
    """
    if known is not None and not L.assume_natural(known):
        known = L.greatest(known, linear(0))
    given = linear(1) if item.step is None else L.operand(item.step)
    form = L.form(given if isinstance(given, Linear) else L.let(int, given))
    step = form.constant
    if step is None:
        return _varied(L, item, length, known, form)
    if step > 0:
        start = _bound(L, item.lower, length, linear(0), length, known is not None)
        if known is not None:
            return start, step, known
        stop = _bound(L, item.upper, length, length, length, False)
        L.assume_natural(stop - start)
        return start, step, _count(L, stop - start, step)
    last = length - 1
    start = _bound(L, item.lower, last + 1, last, last, False, linear(-1))
    if known is not None:
        return start, step, known
    stop = _bound(L, item.upper, last + 1, linear(-1), last, False, linear(-1))
    return start, step, _count(L, start - stop, -step)


def _varied(
    L: Lowering, item: Span, length: Linear, known: Linear | None, step: Linear
) -> tuple[Linear, Linear, Linear]:
    """The same for a step of which not even the sign is known."""
    zero, one, last = linear(0), linear(1), length - 1
    L.raise_if(operator.eq, step, zero, ValueError, "slice step cannot be zero")
    is_up = L.let(operator.gt, step, zero, type=BOOL)
    least, most = chosen(L, is_up, zero, -one), chosen(L, is_up, length, last)
    first, end = chosen(L, is_up, zero, last), chosen(L, is_up, length, -one)
    start = _bound(L, item.lower, length, first, most, False, least)
    if known is not None:
        return start, step, known
    stop = _bound(L, item.upper, length, end, most, False, least)
    return start, step, steps_between(L, start, stop, step, is_up)


def steps_between(
    L: Lowering, start: Linear, stop: Linear, step: Linear, is_up: Operand
) -> Linear:
    """How many steps there are from a start to a stop, either way."""
    over = stop - start + step - chosen(L, is_up, linear(1), linear(-1))
    return L.greatest(L.let(operator.floordiv, over, step), linear(0))


def _count(L: Lowering, distance: Linear, step: int) -> Linear:
    """How many steps there are over a distance."""
    if step > 1:
        distance = L.let(operator.floordiv, distance + (step - 1), linear(step))
    return L.greatest(distance, linear(0))


def _bound(
    L: Lowering,
    bound: Operand | None,
    length: Linear,
    default: Linear,
    most: Linear,
    granted: bool,
    least: Linear = ZERO,
) -> Linear:
    """One end of a slice, counted from the start of its axis and cut to it.

    Where its length is granted, what lies behind the end is the start of nothing.
    """
    if bound is None:
        return default
    if type_of(bound).optional or type_of(bound) == NONE:
        is_none, value = taken_apart(L, bound, INT)
        rest = default, most, granted, least
        return chosen(L, is_none, default, _bound(L, symbol(value), length, *rest))
    bound = L.form(bound if isinstance(bound, Linear) else L.let(int, bound))
    is_negative = L.forms.is_natural(-bound - 1)
    if not is_negative and L.assume_natural(bound):
        if granted or L.assume_natural(most - bound):
            return bound
        return L.least(bound, most)
    if L.forms.is_natural(-bound - 1):
        return L.greatest(bound + length, least)
    is_negative = L.let(operator.lt, bound, linear(0), type=BOOL)
    moved = chosen(L, is_negative, bound + length, bound)
    return L.greatest(L.least(moved, most), least)


def _picked(L: Lowering, shape: Shape, items: tuple[Any, ...]) -> Region:
    """The elements at arrays of places, or where masks hold."""

    class _Ranked:
        rank = len(shape)

    first, count = picked_first(_Ranked, items)  # type: ignore[arg-type]
    axis = 0
    picks: dict[int, Any] = {}  # by axis: a function of the places' own place
    shapes: dict[int, Shape] = {}  # by axis, of the arrays of places
    slices: dict[int, tuple[Linear, int | Linear]] = {}
    outer: list[Linear] = []  # lengths besides those of the places
    order: list[int | None] = []
    arrays: list[Shape] = []
    reads: list[Any] = []
    for item in items:
        match item:
            case NewAxis():
                outer.append(linear(1))
                order.append(None)
            case At(position=position):
                place = position_in(L, position, shape[axis], axis)
                picks[axis] = lambda w, p, place=place: place
                axis += 1
            case Span():
                start, step, length = span(L, item, shape[axis], None)
                slices[axis] = (start, step)
                outer.append(length)
                order.append(axis)
                axis += 1
            case Pick(places=places) if type_of(places).is_bool:
                held, length = places_of(L, places)
                arrays.append((length,))
                for buffer in held:
                    reads.append(buffer)
                    shapes[axis] = (length,)
                    picks[axis] = lambda w, p, buffer=buffer: w.load(
                        buffer, p[-1:], INT, "place"
                    )
                    axis += 1
            case Pick(places=places):
                own = L.shape(places)
                arrays.append(own)
                reads.append(places)
                shapes[axis] = own
                picks[axis] = _pick(L, places, shape[axis], axis)
                axis += 1
    together = L.together(arrays)
    moves = {axis: L.stretch(own, together) for axis, own in shapes.items()}
    lengths = (*outer[:first], *together, *outer[first:])

    def move(w: Scope, at: Places) -> Places:
        own, rest = at[first : first + count], (*at[:first], *at[first + count :])
        along = {a: rest[k] for k, a in enumerate(order) if a is not None}
        found: list[Operand] = []
        for a in range(len(shape)):
            if a in picks:
                mine = moves[a](w, own) if a in moves else own
                found.append(picks[a](w, mine))
            else:
                start, step = slices[a]
                found.append(plus(w, start, times(w, along[a], step)))
        return tuple(found)

    return Region(tuple(lengths), move, tuple(reads))


def _pick(L: Lowering, places: Any, length: Linear, axis: int) -> Any:
    def at(w: Scope, own: Places) -> Operand:
        k = L.at(w, places, own)
        return w.let(WITHIN, (k, length), INT, "place", axis)

    return at
