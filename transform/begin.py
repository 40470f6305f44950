"""Arrays of zeros, core to core: what is added to as a whole begins as what is added.

    x_bar = np.zeros_like(x)                x_bar = 2.0 * x
    x_bar[0] += g                     ->    x_bar[0] += g
    x_bar += 2.0 * x

An array that a program stores into begins likewise as what it is given first.  It is
the last step before a program is written: what comes before knows no other beginning
than zero.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gradwright.transform.core import (
    Alloc,
    Buffer,
    Function,
    Let,
    Load,
    Statement,
    Store,
    Value,
    all_reads,
    blocks,
    defines,
    leaves,
    stores,
    type_of,
    walk,
)
from gradwright.transform.primitives.structural import COPY, SPREAD, makes_anew
from gradwright.transform.types import Type

Block = list[Statement]


def begin_whole(f: Function) -> None:
    """Begin arrays with what is first stored in, or added to, the whole of them."""
    uses: dict[object, int] = {}
    for s in walk(f.body):
        for v in all_reads(s) if not blocks(s) else ():
            uses[v] = uses.get(v, 0) + 1
    for r in f.results:
        for v in leaves(r):
            uses[v] = uses.get(v, 0) + 1
    _drop_zeros(f.body, _zeros(f), uses)
    _begin(f.body, uses)


def _zeros(f: Function) -> dict[object, Load]:
    """The arrays of zeros that nothing is ever stored in, by what reads them whole."""
    filled = {s.place for s in walk(f.body) if isinstance(s, Store)}
    filled |= {s.place for s in walk(f.body) if isinstance(s, Alloc) and s.value}
    return {
        s.out: s
        for s in walk(f.body)
        if isinstance(s, Load)
        and isinstance(s.source, Buffer)
        and s.source not in filled
        and not s.index
    }


def _drop_zeros(
    body: Block, zeros: dict[object, Load], uses: dict[object, int]
) -> None:
    """An array that begins as zeros needs no other array of zeros for it."""
    dropped: set[Statement] = set()
    for s in body:
        for b in blocks(s):
            _drop_zeros(b, zeros, uses)
        if not isinstance(s, Alloc) or not isinstance(s.place, Buffer):
            continue
        _, whole = _first_whole(body, s) or (None, None)
        load = zeros.get(whole.operand) if whole is not None else None
        if whole is None or load is None or whole.index or whole.accumulate:
            continue
        if not _fits(load.out.type, s.place.type):
            continue
        dropped.add(whole)
        uses[load.out] -= 1
        if not uses[load.out]:
            dropped.add(load)
            uses[load.source] -= 1
    body[:] = [s for s in body if s not in dropped]
    body[:] = [s for s in body if not (isinstance(s, Alloc) and _is_unused(s, uses))]


def _is_unused(s: Alloc, uses: dict[object, int]) -> bool:
    return isinstance(s.place, Buffer) and uses.get(s.place) == 0


def _begin(body: Block, uses: dict[object, int]) -> None:
    for s in body:
        for b in blocks(s):
            _begin(b, uses)
    # What is made outside of a loop is there for its next trip too.
    made = {v: s for s in body for v in defines(s)}
    for s in [s for s in body if isinstance(s, Alloc) and isinstance(s.place, Buffer)]:
        assert isinstance(s, Alloc) and isinstance(s.place, Buffer)
        found = _first_whole(body, s)
        if found is None or not s.place.type.rank:
            continue
        earlier, whole = found
        value, more = _own(whole, s.place, uses, made)
        if value is None:
            continue
        k = next(k for k, t in enumerate(body) if t is whole)
        kept = [t for t in body[:k] if t is not s and not any(t is e for e in earlier)]
        start = replace(s, value=value, where=whole.where)
        body[:] = [*kept, *more, start, *earlier, *body[k + 1 :]]


def _first_whole(body: Block, alloc: Alloc) -> tuple[list[Store], Store] | None:
    """What first fills the whole of an array, after what is added to parts of it."""
    earlier: list[Store] = []
    place, begun = alloc.place, False
    for s in body:
        if s is alloc:
            begun = True
        elif begun and isinstance(s, Store) and s.place is place:
            if not s.accumulate and not s.index and not earlier:
                return earlier, s  # a region of the program's
            if not (s.accumulate and s.adjoint):
                return None
            if not s.index:
                return earlier, s
            earlier.append(s)
        elif begun and (place in stores(s) or place in set(all_reads(s))):
            return None
    return None


def _own(
    s: Store,
    place: Buffer,
    uses: dict[object, int],
    made: dict[object, Statement],
) -> tuple[Value | None, Block]:
    """An array of its own with the value that is added, and what makes it."""
    g, like = s.operand, place.like
    if isinstance(g, Value) and g.type.is_array and _fits(g.type, place.type):
        others = uses.get(g, 0) - 1 - (like is g)
        first = made.get(g)
        if not others and isinstance(first, Let) and _is_new(first):
            return g, []
        out = Value(place.name, g.type)
        if isinstance(first, Let) and _is_creation(first):
            return out, [replace(first, out=out)]
        return out, [Let(out, COPY, (g,), where=s.where, adjoint=True)]
    if not isinstance(like, Value) or type_of(g).is_complex != place.type.is_complex:
        return None, []
    out = Value(place.name, place.type)
    return out, [Let(out, SPREAD, (g, like), where=s.where, adjoint=True)]


def _is_new(s: Let) -> bool:
    """Whether its array shares memory with no other: np.diag of a vector, too."""
    is_matrix = s.primitive.function is np.diag and s.out.type.rank == 2
    return makes_anew(s.primitive) or is_matrix


def _is_creation(s: Let) -> bool:
    """Whether it is an array of numbers known in advance, such as np.zeros(n)."""
    return s.primitive.kind == "constant" and not any(
        isinstance(o, Value) for o in s.operands
    )


def _fits(own: Type, wanted: Type) -> bool:
    """Whether an array has the dtype and all lengths of another."""
    return own.dtype == wanted.dtype and own.dims == wanted.dims
