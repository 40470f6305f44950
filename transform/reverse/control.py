"""The adjoints of branches and loops.

    for k in range(n): body   ->   for k in reversed(range(n)): adjoint of body
    while c: body             ->   count trips;  for _ in range(trips): adjoint of body
    if c: a  else: b          ->   if c: adjoint of a  else: adjoint of b

A loop whose iterations only add to what lies outside becomes one loop that runs each
iteration forward and backward, and tapes nothing.
"""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import TYPE_CHECKING

from gradwright.transform.build import row
from gradwright.transform.core import (
    AddUp,
    Alloc,
    Assert,
    Break,
    Call,
    Cell,
    Const,
    Effect,
    For,
    If,
    Insert,
    Load,
    Operand,
    Place,
    Pop,
    Push,
    Raise,
    Remove,
    Statement,
    Store,
    Substitution,
    Take,
    Value,
    While,
    clone,
    leaves,
    stores,
    walk,
)
from gradwright.transform.indices import Dim, Linear, is_length, linear, symbol
from gradwright.transform.reverse.placeholders import with_placeholders
from gradwright.transform.reverse.primals import must_save, need, tape_of
from gradwright.transform.reverse.state import Block, is_item, own_breaks
from gradwright.transform.types import BOOL, INT

if TYPE_CHECKING:
    from gradwright.transform.reverse.sweep import Sweep


def reverse_compound(sweep: Sweep, block: Block, k: int, s: Statement) -> Statement:
    """Reverse a statement that holds blocks; the statement of the forward sweep."""
    match s:
        case If():
            return reverse_if(sweep, block, s)
        case For() if is_independent(sweep, block, s):
            return reverse_independent(sweep, s)
        case For():
            return reverse_for(sweep, block, k, s)
        case While():
            return reverse_while(sweep, block, k, s)
    raise AssertionError(s)


def reverse_if(sweep: Sweep, block: Block, s: If) -> If:
    """Reverse each branch under the same condition."""
    then = sweep.nested(s.then, block.top, False, last_trip=block.last_trip)
    orelse = sweep.nested(s.orelse, block.top, False, last_trip=block.last_trip)
    if then[1] or orelse[1]:
        leaves_loop = bool(s.then) and isinstance(s.then[-1], Break)
        if leaves_loop and block.last_trip is not None:
            condition: Operand = block.last_trip
        else:
            condition = need(sweep, s.condition)
        sweep.builder.add(If(condition, then[1], orelse[1]))
        sweep.builder.forget(
            {p for b in (then[1], orelse[1]) for t in b for p in stores(t)}
        )
    return replace(s, then=then[0], orelse=orelse[0])


def reverse_for(sweep: Sweep, block: Block, k: int, s: For) -> For:
    """Reverse the trips in the opposite order."""
    breaks = own_breaks(s.body)
    again = Value(s.symbol.name, INT, s.symbol.users)
    if is_natural(sweep, least_of(s)):
        sweep.naturals |= {s.symbol, again}
    forward, reverse = sweep.nested(s.body, False, True, {s.symbol: again})
    start, stop = s.start, s.stop
    if breaks:
        trips = count_trips(sweep, block, k, forward)
        if reverse:
            n = counted_trips(sweep, block, k, trips)
            if s.backwards:
                start, stop = last_of(sweep, s, n), need(sweep, s.stop)
            else:
                begin: Linear = need(sweep, s.start)
                start, stop = begin, begin + times(sweep, n, need(sweep, s.step))
    if reverse:
        step = need(sweep, s.step)
        if not breaks:
            start, stop = need(sweep, s.start), need(sweep, s.stop)
        sweep.builder.add(
            For(again, start, stop, step, reverse, backwards=not s.backwards)
        )
        sweep.builder.forget({p for t in reverse for p in stores(t)})
    return replace(s, body=forward)


def least_of(s: For) -> Operand | None:
    """What no number of a loop is below; None where its direction is not known."""
    step = s.step.constant if isinstance(s.step, Linear) else None
    if step is None or not isinstance(s.stop, Linear):
        return None
    return s.start if step > 0 else s.stop + 1


def is_natural(sweep: Sweep, form: Operand | None) -> bool:
    """Whether an integer is known never to be negative."""
    if not isinstance(form, Linear):
        return False
    symbols = all(isinstance(v, Dim) or v in sweep.naturals for v in form.symbols())
    return symbols and is_length(form)


def times(sweep: Sweep, n: Linear, step: Linear) -> Linear:
    """The product of two counts of which one may be known."""
    if step.constant is not None:
        return n * step.constant
    product = sweep.builder.operator(operator.mul, n, step)
    assert isinstance(product, Linear)
    return product


def last_of(sweep: Sweep, s: For, n: Linear) -> Linear:
    """Where the last `n` items of a range begin: a backwards loop ran through them."""
    bounds: list[Linear] = [need(sweep, x) for x in (s.start, s.stop, s.step)]
    start, stop, step = bounds
    if step.constant in (1, -1):
        return stop - times(sweep, n, step)
    b = sweep.builder
    length = b.operator(operator.floordiv, start - stop, step)
    assert isinstance(length, Linear)
    return start + times(sweep, -length - n, step)


def reverse_while(sweep: Sweep, block: Block, k: int, s: While) -> While:
    """Count the trips, then reverse the body as often."""
    n_trips: Linear | None = None
    trip = Value("_", INT)
    last: Operand | None = None
    placeholder = Value("trips", INT)
    endless = isinstance(s.condition, Const) and len(own_breaks(s.body)) == 1
    if endless:
        trip = Value("trip", INT)
        last = sweep.builder.let(
            row(operator.eq, 2),
            symbol(trip),
            symbol(placeholder) - 1,
            type=BOOL,
            name="is_last",
        )
        test = sweep.builder.block.pop()
    forward, reverse = sweep.nested(s.body, False, True, {trip: trip}, last)
    trips = count_trips(sweep, block, k, forward)
    if reverse:
        n_trips = counted_trips(sweep, block, k, trips)
        if endless:
            mapping = {placeholder: n_trips}
            reverse = Substitution(mapping).block([test, *reverse])
        sweep.builder.add(
            For(trip, linear(0), n_trips, linear(1), reverse, backwards=endless)
        )
        sweep.builder.forget({p for t in reverse for p in stores(t)})
    return replace(s, body=forward)


def count_trips(sweep: Sweep, block: Block, k: int, forward: list[Statement]) -> Cell:
    """A counter in the forward sweep of a loop that may end early."""
    s = block.body[k]
    trips = counter(sweep, s)
    begin: list[Statement] = [Alloc(trips), Store(trips, linear(0))]
    block.before.setdefault(k, []).extend(begin)
    first = 0
    while first < len(forward) and is_item(forward[first]):
        first += 1
    forward.insert(first, Store(trips, linear(1), accumulate=True))
    return trips


def counter(sweep: Sweep, s: Statement) -> Cell:
    """The cell that counts the trips of the loop."""
    counters: dict[Statement, Cell] = sweep.counters
    return counters.setdefault(s, Cell("trips", INT))


def counted_trips(sweep: Sweep, block: Block, k: int, trips: Cell) -> Linear:
    """How many iterations ran: counted, and taped where the loop is nested."""
    counted: dict[Cell, Value] = sweep.counted
    n = counted.setdefault(trips, Value("trips", INT))
    block.after.setdefault(k, []).insert(0, Load(n, trips))
    if block.top:
        return symbol(n)
    tape = tape_of(sweep, n, "trips")
    block.after[k].insert(1, Push(tape, n))
    popped = Value("trips", INT)
    sweep.builder.add(Pop(popped, tape))
    return symbol(popped)


def is_independent(sweep: Sweep, block: Block, s: For) -> bool:
    """Iterations only add to what lies outside, and read none of that."""
    if not block.top or own_breaks(s.body):
        return False
    inner = list(walk(s.body))
    stops = Push | Pop | AddUp | Insert | Remove | Take | Effect | Raise | Assert | Call
    if any(isinstance(t, stops) for t in inner):
        return False
    own = {t.place for t in inner if isinstance(t, Alloc)}
    outer = [t for t in inner if isinstance(t, Store) and t.place not in own]
    if not all(t.accumulate for t in outer):
        return False
    if any(must_save(sweep, t) for t in outer):  # what was there is wanted again
        return False
    added = {t.place for t in outer}
    if any(isinstance(t, Load) and t.source in added for t in inner):
        return False
    return not any(v in added for r in sweep.function.results for v in leaves(r))


def reverse_independent(sweep: Sweep, s: For) -> For:
    """One loop that runs each iteration forward and backward: no tape."""
    sweep.independent.add(s)
    inner = set(walk(s.body))
    for t in walk(s.body):
        if isinstance(t, Load) and isinstance(t.source, Place):
            if sweep.alloc.get(t.source) in inner:
                continue
            sweep.repeated.setdefault(t.source, set()).add(t)
    forward, reverse = sweep.nested(
        s.body, True, True, {s.symbol: s.symbol}, is_home=True
    )
    if reverse:
        start, stop, step = (need(sweep, x) for x in (s.start, s.stop, s.step))
        body = [*with_placeholders(forward, sweep.placeholders), *reverse]
        made = replace(s, start=start, stop=stop, step=step, body=body, pair=s)
        sweep.builder.add(made)
        sweep.builder.forget({p for t in reverse for p in stores(t)})
    (again,) = clone([replace(s, pair=s)])
    assert isinstance(again, For)
    return again
