"""Functions split in two: g_forward, which returns residuals too, and g_backward.

A recursive function leaves its residuals on a tape that all of its calls share.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from gradwright.transform.core import (
    Alloc,
    Buffer,
    Cell,
    Const,
    Function,
    Let,
    List,
    Load,
    Place,
    Pop,
    Push,
    Statement,
    Store,
    Take,
    Tape,
    Value,
    blocks,
    defines,
    is_recursive,
    leaves,
    reads,
    type_of,
    walk,
)
from gradwright.transform.custom import halves_of_jvp, vjp_halves
from gradwright.transform.primitives.structural import COPY
from gradwright.transform.reverse.placeholders import with_placeholders
from gradwright.transform.reverse.state import begins_stored
from gradwright.transform.reverse.sweep import Sweep
from gradwright.transform.scopes import begin_where_used, end_in
from gradwright.transform.types import NONE, Type


@dataclass(eq=False)
class Split:
    """g as g_forward, which returns residuals too, and g_backward, which takes them."""

    forward: Function
    backward: Function
    residuals: list[Any]
    needed: list[int]
    recursive: bool


class Splits:
    """The split forms of the functions of one program, made on demand."""

    def __init__(self, program: Any) -> None:
        self.program = program
        self.made: dict[Any, Split] = {}

    def split(
        self,
        function: Function,
        given: tuple[bool, ...],
        chosen: tuple[bool, ...] = (),
    ) -> Split:
        """The two halves of a function for these active arguments.

        A choice may take only a part of the results that are `chosen`.
        """
        recursive = is_recursive(function)
        key = (function, given, () if recursive else chosen)
        if key not in self.made:
            if function.custom is not None:
                self.made[key] = self._custom(function, given)
            elif recursive:
                self._recursive(key, function, given)
            else:
                self.made[key] = self._plain(function, given, chosen)
        return self.made[key]

    def _plain(
        self, function: Function, given: tuple[bool, ...], chosen: tuple[bool, ...]
    ) -> Split:
        bars, seeds = outer_seeds(function)
        wrt = inexact(function, given)
        taken = {r for r, c in zip(function.results, chosen, strict=False) if c}
        sweep = Sweep(function, wrt, seeds, self, chosen=taken)
        return halved(function, sweep, bars)

    def _custom(self, function: Function, given: tuple[bool, ...]) -> Split:
        """The halves that the user wrote, or those of the user's jvp."""
        if function.custom.fwd is not None:
            made = vjp_halves(function, given)
        else:
            made = halves_of_jvp(function, given, lambda f, of: self._plain(f, of, ()))
        forward, backward, residuals = made
        return Split(forward, backward, residuals, [], recursive=False)

    def _recursive(self, key: Any, function: Function, given: tuple[bool, ...]) -> None:
        """Residuals of a recursive function go on a list that all calls share."""
        bars, seeds = outer_seeds(function)
        params = function.params
        tape = Tape("tape", Type("tape"))
        forward = replace(
            function, name=f"{function.name}_forward", hidden={}, batching=None
        )
        backward = Function(
            f"{function.name}_backward",
            [],
            [],
            [],
            filename=function.filename,
            commented=True,
        )
        split = Split(forward, backward, [], list(range(len(params))), recursive=True)
        self.made[key] = split
        wrt = inexact(function, given)
        every = set(function.results)
        sweep = Sweep(function, wrt, seeds, self, tape, every)
        residuals = residuals_of(sweep.reverse, sweep.bars, sweep.forward, function)
        residuals = [r for r in residuals if r is not tape]
        hand = Handover(sweep.forward, sweep.reverse, residuals)
        for left, taken in zip(hand.over, hand.taken, strict=True):
            left.type = taken.type  # what is None there is not looked at
        forward.params = [*params, tape]
        forward.body = [*hand.forward, *(Push(tape, r) for r in hand.over)]
        backward.params = [*params, *bars, *sweep.tape_bars.values(), tape]
        pops = [Pop(r, tape, adjoint=True) for r in reversed(hand.taken)]
        backward.body = [*pops, *hand.reverse]
        backward.results = list(sweep.bars)


def inexact(function: Function, given: tuple[bool, ...]) -> list[Value]:
    """The parameters, of those that vary, whose cotangents are returned."""
    return [
        p
        for p, is_given in zip(function.params, given, strict=True)
        if is_given and isinstance(p, Value)
    ]


def outer_seeds(function: Function) -> tuple[list[Any], list[Any]]:
    """Parameters of the backward half: a cotangent for every inexact result."""
    bars: list[Any] = []
    seeds: list[Any] = []
    for r in function.results:
        if isinstance(r, Tape):
            bars.append(Tape(f"{r.name}_bar", r.type))
            seeds.append(bars[-1])
            continue
        t = type_of(r)
        if t.is_inexact:
            name = r.name if isinstance(r, Value) else "result"
            bars.append(Value(f"{name}_bar", replace(t, optional=False)))
            seeds.append(bars[-1])
        else:
            seeds.append(None)
    return bars, seeds


def free_values(block: list[Statement], results: list[Any]) -> dict[Any, None]:
    """Values and places that a block and its results read but do not define."""
    own: set[Any] = set()
    for s in walk(block):
        own.update(defines(s))
        if isinstance(s, Alloc):
            own.add(s.place)
    found: dict[Any, None] = {}
    for s in walk(block):
        for v in reads(s):
            if v not in own:
                found.setdefault(v)
        if isinstance(s, Store | Alloc | Take) and s.place not in own:
            found.setdefault(s.place)
    for r in results:
        for v in leaves(r):
            if v not in own:
                found.setdefault(v)
    return found


def residuals_of(
    reverse: list[Statement],
    bars: list[Any],
    forward: list[Statement],
    function: Function,
) -> list[Any]:
    """What the reverse sweep reads that the forward sweep made, in order."""
    made: set[Any] = set()
    for s in walk(forward):
        made.update(defines(s))
        if isinstance(s, Alloc):
            made.add(s.place)
    return [v for v in free_values(reverse, bars) if v in made]


class Handover:
    """Residuals on their way from the forward half to the backward half.

    What only some paths define is None on the others: it is handed over in a cell that
    begins as None.  over: what the forward half returns.  taken: the parameters of the
    backward half.  reverse: its sweep, which puts taken values into the places they
    were.
    """

    def __init__(
        self,
        forward: list[Statement],
        reverse: list[Statement],
        residuals: list[Any],
    ) -> None:
        outermost = {v for s in forward for v in defines(s)}
        outermost |= {s.place for s in forward if isinstance(s, Alloc)}
        self.over: list[Any] = []
        self.taken: list[Any] = []
        begin: list[Statement] = []
        first: list[Statement] = []
        ended: dict[Buffer, Cell] = {}
        last: list[Statement] = []
        moved: dict[Any, Cell] = {}
        nothing = Const(None, NONE)
        for r in residuals:
            if isinstance(r, Tape | List):
                if r not in outermost:
                    first.append(Alloc(r))
                self.over.append(r)
                self.taken.append(r)
                continue
            cell = r
            taken = Value(r.name, r.type)
            if isinstance(r, Value) and r not in outermost:
                cell = moved[r] = Cell(r.name, replace(r.type, optional=True))
                taken = r
            if isinstance(r, Value) and r in outermost:
                self.over.append(r)
                self.taken.append(r)
                continue
            if isinstance(r, Buffer):  # it is stored into, and may be taken again
                own = Value(r.name, r.type)
                again: list[Statement] = [Let(own, COPY, (taken,), adjoint=True)]
                again += [Alloc(r, adjoint=True), Store(r, own, adjoint=True)]
                if r in outermost:
                    begin += again
                else:
                    cell = ended[r] = Cell(r.name, replace(r.type, optional=True))
                    begin_where_used(reverse, r, again)
            elif isinstance(r, Cell):
                begin += [Alloc(r), Store(r, taken)]
            if r not in outermost:
                first += [Alloc(cell), Store(cell, nothing)]
            left = Value(r.name, cell.type)
            last.append(Load(left, cell, safe=True))
            self.over.append(left)
            self.taken.append(taken)
        begun = {s.place for s in first if isinstance(s, Alloc)}
        late = {
            r
            for r in residuals
            if isinstance(r, Cell) and not begins_stored(forward, r)
        }
        for place, cell in ended.items():
            end_in(forward, place, cell)
        body = with_placeholders(with_stores(forward, moved, begun), late - begun)
        self.forward = [*first, *body, *last]
        self.reverse = [*begin, *reverse]


def with_stores(
    body: list[Statement], moved: dict[Any, Cell], begun: set[Place]
) -> list[Statement]:
    """The block with a store behind each value that is handed over in a cell."""
    result: list[Statement] = []
    for s in body:
        if isinstance(s, Alloc) and s.place in begun:
            continue
        for b in blocks(s):
            b[:] = with_stores(b, moved, begun)
        result.append(s)
        result += [Store(moved[v], v, where=s.where) for v in defines(s) if v in moved]
    return result


def halved(function: Function, sweep: Sweep, bars: list[Value]) -> Split:
    """The two sweeps as functions; what one hands to the other are residuals."""
    residuals = residuals_of(sweep.reverse, sweep.bars, sweep.forward, function)
    used = free_values(sweep.reverse, sweep.bars)
    needed = [k for k, p in enumerate(function.params) if p in used]
    hand = Handover(sweep.forward, sweep.reverse, residuals)
    forward = function
    if residuals or function.batching is not None:
        forward = replace(
            function,
            name=f"{function.name}_forward",
            body=hand.forward,
            results=[*function.results, *hand.over],
            batching=None,
        )
    backward = Function(
        f"{function.name}_backward",
        [
            *hand.taken,
            *(function.params[k] for k in needed),
            *bars,
            *sweep.tape_bars.values(),
        ],
        hand.reverse,
        list(sweep.bars),
        filename=function.filename,
        commented=True,
    )
    return Split(forward, backward, hand.taken, needed, recursive=False)
