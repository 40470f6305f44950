"""Results of their own, core to core: what would share memory is copied.

    return x            ->   return x.copy()              x is an argument
    return y, y[1:]     ->   return y, y[1:].copy()

Two results never share memory, none does with an argument or a captured array, and into
each may be stored.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import numpy as np

from gradwright.transform.core import (
    AddUp,
    Call,
    Cell,
    Function,
    Insert,
    Length,
    Let,
    List,
    Load,
    Pop,
    Push,
    Remove,
    Statement,
    Store,
    Take,
    Tape,
    Value,
    blocks,
    stores,
    walk,
)
from gradwright.transform.primitives.structural import COPY, ITEM, NAMED, STOPPED

# Of these NumPy gives views that may not be stored into.
READ_ONLY = (np.broadcast_to, np.diagonal, np.diag)


def own_results(function: Function, count: int | None = None) -> None:
    """Copy each result that is part of an argument or of an earlier result.

    With `count` only so many: what follows is not for the caller's eyes.
    """
    memory = _Memory(function, ())
    taken: set[Any] = {*function.params, READ_ONLY}
    for k, r in enumerate(function.results[:count]):
        if not isinstance(r, Value) or not r.type.is_array or r.type.optional:
            continue  # an optional one is handed from one half to the other
        roots = memory.of(r)
        if roots & taken:
            out = Value(r.name, r.type)
            function.body.append(Let(out, COPY, (r,), adjoint=True))
            function.results[k] = out
        else:
            taken |= roots


def are_apart(function: Function, first: int, had: Container[Value] = ()) -> bool:
    """Whether results from a first one on share memory with nothing that is seen.

    Neither with arguments nor with other results; but for what lists `had` already, if
    nobody reads it there.
    """
    memory = _Memory(function, ())
    loads = (s for s in walk(function.body) if isinstance(s, Load))
    read = {s.source for s in loads if s.index != (Length(),)}
    taken: set[Any] = {*function.params}
    for k, r in enumerate(function.results):
        if not isinstance(r, Value | List) or not r.type.is_array:
            continue
        roots = memory.of(r)
        if isinstance(r, List) and r not in read:
            put = (o for o in memory.held.get(r, ()) if o not in had)
            roots = {root for o in put for root in memory.of(o)}
        if k >= first and roots & taken:
            return False
        taken |= roots
    return True


class _Memory:
    """Whose memory the arrays of a function may be: parameters, buffers, new values."""

    def __init__(self, function: Function, callers: tuple[Function, ...]) -> None:
        self.callers = (*callers, function)
        self.read = _stored_before(function.body)
        self.made: dict[Any, Statement] = {}
        self.held: dict[Any, list[Any]] = {}  # what was put into cells and tapes
        for s in walk(function.body):
            match s:
                case Let() | Load() | Pop() | Remove():
                    self.made[s.out] = s
                case Call():
                    self.made.update(dict.fromkeys(s.outs, s))
                case Take():
                    self.held.setdefault(s.place, []).append(s.source)
                case Store(place=Cell() | List()) | Insert():
                    self.held.setdefault(s.place, []).append(s.operand)
                case Push() | AddUp():
                    self.held.setdefault(s.tape, []).append(s.operand)

    def of(self, thing: Any) -> set[Any]:
        """The roots of a value, cell or tape."""
        roots: set[Any] = set()
        seen: set[Any] = set()
        todo = [thing]
        while todo:
            v = todo.pop()
            if v in seen:
                continue
            seen.add(v)
            if _is_read_only(self.made.get(v)):
                roots.add(READ_ONLY)
            sources = self._sources(v)
            todo += sources
            if not sources:
                roots.add(v)
        return roots

    def _sources(self, v: Any) -> list[Any]:
        """The values and places whose memory this one shares; none where it is new."""
        if v in self.read:
            return [self.read[v]]
        held = [o for o in self.held.get(v, ()) if isinstance(o, Value | Tape | List)]
        if isinstance(v, Cell | Tape):
            return held
        match self.made.get(v):
            case Load(source=List() as xs, index=index) if isinstance(
                v, Value
            ) and not xs.is_item(index):
                return []
            case Load(source=source):
                return [source, *held]
            case Remove(place=place):
                return [place]
            case Pop(tape=tape):
                return [tape]
            case Let(primitive=p) as let if (
                p in (NAMED, STOPPED, ITEM) or p.shares_memory
            ):
                return [o for o in let.operands if isinstance(o, Value)]
            case Call() as call:
                return self._given(call, call.outs.index(v))
        return held

    def _given(self, call: Call, k: int) -> list[Any]:
        """The operands of a call whose memory its result may be."""
        g = call.function
        operands = [
            o for o in call.operands if isinstance(o, Value) and o.type.is_array
        ]
        if g in self.callers:
            return operands
        roots = _Memory(g, self.callers).of(g.results[k])
        pairs = zip(g.params, call.operands, strict=True)
        return [o for p, o in pairs if p in roots and o in operands]


def _stored_before(block: list[Statement]) -> dict[Value, Value]:
    """What a cell holds where it is read, if its block has stored that before."""
    found: dict[Value, Value] = {}
    held: dict[Any, Any] = {}
    for s in block:
        for inner in blocks(s):
            found |= _stored_before(inner)
            for place in {p for t in walk(inner) for p in stores(t)}:
                held.pop(place, None)
        match s:
            case Store(place=Cell() as place, accumulate=False):
                held[place] = s.operand
            case Store(place=Cell() as place):
                held.pop(place, None)
            case Load(out=Value() as out, source=source) if source in held:
                if isinstance(held[source], Value) and not s.index:
                    found[out] = held[source]
    return found


def _is_read_only(made: Statement | None) -> bool:
    """Whether what is made is a view, maybe of new memory, that takes no store."""
    if not isinstance(made, Let) or made.primitive.function not in READ_ONLY:
        return False
    return made.primitive.function is not np.diag or made.out.type.rank == 1
