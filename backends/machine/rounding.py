"""Rounding, and bits."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir

from gradwright.backends.machine.floats import (
    ceil,
    copysign,
    fabs,
    floor,
    is_finite,
    is_infinite,
    rint,
    trunc,
)
from gradwright.backends.machine.operations import (
    OPERATIONS,
    Operation,
    Work,
    as_python,
    each,
    fitted,
    operation,
    taken,
)
from gradwright.backends.machine.scalars import (
    DOUBLE,
    LEAST,
    MOST,
    SINGLE,
    WORD,
    Refused,
    Register,
    Scalar,
    as_element,
    convert,
    dtype_of,
    from_element,
    intrinsic,
    is_half,
    is_signed,
    memory_type,
    number,
    truth,
    word,
)
from gradwright.transform.types import (
    BOOL,
    FLOAT,
    INT,
    Type,
    numpy_scalar,
)

# ---- bits --------------------------------------------------------------------------


def _bits(ufunc: np.ufunc, name: str) -> Operation:
    def made(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
        if out == BOOL:
            x, y = operands
        elif out.python:
            x, y = as_python(w, operands)
        else:
            x, y = fitted(w, ufunc, operands)
        found = getattr(w.b, name)(x.part, y.part)
        if out == INT and name == "and_" and max(x.low, y.low) >= 0:
            return word(found, 0, min(v.high for v in (x, y) if v.low >= 0))
        return Scalar(x.type, (found,))

    return made


BITWISE: list[tuple[Any, str]] = [
    (np.bitwise_and, "and_"), (np.bitwise_or, "or_"), (np.bitwise_xor, "xor"),
]  # fmt: skip
for _ufunc, _name in BITWISE:
    OPERATIONS[_ufunc] = _bits(_ufunc, _name)


@operation(np.invert)
def invert(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    """All bits turned."""
    (x,) = as_python(w, operands) if out.python else fitted(w, np.invert, operands)
    return Scalar(x.type, (w.b.not_(x.part),))


def _shift(ufunc: np.ufunc, leftwards: bool) -> Operation:
    def made(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
        b = w.b
        if out.python:
            x, n = as_python(w, operands)
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
    """How many bits of the absolute value are set."""
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
            raise Refused(f"{ufunc.__name__} of complex numbers")
        return convert(w.b, each(w, x.type, f, x), out)

    return made


ROUNDED: list[tuple[Any, Any]] = [
    (np.floor, floor), (np.ceil, ceil), (np.trunc, trunc), (np.rint, rint),
]  # fmt: skip
for _ufunc, _part in ROUNDED:
    OPERATIONS[_ufunc] = _rounded(_ufunc, _part)
OPERATIONS[np.fix] = _rounded(np.trunc, trunc)


@operation(np.round, np.around)
def rounded(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    """The nearest number of so many digits, of two the even one, as NumPy finds it."""
    x, *given = operands
    digits = _digits(given[0]) if given else 0
    if dtype_of(x.type).kind in "biu":
        if digits < 0:
            raise Refused("an int that is rounded to tens")
        return convert(w.b, x, out)
    if not digits:
        return convert(w.b, each(w, x.type, rint, x), out)
    kind = numpy_scalar(SINGLE) if is_half(x.type) else x.type
    power = number(10.0 ** abs(digits), _part_of(x.type)).part
    first, last = ("fmul", "fdiv") if digits > 0 else ("fdiv", "fmul")

    def scaled(name: str, x: Scalar) -> Scalar:
        made = each(w, kind, lambda b, part: getattr(b, name)(part, power), x)
        return convert(w.b, convert(w.b, made, x_type), kind)

    x_type, x = x.type, convert(w.b, x, kind)
    x = scaled(last, each(w, kind, rint, scaled(first, x)))
    return convert(w.b, x, out)


def _digits(given: Scalar) -> int:
    """A number of digits, which must be known."""
    if given.low != given.high:
        raise Refused("numbers rounded to as many digits as only the run knows")
    return given.low


def _part_of(t: Type) -> Type:
    """The kind of the parts of a complex number; another number's own."""
    parts = {"complex64": "float32", "complex128": "float64", "complex": "float64"}
    return numpy_scalar(parts[t.dtype]) if t.is_complex else t


MOST_DIGITS = 22  # so many zeros behind a one are a double


def _to_digits(w: Work, x: Register, digits: int) -> Register:
    """The double nearest to the decimal number that Python's `round` gives.

    The product with a power of ten, or the quotient, is taken to its last bit, and what
    is lost of it says on which side of a half it lies.
    """
    b = w.b
    if abs(digits) > MOST_DIGITS:
        raise Refused(f"a number rounded to {digits} digits")
    power, half, one = DOUBLE(10.0 ** abs(digits)), DOUBLE(0.5), DOUBLE(1.0)
    if digits > 0:
        y = b.fmul(x, power)
        found = rint(b, y)
        lost = intrinsic(b, "llvm.fma.f64", DOUBLE, x, power, b.fneg(y))
        beyond = b.fsub(y, found)
        up = b.and_(_is(b, "==", beyond, half), _is(b, ">", lost, DOUBLE(0.0)))
        down = b.and_(
            _is(b, "==", beyond, b.fneg(half)), _is(b, "<", lost, DOUBLE(0.0))
        )
    else:
        y = b.fdiv(x, power)
        found = rint(b, y)
        beyond = intrinsic(b, "llvm.fma.f64", DOUBLE, b.fneg(found), power, x)
        middle = b.fmul(half, power)
        up = _is(b, ">", beyond, middle)
        down = _is(b, "<", beyond, b.fneg(middle))
    found = b.select(up, b.fadd(found, one), found)
    found = copysign(b, b.select(down, b.fsub(found, one), found), x)
    size = fabs(b, y)
    if digits > 0:  # here y is whole, and what it has lost decides
        is_whole = _is(b, ">=", size, DOUBLE(2.0**52))
        found = b.select(is_whole, b.fadd(y, lost), found)
    made = b.fdiv(found, power) if digits > 0 else b.fmul(found, power)
    is_coarse = b.fcmp_unordered(">=", size, DOUBLE(2.0**53))  # x has fewer digits
    made = b.select(is_coarse, x, made)
    w.fail_if(b.and_(is_finite(b, x), b.not_(is_finite(b, made))))
    return made


def _is(b: Any, order: str, x: Register, y: Register) -> Register:
    return b.fcmp_ordered(order, x, y)


# ---- neighbours --------------------------------------------------------------------


@operation(math.nextafter, np.nextafter)
def next_after(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    """The float next to the first on the way to the second.

    The bits of a float are counted up away from zero.
    """
    if out.python:
        x, y = (convert(w.b, v, FLOAT) for v in operands)
    else:
        x, y = taken(w, np.nextafter, operands)
    b, dtype = w.b, dtype_of(x.type)
    bits = ir.IntType(8 * dtype.itemsize)
    held, there = (b.bitcast(*as_element(b, v), bits) for v in (x, y))
    zero = x.part.type(0.0)
    upwards = b.fcmp_ordered("<", x.part, y.part)
    inwards = b.xor(upwards, b.fcmp_ordered(">", x.part, zero))
    found = b.add(held, b.select(inwards, bits(-1), bits(1)))
    least = b.or_(b.and_(there, bits(1 << (bits.width - 1))), bits(1))
    found = b.select(b.fcmp_ordered("==", x.part, zero), least, found)
    found = from_element(b, x.type, (b.bitcast(found, memory_type(dtype)),)).part
    same = x.part if is_half(x.type) else y.part  # as NumPy has it for zeros
    found = b.select(b.fcmp_ordered("==", x.part, y.part), same, found)
    unordered = b.fcmp_unordered("uno", x.part, y.part)
    return Scalar(x.type, (b.select(unordered, b.fadd(x.part, y.part), found),))


@operation(np.spacing)
def spacing(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    """The distance to the next float away from zero; of a half to the next above."""
    (x,) = taken(w, np.spacing, operands)
    b, kind = w.b, x.part.type
    far = kind(math.inf)
    if not is_half(x.type):
        far = copysign(b, far, x.part)
    beyond = next_after(w, out, (x, Scalar(x.type, (far,))))
    found = b.fsub(beyond.part, x.part)
    found = b.select(is_infinite(b, x.part), kind(math.nan), found)
    return Scalar(x.type, (found,))


# ---- Python's ints -----------------------------------------------------------------


def _rounded_by_python(w: Work, out: Type, x: Scalar, given: Scalar) -> Scalar:
    """round(x, digits)."""
    digits = _digits(given)
    if not x.type.python:
        return rounded(w, out, (x, given))
    if x.type.is_integer and digits >= 0:
        return convert(w.b, x, out)
    if x.type != FLOAT or not digits:
        raise Refused("a number of this kind rounded to digits")
    return Scalar(FLOAT, (_to_digits(w, x.part, digits),))


def _to_int(f: Callable[..., Register]) -> Operation:
    """A Python int from a number; NaN, infinity and what has no int fail."""

    def made(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
        b = w.b
        x, *given = operands
        if given:
            return _rounded_by_python(w, out, x, given[0])
        kind = dtype_of(x.type).kind
        if kind in "biu":
            if dtype_of(x.type) == np.uint64:
                w.fail_if(b.icmp_signed("<", x.part, WORD(0)))
            return convert(b, x, out)
        if kind == "c":
            raise Refused("an int of a complex number")
        if not out.is_integer:
            return each(w, out, f, convert(b, x, out))
        part = f(b, convert(b, x, FLOAT).part)
        fits = b.and_(
            b.fcmp_ordered(">=", part, DOUBLE(-(2.0**63))),
            b.fcmp_ordered("<", part, DOUBLE(2.0**63)),
        )
        w.fail_if(b.not_(fits))
        return word(b.fptosi(part, WORD))

    return made


TO_INT: list[tuple[tuple[Any, ...], Any]] = [
    ((math.floor,), floor), ((math.ceil,), ceil), ((math.trunc, int), trunc),
    ((round,), rint),
]  # fmt: skip
for _functions, _part in TO_INT:
    for _function in _functions:
        OPERATIONS[_function] = _to_int(_part)
