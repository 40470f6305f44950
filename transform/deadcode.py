"""Dead code, core to core: what no result, effect or exception depends on is removed.

    v = x * x; y = x + 1.0; return y      ->      y = x + 1.0; return y

What may raise in the user's own program stays; a tape goes with its last live pop.
"""

from __future__ import annotations

import math
import operator
from dataclasses import replace
from typing import Any

from gradwright.transform.core import (
    AddUp,
    Alloc,
    Assert,
    At,
    Break,
    Buffer,
    Call,
    Effect,
    For,
    Function,
    If,
    Insert,
    Let,
    Load,
    Pick,
    Pop,
    Push,
    Raise,
    Remove,
    Resize,
    Span,
    Statement,
    Store,
    Take,
    Tape,
    While,
    all_reads,
    blocks,
    leaves,
    program,
    reads,
    type_of,
    walk,
)
from gradwright.transform.indices import Dim, Linear
from gradwright.transform.primitives.structural import WITHIN

Block = list[Statement]
TO_INT = (int, round, math.floor, math.ceil, math.trunc)


def drop_dead(f: Function) -> None:
    """Remove what no result, effect or exception of the program depends on."""
    tapes: set[Any] = {p for p in f.params if isinstance(p, Tape)}
    tapes |= {r for r in f.results if isinstance(r, Tape)}
    given: set[Any] = {p for p in f.params if isinstance(p, Buffer)}
    while True:
        live = {v for r in f.results for v in leaves(r)} | given
        liveness = _Liveness(set(tapes), given)
        body, _ = liveness.block(f.body, live | tapes, set())
        if liveness.tapes == tapes:
            break
        tapes = liveness.tapes
    used = {v for s in walk(body) for v in reads(s)} | {
        s.place for s in walk(body) if isinstance(s, Store | Insert | Take)
    }
    used |= {v for r in f.results for v in leaves(r)}
    f.body = _without_allocs(body, used)


def _without_allocs(body: Block, used: set[Any]) -> Block:
    result: Block = []
    for s in body:
        if isinstance(s, Alloc) and s.place not in used:
            continue
        for b in blocks(s):
            b[:] = _without_allocs(b, used)
        result.append(s)
    return result


class _Liveness:
    """A backward pass; `tapes` are those from which something live is popped.

    `live` is one set that each statement changes in place; it returns the statement
    that stays, if any, and what is live before it.
    """

    def __init__(self, tapes: set[Any], given: set[Any]) -> None:
        self.given = given  # arrays of the caller's, which shows what is stored
        self.known = set(tapes)
        self.tapes = tapes

    def block(
        self, body: Block, live: set[Any], after_loop: set[Any]
    ) -> tuple[Block, set[Any]]:
        kept: Block = []
        for s in reversed(body):
            if kept and _is_read_next(s, kept[-1], live):
                continue
            new, live = self.statement(s, live, after_loop)
            if new is not None:
                kept.append(new)
        kept.reverse()
        return kept, live

    def statement(
        self, s: Statement, live: set[Any], after_loop: set[Any]
    ) -> tuple[Statement | None, set[Any]]:
        match s:
            case Let() | Load():
                if s.out not in live and not may_raise(s) and not _has_lengths(s):
                    return None, live
                live.discard(s.out)
                if isinstance(s.out, Tape):
                    self.tapes.update((s.out, s.source))
            case Store():
                if s.place not in live:
                    return None, live
                if not s.accumulate and not s.index:
                    live.discard(s.place)
            case Insert() | Resize():
                if s.place not in live:
                    return None, live
            case Take():
                if s.place not in live:
                    return None, live
                live.discard(s.place)
            case Remove():
                if s.place not in live and s.out not in live and s.adjoint:
                    return None, live
                live.discard(s.out)
            case Alloc():
                live.discard(s.place)
                if isinstance(s.place, Tape) and s.place.like is not None:
                    if s.place not in self.known:
                        return None, live
                    self.tapes.add(s.place.like)
            case AddUp():
                if s.tape not in self.known:
                    return None, live
                self.tapes.add(s.operand)
            case Push():
                if s.tape not in self.known:
                    return None, live
                if isinstance(s.operand, Tape):
                    self.tapes.add(s.operand)
            case Pop():
                return self._pop(s, live)
            case Call():
                if not any(o in live for o in s.outs) and not _has_effect(
                    s, self.known
                ):
                    return None, live
                self.tapes.update(o for o in s.operands if isinstance(o, Tape))
                live.difference_update(s.outs)
            case Break():
                return s, set(after_loop)
            case Raise():
                live = set(self.given)
            case Assert():
                live.update(all_reads(s))
            case If():
                return self._if(s, live, after_loop)
            case For() | While():
                return self._loop(s, live)
            case _:
                assert isinstance(s, Effect), s
        live.update(reads(s))
        return s, live

    def _pop(self, s: Pop, live: set[Any]) -> tuple[Statement | None, set[Any]]:
        if s.out in live or (isinstance(s.out, Tape) and s.out in self.known):
            self.tapes.add(s.tape)
            if isinstance(s.out, Tape):
                self.tapes.add(s.out)
        if s.tape not in self.known:
            return None, live
        live.discard(s.out)
        live.add(s.tape)
        return s, live

    def _if(
        self, s: If, live: set[Any], after_loop: set[Any]
    ) -> tuple[Statement | None, set[Any]]:
        then, live_then = self.block(s.then, set(live), after_loop)
        orelse, live_orelse = self.block(
            s.orelse, live if not then else set(live), after_loop
        )
        if not then and not orelse:
            return None, live_orelse
        live_then |= live_orelse
        live_then.update(leaves(s.condition))
        return replace(s, then=then, orelse=orelse), live_then

    def _loop(
        self, s: For | While, live: set[Any]
    ) -> tuple[Statement | None, set[Any]]:
        if not self._matters(s, live):
            return None, live
        head = set(live)
        while True:
            header: Block = []
            if isinstance(s, While):
                tested = head | set(leaves(s.condition))
                header, before = self.block(s.header, tested, live)
                body, inside = self.block(s.body, set(before), live)
                grown = before | inside | head
            else:
                body, inside = self.block(s.body, set(head), live)
                grown = inside | head
            if grown == head:
                break
            head = grown
        if isinstance(s, While):
            return replace(s, header=header, body=body), grown
        if not body and not may_have_no_step(s):
            return None, live
        grown.discard(s.symbol)
        grown.update(reads(s))
        return replace(s, body=body), grown

    def _matters(self, s: For | While, live: set[Any]) -> bool:
        """Whether anything after the loop, or any effect, depends on it."""
        if isinstance(s, For) and may_have_no_step(s):
            return True
        for t in walk([s]):
            match t:
                case Store() | Insert() | Take() | Resize() if t.place in live:
                    return True
                case Remove() if t.place in live or t.out in live or not t.adjoint:
                    return True
                case Push() | Pop() | AddUp() if t.tape in self.known:
                    return True
                case Pop() if t.out in live:
                    return True
                case Effect() | Raise() | Assert():
                    return True
                case Call() if _has_effect(t, self.known):
                    return True
                case Let() | Load() if t.out in live or may_raise(t):
                    return True
        return False


def drop_idle(f: Function) -> None:
    """Remove loops that a later loop of the derivative repeats, and that only raise."""
    _drop_idle(f.body)


def _drop_idle(body: Block) -> None:
    for k in range(len(body) - 1, -1, -1):
        s = body[k]
        for b in blocks(s):
            _drop_idle(b)
        if isinstance(s, For) and s.pair is not None and not s.adjoint and _is_idle(s):
            for t in body[k + 1 :]:
                if isinstance(t, For) and t.pair is s.pair:
                    del body[k]
                    break
                if _may_stop(t):
                    break


def _is_idle(s: For) -> bool:
    """Whether a loop without live results changes nothing."""
    inner = list(walk(s.body))
    own = {t.place for t in inner if isinstance(t, Alloc)}
    return all(
        isinstance(t, Let | Load | Alloc | If | For | While)
        or (isinstance(t, Store) and t.place in own)
        for t in inner
    )


def _may_stop(s: Statement) -> bool:
    """Whether a statement may raise or has an effect."""
    return any(
        isinstance(t, Effect | Raise | Assert | Call | Remove)
        or (isinstance(t, Let | Load) and may_raise(t))
        for t in walk([s])
    )


def _has_effect(s: Call, tapes: set[Any]) -> bool:
    if any(o in tapes for o in s.operands if isinstance(o, Tape)):
        return True
    return any(
        isinstance(t, Effect | Raise | Assert | Remove)
        or (isinstance(t, Let | Load) and may_raise(t))
        for f in program(s.function)
        for t in walk(f.body)
    )


def may_raise(s: Let | Load) -> bool:
    """Whether dropping an unused statement could hide the user's exception."""
    if s.adjoint or s.safe:
        return False
    if isinstance(s, Load):
        return s.unsure or any(map(_may_miss, s.index))
    p = s.primitive
    if p is WITHIN:
        return True
    if not p.raises:
        return False
    if p.function in TO_INT:
        return type_of(s.operands[0]).is_inexact
    is_python = getattr(p.function, "__module__", "") in ("math", "cmath")
    if not (is_python or all(type_of(o).python for o in s.operands)):
        return False  # numbers of NumPy's warn
    if p.function in (operator.truediv, operator.floordiv, operator.mod):
        return not _is_nonzero(s.operands[1])
    if p.function is operator.pow:
        return not _is_positive(s.operands[1])
    return True


def _is_read_next(s: Statement, t: Statement, live: set[Any]) -> bool:
    """Whether what nobody needs of a statement is read, and raised, by the next one."""
    return (
        isinstance(s, Load)
        and isinstance(t, Load)
        and s.out not in live
        and (s.source, s.index, s.unsure) == (t.source, t.index, t.unsure)
        and not _has_lengths(s)
    )


def _has_lengths(s: Let | Load) -> bool:
    """Whether it is a view whose length other arrays have: until it is written."""
    is_view = isinstance(s, Load) or bool(s.primitive.through)
    return is_view and any(
        isinstance(d, Dim) and d.array is s.out
        for dim in s.out.type.dims or ()
        for d in dim.symbols()
    )


def _may_miss(item: Any) -> bool:
    """Whether an item of an index may name what is not there, or a step of zero."""
    if isinstance(item, Span):
        return not (item.step is None or getattr(item.step, "constant", None))
    return isinstance(item, At | Pick)


def may_divide_by_zero(s: Let) -> bool:
    """Whether a division, the derivative's own too, may raise as the program's does."""
    return (
        s.primitive.function is operator.truediv
        and all(type_of(o).python for o in s.operands)
        and not _is_nonzero(s.operands[1])
    )


def _is_nonzero(o: Any) -> bool:
    value = o.constant if isinstance(o, Linear) else getattr(o, "value", None)
    return bool(value)


def _is_positive(o: Any) -> bool:
    value = o.constant if isinstance(o, Linear) else getattr(o, "value", None)
    return isinstance(value, int | float) and value >= 0


def may_have_no_step(s: For) -> bool:
    """Whether the step may be zero, which is an error."""
    is_known = isinstance(s.step, Linear) and bool(s.step.constant)
    return not s.adjoint and not is_known
