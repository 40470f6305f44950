"""Arrays of indices: whether they name a place twice.

y[[0, 2]]    distinct          y[[k, p]], y[cells]    may repeat: the last store wins
"""

from __future__ import annotations

from typing import Any

from gradwright.transform.core import (
    At,
    Index,
    Let,
    NewAxis,
    Pick,
    Span,
    Statement,
    Whole,
    type_of,
)
from gradwright.transform.indices import linear
from gradwright.transform.primitives.structural import DISPLAY
from gradwright.transform.types import Type

FEW = 3


def is_places(s: Statement) -> bool:
    """Whether it is a display of a few places, as `[k, p]`."""
    if not isinstance(s, Let) or s.primitive is not DISPLAY:
        return False
    return s.out.type.is_integer and len(s.operands) <= FEW


def may_repeat(index: Index) -> bool:
    """Whether an index may name a place twice.

    It does not where all its arrays name distinct ones.  One such array is enough where
    it has the shape of the others: it would repeat if NumPy stretched it.
    """
    picks = [i for i in index if isinstance(i, Pick)]
    if all(_is_distinct(i) for i in picks):
        return False
    return not any(
        _is_distinct(i) and all(_has_shape_of(i, other) for other in picks)
        for i in picks
    )


def _is_distinct(i: Pick) -> bool:
    return i.distinct or type_of(i.places).is_bool


def _has_shape_of(i: Pick, other: Pick) -> bool:
    """Whether an array of places is nowhere shorter than another."""
    own, others = type_of(i.places), type_of(other.places)
    if own.is_bool or others.is_bool or own.dims is None or others.dims is None:
        return i is other
    dims = [*zip(reversed(own.dims), reversed(others.dims), strict=False)]
    fits = all(n == m or m == linear(1) for n, m in dims)
    return fits and len(others.dims) <= len(own.dims)


# ---- which axes it names -----------------------------------------------------------


def taken(item: Any) -> int:
    """How many axes of the array an item of an index stands for."""
    if isinstance(item, Pick):
        t = type_of(item.places)
        return t.rank if t.is_bool else 1
    return 1 if isinstance(item, At | Span) else 0


def picked_axes(t: Type, index: Index) -> list[int]:
    """The axes of an array along which an index says places, not slices."""
    found: list[int] = []
    axis = 0
    for item in index:
        count = taken(item)
        if isinstance(item, At | Pick):
            found += range(axis, axis + count)
        axis += t.rank - sum(map(taken, index)) if isinstance(item, Whole) else count
    return found


def picked_first(t: Type, index: Index) -> tuple[int, int]:
    """Where the axes of the places stand in what is picked, and how many there are.

    They come first, unless all of them stand side by side.
    """
    places = [type_of(i.places) for i in index if isinstance(i, Pick)]
    rank = max(1 if p.is_bool else p.rank for p in places)
    at = [k for k, i in enumerate(index) if isinstance(i, At | Pick)]
    if at[-1] - at[0] >= len(at):
        return 0, rank
    before = index[: at[0]]
    missing = t.rank - sum(map(taken, index))
    first = sum(isinstance(i, Span | NewAxis) for i in before)
    return first + missing * any(isinstance(i, Whole) for i in before), rank
