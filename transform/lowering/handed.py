"""What one half of a split hands over to the other: tapes and lists, as arrays.

    return y, x_tape     ->     return y, x_tape, x_top

A tape or a list goes with the number of its items; where they are of different lengths,
with those lengths and how many they are; and a list of lists on a tape of its own.
Items of several kinds go as words, which only machine code can read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradwright.transform.core import (
    Function,
    List,
    Load,
    Pop,
    Push,
    Substitution,
    Tape,
    Value,
    walk,
)
from gradwright.transform.indices import Dim, Linear, symbol
from gradwright.transform.lowering.listed import Listed
from gradwright.transform.lowering.lists import begin_list, listed_as
from gradwright.transform.lowering.lists_on_tapes import (
    pop_list,
    push_list,
    take_items,
)
from gradwright.transform.lowering.program import Lowering
from gradwright.transform.lowering.tapes import Column, Stack, begin
from gradwright.transform.types import BOOL, INT, VARYING, Type

Pair = tuple[Value, Value | None]  # memory, and how much of it counts


@dataclass(frozen=True)
class Layout:
    """How a tape lies in memory while it is handed over.

    item: the type of the numbers or arrays on it, or in the lists on it, which are so
    deep.  is_ragged: arrays of different lengths lie behind one another.  is_words: it
    is a stack, of items of several kinds.  is_list: it is a list, or stands for the one
    on it.  is_optional: flags say last which of its numbers are None.
    """

    item: Type
    depth: int = 0
    is_ragged: bool = False
    is_words: bool = False
    is_list: bool = False
    is_optional: bool = False

    @property
    def lengths(self) -> int:
        """How many lengths there are of each item: of an array, and of lists."""
        return self.depth + (self.item.rank if self.is_ragged else 0)

    @property
    def parts(self) -> int:
        """How many arrays and counts go over."""
        return 1 if self.is_words else 2 * (1 + self.lengths + self.is_optional)


# ---- taken -------------------------------------------------------------------------


def take_as_own(function: Function) -> None:
    """The lists that a half takes are its own: they may change, and be taken again."""
    lists = [p for p in function.params if isinstance(p, List)]
    owns: dict[Any, Any] = {p: List(p.name, p.type, p.depth) for p in lists}
    function.params = [owns.get(p, p) for p in function.params]
    function.body = Substitution(owns).block(function.body)


def as_given(tape: Tape | List, layout: Layout) -> list[Pair]:
    """What stands for a tape or a list among the parameters."""
    name = tape.name.removesuffix("_tape")
    if layout.is_words:
        return [(_array(tape.name, "int64", ()), None)]
    dtype = np.dtype(layout.item.weak()).name
    dims = () if layout.is_ragged else tape.type.dims or ()
    own = _array(tape.name, dtype, dims), Value(f"{name}_top", INT)
    lengths = [
        (_array(f"{tape.name}_lengths", "int64", ()), Value(f"{name}_lengths_top", INT))
        for _ in range(layout.lengths)
    ]
    if layout.is_optional:
        flags = _array(f"{tape.name}_is_none", "bool", ())
        lengths.append((flags, Value(f"{name}_is_none_top", INT)))
    return [own, *lengths]


def _array(name: str, dtype: str, dims: tuple[Linear, ...]) -> Value:
    own = Value(name, Type(dtype))
    own.type = Type(dtype, dims=(symbol(Dim(own, 0)), *dims))
    return own


def take(L: Lowering, tape: Tape | List, layout: Layout, given: list[Pair]) -> None:
    """A tape that the other half has filled, or a list; a list is copied."""
    if isinstance(tape, List):
        _take_list(L, tape, layout, given)
        return
    if (tape in L.stacks) is not layout.is_words:
        raise L.refuse(f"{tape.name}, which the other half has in another form,")
    if layout.is_words:
        ((words, _),) = given
        L.add(Load(tape, words))
        return
    pushed = (s for s in walk(L.function.body) if isinstance(s, Push))
    if any(tape in (s.tape, s.operand) for s in pushed):
        raise L.refuse(f"{tape.name}, which is pushed onto in another half,")
    _take(L, tape, layout, [_column(L, *pair) for pair in given])


def _take_list(L: Lowering, xs: List, layout: Layout, given: list[Pair]) -> None:
    columns = [_column(L, *pair) for pair in given]
    if layout.depth:
        tape = _tape_of(L, xs)
        _take(L, tape, layout, columns)
        pop_list(L, Pop(xs, tape))
        return
    (column,) = columns
    begin_list(L, xs)
    take_items(L, listed_as(L, xs), column.buffer, L.loaded(column.top))


def _tape_of(L: Lowering, xs: List) -> Tape:
    """The tape on which a list is handed over."""
    tape: Tape = L.needs.tapes.setdefault(xs, Tape(xs.name, xs.type))
    return tape


def _column(L: Lowering, own: Value, count: Value | None) -> Column:
    assert count is not None
    return Column(own, L.cell(count.name, INT, symbol(count)))


def _take(L: Lowering, tape: Tape, layout: Layout, columns: list[Column]) -> None:
    if layout.is_optional:
        values, flags = Tape(tape.name, layout.item), Tape(f"{tape.name}_is_none", BOOL)
        L.optional_of[tape] = values, flags
        _take(L, values, replace(layout, is_optional=False), columns[:-1])
        _take(L, flags, Layout(BOOL), columns[-1:])
        L.memory_of[tape] = L.memory_of[values] | L.memory_of[flags]
        return
    if layout.depth > 1:
        rows, counts = Tape(tape.name, layout.item), Tape(f"{tape.name}_counts", INT)
        L.rows_of[tape] = rows, counts
        _take(L, rows, replace(layout, depth=layout.depth - 1), columns[:-1])
        _take(L, counts, Layout(INT), columns[-1:])
        L.memory_of[tape] = L.memory_of[rows] | L.memory_of[counts]
        return
    first, *lengths = columns
    shape = None if layout.is_ragged else L.shape(first.buffer)[1:]
    L.tapes[tape] = Stack(tape, L.items, 0, set(), first, shape, lengths, shares=True)
    L.memory_of[tape] = {p for c in columns for p in (c.buffer, c.top)}


# ---- handed over -------------------------------------------------------------------


def on_tape(L: Lowering, r: Tape | List) -> Tape | List:
    """A result, on a tape where it is a list of lists, or of items that may differ.

    The other half knows no better.
    """
    if isinstance(r, Tape) or type(L.lists.get(r)) is Listed:
        return r
    tape = _tape_of(L, r)
    L.needs.ragged |= {tape} if r.type.rank else set()
    begin(L, tape, tape, r.type, r.depth)
    push_list(L, Push(tape, r))
    return tape


def hand_over(L: Lowering, tape: Tape | List) -> tuple[Layout, list[Any]]:
    """A tape or a list as results, and how it lies there."""
    if isinstance(tape, List):
        return Layout(tape.type), _parts(L, listed_as(L, tape).column)
    if tape in L.stacks:
        words = Value(tape.name, Type("int64", dims=(VARYING,)))
        L.add(Load(words, tape))
        return Layout(tape.type, is_words=True), [words]
    layout, columns = _columns(L, tape)
    return layout, [part for column in columns for part in _parts(L, column)]


def _parts(L: Lowering, column: Column) -> list[Any]:
    own = Value(column.buffer.name, column.buffer.type)
    L.add(Load(own, column.buffer))
    return [own, L.loaded(column.top)]


def _columns(L: Lowering, tape: Tape) -> tuple[Layout, list[Column]]:
    """How a tape lies in memory, and where."""
    if tape in L.rows_of:
        rows, counts = L.rows_of[tape]
        layout, columns = _columns(L, rows)
        _, (column,) = _columns(L, counts)
        return replace(layout, depth=layout.depth + 1), [*columns, column]
    if tape in L.optional_of:
        values, flags = L.optional_of[tape]
        layout, columns = _columns(L, values)
        _, (column,) = _columns(L, flags)
        return replace(layout, is_optional=True), [*columns, column]
    stack = L.tapes.get(tape)
    if stack is None:
        raise L.refuse(f"{tape.name}, onto which nothing is pushed,")
    item = tape.type
    is_ragged = item.rank > 0 and stack.tape in L.needs.ragged
    depth = len(stack.lengths) - (item.rank if is_ragged else 0)
    return Layout(item, depth, is_ragged), [stack.column, *stack.lengths]
