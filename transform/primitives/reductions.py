"""Whole arrays to one number; and Python's loops over values: sum, any, all."""

# Rules are formulas: they have operands, not types.
# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from gradwright.transform.primitives.record import (
    always,
    composition,
    constant,
    reduction,
    type_of_reduction,
)
from gradwright.transform.types import numpy_scalar

ROW = np.array([0.7, -1.3, 2.1, 0.4])
TABLE_OF_SIX = np.array([[0.7, -1.3, 2.1], [0.4, 1.6, -0.8]])
ONE = np.array([1.7])
NONE = np.array([])


@reduction(np.sum, samples=(ROW, TABLE_OF_SIX, ONE, NONE), complex_too=True)
def total(x):
    """The sum of all elements."""
    return 1.0


@reduction(np.mean, samples=(ROW, TABLE_OF_SIX, ONE), complex_too=True)
def mean(x):
    """The mean of all elements."""
    return 1 / np.size(x)


@reduction(
    np.prod,
    samples=(
        ROW,
        TABLE_OF_SIX,
        ONE,
        NONE,
        np.array([0.7, 0.0, 2.1]),
        np.array([0.0, -1.3, 0.0, 1.2]),
    ),
    complex_too=True,
)
def product(x, y):
    """The product of all elements; right to second order where some are 0.

    The product of the others is y / x where x is not 0.  Where it is, the others may
    hold no further zero, or one: which is the sum of the zeros, less this one.
    """
    solid = np.where(x == 0, 1.0, x)
    zeros = np.count_nonzero(x == 0)
    other = np.sum(np.where(x == 0, x, 0.0)) - x
    others = np.prod(solid) * ((zeros == 1) + (zeros == 2) * other)
    return np.where(x == 0, others, y / solid)


@reduction(
    np.max,
    np.amax,
    np.min,
    np.amin,
    samples=(ROW, TABLE_OF_SIX, ONE),
    kinks=((np.array([2.0, 2.0]), np.array([0.5, 0.5])),),
    complex_too=True,
)
def extremum(x, y):
    """The largest or smallest element; ties share.  Source: JAX, lax.reduce_max."""
    return (x == y) / np.count_nonzero(x == y)


constant(
    np.any,
    np.all,
    reason="a truth value",
    samples=(ROW, TABLE_OF_SIX, NONE),
    type=always(numpy_scalar(bool)),
)
constant(
    np.argmax,
    np.argmin,
    reason="a position is an integer",
    samples=(ROW, TABLE_OF_SIX, ONE),
    type=always(numpy_scalar(np.intp)),
)
constant(
    np.count_nonzero,
    reason="a count is an integer",
    samples=(ROW, TABLE_OF_SIX, NONE),
    type=type_of_reduction(np.count_nonzero),
)


# ---- Python's own ------------------------------------------------------------------


@composition(sum)
def sum_of_values(values, start=0):
    """The values added up, from the left."""
    result = start
    for v in values:
        result = result + v
    return result


@composition(any)
def any_of_values(values):
    """Whether one of the values is true; what follows it is not looked at."""
    for v in values:  # noqa: SIM110
        if v:
            return True
    return False


@composition(all)
def all_of_values(values):
    """Whether every value is true; what follows a false one is not looked at."""
    for v in values:  # noqa: SIM110
        if not v:
            return False
    return True
