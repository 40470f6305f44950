"""Circular and hyperbolic functions and their inverses; all angles are in radians."""

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

# ---- circular functions ------------------------------------------------------------


@elementwise(
    math.sin,
    np.sin,
    cmath.sin,
    samples=over(-3, 3),
    complex_too=True,
    raises=True,
    scalar="sin",
)
def sin(x):
    """The sine of x, in radians."""
    return np.cos(x)


@elementwise(
    math.cos,
    np.cos,
    cmath.cos,
    samples=over(-3, 3),
    complex_too=True,
    raises=True,
    scalar="cos",
)
def cos(x):
    """The cosine of x, in radians."""
    return -np.sin(x)


@elementwise(
    math.tan,
    np.tan,
    cmath.tan,
    samples=over(-1.2, 1.2),
    complex_too=True,
    raises=True,
    scalar="tan",
)
def tan(x, y):
    """The tangent of x, in radians."""
    return 1 + y * y


def sinc_of(x):
    """The quotient itself, and its limit at 0."""
    y = math.pi * x
    return (np.sin(y) if y != 0 else 1.0) / (y if y != 0 else 1.0)


@elementwise(
    np.sinc,
    scalar=sinc_of,
    samples=(*over(-3, 3, 6), 0.051, 0.049, 1e-3, -1e-6),
    kinks=((0.0, 0.0),),
    complex_too=True,
)
def sinc(x, y):
    """The quotient sin(πx) / (πx); even and smooth, so that at 0 the derivative is 0.

    (cos(πx) - y) / x loses its digits near 0: there it is summed as a series.
    """
    near = x if abs(x) < 0.05 else 0.0
    t = (math.pi * near) ** 2
    series = 1 / 3 - t * (1 / 30 - t * (1 / 840 - t * (1 / 45360 - t / 3991680)))
    away = x if abs(x) >= 0.05 else 1.0
    return (
        -(math.pi**2) * near * series
        if abs(x) < 0.05
        else (np.cos(math.pi * away) - y) / away
    )


def degrees_of(x):
    """An angle of x radians in degrees, rounded once."""
    return x * (180.0 / math.pi)


@elementwise(
    math.degrees, np.degrees, np.rad2deg, samples=over(-3, 3), scalar=degrees_of
)
def degrees(x):
    """An angle of x radians in degrees."""
    return 180.0 / math.pi


def radians_of(x):
    """An angle of x degrees in radians, rounded once."""
    return x * (math.pi / 180.0)


@elementwise(
    math.radians, np.radians, np.deg2rad, samples=over(-180, 180), scalar=radians_of
)
def radians(x):
    """An angle of x degrees in radians."""
    return math.pi / 180.0


# ---- their inverses ----------------------------------------------------------------


@elementwise(
    math.asin,
    np.arcsin,
    cmath.asin,
    samples=over(-0.9, 0.9),
    kinks=((1.0, math.inf), (-1.0, math.inf)),
    complex_too=True,
    raises=True,
    scalar="asin",
)
def arcsin(x):
    """The angle whose sine is x; at -1 and 1 its derivative is infinite."""
    return 1 / np.sqrt((1 - x) * (1 + x)) if x * x != 1 else math.inf


@elementwise(
    math.acos,
    np.arccos,
    cmath.acos,
    samples=over(-0.9, 0.9),
    kinks=((1.0, -math.inf), (-1.0, -math.inf)),
    complex_too=True,
    raises=True,
    scalar="acos",
)
def arccos(x):
    """The angle whose cosine is x; at -1 and 1 its derivative is infinite."""
    return -1 / np.sqrt((1 - x) * (1 + x)) if x * x != 1 else -math.inf


@elementwise(math.atan, np.arctan, samples=over(-2, 2), complex_too=True, scalar="atan")
@elementwise(
    cmath.atan, samples=over(-2, 2), complex_too=True, raises=True, scalar="atan"
)
def arctan(x):
    """The angle whose tangent is x."""
    return 1 / (1 + x * x)


@elementwise(
    math.atan2,
    np.arctan2,
    samples=(*pairs((-2, 2), (0.3, 2)), (0.7, -1.1), (-0.4, -1.3)),
    kinks=(((0.0, 0.0), (0.0, 0.0)),),
    scalar="atan2",
)
def arctan2(a, b):
    """The angle of the point (b, a), in (-π, π]; at the origin the partials are 0."""
    r2 = a * a + b * b
    return b / r2 if r2 != 0 else 0.0, -a / r2 if r2 != 0 else 0.0


@elementwise(
    math.hypot,
    np.hypot,
    samples=(*pairs((-2, 2), (0.3, 2)), (0.7, -1.1)),
    kinks=(((0.0, 0.0), (0.0, 0.0)),),
    scalar="hypot",
)
def hypot(a, b, y):
    """The length sqrt(a² + b²); at the origin the partials are 0."""
    return a / y if y != 0 else 0.0, b / y if y != 0 else 0.0


# ---- hyperbolic functions ----------------------------------------------------------


@elementwise(math.sinh, np.sinh, samples=over(-2, 2), complex_too=True, scalar="sinh")
@elementwise(
    cmath.sinh, samples=over(-2, 2), complex_too=True, raises=True, scalar="sinh"
)
def sinh(x):
    """The hyperbolic sine."""
    return np.cosh(x)


@elementwise(math.cosh, np.cosh, samples=over(-2, 2), complex_too=True, scalar="cosh")
@elementwise(
    cmath.cosh, samples=over(-2, 2), complex_too=True, raises=True, scalar="cosh"
)
def cosh(x):
    """The hyperbolic cosine."""
    return np.sinh(x)


@elementwise(math.tanh, np.tanh, samples=over(-2, 2), complex_too=True, scalar="tanh")
@elementwise(
    cmath.tanh, samples=over(-2, 2), complex_too=True, raises=True, scalar="tanh"
)
def tanh(x, y):
    """The hyperbolic tangent."""
    return 1 - y * y


# ---- their inverses ----------------------------------------------------------------


@elementwise(
    math.asinh,
    np.arcsinh,
    cmath.asinh,
    samples=over(-2, 2),
    complex_too=True,
    scalar="asinh",
)
def arcsinh(x):
    """The inverse of the hyperbolic sine."""
    return 1 / np.sqrt(x * x + 1)


@elementwise(
    math.acosh,
    np.arccosh,
    cmath.acosh,
    samples=over(1.2, 4),
    kinks=((1.0, math.inf),),
    complex_too=True,
    raises=True,
    covered=False,
    scalar="acosh",
)
def arccosh(x):
    """The inverse of the hyperbolic cosine; at 1 its derivative is infinite.

    The product of two roots has its cut where the function has: (-∞, 1].
    """
    return 1 / (np.sqrt(x - 1) * np.sqrt(x + 1)) if x * x != 1 else math.inf


@elementwise(
    math.atanh,
    np.arctanh,
    cmath.atanh,
    samples=over(-0.9, 0.9),
    complex_too=True,
    raises=True,
    covered=False,
    scalar="atanh",
)
def arctanh(x):
    """The inverse of the hyperbolic tangent."""
    return 1 / ((1 - x) * (1 + x))
