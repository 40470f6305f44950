"""Reductions while they are lowered: over all elements, over rows, over columns.

    s = np.sum(x)               s = 0.0; for i: for j: s += x[i, j]
    y = np.sum(x, axis=1)       for i: total = 0.0; for j: total += x[i, j] ...
    y = np.sum(x, axis=0)       y[...] = 0.0; for i: for j: y[j] += x[i, j]

Sums run along memory, and may be made in any order, as NumPy's own are.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradwright.transform.build import row
from gradwright.transform.core import (
    Alloc,
    Cell,
    Const,
    If,
    Let,
    Operand,
    Raise,
    Store,
    Value,
    type_of,
)
from gradwright.transform.indices import Linear, linear
from gradwright.transform.lowering.arrays import (
    Rule,
    cast,
    lowers,
    moved,
    spread,
    truth,
)
from gradwright.transform.lowering.cells import summed_where_number
from gradwright.transform.lowering.nests import Places, Scope
from gradwright.transform.lowering.program import Lowering, Shape
from gradwright.transform.primitives.structural import SUM_TO
from gradwright.transform.types import BOOL, TEXT, Type, numpy_scalar

Element = Callable[[Scope, Places], Operand]


@dataclass(frozen=True)
class Fold:
    """How elements are put together: what it starts from, and the next step.

    A sum has no step: it is added to, in any order.
    """

    start: Callable[[Type], Any]
    step: Any = None


SUM = Fold(lambda t: t.weak().type(0))
PRODUCT = Fold(lambda t: t.weak().type(1), operator.mul)


def axes_of(given: dict[str, Any], rank: int) -> tuple[int, ...]:
    """The axes that a reduction goes over, counted from the first."""
    axis = given.get("axis")
    if axis is None:
        return tuple(range(rank))
    axes = axis if isinstance(axis, tuple) else (axis,)
    return tuple(sorted(k % rank for k in axes))


def kept_shape(shape: Shape, axes: tuple[int, ...], keepdims: bool) -> Shape:
    """The shape of a reduction's result."""
    if keepdims:
        return tuple(linear(1) if k in axes else n for k, n in enumerate(shape))
    return tuple(n for k, n in enumerate(shape) if k not in axes)


def constant(value: Any, type: Type) -> Const:
    """A number of some kind as an operand."""
    return Const(value.item() if isinstance(value, np.generic) else value, type)


def fold(
    L: Lowering,
    out: Value,
    shape: Shape,
    axes: tuple[int, ...],
    keepdims: bool,
    element: Element,
    reads: tuple[Any, ...],
    how: Fold,
    finish: Callable[[Scope, Operand], Operand] = lambda w, x: x,
) -> None:
    """Put elements together over axes of a shape."""
    t = _wide(out.type.element)
    kept = [k for k in range(len(shape)) if k not in axes]

    def finished(w: Scope, x: Operand) -> Operand:
        return cast(w, finish(w, x), out.type.element)

    if not kept and not (keepdims and shape):
        acc = L.cell(out.name, t, Const(how.start(t), t))
        L.root(shape, lambda w, at: add(w, acc, (), cast(w, element(w, at), t), how))
        w = Scope()
        total = finished(w, w.load(acc, (), t, out.name))
        if out.type.is_array:
            L.is_number(out, w, total)
        else:
            L.number(out, w, total)
        return
    full = kept_shape(shape, axes, keepdims)
    if kept and kept[-1] == len(shape) - 1:  # along memory: over rows first
        _over_rows(L, out, shape, axes, full, element, reads, how, finished)
        return

    def at(w: Scope, places: Places) -> Operand:
        own = [p for k, p in enumerate(places) if not (keepdims and k in axes)]
        acc = Cell(out.name, t)
        w.add(Alloc(acc))
        w.add(Store(acc, Const(how.start(t), t)))

        def body(inner: Scope, over: tuple[Linear, ...]) -> None:
            along, across = iter(own), iter(over)
            place = tuple(
                next(across) if k in axes else next(along) for k in range(len(shape))
            )
            add(inner, acc, (), cast(inner, element(inner, place), t), how)

        w.loop(tuple(shape[k] for k in axes), body)
        return finished(w, w.load(acc, (), t, out.name))

    L.is_computed(out, L.settled_shape(out, full), at, reads)
    L.keep(out)


def _over_rows(
    L: Lowering,
    out: Value,
    shape: Shape,
    axes: tuple[int, ...],
    full: Shape,
    element: Element,
    reads: tuple[Any, ...],
    how: Fold,
    finished: Callable[[Scope, Operand], Operand],
) -> None:
    t = out.type.element
    keepdims = len(full) == len(shape)
    place = L.room(out.name, out.type, full)
    L.root(full, lambda w, at: w.store(place, at, constant(how.start(t), t)))

    def write(w: Scope, at: tuple[Linear, ...]) -> None:
        own = tuple(
            linear(0) if k in axes else p
            for k, p in enumerate(at)
            if keepdims or k not in axes
        )
        add(w, place, own, cast(w, element(w, at), t), how)

    L.root(shape, write)
    w = Scope()
    probe = Value("x", t)
    if finished(w, probe) is not probe:
        L.root(
            full,
            lambda w, at: w.store(
                place, at, finished(w, w.load(place, at, t, out.name))
            ),
        )
    L.is_memory(out, place, full)


def _wide(t: Type) -> Type:
    """In what a sum is made: as NumPy's pairwise sums lose less than one by one."""
    wider = {"float32": "float64", "float16": "float64", "complex64": "complex128"}
    return numpy_scalar(wider.get(t.dtype, t.dtype))


def add(w: Scope, place: Any, at: Places, x: Operand, how: Fold) -> None:
    """One more element."""
    if how.step is None:
        w.store(place, at, x, accumulate=True, unordered=True)
        return
    t = place.type.element
    before = w.load(place, at, t, place.name)
    found = (
        how.step(w, before, x, t)
        if not isinstance(how.step, type(operator.mul))
        else w.let(row(how.step, 2), (before, x), t, place.name)
    )
    w.store(place, at, found)


def in_floats(rule: Rule) -> Rule:
    """The rule of a row that NumPy computes of halves as floats, and rounds."""

    def made(L: Lowering, s: Let, given: dict[str, Any]) -> None:
        if s.out.type.dtype != "float16":
            rule(L, s, given)
            return
        wide = _as_float(L, s.out)
        operands = tuple(_widened(L, o) for o in s.operands)
        rule(L, replace(s, out=wide, operands=operands), given)
        spread(L, s.out, wide, L.shape(wide))

    return made


def _widened(L: Lowering, o: Any) -> Any:
    """An operand of floats, if it is an array."""
    if not type_of(o).is_array:
        return o
    wide = _as_float(L, o)
    spread(L, wide, o, L.shape(o))
    return wide


def _as_float(L: Lowering, v: Any) -> Value:
    """Another value of floats, which is used once."""
    wide = Value(v.name, replace(v.type, dtype="float32"))
    L.uses[wide] = 1
    return wide


def simple(
    L: Lowering,
    s: Let,
    given: dict[str, Any],
    how: Fold,
    finish: Callable[[Scope, Operand], Operand] = lambda w, x: x,
) -> None:
    """A reduction of the first argument over axes."""
    (x,) = s.operands[:1]
    shape = L.shape(x)
    axes = axes_of(given, len(shape))
    keepdims = bool(given.get("keepdims", False))
    fold(L, s.out, shape, axes, keepdims, _element(L, x), (x,), how, finish)


def _element(L: Lowering, x: Any) -> Element:
    return lambda w, at: L.at(w, x, at)


@lowers(np.sum)
def total(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    simple(L, s, given, SUM)


@lowers(np.prod)
def product(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    simple(L, s, given, PRODUCT)


@lowers(np.mean)
@in_floats
def mean(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    shape = L.shape(s.operands[0])
    count = L.product(tuple(shape[k] for k in axes_of(given, len(shape))))
    t = _wide(s.out.type.element)

    def finish(w: Scope, x: Operand) -> Operand:
        return w.let(row(operator.truediv, 2), (x, count), t, "mean")

    simple(L, s, given, SUM, finish)


@lowers(np.any)
def some(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    _of_truths(L, s, given, np.False_, np.logical_or)


@lowers(np.all)
def every(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    _of_truths(L, s, given, np.True_, np.logical_and)


def _of_truths(
    L: Lowering, s: Let, given: dict[str, Any], start: np.bool, ufunc: Any
) -> None:
    """A reduction of what each element is as a truth."""
    (x,) = s.operands
    shape = L.shape(x)
    axes, keepdims = axes_of(given, len(shape)), bool(given.get("keepdims", False))
    how = Fold(
        lambda t: start, lambda w, a, b, t: w.let(row(ufunc, 2), (a, b), t, "held")
    )

    def held(w: Scope, at: Places) -> Operand:
        return truth(w, L.at(w, x, at))

    fold(L, s.out, shape, axes, keepdims, held, (x,), how)


@lowers(np.count_nonzero)
def count_nonzero(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    """The sum of what each element is as a truth."""
    (x,) = s.operands
    shape = L.shape(x)

    def held(w: Scope, at: Places) -> Operand:
        return truth(w, L.at(w, x, at))

    axes, keepdims = axes_of(given, len(shape)), bool(given.get("keepdims", False))
    fold(L, s.out, shape, axes, keepdims, held, (x,), SUM)


@lowers(np.max, np.amax)
def largest(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    _refuse_nothing(L, s, given, "maximum")
    simple(L, s, given, Fold(_least, _extreme(np.maximum)))


@lowers(np.min, np.amin)
def smallest(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    _refuse_nothing(L, s, given, "minimum")
    simple(L, s, given, Fold(_greatest, _extreme(np.minimum)))


def _refuse_nothing(L: Lowering, s: Let, given: dict[str, Any], name: str) -> None:
    """NumPy's error where an extreme is taken of no elements."""
    shape = L.shape(s.operands[0])
    axes = axes_of(given, len(shape))
    text = f"zero-size array to reduction operation {name} which has no identity"
    for n in (shape[k] for k in axes):
        if L.forms.is_natural(n - 1) or L.assume_natural(n - 1):
            continue
        is_empty = L.let(operator.eq, n, linear(0), type=BOOL)
        L.add(If(is_empty, [Raise(ValueError, (Const(text, TEXT),))], []))


def _extreme(ufunc: Any) -> Any:
    return lambda w, a, b, t: w.let(row(ufunc, 2), (a, b), t, "extreme")


def _least(t: Type) -> Any:
    d = np.dtype(t.dtype)
    if d.kind == "b":
        return np.False_
    if d.kind == "c":
        return d.type(complex(-math.inf, -math.inf))
    return d.type(np.iinfo(d).min) if d.kind in "iu" else d.type(-math.inf)


def _greatest(t: Type) -> Any:
    d = np.dtype(t.dtype)
    if d.kind == "b":
        return np.True_
    if d.kind == "c":
        return d.type(complex(math.inf, math.inf))
    return d.type(np.iinfo(d).max) if d.kind in "iu" else d.type(math.inf)


@lowers(SUM_TO)
def sum_to(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    """A cotangent summed over the axes along which its primal was stretched."""
    x, *like = given["operands"]
    if like:
        summed_where_number(L, s.out, x, like[0])
        return
    lead, kept = s.attribute
    shape = L.shape(x)
    axes = (*range(lead), *(lead + k for k in kept))
    if not kept:
        fold(L, s.out, shape, axes, False, _element(L, x), (x,), SUM)
        return
    out = Value(s.out.name, s.out.type)
    full = tuple(linear(1) if k in axes else n for k, n in enumerate(shape))
    out.type = replace(s.out.type, dims=full)
    L.uses[out] = 1
    fold(L, out, shape, axes, True, _element(L, x), (x,), SUM)
    moved(
        L,
        s.out,
        out,
        lambda w, at: (*(linear(0) for _ in range(lead)), *at),
        full[lead:],
    )
