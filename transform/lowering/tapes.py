"""Tapes while they are lowered: arrays with a counter.

    x_tape.append(x)          x_tape[top] = x; top += 1
    x = x_tape.pop()          top -= 1; x = x_tape[top]

A tape is as long as the loops can run in which it is pushed; where that is not known
when it begins, it grows.  Items of different lengths lie one behind the other, and
their lengths on tapes of their own.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, field, replace
from typing import Any

from gradwright.transform.build import row
from gradwright.transform.core import (
    Alloc,
    At,
    Buffer,
    Cell,
    If,
    Let,
    List,
    Load,
    Operand,
    Pop,
    Push,
    Resize,
    Statement,
    Store,
    Tape,
    Value,
    blocks,
    leaves,
    type_of,
    walk,
)
from gradwright.transform.indices import Linear, linear, multiply, symbol
from gradwright.transform.lowering.nests import Items, Places, Plain, Scope
from gradwright.transform.lowering.program import Again, Lowering, Shape
from gradwright.transform.lowering.views import flat, plus
from gradwright.transform.types import BOOL, INT, NONE, Type

FIRST_ROOM = 16  # items of a tape that grows
Factors = tuple[Linear, ...]


@dataclass(eq=False)
class Column:
    """Memory that a tape's counter counts: of its items, or of one of their lengths.

    most: how many elements each place that pushes may push, as factors.  room: how many
    there is room for now, where it grows.
    """

    buffer: Any  # or a parameter
    top: Cell
    alloc: Plain | None = None
    room: Cell | None = None
    most: list[Factors] = field(default_factory=list)


@dataclass(eq=False)
class Stack:
    """A tape in memory.

    shape: of every item, where all have the same.  lengths: of each list, and of each
    axis of items of different lengths.  shares: the memory is that of another tape.
    """

    tape: Any  # or a list
    items: Items
    depth: int
    here: set[Any]
    column: Column
    shape: Shape | None = None
    lengths: list[Column] = field(default_factory=list)
    shares: bool = False


def begin_tape(L: Lowering, tape: Tape) -> None:
    """Room for all that can be pushed."""
    pushed = [
        s for s in walk(L.function.body) if isinstance(s, Push) and s.tape is tape
    ]
    if tape.like is not None:
        raise L.refuse("a tape that begins as long as another")
    if not pushed:
        return
    operand = pushed[0].operand
    item, depth = type_of(operand), operand.depth if isinstance(operand, List) else 0
    if not item.is_number:
        raise L.refuse(f"{tape.name}, which holds what is no number,")
    if any(s.popped.optional or s.popped == NONE for s in pushed):
        _begin_optional(L, tape, item)
    else:
        begin(L, tape, tape, item, depth)


def _begin_optional(L: Lowering, tape: Tape, item: Type) -> None:
    """Room for numbers, and for what says which of them are None."""
    values = Tape(tape.name, replace(item, optional=False))
    parts = L.optional_of[tape] = values, Tape(f"{tape.name}_is_none", BOOL)
    for part in parts:
        begin(L, part, tape, part.type, 0)
    L.memory_of[tape] = {p for part in parts for p in L.memory_of[part]}


def begin(L: Lowering, tape: Tape, whole: Tape, item: Type, depth: int) -> None:
    """Room for a tape of lists of this depth, which may be a part of a whole one."""
    if depth > 1:
        rows, counts = Tape(tape.name, item), Tape(f"{tape.name}_counts", INT)
        L.rows_of[tape] = rows, counts
        begin(L, rows, whole, item, depth - 1)
        begin(L, counts, whole, INT, 0)
        L.memory_of[tape] = L.memory_of[rows] | L.memory_of[counts]
        return
    column = begin_column(L, whole, tape.name, item)
    stack = Stack(whole, L.items, len(L.loops), set(L.numbers), column)
    axes = item.rank if whole in L.needs.ragged else 0
    for _ in range(depth + axes):
        lengths = begin_column(L, whole, f"{tape.name}_lengths", Type("int64"))
        stack.lengths.append(lengths)
    L.tapes[tape] = stack
    columns = [stack.column, *stack.lengths]
    for column in columns:
        column.buffer.is_tape = True
    L.memory_of[tape] = {p for c in columns for p in (c.buffer, c.top)}


def copy_tape(L: Lowering, s: Load) -> None:
    """A copy that is only popped from shares the memory, and has counters of its own.

    Nothing may be pushed behind it: what the copy holds would be written over.
    """
    tape, copy = s.source, s.out
    assert isinstance(tape, Tape) and isinstance(copy, Tape)
    later = list(walk(L.function.body))
    later = later[later.index(s) :]
    if any(isinstance(t, Push) and t.tape in (tape, copy) for t in later):
        raise L.refuse(f"a copy of {tape.name}, which is pushed onto later,")
    _share(L, tape, copy)


def _share(L: Lowering, tape: Tape, copy: Tape) -> None:
    for parts_of in (L.rows_of, L.optional_of):
        if tape in parts_of:
            parts = parts_of[tape]
            own = parts_of[copy] = tuple(Tape(t.name, t.type) for t in parts)
            for part, other in zip(parts, own, strict=True):
                _share(L, part, other)
            L.memory_of[copy] = {p for t in own for p in L.memory_of[t]}
            return
    stack = L.tapes.get(tape)
    if stack is None:  # nothing is ever pushed
        return

    def counted(column: Column) -> Column:
        top = column.top.content()
        L.add(Load(top, column.top))
        own = L.cell(column.top.name, INT, symbol(top))
        return replace(column, top=own)

    columns = [counted(column) for column in (stack.column, *stack.lengths)]
    L.tapes[copy] = replace(
        stack, tape=copy, column=columns[0], lengths=columns[1:], shares=True
    )
    L.memory_of[copy] = {p for c in columns for p in (c.buffer, c.top)}


def begin_column(L: Lowering, tape: Any, name: str, item: Type) -> Column:
    """Memory for items, and how many there are: none."""
    buffer = Buffer(name, item, (linear(FIRST_ROOM),))
    alloc = Plain(statement=Alloc(buffer, blank=True, where=L.where))
    alloc.writes.add(buffer)
    L.items.items.append(alloc)
    top = L.cell(f"{name.removesuffix('_tape')}_top", INT, linear(0))
    room = None
    if tape in L.needs.growing:
        room = L.cell("room", INT, linear(FIRST_ROOM))
        room.counts = True
    top.counts = True
    return Column(buffer, top, alloc, room)


# ---- how long it gets --------------------------------------------------------------


def _note_most(L: Lowering, stack: Stack, column: Column, size: Shape) -> None:
    """How many elements are pushed here at most; or the tape has to grow."""
    if column.room is not None:
        return
    factors: list[Linear] = []
    for loop in L.loops[stack.depth :]:
        if loop.bounds is None:
            raise _again(L.needs.growing, stack.tape)
        low, high = loop.bounds
        factors.append(L.forms.extreme(high - low + 1, True))
    factors += [L.forms.extreme(n, True) for n in size]
    if not all(is_here(L, stack, n) for n in factors):
        raise _again(L.needs.growing, stack.tape)
    column.most.append(tuple(factors))


def _again(needs: set[Any], tape: Tape) -> Again:
    needs.add(tape)
    return Again()


def is_here(L: Lowering, stack: Stack, form: Linear) -> bool:
    """Whether a form is known where the tape begins."""
    values = (L.ints.get(v, v) for v in leaves(form))
    return all(v in L.known or v in stack.here for v in values)


def finish_tapes(L: Lowering) -> None:
    """Give every tape the room that it was seen to need."""
    for stack in [stack for stack in L.tapes.values() if not stack.shares]:
        for column in (stack.column, *stack.lengths):
            t = column.buffer.type
            shape = stack.shape if column is stack.column and stack.shape else ()
            if column.room is not None:
                size = linear(FIRST_ROOM)
            else:
                size = _total(L, stack, column)
            full = (size, *shape)
            column.buffer.like = full
            column.buffer.type = Type(t.dtype, t.python, full)


def _total(L: Lowering, stack: Stack, column: Column) -> Linear:
    """The sum over all places that push, computed just before the tape begins."""
    made: list[Statement] = []

    def let(function: Any, a: Linear, b: Linear) -> Linear:
        out = Value("size", INT)
        made.append(Let(out, row(function, 2), (a, b)))
        return symbol(out)

    ints: dict[Any, Value] = {}

    def here(v: Any) -> Linear:
        """An integer that is known where the tape begins, and made one later."""
        if v not in L.ints:
            return symbol(v)
        if v not in ints:
            ints[v] = Value(v.name, INT)
            made.append(Let(ints[v], row(int, 1), (L.ints[v],)))
        return symbol(ints[v])

    total = linear(0)
    for factors in column.most:
        count = linear(1)
        for n in (form.substitute(here) for form in factors):
            if not L.forms.is_natural(n):
                n = let(max, n, linear(0))
            known = multiply(count, n)
            count = let(operator.mul, count, n) if known is None else known
        total = total + count
    assert column.alloc is not None
    alloc = column.alloc.statement
    assert alloc is not None
    shape = stack.shape if column is stack.column and stack.shape else ()
    sizes = [*shape, *(n for factors in column.most for n in factors)]
    values = (L.ints.get(v, v) for n in sizes for v in leaves(n))
    if all(v in L.known for v in values):
        _begins(L, stack, column.alloc, [])
        L.head += [*made, alloc]
    else:
        _begins(L, stack, column.alloc, [*made, alloc])
    return total


def _begins(L: Lowering, stack: Stack, item: Plain, made: list[Statement]) -> None:
    """Statements in the place of the one that begins a tape, in its block."""
    if stack.items is L.items:
        items = L.items.items
        place = items.index(item)
        items[place : place + 1] = [Plain(statement=s) for s in made]
        return
    for s in walk(L.items.statements()):  # of a block that is made already
        for block in blocks(s):
            if item.statement in block:
                place = block.index(item.statement)
                block[place : place + 1] = made
                return


# ---- pushed and popped -------------------------------------------------------------


def push(L: Lowering, s: Push) -> None:
    """One item more."""
    stack = L.tapes[s.tape]
    operand = L.operand(s.operand)
    shape = L.shape(operand)
    if stack.lengths:
        push_ragged(L, stack, stack.lengths, operand, shape)
        return
    if stack.shape is None:
        stack.shape = shape
    is_regular = stack.shape == shape and all(is_here(L, stack, n) for n in shape)
    if shape and not is_regular:
        raise _again(L.needs.ragged, s.tape)
    k = claim(L, stack, stack.column, (), linear(1))
    buffer = stack.column.buffer
    L.settle({buffer})

    def write(w: Scope, at: tuple[Linear, ...]) -> None:
        w.store(buffer, (k, *at), L.at(w, operand, at))

    L.root(shape, write)
    L.add(Store(stack.column.top, linear(1), accumulate=True))


def claim(
    L: Lowering, stack: Stack, column: Column, size: Shape, count: Linear
) -> Linear:
    """The place of the next elements, for which there is room."""
    _note_most(L, stack, column, size)
    top = column.top.content()
    L.add(Load(top, column.top))
    if column.room is not None:
        room, wanted = Value("room", INT), symbol(top) + count
        L.add(Load(room, column.room))
        full = L.let(operator.gt, wanted, symbol(room), type=BOOL)
        more = Value("room", INT)
        L.add(
            If(
                full,
                [
                    Let(more, row(max, 2), (symbol(room) * 2, wanted)),
                    Resize(column.buffer, symbol(more)),
                    Store(column.room, symbol(more)),
                ],
                [],
            )
        )
    return symbol(top)


def push_ragged(
    L: Lowering, stack: Stack, lengths: list[Column], operand: Operand, shape: Shape
) -> None:
    """An item behind the others, its lengths on their own tapes."""
    for column, n in zip(lengths, shape, strict=True):
        push_length(L, stack, column, n)
    count = L.product(shape)
    start = claim(L, stack, stack.column, shape, count)
    buffer = stack.column.buffer
    L.settle({buffer})

    def write(w: Scope, at: tuple[Linear, ...]) -> None:
        w.store(buffer, (plus(w, start, flat(w, at, shape)),), L.at(w, operand, at))

    L.root(shape, write)
    L.add(Store(stack.column.top, count, accumulate=True))


def push_length(L: Lowering, stack: Stack, column: Column, n: Linear) -> None:
    """One length more."""
    k = claim(L, stack, column, (), linear(1))
    L.add(Store(column.buffer, n, (At(k),), safe=True))
    L.add(Store(column.top, linear(1), accumulate=True))


def pop_length(L: Lowering, column: Column) -> Linear:
    """The length that was pushed last."""
    k = give_back(L, column, linear(1))
    n = Value("n", INT)
    w = Scope()
    L.number(n, w, w.load(column.buffer, (k,), INT, "n"))
    return symbol(n)


def pop(L: Lowering, s: Pop) -> None:
    """The item that was pushed last."""
    assert isinstance(s.out, Value)
    stack = L.tapes[s.tape]
    if stack.lengths:
        pop_ragged(L, stack, stack.lengths, s.out)
        return
    buffer = stack.column.buffer
    k = give_back(L, stack.column, linear(1))
    t = s.out.type.element

    def at(w: Scope, places: Places) -> Any:
        return w.load(buffer, (k, *places), t, s.out.name)

    if not s.out.type.is_array:
        w = Scope()
        L.number(s.out, w, at(w, ()))
        return
    assert stack.shape is not None
    L.is_computed(s.out, stack.shape, at, (buffer, k), cheap=True)


def give_back(L: Lowering, column: Column, count: Linear) -> Linear:
    """The place of the last elements, which are on the tape no more."""
    top = column.top.content()
    L.add(Load(top, column.top))
    k = column.top.content()
    L.add(Let(k, row(operator.sub, 2), (symbol(top), count)))
    L.add(Store(column.top, symbol(k)))
    return symbol(k)


def pop_ragged(L: Lowering, stack: Stack, lengths: list[Column], out: Value) -> None:
    """The last item, of the lengths that are the last on their tapes."""
    full = tuple(pop_length(L, column) for column in lengths)
    start = give_back(L, stack.column, L.product(full))
    buffer, t = stack.column.buffer, out.type.element

    def at(w: Scope, places: Places) -> Any:
        k = plus(w, start, flat(w, places, full))
        return w.load(buffer, (k,), t, out.name)

    L.is_computed(out, full, at, (buffer, start, *full), cheap=True)
