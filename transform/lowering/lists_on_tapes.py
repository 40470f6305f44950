"""Lists on tapes: their items behind one another, and how many each of them has.

xs_tape.append(xs)        for i in range(count): items[top + i] = xs[i]
                          top += count; lengths.append(count)
"""

from __future__ import annotations

from typing import Any

from gradwright.transform.core import (
    Alloc,
    At,
    For,
    Insert,
    Length,
    List,
    Load,
    Operand,
    Pop,
    Push,
    Store,
    Tape,
    Value,
)
from gradwright.transform.indices import Linear, linear, symbol
from gradwright.transform.lowering.listed import (
    Listed,
    agree,
    copy_items,
    count,
    differ,
    further,
)
from gradwright.transform.lowering.lists import begin_list, listed_as
from gradwright.transform.lowering.nested_lists import row_of
from gradwright.transform.lowering.nests import Places, Scope, variables
from gradwright.transform.lowering.program import Lowering, Shape
from gradwright.transform.lowering.ragged_lists import Ragged
from gradwright.transform.lowering.tapes import (
    Column,
    Stack,
    claim,
    give_back,
    pop_length,
    pop_ragged,
    push_length,
    push_ragged,
)
from gradwright.transform.types import INT


def push_list(L: Lowering, s: Push) -> None:
    """All items of a list, and their number."""
    assert isinstance(s.operand, List)
    if s.tape in L.rows_of:
        _push_rows(L, s.tape, s.operand)
        return
    stack, listed = L.tapes[s.tape], listed_as(L, s.operand)
    counts, *axes = stack.lengths
    n = count(L, listed)
    if axes:
        _push_each(L, stack, axes, listed, n)
    else:
        _push_all(L, stack, listed, n)
    push_length(L, stack, counts, n)


def pop_list(L: Lowering, s: Pop) -> None:
    """The list that was pushed last; it is a copy."""
    assert isinstance(s.out, List)
    if s.tape in L.rows_of:
        _pop_rows(L, s.tape, s.out)
        return
    stack = L.tapes[s.tape]
    begin_list(L, s.out)
    listed = listed_as(L, s.out)
    counts, *axes = stack.lengths
    n = pop_length(L, counts)
    if axes:
        _pop_each(L, stack, axes, listed, n)
    else:
        _agree(L, stack, listed)
        copy_items(L, stack.column.buffer, listed, give_back(L, stack.column, n), 1, n)


def _agree(L: Lowering, stack: Stack, listed: Listed) -> Shape:
    """The items of a list are of the shape of those on the tape."""
    if isinstance(listed, Ragged):
        raise differ(L, stack)
    shape = listed.shape_of_items(L)
    agree(L, stack, shape)
    return shape


def _push_all(L: Lowering, stack: Stack, listed: Listed, n: Linear) -> None:
    """Items of one shape."""
    shape, t = _agree(L, stack, listed), listed.item.element
    start = claim(L, stack, stack.column, (n,), n)
    L.settle({stack.column.buffer})

    def write(w: Scope, at: Places) -> None:
        x = w.load(listed.buffer, at, t, "item")
        w.store(stack.column.buffer, further(start, at), x)

    L.root((n, *shape), write)
    L.add(Store(stack.column.top, n, accumulate=True))


def _push_each(
    L: Lowering, stack: Stack, axes: list[Column], listed: Listed, n: Linear
) -> None:
    """Items of different lengths, one by one."""
    L.settle({stack.column.buffer})
    (i,), item = variables(1), Value("item", listed.item)
    with L.open_loop(i, (linear(0), n - 1)), L.block(loops=True) as body:
        listed.take_out(L, item, symbol(i))
        push_ragged(L, stack, axes, item, L.shape(item))
    L.add(For(i, linear(0), n, linear(1), body))


def _pop_each(
    L: Lowering, stack: Stack, axes: list[Column], listed: Listed, n: Linear
) -> None:
    """Items of different lengths, the last one first."""
    claim(L, listed.stack, listed.column, (n,), n)
    L.settle({listed.buffer})
    (i,), item = variables(1), Value("item", listed.item)
    with L.open_loop(i, (linear(0), n - 1)), L.block(loops=True) as body:
        pop_ragged(L, stack, axes, item)
        listed.fit(L, item)
        listed.put(L, symbol(i), item)
    L.add(For(i, linear(0), n, linear(1), body, backwards=True))
    L.add(Store(listed.column.top, n))


def take_items(L: Lowering, listed: Listed, source: Any, n: Linear) -> None:
    """Items that stand in memory become those of an empty list."""
    shape = L.shape(source)[1:]
    if not isinstance(listed, Ragged):
        agree(L, listed.stack, shape)
        copy_items(L, source, listed, linear(0), 1, n)
        return
    claim(L, listed.stack, listed.column, (n,), n)
    (i,), item = variables(1), Value("item", listed.item)
    t = listed.item.element

    def at(w: Scope, places: Places) -> Operand:
        return w.load(source, (symbol(i), *places), t, "item")

    with L.open_loop(i, (linear(0), n - 1)), L.block(loops=True) as body:
        L.is_computed(item, shape, at, (source, symbol(i)), cheap=True)
        listed.put(L, symbol(i), item)
    L.add(For(i, linear(0), n, linear(1), body))
    L.add(Store(listed.column.top, n))


def _push_rows(L: Lowering, tape: Tape, xs: List) -> None:
    """The lists in a list, the last one first, and how many there are."""
    rows, counts = L.rows_of[tape]
    n, (i,) = Value("count", INT), variables(1)
    row = row_of(L, xs)
    each = [Load(row, xs, (At(symbol(i)),), safe=True), Push(rows, row)]
    L.write(
        [
            Load(n, xs, (Length(),)),
            For(i, linear(0), symbol(n), linear(1), each, backwards=True),
            Push(counts, symbol(n)),
        ],
        n,
    )


def _pop_rows(L: Lowering, tape: Tape, out: List) -> None:
    """The list of lists that was pushed last; it is a copy."""
    rows, counts = L.rows_of[tape]
    n, (i,) = Value("count", INT), variables(1)
    row = row_of(L, out)
    each = [Pop(row, rows), Insert(out, row)]
    loop = For(i, linear(0), symbol(n), linear(1), each)
    L.write([Alloc(out), Pop(n, counts), loop], n)
