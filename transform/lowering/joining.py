"""Arrays put together, cut and moved about, while they are lowered."""

from __future__ import annotations

import itertools
import operator
from dataclasses import replace
from typing import Any

import numpy as np

from gradwright.transform.build import row
from gradwright.transform.core import (
    Alloc,
    Cell,
    Const,
    Let,
    Operand,
    Store,
    Value,
    type_of,
)
from gradwright.transform.indices import Linear, linear
from gradwright.transform.lowering.arrays import (
    call_library,
    cast,
    is_cheap,
    lowers,
    moved,
)
from gradwright.transform.lowering.masks import places_of
from gradwright.transform.lowering.nests import Places, Scope
from gradwright.transform.lowering.program import Lowering, Shape
from gradwright.transform.lowering.reductions import constant
from gradwright.transform.lowering.views import minus, plus, reshaped
from gradwright.transform.types import BOOL, INT


def zero_of(s: Let) -> Const:
    """The number zero of a result's kind."""
    t = s.out.type.element
    return constant(t.weak().type(0), t)


@lowers(np.concatenate)
def concatenate(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    """Each array into its part of the whole."""
    arrays = list(given["arrays"])
    axis = given.get("axis", 0)
    if axis is None:
        arrays, axis = [_flattened(L, a)[1] for a in arrays], 0
    shapes = [L.shape(a) for a in arrays]
    k = axis % len(shapes[0])
    full = list(shapes[0])
    for shape in shapes[1:]:
        for j, n in enumerate(shape):
            full[j] = full[j] + n if j == k else L.length_met(full[j], n)
    place = L.room(s.out.name, s.out.type, tuple(full))
    start = linear(0)
    t = s.out.type.element
    for a, shape in zip(arrays, shapes, strict=True):

        def write(w: Scope, at: Any, a: Any = a, start: Linear = start) -> None:
            to = tuple(p + start if j == k else p for j, p in enumerate(at))
            w.store(place, to, cast(w, L.at(w, a, at), t))

        L.root(shape, write)
        start = start + shape[k]
    L.is_memory(s.out, place, tuple(full))


@lowers(np.stack)
def stack(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    """Each array into its own slice."""
    arrays = list(given["arrays"])
    shape = L.shape(arrays[0])
    for a in arrays[1:]:
        shape = tuple(map(L.length_met, shape, L.shape(a)))
    k = given.get("axis", 0) % (len(shape) + 1)
    full = (*shape[:k], linear(len(arrays)), *shape[k:])
    place = L.room(s.out.name, s.out.type, full)
    t = s.out.type.element
    for n, a in enumerate(arrays):

        def write(w: Scope, at: Any, a: Any = a, n: int = n) -> None:
            w.store(place, (*at[:k], linear(n), *at[k:]), cast(w, L.at(w, a, at), t))

        L.root(shape, write)
    L.is_memory(s.out, place, full)


@lowers(np.roll)
def roll(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    """The places run round along axes."""
    a, shift, axis = s.operands[0], given["shift"], given.get("axis")
    shape = L.shape(a)
    if axis is None and len(shape) != 1:
        own, a = _flattened(L, a)
        rolled = Value("rolled", replace(type_of(a), dims=own))
        L.uses[rolled] = 1
        _roll(L, rolled, a, {0: shift})
        found = reshaped(L, own, shape)
        moved(L, s.out, rolled, found.move, shape, found.reads)
        return
    axes = (0,) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    shifts = shift if isinstance(shift, tuple | list) else (shift,) * len(axes)
    _roll(L, s.out, a, dict(zip((k % len(shape) for k in axes), shifts, strict=True)))


def _roll(L: Lowering, out: Value, a: Any, by: dict[int, Any]) -> None:
    """The places run round along each of these axes."""
    shape = L.shape(a)

    def move(w: Scope, at: Places) -> Places:
        found = list(at)
        for k, n in by.items():
            back = minus(w, at[k], linear(n) if isinstance(n, int) else n)
            found[k] = w.let(row(operator.mod, 2), (back, shape[k]), INT, "place")
        return tuple(found)

    moved(L, out, a, move, shape)


@lowers(np.tile)
def tile(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    """The places of the whole, by the lengths of the tile."""
    a, reps = s.operands[0], given["reps"]
    times = tuple(reps) if isinstance(reps, tuple | list) else (reps,)
    shape = L.shape(a)
    rank = max(len(times), len(shape))
    times = (1,) * (rank - len(times)) + times
    own = (linear(1),) * (rank - len(shape)) + shape
    full = tuple(n * int(r) for n, r in zip(own, times, strict=True))

    def move(w: Scope, at: Places) -> Places:
        found = [
            p if r == 1 else w.let(row(operator.mod, 2), (p, n), INT, "place")
            for p, n, r in zip(at, own, times, strict=True)
        ]
        return tuple(found[rank - len(shape) :])

    moved(L, s.out, a, move, full)


@lowers(np.repeat)
def repeat(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    """The places of the whole, by how often each element comes."""
    a, count, axis = s.operands[0], given["repeats"], given.get("axis")
    if not isinstance(count, int):
        raise L.refuse("np.repeat by an array")
    shape = L.shape(a)
    if axis is None:
        shape, a = _flattened(L, a)
        axis = 0
    k = axis % len(shape)
    full = (*shape[:k], shape[k] * count, *shape[k + 1 :])

    def move(w: Scope, at: Places) -> Places:
        p = w.let(row(operator.floordiv, 2), (at[k], linear(count)), INT, "place")
        return (*at[:k], p, *at[k + 1 :])

    moved(L, s.out, a, move, full)


def _flattened(L: Lowering, a: Any) -> tuple[Shape, Any]:
    shape = L.shape(a)
    found = reshaped(L, shape, (L.product(shape),))
    out = Value("flat", replace(type_of(a), dims=found.shape))
    L.uses[out] = 1
    moved(L, out, a, found.move, found.shape, found.reads)
    return found.shape, out


@lowers(np.tril)
def tril(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    _triangle(L, s, given, operator.ge)


@lowers(np.triu)
def triu(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    _triangle(L, s, given, operator.le)


def _triangle(L: Lowering, s: Let, given: dict[str, Any], compare: Any) -> None:
    """Elements on one side of a diagonal, and zeros."""
    m, k = s.operands[0], given.get("k", 0)
    shape = L.shape(m)
    if len(shape) == 1:
        shape = (shape[0], shape[0])
    t, zero = s.out.type.element, zero_of(s)

    def at(w: Scope, places: Places) -> Operand:
        i, j = places[-2:]
        low = plus(w, i, linear(k) if isinstance(k, int) else k)
        kept = w.let(row(compare, 2), (low, j), BOOL, "is_kept")
        return w.let(row(np.where, 3), (kept, L.at(w, m, places), zero), t, "part")

    L.is_computed(s.out, shape, at, (m,), cheap=is_cheap(L, m))


@lowers(np.tri)
def tri(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    """Ones on and below a diagonal."""
    n, k = L.length(given["N"]), given.get("k", 0)
    m = n if given.get("M") is None else L.length(given["M"])
    t = s.out.type.element

    def at(w: Scope, places: Places) -> Operand:
        i, j = places
        low = plus(w, i, linear(k) if isinstance(k, int) else k)
        return cast(w, w.let(row(operator.ge, 2), (low, j), BOOL, "is_one"), t)

    L.is_computed(s.out, (n, m), at, (), cheap=True)


@lowers(np.diag)
def diag(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    """A matrix of a diagonal, or a matrix's diagonal."""
    v, k = s.operands[0], given.get("k", 0)
    shape = L.shape(v)
    down, right = max(-k, 0), max(k, 0)
    if len(shape) == 1:
        n = shape[0] + abs(k)
        place, zero = L.room(s.out.name, s.out.type, (n, n)), zero_of(s)
        L.root((n, n), lambda w, at: w.store(place, at, zero))
        L.root(
            shape,
            lambda w, at: w.store(place, (at[0] + down, at[0] + right), L.at(w, v, at)),
        )
        L.is_memory(s.out, place, (n, n))
        return
    n, m = shape
    length = L.greatest(L.least(n - down, m - right), linear(0))
    moved(
        L,
        s.out,
        v,
        lambda w, at: (plus(w, at[0], down), plus(w, at[0], right)),
        (length,),
    )


@lowers(np.split, np.array_split)
def split(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    """Parts of an array, as views."""
    a, cuts = s.operands[0], given["indices_or_sections"]
    shape = L.shape(a)
    k = given.get("axis", 0) % len(shape)
    count = len(s.out.type.items or ())
    if isinstance(cuts, int):
        n = L.let(operator.floordiv, shape[k], linear(count))
        rest = L.let(operator.sub, shape[k], L.let(operator.mul, n, linear(count)))
        ends, start = [], linear(0)
        for j in range(count):
            more = L.least(L.greatest(rest - j, linear(0)), linear(1))
            ends.append((start, n + more))
            start = start + n + more
    else:
        places = [L.least(linear(int(c)), shape[k]) for c in cuts]
        edges = [linear(0), *places, shape[k]]
        ends = [(a, L.greatest(b - a, linear(0))) for a, b in itertools.pairwise(edges)]
    parts: list[Value] = []
    for start, length in ends:
        full = (*shape[:k], length, *shape[k + 1 :])
        out = Value("part", replace(type_of(a), dims=full))
        L.uses[out] = 1

        def move(w: Scope, at: Places, start: Linear = start) -> Places:
            return (*at[:k], plus(w, at[k], start), *at[k + 1 :])

        moved(L, out, a, move, full)
        parts.append(out)
    L.parts[s.out] = parts


@lowers(np.meshgrid)
def meshgrid(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    """Each vector along its own axis of the grid."""
    xs = [x if len(L.shape(x)) < 2 else _flattened(L, x)[1] for x in given["xi"]]
    order = list(range(len(xs)))
    if given.get("indexing", "xy") == "xy" and len(xs) > 1:
        order[:2] = [1, 0]
    lengths = [L.shape(x)[0] if L.shape(x) else linear(1) for x in xs]
    full = [linear(0)] * len(xs)
    for j, k in enumerate(order):
        full[k] = lengths[j]
    parts = []
    for j, x in enumerate(xs):
        out = Value("grid", replace(type_of(x), dims=tuple(full)))
        L.uses[out] = 1
        k = order[j]
        moved(L, out, x, lambda w, at, k=k: (at[k],), tuple(full))
        parts.append(out)
    L.parts[s.out] = parts


@lowers(np.ix_)
def ix_(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    """Each vector along its own axis, with ones for the others."""
    xs = list(given["args"])
    parts = []
    for j, x in enumerate(xs):
        if type_of(x).is_bool:
            (x,) = _nonzero(L, x)
        full = tuple(L.shape(x)[0] if k == j else linear(1) for k in range(len(xs)))
        out = Value("places", replace(type_of(x), dims=full))
        L.uses[out] = 1
        moved(L, out, x, lambda w, at, j=j: (at[j],), full)
        parts.append(out)
    L.parts[s.out] = parts


@lowers(np.nonzero, np.where)
def nonzero(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    """The places where an array is not zero, one array for each axis."""
    L.parts[s.out] = _nonzero(L, s.operands[0])


@lowers(np.flatnonzero)
def flatnonzero(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    _, a = _flattened(L, s.operands[0])
    (found,) = _nonzero(L, a)
    L.is_same(s.out, found)


@lowers(np.argwhere)
def argwhere(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    """The same as rows of one array."""
    found = _nonzero(L, s.operands[0])
    (count,) = L.shape(found[0])
    full = (count, linear(len(found)))
    place = L.room(s.out.name, s.out.type, full)
    for k, v in enumerate(found):

        def write(w: Scope, at: Any, k: int = k, v: Value = v) -> None:
            w.store(place, (*at, linear(k)), L.at(w, v, at))

        L.root((count,), write)
    L.is_memory(s.out, place, full)


def _nonzero(L: Lowering, a: Any) -> list[Value]:
    places, count = places_of(L, a)
    found = []
    for place in places:
        out = Value("places", replace(place.type, dims=(count,)))
        L.is_memory(out, place, (count,))
        found.append(out)
    return found


@lowers(np.cumsum)
def cumsum(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    _running(L, s, given, operator.add, 0)


@lowers(np.cumprod)
def cumprod(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    _running(L, s, given, operator.mul, 1)


def _running(
    L: Lowering, s: Let, given: dict[str, Any], function: Any, start: int
) -> None:
    """What the elements along an axis make together so far."""
    a, axis = s.operands[0], given.get("axis")
    shape = L.shape(a)
    if axis is None:
        shape, a = _flattened(L, a) if len(shape) != 1 else (shape, a)
        axis = 0
    k = axis % len(shape)
    t = s.out.type.element
    place = L.room(s.out.name, s.out.type, shape)
    outer = (*shape[:k], *shape[k + 1 :])

    def along(w: Scope, rest: Places) -> None:
        acc = Cell(s.out.name, t)
        w.add(Alloc(acc))
        w.add(Store(acc, Const(t.weak().type(start), t)))

        def body(inner: Scope, at: tuple[Linear, ...]) -> None:
            full = (*rest[:k], at[0], *rest[k:])
            before = inner.load(acc, (), t, s.out.name)
            x = cast(inner, L.at(inner, a, full), t)
            total = inner.let(row(function, 2), (before, x), t, s.out.name)
            inner.store(acc, (), total)
            inner.store(place, full, total)

        w.loop((shape[k],), body)

    if outer:
        L.root(outer, along)
    else:
        w = Scope()
        w.where, w.adjoint = L.where, L.adjoint
        along(w, ())
        for statement in w.block:
            L.add(statement)
    L.is_memory(s.out, place, shape)


@lowers(np.real)
def real(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    _each(L, s)


@lowers(np.imag)
def imag(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    _each(L, s)


@lowers(np.conjugate)
def conjugate(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    _each(L, s)


def _each(L: Lowering, s: Let) -> None:
    """The function of each element."""
    x = s.operands[0]
    t = s.out.type.element

    def at(w: Scope, places: Places) -> Operand:
        return w.let(s.primitive, (L.at(w, x, places),), t, s.out.name)

    L.is_computed(s.out, L.shape(x), at, (x,), cheap=is_cheap(L, x))


@lowers(np.pad)
def pad(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    """Zeros, or another number, with the array in their midst."""
    a = s.operands[0]
    if given.get("mode", "constant") != "constant":
        call_library(L, s, tuple(map(L.operand, s.operands)))
        return
    shape = L.shape(a)
    widths = _widths(L, given["pad_width"], len(shape))
    full = tuple(n + b + e for n, (b, e) in zip(shape, widths, strict=True))
    place, t = L.room(s.out.name, s.out.type, full), s.out.type.element
    value = given.get("constant_values", 0)
    value = (
        constant(t.weak().type(value), t) if isinstance(value, int | float) else value
    )
    L.root(full, lambda w, at: w.store(place, at, cast(w, L.at(w, value, at), t)))
    L.root(
        shape,
        lambda w, at: w.store(
            place,
            tuple(p + b for p, (b, _) in zip(at, widths, strict=True)),
            L.at(w, a, at),
        ),
    )
    L.is_memory(s.out, place, full)


def _widths(L: Lowering, width: Any, rank: int) -> list[tuple[Linear, Linear]]:
    """Widths before and behind, for every axis."""

    def pair(p: Any) -> tuple[Linear, Linear]:
        if isinstance(p, tuple | list):
            return (L.length(p[0]), L.length(p[-1]))
        return (L.length(p), L.length(p))

    if isinstance(width, tuple | list) and isinstance(width[0], tuple | list):
        pairs = [pair(p) for p in width]
        return pairs * rank if len(pairs) == 1 else pairs
    return [pair(width)] * rank


@lowers(np.bincount)
def bincount(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    """How often each int comes, or the sum of the weights beside it."""
    x, weights = given["x"], given.get("weights")
    (n,) = L.shape(x)
    largest = L.cell("largest", INT, linear(-1))
    least = L.cell("least", INT, linear(0))

    def look(w: Scope, at: tuple[Linear, ...]) -> None:
        k = cast(w, L.at(w, x, at), INT)
        for cell, function in ((largest, max), (least, min)):
            held = w.load(cell, (), INT, cell.name)
            w.store(cell, (), w.let(row(function, 2), (held, k), INT, cell.name))

    L.root((n,), look)
    negative = "'list' argument must have no negative elements"
    found = [L.loaded(cell) for cell in (largest, least)]
    L.raise_if(operator.lt, found[1], linear(0), ValueError, negative)
    length = L.greatest(found[0] + 1, L.length(given.get("minlength", 0)))
    place, t = L.room(s.out.name, s.out.type, (length,)), s.out.type.element
    L.root((length,), lambda w, at: w.store(place, at, zero_of(s)))
    one = constant(t.weak().type(1), t)

    def add(w: Scope, at: tuple[Linear, ...]) -> None:
        k = cast(w, L.at(w, x, at), INT)
        weight = one if weights is None else cast(w, L.at(w, weights, at), t)
        w.store(place, (k,), weight, accumulate=True)

    L.root((n,), add)
    L.is_memory(s.out, place, (length,))
