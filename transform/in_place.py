"""Arguments that a program stores into, core to core: they stay the caller's arrays.

    def f(x):                            def f(x):
        x = x.copy()          ->             x[0] = 1.0
        x[0] = 1.0

A derivative leaves the caller's arrays as they are, and so the specialiser copies what
is stored into.  A function that is only compiled does what it says.
"""

from __future__ import annotations

from collections.abc import Iterable

from gradwright.transform.core import (
    Alloc,
    Buffer,
    Function,
    Let,
    Store,
    Substitution,
    Value,
)
from gradwright.transform.indices import Dim, symbol
from gradwright.transform.primitives.structural import COPY


def store_in_arguments(function: Function, stored: Iterable[Value]) -> Substitution:
    """Let these parameters be stored into themselves; in place.

    Returns what stands for a parameter, and for its lengths.
    """
    mapping: dict[Value, Buffer] = {}
    dropped: set[int] = set()
    for p in stored:
        copy, place = _copied(function, p)
        mapping[p] = place
        dropped.update(
            id(s)
            for s in function.body
            if s is copy
            or (isinstance(s, Alloc) and s.place is place)
            or (isinstance(s, Store) and s.operand is copy.out)
        )
    changes = Substitution(dict(mapping))
    for p, place in mapping.items():
        place.type = changes.type(p.type)
        place.like = tuple(symbol(Dim(place, k)) for k in range(p.type.rank))
        place.name = p.name
    body = [s for s in function.body if id(s) not in dropped]
    function.body = changes.block(body)
    changes.rename_lengths(function.body)
    function.results = [changes.operand(r) for r in function.results]
    function.params = [mapping.get(p, p) for p in function.params]  # type: ignore[call-overload]
    return changes


def _copied(function: Function, p: Value) -> tuple[Let, Buffer]:
    """Where a parameter is copied, and the array that begins as the copy."""
    copy = next(
        s
        for s in function.body
        if isinstance(s, Let) and s.primitive is COPY and s.operands == (p,)
    )
    begun = next(
        s for s in function.body if isinstance(s, Store) and s.operand is copy.out
    )
    assert isinstance(begun.place, Buffer)
    return copy, begun.place
