"""Rounding and steps: flat between their jumps, so that derivatives are zero."""

# Rules are formulas: they have operands, not types.
# mypy: allow-untyped-defs, allow-untyped-calls

import math

import numpy as np

from gradwright.transform.errors import NotDifferentiable
from gradwright.transform.primitives.record import (
    always,
    constant,
    elementwise,
    over,
    pairs,
    type_of_ufunc,
)
from gradwright.transform.types import BOOL, INT, Type

FLAT = "piecewise constant: zero wherever it has a derivative"

# ---- to integers -------------------------------------------------------------------

constant(
    math.floor,
    math.ceil,
    math.trunc,
    int,
    reason=FLAT,
    samples=over(-3, 3),
    raises=True,
    type=always(INT),
)
constant(round, reason=FLAT, samples=over(-3, 3), raises=True)
constant(round, reason=FLAT, samples=((2.345, 1), (-0.77, 1)))
constant(
    np.floor,
    np.ceil,
    np.trunc,
    np.rint,
    np.fix,
    reason=FLAT,
    samples=over(-3, 3),
)
constant(np.round, np.around, reason=FLAT, samples=(*over(-3, 3), (2.345, 1)))
WHOLE = (np.int8, np.int16, np.int32, np.int64)
constant(*WHOLE, reason=FLAT, samples=over(-3, 3))
constant(bool, reason="a truth value", samples=(0.0, 2.0), type=always(BOOL))
constant(np.bool, reason="a truth value", samples=(0.0, 2.0))

# ---- signs and steps ---------------------------------------------------------------


def type_of_sign(x: Type) -> Type:
    """NumPy's own, of a real number: z / |z| is not flat."""
    if x.is_complex:
        raise NotDifferentiable(
            "the sign of a complex number has no rule", instead="z / abs(z)"
        )
    return type_of_ufunc(np.sign)(x)


constant(np.sign, reason=FLAT, samples=over(-3, 3), type=type_of_sign)
constant(np.signbit, reason="a truth value", samples=over(-3, 3))


@elementwise(
    np.heaviside,
    samples=pairs((-2, 2), (0.2, 0.9)),
    kinks=(((0.0, 0.4), (0.0, 1.0)),),
)
def heaviside(x, h):
    """The step from 0 to 1, with the value h at x = 0."""
    return 0.0, 1.0 if x == 0 else 0.0


# ---- floating point ----------------------------------------------------------------


def ulp_of(x):
    """The distance from |x| to the next larger float; of the largest, from below."""
    x = abs(x)
    if x == math.inf or x != x:
        return x
    above = np.nextafter(x, math.inf)
    if above == math.inf:
        return x - np.nextafter(x, 0.0)
    return above - x


constant(math.ulp, reason=FLAT, samples=over(0.3, 3), scalar=ulp_of)
constant(np.spacing, reason=FLAT, samples=over(0.3, 3))


@elementwise(math.nextafter, np.nextafter, samples=pairs((-2, 2), (-1.5, 2.5)))
def nextafter(a, b):
    """The number a moved towards b by one unit in its last place."""
    return 1.0, 0.0
