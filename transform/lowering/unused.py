"""What lowering wrote and nobody reads: numbers, memory that is only stored into."""

from __future__ import annotations

from typing import Any

from gradwright.transform.core import (
    Alloc,
    Buffer,
    Cell,
    For,
    Function,
    If,
    Let,
    Library,
    Load,
    Place,
    Statement,
    Store,
    blocks,
    leaves,
    reads,
    walk,
)
from gradwright.transform.deadcode import may_have_no_step, may_raise


def drop_unused(function: Function) -> None:
    """Drop what nobody reads, and what only that read; in place."""
    while True:
        read = _read(function)
        before = sum(1 for _ in walk(function.body))
        function.body = _kept(function.body, read)
        if sum(1 for _ in walk(function.body)) == before:
            return


def _read(function: Function) -> set[Any]:
    """The values that are read, and the places that are loaded from."""
    found: set[Any] = set(function.params)  # the caller sees what is stored there
    for s in walk(function.body):
        if isinstance(s, Store):
            found.update(leaves(s.operand))
            found.update(v for i in s.index for v in leaves(getattr(i, "position", 0)))
        else:
            found.update(reads(s))
        if isinstance(s, Library) and (_may_fail(s) or found.intersection(s.outs)):
            found.update(s.outs)
    for r in function.results:
        found.update(leaves(r))
    return found


def _kept(body: list[Statement], read: set[Any]) -> list[Statement]:
    found = []
    for s in body:
        for b in blocks(s):
            b[:] = _kept(b, read)
        match s:
            case Let() | Load() if s.out not in read and not may_raise(s):
                continue
            case Store() | Alloc() if s.place not in read and _is_ours(s.place):
                continue
            case Library() if not read.intersection(s.outs) and not _may_fail(s):
                continue
            case For(body=[]) if not may_have_no_step(s):
                continue
            case If(then=[], orelse=[]):
                continue
        found.append(s)
    return found


def _may_fail(s: Library) -> bool:
    """Whether a call that nobody needs could hide an exception of the user's."""
    return s.primitive.raises and not s.adjoint


def _is_ours(place: Place) -> bool:
    return isinstance(place, Buffer | Cell)
