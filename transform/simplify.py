"""Simplify, core to core: what a person would not have written is removed.

    total_bar = 0.0; total_bar += 1.0   ->   total_bar = 1.0             (merge)
    total_bar = 1.0 and never another   ->   the literal where it is read (promote)
    a value, store or push nobody reads ->   nothing                      (dead code)

What may raise in the user's own program, and what has an effect, stays.
"""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import Any

from gradwright.transform.build import Builder, fold, is_const
from gradwright.transform.core import (
    Alloc,
    Assert,
    Break,
    Call,
    Cell,
    Const,
    Effect,
    For,
    Function,
    If,
    Let,
    Load,
    Place,
    Pop,
    Push,
    Raise,
    Statement,
    Store,
    Substitution,
    Tape,
    Value,
    While,
    all_reads,
    blocks,
    leaves,
    program,
    reads,
    stores,
    type_of,
    walk,
)
from gradwright.transform.indices import Linear
from gradwright.transform.primitives.structural import COPY

Block = list[Statement]


def simplify(function: Function) -> Function:
    """The function and all it calls, simplified in place; returns it."""
    for f in program(function):
        size = -1
        while size != _size(f):
            size = _size(f)
            drop_dead(f)
            sink_zeros(f.body)
            merge(f.body)
            promote(f)
            fold_literals(f)
    return function


def _size(f: Function) -> int:
    return sum(1 for _ in walk(f.body))


def own_results(function: Function) -> None:
    """Results share memory with nothing: what is somebody else's array is copied."""
    seen: set[Any] = set()
    for k, r in enumerate(function.results):
        if not isinstance(r, Value) or not r.type.is_array:
            continue
        root = _memory_of(function, r)
        if root in seen or root in function.params:
            out = Value(r.name, r.type)
            function.body.append(Let(out, COPY, (r,), adjoint=True))
            function.results[k] = out
        seen.add(root)


def _memory_of(function: Function, v: Any) -> Any:
    """The value or place whose memory an array shares."""
    made = {s.out: s for s in walk(function.body) if isinstance(s, Load)}
    while v in made:
        v = made[v].source
    return v


# ---- dead code ---------------------------------------------------------------------


def drop_dead(f: Function) -> None:
    """Remove what no result, effect or exception of the program depends on."""
    tapes: set[Any] = {p for p in f.params if isinstance(p, Tape)}
    tapes |= {r for r in f.results if isinstance(r, Tape)}
    while True:
        live = {v for r in f.results for v in leaves(r)}
        liveness = _Liveness(set(tapes))
        body, _ = liveness.block(f.body, live | tapes, set())
        if liveness.tapes == tapes:
            break
        tapes = liveness.tapes
    used = {v for s in walk(body) for v in reads(s)} | {
        s.place for s in walk(body) if isinstance(s, Store)
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
    """A backward pass; `tapes` are those from which something live is popped."""

    def __init__(self, tapes: set[Any]) -> None:
        self.known = set(tapes)
        self.tapes = tapes

    def block(
        self, body: Block, live: set[Any], after_loop: set[Any]
    ) -> tuple[Block, set[Any]]:
        kept: Block = []
        for s in reversed(body):
            new, live = self.statement(s, live, after_loop)
            if new is not None:
                kept.insert(0, new)
        return kept, live

    def statement(
        self, s: Statement, live: set[Any], after_loop: set[Any]
    ) -> tuple[Statement | None, set[Any]]:
        match s:
            case Let() | Load():
                if s.out not in live and not may_raise(s):
                    return None, live
                return s, (live - {s.out}) | set(reads(s))
            case Store():
                if s.place not in live:
                    return None, live
                whole = not s.accumulate and not s.index
                return s, (live - {s.place} if whole else live) | set(reads(s))
            case Alloc():
                return s, live - {s.place} | set(reads(s))
            case Push():
                if s.tape not in self.known:
                    return None, live
                return s, live | set(reads(s))
            case Pop():
                return self._pop(s, live)
            case Call():
                if not any(o in live for o in s.outs) and not _has_effect(s, self.known):
                    return None, live
                self.tapes.update(o for o in s.operands if isinstance(o, Tape))
                return s, (live - set(s.outs)) | set(reads(s))
            case Break():
                return s, set(after_loop)
            case Raise():
                return s, set(reads(s))
            case Effect() | Assert():
                return s, live | set(all_reads(s))
            case If():
                return self._if(s, live, after_loop)
            case For() | While():
                return self._loop(s, live)
        raise AssertionError(s)

    def _pop(self, s: Pop, live: set[Any]) -> tuple[Statement | None, set[Any]]:
        if s.out in live or (isinstance(s.out, Tape) and s.out in self.known):
            self.tapes.add(s.tape)
            if isinstance(s.out, Tape):
                self.tapes.add(s.out)
        if s.tape not in self.known:
            return None, live
        return s, (live - {s.out}) | {s.tape}

    def _if(
        self, s: If, live: set[Any], after_loop: set[Any]
    ) -> tuple[Statement | None, set[Any]]:
        then, live_then = self.block(s.then, live, after_loop)
        orelse, live_orelse = self.block(s.orelse, live, after_loop)
        if not then and not orelse:
            return None, live
        live = live_then | live_orelse | set(leaves(s.condition))
        return replace(s, then=then, orelse=orelse), live

    def _loop(self, s: For | While, live: set[Any]) -> tuple[Statement | None, set[Any]]:
        if not self._matters(s, live):
            return None, live
        after = set(live)
        grown = set(live)
        tested = s.condition if isinstance(s, While) else None
        while True:
            head = set(grown)
            header: Block = []
            if isinstance(s, While):
                grown |= set(leaves(tested))
                header, grown = self.block(s.header, grown, after)
                body, inside = self.block(s.body, head | grown, after)
            else:
                body, inside = self.block(s.body, head, after)
            grown = head | grown | inside
            if grown == head:
                break
        if isinstance(s, While):
            return replace(s, header=header, body=body), grown
        live = (grown - {s.symbol}) | set(reads(s))
        return (replace(s, body=body), live) if body else (None, after)

    def _matters(self, s: For | While, live: set[Any]) -> bool:
        """Whether anything after the loop, or any effect, depends on it."""
        for t in walk([s]):
            match t:
                case Store() if t.place in live:
                    return True
                case Push() | Pop() if t.tape in self.known:
                    return True
                case Pop() if t.out in live:
                    return True
                case Effect() | Raise() | Assert():
                    return True
                case Call() if _has_effect(t, self.known):
                    return True
                case Let() | Load() if may_raise(t):
                    return True
        return False


def _has_effect(s: Call, tapes: set[Any]) -> bool:
    if any(o in tapes for o in s.operands if isinstance(o, Tape)):
        return True
    return any(
        isinstance(t, Effect | Raise | Assert) or (isinstance(t, Let | Load) and may_raise(t))
        for f in program(s.function)
        for t in walk(f.body)
    )


def may_raise(s: Let | Load) -> bool:
    """Whether dropping an unused statement could hide the user's exception."""
    if s.adjoint or s.safe:
        return False
    if isinstance(s, Load):
        return bool(s.index) or s.unsure
    p = s.primitive
    if not p.raises or not all(type_of(o).python for o in s.operands):
        return False
    if p.function in (operator.truediv, operator.floordiv, operator.mod):
        return not _is_nonzero(s.operands[1])
    if p.function is operator.pow:
        return not _is_positive(s.operands[1])
    return True


def _is_nonzero(o: Any) -> bool:
    value = o.constant if isinstance(o, Linear) else getattr(o, "value", None)
    return bool(value)


def _is_positive(o: Any) -> bool:
    value = o.constant if isinstance(o, Linear) else getattr(o, "value", None)
    return isinstance(value, int | float) and value >= 0


# ---- zero, then add ----------------------------------------------------------------


def merge(body: Block) -> None:
    """A cell set to zero and then added to is set to the first term."""
    for s in body:
        for b in blocks(s):
            merge(b)
    k = 0
    while k < len(body):
        s = body[k]
        if _is_zero_store(s):
            j = _next_access(body, k + 1, s.place)  # type: ignore[attr-defined]
            if j is not None and isinstance(body[j], Store) and body[j].accumulate:  # type: ignore[attr-defined]
                body[j] = replace(body[j], accumulate=False)  # type: ignore[call-arg]
                del body[k]
                continue
        k += 1


def _is_zero_store(s: Statement) -> bool:
    return (
        isinstance(s, Store)
        and isinstance(s.place, Cell)
        and s.adjoint
        and not s.accumulate
        and is_const(s.operand, 0)
    )


def _next_access(body: Block, k: int, place: Place) -> int | None:
    for j in range(k, len(body)):
        s = body[j]
        if isinstance(s, Store) and s.place is place:
            return j
        if place in stores(s) or place in set(all_reads(s)) or isinstance(s, Break):
            return None
    return None


def sink_zeros(body: Block) -> None:
    """Clear a cell as late as possible: what it held is still used by its name."""
    for s in body:
        for b in blocks(s):
            sink_zeros(b)
    for s in [s for s in body if _is_zero_store(s)]:
        assert isinstance(s, Store)
        k = body.index(s)
        j = k + 1
        while j < len(body) and not _touches(body[j], s.place):
            j += 1
        body.insert(j, s)
        del body[k]


def _touches(s: Statement, place: Place) -> bool:
    return place in stores(s) or place in set(all_reads(s)) or isinstance(s, Break)


def fold_literals(f: Function) -> None:
    """Operations of the derivative on literals, once cells have become literals."""
    mapping: dict[Any, Any] = {}
    for s in walk(f.body):
        if isinstance(s, Let) and s.adjoint:
            operands = tuple(mapping.get(o, o) if isinstance(o, Value) else o for o in s.operands)
            folded = fold(s.primitive, operands)
            if folded is not None:
                mapping[s.out] = folded
    if mapping:
        _replace(f, _closed(mapping))


# ---- cells that need not be cells --------------------------------------------------


def promote(f: Function) -> None:
    """Cells of the derivative's own that hold one value, or live in one block."""
    accesses: dict[Cell, list[tuple[Block, Statement]]] = {}

    def visit(block: Block) -> None:
        for s in block:
            place = s.place if isinstance(s, Alloc | Store) else getattr(s, "source", None)
            if isinstance(place, Cell):
                accesses.setdefault(place, []).append((block, s))
            for b in blocks(s):
                visit(b)

    visit(f.body)
    read_elsewhere = {v for r in f.results for v in leaves(r)}
    mapping: dict[Any, Any] = {}
    for cell, found in accesses.items():
        if cell in read_elsewhere or not isinstance(found[0][1], Alloc):
            continue
        held = _single_value(cell, found)
        if held is not None:
            for _, s in found:
                if isinstance(s, Load):
                    mapping[s.out] = held
        elif all(b is found[0][0] for b, _ in found) and all(
            s.adjoint for _, s in found if isinstance(s, Store)
        ):
            _straighten(found[0][0], cell, mapping)
    if mapping:
        _replace(f, _closed(mapping))


def _single_value(cell: Cell, found: list[tuple[Block, Statement]]) -> Any:
    """What the cell always holds when it is read; None where that may differ."""
    written = [(b, s) for b, s in found if isinstance(s, Store)]
    if any(s.accumulate or s.index or not s.adjoint for _, s in written) or not written:
        return None
    operands = [s.operand for _, s in written]
    first = operands[0]
    if all(isinstance(o, Const) and o == first for o in operands):
        return first
    block, only = written[0]
    is_first = found[1][1] is only and block is found[0][0]
    if len(written) == 1 and is_first and isinstance(first, Value | Const):
        if isinstance(first, Value) and not first.users and not first.name.endswith("_bar"):
            first.name = cell.name
        return first
    return None


def _straighten(block: Block, cell: Cell, mapping: dict[Any, Any]) -> None:
    """A cell that one block stores and loads becomes a chain of values."""
    b = Builder(folds=True)
    b.adjoint = True
    held: Any = None
    for s in list(block):
        b.where = s.where
        if isinstance(s, Load) and s.source is cell:
            mapping[s.out] = held
        elif isinstance(s, Store) and s.place is cell:
            if s.accumulate:
                held = b.add_up(held, s.operand)
                if isinstance(held, Value):
                    held.name = cell.name
            else:
                held = s.operand
        elif isinstance(s, Alloc) and s.place is cell:
            pass
        else:
            b.block.append(s)
    block[:] = b.block


def _closed(mapping: dict[Any, Any]) -> dict[Any, Any]:
    """The mapping followed to its ends; ints become linear forms."""

    def end(v: Any) -> Any:
        while v in mapping:
            v = mapping[v]
        return v

    return {k: end(v) for k, v in mapping.items()}


def _replace(f: Function, mapping: dict[Any, Any]) -> None:
    """Put other operands for results of statements; the statements go."""
    substitution = Substitution(mapping)
    f.body = substitution.block(_without(f.body, mapping))
    f.results = [substitution.operand(r) for r in f.results]


def _without(body: Block, mapping: dict[Any, Any]) -> Block:
    kept = [s for s in body if not (isinstance(s, Let | Load) and s.out in mapping)]
    for s in kept:
        for b in blocks(s):
            b[:] = _without(b, mapping)
    return kept
