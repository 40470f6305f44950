"""Lists while they are lowered: arrays with a counter, and room for more.

    xs.append(x)         xs[count] = x; count += 1
    xs.insert(0, x)      for i in reversed(range(count)): xs[i + 1] = xs[i] ...
    np.array(xs)         the first `count` elements

Items are numbers, or arrays of one shape.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

from gradwright.transform.core import (
    At,
    Const,
    For,
    If,
    Insert,
    Length,
    Let,
    List,
    Load,
    Operand,
    Raise,
    Remove,
    Span,
    Store,
    Take,
    Value,
    type_of,
)
from gradwright.transform.indices import Linear, linear, symbol
from gradwright.transform.lowering.arrays import cast
from gradwright.transform.lowering.nests import Places, Scope, variables
from gradwright.transform.lowering.program import Lowering, Shape
from gradwright.transform.lowering.regions import span
from gradwright.transform.lowering.tapes import (
    Column,
    Stack,
    begin_column,
    claim,
    is_here,
)
from gradwright.transform.primitives.structural import WITHIN
from gradwright.transform.types import BOOL, INT, TEXT

RANGE = "list index out of range"
ASSIGNED = "list assignment index out of range"


@dataclass(eq=False)
class Listed:
    """A list in memory; its stack says how much room it has."""

    stack: Stack
    item: Any  # the type of an item

    @property
    def column(self) -> Column:
        return self.stack.column

    @property
    def shape(self) -> Shape:
        return self.stack.shape or ()


def begin_list(L: Lowering, place: List) -> None:
    """A list begins empty, or with zeros."""
    item = place.type
    if item.optional or not item.is_number:
        raise L.refuse(f"{place.name}, a list of what may be None,")
    if place in L.lists:
        listed = L.lists[place]
        L.add(Store(listed.column.top, linear(0)))
    else:
        here = set(L.numbers)
        column = begin_column(L, place, place.name, item)
        stack = Stack(place, L.items, len(L.loops), here, column)
        listed = L.lists[place] = Listed(stack, item)
        L.tapes[place] = stack
        L.memory_of[place] = {column.buffer, column.top}
        if not item.dims:
            stack.shape = ()
    if place.length is not None:
        _begin_with_zeros(L, listed, L.length(place.length))


def _begin_with_zeros(L: Lowering, listed: Listed, n: Linear) -> None:
    shape = shape_of_items(L, listed)
    n = L.greatest(n, linear(0))
    start = claim(L, listed.stack, listed.column, (n,), n)
    buffer, t = listed.column.buffer, listed.item.element
    zero = Const(t.weak()(0) if t.python else t.weak().type(0), t)

    def write(w: Scope, at: Places) -> None:
        k, *rest = at
        assert isinstance(k, Linear)
        w.store(buffer, (start + k, *rest), zero)

    L.settle({buffer})
    L.root((n, *shape), write)
    L.add(Store(listed.column.top, n))


def _known_shape(L: Lowering, listed: Listed) -> Shape:
    """The shape of every item, where the program takes it for granted."""
    found = [L.granted(n) for n in listed.item.dims or ()]
    shape = tuple(n for n in found if n is not None)
    if len(shape) < len(found) or not all(is_here(L, listed.stack, n) for n in shape):
        raise L.refuse("a list that begins with arrays of zeros")
    return shape


def count(L: Lowering, listed: Listed) -> Linear:
    """How many items there are now."""
    n = Value("count", INT)
    L.add(Load(n, listed.column.top))
    return symbol(n)


def _fit(L: Lowering, listed: Listed, operand: Operand) -> None:
    """An item has the shape of all the others; a zero may stand for an array."""
    if listed.item.dims and not type_of(operand).is_array:
        shape_of_items(L, listed)
    else:
        agree(L, listed.stack, L.shape(operand))


def shape_of_items(L: Lowering, listed: Listed) -> Shape:
    """The shape of every item; where there was none yet, what is taken for granted."""
    if listed.stack.shape is None:
        listed.stack.shape = _known_shape(L, listed)
    return listed.stack.shape


def agree(L: Lowering, stack: Stack, shape: Shape) -> None:
    """Items of this shape may stand among those that there are, or are the first."""
    if stack.shape is None:
        stack.shape = shape
        if not all(is_here(L, stack, n) for n in shape):
            raise L.refuse("a list of arrays of different lengths")
        return
    if len(shape) != len(stack.shape):
        raise L.refuse("a list of arrays of different ranks")
    for n, m in zip(shape, stack.shape, strict=True):
        if not L.forms.are_equal(n, m):
            raise L.refuse("a list of arrays of different lengths")


def insert(L: Lowering, s: Insert) -> None:
    """One item more, at the end or before another one."""
    listed, operand = listed_as(L, s.place), L.operand(s.operand)
    _fit(L, listed, operand)
    column = listed.column
    n = claim(L, listed.stack, column, (), linear(1))
    place = n
    if s.position is not None:
        place = _clamped(L, L.operand(s.position), n)
        if column.buffer in L.touched(operand):
            operand = L.written_out(operand)
        L.settle({column.buffer})
        _shift(L, listed, place, n, up=True)
    L.settle({column.buffer})
    _put(L, listed, place, operand)
    L.add(Store(column.top, linear(1), accumulate=True))


def _put(L: Lowering, listed: Listed, place: Linear, operand: Operand) -> None:
    buffer, t = listed.column.buffer, listed.column.buffer.type.element

    def write(w: Scope, at: Places) -> None:
        w.store(buffer, (place, *at), cast(w, L.at(w, operand, at), t))

    _each(L, listed.shape, write)


def _each(L: Lowering, shape: Shape, write: Any) -> None:
    """For every place of an item: for a number, once."""
    if shape:
        L.root(shape, write)
        return
    w = Scope()
    write(w, ())
    for t in w.block:
        L.add(t)


def _clamped(L: Lowering, position: Operand, n: Linear) -> Linear:
    """Where `insert` puts an item: before all, behind all, or in between."""
    _, _, length = span(L, Span(None, position), n, None)
    return length


def _shift(L: Lowering, listed: Listed, first: Linear, n: Linear, up: bool) -> None:
    """The items from `first` on move up by one, or those behind it down."""
    buffer, t = listed.column.buffer, listed.column.buffer.type.element
    (i,) = variables(1)
    k = symbol(i)
    with L.block(loops=True) as body:
        to, source = (k + 1, k) if up else (k, k + 1)

        def write(w: Scope, at: Places) -> None:
            w.store(buffer, (to, *at), w.load(buffer, (source, *at), t, "item"))

        _each(L, listed.shape, write)
    stop = n if up else n - 1
    L.add(For(i, first, stop, linear(1), body, backwards=up))


def remove(L: Lowering, s: Remove) -> None:
    """An item is taken out: the last one, or another."""
    listed = listed_as(L, s.place)
    n = count(L, listed)
    _raise_if(L, operator.eq, n, linear(0), "pop from empty list")
    place = n - 1
    if s.position is not None:
        place = _within(L, L.operand(s.position), n, "pop index out of range")
    _take_out(L, s.out, listed, place)
    if s.position is not None:
        L.settle({listed.column.buffer})
        _shift(L, listed, place, n, up=False)
    L.add(Store(listed.column.top, n - 1))


def _take_out(L: Lowering, out: Value, listed: Listed, place: Linear) -> None:
    """An item as a value of the program."""
    buffer, t = listed.column.buffer, out.type.element

    def at(w: Scope, places: Places) -> Operand:
        return w.load(buffer, (place, *places), t, out.name)

    if not out.type.is_array:
        w = Scope()
        L.number(out, w, at(w, ()))
        return
    L.is_computed(out, listed.shape, at, (buffer, place), cheap=True)


def _raise_if(L: Lowering, compare: Any, a: Linear, b: Linear, message: str) -> None:
    held = L.let(compare, a, b, type=BOOL)
    L.add(If(held, [Raise(IndexError, (Const(message, TEXT),))], []))


def _within(L: Lowering, position: Operand, n: Linear, message: str) -> Linear:
    """A place of an item that is there, counted from the first."""
    if isinstance(position, Linear) and L.forms.is_within(position, n):
        return position
    out = Value("place", INT)
    L.add(Let(out, WITHIN, (position, n), message))
    return symbol(out)


def load_list(L: Lowering, s: Load) -> None:
    """An item, the number of items, all of them as an array, or some as a list."""
    assert isinstance(s.source, List)
    listed = listed_as(L, s.source)
    n = count(L, listed)
    match s.index:
        case (Length(),):
            L.number(s.out, Scope(), n)
        case (At(position=position),):
            place = _within(L, L.operand(position), n, RANGE)
            _take_out(L, s.out, listed, place)
        case () if isinstance(s.out, Value):
            buffer, t = listed.column.buffer, s.out.type.element
            if listed.stack.shape is None:
                raise L.refuse("an array of a list that may be empty")

            def at(w: Scope, places: Places) -> Operand:
                return cast(w, w.load(buffer, places, t, s.out.name), t)

            L.is_computed(s.out, (n, *listed.shape), at, (buffer, n), cheap=True)
        case () | (Span(),) if isinstance(s.out, List):
            item = s.index[0] if s.index else Span()
            assert isinstance(item, Span)
            start, step, length = span(L, item, n, None)
            begin_list(L, s.out)
            _copy(L, listed, listed_as(L, s.out), start, step, length)
        case _:
            raise L.refuse("this part of a list")


def _copy(
    L: Lowering, source: Listed, to: Listed, start: Linear, step: int, length: Linear
) -> None:
    """Items of one list become those of another, empty one."""
    agree(L, to.stack, shape_of_items(L, source))
    copy_items(L, source.column.buffer, to, start, step, length)


def copy_items(
    L: Lowering, source: Any, to: Listed, start: Linear, step: int, length: Linear
) -> None:
    """Items that stand somewhere in memory become those of an empty list."""
    first = claim(L, to.stack, to.column, (length,), length)
    L.settle({to.column.buffer})
    b, t = to.column.buffer, to.column.buffer.type.element

    def write(w: Scope, at: Places) -> None:
        k, *rest = at
        assert isinstance(k, Linear)
        x = w.load(source, (start + k * step, *rest), t, "item")
        w.store(b, (first + k, *rest), x)

    L.root((length, *to.shape), write)
    L.add(Store(to.column.top, length))


def store_list(L: Lowering, s: Store) -> None:
    """An item is another one from here on, or is added to."""
    assert isinstance(s.place, List)
    listed, operand = listed_as(L, s.place), L.operand(s.operand)
    if len(s.index) != 1 or not isinstance(s.index[0], At):
        raise L.refuse("a store into a part of a list")
    n = count(L, listed)
    place = _within(L, L.operand(s.index[0].position), n, ASSIGNED)
    buffer, t = listed.column.buffer, listed.column.buffer.type.element
    if s.accumulate and not listed.shape and type_of(operand).is_array:
        raise L.refuse("an array that is added to an item of a list")
    if not s.accumulate:
        _fit(L, listed, operand)
    if buffer in L.touched(operand):
        operand = L.written_out(operand) if type_of(operand).is_array else operand
    L.settle({buffer})

    def write(w: Scope, at: Places) -> None:
        x = cast(w, L.at(w, operand, at), t)
        w.store(buffer, (place, *at), x, s.accumulate)

    _each(L, listed.shape, write)


def take(L: Lowering, s: Take) -> None:
    """A list goes by another name."""
    source, to = listed_as(L, s.source), listed_as(L, s.place)
    if source is to:
        return
    L.settle({to.column.buffer})
    L.add(Store(to.column.top, linear(0)))
    _copy(L, source, to, linear(0), 1, count(L, source))


def listed_as(L: Lowering, place: List) -> Listed:
    """A list of the program where it stands in memory."""
    found: Listed | None = L.lists.get(place)
    if found is None:
        raise L.refuse(f"the list {place.name}")
    return found
