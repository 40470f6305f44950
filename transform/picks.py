"""Arrays of indices: whether they name a place twice.

    y[[0, 2]]    distinct          y[[k, p]], y[cells]    may repeat: the last store wins
"""

from __future__ import annotations

from gradwright.transform.core import Index, Pick, type_of
from gradwright.transform.indices import linear


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
