"""Operations: what each row of the table is on scalars, by the kinds of its operands.

    operator.add of ints       llvm.sadd.with.overflow, and OverflowError
    np.add of int64            add
    operator.truediv of float  fcmp oeq %b, 0.0, and ZeroDivisionError; fdiv

Python's numbers raise where Python raises, NumPy's never do.  An operation only says
*that* it fails: the driver then calls the row's own callable on the operands, which
raises what Python raises, word by word.  A row whose column `scalar` names a function
of C, or gives a formula over other rows, needs nothing here.
"""

from __future__ import annotations

import cmath
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from llvmlite import ir

from gradwright.backends.machine import elementary
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
    is_signed,
    number,
    truth,
    truth_value,
    word,
)
from gradwright.transform.primitives.record import CLIP, UFUNCS, Primitive
from gradwright.transform.primitives.structural import (
    CAST,
    CONJUGATE,
    NAMED,
    STOPPED,
)
from gradwright.transform.types import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    Type,
    numpy_scalar,
    promote,
)

EXACT = 2**53  # up to here every int is a double


@dataclass
class Work:
    """Where an operation is written: the builder, and what it needs of its place.

    fail_if: leaves the kernel where a bit is set.  formula: the result of a formula on
    operands; what fails in it fails here.
    """

    b: Any
    fail_if: Callable[[Register], None]
    formula: Callable[[Callable[..., Any], tuple[Scalar, ...]], Scalar]


Operation = Callable[[Work, Type, tuple[Scalar, ...]], Scalar]
OPERATIONS: dict[Any, Operation] = {}


def operation(*functions: Any) -> Callable[[Operation], Operation]:
    """Enter an operation for callables of the table."""

    def enter(made: Operation) -> Operation:
        for f in functions:
            OPERATIONS[f] = made
        return made

    return enter


def find(p: Primitive) -> Operation | None:
    """The operation of a row's callable; None where there is none."""
    function = p if p.kind == "structural" or p is STOPPED else p.function
    try:
        found = OPERATIONS.get(function)
    except TypeError:
        return None
    if found is None and p.scalar is not None:
        return _of_c(p) if isinstance(p.scalar, str) else _of_formula(p)
    return found


# ---- which numbers an operation computes with --------------------------------------


def loop(ufunc: np.ufunc, operands: tuple[Scalar, ...]) -> tuple[Type, ...]:
    """The kinds with which NumPy computes: of the operands, then of the result."""
    weak = [
        np.dtype(bool) if x.type.python and x.type.dtype == "bool" else x.type.weak()
        for x in operands
    ]
    found = ufunc.resolve_dtypes((*weak, *[None] * ufunc.nout))
    return tuple(numpy_scalar(d) for d in found)


def fitted(w: Work, ufunc: np.ufunc, operands: tuple[Scalar, ...]) -> list[Scalar]:
    """The operands as a ufunc computes with them."""
    kinds = loop(ufunc, operands)
    return [as_kind(w, x, t) for x, t in zip(operands, kinds, strict=False)]


def as_kind(w: Work, x: Scalar, t: Type) -> Scalar:
    """An operand as a kind of NumPy's; a Python int must fit into it."""
    target = dtype_of(t)
    if x.type == INT and target.kind in "iu":
        info = np.iinfo(target)
        if x.low < info.min:
            w.fail_if(w.b.icmp_signed("<", x.part, WORD(max(int(info.min), LEAST))))
        if x.high > info.max:
            w.fail_if(w.b.icmp_signed(">", x.part, WORD(int(info.max))))
    return convert(w.b, x, t)


def _python(w: Work, operands: tuple[Scalar, ...]) -> list[Scalar]:
    """Python's operands as one kind of Python's; bools count as ints."""
    kinds = [_as_python(x.type) for x in operands]
    common = promote(*kinds)
    common = INT if common == BOOL else common
    return [convert(w.b, x, common) for x in operands]


def _as_python(t: Type) -> Type:
    """np.float64 and np.complex128 are floats and complex numbers of Python's, too."""
    if t.python:
        return t
    return {"b": BOOL, "i": INT, "u": INT, "f": FLOAT, "c": COMPLEX}[dtype_of(t).kind]


# ---- parts -------------------------------------------------------------------------


def _real(name: str) -> Callable[..., Register]:
    return lambda b, *parts: getattr(b, name)(*parts)


def _each(w: Work, t: Type, f: Callable[..., Register], *operands: Scalar) -> Scalar:
    """An operation done on each part alone."""
    columns = zip(*(x.parts for x in operands), strict=True)
    return Scalar(t, tuple(f(w.b, *parts) for parts in columns))


def _floats(name: str) -> Callable[[Any, Register], Register]:
    """An intrinsic of LLVM on floats."""

    def made(b: Any, *parts: Register) -> Register:
        kind = "f32" if parts[0].type == ir.FloatType() else "f64"
        return intrinsic(b, f"llvm.{name}.{kind}", parts[0].type, *parts)

    return made


fabs, floor, ceil, trunc, rint, sqrt, copysign = map(
    _floats, ["fabs", "floor", "ceil", "trunc", "roundeven", "sqrt", "copysign"]
)


def is_nan(b: Any, x: Register) -> Register:
    return b.fcmp_unordered("uno", x, x)


def is_infinite(b: Any, x: Register) -> Register:
    return b.fcmp_ordered("==", fabs(b, x), x.type(math.inf))


def is_finite(b: Any, x: Register) -> Register:
    return b.fcmp_ordered("<", fabs(b, x), x.type(math.inf))


def _is_zero(b: Any, x: Scalar) -> Register:
    return b.not_(truth(b, x))


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
    return _bounded(w, "add", a.low + c.low, a.high + c.high, a.part, c.part)


def subtract_ints(w: Work, a: Scalar, c: Scalar) -> Scalar:
    return _bounded(w, "sub", a.low - c.high, a.high - c.low, a.part, c.part)


def multiply_ints(w: Work, a: Scalar, c: Scalar) -> Scalar:
    ends = [x * y for x in (a.low, a.high) for y in (c.low, c.high)]
    return _bounded(w, "mul", min(ends), max(ends), a.part, c.part)


def _sum_of(
    ufunc: np.ufunc, ints: Any, on_ints: str, on_floats: str, on_bools: str
) -> Operation:
    def made(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
        if out.python:
            a, c = _python(w, operands)
            if a.type == INT:
                return ints(w, a, c)  # type: ignore[no-any-return]
        else:
            a, c = fitted(w, ufunc, operands)
        kind = dtype_of(a.type).kind
        if kind == "c" and ufunc is np.multiply:
            return _complex_product(w, a, c)
        name = {"b": on_bools, "i": on_ints, "u": on_ints}.get(kind, on_floats)
        return _each(w, a.type, _real(name), a, c)

    return made


OPERATIONS[np.add] = _sum_of(np.add, add_ints, "add", "fadd", "or_")
OPERATIONS[np.subtract] = _sum_of(np.subtract, subtract_ints, "sub", "fsub", "xor")
OPERATIONS[np.multiply] = _sum_of(np.multiply, multiply_ints, "mul", "fmul", "and_")


def _complex_product(w: Work, x: Scalar, y: Scalar) -> Scalar:
    b = w.b
    (xr, xi), (yr, yi) = x.parts, y.parts
    real = b.fsub(b.fmul(xr, yr), b.fmul(xi, yi))
    return Scalar(x.type, (real, b.fadd(b.fmul(xr, yi), b.fmul(xi, yr))))


@operation(np.negative)
def negative(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    (x,) = _python(w, operands) if out.python else fitted(w, np.negative, operands)
    if x.type == INT:
        return subtract_ints(w, word(WORD(0), 0, 0), x)
    kind = dtype_of(x.type).kind
    if kind in "iu":
        return _each(w, x.type, _real("neg"), x)
    return _each(w, x.type, _real("fneg"), x)


@operation(np.positive)
def positive(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    (x,) = _python(w, operands) if out.python else fitted(w, np.positive, operands)
    return x


@operation(np.square)
def square(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    (x,) = fitted(w, np.square, operands)
    return OPERATIONS[np.multiply](w, out, (x, x))


# ---- quotients and remainders ------------------------------------------------------


@operation(np.true_divide)
def divide(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    if not out.python:
        x, y = fitted(w, np.true_divide, operands)
        if len(x.parts) == 2:
            return _numpy_quotient(w, x, y)
        return _each(w, x.type, _real("fdiv"), x, y)
    if all(_as_python(x.type) in (BOOL, INT) for x in operands):
        for x in operands:  # a quotient of larger ints is not that of their doubles
            _must_be_exact(w, x)
    common = promote(*(_as_python(x.type) for x in operands), FLOAT)
    x, y = (convert(w.b, x, common) for x in operands)
    w.fail_if(_is_zero(w.b, y))
    if len(x.parts) == 2:
        return _python_quotient(w, x, y)
    return _each(w, FLOAT, _real("fdiv"), x, y)


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
    parts = (b.fdiv(b.select(is_steep, s, f), below) for s, f in zip(steep, flat))
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
    is_zero = _is_zero(b, y)
    size = fabs(b, yr)
    found = []
    for part, f, s in zip(x.parts, flat, steep, strict=True):
        found.append(b.select(is_zero, b.fdiv(part, size), b.select(is_flat, f, s)))
    return Scalar(x.type, tuple(found))


@operation(np.reciprocal)
def reciprocal(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    (x,) = fitted(w, np.reciprocal, operands)
    one = number(1, x.type)
    if dtype_of(x.type).kind in "iu":
        quotient, _ = _whole_quotient(w, one, x)
        return quotient
    if len(x.parts) == 2:
        return _numpy_quotient(w, one, x)
    return _each(w, x.type, _real("fdiv"), one, x)


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


def _python_whole_quotient(w: Work, x: Scalar, y: Scalar) -> tuple[Scalar, Scalar]:
    """Quotient and remainder of Python's ints, with their bounds."""
    b = w.b
    if y.low <= 0 <= y.high:
        w.fail_if(b.icmp_signed("==", y.part, WORD(0)))
    if x.low == LEAST and y.low <= -1 <= y.high:
        is_least = b.icmp_signed("==", x.part, WORD(LEAST))
        w.fail_if(b.and_(is_least, b.icmp_signed("==", y.part, WORD(-1))))
    quotient, rest = _whole_quotient(w, x, y)
    low, high = LEAST, MOST
    if y.low > 0:
        ends = [p // d for p in (x.low, x.high) for d in (y.low, y.high)]
        low, high = min(ends), max(ends)
    found = word(quotient.part, low, high)
    rest_low = 0 if y.low > 0 else max(y.low, LEAST)
    rest_high = 0 if y.high < 0 else y.high
    return found, word(rest.part, rest_low, rest_high)


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


def _quotient_and_rest(ufunc: np.ufunc, which: int) -> Operation:
    def made(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
        if out.python:
            x, y = _python(w, operands)
            if x.type == INT:
                return _python_whole_quotient(w, x, y)[which]
            w.fail_if(w.b.fcmp_ordered("==", y.part, y.part.type(0.0)))
        else:
            x, y = fitted(w, ufunc, operands)
        kind = dtype_of(x.type).kind
        if kind in "iu":
            return _whole_quotient(w, x, y)[which]
        if kind != "f":
            raise Refused(f"{ufunc.__name__} of {x.type} in compiled code")
        return _float_quotient(w, x, y, out.python)[which]

    return made


OPERATIONS[np.floor_divide] = _quotient_and_rest(np.floor_divide, 0)
OPERATIONS[np.remainder] = _quotient_and_rest(np.remainder, 1)


@operation(np.fmod)
def fmod(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
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


# ---- powers ------------------------------------------------------------------------


@operation(np.power)
def power(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    exponent = _literal(operands[1])
    if out.python:
        x, y = _python(w, operands)
        if out == FLOAT:  # where a bool or an int is raised to a float
            x, y = (convert(w.b, v, FLOAT) for v in (x, y))
    else:
        x, y = fitted(w, np.power, operands)
    return _power(w, x, y, exponent)


@operation(np.float_power)
def float_power(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    x, y = fitted(w, np.float_power, operands)
    return _power(w, x, y, _literal(operands[1]))


def _literal(x: Scalar) -> float | None:
    """The number that a real operand is known to be."""
    constant = getattr(x.parts[0], "constant", None)
    return constant if len(x.parts) == 1 and constant is not None else None


def _power(w: Work, x: Scalar, y: Scalar, exponent: float | None) -> Scalar:
    b, t = w.b, x.type
    kind = dtype_of(t).kind
    if kind in "iu":
        if t.python or is_signed(dtype_of(t)):
            w.fail_if(b.icmp_signed("<", y.part, y.part.type(0)))
        return w.formula(whole_power, (x, y))
    if kind == "c":
        return _complex_power(w, x, y, exponent)
    if exponent in (1, 2) and t.dtype != "tuple":
        return x if exponent == 1 else _each(w, t, _real("fmul"), x, x)
    found = Scalar(t, (elementary.call(b, "pow", x.part, y.part),))
    if t.python:
        _check_domain(w, (x, y), found)
    return found


def whole_power(base: Any, exponent: Any) -> Any:
    """Base ** exponent of ints, the exponent not negative."""
    result = base if exponent & 1 else base - base + 1
    exponent = exponent >> 1
    while exponent > 0:
        base = base * base
        if exponent & 1:
            result = result * base
        exponent = exponent >> 1
    return result


def _complex_power(w: Work, x: Scalar, y: Scalar, exponent: float | None) -> Scalar:
    b = w.b
    if exponent is not None and exponent in (1, 2, 3):
        found = x
        for _ in range(int(exponent) - 1):
            found = _complex_product(w, found, x)
        return found
    wide = [convert(b, v, COMPLEX) for v in (x, y)]
    parts = elementary.call_complex(b, "cpow", [v.parts for v in wide])
    if not x.type.python:
        is_zero, is_none = _is_zero(b, x), _is_zero(b, y)
        upward = b.and_(
            b.fcmp_ordered(">", wide[1].parts[0], DOUBLE(0.0)),
            b.fcmp_ordered("==", wide[1].parts[1], DOUBLE(0.0)),
        )
        at_zero = b.select(upward, DOUBLE(0.0), DOUBLE(math.nan))
        real = b.select(is_zero, at_zero, parts[0])
        imag = b.select(is_zero, at_zero, parts[1])
        real = b.select(is_none, DOUBLE(1.0), real)
        imag = b.select(is_none, DOUBLE(0.0), imag)
        return convert(b, Scalar(COMPLEX, (real, imag)), x.type)
    is_none = _is_zero(b, y)
    is_zero = b.and_(_is_zero(b, x), b.not_(is_none))
    upward = b.and_(
        b.fcmp_ordered(">", y.parts[0], DOUBLE(0.0)),
        b.fcmp_ordered("==", y.parts[1], DOUBLE(0.0)),
    )
    w.fail_if(b.and_(is_zero, b.not_(upward)))
    real = b.select(is_none, DOUBLE(1.0), b.select(is_zero, DOUBLE(0.0), parts[0]))
    either = b.or_(is_none, is_zero)
    found = Scalar(COMPLEX, (real, b.select(either, DOUBLE(0.0), parts[1])))
    _check_domain(w, (x, y), found)
    return found


# ---- functions of C, and formulas --------------------------------------------------


def _check_domain(w: Work, operands: tuple[Scalar, ...], result: Scalar) -> None:
    """Python's functions raise where finite numbers give infinity, or numbers NaN.

    Source: math_1 and math_2 of CPython's mathmodule.c.
    """
    b = w.b
    given = [p for x in operands for p in x.parts]
    bad = BIT(0)
    for part in result.parts:
        bad = b.or_(bad, b.not_(is_finite(b, part)))
    fine = BIT(0)
    for p in given:
        fine = b.or_(fine, is_nan(b, p))
    all_finite = BIT(1)
    for p in given:
        all_finite = b.and_(all_finite, is_finite(b, p))
    no_number = BIT(0)
    for part in result.parts:
        no_number = b.or_(no_number, is_nan(b, part))
    wrong = b.and_(b.not_(fine), b.or_(all_finite, no_number))
    w.fail_if(b.and_(bad, wrong))


def _of_c(p: Primitive) -> Operation:
    """A row that is one function of C."""
    name = p.scalar
    assert isinstance(name, str)

    def made(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
        if isinstance(p.function, np.ufunc):
            given = fitted(w, p.function, operands)
        else:
            kind = COMPLEX if out.is_complex or _is_of_complex(p) else FLOAT
            given = [convert(w.b, x, kind) for x in operands]
        if len(given[0].parts) == 2:
            return _of_complex(w, p, given)
        parts = [x.part for x in given]
        found = Scalar(given[0].type, (elementary.call(w.b, name, *parts),))
        if p.raises:
            _check_domain(w, tuple(given), found)
        return found

    return made


def _is_of_complex(p: Primitive) -> bool:
    return getattr(p.function, "__module__", "") == "cmath"


def _of_complex(w: Work, p: Primitive, given: list[Scalar]) -> Scalar:
    assert isinstance(p.scalar, str)
    name = f"c{p.scalar}"
    if name not in elementary.COMPLEX:
        raise Refused(f"{p.spelling} of complex numbers in compiled code")
    wide = [convert(w.b, x, COMPLEX) for x in given]
    parts = elementary.call_complex(w.b, name, [x.parts for x in wide])
    found = Scalar(COMPLEX, parts)
    if given[0].type.python:
        _check_domain(w, tuple(wide), found)
    return convert(w.b, found, given[0].type)


def _of_formula(p: Primitive) -> Operation:
    """A row that is a formula over other rows."""
    formula = p.scalar
    assert callable(formula)

    def made(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
        given: tuple[Scalar, ...] = operands
        if isinstance(p.function, np.ufunc):
            given = tuple(fitted(w, p.function, operands))
        return w.formula(formula, given)

    return made


@operation(math.sqrt, np.sqrt)
def square_root(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    if out.python:
        x = convert(w.b, operands[0], FLOAT)
        w.fail_if(w.b.fcmp_ordered("<", x.part, DOUBLE(0.0)))
    else:
        (x,) = fitted(w, np.sqrt, operands)
    if len(x.parts) == 2:
        wide = convert(w.b, x, COMPLEX)
        parts = elementary.call_complex(w.b, "csqrt", [wide.parts])
        return convert(w.b, Scalar(COMPLEX, parts), x.type)
    return _each(w, x.type, sqrt, x)


# ---- absolute values, signs, extremes ----------------------------------------------


@operation(np.absolute)
def absolute(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    b = w.b
    (x,) = _python(w, operands) if out.python else fitted(w, np.absolute, operands)
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
            _check_domain(w, (x,), found)
        return found
    if kind == "i":
        is_less = b.icmp_signed("<", x.part, x.part.type(0))
        return Scalar(x.type, (b.select(is_less, b.neg(x.part), x.part),))
    return x if kind in "bu" else _each(w, x.type, fabs, x)


@operation(math.fabs, np.fabs)
def float_absolute(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    if out.python:
        return _each(w, FLOAT, fabs, convert(w.b, operands[0], FLOAT))
    (x,) = fitted(w, np.fabs, operands)
    return _each(w, x.type, fabs, x)


@operation(math.copysign, np.copysign)
def with_sign(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    if out.python:
        x, y = (convert(w.b, v, FLOAT) for v in operands)
    else:
        x, y = fitted(w, np.copysign, operands)
    return _each(w, x.type, copysign, x, y)


@operation(np.sign)
def sign(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    b = w.b
    (x,) = fitted(w, np.sign, operands)
    part, one = x.part, x.part.type(1)
    kind = dtype_of(x.type).kind
    if kind == "c":
        raise Refused("np.sign of complex numbers in compiled code")
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
    (x,) = fitted(w, np.signbit, operands)
    bits = ir.IntType(32 if x.part.type == ir.FloatType() else 64)
    found = w.b.icmp_signed("<", w.b.bitcast(x.part, bits), bits(0))
    return truth_value(found, out)


def _choice(w: Work, out: Type, bit: Register, x: Scalar, y: Scalar) -> Scalar:
    """One of two numbers, as the kind of the result."""
    x, y = convert(w.b, x, out), convert(w.b, y, out)
    parts = zip(x.parts, y.parts, strict=True)
    found = tuple(w.b.select(bit, p, q) for p, q in parts)
    low, high = min(x.low, y.low), max(x.high, y.high)
    return Scalar(out, found, low, high)


@operation(max)
def larger(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    x, y = operands
    return _choice(w, out, compared(w, ">", y, x), y, x)


@operation(min)
def smaller(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    x, y = operands
    return _choice(w, out, compared(w, "<", y, x), y, x)


def _extreme(ufunc: np.ufunc, order: str, keeps_nan: bool) -> Operation:
    def made(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
        x, y = fitted(w, ufunc, operands)
        kind = dtype_of(x.type).kind
        if kind == "c":
            raise Refused(f"np.{ufunc.__name__} of complex numbers in compiled code")
        first = _order(w, f"{order}=", x, y)
        if kind == "f":
            none = is_nan(w.b, x.part if keeps_nan else y.part)
            first = w.b.or_(first, none)
        return _choice(w, x.type, first, x, y)

    return made


for _ufunc, _order_of, _keeps in (
    (np.maximum, ">", True), (np.minimum, "<", True),
    (np.fmax, ">", False), (np.fmin, "<", False),
):  # fmt: skip
    OPERATIONS[_ufunc] = _extreme(_ufunc, _order_of, _keeps)


@operation(CLIP)
def clip(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    x, low, high = fitted(w, CLIP, operands)
    held = OPERATIONS[np.maximum](w, x.type, (x, low))
    return OPERATIONS[np.minimum](w, x.type, (held, high))


@operation(np.heaviside)
def heaviside(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    b = w.b
    x, h = (v.part for v in fitted(w, np.heaviside, operands))
    step = b.select(b.fcmp_ordered("<", x, x.type(0.0)), x.type(0.0), x.type(1.0))
    step = b.select(b.fcmp_ordered("==", x, x.type(0.0)), h, step)
    return Scalar(out, (b.select(is_nan(b, x), x, step),))


@operation(np.where)
def where(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    condition, x, y = operands
    element = replace(out, dims=None)
    x, y = (as_kind(w, v, element) for v in (x, y))
    return _choice(w, element, truth(w.b, condition), x, y)


# ---- comparisons -------------------------------------------------------------------


def _order(w: Work, order: str, x: Scalar, y: Scalar) -> Register:
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
        raise Refused("an order of complex numbers in compiled code")
    if all(k in "biu" for k in kinds):
        return _order_of_ints(w, order, x, y)
    if kinds == ["f", "f"]:
        common = promote(x.type, y.type)
        return _order(w, order, convert(b, x, common), convert(b, y, common))
    if x.type.python and y.type.python:
        if kinds[0] == "f":
            turned = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(order, order)
            return _int_to_float(w, turned, convert(b, y, INT), x)
        return _int_to_float(w, order, convert(b, x, INT), y)
    common = promote(x.type, y.type)
    return _order(w, order, convert(b, x, common), convert(b, y, common))


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


ORDERS = {
    np.less: "<", np.less_equal: "<=", np.greater: ">", np.greater_equal: ">=",
    np.equal: "==", np.not_equal: "!=",
}  # fmt: skip


def _comparison(order: str) -> Operation:
    return lambda w, out, operands: truth_value(compared(w, order, *operands), out)


for _ufunc, _sign in ORDERS.items():
    OPERATIONS[_ufunc] = _comparison(_sign)


@operation(operator.is_, operator.is_not)
def identity(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    raise AssertionError("which of the two it is stands in the caller")


def is_same(w: Work, operands: tuple[Scalar, ...]) -> Register:
    """Whether one operand is the other, where one of them is None."""
    absent = [
        BIT(1) if x.type.dtype == "None" else x.absent or BIT(0) for x in operands
    ]
    if not any(x.type.dtype == "None" for x in operands):
        raise Refused("'is' between numbers in compiled code", "==")
    return w.b.and_(*absent)


OPERATIONS[operator.is_] = lambda w, out, given: truth_value(is_same(w, given), out)
OPERATIONS[operator.is_not] = lambda w, out, given: truth_value(
    w.b.not_(is_same(w, given)), out
)


# ---- truth -------------------------------------------------------------------------


@operation(operator.not_, np.logical_not)
def not_true(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    return truth_value(w.b.not_(truth(w.b, operands[0])), out)


@operation(bool, np.bool)
def as_truth(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    return truth_value(truth(w.b, operands[0]), out)


def _logical(name: str) -> Operation:
    def made(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
        x, y = (truth(w.b, v) for v in operands)
        return truth_value(getattr(w.b, name)(x, y), out)

    return made


for _ufunc, _name in (
    (np.logical_and, "and_"), (np.logical_or, "or_"), (np.logical_xor, "xor"),
):  # fmt: skip
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


for _functions, _test, _of_ints, _every in (
    ((np.isnan, math.isnan, cmath.isnan), is_nan, 0, False),
    ((np.isinf, math.isinf, cmath.isinf), is_infinite, 0, False),
    ((np.isfinite, math.isfinite, cmath.isfinite), is_finite, 1, True),
    ((np.isposinf,), lambda b, x: b.fcmp_ordered("==", x, x.type(math.inf)), 0, True),
    ((np.isneginf,), lambda b, x: b.fcmp_ordered("==", x, x.type(-math.inf)), 0, True),
):
    for _function in _functions:
        OPERATIONS[_function] = _test_of_floats(_test, _of_ints, _every)


# ---- bits --------------------------------------------------------------------------


def _bits(ufunc: np.ufunc, name: str) -> Operation:
    def made(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
        if out == BOOL:
            x, y = operands
        elif out.python:
            x, y = _python(w, operands)
        else:
            x, y = fitted(w, ufunc, operands)
        found = getattr(w.b, name)(x.part, y.part)
        if out == INT and name == "and_" and max(x.low, y.low) >= 0:
            return word(found, 0, min(v.high for v in (x, y) if v.low >= 0))
        return Scalar(x.type, (found,))

    return made


for _ufunc, _name in (
    (np.bitwise_and, "and_"), (np.bitwise_or, "or_"), (np.bitwise_xor, "xor"),
):  # fmt: skip
    OPERATIONS[_ufunc] = _bits(_ufunc, _name)


@operation(np.invert)
def invert(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    (x,) = _python(w, operands) if out.python else fitted(w, np.invert, operands)
    return Scalar(x.type, (w.b.not_(x.part),))


def _shift(ufunc: np.ufunc, leftwards: bool) -> Operation:
    def made(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
        b = w.b
        if out.python:
            x, n = _python(w, operands)
            if n.low < 0:
                w.fail_if(b.icmp_signed("<", n.part, WORD(0)))
        else:
            x, n = fitted(w, ufunc, operands)
        kind = x.part.type
        signed = is_signed(dtype_of(x.type))
        is_wide = b.icmp_unsigned(">=", n.part, kind(kind.width))
        by = b.select(is_wide, kind(kind.width - 1), n.part)
        if not leftwards:
            if signed:  # the sign fills what is left
                found = b.ashr(x.part, by)
                low = min(x.low, 0) if out == INT else LEAST
                high = max(x.high, 0) if out == INT else MOST
                return Scalar(x.type, (found,), low, high)
            return Scalar(x.type, (b.select(is_wide, kind(0), b.lshr(x.part, by)),))
        found = b.select(is_wide, kind(0), b.shl(x.part, by))
        if out.python:
            back = b.icmp_signed("!=", b.ashr(found, by), x.part)
            lost = b.or_(back, b.and_(is_wide, truth(b, x)))
            w.fail_if(lost)
        return Scalar(x.type, (found,))

    return made


OPERATIONS[np.left_shift] = _shift(np.left_shift, True)
OPERATIONS[np.right_shift] = _shift(np.right_shift, False)


@operation(np.bitwise_count)
def count_of_bits(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    b = w.b
    size = (
        OPERATIONS[np.absolute](w, operands[0].type, operands)
        if (not operands[0].type.python)
        else fitted(w, np.bitwise_count, operands)[0]
    )
    part = size.part
    found = intrinsic(b, f"llvm.ctpop.i{part.type.width}", part.type, part)
    return convert(b, Scalar(numpy_scalar(f"uint{part.type.width}"), (found,)), out)


# ---- rounding ----------------------------------------------------------------------


def _rounded(ufunc: Any, f: Callable[..., Register]) -> Operation:
    def made(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
        (x,) = fitted(w, ufunc, operands) if isinstance(ufunc, np.ufunc) else operands
        if dtype_of(x.type).kind in "biu":
            return convert(w.b, x, out)
        if len(x.parts) == 2 and ufunc is not np.rint:
            raise Refused(f"{ufunc.__name__} of complex numbers in compiled code")
        return convert(w.b, _each(w, x.type, f, x), out)

    return made


for _ufunc, _part in (
    (np.floor, floor), (np.ceil, ceil), (np.trunc, trunc), (np.rint, rint),
):  # fmt: skip
    OPERATIONS[_ufunc] = _rounded(_ufunc, _part)
OPERATIONS[np.fix] = _rounded(np.trunc, trunc)


@operation(np.round, np.around)
def rounded(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    if len(operands) == 2:
        raise Refused("np.round to a number of digits in compiled code")
    (x,) = operands
    if dtype_of(x.type).kind in "biu":
        return convert(w.b, x, out)
    return convert(w.b, _each(w, x.type, rint, x), out)


def _to_int(f: Callable[..., Register]) -> Operation:
    """A Python int from a number; NaN, infinity and what has no int fail."""

    def made(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
        b = w.b
        if len(operands) == 2:
            raise Refused("round to a number of digits in compiled code")
        (x,) = operands
        kind = dtype_of(x.type).kind
        if kind in "biu":
            if dtype_of(x.type) == np.uint64:
                w.fail_if(b.icmp_signed("<", x.part, WORD(0)))
            return convert(b, x, out)
        if kind == "c":
            raise Refused("an int of a complex number in compiled code")
        if not out.is_integer:
            return _each(w, out, f, convert(b, x, out))
        part = f(b, convert(b, x, FLOAT).part)
        fits = b.and_(
            b.fcmp_ordered(">=", part, DOUBLE(-(2.0**63))),
            b.fcmp_ordered("<", part, DOUBLE(2.0**63)),
        )
        w.fail_if(b.not_(fits))
        return word(b.fptosi(part, WORD))

    return made


for _functions, _part in (
    ((math.floor,), floor), ((math.ceil,), ceil), ((math.trunc, int), trunc),
    ((round,), rint),
):  # fmt: skip
    for _function in _functions:
        OPERATIONS[_function] = _to_int(_part)


# ---- kinds -------------------------------------------------------------------------


@operation(NAMED, STOPPED)
def itself(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    return operands[0]


@operation(CAST)
def cast(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    (x,) = operands
    if x.type.is_complex and not out.is_complex:
        raise Refused("a complex number as a real one in compiled code")
    return as_kind(w, x, out) if not out.python else convert(w.b, x, out)


@operation(
    float, np.float64, np.float32, complex, np.complex128, np.complex64,
    np.int8, np.int16, np.int32, np.int64,
)  # fmt: skip
def as_number(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    if len(operands) == 2:
        x, y = (convert(w.b, v, COMPLEX) for v in operands)
        return Scalar(
            out,
            (
                w.b.fsub(x.parts[0], y.parts[1]),
                w.b.fadd(x.parts[1], y.parts[0]),
            ),
        )
    return cast(w, out, operands)


@operation(np.conjugate, CONJUGATE)
def conjugate(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    (x,) = operands
    if len(x.parts) == 1:
        return x
    return Scalar(x.type, (x.parts[0], w.b.fneg(x.parts[1])))


@operation(np.real)
def real(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    (x,) = operands
    return replace(x, type=out, parts=x.parts[:1]) if len(x.parts) == 2 else x


@operation(np.imag)
def imag(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    (x,) = operands
    if len(x.parts) == 2:
        return replace(x, type=out, parts=x.parts[1:])
    return number(0, out)


@operation(np.isreal, np.iscomplex)
def identity_of_kind(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    raise AssertionError("which of the two it is stands in the caller")


def _has_no_imaginary_part(w: Work, x: Scalar) -> Register:
    if len(x.parts) == 1:
        return BIT(1)
    return w.b.fcmp_ordered("==", x.parts[1], x.parts[1].type(0.0))


OPERATIONS[np.isreal] = lambda w, out, given: truth_value(
    _has_no_imaginary_part(w, given[0]), out
)
OPERATIONS[np.iscomplex] = lambda w, out, given: truth_value(
    w.b.not_(_has_no_imaginary_part(w, given[0])), out
)


@operation(math.ldexp, np.ldexp)
def scaled(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    raise Refused("ldexp in compiled code", "x * 2.0**n")


# Operators and builtins compute as their ufuncs do; the kinds say whose rules hold.
for _function, _ufunc in UFUNCS.items():
    if _ufunc in OPERATIONS:
        OPERATIONS.setdefault(_function, OPERATIONS[_ufunc])
