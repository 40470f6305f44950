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
    Load,
    Statement,
    Store,
    Substitution,
    Value,
    taken,
    walk,
)
from gradwright.transform.errors import Location
from gradwright.transform.indices import Dim, symbol
from gradwright.transform.primitives.structural import COPY


def store_in_arguments(
    function: Function, stored: Iterable[Value], given_away: bool = False
) -> Substitution:
    """Let these parameters be stored into themselves; in place.

    Returns what stands for a parameter, and for its lengths.  What is not `given_away`
    the caller reads afterwards.
    """
    mapping: dict[Value, Buffer] = {}
    for p in stored:
        copy, place = _copied(function, p)
        function.body = [
            s
            for s in function.body
            if s is not copy
            and not (isinstance(s, Alloc) and s.place is place)
            and not (isinstance(s, Store) and s.operand is copy.out)
        ]
        mapping[p] = place if given_away else _in_two(function, place)
    changes = Substitution(dict(mapping))
    for p, place in mapping.items():
        place.type = changes.type(p.type)
        place.like = tuple(symbol(Dim(place, k)) for k in range(p.type.rank))
        place.name = p.name
    function.body = changes.block(function.body)
    changes.rename_lengths(function.body)
    function.results = [changes.operand(r) for r in function.results]
    function.params = [changes.operand(p) for p in function.params]
    return changes


def _in_two(function: Function, place: Buffer) -> Buffer:
    """The array that a caller sees: up to where its name gets another one."""
    k = _rebinding(function.body, place)
    if k == len(function.body):
        return place
    own = Buffer(place.name, place.type, place.like)
    now = own.content()
    first = Substitution({place: own}).block(function.body[:k])
    begun = [Load(now, own), Alloc(place), Store(place, now)]
    function.body = [*first, *begun, *function.body[k:]]
    return own


def undecided(function: Function, p: Value) -> Location | None:
    """Where only the run knows whether a store is into the caller's array.

    Its name gets another array in a loop or branch, and is stored into there or later.
    """
    _, place = _copied(function, p)
    later = function.body[_rebinding(function.body, place) :]
    found = (s for s in walk(later) if isinstance(s, Store) and s.place is place)
    return next((s.where for s in found if not s.rebinds), None)


def _rebinding(body: list[Statement], place: Buffer) -> int:
    """Which statement of a block gives the array's name another; its end if none."""

    def rebinds(s: Statement) -> bool:
        return isinstance(s, Store) and s.rebinds and s.place is place

    for k, s in enumerate(body):
        if any(map(rebinds, walk([s]))):
            return k
    return len(body)


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
