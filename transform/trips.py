"""Trips, core to core: a loop that a tape counts needs no counter.

    trips = 0                        while x > 1.0:
    while x > 1.0:                       x_tape.append(x)
        trips += 1             ->        ...
        x_tape.append(x)             while x_tape:
        ...                              x = x_tape.pop()
    for _ in range(trips):               ...
        x = x_tape.pop()
        ...

The second loop runs to the length of the tape.  This comes last: the derivative of a
program counts trips, not the entries of a tape.
"""

from __future__ import annotations

from typing import Any

from gradwright.transform.core import (
    Alloc,
    For,
    Function,
    Load,
    Pop,
    Push,
    Statement,
    Store,
    Tape,
    While,
    blocks,
    program,
    reads,
    walk,
)
from gradwright.transform.indices import Dim, linear, symbol
from gradwright.transform.simplify import may_break

Block = list[Statement]


def count_by_tapes(function: Function) -> Function:
    """Loops of the function and all it calls run to the end of a tape; in place."""
    for f in program(function):
        used: dict[Any, int] = {}
        for s in walk(f.body):
            for v in (*reads(s), *([s.place] if isinstance(s, Store) else [])):
                used[v] = used.get(v, 0) + 1
        for r in f.results:
            used[r] = used.get(r, 0) + 1
        _count(f.body, used)
    return function


def _count(body: Block, used: dict[Any, int]) -> None:
    for s in body:
        for b in blocks(s):
            _count(b, used)
    for load in [s for s in body if isinstance(s, Load)]:
        for again in body:
            if isinstance(again, For) and again.stop == symbol(load.out):
                counted = _counted(body, load.source)
                # Read once, by a loop that only counts; stored twice, and added to.
                if counted and used[load.out] == 1 and used[load.source] == 4:
                    loop, counter = counted
                    tape = _counting_tape(body, loop, again)
                    if tape is not None:
                        again.stop = symbol(Dim(tape, 0))
                        loop.body.remove(counter)
                        body[:] = [s for s in body if not _is_of(s, load)]


def _counted(body: Block, cell: Any) -> tuple[While, Statement] | None:
    """The loop whose trips a cell counts from zero, and the statement that counts."""
    start = [s for s in body if isinstance(s, Store) and s.place is cell]
    if [s.operand for s in start] != [linear(0)]:
        return None
    for loop in body:
        if isinstance(loop, While):
            for s in loop.body:
                if isinstance(s, Store) and s.place is cell:
                    is_count = s.accumulate and s.operand == linear(1)
                    return (loop, s) if is_count else None
    return None


def _is_of(s: Statement, load: Load) -> bool:
    """Whether a statement begins the counter that is loaded, or loads it."""
    return s is load or (isinstance(s, Alloc | Store) and s.place is load.source)


def _counting_tape(body: Block, loop: While, again: For) -> Tape | None:
    """A tape that every trip of one loop pushes on once, and of the other pops."""
    for s in body:
        if isinstance(s, Alloc) and isinstance(s.place, Tape):
            tape = s.place
            touching = [t for t in walk(body) if tape in reads(t)]
            match touching:
                case [Push() as push, Pop() as pop] if _in_every_trip(
                    loop.body, push
                ) and _in_every_trip(again.body, pop):
                    return tape
    return None


def _in_every_trip(body: Block, s: Statement) -> bool:
    """Whether a statement of a loop runs once in each trip, whatever happens."""
    k = next((k for k, t in enumerate(body) if t is s), None)
    return k is not None and not may_break(body[:k])
