"""Where the items of a list stand in memory: behind one another, all of one shape."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gradwright.transform.core import (
    For,
    If,
    Let,
    Load,
    Operand,
    Raise,
    Span,
    Store,
    Value,
    type_of,
)
from gradwright.transform.indices import Linear, linear, symbol
from gradwright.transform.lowering.arrays import cast
from gradwright.transform.lowering.choice import zero_of
from gradwright.transform.lowering.nests import Places, Scope, variables
from gradwright.transform.lowering.program import Again, LengthsVary, Lowering, Shape
from gradwright.transform.lowering.regions import span
from gradwright.transform.lowering.tapes import Column, Stack, claim, is_here
from gradwright.transform.primitives.structural import WITHIN
from gradwright.transform.types import BOOL, INT, Type

RANGE = "list index out of range"
ASSIGNED = "list assignment index out of range"


@dataclass(eq=False)
class Listed:
    """A list in memory; its stack has a row for each item, and room for more."""

    stack: Stack
    item: Type

    @property
    def column(self) -> Column:
        return self.stack.column

    @property
    def buffer(self) -> Any:
        """The memory of the elements of items."""
        return self.column.buffer

    def shape_of_items(self, L: Lowering) -> Shape:
        """The shape of each; where there was none yet, what is taken for granted."""
        if self.stack.shape is None:
            found = [L.granted(n) for n in self.item.dims or ()]
            shape = tuple(n for n in found if n is not None)
            is_known = len(shape) == len(found)
            if not is_known or not all(is_here(L, self.stack, n) for n in shape):
                raise differ(L, self.stack)
            self.stack.shape = shape
        return self.stack.shape

    def fit(self, L: Lowering, operand: Operand) -> None:
        """An item has the shape of all the others; a zero may stand for an array."""
        if self.item.dims and not type_of(operand).is_array:
            self.shape_of_items(L)
        else:
            agree(L, self.stack, L.shape(operand))

    def clear(self, L: Lowering) -> None:
        """No item is left."""
        L.add(Store(self.column.top, linear(0)))

    def add_zeros(self, L: Lowering, n: Linear) -> None:
        """So many zeros are in the list, which was empty."""
        shape = self.shape_of_items(L)
        start, zero = claim(L, self.stack, self.column, (n,), n), zero_of(self.item)

        def write(w: Scope, at: Places) -> None:
            w.store(self.buffer, further(start, at), zero)

        L.settle({self.buffer})
        L.root((n, *shape), write)
        L.add(Store(self.column.top, n))

    def put(self, L: Lowering, place: Linear, operand: Operand) -> None:
        """What there is room for at a place becomes an item."""
        self.replace(L, place, operand)

    def replace(self, L: Lowering, place: Linear, operand: Operand) -> None:
        """An item is another one from here on."""
        self._store(L, place, operand)

    def increase(self, L: Lowering, place: Linear, operand: Operand) -> None:
        """An item is added to."""
        if type_of(operand).is_array:
            agree(L, self.stack, L.shape(operand))
        self._store(L, place, operand, accumulate=True)

    def _store(
        self, L: Lowering, place: Linear, operand: Operand, accumulate: bool = False
    ) -> None:
        t = self.item.element

        def write(w: Scope, at: Places) -> None:
            x = cast(w, L.at(w, operand, at), t)
            w.store(self.buffer, (place, *at), x, accumulate)

        L.settle({self.buffer})
        each(L, self.shape_of_items(L), write)

    def take_out(self, L: Lowering, out: Value, place: Linear) -> None:
        """An item as a value of the program."""
        t = out.type.element

        def at(w: Scope, places: Places) -> Operand:
            return w.load(self.buffer, (place, *places), t, out.name)

        if not out.type.is_array:
            w = Scope()
            L.number(out, w, at(w, ()))
            return
        shape = self.shape_of_items(L)
        L.is_computed(out, shape, at, (self.buffer, place), cheap=True)

    def drop(self, L: Lowering, place: Linear) -> None:
        """The elements of an item that is taken out are wanted no more."""

    def gather(self, L: Lowering, out: Value, n: Linear) -> None:
        """All items as an array."""
        t = out.type.element
        if self.stack.shape is None:
            raise L.refuse("an array of a list that may be empty")

        def at(w: Scope, places: Places) -> Operand:
            return cast(w, w.load(self.buffer, places, t, out.name), t)

        shape = (n, *self.stack.shape)
        L.is_computed(out, shape, at, (self.buffer, n), cheap=True)


def count(L: Lowering, listed: Listed) -> Linear:
    """How many items there are now."""
    n = Value("count", INT)
    L.add(Load(n, listed.column.top))
    return symbol(n)


def agree(L: Lowering, stack: Stack, shape: Shape) -> None:
    """Items of this shape may stand among those that there are, or are the first."""
    if stack.shape is None:
        stack.shape = shape
        if not all(is_here(L, stack, n) for n in shape):
            raise differ(L, stack)
        return
    if len(shape) != len(stack.shape):
        raise L.refuse("a list of arrays of different ranks")
    if not all(map(L.forms.are_equal, shape, stack.shape)):
        raise differ(L, stack)


def differ(L: Lowering, stack: Stack) -> Again:
    """All begins anew, with room for items of different lengths."""
    L.needs.ragged.add(stack.tape)
    return Again()


def copy_items(
    L: Lowering, source: Any, to: Listed, start: Linear, step: int, length: Linear
) -> None:
    """Items that stand somewhere in memory become those of an empty list."""
    first = claim(L, to.stack, to.column, (length,), length)
    L.settle({to.buffer})
    t = to.item.element

    def write(w: Scope, at: Places) -> None:
        k, *rest = at
        assert isinstance(k, Linear)
        x = w.load(source, (start + k * step, *rest), t, "item")
        w.store(to.buffer, further(first, at), x)

    L.root((length, *to.shape_of_items(L)), write)
    L.add(Store(to.column.top, length))


def further(start: Linear, at: Places) -> Places:
    """A place whose first axis is counted from a start."""
    k, *rest = at
    assert isinstance(k, Linear)
    return (start + k, *rest)


def each(L: Lowering, shape: Shape, write: Callable[[Scope, Places], None]) -> None:
    """For every place of an item: for a number, once."""
    if shape:
        L.root(shape, write)
        return
    w = Scope()
    write(w, ())
    for t in w.block:
        L.add(t)


def clamped(L: Lowering, position: Operand, n: Linear) -> Linear:
    """Where `insert` puts an item: before all, behind all, or in between."""
    _, _, length = span(L, Span(None, position), n, None)
    return length


def shift(L: Lowering, stack: Stack, first: Linear, stop: Linear, up: bool) -> None:
    """The rows from `first` to `stop` move up by one, or those behind it down."""
    buffer, t = stack.column.buffer, stack.column.buffer.type.element
    L.settle({buffer})
    (i,) = variables(1)
    k = symbol(i)
    with L.block(loops=True) as body:
        to, source = (k + 1, k) if up else (k, k + 1)

        def write(w: Scope, at: Places) -> None:
            w.store(buffer, (to, *at), w.load(buffer, (source, *at), t, "item"))

        each(L, stack.shape or (), write)
    stop = stop if up else stop - 1
    L.add(For(i, first, stop, linear(1), body, backwards=up))


def raise_if_empty(L: Lowering, n: Linear) -> None:
    """There has to be an item to be taken out."""
    L.raise_if(operator.eq, n, linear(0), IndexError, "pop from empty list")


def within(L: Lowering, position: Operand, n: Linear, message: str) -> Linear:
    """A place of an item that is there, counted from the first."""
    if isinstance(position, Linear) and L.forms.is_within(position, n):
        return position
    out = Value("place", INT)
    L.add(Let(out, WITHIN, (position, n), message))
    return symbol(out)


def leave_if(L: Lowering, number: int, compare: Any, a: Linear, b: Linear) -> None:
    """Where the items make no array, the source says what is raised."""
    held = L.let(compare, a, b, type=BOOL)
    L.add(If(held, [Raise(LengthsVary, (linear(number),))], []))
