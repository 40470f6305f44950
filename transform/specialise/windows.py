"""Parts of an array that is stored into, which NumPy's functions give as views.

    left, right = np.split(y, 2)     ->     left is y[:n // 2], right y[n // 2:]

Of any other array they are values, as the rows have it.
"""

from __future__ import annotations

import operator
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from gradwright.transform.build import constant
from gradwright.transform.core import If, Index, Raise, Span
from gradwright.transform.indices import Linear, linear
from gradwright.transform.primitives.record import TABLE
from gradwright.transform.specialise.abstract import Structure
from gradwright.transform.specialise.arrays import call_signed
from gradwright.transform.specialise.frame import Frame, ProgramError
from gradwright.transform.specialise.inplace import bound
from gradwright.transform.specialise.regions import view_of
from gradwright.transform.specialise.subscripts import item_of

UNEVEN = "array split does not result in an equal division"


def meaning(f: Any) -> Any:
    """The meaning of a function whose results are windows; None of any other."""
    return partial(_split, f) if f in (np.split, np.array_split) else None


def _split(
    f: Any, frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    signature = "ary, indices_or_sections, axis=0"
    a, where, axis = bound(f.__name__, signature, arguments, keywords)
    spans = None
    if view_of(frame, a) is not None:
        k = 0 if axis is None else frame.static_int(axis, node, "axis= of np.split")
        if -a.type.rank <= k < a.type.rank:
            k %= a.type.rank
            spans = _spans(f, frame, a.type.dims[k], where, node)
    if spans is None:
        p = TABLE.signed(f, 1)
        assert p is not None
        return call_signed(frame, p, arguments, keywords, node)
    lead: Index = (Span(),) * k
    parts = (item_of(frame, a, (*lead, span), node) for span in spans)
    return Structure(list, tuple(parts))


def _spans(f: Any, frame: Frame, n: Linear, where: Any, node: Any) -> list[Span] | None:
    """The slices that the parts are; None where only the run knows how many."""
    if isinstance(where, Structure):
        cuts = [c for c in where.items if isinstance(c, Linear)]
        known = len(cuts) == len(where.items)
        return _between([None, *cuts, None]) if known else None
    if not isinstance(where, Linear):
        return None
    count = frame.static_int(where, node, "the number of parts")
    if count < 1:
        return None  # which NumPy refuses
    if n.constant is None:
        return _equal(frame, n, count, node) if f is np.split else None
    size, more = divmod(n.constant, count)
    if more and f is np.split:
        raise ProgramError(ValueError(UNEVEN))
    cuts = [linear(k * size + min(k, more)) for k in range(1, count)]
    return _between([None, *cuts, None])


def _equal(frame: Frame, n: Linear, count: int, node: Any) -> list[Span]:
    """Equal parts of a length that only the run knows."""
    from gradwright.transform.specialise.expressions import binary

    b = frame.builder
    rest = binary(frame, operator.mod, n, linear(count), node)
    uneven = b.operator(operator.ne, rest, linear(0))
    b.add(If(uneven, [Raise(ValueError, (constant(UNEVEN),))], []))
    size = binary(frame, operator.floordiv, n, linear(count), node)
    spans = _between([None, *(size * k for k in range(1, count)), None])
    for span in spans:
        b.lengths[span, n] = size
    return spans


def _between(bounds: list[Any]) -> list[Span]:
    return [Span(a, b) for a, b in pairwise(bounds)]
