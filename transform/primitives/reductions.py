"""Whole arrays to one number; and Python's loops over values: sum, any, all."""

# Rules are formulas: they have operands, not types.
# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from gradwright.transform.primitives.record import (
    PART,
    always,
    composition,
    constant,
    general,
    given,
    known,
    loops,
    reduction,
    type_of_reduction,
)
from gradwright.transform.primitives.shaping import stretched_axes
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


# ---- of a part, and from a number on -----------------------------------------------


def meets_mask(a, where=None, **_):
    """A mask is as long as the array, where it does not stretch."""
    if where is not None:
        yield from zip(a.dims[::-1], (where.dims or ())[::-1], strict=False)


MASK = np.array([[True, False, True], [False, True, True]])
PARTS = (
    given(ROW, where=np.array([True, False, True, True])),
    given(ROW, where=np.array([False, False, False, False])),
    given(TABLE_OF_SIX, where=MASK),
    given(TABLE_OF_SIX, axis=1, where=MASK[0], keepdims=True),
    given(TABLE_OF_SIX, axis=0, where=MASK[:, :1]),
    given(CUBE, axis=(0, 2), where=MASK[..., None]),
)
BEGUN = (
    given(ROW, initial=0.3),
    given(TABLE_OF_SIX, axis=0, initial=1.2, where=MASK),
    given(NO_ROWS, axis=0, initial=0.7),
)


def in_part(x, a, where):
    """What is taken of elements: x where the mask holds, zero elsewhere."""
    part = x if where is None else np.where(where, x, 0.0)
    is_whole = where is not None and fills(where.shape, a.shape)
    return part if is_whole else np.broadcast_to(part, a.shape)


@known
def fills(shape, full):
    """Whether nothing of this shape is stretched to have the other one."""
    return len(shape) == len(full) and not stretched_axes(shape, full)


def along(y_bar, axis, keepdims):
    """A cotangent with the axes that a reduction removed, as long as one."""
    return y_bar if axis is None or keepdims else np.expand_dims(y_bar, axis)


def sum_of_part_tangent(a, axis, keepdims, initial, where, a_dot, initial_dot):
    """The sum of the tangents in the part; that of the number is added to each."""
    return (
        np.sum(in_part(a_dot, a, where), axis=axis, keepdims=keepdims),
        initial_dot,
    )


@general(
    np.sum,
    signature="a, axis=None, keepdims=False, initial=None, where=None",
    arity=PART,
    operands=("a", "initial", "where"),
    meets=meets_mask,
    tangent=sum_of_part_tangent,
    samples=(*PARTS, *BEGUN),
)
def sum_of_part(a, axis, keepdims, initial, where, y_bar):
    """The sum of the elements where a mask holds, from a number on."""
    return in_part(along(y_bar, axis, keepdims), a, where), np.sum(y_bar), None


def mean_of_part_tangent(a, axis, keepdims, where, a_dot):
    """The mean of the tangents in the part."""
    whole = np.sum(in_part(a_dot, a, where), axis=axis, keepdims=keepdims)
    return whole / size_of_part(a, axis, keepdims, where)


@general(
    np.mean,
    signature="a, axis=None, keepdims=False, where=None",
    arity=PART,
    operands=("a", "where"),
    meets=meets_mask,
    tangent=mean_of_part_tangent,
    samples=(PARTS[0], *PARTS[2:]),
)
def mean_of_part(a, axis, keepdims, where, y_bar):
    """The mean of the elements where a mask holds."""
    share = y_bar / size_of_part(a, axis, keepdims, where)
    return in_part(along(share, axis, keepdims), a, where), None


def size_of_part(a, axis, keepdims, where):
    """How many elements a mask leaves to each result."""
    counted = where if fills(where.shape, a.shape) else np.broadcast_to(where, a.shape)
    return np.count_nonzero(counted, axis=axis, keepdims=keepdims)


def product_of_part_tangent(a, axis, keepdims, initial, where, a_dot, initial_dot):
    """The tangents in the part, each times the product of the others."""
    part = ones_outside(a, where)
    first = 1.0 if initial is None else initial
    by = product(part, axis, np.prod(part, axis=axis, keepdims=axis is not None))
    return (
        first * np.sum(in_part(by * a_dot, a, where), axis=axis, keepdims=keepdims),
        initial_dot * np.prod(part, axis=axis, keepdims=keepdims),
    )


@general(
    np.prod,
    signature="a, axis=None, keepdims=False, initial=None, where=None",
    arity=PART,
    operands=("a", "initial", "where"),
    meets=meets_mask,
    tangent=product_of_part_tangent,
    samples=(*PARTS, *BEGUN, given(np.array([0.7, 0.0, 2.1]), initial=0.0)),
)
def product_of_part(a, axis, keepdims, initial, where, y_bar):
    """The product of the elements where a mask holds, from a number on."""
    part = ones_outside(a, where)
    first = 1.0 if initial is None else initial
    by = product(part, axis, np.prod(part, axis=axis, keepdims=axis is not None))
    return (
        in_part(first * along(y_bar, axis, keepdims) * by, a, where),
        np.sum(y_bar * np.prod(part, axis=axis, keepdims=keepdims)),
        None,
    )


def ones_outside(a, where):
    """The elements where a mask holds, and ones elsewhere."""
    return a if where is None else np.where(where, a, 1.0)


# ---- the largest, the smallest, the one in the middle ------------------------------


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


def quantile_tangent(a, q, axis, method, keepdims, a_dot, q_dot):
    """The tangents of the two elements round the place, and of the place itself."""
    weights, slope = round_the_place(a, q, axis, method, keepdims)
    return np.sum(a_dot * weights, axis=axis, keepdims=keepdims), slope * q_dot


@general(
    np.quantile,
    signature="a, q, axis=None, method='linear', keepdims=False",
    operands=("a", "q"),
    numbers=("q",),
    choices={"method": ("linear", "lower", "higher", "midpoint", "nearest")},
    tangent=quantile_tangent,
    complex_too=False,
    samples=(
        given(ROW, 0.3),
        given(ROW, 0.6, method="midpoint"),
        given(TABLE_OF_SIX, 0.7),
        given(TABLE_OF_SIX, 0.7, axis=1),
        given(TABLE_OF_SIX, 0.2, axis=0, keepdims=True),
        given(TABLE_OF_SIX, 0.3, axis=-1, method="higher"),
    ),
)
def quantile(a, q, axis, method, keepdims, y_bar):
    """The element so far up in the order, or between two of them; ties share."""
    weights, slope = round_the_place(a, q, axis, method, keepdims)
    return along(y_bar, axis, keepdims) * weights, np.sum(y_bar * slope)


def round_the_place(a, q, axis, method, keepdims):
    """The weight of each element in a quantile; how fast that grows with the place."""
    low = np.quantile(a, q, axis=axis, method="lower", keepdims=True)
    high = np.quantile(a, q, axis=axis, method="higher", keepdims=True)
    last = length_along(a, axis) - 1
    share = share_of_higher(q * last, method)
    weights = (1.0 - share) * among(a, low, axis) + share * among(a, high, axis)
    if method != "linear":
        return weights, 0.0
    return weights, last * without_axis(high - low, axis, keepdims)


def length_along(a, axis):
    """How many elements each result of a reduction is made of."""
    if axis is None:
        return a.size
    n = 1
    for k in axis if isinstance(axis, tuple) else (axis,):
        n = n * a.shape[k]
    return n


def share_of_higher(place, method):
    """How much of the higher neighbour of a place is in the quantile."""
    if method == "linear":
        return place - np.floor(place)
    if method == "nearest":
        return np.round(place) - np.floor(place)
    return {"lower": 0.0, "higher": 1.0, "midpoint": 0.5}[method]


def among(a, value, axis):
    """The elements that have a value share in it."""
    return (a == value) / np.count_nonzero(a == value, axis=axis, keepdims=True)


def without_axis(y, axis, keepdims):
    """A reduction with its axes kept, as it is asked for."""
    if keepdims:
        return y
    return np.sum(y) if axis is None else np.squeeze(y, axis)


@composition(np.percentile, samples=(given(ROW, 30.0), given(TABLE_OF_SIX, 70, axis=0)))
def percentile(a, q, axis=None, method="linear", keepdims=False):
    """A quantile by percent."""
    return np.quantile(a, q / 100.0, axis=axis, method=method, keepdims=keepdims)


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


@composition(apart=True)
def position_of(values, x):
    """Where the first item stands that is equal to a number; -1 without any."""
    position = -1
    for k, v in enumerate(values):
        if v == x:
            position = k
            break
    return position


@composition(apart=True)
def index_of(values, x):
    """xs.index(x)."""
    k = position_of(values, x)
    if k < 0:
        raise ValueError(f"{x!r} is not in list")
    return k


@composition(apart=True)
def remove_from(values, x):
    """xs.remove(x)."""
    k = position_of(values, x)
    if k < 0:
        raise ValueError("list.remove(x): x not in list")
    values.pop(k)


@composition(apart=True)
def delete_at(values, k):
    """Del xs[k]."""
    if k >= len(values) or k < -len(values):
        raise IndexError("list assignment index out of range")
    values.pop(k)


@composition(apart=True)
def count_of(values, x):
    """xs.count(x)."""
    total = 0
    for v in values:
        if v == x:
            total += 1
    return total


@composition(apart=True)
def is_among(values, x):
    """Whether an item is equal to a number."""
    return position_of(values, x) >= 0


@composition(apart=True)
def keys_of(values, key):
    """What a sort goes by."""
    return [key(v) for v in values]


@composition(apart=True)
def sorted_by(values, keys, reverse):
    """The items in the order of their keys; equal ones stay as they are."""
    keys = np.asarray(keys)
    if reverse:
        order = -1 - np.argsort(keys[::-1], kind="stable")[::-1]
    else:
        order = np.argsort(keys, kind="stable")
    return [values[k] for k in order]


@composition()
def largest_by(values, key):
    """The one of several values whose key is largest, the first one of equal ones."""
    best, most = values[0], key(values[0])
    for v in values[1:]:
        found = key(v)
        if found > most:
            best, most = v, found
    return best


@composition()
def smallest_by(values, key):
    """The one of several values whose key is smallest, the first one of equal ones."""
    best, least = values[0], key(values[0])
    for v in values[1:]:
        found = key(v)
        if found < least:
            best, least = v, found
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
