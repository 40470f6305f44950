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
    Index,
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
    all_reads,
    stores,
    twin,
    type_of,
)
from gradwright.transform.errors import UnsupportedSyntax
from gradwright.transform.indices import Linear, linear, symbol
from gradwright.transform.mixed import is_array
from gradwright.transform.primitives.structural import SPREAD
from gradwright.transform.reverse.control import is_natural
from gradwright.transform.reverse.cotangents import collect, find_bar, give, summed
from gradwright.transform.reverse.primals import (
    must_save,
    need,
    need_index,
    put_back,
    tape_of,
)
from gradwright.transform.reverse.state import Block, zero
from gradwright.transform.types import INT

if TYPE_CHECKING:
    from gradwright.transform.reverse.sweep import Sweep


# ---- cotangents begin --------------------------------------------------------------


def begin_list_bar(sweep: Sweep, block: Block, xs: List) -> None:
    """Begin the cotangents of a list: a zero for each item that it has in the end."""
    bar = block.bars[xs] = List(f"{xs.name}_bar", xs.type, xs.depth)
    b = sweep.builder
    where, b.where = b.where, None
    if gets_others(block, xs):
        b.add(Alloc(bar))
    elif not block.top:
        lengths = sweep.list_lengths.setdefault(xs, lengths_of(xs))
        tape = tape_of(sweep, lengths, lengths.name)
        block.last.append((xs, lengths, tape))
        popped = twin(lengths)
        b.add(Pop(popped, tape))
        begin_zeros(sweep, bar, popped)
    elif xs.depth == 1:
        bar.length = length_of(sweep, xs)
        b.add(Alloc(bar))
    else:
        begin_zeros(sweep, bar, xs)
    b.where = where


def gets_others(block: Block, xs: List) -> bool:
    """Whether a list becomes another one, or is put into it: it has that one's then."""
    about = (s for s in reversed(block.body) if xs in (*all_reads(s), *stores(s)))
    last = next(about, None)
    return any(isinstance(s, Take) and s.source is xs for s in block.body) or (
        isinstance(last, Insert) and last.operand is xs
    )


def lengths_of(xs: List) -> Value | List:
    """What says how many items a list has: an int, or a list of those of its items."""
    if xs.depth > 2:
        raise UnsupportedSyntax(
            "gradwright does not go back yet through lists of lists of lists that "
            "begin in a loop",
            instead="a list that begins before the loop",
        )
    if xs.depth == 2:
        return List(f"{xs.name}_lengths", INT)
    return Value(f"{xs.name}_length", INT)


def begin_zeros(sweep: Sweep, bar: List, like: Any, path: tuple[At, ...] = ()) -> None:
    """A list of zeros, as long as another one, or as the lengths say."""
    b, length = sweep.builder, like
    if isinstance(like, List):
        length = Value(f"{like.name}_length", INT)
        index: Index = path if like.is_item(path) else (*path, Length())
        b.add(Load(length, like, index, safe=True))
    if bar.depth == 1:
        bar.length = symbol(length)
        b.add(Alloc(bar))
        return
    b.add(Alloc(bar))
    bar.gathered = True
    k = Value("i", INT)
    k.of = sweep.counter
    with b.nested([]) as body:
        item = List(bar.name, bar.type, bar.depth - 1)
        begin_zeros(sweep, item, like, (*path, At(symbol(k))))
        b.add(Insert(bar, item))
    b.add(For(k, linear(0), symbol(length), linear(1), body))


def length_of(sweep: Sweep, xs: List, path: Index = ()) -> Operand:
    """How many items a list has at this point, or an item of it."""
    n = Value(f"{xs.name}_length", INT)
    sweep.builder.add(Load(n, xs, (*path, Length()), safe=True))
    return symbol(n)


def with_lengths(
    body: list[Statement], last: list[tuple[List, Value | List, Tape]]
) -> list[Statement]:
    """Push the lengths that lists have wherever a trip of the forward sweep ends."""
    if not last:
        return body

    def pushes() -> list[Statement]:
        made: list[Statement] = []
        for xs, n, tape in last:
            made += [*_lengths(xs, n), Push(tape, n)]
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


def _lengths(xs: List, n: Value | List) -> list[Statement]:
    """Find the length of a list, or those of its items."""
    if isinstance(n, Value):
        return [Load(n, xs, (Length(),), safe=True)]
    count, length, i = (Value(name, INT) for name in ("count", "length", "i"))
    item = Load(length, xs, (At(symbol(i)), Length()), safe=True)
    body: list[Statement] = [item, Insert(n, symbol(length))]
    return [
        Alloc(n),
        Load(count, xs, (Length(),), safe=True),
        For(i, linear(0), symbol(count), linear(1), body),
    ]


# ---- adjoints ----------------------------------------------------------------------


def reverse_insert(sweep: Sweep, block: Block, k: int, s: Insert) -> None:
    """Take the cotangent out again, and the item where it must not be seen before."""
    b, xs = sweep.builder, s.place
    put_back(sweep, block, {xs})
    position = None if s.position is None else need(sweep, s.position)
    path = need_index(sweep, s.path)
    if must_save(sweep, s):
        with b.nested([]) as back:
            at = inserted_at(sweep, xs, position, path)
            b.add(Remove(_item_of(s, "unused"), xs, at, path))
        block.undo[xs] = k, back
    if xs not in sweep.active:
        return
    bar = find_list_bar(sweep, xs)
    is_named = isinstance(s.operand, Value | List)
    name = s.operand.name if is_named else "unused"  # type: ignore[union-attr]
    removed = _item_of(s, f"{name}_bar")
    b.add(Remove(removed, bar, inserted_at(sweep, bar, position, path), path))
    if isinstance(s.operand, List):
        if s.operand in sweep.active:
            _give_list(sweep, block, s.operand, removed)
        return
    if isinstance(s.operand, Value) and s.operand in sweep.active:
        g = in_shape_of(sweep, removed, s.operand)
        give(sweep, s.operand, g, type_of(g))


def _item_of(s: Insert, name: str) -> Any:
    """What is taken out again of a list into which a statement has put something."""
    if isinstance(s.operand, List):
        return List(name, s.operand.type, s.operand.depth)
    return Value(name, s.place.type)


def _give_list(sweep: Sweep, block: Block, xs: List, more: List) -> None:
    """Add cotangents to those of a list, or let it have them where it has none."""
    bar = find_list_bar(sweep, xs)
    if block.bars.get(xs) is bar and gets_others(block, xs):
        sweep.builder.add(Take(bar, more))
    else:
        _add_each(sweep, bar, more, length_of(sweep, more), lambda k: k)


def reverse_remove(sweep: Sweep, block: Block, k: int, s: Remove) -> None:
    """Put the cotangent where the item was, and the item where it is read before."""
    b, xs = sweep.builder, s.place
    put_back(sweep, block, {xs})
    position = None if s.position is None else need(sweep, s.position)
    path = need_index(sweep, s.path)
    if must_save(sweep, s):
        old = need(sweep, s.out)
        with b.nested([]) as back:
            b.add(Insert(xs, old, removed_at(sweep, xs, position, path), path))
        block.undo[xs] = k, back
    if xs not in sweep.active:
        return
    bar = find_list_bar(sweep, xs)
    if isinstance(s.out, List):
        g: Any = find_list_bar(sweep, s.out)
    else:
        g = collect(sweep, s.out) if s.out in sweep.active else None
        g = g if g is not None else zero(xs.type)
    b.add(Insert(bar, g, removed_at(sweep, bar, position, path), path))


def reverse_part(sweep: Sweep, s: Load) -> None:
    """Add the cotangents of a copy, or of a slice, to those of the list it is of."""
    if s.source not in sweep.active:
        return  # of numbers that do not vary, to which others are added
    bar, more = find_list_bar(sweep, s.source), find_list_bar(sweep, s.out)
    n = length_of(sweep, more)
    path = tuple(i for i in need_index(sweep, s.index) if isinstance(i, At))
    cut = s.index[len(path) :]
    start, step = first_of(sweep, cut, bar, path), step_of(cut)
    _add_each(sweep, bar, more, n, lambda k: start + k * step, path)


def reverse_array(sweep: Sweep, s: Load, g: Operand) -> None:
    """Add the cotangent of an array, in its full shape, to those of its items."""
    bar = find_list_bar(sweep, s.source)
    path = need_index(sweep, s.index)
    n = length_of(sweep, bar, path)
    _add_each(sweep, bar, g, n, lambda k: k, path)


def _add_each(
    sweep: Sweep,
    bar: List,
    more: Any,
    n: Operand,
    place: Any,
    path: Index = (),
    at: Index = (),
) -> None:
    """A loop that adds the items of a list or array to some of a list.

    Those of `more` at an index go to the items of `bar` at a path.
    """
    b, k = sweep.builder, Value("i", INT)
    k.of = sweep.counter
    at, path = (*at, At(symbol(k))), (*path, At(place(symbol(k))))
    with b.nested([]) as body:
        if not bar.is_item(path):
            length = length_of(sweep, bar, path)
            _add_each(sweep, bar, more, length, lambda k: k, path, at)
        else:
            b.store(bar, _part_of(sweep, more, at), path, accumulate=True)
    b.add(For(k, linear(0), n, linear(1), body))


def _part_of(sweep: Sweep, more: Any, at: Index) -> Any:
    """An item of a list, or a part of an array; a number stands for all of them."""
    t = type_of(more)
    if not isinstance(more, List):
        t = replace(t, dims=(t.dims or ())[len(at) :] or None)
        if not is_array(more):
            return more
    return sweep.builder.element(more, at, t, "part", safe=True)


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
        kept = sweep.kept.setdefault(s, List(xs.name, xs.type, xs.depth))
        tape = tape_of(sweep, kept, xs.name)
        saved, before = xs, block.before.setdefault(k, [])
        if any(isinstance(t, Push) and t.operand is xs for t in block.body):
            # Who pops the other one changes it.
            saved = List(xs.name, xs.type, xs.depth)
            deep = saved if xs.depth > 1 else None
            before.append(Load(saved, xs, deep=deep, where=s.where))
        before.append(Push(tape, saved, where=s.where))
        old = List(xs.name, xs.type, xs.depth)
        block.undo[xs] = k, [Pop(old, tape), Take(xs, old)]
    if xs not in sweep.active:
        return
    lengths = sweep.list_lengths.setdefault(s, lengths_of(xs))
    block.before.setdefault(k, []).extend(_lengths(xs, lengths))
    if not block.top:
        tape = tape_of(sweep, lengths, lengths.name)
        block.before[k].append(Push(tape, lengths))
        lengths = twin(lengths)
        b.add(Pop(lengths, tape))
    bar = find_list_bar(sweep, xs)
    if s.source in sweep.active:
        b.add(Take(find_list_bar(sweep, s.source), bar))
    zeros = List(bar.name, bar.type, bar.depth)
    begin_zeros(sweep, zeros, lengths)
    b.add(Take(bar, zeros))


def reverse_push_of_list(sweep: Sweep, xs: List, bars: Tape) -> None:
    """Add the cotangents of a list that was kept on a tape."""
    more = List(f"{xs.name}_bar", xs.type, xs.depth)
    sweep.builder.add(Pop(more, bars))
    bar, n = find_list_bar(sweep, xs), length_of(sweep, more)
    _add_each(sweep, bar, more, n, lambda k: k)


# ---- positions ---------------------------------------------------------------------


def inserted_at(
    sweep: Sweep, xs: List, position: Any, path: Index = ()
) -> Operand | None:
    """Where an item stands that was inserted last, as Python reads positions."""
    if position is None:
        return None
    if position == linear(0):
        return linear(0)
    last = length_of(sweep, xs, path) - 1  # type: ignore[operator]
    return _by_sign(
        sweep,
        position,
        lambda: _integer(sweep, min, position, last),
        lambda: _integer(sweep, max, last + position, linear(0)),
    )


def removed_at(
    sweep: Sweep, xs: List, position: Any, path: Index = ()
) -> Operand | None:
    """Where an item stood that was removed from a list of one more."""
    if position is None:
        return None
    return _by_sign(
        sweep,
        position,
        lambda: position,
        lambda: length_of(sweep, xs, path) + 1 + position,  # type: ignore[operator]
    )


def first_of(sweep: Sweep, index: Any, bar: List, path: Index = ()) -> Linear:
    """The position of the first item of a slice."""
    if not index:
        return linear(0)
    (span,) = index
    assert isinstance(span, Span)
    step = step_of(index)
    length: Any = length_of(sweep, bar, path)
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
    if o.constant is not None or is_natural(sweep, o):
        is_negative = o.constant is not None and o.constant < 0
        found: Operand = negative() if is_negative else positive()
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
