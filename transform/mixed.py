"""Names that are a number first and an array later.

    s = x                      s holds a number, then arrays
    for k in range(n):         s * xs has the shape of xs, also where s is a number: its
        s = s * xs             cotangent is then the sum of what arrives for the array

The core gives such a name an array's type, and NumPy decides at run time what it holds.
"""

from __future__ import annotations

from typing import Any

from gradwright.transform.core import (
    Alloc,
    Buffer,
    Call,
    Cell,
    Function,
    Insert,
    Let,
    List,
    Load,
    Operand,
    Pop,
    Push,
    Remove,
    Statement,
    Store,
    Take,
    blocks,
    defines,
    is_recursive,
    type_of,
    walk,
)
from gradwright.transform.indices import Dim, Linear
from gradwright.transform.primitives.structural import SPREAD, SUM_TO
from gradwright.transform.types import fills


class Mixed:
    """Values and places of an array's type that may hold a number at run time.

    active: those whose cotangent is wanted while they are numbers.  In `s = 0.0` before
    a loop that adds arrays the number is a constant, and nobody asks.  unsure: what
    has no lengths for sure.
    """

    def __init__(self, function: Function, active: set[Any]) -> None:
        self.all: set[Any] = set()
        self.active: set[Any] = set()
        size = -1
        while size != len(self.all) + len(self.active):
            size = len(self.all) + len(self.active)
            for s in walk(function.body):
                for out, arrays, given in _flow(s):
                    if not out.type.is_array or not self.all.issuperset(arrays):
                        continue
                    self.all.add(out)
                    wanted = (
                        o in (self.active if o in arrays else active) for o in given
                    )
                    if out in active and any(wanted):
                        self.active.add(out)
        self.unsure = self._unsure(function)

    def _unsure(self, function: Function) -> set[Any]:
        """All these, and what may be one as a function that calls itself gives it."""
        found, size = set(self.all), -1
        calls = [s for s in walk(function.body) if isinstance(s, Call)]
        found.update(out for s in calls if is_recursive(s.function) for out in s.outs)
        while size != len(found):
            size = len(found)
            for s in walk(function.body):
                for out, arrays, _ in _flow(s):
                    if out.type.is_array and arrays and found.issuperset(arrays):
                        found.add(out)
        return found


def _flow(s: Statement) -> list[tuple[Any, list[Any], list[Any]]]:
    """What gets its shape here, which arrays it has it from, and what it is made of."""
    match s:
        case Let() if shapes(s):
            return [(s.out, shapes(s), list(s.operands))]
        case Load() if not s.index or isinstance(s.source, List):
            return [(s.out, [s.source], [s.source])]
        case Store(place=Cell() | List()) | Insert() | Push():
            place = s.tape if isinstance(s, Push) else s.place
            return [(place, [o for o in (s.operand,) if is_array(o)], [s.operand])]
        case Alloc(place=Buffer() as place):
            return [(place, [place.like], [place.like])]
        case Alloc(place=List() as place) if place.length is not None:
            return [(place, [], [])]
        case Take():
            return [(s.place, [s.source], [s.source])]
        case Remove():
            return [(s.out, [s.place], [s.place])]
        case Pop():
            return [(s.out, [s.tape], [s.tape])]
        case Call() if not is_recursive(s.function):
            inside = Mixed(s.function, set()).all
            pairs = zip(s.outs, s.function.results, strict=True)
            return [(out, [], []) for out, r in pairs if r in inside]
    return []


def may_stretch(function: Function) -> bool:
    """Whether arrays of several lengths may meet where one of them may be a number.

    In `s = s + xs` the two are of one shape while nothing else is added to `s`, and the
    lengths of `xs` stay the same.
    """
    flows = (flow for s in walk(function.body) for flow in _flow(s))
    if all(arrays or not out.type.is_array for out, arrays, _ in flows):
        return False
    mixed = Mixed(function, set()).all
    held = _dims_held(function, mixed)
    inner = {v for s in walk(function.body) if blocks(s) for v in _defined_in(s)}
    for s in walk(function.body):
        if not isinstance(s, Let) or s.primitive.signature is not None:
            continue
        arrays = [o for o in s.operands if is_array(o)]
        if len(set(arrays)) < 2 or mixed.isdisjoint(arrays):
            continue
        met = set().union(*(held.get(o) or {type_of(o).dims} for o in arrays))
        if any(_differ(column, inner) for column in _columns(met)):
            return True
    return False


def _dims_held(function: Function, mixed: set[Any]) -> dict[Any, set[Any]]:
    """The dims of all arrays that each of these may be."""
    held: dict[Any, set[Any]] = {v: set() for v in mixed}
    size = -1
    while size != sum(map(len, held.values())):
        size = sum(map(len, held.values()))
        for s in walk(function.body):
            for out, arrays, _ in _given(s):
                if out not in mixed:
                    continue
                for o in arrays:
                    held[out] |= held[o] if o in mixed else {type_of(o).dims}
                if isinstance(s, Call):
                    held[out].add(type_of(out).dims)
    return held


def _given(s: Statement) -> list[tuple[Any, list[Any], list[Any]]]:
    """The same as `_flow`, and elements of every row."""
    if isinstance(s, Let) and is_array(s.out):
        return [(s.out, [o for o in s.operands if is_array(o)], [])]
    return _flow(s)


def _defined_in(s: Statement) -> set[Any]:
    """What is defined in the blocks of a loop or branch."""
    return {v for block in blocks(s) for t in walk(block) for v in defines(t)}


def _columns(met: set[Any]) -> list[set[Linear]]:
    """The lengths along each axis, the last one first."""
    most = max(map(len, met), default=0)
    return [{dims[-k] for dims in met if len(dims) >= k} for k in range(1, most + 1)]


def _differ(lengths: set[Linear], inner: set[Any]) -> bool:
    """Whether they may be several, or be another one in each trip of a loop."""
    arrays = {s.array for d in lengths for s in d.symbols() if isinstance(s, Dim)}
    return len(lengths) > 1 or not arrays.isdisjoint(inner)


def short(function: Function) -> set[Any]:
    """What may have length one along an axis along which its type says more.

    A cotangent of equal elements is left short until its shape is asked for, and what
    waits for an array is gathered in a cell of the array's type.
    """
    found = {p for s in walk(function.body) if (p := _holds_numbers(s)) is not None}
    size = -1
    while size != len(found):
        size = len(found)
        for s in walk(function.body):
            for out, arrays, _ in _flow(s):
                if not out.type.is_array or not arrays:
                    continue
                if _is_short(s, out, arrays, found):
                    found.add(out)
    return found


def _holds_numbers(s: Statement) -> List | None:
    """The list of arrays that a statement puts a number into."""
    match s:
        case Alloc(place=List() as place) if place.length is not None:
            return place if is_array(place) else None
        case Store(place=List() as place) | Insert(place=place):
            return place if is_array(place) and not is_array(s.operand) else None
    return None


def _is_short(s: Statement, out: Any, arrays: list[Any], short: set[Any]) -> bool:
    if isinstance(s, Let) and s.primitive is SUM_TO:  # or as it is, for an array
        summed = s.operands[0]
        return summed in short or not is_array(summed)
    if isinstance(s, Let) and s.primitive.signature is None:  # the longest one counts
        full = (a not in short and fills(type_of(a), out.type) for a in arrays)
        return not short.isdisjoint(arrays) and not any(full)
    if not short.isdisjoint(arrays):
        return True
    if isinstance(s, Store | Push | Insert):
        return not all(fills(type_of(a), out.type) for a in arrays)
    return False


def shapes(s: Let) -> list[Operand]:
    """The arrays among the operands that give the result its shape."""
    given = s.operands[1:] if s.primitive in (SPREAD, SUM_TO) else s.operands
    return [o for o in given if is_array(o)]


def is_array(o: Any) -> bool:
    """Whether an operand or place has an array's type."""
    return type_of(o).is_array
