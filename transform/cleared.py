"""Parts of arrays in derivative code, core to core: taken out, cleared, added to.

    y_bar_1 = y_bar[1:].copy()
    y_bar[1:] = 0.0                 ->      y_bar[1:] = 2.0 * y_bar[1:]
    y_bar[1:] += 2.0 * y_bar_1

What is added to a part that was just cleared is stored there; a part that is read
before it changes needs no copy; arrays whose contents change places change places
themselves.  It is done last, before a program is written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from gradwright.transform.core import (
    Alloc,
    Buffer,
    Call,
    Const,
    Exchange,
    Function,
    Index,
    Insert,
    Let,
    Load,
    Push,
    Statement,
    Store,
    Substitution,
    Value,
    Whole,
    all_reads,
    blocks,
    defines,
    leaves,
    reads,
    stores,
    walk,
)
from gradwright.transform.picks import may_repeat
from gradwright.transform.primitives.structural import COPY, makes_anew

Block = list[Statement]
WHOLE: Index = (Whole(),)


def join_stores(f: Function) -> None:
    """Store what is added to a part that was just cleared; drop needless copies."""
    for block in _blocks(f.body):
        for s in list(block):
            if _clears(s):
                _add_where_cleared(block, s)
    _drop_copies(f)
    _exchange(f)


def _blocks(body: Block) -> Iterator[Block]:
    yield body
    for s in body:
        for b in blocks(s):
            yield from _blocks(b)


# ---- cleared, then added to --------------------------------------------------------


def _clears(s: Statement) -> bool:
    if not isinstance(s, Store) or not isinstance(s.place, Buffer) or not s.index:
        return False
    is_zero = isinstance(s.operand, Const) and s.operand.value == 0
    return s.adjoint and is_zero and not s.accumulate and not may_repeat(s.index)


def _add_where_cleared(block: Block, cleared: Any) -> None:
    """Make an addition behind a store of zero the store itself.

    Additions to other parts may come between: they are done after it.
    """
    start = next(k for k, s in enumerate(block) if s is cleared)
    first = None
    for k in range(start + 1, len(block)):
        s = block[k]
        adds = isinstance(s, Store) and s.place is cleared.place and s.accumulate
        if adds and (s.index or WHOLE) == cleared.index:  # type: ignore[attr-defined]
            made = _made_since(block, k if first is None else first, k)
            if made is not None:
                at = k if first is None else first
                whole = replace(s, accumulate=False, index=cleared.index)  # type: ignore[call-arg]
                moved = [t for t in block[at:k] if t not in made]
                block[at : k + 1] = [*made, whole, *moved]
                del block[start]
            return
        if adds:
            first = k if first is None else first
        elif cleared.place in stores(s) or cleared.place in set(all_reads(s)):
            return


def _made_since(block: Block, first: int, k: int) -> Block | None:
    """What makes the operand of a statement since another, if that can come earlier."""
    wanted = set(reads(block[k])) - stores(block[k])
    made: Block = []
    for s in reversed(block[first:k]):
        if not wanted & set(defines(s)):
            continue
        if not isinstance(s, Let):
            return None
        made.insert(0, s)
        wanted |= set(reads(s))
    return made


# ---- copies of parts ---------------------------------------------------------------


def _drop_copies(f: Function) -> None:
    """Read a part of an array itself where its copy is not kept."""
    kept = {v for r in f.results for v in leaves(r)}
    loaded: dict[Any, Any] = {}
    for s in walk(f.body):
        if isinstance(s, Load) and isinstance(s.source, Buffer):
            loaded[s.out] = s
        kept.update(_keeps(s))
    parts: dict[Any, Any] = {
        s.out: s.operands[0]
        for s in walk(f.body)
        if isinstance(s, Let) and s.primitive is COPY and not s.out.users
        if s.operands[0] in loaded and s.out not in kept
    }
    if parts:
        found = {v: _last(parts, v) for v in parts}
        f.body = Substitution(found).block(f.body)
        _forget(f.body, set(found.values()))


def _last(parts: dict[Any, Any], v: Any) -> Any:
    while v in parts:
        v = parts[v]
    return v


def _keeps(s: Statement) -> Iterator[Any]:
    """The arrays that a statement keeps, or gives to what may keep them."""
    match s:
        case Let(primitive=p) if not makes_anew(p):
            yield from (o for o in s.operands if isinstance(o, Value))
        case Store() if isinstance(s.place, Buffer) and (s.index or s.accumulate):
            pass
        case Store() | Push() | Insert():
            yield s.operand
        case Call():
            yield from s.operands
        case Alloc() if s.value is not None:
            yield s.value


def _forget(body: Block, copied: set[Any]) -> None:
    """Drop the copies, which are copies of themselves by now."""
    for block in _blocks(body):
        block[:] = [
            s
            for s in block
            if not (isinstance(s, Let) and s.primitive is COPY and s.out in copied)
        ]


# ---- arrays that change places -----------------------------------------------------


def _exchange(f: Function) -> None:
    """Let arrays change places, where each is copied to the place of another."""
    uses: Counter[Any] = Counter(v for s in walk(f.body) for v in reads(s))
    uses.update(v for r in f.results for v in leaves(r))
    for block in _blocks(f.body):
        made = {s.out: s for s in block if isinstance(s, Load) and _is_whole(s.index)}
        for run in list(_runs(block)):
            loads = [made.get(s.operand) for s in run]
            whole = [t for t in loads if t is not None and uses[t.out] == 1]
            sources = [t.source for t in whole]
            if len(whole) < len(run) or {s.place for s in run} != set(sources):
                continue
            if len({p.type.dtype for p in sources}) > 1:
                continue  # each keeps its own
            at = next(k for k, t in enumerate(block) if t is run[0])
            since = min(next(k for k, t in enumerate(block) if t is u) for u in whole)
            between = [t for t in block[since:at] if t not in whole]
            if len(run) == 1 or any(stores(t) & set(sources) for t in between):
                continue
            places = tuple(s.place for s in run)
            change = Exchange(places, tuple(sources), where=run[0].where)  # type: ignore[arg-type]
            change.adjoint = run[0].adjoint
            block[at : at + len(run)] = [change]
            block[:] = [t for t in block if t not in whole]


def _is_whole(index: Index) -> bool:
    return not index or index == WHOLE


def _runs(block: Block) -> Iterator[list[Store]]:
    """Stores into the whole of arrays, one behind the other."""
    run: list[Store] = []
    for s in [*block, None]:
        if isinstance(s, Store) and s.index == WHOLE and not s.accumulate:
            run.append(s)
            continue
        if run:
            yield run
        run = []
