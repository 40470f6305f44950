"""Memory that is free again, after lowering: arrays in it take turns.

    a = ...; b = f(a); c = g(b)        c stands where a stood

Two arrays of one size share memory where the one is read for the last time before the
other is written for the first.  In a loop that holds for every trip, as an array of
ours is written before it is read in each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gradwright.transform.core import (
    Alloc,
    Buffer,
    For,
    Function,
    Statement,
    Substitution,
    all_reads,
    blocks,
    reads,
    stores,
)
from gradwright.transform.lowering.nests import LOOPS


@dataclass(eq=False)
class Life:
    """Where an array is used: in the outermost block, and further in as all uses are.

    spans: by block, the first and the last statement there.
    """

    spans: dict[int, tuple[int, int]]

    def meets(self, other: Life) -> bool:
        """Whether two arrays are needed at one time."""
        deepest = None
        for block in self.spans:  # the outermost block comes first
            if block in other.spans:
                deepest = block
        assert deepest is not None
        (a, b), (c, d) = self.spans[deepest], other.spans[deepest]
        return a <= d and c <= b


def reuse(function: Function, ours: set[Buffer]) -> None:
    """Let arrays of ours take turns in memory; in place."""
    allocs = {
        s.place: s
        for s in function.body
        if isinstance(s, Alloc) and s.place in ours and s.blank
    }
    if len(allocs) < 2:
        return
    lives = _look(function.body, set(allocs))
    held: dict[Any, list[Buffer]] = {}  # by kind and size, those whose memory is kept
    taken: dict[Buffer, list[Life]] = {}
    mapping: dict[Any, Any] = {}
    for place in lives:
        key = (place.type.dtype, place.type.python, place.like)
        life = lives[place]
        for other in held.setdefault(key, []):
            if not any(life.meets(before) for before in taken[other]):
                mapping[place] = other
                taken[other].append(life)
                break
        else:
            held[key].append(place)
            taken[place] = [life]
    if mapping:
        body = [
            s
            for s in function.body
            if getattr(s, "place", None) not in mapping or not isinstance(s, Alloc)
        ]
        changes = Substitution(mapping)
        function.body = changes.block(body)
        changes.rename_lengths(function.body)


def _look(body: list[Statement], ours: set[Any]) -> dict[Any, Life]:
    """The uses in a block of what is used there, as deep as all of them go."""
    found: dict[Any, Life] = {}
    for k, s in enumerate(body):
        if isinstance(s, Alloc) and s.place in ours:
            continue
        for p, inner in _inside(s, ours).items():
            if p in found:  # all of the block from here to there
                first, _ = found[p].spans[id(body)]
                found[p].spans = {id(body): (first, k)}
            else:
                found[p] = Life({id(body): (k, k), **inner})
    return found


def _inside(s: Statement, ours: set[Any]) -> dict[Any, dict[int, tuple[int, int]]]:
    """What a statement uses, and where in its blocks: in one of them, or all over."""
    if isinstance(s, For) and s.symbol.of in LOOPS.values():  # element by element
        return {p: {} for p in _in_order(ours & (set(all_reads(s)) | stores(s)))}
    found: dict[Any, dict[int, tuple[int, int]]] = {}
    nested = [_look(b, ours) for b in blocks(s)]
    for lives in nested:
        for p, life in lives.items():
            found[p] = {} if p in found else life.spans
    own = set(reads(s)) | (set() if nested else stores(s))
    found.update({p: {} for p in _in_order(ours & own)})
    return found


def _in_order(places: set[Any]) -> list[Any]:
    """As they were made, so that the same program is the same to the letter."""
    return sorted(places, key=lambda p: p.serial)
