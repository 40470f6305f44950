"""Exponentials, logarithms, roots."""

# Rules are formulas: they have operands, not types.
# mypy: allow-untyped-defs, allow-untyped-calls

import cmath
import math

import numpy as np

from gradwright.transform.primitives.record import (
    elementwise,
    over,
    pairs,
)

# ---- exponentials ------------------------------------------------------------------


@elementwise(math.exp, np.exp, samples=over(-2, 2), complex_too=True, scalar="exp")
@elementwise(
    cmath.exp, samples=over(-2, 2), complex_too=True, raises=True, scalar="exp"
)
def exp(x, y):
    """The exponential e**x."""
    return y


@elementwise(math.exp2, np.exp2, samples=over(-2, 2), complex_too=True, scalar="exp2")
def exp2(x, y):
    """The power 2**x."""
    return y * math.log(2.0)


@elementwise(
    math.expm1, np.expm1, samples=over(-2, 2), complex_too=True, scalar="expm1"
)
def expm1(x):
    """The difference e**x - 1; its derivative is e**x, exact also where x << 0."""
    return np.exp(x)


def logaddexp_of(a, b):
    """The logarithm of a sum, from the larger of the two."""
    if a == b:
        return a + math.log(2.0)
    d = a - b
    if d > 0:
        return a + np.log1p(np.exp(-d))
    return b + np.log1p(np.exp(d)) if d <= 0 else d


@elementwise(
    np.logaddexp,
    scalar=logaddexp_of,
    samples=pairs((-3, 3), (-2, 2)),
    kinks=(
        ((math.inf, math.inf), (0.5, 0.5)),
        ((-math.inf, -math.inf), (0.5, 0.5)),
        ((math.inf, 1.0), (1.0, 0.0)),
        ((1.0, -math.inf), (1.0, 0.0)),
    ),
)
def logaddexp(a, b, y):
    """The logarithm log(e**a + e**b); equal infinities share half and half."""
    return (
        np.exp(a - y) if a != y else 1.0 if a != b else 0.5,
        np.exp(b - y) if b != y else 1.0 if a != b else 0.5,
    )


def logaddexp2_of(a, b):
    """The logarithm to base 2 of a sum, from the larger of the two."""
    if a == b:
        return a + 1.0
    d = a - b
    if d > 0:
        return a + math.log2(math.e) * np.log1p(np.exp2(-d))
    return b + math.log2(math.e) * np.log1p(np.exp2(d)) if d <= 0 else d


@elementwise(
    np.logaddexp2,
    scalar=logaddexp2_of,
    samples=pairs((-3, 3), (-2, 2)),
    kinks=(
        ((math.inf, math.inf), (0.5, 0.5)),
        ((-math.inf, -math.inf), (0.5, 0.5)),
        ((math.inf, 1.0), (1.0, 0.0)),
        ((1.0, -math.inf), (1.0, 0.0)),
    ),
)
def logaddexp2(a, b, y):
    """The logarithm log2(2**a + 2**b); equal infinities share half and half."""
    return (
        np.exp2(a - y) if a != y else 1.0 if a != b else 0.5,
        np.exp2(b - y) if b != y else 1.0 if a != b else 0.5,
    )


@elementwise(
    math.ldexp, np.ldexp, samples=((0.7, 3), (-1.3, -2), (2.2, 0)), scalar="ldexp"
)
def ldexp(x, n):
    """The product x * 2**n, n an integer."""
    return np.ldexp(1.0, n), 0.0


# ---- logarithms --------------------------------------------------------------------


@elementwise(
    math.log,
    np.log,
    cmath.log,
    samples=over(0.2, 4),
    complex_too=True,
    raises=True,
    covered=False,
    scalar="log",
)
def log(x):
    """The natural logarithm."""
    return 1 / x


def log_to_base_of(x, base):
    """The quotient of two logarithms, as CPython computes it."""
    return math.log(x) / math.log(base)


def complex_log_to_base_of(x, base):
    """The quotient of two logarithms."""
    return cmath.log(x) / cmath.log(base)


@elementwise(
    math.log,
    scalar=log_to_base_of,
    samples=pairs((0.2, 4), (1.3, 5)),
    raises=True,
    covered=False,
)
@elementwise(
    cmath.log,
    scalar=complex_log_to_base_of,
    samples=pairs((0.2, 4), (1.3, 5)),
    complex_too=True,
    raises=True,
    covered=False,
)
def log_to_base(x, base, y):
    """The logarithm log(x) / log(base)."""
    return 1 / (x * np.log(base)), -y / (base * np.log(base))


@elementwise(
    math.log2,
    np.log2,
    samples=over(0.2, 4),
    complex_too=True,
    raises=True,
    covered=False,
    scalar="log2",
)
def log2(x):
    """The logarithm to base 2."""
    return 1 / (x * math.log(2.0))


@elementwise(
    math.log10,
    np.log10,
    cmath.log10,
    samples=over(0.2, 4),
    complex_too=True,
    raises=True,
    covered=False,
    scalar="log10",
)
def log10(x):
    """The logarithm to base 10."""
    return 1 / (x * math.log(10.0))


@elementwise(
    math.log1p,
    np.log1p,
    samples=over(-0.8, 3),
    complex_too=True,
    raises=True,
    covered=False,
    scalar="log1p",
)
def log1p(x):
    """The logarithm log(1 + x)."""
    return 1 / (1 + x)


# ---- roots -------------------------------------------------------------------------


@elementwise(
    math.sqrt,
    np.sqrt,
    cmath.sqrt,
    samples=over(0.2, 4),
    kinks=((0.0, math.inf),),
    complex_too=True,
    raises=True,
    scalar="sqrt",
)
def sqrt(x, y):
    """The square root; at 0 its derivative is infinite."""
    return 0.5 / y if y != 0 else math.inf


@elementwise(
    math.cbrt,
    np.cbrt,
    samples=(*over(0.2, 4), *over(-3, -0.3)),
    kinks=((0.0, math.inf),),
    scalar="cbrt",
)
def cbrt(x, y):
    """The cube root; at 0 its derivative is infinite."""
    return 1 / (3 * y * y) if y != 0 else math.inf
