"""Elementary functions of doubles written out in instructions, without a branch.

    tanh(x)  ->  a polynomial, a reciprocal and what both have lost

The vector functions of libmvec are off by up to four units in the last place; these
are within two, and the vectoriser takes them as it takes any arithmetic.  They need a
processor that multiplies and adds in one.
"""

from __future__ import annotations

import math
import platform
from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir

from gradwright.backends.machine.elementary import call, vector_names
from gradwright.backends.machine.scalars import DOUBLE, WORD, Register, intrinsic

LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 0.6931471805599453, 2.3190468138462996e-17
SHIFT = 1.5 * 2.0**52  # a float this large has its whole part in its last bits


def has_better(name: str) -> bool:
    """Whether what is written out here is more exact than the vector function."""
    forms = vector_names(name, 1).values()
    return has_fma() and any(f.startswith("_ZGV") for f in forms)


@cache
def has_fma() -> bool:
    """Whether the processor multiplies and adds in one."""
    if platform.machine() in ("x86_64", "AMD64"):
        return bool(llvm.get_host_cpu_features().get("fma", False))
    return platform.machine() in ("aarch64", "arm64")


def fma(b: Any, x: Register, y: Any, z: Any) -> Register:
    """The double x y + z, rounded once."""
    y, z = (v if isinstance(v, ir.Value) else DOUBLE(v) for v in (y, z))
    return intrinsic(b, "llvm.fma.f64", DOUBLE, x, y, z)


def polynomial(b: Any, coefficients: Iterable[float], x: Register) -> Register:
    """The sum of c[k] x**k, as Horner does it."""
    *rest, last = coefficients
    found: Register = DOUBLE(last)
    for c in reversed(rest):
        found = fma(b, found, x, c)
    return found


def clipped(b: Any, x: Register, low: float, high: float) -> Register:
    """The nearest number between two; NaN, which is neither below nor above, stays."""
    x = b.select(b.fcmp_ordered("<", x, DOUBLE(low)), DOUBLE(low), x)
    return b.select(b.fcmp_ordered(">", x, DOUBLE(high)), DOUBLE(high), x)


def powers_of_two(b: Any, x: Register) -> tuple[Register, Register]:
    """The n nearest to x / log(2), as a double and as an integer."""
    shifted = fma(b, x, LOG2_E, SHIFT)
    bits = b.sub(b.bitcast(shifted, WORD), b.bitcast(DOUBLE(SHIFT), WORD))
    return b.fsub(shifted, DOUBLE(SHIFT)), bits


def two_to(b: Any, n: Register) -> Register:
    """The double 2**n of an integer from -1022 to 1023."""
    return b.bitcast(b.shl(b.add(n, WORD(1023)), WORD(52)), DOUBLE)


def exp(b: Any, x: Register) -> Register:
    """The exponential, within one unit in its last place.

    x = n log(2) + r, and e**r by its series.
    Source: Tang 1989, Table-driven implementation of the exponential function.
    """
    x = clipped(b, x, -746.0, 710.0)
    n, bits = powers_of_two(b, x)
    r = fma(b, b.fneg(n), LN2_HIGH, x)
    r = fma(b, b.fneg(n), LN2_LOW, r)
    series = polynomial(b, [1.0 / math.factorial(k) for k in range(2, 14)], r)
    result = b.fadd(DOUBLE(1.0), fma(b, b.fmul(r, r), series, r))
    half = b.ashr(bits, WORD(1))  # in two steps, as 2**n itself may be too small
    for part in (half, b.sub(bits, half)):
        result = b.fmul(result, two_to(b, part))
    return result


def expm1(b: Any, x: Register) -> Register:
    """The exponential less one, within one unit in its last place."""
    return _expm1(b, x)[0]


def _expm1(b: Any, x: Register) -> tuple[Register, Register]:
    """The exponential less one, and what rounding has taken from it.

    x = n log(2) + r + s, where r is exact but for the small s, and in halves, as 2**n
    may be too large: (2**n - 1) + 2**n r + 2**n (s + r**2 times a series).
    """
    given, x = x, clipped(b, x, -40.0, 710.0)
    n, bits = powers_of_two(b, x)
    exact = fma(b, b.fneg(n), LN2_HIGH, x)
    r = fma(b, b.fneg(n), LN2_LOW, exact)
    s = fma(b, b.fneg(n), LN2_LOW, b.fsub(exact, r))
    series = polynomial(b, [1.0 / math.factorial(k) for k in range(2, 15)], r)
    small = fma(b, b.fmul(r, r), series, s)
    scale = two_to(b, b.sub(bits, WORD(1)))
    whole, part = b.fsub(scale, DOUBLE(0.5)), b.fmul(scale, r)
    total = b.fadd(whole, part)
    lost = fma(b, scale, small, b.fadd(b.fsub(whole, total), part))
    half = b.fadd(total, lost)
    rest = b.fadd(b.fsub(total, half), lost)
    size = intrinsic(b, "llvm.fabs.f64", DOUBLE, given)
    is_tiny = b.fcmp_ordered("<", size, DOUBLE(2.0**-54))
    twice = b.fmul(half, DOUBLE(2.0)), b.fmul(rest, DOUBLE(2.0))
    return (
        b.select(is_tiny, given, twice[0]),
        b.select(is_tiny, DOUBLE(0.0), twice[1]),
    )


def tanh(b: Any, x: Register) -> Register:
    """The hyperbolic tangent, within one unit in its last place.

    It is -t / (2 + t) for t = e**(-2 x) - 1, and one step of Newton's takes out what
    t, the sum and the quotient have lost.
    """
    size = intrinsic(b, "llvm.fabs.f64", DOUBLE, x)
    t, rest = _expm1(b, b.fmul(size, DOUBLE(-2.0)))
    below = b.fadd(t, DOUBLE(2.0))
    lost = b.fadd(b.fsub(t, b.fsub(below, DOUBLE(2.0))), rest)
    reciprocal = b.fdiv(DOUBLE(1.0), below)
    found = b.fmul(t, reciprocal)
    off = fma(b, b.fneg(found), lost, fma(b, b.fneg(found), below, t))
    found = fma(b, b.fadd(off, rest), reciprocal, found)
    return intrinsic(b, "llvm.copysign.f64", DOUBLE, found, x)


HALF_PI = (
    1.5707963267948966,
    6.123233995736766e-17,
    -1.4973849048591698e-33,
)  # its parts, one after the other
MOST_TURNS = 2.0**30
SINE = (
    -1.66666666666666324348e-01, 8.33333333332248946124e-03,
    -1.98412698298579493134e-04, 2.75573137070700676789e-06,
    -2.50507602534068634195e-08, 1.58969099521155010221e-10,
)  # fmt: skip
COSINE = (
    4.16666666666666019037e-02, -1.38888888888741095749e-03,
    2.48015872894767294178e-05, -2.75573143513906633035e-07,
    2.08757232129817482790e-09, -1.13596475577881948265e-11,
)  # fmt: skip


def circular(name: str, b: Any, x: Register) -> Register:
    """The sine or cosine, within one and a half units in its last place.

    The vector function stands in for angles beyond a billion.
    x = n pi/2 + r, exactly but for the last term.  Source: fdlibm, __kernel_sin and
    __kernel_cos.
    """
    shifted = fma(b, x, 2.0 / math.pi, SHIFT)
    n = b.fsub(shifted, DOUBLE(SHIFT))
    r: Register = x
    for part in HALF_PI:
        r = fma(b, n, -part, r)
    z = b.fmul(r, r)
    sine = fma(b, b.fmul(z, r), polynomial(b, SINE, z), r)
    half = b.fmul(z, DOUBLE(0.5))
    near = b.fsub(DOUBLE(1.0), half)
    lost = b.fsub(b.fsub(DOUBLE(1.0), near), half)
    cosine = b.fadd(near, fma(b, b.fmul(z, z), polynomial(b, COSINE, z), lost))
    quadrant = b.bitcast(shifted, WORD)
    if name == "cos":
        quadrant = b.add(quadrant, WORD(1))
    is_odd = b.icmp_signed("!=", b.and_(quadrant, WORD(1)), WORD(0))
    found = b.select(is_odd, cosine, sine)
    sign = b.shl(b.and_(quadrant, WORD(2)), WORD(62))
    found = b.bitcast(b.xor(b.bitcast(found, WORD), sign), DOUBLE)
    if name == "sin":
        found = b.select(b.fcmp_ordered("==", x, DOUBLE(0.0)), x, found)
    size = intrinsic(b, "llvm.fabs.f64", DOUBLE, x)
    is_far = b.fcmp_ordered(">", size, DOUBLE(MOST_TURNS))
    far = b.select(is_far, x, DOUBLE(0.0))  # which costs it little where none is
    return b.select(is_far, call(b, name, far), found)


WRITTEN: dict[Any, Callable[[Any, Register], Register]] = {
    np.exp: exp,
    np.expm1: expm1,
    np.tanh: tanh,
    np.sin: partial(circular, "sin"),
    np.cos: partial(circular, "cos"),
}
