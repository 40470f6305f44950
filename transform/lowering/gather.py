"""Adjoint stencils, core to core: what is scattered to neighbours is gathered instead.

    x_bar[:-2] += v                    padded[2:-2] = v
    x_bar[2:] += v             ->      x_bar += padded[2:] + padded[:-2]

The loop that adds reads neighbours and stores one element, where the loops before it
loaded and stored each element once for every neighbour.  The border of `padded` is zero
for good.  Only additions to cotangents are moved, whose order is nobody's.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from typing import Any

from gradwright.transform.build import literal, row
from gradwright.transform.core import (
    Alloc,
    At,
    Buffer,
    Const,
    Let,
    Operand,
    Span,
    Statement,
    Store,
    Value,
    all_reads,
    leaves,
    stores,
)
from gradwright.transform.indices import Linear, linear
from gradwright.transform.lowering.nests import Places, Scope
from gradwright.transform.lowering.program import Lowering
from gradwright.transform.types import FLOAT

WIDEST = 16  # the border of a padded array


@dataclass(eq=False)
class Part:
    """An addition of a multiple of a value to a part of an array.

    starts: along each axis, where the part begins; None where it is one place.
    """

    store: Store
    value: Value
    factor: float
    starts: tuple[Linear | None, ...]


def group(L: Lowering, body: list[Statement], first: int) -> list[Part]:
    """Additions of multiples of one value to one array, with nothing in between."""
    head = _part(L, body[first])
    if head is None:
        return []
    found, place = [head], head.store.place
    for s in body[first + 1 :]:
        part = _part(L, s)
        if part is not None and _fits(part, head):
            found.append(part)
            continue
        adds = isinstance(s, Store) and s.place is place and s.accumulate and s.adjoint
        if adds and place not in leaves(s.operand):  # type: ignore[attr-defined]
            continue
        if place in stores(s) or place in set(all_reads(s)):
            break
    if len({p.starts for p in found}) < 2:
        return []
    # Parts of no length end nowhere: there is nothing round them to be added to.
    return found if all(L.assume_natural(n - 1) for n in L.shapes[head.value]) else []


def _part(L: Lowering, s: Statement) -> Part | None:
    if not (isinstance(s, Store) and s.accumulate and s.adjoint and s.index):
        return None
    if not isinstance(s.place, Buffer) or not isinstance(s.operand, Value) or s.loose:
        return None
    if len(s.index) != s.place.type.rank or not s.operand.type.is_array:
        return None
    value, factor = _multiple(s.operand, L.made)
    shape = L.shapes.get(value)
    if shape is None or s.place not in L.shapes or not all(shape):
        return None
    starts: list[Linear | None] = []
    for item, length in zip(s.index, L.shapes[s.place], strict=True):
        match item:
            case At():
                starts.append(None)
            case Span(lower=None, step=None):
                starts.append(linear(0))
            case Span(lower=Linear() as lower, step=None):
                lower = L.form(lower)
                if L.forms.is_natural(lower):
                    starts.append(lower)
                elif L.forms.is_natural(length + lower):
                    starts.append(length + lower)
                else:
                    return None
            case _:
                return None
    if len(shape) != sum(b is not None for b in starts):
        return None
    if any(n.constant == 1 or not _is_known(L, n) for n in shape):
        return None
    return Part(s, value, factor, tuple(starts))


def _is_known(L: Lowering, n: Linear) -> bool:
    return all(v in L.known for v in leaves(L.forms.extreme(n, True)))


def _multiple(o: Value, made: dict[Any, Let]) -> tuple[Value, float]:
    """The value and the factor of which an operand is the product."""
    factor = 1.0
    while o in made:
        s = made[o]
        if s.primitive.function is operator.neg:
            factor, next_ = -factor, s.operands[0]
        elif s.primitive.function is operator.mul:
            c = literal(s.operands[0])
            if c is None:
                break
            factor, next_ = factor * c, s.operands[1]
        else:
            break
        if not isinstance(next_, Value) or not next_.type.is_array:
            break
        if next_.type.dims != o.type.dims or next_.type.dtype != o.type.dtype:
            break
        o = next_
    return o, factor


def _fits(part: Part, head: Part) -> bool:
    """Whether two additions are of one value, a fixed distance apart."""
    if part.store.place is not head.store.place or part.value is not head.value:
        return False
    for a, b, i, j in zip(
        part.starts, head.starts, part.store.index, head.store.index, strict=True
    ):
        if (a is None) != (b is None):
            return False
        if a is None or b is None:
            if i != j:
                return False
        else:
            distance = (a - b).constant
            if distance is None or abs(distance) > WIDEST:
                return False
    return True


def write(L: Lowering, parts: list[Part]) -> None:
    """The same additions as one."""
    first = parts[0]
    value, shape = first.value, L.shapes[first.value]
    axes = [k for k, b in enumerate(first.starts) if b is not None]
    offsets = [[_distance(p, first, k) for k in axes] for p in parts]
    low = [min(column) for column in zip(*offsets, strict=True)]
    width = [max(column) - min(column) for column in zip(*offsets, strict=True)]
    size = tuple(n + 2 * w for n, w in zip(shape, width, strict=True))
    padded = Buffer(f"{value.name}_padded", replace(value.type, dims=size), size)
    L.head.append(Alloc(padded, where=L.where))
    t, place = value.type.element, L.backing(first.store.place)

    same = len({p.factor for p in parts}) == 1
    whole = first.factor if same else 1.0

    def times(w: Scope, factor: float, x: Operand) -> Operand:
        if factor == 1.0:
            return x
        return _of(w, operator.mul, Const(factor, FLOAT), x, t)

    def fill(w: Scope, at: tuple[Linear, ...]) -> None:
        inner = tuple(p + b for p, b in zip(at, width, strict=True))
        w.store(padded, inner, times(w, whole, L.at(w, value, at)))

    L.root(shape, fill)
    L.settle({place})

    def add(w: Scope, at: tuple[Linear, ...]) -> None:
        total: Operand | None = None
        for p, own in zip(parts, offsets, strict=True):
            begin = zip(at, width, own, low, strict=True)
            near = tuple(i + (b - (o - a)) for i, b, o, a in begin)
            term = w.load(padded, near, t, value.name)
            term = times(w, 1.0 if same else p.factor, term)
            total = term if total is None else _of(w, operator.add, total, term, t)
        assert total is not None
        w.store(place, _place(first, axes, low, at), total, True, True)

    L.root(tuple(n + w for n, w in zip(shape, width, strict=True)), add)


def _place(first: Part, axes: list[int], low: list[int], at: Places) -> Places:
    """Where in the array a sum is added."""
    found: list[Operand] = []
    along = dict(zip(axes, zip(at, low, strict=True), strict=True))
    for k, (item, start) in enumerate(
        zip(first.store.index, first.starts, strict=True)
    ):
        if start is None:
            assert isinstance(item, At)
            found.append(item.position)
        else:
            i, b = along[k]
            assert isinstance(i, Linear)
            found.append(start + b + i)
    return tuple(found)


def _distance(part: Part, head: Part, axis: int) -> int:
    a, b = part.starts[axis], head.starts[axis]
    assert a is not None and b is not None
    distance = (a - b).constant
    assert distance is not None
    return distance


def _of(w: Scope, function: Any, a: Operand, b: Operand, t: Any) -> Operand:
    return w.let(row(function, 2), (a, b), t, "total")
