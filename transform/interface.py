"""Interfaces, core to core: functions take and return only what is needed.

    def g_forward(x, n): ... return y, y, t     ->    def g_forward(x): ... return y, t

Over a whole program, once it is complete: results that no call reads or that come
twice, and parameters that no statement reads, go from the function and from every
call of it; and so do residuals that the backward half of a vjp does not read.
"""

from __future__ import annotations

from typing import Any

from gradwright.transform.core import (
    Call,
    Function,
    Substitution,
    Value,
    leaves,
    program,
    reads,
    twin,
    walk,
)
from gradwright.transform.deadcode import drop_dead
from gradwright.transform.reverse import Split


def trim(roots: list[Function], split: Split | None = None) -> None:
    """Trim the functions that the roots call, and the handover of a split."""
    while True:
        functions = list({id(f): f for r in roots for f in program(r)}.values())
        if split is not None:
            _trim_split(split)
        called = [f for f in functions if f not in roots]
        changed = [_trim(f, _calls(functions).get(f, [])) for f in called]
        for f in functions:
            drop_dead(f)
        if not any(changed):
            return


def _calls(functions: list[Function]) -> dict[Function, list[tuple[Function, Call]]]:
    """Every call of each function, and where it stands; one may stand in several."""
    found: dict[Function, list[tuple[Function, Call]]] = {}
    for f in functions:
        for s in walk(f.body):
            if isinstance(s, Call):
                found.setdefault(s.function, []).append((f, s))
    return found


def _read(f: Function) -> set[Any]:
    """The values that a function reads or returns."""
    found = {v for r in f.results for v in leaves(r)}
    for s in walk(f.body):
        found.update(reads(s))
    return found


def _trim(f: Function, calls: list[tuple[Function, Call]]) -> bool:
    if not calls or any(len(s.outs) != len(f.results) for _, s in calls):
        return False
    used = {caller: _read(caller) for caller, _ in calls}
    read = [any(s.outs[k] in used[c] for c, s in calls) for k in range(len(f.results))]
    first = [f.results.index(r) for r in f.results]
    if any(read[k] and j < k for k, j in enumerate(first)):
        for caller in used:
            _share(caller, f, first)
        return True
    dropped = {k for k, is_read in enumerate(read) if not is_read}
    mine = _read(f)
    idle = {k for k, p in enumerate(f.params) if p not in mine and p not in f.hidden}
    f.results = _without(f.results, dropped)
    f.params = _without(f.params, idle)
    for s in {id(s): s for _, s in calls}.values():
        s.outs = tuple(_without(list(s.outs), dropped))
        s.operands = tuple(_without(list(s.operands), idle))
    return bool(dropped or idle)


def _without(items: list[Any], dropped: set[int]) -> list[Any]:
    return [item for k, item in enumerate(items) if k not in dropped]


def _share(caller: Function, f: Function, first: list[int]) -> None:
    """Read the first of several equal results of a function wherever one is read."""
    calls = [s for s in walk(caller.body) if isinstance(s, Call) and s.function is f]
    mapping = {
        s.outs[k]: s.outs[j] for s in calls for k, j in enumerate(first) if j < k
    }
    _put(caller, mapping)
    for s in walk(caller.body):
        if isinstance(s, Call) and s.function is f:
            outs = (
                o if j == k else twin(o)
                for k, (o, j) in enumerate(zip(s.outs, first, strict=True))
            )
            s.outs = tuple(outs)


def _put(f: Function, mapping: dict[Any, Any]) -> None:
    substitution = Substitution(mapping)
    f.body = substitution.block(f.body)
    f.results = [substitution.operand(r) for r in f.results]


def _trim_split(split: Split) -> None:
    """Residuals that the backward half does not read, or takes twice."""
    forward, backward, count = split.forward, split.backward, len(split.residuals)
    handed = forward.results[len(forward.results) - count :]
    mine = _read(backward)
    first: dict[Any, Any] = {}
    dropped: set[int] = set()
    for k, (r, p) in enumerate(zip(handed, backward.params[:count], strict=True)):
        if p not in mine:
            dropped.add(k)
        elif isinstance(r, Value) and r in first:
            _put(backward, {p: first[r]})
            dropped.add(k)
        else:
            first[r] = p
    offset = len(forward.results) - count
    forward.results = _without(forward.results, {offset + k for k in dropped})
    split.residuals = _without(split.residuals, dropped)
    idle = {k for k, p in enumerate(backward.params[count:]) if p not in mine}
    idle = {k for k in idle if k < len(split.needed)}
    split.needed = _without(split.needed, idle)
    backward.params = _without(backward.params, dropped | {count + k for k in idle})
