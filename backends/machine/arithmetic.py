"""Arithmetic: sums, products, quotients and remainders, by the kinds of numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradwright.backends.machine import elementary
from gradwright.backends.machine.floats import (
    copysign,
    fabs,
    floor,
)
from gradwright.backends.machine.operations import (
    EXACT,
    OPERATIONS,
    Operation,
    Work,
    as_python,
    each,
    fitted,
    is_zero,
    operation,
    plain,
    python_kind,
)
from gradwright.backends.machine.scalars import (
    LEAST,
    MOST,
    WORD,
    Refused,
    Register,
    Scalar,
    convert,
    dtype_of,
    is_signed,
    number,
    word,
)
from gradwright.transform.types import (
    BOOL,
    FLOAT,
    INT,
    Type,
    promote,
)

# ---- sums, differences, products ---------------------------------------------------


def _bounded(
    w: Work, name: str, low: int, high: int, a: Register, c: Register
) -> Scalar:
    """A sum, difference or product of Python ints that lies between the bounds."""
    if low >= LEAST and high <= MOST:
        return word(getattr(w.b, name)(a, c, flags=["nsw"]), low, high)
    checked = getattr(w.b, f"s{name}_with_overflow")(a, c)
    w.fail_if(w.b.extract_value(checked, 1))
    return word(w.b.extract_value(checked, 0), max(low, LEAST), min(high, MOST))


def add_ints(w: Work, a: Scalar, c: Scalar) -> Scalar:
    """The sum of Python ints."""
    return _bounded(w, "add", a.low + c.low, a.high + c.high, a.part, c.part)


def subtract_ints(w: Work, a: Scalar, c: Scalar) -> Scalar:
    """The difference of Python ints."""
    return _bounded(w, "sub", a.low - c.high, a.high - c.low, a.part, c.part)


def multiply_ints(w: Work, a: Scalar, c: Scalar) -> Scalar:
    """The product of Python ints."""
    ends = [x * y for x in (a.low, a.high) for y in (c.low, c.high)]
    return _bounded(w, "mul", min(ends), max(ends), a.part, c.part)


def _sum_of(
    ufunc: np.ufunc, ints: Any, on_ints: str, on_floats: str, on_bools: str
) -> Operation:
    def made(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
        if out.python:
            a, c = as_python(w, operands)
            if a.type == INT:
                return ints(w, a, c)  # type: ignore[no-any-return]
        else:
            a, c = fitted(w, ufunc, operands)
        kind = dtype_of(a.type).kind
        if kind == "c" and ufunc is np.multiply:
            return complex_product(w, a, c)
        name = {"b": on_bools, "i": on_ints, "u": on_ints}.get(kind, on_floats)
        return each(w, a.type, plain(name), a, c)

    return made


OPERATIONS[np.add] = _sum_of(np.add, add_ints, "add", "fadd", "or_")
OPERATIONS[np.subtract] = _sum_of(np.subtract, subtract_ints, "sub", "fsub", "xor")
OPERATIONS[np.multiply] = _sum_of(np.multiply, multiply_ints, "mul", "fmul", "and_")


def complex_product(w: Work, x: Scalar, y: Scalar) -> Scalar:
    """The product of complex numbers, by its four terms."""
    b = w.b
    (xr, xi), (yr, yi) = x.parts, y.parts
    real = b.fsub(b.fmul(xr, yr), b.fmul(xi, yi))
    return Scalar(x.type, (real, b.fadd(b.fmul(xr, yi), b.fmul(xi, yr))))


@operation(np.negative)
def negative(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    """The negative; that of the least int fails."""
    (x,) = as_python(w, operands) if out.python else fitted(w, np.negative, operands)
    if x.type == INT:
        return subtract_ints(w, word(WORD(0), 0, 0), x)
    kind = dtype_of(x.type).kind
    if kind in "iu":
        return each(w, x.type, plain("neg"), x)
    return each(w, x.type, plain("fneg"), x)


@operation(np.positive)
def positive(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    """The number, as an int where it was a bool."""
    (x,) = as_python(w, operands) if out.python else fitted(w, np.positive, operands)
    return x


@operation(np.square)
def square(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    """The square."""
    (x,) = fitted(w, np.square, operands)
    return OPERATIONS[np.multiply](w, out, (x, x))


# ---- quotients and remainders ------------------------------------------------------


@operation(np.true_divide)
def divide(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    """The quotient; of Python's numbers by zero it fails."""
    if not out.python:
        x, y = fitted(w, np.true_divide, operands)
        if len(x.parts) == 2:
            return _numpy_quotient(w, x, y)
        return each(w, x.type, plain("fdiv"), x, y)
    if all(python_kind(x.type) in (BOOL, INT) for x in operands):
        for x in operands:  # a quotient of larger ints is not that of their doubles
            _must_be_exact(w, x)
    common = promote(*(python_kind(x.type) for x in operands), FLOAT)
    x, y = (convert(w.b, x, common) for x in operands)
    w.fail_if(is_zero(w.b, y))
    if len(x.parts) == 2:
        return _python_quotient(w, x, y)
    return each(w, FLOAT, plain("fdiv"), x, y)


def _must_be_exact(w: Work, x: Scalar) -> None:
    if x.low < -EXACT:
        w.fail_if(w.b.icmp_signed("<", x.part, WORD(-EXACT)))
    if x.high > EXACT:
        w.fail_if(w.b.icmp_signed(">", x.part, WORD(EXACT)))


def _python_quotient(w: Work, x: Scalar, y: Scalar) -> Scalar:
    """Smith's method, as CPython has it."""
    b = w.b
    (xr, xi), (yr, yi) = x.parts, y.parts
    is_steep = b.fcmp_ordered("<", fabs(b, yr), fabs(b, yi))
    long, short = b.select(is_steep, yi, yr), b.select(is_steep, yr, yi)
    ratio = b.fdiv(short, long)
    below = b.fadd(b.fmul(short, ratio), long)
    flat = (
        b.fadd(xr, b.fmul(xi, ratio)),
        b.fsub(xi, b.fmul(xr, ratio)),
    )
    steep = (
        b.fadd(b.fmul(xr, ratio), xi),
        b.fsub(b.fmul(xi, ratio), xr),
    )
    nan = x.parts[0].type(math.nan)
    unordered = b.fcmp_unordered("uno", yr, yi)
    parts = (
        b.fdiv(b.select(is_steep, s, f), below)
        for s, f in zip(steep, flat, strict=True)
    )
    return Scalar(x.type, tuple(b.select(unordered, nan, p) for p in parts))


def _numpy_quotient(w: Work, x: Scalar, y: Scalar) -> Scalar:
    """Smith's method, as NumPy has it: by a reciprocal, and infinite at zero."""
    b = w.b
    (xr, xi), (yr, yi) = x.parts, y.parts
    one = xr.type(1.0)
    is_flat = b.fcmp_ordered(">=", fabs(b, yr), fabs(b, yi))
    long, short = b.select(is_flat, yr, yi), b.select(is_flat, yi, yr)
    ratio = b.fdiv(short, long)
    scale = b.fdiv(one, b.fadd(long, b.fmul(short, ratio)))
    flat = (
        b.fmul(b.fadd(xr, b.fmul(xi, ratio)), scale),
        b.fmul(b.fsub(xi, b.fmul(xr, ratio)), scale),
    )
    steep = (
        b.fmul(b.fadd(b.fmul(xr, ratio), xi), scale),
        b.fmul(b.fsub(b.fmul(xi, ratio), xr), scale),
    )
    at_zero = is_zero(b, y)
    size = fabs(b, yr)
    found = []
    for part, f, s in zip(x.parts, flat, steep, strict=True):
        found.append(b.select(at_zero, b.fdiv(part, size), b.select(is_flat, f, s)))
    return Scalar(x.type, tuple(found))


@operation(np.reciprocal)
def reciprocal(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    """One divided by the number."""
    (x,) = fitted(w, np.reciprocal, operands)
    one = number(1, x.type)
    if dtype_of(x.type).kind in "iu":
        quotient, _ = _whole_quotient(w, one, x)
        return quotient
    if len(x.parts) == 2:
        return _numpy_quotient(w, one, x)
    return each(w, x.type, plain("fdiv"), one, x)


def _whole_quotient(w: Work, x: Scalar, y: Scalar) -> tuple[Scalar, Scalar]:
    """Quotient and remainder of ints, rounded down; of zero, zero as NumPy has it."""
    b, t = w.b, x.type
    a, c = x.part, y.part
    zero, one = a.type(0), a.type(1)
    is_zero = b.icmp_signed("==", c, zero)
    if not is_signed(dtype_of(t)):
        by = b.select(is_zero, one, c)
        parts = b.udiv(a, by), b.urem(a, by)
    else:
        least = a.type(-(2 ** (a.type.width - 1)))
        is_over = b.and_(
            b.icmp_signed("==", a, least), b.icmp_signed("==", c, a.type(-1))
        )
        by = b.select(b.or_(is_zero, is_over), one, c)
        q, r = b.sdiv(a, by), b.srem(a, by)
        is_off = b.and_(
            b.icmp_signed("!=", r, zero), b.icmp_signed("<", b.xor(r, by), zero)
        )
        parts = (
            b.select(is_off, b.sub(q, one), q),
            b.select(is_off, b.add(r, by), r),
        )
    quotient, rest = (Scalar(t, (b.select(is_zero, zero, p),)) for p in parts)
    return quotient, rest


def _python_whole_quotient(w: Work, x: Scalar, y: Scalar, which: int) -> Scalar:
    """Quotient or remainder of Python's ints, with its bounds."""
    b = w.b
    if y.low <= 0 <= y.high:
        w.fail_if(b.icmp_signed("==", y.part, WORD(0)))
    if which == 0 and x.low == LEAST and y.low <= -1 <= y.high:
        is_least = b.icmp_signed("==", x.part, WORD(LEAST))
        w.fail_if(b.and_(is_least, b.icmp_signed("==", y.part, WORD(-1))))
    found = _whole_quotient(w, x, y)[which].part
    if which == 1:
        return word(found, 0 if y.low > 0 else y.low, 0 if y.high < 0 else y.high)
    if y.low <= 0:
        return word(found)
    ends = [p // d for p in (x.low, x.high) for d in (y.low, y.high)]
    return word(found, min(ends), max(ends))


def _float_quotient(
    w: Work, x: Scalar, y: Scalar, never_zero: bool
) -> tuple[Scalar, Scalar]:
    """Quotient and remainder of floats, rounded down.

    Source: float_divmod of CPython; npy_divmod of NumPy, which divides by zero.
    """
    b, t = w.b, x.type
    a, c = x.part, y.part
    zero, one, half = (a.type(v) for v in (0.0, 1.0, 0.5))
    mod = elementary.call(b, "fmod", a, c)
    div = b.fdiv(b.fsub(a, mod), c)
    has_rest = b.fcmp_unordered("!=", mod, zero)
    unlike = b.xor(b.fcmp_ordered("<", c, zero), b.fcmp_ordered("<", mod, zero))
    is_off = b.and_(has_rest, unlike)
    div = b.select(is_off, b.fsub(div, one), div)
    rest = b.select(is_off, b.fadd(mod, c), mod)
    rest = b.select(has_rest, rest, copysign(b, zero, c))
    down = floor(b, div)
    is_short = b.fcmp_ordered(">", b.fsub(div, down), half)
    down = b.select(is_short, b.fadd(down, one), down)
    ratio = b.fdiv(a, c)
    is_some = b.fcmp_unordered("!=", div, zero)
    whole = b.select(is_some, down, copysign(b, zero, ratio))
    if not never_zero:
        is_zero = b.fcmp_ordered("==", c, zero)
        whole = b.select(is_zero, ratio, whole)
        rest = b.select(is_zero, mod, rest)
    return Scalar(t, (whole,)), Scalar(t, (rest,))


def _quotient_and_rest(ufunc: Any, which: int) -> Operation:
    def made(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
        if out.python:
            x, y = as_python(w, operands)
            if x.type == INT:
                return _python_whole_quotient(w, x, y, which)
            w.fail_if(w.b.fcmp_ordered("==", y.part, y.part.type(0.0)))
        else:
            x, y = fitted(w, ufunc, operands)
        kind = dtype_of(x.type).kind
        if kind in "iu":
            return _whole_quotient(w, x, y)[which]
        if kind != "f":
            raise Refused(f"{ufunc.__name__} of {x.type}")
        return _float_quotient(w, x, y, out.python)[which]

    return made


OPERATIONS[np.floor_divide] = _quotient_and_rest(np.floor_divide, 0)
OPERATIONS[np.remainder] = _quotient_and_rest(np.remainder, 1)


@operation(np.fmod)
def fmod(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    """The remainder with the sign of the first."""
    x, y = fitted(w, np.fmod, operands)
    b = w.b
    if dtype_of(x.type).kind == "f":
        return Scalar(x.type, (elementary.call(b, "fmod", x.part, y.part),))
    zero, one = x.part.type(0), x.part.type(1)
    is_zero = b.icmp_signed("==", y.part, zero)
    is_minus = b.icmp_signed("==", y.part, x.part.type(-1))
    if not is_signed(dtype_of(x.type)):
        rest = b.urem(x.part, b.select(is_zero, one, y.part))
    else:
        rest = b.srem(x.part, b.select(b.or_(is_zero, is_minus), one, y.part))
    return Scalar(x.type, (b.select(is_zero, zero, rest),))
