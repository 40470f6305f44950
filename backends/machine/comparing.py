"""Comparing: orders, truth, extremes; ints and floats as the numbers that they are."""

from __future__ import annotations

import cmath
import math
import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from llvmlite import ir

from gradwright.backends.machine import elementary
from gradwright.backends.machine.floats import (
    copysign,
    fabs,
    is_finite,
    is_infinite,
    is_nan,
)
from gradwright.backends.machine.operations import (
    EXACT,
    OPERATIONS,
    Operation,
    Work,
    as_kind,
    as_python,
    check_domain,
    each,
    fitted,
    operation,
)
from gradwright.backends.machine.scalars import (
    BIT,
    DOUBLE,
    LEAST,
    MOST,
    WORD,
    Refused,
    Register,
    Scalar,
    convert,
    dtype_of,
    intrinsic,
    truth,
    truth_value,
    word,
)
from gradwright.transform.primitives.record import CLIP
from gradwright.transform.types import (
    FLOAT,
    INT,
    Type,
    numpy_scalar,
    promote,
)

# ---- comparisons -------------------------------------------------------------------


def order_of(w: Work, order: str, x: Scalar, y: Scalar) -> Register:
    """A comparison of two real numbers of one kind."""
    b, kind = w.b, dtype_of(x.type).kind
    if kind in "bu":
        return b.icmp_unsigned(order, x.part, y.part)
    if kind == "i":
        return b.icmp_signed(order, x.part, y.part)
    compare = b.fcmp_unordered if order == "!=" else b.fcmp_ordered
    return compare(order, x.part, y.part)


def compared(w: Work, order: str, x: Scalar, y: Scalar) -> Register:
    """A comparison as Python makes it, ints of any two kinds and floats exactly."""
    b = w.b
    kinds = [dtype_of(v.type).kind for v in (x, y)]
    if "c" in kinds:
        wide = promote(x.type, y.type)
        x, y = convert(b, x, wide), convert(b, y, wide)
        pairs = zip(x.parts, y.parts, strict=True)
        if order == "!=":
            p, q = (b.fcmp_unordered("!=", *pair) for pair in pairs)
            return b.or_(p, q)
        if order == "==":
            p, q = (b.fcmp_ordered("==", *pair) for pair in pairs)
            return b.and_(p, q)
        return _order_of_complex(w, order, x, y)
    if all(k in "biu" for k in kinds):
        return _order_of_ints(w, order, x, y)
    if kinds == ["f", "f"]:
        common = promote(x.type, y.type)
        return order_of(w, order, convert(b, x, common), convert(b, y, common))
    if x.type.python and y.type.python:
        if kinds[0] == "f":
            turned = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(order, order)
            return _int_to_float(w, turned, convert(b, y, INT), x)
        return _int_to_float(w, order, convert(b, x, INT), y)
    common = promote(x.type, y.type)
    return order_of(w, order, convert(b, x, common), convert(b, y, common))


def _order_of_complex(w: Work, order: str, x: Scalar, y: Scalar) -> Register:
    """NumPy's: by the real parts, and by the imaginary parts where these are equal."""
    b = w.b
    (xr, xi), (yr, yi) = x.parts, y.parts
    ahead = b.fcmp_ordered(order[0], xr, yr)
    ahead = b.and_(ahead, b.fcmp_ordered("ord", xi, yi))
    level = b.and_(b.fcmp_ordered("==", xr, yr), b.fcmp_ordered(order, xi, yi))
    return b.or_(ahead, level)


def _order_of_ints(w: Work, order: str, x: Scalar, y: Scalar) -> Register:
    b = w.b
    unsigned = [dtype_of(v.type) == np.uint64 for v in (x, y)]
    if all(unsigned):
        return b.icmp_unsigned(order, x.part, y.part)
    wide = numpy_scalar("int64")
    p, q = convert(b, x, wide).part, convert(b, y, wide).part
    found = b.icmp_signed(order, p, q)
    if any(unsigned):  # the one that is not below zero is the larger, or both are >= 0
        negative = b.icmp_signed("<", q if unsigned[0] else p, WORD(0))
        is_larger = order in ((">", ">=", "!=") if unsigned[0] else ("<", "<=", "!="))
        found = b.select(negative, BIT(is_larger), b.icmp_unsigned(order, p, q))
    return found


def _int_to_float(w: Work, order: str, i: Scalar, f: Scalar) -> Register:
    """A Python int compared with a Python float, as the numbers that they are."""
    b = w.b
    rounded = b.sitofp(i.part, DOUBLE)
    compare = b.fcmp_unordered if order == "!=" else b.fcmp_ordered
    found = compare(order, rounded, f.part)
    if i.low >= -EXACT and i.high <= EXACT:
        return found
    same = b.fcmp_ordered("==", rounded, f.part)
    whole = intrinsic(b, "llvm.fptosi.sat.i64.f64", WORD, f.part)
    is_past = b.fcmp_ordered("==", f.part, DOUBLE(2.0**63))
    exactly = b.icmp_signed(order, i.part, whole)
    exactly = b.select(is_past, BIT(order in ("<", "<=", "!=")), exactly)
    return b.select(same, exactly, found)


ORDERS: dict[Any, str] = {
    np.less: "<", np.less_equal: "<=", np.greater: ">", np.greater_equal: ">=",
    np.equal: "==", np.not_equal: "!=",
}  # fmt: skip


def _comparison(order: str) -> Operation:
    return lambda w, out, operands: truth_value(compared(w, order, *operands), out)


for _ufunc, _sign in ORDERS.items():
    OPERATIONS[_ufunc] = _comparison(_sign)


def is_same(w: Work, operands: tuple[Scalar, ...]) -> Register:
    """Whether one operand is the other, where one of them is None."""
    absent = [
        BIT(1) if x.type.dtype == "None" else x.absent or BIT(0) for x in operands
    ]
    if not any(x.type.dtype == "None" for x in operands):
        raise Refused("'is' between numbers", "==")
    return w.b.and_(*absent)


OPERATIONS[operator.is_] = lambda w, out, given: truth_value(is_same(w, given), out)
OPERATIONS[operator.is_not] = lambda w, out, given: truth_value(
    w.b.not_(is_same(w, given)), out
)


# ---- truth -------------------------------------------------------------------------


@operation(operator.not_, np.logical_not)
def not_true(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    """Whether Python takes it for false."""
    return truth_value(w.b.not_(truth(w.b, operands[0])), out)


@operation(bool, np.bool)
def as_truth(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    """Whether Python takes it for true."""
    return truth_value(truth(w.b, operands[0]), out)


def _logical(name: str) -> Operation:
    def made(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
        x, y = (truth(w.b, v) for v in operands)
        return truth_value(getattr(w.b, name)(x, y), out)

    return made


LOGICAL: list[tuple[Any, str]] = [
    (np.logical_and, "and_"), (np.logical_or, "or_"), (np.logical_xor, "xor"),
]  # fmt: skip
for _ufunc, _name in LOGICAL:
    OPERATIONS[_ufunc] = _logical(_name)


def _test_of_floats(test: Callable[..., Register], of_ints: int, every: bool) -> Any:
    """A question of each part, answered for the whole number."""

    def made(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
        (x,) = operands
        if dtype_of(x.type).kind in "biu":
            return truth_value(BIT(of_ints), out)
        bits = [test(w.b, p) for p in x.parts]
        found = bits[0]
        for bit in bits[1:]:
            found = (w.b.and_ if every else w.b.or_)(found, bit)
        return truth_value(found, out)

    return made


TESTS: list[tuple[tuple[Any, ...], Any, int, bool]] = [
    ((np.isnan, math.isnan, cmath.isnan), is_nan, 0, False),
    ((np.isinf, math.isinf, cmath.isinf), is_infinite, 0, False),
    ((np.isfinite, math.isfinite, cmath.isfinite), is_finite, 1, True),
    ((np.isposinf,), lambda b, x: b.fcmp_ordered("==", x, x.type(math.inf)), 0, True),
    ((np.isneginf,), lambda b, x: b.fcmp_ordered("==", x, x.type(-math.inf)), 0, True),
]
for _functions, _test, _of_ints, _every in TESTS:
    for _function in _functions:
        OPERATIONS[_function] = _test_of_floats(_test, _of_ints, _every)


# ---- absolute values, signs, extremes ----------------------------------------------


@operation(np.absolute)
def absolute(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    """The absolute value; that of the least int fails."""
    b = w.b
    (x,) = as_python(w, operands) if out.python else fitted(w, np.absolute, operands)
    if x.type == INT:
        if x.low >= 0:
            return x
        if x.low == LEAST:
            w.fail_if(b.icmp_signed("==", x.part, WORD(LEAST)))
        is_less = b.icmp_signed("<", x.part, WORD(0))
        found = b.select(is_less, b.neg(x.part), x.part)
        return word(found, 0, min(max(abs(x.low), abs(x.high)), MOST))
    kind = dtype_of(x.type).kind
    if kind == "c":
        part = elementary.call(b, "hypot", *x.parts)
        found = Scalar(FLOAT if out.python else numpy_scalar(out.dtype), (part,))
        if out.python:
            check_domain(w, (x,), found)
        return found
    if kind == "i":
        is_less = b.icmp_signed("<", x.part, x.part.type(0))
        return Scalar(x.type, (b.select(is_less, b.neg(x.part), x.part),))
    return x if kind in "bu" else each(w, x.type, fabs, x)


@operation(math.fabs, np.fabs)
def float_absolute(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    """The absolute value, as a float."""
    if out.python:
        return each(w, FLOAT, fabs, convert(w.b, operands[0], FLOAT))
    (x,) = fitted(w, np.fabs, operands)
    return each(w, x.type, fabs, x)


@operation(math.copysign, np.copysign)
def with_sign(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    """The first with the sign of the second."""
    if out.python:
        x, y = (convert(w.b, v, FLOAT) for v in operands)
    else:
        x, y = fitted(w, np.copysign, operands)
    return each(w, x.type, copysign, x, y)


@operation(np.sign)
def sign(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    """-1, 0 or 1; NaN of NaN."""
    b = w.b
    (x,) = fitted(w, np.sign, operands)
    part, one = x.part, x.part.type(1)
    kind = dtype_of(x.type).kind
    if kind == "c":
        raise Refused("np.sign of complex numbers")
    if kind == "f":
        above = b.fcmp_ordered(">", part, part.type(0.0))
        below = b.fcmp_ordered("<", part, part.type(0.0))
        level = b.select(is_nan(b, part), part, part.type(0.0))
        found = b.select(below, part.type(-1.0), b.select(above, one, level))
    elif kind == "u":
        zero = b.icmp_unsigned("==", part, part.type(0))
        found = b.select(zero, part, one)
    else:
        above = b.icmp_signed(">", part, part.type(0))
        below = b.icmp_signed("<", part, part.type(0))
        found = b.select(below, part.type(-1), b.select(above, one, part.type(0)))
    return Scalar(x.type, (found,))


@operation(np.signbit)
def sign_bit(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    """Whether the bit of the sign is set."""
    (x,) = fitted(w, np.signbit, operands)
    bits = ir.IntType(32 if x.part.type == ir.FloatType() else 64)
    found = w.b.icmp_signed("<", w.b.bitcast(x.part, bits), bits(0))
    return truth_value(found, out)


def choice(w: Work, out: Type, bit: Register, x: Scalar, y: Scalar) -> Scalar:
    """One of two numbers, as the kind of the result."""
    x, y = convert(w.b, x, out), convert(w.b, y, out)
    parts = zip(x.parts, y.parts, strict=True)
    found = tuple(w.b.select(bit, p, q) for p, q in parts)
    low, high = min(x.low, y.low), max(x.high, y.high)
    return Scalar(out, found, low, high)


@operation(max)
def larger(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    """Python's max of two."""
    x, y = operands
    return choice(w, out, compared(w, ">", y, x), y, x)


@operation(min)
def smaller(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    """Python's min of two."""
    x, y = operands
    return choice(w, out, compared(w, "<", y, x), y, x)


def _extreme(ufunc: np.ufunc, order: str, keeps_nan: bool) -> Operation:
    def made(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
        x, y = fitted(w, ufunc, operands)
        kind = dtype_of(x.type).kind
        before = _order_of_complex if kind == "c" else order_of
        first = before(w, f"{order}=", x, y)
        if kind in "fc":
            for part in (x if keeps_nan else y).parts:
                first = w.b.or_(first, is_nan(w.b, part))
        return choice(w, x.type, first, x, y)

    return made


EXTREMES: list[tuple[Any, str, bool]] = [
    (np.maximum, ">", True), (np.minimum, "<", True),
    (np.fmax, ">", False), (np.fmin, "<", False),
]  # fmt: skip
for _ufunc, _sign, _keeps in EXTREMES:
    OPERATIONS[_ufunc] = _extreme(_ufunc, _sign, _keeps)


@operation(CLIP)
def clip(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    """Held between two bounds."""
    x, low, high = fitted(w, CLIP, operands)
    held = OPERATIONS[np.maximum](w, x.type, (x, low))
    return OPERATIONS[np.minimum](w, x.type, (held, high))


@operation(np.heaviside)
def heaviside(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    """The step from 0 to 1."""
    b = w.b
    x, h = (v.part for v in fitted(w, np.heaviside, operands))
    step = b.select(b.fcmp_ordered("<", x, x.type(0.0)), x.type(0.0), x.type(1.0))
    step = b.select(b.fcmp_ordered("==", x, x.type(0.0)), h, step)
    return Scalar(out, (b.select(is_nan(b, x), x, step),))


@operation(np.where)
def where(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    """One of two numbers."""
    condition, x, y = operands
    element = replace(out, dims=None)
    x, y = (as_kind(w, v, element) for v in (x, y))
    return choice(w, element, truth(w.b, condition), x, y)
