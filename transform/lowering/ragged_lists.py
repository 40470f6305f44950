"""Lists of arrays of different lengths: the elements of all items in one memory.

Beside it stands a table, with a row for each item: where its elements begin, and its
lengths.  A zero that stands for an array is one of a single element.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

from gradwright.transform.core import (
    At,
    For,
    If,
    Load,
    Operand,
    Store,
    Value,
    type_of,
)
from gradwright.transform.indices import Linear, linear, symbol
from gradwright.transform.lowering.arrays import cast
from gradwright.transform.lowering.choice import zero_of
from gradwright.transform.lowering.listed import Listed, further, leave_if
from gradwright.transform.lowering.nests import Places, Scope, variables
from gradwright.transform.lowering.program import Lowering, Shape
from gradwright.transform.lowering.tapes import Stack, claim
from gradwright.transform.lowering.views import flat, plus
from gradwright.transform.types import BOOL, INT


@dataclass(eq=False)
class Ragged(Listed):
    """A list whose stack is the table; the elements have one of their own.

    number: which of the names that hold arrays it is.
    """

    elements: Stack
    number: int

    @property
    def buffer(self) -> Any:
        return self.elements.column.buffer

    def fit(self, L: Lowering, operand: Operand) -> None:
        if type_of(operand).is_array and type_of(operand).rank != self.item.rank:
            raise L.refuse("a list of arrays of different ranks")

    def clear(self, L: Lowering) -> None:
        super().clear(L)
        L.add(Store(self.elements.column.top, linear(0)))

    def add_zeros(self, L: Lowering, n: Linear) -> None:
        row = claim(L, self.stack, self.column, (n,), n)
        start = claim(L, self.elements, self.elements.column, (n,), n)
        table, zero = self.column.buffer, zero_of(self.item)

        def write(w: Scope, at: Places) -> None:
            (place,), (k,) = further(row, at), further(start, at)
            w.store(table, (place, linear(0)), k)
            for axis in range(self.item.rank):
                w.store(table, (place, linear(axis + 1)), linear(1))
            w.store(self.buffer, (k,), zero)

        L.settle({table, self.buffer})
        L.root((n,), write)
        L.add(Store(self.column.top, n))
        L.add(Store(self.elements.column.top, n, accumulate=True))

    def put(self, L: Lowering, place: Linear, operand: Operand) -> None:
        shape = self._shape_of(L, operand)
        L.settle({self.buffer})
        self._fill(L, place, self._claim(L, shape), shape, operand)

    def replace(self, L: Lowering, place: Linear, operand: Operand) -> None:
        shape = self._shape_of(L, operand)
        start, old = self._part(L, place)
        L.settle({self.buffer})
        start = self._room(L, start, old, shape, keep=False)
        self._fill(L, place, start, shape, operand)

    def increase(self, L: Lowering, place: Linear, operand: Operand) -> None:
        start, old = self._part(L, place)
        shape = L.together([old, L.shape(operand)])
        given = L.stretched(operand, shape)
        L.settle({self.buffer})
        start = self._room(L, start, old, shape, keep=True)

        def write(w: Scope, at: Places) -> None:
            k = plus(w, start, flat(w, at, shape))
            w.store(self.buffer, (k,), cast(w, given(w, at), self.item.element), True)

        L.root(shape, write)
        self._note(L, place, start, shape)

    def take_out(self, L: Lowering, out: Value, place: Linear) -> None:
        start, shape = self._part(L, place)

        def at(w: Scope, places: Places) -> Operand:
            k = plus(w, start, flat(w, places, shape))
            return w.load(self.buffer, (k,), out.type.element, out.name)

        L.is_computed(out, shape, at, (self.buffer, start, *shape), cheap=True)

    def drop(self, L: Lowering, place: Linear) -> None:
        start, shape = self._part(L, place)
        top = self.elements.column.top
        end = start + L.product(shape)
        is_last = L.let(operator.eq, end, L.loaded(top), type=BOOL)
        L.add(If(is_last, [Store(top, start)], []))

    def gather(self, L: Lowering, out: Value, n: Linear) -> None:
        if self.number in L.needs.varying or L.runs_once:
            raise L.refuse("an array of arrays of different lengths")
        leave_if(L, self.number, operator.eq, n, linear(0))
        _, shape = self._part(L, linear(0))
        (i,) = variables(1)
        with L.block(loops=True) as body:
            _, own = self._part(L, symbol(i))
            for a, b in zip(own, shape, strict=True):
                leave_if(L, self.number, operator.ne, a, b)
        L.add(For(i, linear(1), n, linear(1), body))
        table, t = self.column.buffer, out.type.element

        def at(w: Scope, places: Places) -> Operand:
            k, *rest = places
            start = w.load(table, (k, linear(0)), INT, "start")
            assert isinstance(start, Linear)
            k = plus(w, start, flat(w, tuple(rest), shape))
            return cast(w, w.load(self.buffer, (k,), t, out.name), t)

        reads = (self.buffer, table, n, *shape)
        L.is_computed(out, (n, *shape), at, reads, cheap=True)

    def _shape_of(self, L: Lowering, operand: Operand) -> Shape:
        is_array = type_of(operand).is_array
        return L.shape(operand) if is_array else (linear(1),) * self.item.rank

    def _part(self, L: Lowering, place: Linear) -> tuple[Linear, Shape]:
        """Where the elements of an item begin, and its lengths."""
        found: list[Linear] = []
        for k in range(self.item.rank + 1):
            n = Value("n" if k else "start", INT)
            index = (At(place), At(linear(k)))
            L.add(Load(n, self.column.buffer, index, safe=True))
            found.append(symbol(n))
        start, *shape = found
        return start, tuple(shape)

    def _note(self, L: Lowering, place: Linear, start: Linear, shape: Shape) -> None:
        for k, n in enumerate((start, *shape)):
            index = (At(place), At(linear(k)))
            L.add(Store(self.column.buffer, n, index, safe=True))

    def _claim(self, L: Lowering, shape: Shape) -> Linear:
        """Where so many elements go, behind all others."""
        n = L.product(shape)
        start = claim(L, self.elements, self.elements.column, shape, n)
        L.add(Store(self.elements.column.top, n, accumulate=True))
        return start

    def _room(
        self, L: Lowering, start: Linear, old: Shape, shape: Shape, keep: bool
    ) -> Linear:
        """Where an item begins that gets another shape: elsewhere if it is larger."""
        place = L.cell("start", INT, start)
        is_larger = L.let(operator.gt, L.product(shape), L.product(old), type=BOOL)
        with L.block() as moved:
            new = self._claim(L, shape)
            L.add(Store(place, new))
            move, t = L.stretch(old, shape), self.item.element

            def write(w: Scope, at: Places) -> None:
                k = plus(w, start, flat(w, move(w, at), old))
                x = w.load(self.buffer, (k,), t, "item")
                w.store(self.buffer, (plus(w, new, flat(w, at, shape)),), x)

            if keep:
                L.root(shape, write)
        L.add(If(is_larger, moved, []))
        return L.loaded(place)

    def _fill(
        self, L: Lowering, place: Linear, start: Linear, shape: Shape, operand: Operand
    ) -> None:
        def write(w: Scope, at: Places) -> None:
            x = cast(w, L.at(w, operand, at), self.item.element)
            w.store(self.buffer, (plus(w, start, flat(w, at, shape)),), x)

        L.root(shape, write)
        self._note(L, place, start, shape)
