"""The adjoints of what changes or reads a list: beside it stands one of cotangents.

xs.append(v)      ->   v_bar += xs_bar.pop()
v = xs.pop()      ->   xs_bar.append(v_bar)
xs.insert(k, v)   ->   v_bar += xs_bar.pop(k)
v = xs.pop(k)     ->   xs_bar.insert(k, v_bar)
a = np.array(xs)  ->   for k in range(len(xs_bar)): xs_bar[k] += a_bar[k]
ys = xs[1:]       ->   for k in range(len(ys_bar)): xs_bar[1 + k] += ys_bar[k]

The cotangents begin as zeros, one for each item that the list has in the end; a zero
may stand for an array.
"""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gradwright.transform.build import row
from gradwright.transform.core import (
    Alloc,
    At,
    Break,
    Cell,
    For,
    If,
    Insert,
    Length,
    List,
    Load,
    Operand,
    Pop,
    Push,
    Remove,
    Span,
    Statement,
    Store,
    Take,
    Tape,
    Value,
    type_of,
)
from gradwright.transform.indices import Linear, linear, symbol
from gradwright.transform.mixed import is_array
from gradwright.transform.primitives.structural import SPREAD
from gradwright.transform.reverse.cotangents import collect, find_bar, give, summed
from gradwright.transform.reverse.primals import must_save, need, put_back, tape_of
from gradwright.transform.reverse.state import Block, zero
from gradwright.transform.types import INT

if TYPE_CHECKING:
    from gradwright.transform.reverse.sweep import Sweep


# ---- cotangents begin --------------------------------------------------------------


def begin_list_bar(sweep: Sweep, block: Block, xs: List) -> None:
    """Begin the cotangents of a list: a zero for each item that it has in the end."""
    bar = List(f"{xs.name}_bar", xs.type)
    where, sweep.builder.where = sweep.builder.where, None
    if any(isinstance(s, Take) and s.source is xs for s in block.body):
        pass  # it gets those of the list that it becomes
    elif block.top:
        bar.length = length_of(sweep, xs)
    else:
        n = sweep.list_lengths.setdefault(xs, Value(f"{xs.name}_length", INT))
        tape = tape_of(sweep, n, n.name)
        block.last.append((xs, n, tape))
        popped = Value(n.name, INT)
        sweep.builder.add(Pop(popped, tape))
        bar.length = symbol(popped)
    block.bars[xs] = bar
    sweep.builder.add(Alloc(bar))
    sweep.builder.where = where


def length_of(sweep: Sweep, xs: List) -> Operand:
    """How many items a list has at this point."""
    n = Value(f"{xs.name}_length", INT)
    sweep.builder.add(Load(n, xs, (Length(),), safe=True))
    return symbol(n)


def with_lengths(
    body: list[Statement], last: list[tuple[List, Value, Tape]]
) -> list[Statement]:
    """Push the lengths that lists have wherever a trip of the forward sweep ends."""
    if not last:
        return body

    def pushes() -> list[Statement]:
        made: list[Statement] = []
        for xs, n, tape in last:
            made += [Load(n, xs, (Length(),), safe=True), Push(tape, n)]
        return made

    def leaving(block: list[Statement]) -> list[Statement]:
        result: list[Statement] = []
        for s in block:
            if isinstance(s, Break):
                result += pushes()
            elif isinstance(s, If):
                s = replace(s, then=leaving(s.then), orelse=leaving(s.orelse))
            result.append(s)
        return result

    ended = bool(body) and isinstance(body[-1], Break)
    return leaving(body) + ([] if ended else pushes())


# ---- adjoints ----------------------------------------------------------------------


def reverse_insert(sweep: Sweep, block: Block, k: int, s: Insert) -> None:
    """Take the cotangent out again, and the item where it must not be seen before."""
    b, xs = sweep.builder, s.place
    put_back(sweep, block, {xs})
    position = None if s.position is None else need(sweep, s.position)
    if must_save(sweep, s):
        with b.nested([]) as back:
            at = inserted_at(sweep, xs, position)
            b.add(Remove(Value("unused", xs.type), xs, at))
        block.undo[xs] = k, back
    if xs not in sweep.active:
        return
    bar = find_list_bar(sweep, xs)
    name = s.operand.name if isinstance(s.operand, Value) else "unused"
    removed = Value(f"{name}_bar", xs.type)
    b.add(Remove(removed, bar, inserted_at(sweep, bar, position)))
    if isinstance(s.operand, Value) and s.operand in sweep.active:
        g = in_shape_of(sweep, removed, s.operand)
        give(sweep, s.operand, g, type_of(g))


def reverse_remove(sweep: Sweep, block: Block, k: int, s: Remove) -> None:
    """Put the cotangent where the item was, and the item where it is read before."""
    b, xs = sweep.builder, s.place
    put_back(sweep, block, {xs})
    position = None if s.position is None else need(sweep, s.position)
    if must_save(sweep, s):
        old = need(sweep, s.out)
        with b.nested([]) as back:
            b.add(Insert(xs, old, removed_at(sweep, xs, position)))
        block.undo[xs] = k, back
    g = collect(sweep, s.out) if s.out in sweep.active else None
    if xs in sweep.active:
        bar = find_list_bar(sweep, xs)
        g = g if g is not None else zero(xs.type)
        b.add(Insert(bar, g, removed_at(sweep, bar, position)))


def reverse_part(sweep: Sweep, s: Load) -> None:
    """Add the cotangents of a copy, or of a slice, to those of the list it is of."""
    if s.source not in sweep.active:
        return  # of numbers that do not vary, to which others are added
    bar, more = find_list_bar(sweep, s.source), find_list_bar(sweep, s.out)
    n = length_of(sweep, more)
    start, step = first_of(sweep, s.index, bar), step_of(s.index)
    _add_each(sweep, bar, more, n, lambda k: start + k * step)


def reverse_array(sweep: Sweep, s: Load, g: Operand) -> None:
    """Add the cotangent of an array, in its full shape, to those of its items."""
    bar = find_list_bar(sweep, s.source)
    _add_each(sweep, bar, g, length_of(sweep, bar), lambda k: k)


def _add_each(sweep: Sweep, bar: List, more: Any, n: Operand, place: Any) -> None:
    """A loop that adds the items of a list or array to some of a list."""
    b, k = sweep.builder, Value("i", INT)
    k.of = sweep.counter
    t = type_of(more)
    if not isinstance(more, List):
        t = replace(t, dims=(t.dims or ())[1:] or None)
    with b.nested([]) as body:
        part = more
        if is_array(more) or isinstance(more, List):
            part = b.element(more, (At(symbol(k)),), t, "part", safe=True)
        b.store(bar, part, (At(place(symbol(k))),), accumulate=True)
    b.add(For(k, linear(0), n, linear(1), body))


def find_list_bar(sweep: Sweep, xs: Any) -> List:
    """The list of cotangents beside a list."""
    bar = find_bar(sweep, xs)
    assert isinstance(bar, List), xs
    return bar


def in_shape_of(sweep: Sweep, g: Operand, o: Value) -> Operand:
    """The cotangent of an item; that of an array may be a zero yet."""
    if not is_array(o):
        return g
    given = (p for p in sweep.function.params if isinstance(p, Value))
    like = next((p for p in given if p.type == o.type), None)
    if o in sweep.mixed.all:  # a number gets the sum of what arrives for an array
        g, like = summed(sweep, g, o), None
    if like is None:
        like = need(sweep, o)
    t = replace(type_of(g), dims=like.type.dims)
    return sweep.builder.let(SPREAD, g, like, type=t)


def reverse_take(sweep: Sweep, block: Block, k: int, s: Take) -> None:
    """Give the cotangents back, and the old list where it is read before."""
    b, xs = sweep.builder, s.place
    put_back(sweep, block, {xs, s.source})
    if must_save(sweep, s):
        tape = tape_of(sweep, sweep.kept.setdefault(s, List(xs.name, xs.type)), xs.name)
        saved, before = xs, block.before.setdefault(k, [])
        if any(isinstance(t, Push) and t.operand is xs for t in block.body):
            saved = List(xs.name, xs.type)  # who pops the other one changes it
            before.append(Load(saved, xs, where=s.where))
        before.append(Push(tape, saved, where=s.where))
        old = List(xs.name, xs.type)
        block.undo[xs] = k, [Pop(old, tape), Take(xs, old)]
    if xs not in sweep.active:
        return
    n = sweep.list_lengths.setdefault(s, Value(f"{xs.name}_length", INT))
    block.before.setdefault(k, []).append(Load(n, xs, (Length(),), safe=True))
    if block.top:
        length: Operand = symbol(n)
    else:
        tape = tape_of(sweep, n, n.name)
        block.before[k].append(Push(tape, n))
        popped = Value(n.name, INT)
        b.add(Pop(popped, tape))
        length = symbol(popped)
    bar = find_list_bar(sweep, xs)
    if s.source in sweep.active:
        b.add(Take(find_list_bar(sweep, s.source), bar))
    zeros = List(bar.name, bar.type)
    zeros.length = length
    b.add(Alloc(zeros))
    b.add(Take(bar, zeros))


def reverse_push_of_list(sweep: Sweep, xs: List, bars: Tape) -> None:
    """Add the cotangents of a list that was kept on a tape."""
    more = List(f"{xs.name}_bar", xs.type)
    sweep.builder.add(Pop(more, bars))
    bar, n = find_list_bar(sweep, xs), length_of(sweep, more)
    _add_each(sweep, bar, more, n, lambda k: k)


# ---- positions ---------------------------------------------------------------------


def inserted_at(sweep: Sweep, xs: List, position: Any) -> Operand | None:
    """Where an item stands that was inserted last, as Python reads positions."""
    if position is None:
        return None
    if position == linear(0):
        return linear(0)
    last = length_of(sweep, xs) - 1  # type: ignore[operator]
    return _by_sign(
        sweep,
        position,
        lambda: _integer(sweep, min, position, last),
        lambda: _integer(sweep, max, last + position, linear(0)),
    )


def removed_at(sweep: Sweep, xs: List, position: Any) -> Operand | None:
    """Where an item stood that was removed from a list of one more."""
    if position is None:
        return None
    return _by_sign(
        sweep,
        position,
        lambda: position,
        lambda: length_of(sweep, xs) + 1 + position,  # type: ignore[operator]
    )


def first_of(sweep: Sweep, index: Any, bar: List) -> Linear:
    """The position of the first item of a slice."""
    if not index:
        return linear(0)
    (span,) = index
    assert isinstance(span, Span)
    step = step_of(index)
    length: Any = length_of(sweep, bar)
    if span.lower is None:
        return linear(0) if step > 0 else length - 1
    lower = need(sweep, span.lower)
    return _by_sign(  # type: ignore[return-value]
        sweep,
        lower,
        lambda: lower if step > 0 else _integer(sweep, min, lower, length - 1),
        lambda: (
            _integer(sweep, max, length + lower, linear(0))
            if step > 0
            else length + lower
        ),
    )


def step_of(index: Any) -> int:
    """The step of a slice, which is known."""
    if not index or index[0].step is None:
        return 1
    step: int = index[0].step.constant
    return step


def _integer(sweep: Sweep, function: Any, a: Any, b: Any) -> Any:
    return sweep.builder.let(row(function, 2), a, b, type=INT)


def _by_sign(sweep: Sweep, o: Linear, positive: Any, negative: Any) -> Operand:
    """One of two positions, by the sign of what the user gave."""
    if o.constant is not None:
        found: Operand = positive() if o.constant >= 0 else negative()
        return found
    b = sweep.builder
    cell = Cell("position", INT, choice=True)
    test = b.operator(operator.ge, o, linear(0))
    b.add(Alloc(cell))
    with b.nested([]) as then:
        b.store(cell, positive())
    with b.nested([]) as orelse:
        b.store(cell, negative())
    b.add(If(test, then, orelse))
    return b.load(cell)


def is_list_store(s: Statement) -> bool:
    """Whether it puts an item into a list in the place of another."""
    return isinstance(s, Store) and isinstance(s.place, List)
