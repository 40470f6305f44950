"""Arrays of numbers that are known by their place, while they are lowered."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from gradwright.transform.build import row
from gradwright.transform.core import Const, Let, Operand, type_of
from gradwright.transform.indices import Linear, linear
from gradwright.transform.lowering.arrays import cast, lowers, spread
from gradwright.transform.lowering.nests import Places, Scope
from gradwright.transform.lowering.program import Lowering, Shape
from gradwright.transform.lowering.reductions import constant
from gradwright.transform.lowering.regions import steps_between
from gradwright.transform.lowering.views import plus, times
from gradwright.transform.types import BOOL, COMPLEX, FLOAT, Type, numpy_scalar, promote

NUMPY_BOOL = numpy_scalar(bool)


def _shape(L: Lowering, wanted: Any) -> Shape:
    wanted = wanted if isinstance(wanted, tuple | list) else (wanted,)
    return tuple(
        L.length(n) if isinstance(n, int | Linear) else L.let(int, n) for n in wanted
    )


def filled(L: Lowering, s: Let, value: Any, shape: Shape) -> None:
    """An array of one number."""
    spread(L, s.out, value, L.settled_shape(s.out, shape))


def _number(s: Let, value: int) -> Const:
    t = s.out.type.element
    return constant(np.dtype(t.dtype).type(value), t)


@lowers(np.zeros)
def zeros(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    filled(L, s, _number(s, 0), _shape(L, given["shape"]))


@lowers(np.ones)
def ones(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    filled(L, s, _number(s, 1), _shape(L, given["shape"]))


@lowers(np.full)
def full(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    filled(L, s, given["fill_value"], _shape(L, given["shape"]))


@lowers(np.zeros_like)
def zeros_like(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    filled(L, s, _number(s, 0), L.shape(s.operands[0]))


@lowers(np.ones_like)
def ones_like(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    filled(L, s, _number(s, 1), L.shape(s.operands[0]))


@lowers(np.full_like)
def full_like(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    filled(L, s, given["fill_value"], L.shape(s.operands[0]))


@lowers(np.eye)
def eye(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    n = L.length(given["N"])
    m = n if given.get("M") is None else L.length(given["M"])
    diagonal(L, s, (n, m), given.get("k", 0))


@lowers(np.identity)
def identity(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    n = L.length(given["n"])
    diagonal(L, s, (n, n), 0)


def diagonal(L: Lowering, s: Let, shape: Shape, k: Any) -> None:
    """Ones on a diagonal."""
    t = s.out.type.element

    def at(w: Scope, places: Places) -> Operand:
        i, j = places
        held = w.let(row(operator.eq, 2), (_plus(i, k), j), BOOL, "is_there")
        return cast(w, held, t)

    L.is_computed(s.out, L.settled_shape(s.out, shape), at, (), cheap=True)


def _plus(i: Operand, k: Any) -> Operand:
    assert isinstance(i, Linear)
    return i + (k if isinstance(k, Linear) else linear(int(k)))


@lowers(np.arange)
def arange(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    """The element at i is start + i * step, step as NumPy rounds it."""
    start, stop, step = (given.get(n) for n in ("start", "stop", "step"))
    if stop is None:
        start, stop = linear(0), start
    t = s.out.type.element
    step = linear(1) if step is None else step
    ints = [
        o if isinstance(o, Linear) else None for o in map(_form, (start, stop, step))
    ]
    if not t.is_inexact and all(o is not None for o in ints):
        a, b, c = (L.form(o) for o in ints if o is not None)
        if c.constant:
            distance = b - a if c.constant > 0 else a - b
            count = _steps(L, distance, abs(c.constant))
        else:
            L.raise_if(operator.eq, c, linear(0), ZeroDivisionError, "division by zero")
            is_up = L.let(operator.gt, c, linear(0), type=BOOL)
            count = steps_between(L, a, b, c, is_up)

        def at(w: Scope, places: Places) -> Operand:
            return cast(w, plus(w, a, times(w, places[0], c)), t)

        L.is_computed(s.out, L.settled_shape(s.out, (count,)), at, (), cheap=True)
        return
    numbers = [L.as_float(o) for o in (start, stop, step)]
    span = L.let(operator.sub, numbers[1], numbers[0], type=FLOAT)
    ratio = L.let(operator.truediv, span, numbers[2], type=FLOAT)
    count = L.greatest(L.let(math.ceil, ratio), linear(0))
    first = numbers[0]
    kind = _kind_of_sum(start, step)  # NumPy adds the two as they are given
    terms = (L.as_number(o, kind) for o in (start, step))
    second = L.as_float(L.let(operator.add, *terms, type=kind))
    width = L.let(operator.sub, second, first, type=FLOAT)

    def at_float(w: Scope, places: Places) -> Operand:
        along = w.let(row(operator.mul, 2), (places[0], width), FLOAT, "along")
        return cast(w, w.let(row(operator.add, 2), (first, along), FLOAT, "x"), t)

    L.is_computed(s.out, L.settled_shape(s.out, (count,)), at_float, (), cheap=True)


def _kind_of_sum(a: Any, b: Any) -> Type:
    """Of two numbers: a float or a half where neither is a double of NumPy's."""
    common = promote(*(type_of(o) for o in (a, b)))
    return common if common.dtype in ("float16", "float32") else FLOAT


def _form(o: Any) -> Any:
    return linear(o) if isinstance(o, int) and not isinstance(o, bool) else o


def _steps(L: Lowering, distance: Linear, step: int) -> Linear:
    if step > 1:
        distance = L.let(operator.floordiv, distance + (step - 1), linear(step))
    return L.greatest(distance, linear(0))


@lowers(np.linspace)
def linspace(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    """The element at i is i * step + start, and the last one the end itself."""
    start, stop = given["start"], given["stop"]
    count = L.length(given.get("num", 50))
    ends = given.get("endpoint", True)
    t = s.out.type.element
    work = FLOAT if not t.is_complex else COMPLEX
    parts = L.greatest(count - 1, linear(1)) if ends else L.greatest(count, linear(1))

    def point(w: Scope, i: Operand, a: Operand, b: Operand, step: Operand) -> Operand:
        along = w.let(row(operator.mul, 2), (i, step), work, "along")
        x = cast(w, w.let(row(operator.add, 2), (along, a), work, "x"), t)
        if not ends:
            return x
        is_last = w.let(row(operator.eq, 2), (i, count - 1), BOOL, "is_last")
        many = w.let(row(operator.gt, 2), (count, linear(1)), BOOL, "are_many")
        both = w.let(row(np.logical_and, 2), (is_last, many), NUMPY_BOOL, "ends")
        return w.let(row(np.where, 3), (both, cast(w, b, t), x), t, "x")

    if L.shape(start) or L.shape(stop):
        _of_arrays(L, s, given, count, parts, work, point)
        return
    a, b = (L.as_number(o, work) for o in (start, stop))
    delta = L.let(operator.sub, b, a, type=work)
    step = L.let(operator.truediv, delta, parts, type=work)

    def at(w: Scope, places: Places) -> Operand:
        return point(w, places[0], a, b, step)

    L.is_computed(s.out, L.settled_shape(s.out, (count,)), at, (), cheap=True)


def _of_arrays(
    L: Lowering,
    s: Let,
    given: dict[str, Any],
    count: Linear,
    parts: Linear,
    work: Type,
    point: Callable[[Scope, Operand, Operand, Operand, Operand], Operand],
) -> None:
    """Points between the elements of arrays, along an axis of their own."""
    ends = given["start"], given["stop"]
    shape = L.together([L.shape(o) for o in ends])
    axis = given.get("axis", 0) % (len(shape) + 1)
    held = [L.stretched(o, shape) for o in ends]

    def at(w: Scope, places: Places) -> Operand:
        own = (*places[:axis], *places[axis + 1 :])
        a, b = (cast(w, h(w, own), work) for h in held)
        delta = w.let(row(operator.sub, 2), (b, a), work, "delta")
        step = w.let(row(operator.truediv, 2), (delta, parts), work, "step")
        return point(w, places[axis], a, b, step)

    whole = (*shape[:axis], count, *shape[axis:])
    L.is_computed(s.out, L.settled_shape(s.out, whole), at, ends)
