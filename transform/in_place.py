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
    taken,
    walk,
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
    function.params = [changes.operand(p) for p in function.params]
    return changes


def is_only_copied(function: Function, p: Value) -> bool:
    """Whether nothing but the copy reads a parameter as it was; its lengths apart."""
    body = function.body
    copies = [s for s in body if isinstance(s, Let) and s.operands == (p,)]
    copies = [s for s in copies if s.primitive is COPY]
    if len(copies) != 1 or any(r is p for r in function.results):
        return False
    begun = [s for s in body if isinstance(s, Store) and s.operand is copies[0].out]
    if len(begun) != 1 or copies[0].out in (r for r in function.results):
        return False
    others = [s for s in walk(body) if s is not copies[0]]
    return not any(
        a is p or (a is copies[0].out and s is not begun[0])
        for s in others
        for a in taken(s)
    )


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
