"""Whole arrays to one number; and Python's loops over values: sum, any, all."""

# Rules are formulas: they have operands, not types.
# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from gradwright.transform.primitives.record import (
    always,
    composition,
    constant,
    given,
    loops,
    reduction,
    type_of_reduction,
)
from gradwright.transform.types import numpy_scalar

ROW = np.array([0.7, -1.3, 2.1, 0.4])
TABLE_OF_SIX = np.array([[0.7, -1.3, 2.1], [0.4, 1.6, -0.8]])
CUBE = np.arange(24.0).reshape(2, 3, 4) / 7 - 1.3
ONE = np.array([1.7])
NO_ROWS = np.zeros((0, 3))
NONE = np.array([])


AXES = (
    ROW,
    TABLE_OF_SIX,
    given(TABLE_OF_SIX, axis=0),
    given(TABLE_OF_SIX, axis=-1, keepdims=True),
    given(CUBE, axis=(0, 2)),
    ONE,
)


@reduction(np.sum, samples=(*AXES, NONE, given(NO_ROWS, axis=0)), complex_too=True)
def total(x):
    """The sum of all elements, or along axes."""
    return 1.0


@reduction(np.mean, samples=AXES, complex_too=True)
def mean(x, axis):
    """The mean of all elements, or along axes."""
    return 1 / count(x, axis)


def count(x, axis):
    """How many elements each result is made of."""
    if axis is None:
        return x.size
    if isinstance(axis, tuple):
        n = 1
        for k in axis:
            n = n * x.shape[k]
        return n
    return x.shape[axis]


@reduction(
    np.var,
    signature="x, axis=None, ddof=0, keepdims=False",
    samples=(*AXES[:-1], given(TABLE_OF_SIX, axis=0, ddof=1), given(ROW, ddof=1)),
    complex_too=True,
)
def variance(x, axis, ddof):
    """The mean square distance from the mean."""
    return 2 * conj(distance(x, axis)) / (count(x, axis) - ddof)


@loops(np.var)
def variance_in_loops(x, axis, ddof, keepdims):
    """The sum of squares round the mean, in a second pass."""
    return np.sum(squares(distance(x, axis)), axis=axis, keepdims=keepdims) / (
        count(x, axis) - ddof
    )


def squares(x):
    """The square of each absolute value."""
    return np.real(x * np.conj(x)) if np.iscomplexobj(x) else x * x


def distance(x, axis):
    """How far each element lies from the mean."""
    return x - np.mean(x, axis=axis, keepdims=axis is not None)


def conj(x):
    """The complex conjugate; a real array itself."""
    return np.conj(x) if np.iscomplexobj(x) else x


@reduction(
    np.std,
    signature="x, axis=None, ddof=0, keepdims=False",
    samples=(*AXES[:-1], given(TABLE_OF_SIX, axis=0, ddof=1), given(ROW, ddof=1)),
    complex_too=True,
)
def deviation(x, axis, ddof, y):
    """The root of the mean square distance from the mean; where it is 0, flat."""
    away = conj(distance(x, axis))
    return away / ((count(x, axis) - ddof) * y) if y != 0 else 0.0


@loops(np.std)
def deviation_in_loops(x, axis, ddof, keepdims):
    """The root of the variance."""
    return np.sqrt(variance_in_loops(x, axis, ddof, keepdims))


@reduction(
    np.prod,
    samples=(
        *AXES,
        NONE,
        np.array([0.7, 0.0, 2.1]),
        np.array([0.0, -1.3, 0.0, 1.2]),
        given(np.array([[0.7, 0.0, 2.1], [0.0, 1.6, -0.8]]), axis=0),
    ),
    complex_too=True,
)
def product(x, axis, y):
    """The product of all elements; right to second order where some are 0.

    The product of the others is y / x where x is not 0.  Where it is, the others may
    hold no further zero, or one: which is the sum of the zeros, less this one.
    """
    kept = axis is not None
    solid = np.where(x == 0, 1.0, x)
    zeros = np.count_nonzero(x == 0, axis=axis, keepdims=kept)
    other = np.sum(np.where(x == 0, x, 0.0), axis=axis, keepdims=kept) - x
    solids = np.prod(solid, axis=axis, keepdims=kept)
    others = solids * ((zeros == 1) + (zeros == 2) * other)
    return np.where(x == 0, others, y / solid)


@reduction(
    np.max,
    np.amax,
    np.min,
    np.amin,
    samples=AXES,
    kinks=((np.array([2.0, 2.0]), np.array([0.5, 0.5])),),
    complex_too=True,
)
def extremum(x, axis, y):
    """The largest or smallest element; ties share.  Source: JAX, lax.reduce_max."""
    return (x == y) / np.count_nonzero(x == y, axis=axis, keepdims=axis is not None)


@reduction(
    np.ptp,
    samples=AXES[:-1],
    kinks=((np.array([2.0, 2.0]), np.array([0.0, 0.0])),),
)
def peak_to_peak(x, axis):
    """The largest element less the smallest; ties share."""
    kept = axis is not None
    high = x == np.max(x, axis=axis, keepdims=kept)
    low = x == np.min(x, axis=axis, keepdims=kept)
    return high / np.count_nonzero(
        high, axis=axis, keepdims=kept
    ) - low / np.count_nonzero(low, axis=axis, keepdims=kept)


@reduction(
    np.median,
    samples=AXES,
    kinks=((np.array([2.0, 2.0]), np.array([0.5, 0.5])),),
)
def median(x, axis):
    """The middle element, or the mean of the two in the middle; ties share."""
    kept = axis is not None
    low = x == np.quantile(x, 0.5, axis=axis, method="lower", keepdims=kept)
    high = x == np.quantile(x, 0.5, axis=axis, method="higher", keepdims=kept)
    return 0.5 * low / np.count_nonzero(
        low, axis=axis, keepdims=kept
    ) + 0.5 * high / np.count_nonzero(high, axis=axis, keepdims=kept)


@composition(np.average)
def average(a, axis=None, weights=None):
    """The mean, or the mean with weights along an axis."""
    if weights is None:
        return np.mean(a, axis=axis)
    weights = np.asarray(weights)
    if weights.ndim < a.ndim and axis is not None:
        weights = np.moveaxis(
            np.reshape(weights, (1,) * (a.ndim - 1) + weights.shape), -1, axis
        )
        weights = np.broadcast_to(weights, a.shape)
    return np.sum(a * weights, axis=axis) / np.sum(weights, axis=axis)


constant(
    np.any,
    np.all,
    reason="a truth value",
    signature="a, axis=None, keepdims=False",
    samples=(ROW, TABLE_OF_SIX, NONE, given(TABLE_OF_SIX > 0, axis=1)),
    type=always(numpy_scalar(bool)),
)
constant(
    np.argmax,
    np.argmin,
    reason="a position is an integer",
    signature="a, axis=None, keepdims=False",
    samples=(ROW, TABLE_OF_SIX, ONE, given(TABLE_OF_SIX, axis=1)),
    type=always(numpy_scalar(np.intp)),
)
constant(
    np.count_nonzero,
    reason="a count is an integer",
    signature="a, axis=None, keepdims=False",
    samples=(ROW, TABLE_OF_SIX, NONE, given(TABLE_OF_SIX, axis=0)),
    type=type_of_reduction(np.count_nonzero),
)
constant(
    np.quantile,
    reason="used for positions only, by the method 'lower' or 'higher'",
    signature="a, q, axis=None, method='linear', keepdims=False",
    operands=("a", "q"),
    samples=(given(ROW, 0.5, method="lower"),),
)


# ---- Python's own ------------------------------------------------------------------


@composition(sum, apart=True)
def sum_of_values(values, start=0):
    """The values added up, from the left."""
    result = start
    for v in values:
        result = result + v
    return result


@composition(apart=True)
def largest_of_values(values):
    """The largest of the items of a list, the first one of equal ones."""
    if len(values) == 0:
        raise ValueError("max() arg is an empty sequence")
    best = values[0]
    for v in values:
        if v > best:
            best = v
    return best


@composition(apart=True)
def smallest_of_values(values):
    """The smallest of the items of a list, the first one of equal ones."""
    if len(values) == 0:
        raise ValueError("min() arg is an empty sequence")
    best = values[0]
    for v in values:
        if v < best:
            best = v
    return best


@composition(any, apart=True)
def any_of_values(values):
    """Whether one of the values is true; what follows it is not looked at."""
    for v in values:  # noqa: SIM110
        if v:
            return True
    return False


@composition(all, apart=True)
def all_of_values(values):
    """Whether every value is true; what follows a false one is not looked at."""
    for v in values:  # noqa: SIM110
        if not v:
            return False
    return True
