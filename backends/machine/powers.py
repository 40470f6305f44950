"""Powers and roots."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradwright.backends.machine import elementary
from gradwright.backends.machine.arithmetic import (
    complex_product,
)
from gradwright.backends.machine.floats import (
    sqrt,
)
from gradwright.backends.machine.operations import (
    Work,
    as_python,
    check_domain,
    each,
    fitted,
    is_zero,
    operation,
    plain,
)
from gradwright.backends.machine.scalars import (
    DOUBLE,
    Scalar,
    convert,
    dtype_of,
    is_signed,
)
from gradwright.transform.types import (
    COMPLEX,
    FLOAT,
    Type,
)


@operation(np.power)
def power(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    """A power; what is complex or infinite of real Python numbers fails."""
    exponent = literal(operands[1])
    if out.python:
        x, y = as_python(w, operands)
        if out == FLOAT:  # where a bool or an int is raised to a float
            x, y = (convert(w.b, v, FLOAT) for v in (x, y))
    else:
        x, y = fitted(w, np.power, operands)
    return _power(w, x, y, exponent)


@operation(np.float_power)
def float_power(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    """A power of floats."""
    x, y = fitted(w, np.float_power, operands)
    return _power(w, x, y, literal(operands[1]))


def literal(x: Scalar) -> float | None:
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
        return x if exponent == 1 else each(w, t, plain("fmul"), x, x)
    found = Scalar(t, (elementary.call(b, "pow", x.part, y.part),))
    if t.python:
        check_domain(w, (x, y), found)
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
            found = complex_product(w, found, x)
        return found
    wide = [convert(b, v, COMPLEX) for v in (x, y)]
    parts = elementary.call_complex(b, "cpow", [v.parts for v in wide])
    if not x.type.python:
        at_zero, is_none = is_zero(b, x), is_zero(b, y)
        upward = b.and_(
            b.fcmp_ordered(">", wide[1].parts[0], DOUBLE(0.0)),
            b.fcmp_ordered("==", wide[1].parts[1], DOUBLE(0.0)),
        )
        there = b.select(upward, DOUBLE(0.0), DOUBLE(math.nan))
        real = b.select(at_zero, there, parts[0])
        imag = b.select(at_zero, there, parts[1])
        real = b.select(is_none, DOUBLE(1.0), real)
        imag = b.select(is_none, DOUBLE(0.0), imag)
        return convert(b, Scalar(COMPLEX, (real, imag)), x.type)
    is_none = is_zero(b, y)
    at_zero = b.and_(is_zero(b, x), b.not_(is_none))
    upward = b.and_(
        b.fcmp_ordered(">", y.parts[0], DOUBLE(0.0)),
        b.fcmp_ordered("==", y.parts[1], DOUBLE(0.0)),
    )
    w.fail_if(b.and_(at_zero, b.not_(upward)))
    real = b.select(is_none, DOUBLE(1.0), b.select(at_zero, DOUBLE(0.0), parts[0]))
    either = b.or_(is_none, at_zero)
    found = Scalar(COMPLEX, (real, b.select(either, DOUBLE(0.0), parts[1])))
    check_domain(w, (x, y), found)
    return found


@operation(math.sqrt, np.sqrt)
def square_root(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    """The square root."""
    if out.python:
        x = convert(w.b, operands[0], FLOAT)
        w.fail_if(w.b.fcmp_ordered("<", x.part, DOUBLE(0.0)))
    else:
        (x,) = fitted(w, np.sqrt, operands)
    if len(x.parts) == 2:
        wide = convert(w.b, x, COMPLEX)
        parts = elementary.call_complex(w.b, "csqrt", [wide.parts])
        return convert(w.b, Scalar(COMPLEX, parts), x.type)
    return each(w, x.type, sqrt, x)
