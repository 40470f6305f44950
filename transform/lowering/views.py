"""Other views of an array: where each element of x.T, x.reshape(n, -1) stands in x."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradwright.transform.build import row
from gradwright.transform.core import Operand
from gradwright.transform.indices import Linear, linear
from gradwright.transform.lowering.nests import Places, Scope
from gradwright.transform.lowering.program import Lowering, Shape
from gradwright.transform.primitives.record import Primitive
from gradwright.transform.types import INT

Move = Callable[[Scope, Places], Places]


@dataclass(eq=False)
class Region:
    """A part of an array: its shape, where its elements stand, and what says so."""

    shape: Shape
    move: Move
    reads: tuple[Any, ...] = ()


View = Callable[[Lowering, Shape, dict[str, Any]], Region]
VIEWS: dict[Any, View] = {}


def viewed(
    L: Lowering,
    p: Primitive,
    attribute: Any,
    operands: tuple[Operand, ...],
    shape: Shape,
) -> Region:
    """What a primitive makes of an array of a shape, as a view of it."""
    if p.function not in VIEWS:
        raise L.refuse(f"a store through {p.spelling}")
    given = (None, *operands)
    arguments = p.template(attribute).filled(lambda k: given[k])
    return VIEWS[p.function](L, shape, arguments)


def view(*functions: Any) -> Callable[[View], View]:
    """The view that callables of NumPy give."""

    def register(f: View) -> View:
        for function in functions:
            VIEWS[function] = f
        return f

    return register


def _ordered(shape: Shape, order: list[int]) -> Region:
    """The axes of an array in another order."""
    back = [order.index(k) for k in range(len(order))]
    return Region(
        tuple(shape[k] for k in order), lambda w, at: tuple(at[k] for k in back)
    )


@view(np.transpose)
def transpose(L: Lowering, shape: Shape, given: dict[str, Any]) -> Region:
    axes = given.get("axes")
    rank = len(shape)
    if axes is None:
        axes = range(rank)[::-1]
    order = [k % rank for k in ((axes,) if isinstance(axes, int) else axes)]
    return _ordered(shape, order)


@view(np.swapaxes)
def swapaxes(L: Lowering, shape: Shape, given: dict[str, Any]) -> Region:
    order = list(range(len(shape)))
    a, b = given["axis1"], given["axis2"]
    order[a], order[b] = order[b], order[a]
    return _ordered(shape, order)


@view(np.moveaxis)
def moveaxis(L: Lowering, shape: Shape, given: dict[str, Any]) -> Region:
    marks = np.moveaxis(
        np.empty(tuple(range(1, len(shape) + 1))), given["source"], given["destination"]
    )
    return _ordered(shape, [n - 1 for n in marks.shape])


@view(np.squeeze)
def squeeze(L: Lowering, shape: Shape, given: dict[str, Any]) -> Region:
    axis = given.get("axis")
    if axis is None:
        gone = {k for k, n in enumerate(shape) if n.constant == 1}
    else:
        axes = axis if isinstance(axis, tuple) else (axis,)
        gone = {k % len(shape) for k in axes}
    kept = [k for k in range(len(shape)) if k not in gone]

    def move(w: Scope, at: Places) -> Places:
        found: list[Operand] = [linear(0)] * len(shape)
        for k, place in zip(kept, at, strict=True):
            found[k] = place
        return tuple(found)

    return Region(tuple(shape[k] for k in kept), move)


@view(np.expand_dims)
def expand_dims(L: Lowering, shape: Shape, given: dict[str, Any]) -> Region:
    axis = given["axis"]
    axes = axis if isinstance(axis, tuple) else (axis,)
    rank = len(shape) + len(axes)
    new = {k % rank for k in axes}
    lengths = iter(shape)
    full = tuple(linear(1) if k in new else next(lengths) for k in range(rank))
    return Region(
        full, lambda w, at: tuple(p for k, p in enumerate(at) if k not in new)
    )


@view(np.flip)
def flip(L: Lowering, shape: Shape, given: dict[str, Any]) -> Region:
    axis = given.get("axis")
    axes = range(len(shape)) if axis is None else axis
    axes = axes if isinstance(axes, tuple | range) else (axes,)
    turned = {k % len(shape) for k in axes}
    return Region(
        shape,
        lambda w, at: tuple(
            minus(w, n - 1, p) if k in turned else p
            for k, (p, n) in enumerate(zip(at, shape, strict=True))
        ),
    )


@view(np.broadcast_to)
def broadcast_to(L: Lowering, shape: Shape, given: dict[str, Any]) -> Region:
    wanted = given["shape"]
    full = tuple(
        map(L.length, wanted if isinstance(wanted, tuple | list) else (wanted,))
    )
    L.meet(shape, full)
    stretch = L.stretch(shape, full)

    def move(w: Scope, at: Places) -> Places:
        own = stretch(w, at)[len(at) - len(shape) :]
        return tuple(
            linear(0) if n.constant == 1 else p for p, n in zip(own, shape, strict=True)
        )

    return Region(full, move)


@view(np.diagonal)
def diagonal(L: Lowering, shape: Shape, given: dict[str, Any]) -> Region:
    offset = given.get("offset", 0)
    one, two = (given.get(n, k) % len(shape) for k, n in enumerate(("axis1", "axis2")))
    down, right = max(-offset, 0), max(offset, 0)
    length = L.greatest(L.least(shape[one] - down, shape[two] - right), linear(0))
    others = [k for k in range(len(shape)) if k not in (one, two)]

    def move(w: Scope, at: Places) -> Places:
        along = {one: plus(w, at[-1], down), two: plus(w, at[-1], right)}
        along |= zip(others, at[:-1], strict=True)
        return tuple(along[k] for k in range(len(shape)))

    return Region((*(shape[k] for k in others), length), move)


@view(np.ravel)
def ravel(L: Lowering, shape: Shape, given: dict[str, Any]) -> Region:
    return reshaped(L, shape, (L.product(shape),))


@view(np.reshape)
def reshape(L: Lowering, shape: Shape, given: dict[str, Any]) -> Region:
    wanted = given["shape"]
    wanted = wanted if isinstance(wanted, tuple | list) else (wanted,)
    full = [L.length(n) for n in wanted]
    open_at = [k for k, n in enumerate(full) if n.constant == -1]
    if open_at:
        rest = L.product(tuple(n for n in full if n.constant != -1))
        full[open_at[0]] = L.quotient(L.product(shape), rest)
    return reshaped(L, shape, tuple(full))


def reshaped(L: Lowering, shape: Shape, full: Shape) -> Region:
    """The elements row by row in another shape."""
    long = [n for n in shape if n.constant != 1]
    wide = [n for n in full if n.constant != 1]
    if long == wide:
        return _with_other_ones(shape, full)
    same = 0
    while same < min(len(shape), len(full)) and shape[same] == full[same]:
        same += 1

    def move(w: Scope, at: Places) -> Places:
        place = flat(w, at[same:], full[same:])
        return (*at[:same], *unflat(w, place, shape[same:]))

    return Region(full, move, tuple(n for n in (*shape, *full)))


def _with_other_ones(shape: Shape, full: Shape) -> Region:
    """A shape that differs in axes of length one only."""

    def move(w: Scope, at: Places) -> Places:
        rest = iter([p for p, n in zip(at, full, strict=True) if n.constant != 1])
        return tuple(linear(0) if n.constant == 1 else next(rest) for n in shape)

    return Region(full, move)


def flat(w: Scope, at: Places, shape: Shape) -> Operand:
    """Which element, counted row by row, stands at a place."""
    found: Operand = linear(0)
    for p, n in zip(at, shape, strict=True):
        found = plus(w, times(w, found, n), p)
    return found


def unflat(w: Scope, place: Operand, shape: Shape) -> Places:
    """The place of an element that is counted row by row."""
    found: list[Operand] = []
    for n in reversed(shape[1:]):
        found.insert(0, _int(w, operator.mod, place, n))
        place = _int(w, operator.floordiv, place, n)
    return (place, *found) if shape else ()


def times(w: Scope, a: Operand, b: Operand | int) -> Operand:
    """The product of two ints."""
    if isinstance(b, int):
        b = linear(b)
    for x, y in ((a, b), (b, a)):
        if isinstance(x, Linear) and x.constant is not None and isinstance(y, Linear):
            return y * x.constant
    return _int(w, operator.mul, a, b)


def plus(w: Scope, a: Operand, b: Operand | int) -> Operand:
    """The sum of two ints."""
    if isinstance(b, int):
        b = linear(b)
    if isinstance(a, Linear) and isinstance(b, Linear):
        return a + b
    return _int(w, operator.add, a, b)


def minus(w: Scope, a: Operand, b: Operand) -> Operand:
    """The difference of two ints."""
    if isinstance(a, Linear) and isinstance(b, Linear):
        return a - b
    return _int(w, operator.sub, a, b)


def _int(w: Scope, function: Any, a: Operand, b: Operand) -> Operand:
    return w.let(row(function, 2), (a, b), INT, "place")
