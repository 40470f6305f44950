"""Simplify, core to core: what a person would not have written is removed.

    total_bar = 0.0; total_bar += 1.0   ->   total_bar = 1.0             (merge)
    total_bar = 1.0 and never another   ->   the literal where it is read (promote)
    a value, store or push nobody reads ->   nothing                      (dead code)

What may raise in the user's own program, and what has an effect, stays.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gradwright.transform.algebra import rewrite
from gradwright.transform.build import Builder, is_const
from gradwright.transform.core import (
    Alloc,
    Break,
    Cell,
    Const,
    For,
    Function,
    If,
    Let,
    Load,
    Place,
    Push,
    Statement,
    Store,
    Substitution,
    Tape,
    Value,
    While,
    all_reads,
    blocks,
    defines,
    leaves,
    program,
    reads,
    stores,
    walk,
)
from gradwright.transform.deadcode import drop_dead, drop_idle

Block = list[Statement]


def simplify(function: Function) -> Function:
    """The function and all it calls, simplified in place; returns it."""
    for f in program(function):
        drop_dead(f)
        lend(f)
        size = -1
        while True:
            sink_zeros(f.body)
            localise(f.body)
            merge(f.body)
            gather(f)
            promote(f)
            if size == (size := _size(f)):
                break
            rewrite(f)
            drop_dead(f)
            drop_idle(f)
            size = _size(f)
    return function


def _size(f: Function) -> int:
    return sum(1 for _ in walk(f.body))


# ---- tapes -------------------------------------------------------------------------


def lend(f: Function) -> None:
    """A copy of a tape that nothing else reads is that tape itself."""
    every = list(walk(f.body))
    lent: dict[Any, Any] = {}
    for block in [f.body, *(b for s in every for b in blocks(s))]:
        begun = {v for s in block for v in (*defines(s), getattr(s, "place", None))}
        for s in block:
            if isinstance(s, Load) and isinstance(s.out, Tape) and s.source in begun:
                readers = [
                    t
                    for t in every
                    if s.source in reads(t)
                    and not (isinstance(t, Push) and t.tape is s.source)
                ]
                if readers == [s] and s.source not in f.results:
                    lent[s] = s.out
    if lent:
        mapping = {copy: s.source for s, copy in lent.items()}
        f.body = Substitution(mapping).block(_with_no(f.body, set(lent)))


def _with_no(body: Block, dropped: set[Any]) -> Block:
    for s in body:
        for b in blocks(s):
            b[:] = _with_no(b, dropped)
    return [s for s in body if s not in dropped]


# ---- zero, then add ----------------------------------------------------------------


def merge(body: Block) -> None:
    """A cell set to zero and then added to is set to the first term."""
    for s in body:
        for b in blocks(s):
            merge(b)
    k = 0
    while k < len(body):
        s = body[k]
        if _is_zero_store(s) and _begins(body[k + 1 :], s.place):  # type: ignore[attr-defined]
            _begin(body, k + 1, s.place)  # type: ignore[attr-defined]
            del body[k]
        else:
            k += 1


def _is_zero_store(s: Statement) -> bool:
    return (
        isinstance(s, Store)
        and isinstance(s.place, Cell)
        and s.adjoint
        and not s.accumulate
        and is_const(s.operand, 0)
    )


def _begins(body: Block, place: Place) -> bool:
    """Whether on every path the first access to a cell is an addition."""
    for s in body:
        if isinstance(s, Store) and s.place is place:
            return s.accumulate and place not in set(leaves(s.operand))
        if isinstance(s, If) and place in stores(s):
            return _begins(s.then, place) and _begins(s.orelse, place)
        if _touches(s, place):
            return False
    return False


def may_break(body: Block) -> bool:
    """Whether a statement may leave the loop around the block."""
    return any(
        isinstance(s, Break) or (isinstance(s, If) and any(map(may_break, blocks(s))))
        for s in body
    )


def _begin(body: Block, k: int, place: Place) -> None:
    """The first additions to a cell set it."""
    for j in range(k, len(body)):
        s = body[j]
        if isinstance(s, Store) and s.place is place:
            body[j] = replace(s, accumulate=False)
            return
        if isinstance(s, If) and place in stores(s):
            _begin(s.then, 0, place)
            _begin(s.orelse, 0, place)
            return


def localise(body: Block) -> None:
    """A cell that is zero whenever an iteration begins belongs to the iteration.

    x_bar = 0.0; for ...: x_bar += g; ...; x_bar = 0.0   ->   for ...: x_bar = g; ...
    """
    for s in body:
        for b in blocks(s):
            localise(b)
    uses: dict[Place, list[Statement]] = {}
    for s in body:
        for place in {p: None for t in walk([s]) for p in _places(t)}:
            uses.setdefault(place, []).append(s)
    for cell, found in uses.items():
        match found:
            case [Alloc() as begin, zero, For() | While() as loop] if (
                _is_zero_store(zero)
                and not (isinstance(loop, While) and _is_used(loop.header, cell))
                and (last := _last_zero(loop.body, cell)) is not None
            ):
                loop.body.remove(last)
                loop.body[:0] = [begin, zero]
                body.remove(begin)
                body.remove(zero)


def _is_used(body: Block, cell: Place) -> bool:
    return any(cell in _places(t) for t in walk(body))


def _last_zero(body: Block, cell: Place) -> Statement | None:
    """The statement that clears a cell when all else that an iteration does is done."""
    last = next((s for s in reversed(body) if _touches(s, cell)), None)
    is_last = last is not None and _is_zero_store(last)
    return None if may_break(body) or not is_last else last


def gather(f: Function) -> None:
    """What a cell only gathers for another one is added there at once.

    y_bar_1 = 0.0; if c: y_bar_1 += g; y_bar += y_bar_1   ->   if c: y_bar += g

    Where a branch clears the other one, the addition comes after: it sets y_bar to g.
    """
    count: dict[Any, int] = {}
    for s in walk(f.body):
        for place in _places(s):
            count[place] = count.get(place, 0) + 1
        for v in reads(s):
            if isinstance(v, Value):
                count[v] = count.get(v, 0) + 1
    for r in f.results:
        for v in leaves(r):
            count[v] = count.get(v, 0) + 2
    _gather(f.body, count)


def _places(s: Statement) -> list[Any]:
    match s:
        case Alloc() | Store():
            return [s.place]
        case Load():
            return [s.source]
    return []


def _gather(body: Block, count: dict[Any, int]) -> None:
    for s in body:
        for b in blocks(s):
            _gather(b, count)
    for s in [s for s in body if _is_zero_store(s)]:
        assert isinstance(s, Store)
        k = next((k for k, t in enumerate(body) if t is s), None)
        found = _gathered(body, k, s.place, count) if k is not None else None
        if found is not None:
            inside, last = found
            renamed = Substitution({s.place: last.place})
            body[:] = [
                renamed.statement(inside[t]) if t in inside else t
                for t in body
                if t is not s
                and t is not last
                and getattr(t, "out", None) is not last.operand
            ]


def _gathered(
    body: Block, k: int, cell: Place, count: dict[Any, int]
) -> tuple[dict[Statement, Statement], Store] | None:
    """The statements that add to a cell, and the addition of it to another one.

    Each statement comes with the form of it that adds as late as it can.
    """
    inside: Block = []
    seen, held = 2, None
    for s in body[k + 1 :]:
        if isinstance(s, Load) and s.source is cell:
            held, seen = s.out, seen + 1
        elif held is not None and isinstance(s, Store) and s.operand is held:
            target = s.place
            is_whole = s.accumulate and not s.index and isinstance(target, Cell)
            only = seen == count.get(cell) and count.get(held) == 1
            if not (is_whole and only and s.adjoint):
                return None
            late = [_adding_last(t, cell) for t in inside]
            if not _is_in_order(late, target, cell):
                return None
            return dict(zip(inside, late, strict=True)), s
        elif held is not None and held in set(all_reads(s)):
            return None
        elif _touches(s, cell):
            within = [t for t in walk([s]) if cell in _places(t)]
            if held or not all(isinstance(t, Store) and t.accumulate for t in within):
                return None
            seen += len(within)
            inside.append(s)
        else:
            inside.append(s)
    return None


def _adding_last(s: Statement, cell: Place) -> Statement:
    """A branch that adds to the cell after all else that it does."""
    if not isinstance(s, If) or may_break([s]):
        return s

    def late(block: Block) -> Block:
        adds = [t for t in block if isinstance(t, Store) and t.place is cell]
        return [*(_adding_last(t, cell) for t in block if t not in adds), *adds]

    return replace(s, then=late(s.then), orelse=late(s.orelse))


def _is_in_order(body: Block, target: Place, cell: Place) -> bool:
    """Whether on every path what is done to the target comes before the additions."""
    begun = False
    for s in body:
        if isinstance(s, If) and not begun:
            if not all(_is_in_order(b, target, cell) for b in blocks(s)):
                return False
        elif _touches(s, target) and (begun or _touches(s, cell)):
            return False
        begun = begun or _touches(s, cell)
    return True


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


def _touches(s: Statement, cell: Place) -> bool:
    """Whether a statement reads or writes a cell, or may leave the loop."""
    return any(cell in _places(t) for t in walk([s])) or may_break([s])


# ---- cells that need not be cells --------------------------------------------------


def promote(f: Function) -> None:
    """Cells of the derivative's own that hold one value, or live in one block."""
    accesses: dict[Cell, list[tuple[Block, Statement]]] = {}

    def visit(block: Block) -> None:
        for s in block:
            place = (
                s.place if isinstance(s, Alloc | Store) else getattr(s, "source", None)
            )
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
        if (
            isinstance(first, Value)
            and not first.users
            and not first.name.endswith("_bar")
        ):
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
    substitution.rename_lengths(f.body)
    f.results = [substitution.operand(r) for r in f.results]


def _without(body: Block, mapping: dict[Any, Any]) -> Block:
    kept = [s for s in body if not (isinstance(s, Let | Load) and s.out in mapping)]
    for s in kept:
        for b in blocks(s):
            b[:] = _without(b, mapping)
    return kept
