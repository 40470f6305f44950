"""Sums and products so far, areas under curves, straight lines between points, bins."""

# Rules are formulas: they have operands, not types.
# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from gradwright.transform.primitives.record import (
    composition,
    general,
    given,
    linear,
    multilinear,
)
from gradwright.transform.primitives.shaping import along

ROW = np.array([0.7, -1.3, 2.1, 0.4])
TABLE = np.array([[0.7, -1.3, 2.1], [0.4, 1.6, -0.8]])
ONE = np.array([1.7])
NONE = np.array([])
PLACES = (ROW, ONE, NONE, TABLE, given(TABLE, axis=0), given(TABLE, axis=-1))


@linear(np.cumsum, signature="a, axis=None", samples=PLACES)
def cumsum(a, axis, y_bar):
    """The sums of the elements so far, along an axis or of all in a row."""
    return (
        still_to_come(y_bar, axis)
        if axis is not None or a.ndim == 1
        else np.reshape(still_to_come(y_bar, 0), a.shape)
    )


def still_to_come(x, axis):
    """The sums from each place to the end."""
    if x.ndim == 1:
        return np.cumsum(x[::-1])[::-1]
    return np.flip(np.cumsum(np.flip(x, axis=axis), axis=axis), axis=axis)


def cumprod_tangent(a, axis, y, a_dot):
    """The same sum as in the rule, from the other side."""
    return (
        with_one_replaced(a, axis, y, a_dot)
        if axis is not None or a.ndim == 1
        else with_one_replaced(np.ravel(a), 0, y, np.ravel(a_dot))
    )


def with_one_replaced(a, axis, y, a_dot):
    """The sum of the products so far with one factor replaced by its tangent."""
    count = np.cumsum(a == 0, axis=axis)
    first, second = (a == 0) & (count == 1), (a == 0) & (count == 2)
    solid = np.where(a == 0, 1.0, a)
    others = np.cumprod(np.where(first, 1.0, a), axis=axis)
    others_2 = np.cumprod(np.where(second, 1.0, a), axis=axis)
    return (
        y * np.cumsum(np.where(a == 0, 0.0, a_dot) / solid, axis=axis)
        + others * np.cumsum(first * a_dot, axis=axis)
        + others_2 * np.cumsum(second * a_dot, axis=axis)
    )


@general(
    np.cumprod,
    signature="a, axis=None",
    tangent=cumprod_tangent,
    samples=(
        *PLACES,
        np.array([0.7, 0.0, 2.1]),
        np.array([0.0, -1.3, 0.0, 1.2]),
        np.array([0.3, 0.0, 0.0, 0.0, 1.2]),
        given(np.array([[0.7, 0.0, 2.1], [0.0, 1.6, -0.8]]), axis=0),
    ),
)
def cumprod(a, axis, y, y_bar):
    """The products of the elements so far; right to second order where some are 0.

    What follows is divided by the element, where it is not 0.  Where it is the first
    or the second 0, the products are made without it; behind those all are 0.
    """
    return (
        without_each(a, axis, y, y_bar)
        if axis is not None or a.ndim == 1
        else np.reshape(without_each(np.ravel(a), 0, y, y_bar), a.shape)
    )


def without_each(a, axis, y, y_bar):
    """The sums of the products that hold an element, without it."""
    count = np.cumsum(a == 0, axis=axis)
    first, second = (a == 0) & (count == 1), (a == 0) & (count == 2)
    solid = np.where(a == 0, 1.0, a)
    others = np.cumprod(np.where(first, 1.0, a), axis=axis)
    others_2 = np.cumprod(np.where(second, 1.0, a), axis=axis)
    return np.where(
        a == 0,
        first * still_to_come(y_bar * others, axis)
        + second * still_to_come(y_bar * others_2, axis),
        still_to_come(y_bar * y, axis) / solid,
    )


@composition(
    np.trapezoid,
    samples=(
        given(ROW),
        given(ROW, np.array([0.1, 0.9, 2.0, 3.1])),
        given(TABLE, dx=0.3),
        given(TABLE, np.array([0.1, 0.9]), axis=0),
        given(TABLE, TABLE**2),
    ),
)
def trapezoid(y, x=None, dx=1.0, axis=-1):
    """The area under straight lines between points, by NumPy's own sums."""
    d = dx if x is None else distances(y, x, axis)
    heights = along(y, axis, 1, None) + along(y, axis, None, -1)
    return np.sum(d * heights / 2.0, axis=axis)


def distances(y, x, axis):
    """How far the points are apart, along the axis of the heights."""
    if x.ndim > 1:
        return np.diff(x, axis=axis)
    d = np.diff(x)
    behind = y.ndim - 1 - axis % y.ndim
    return d if behind == 0 else d[(slice(None),) + (None,) * behind]


# ---- straight lines between points -------------------------------------------------


def meets_points(x, xp, fp, **_):
    """Every point has a height."""
    if xp.rank and fp.rank:
        yield xp.dims[0], fp.dims[0]


def piece(x, xp):
    """The point behind x, of the piece that x is in or next to."""
    return np.clip(np.searchsorted(xp, x, side="right"), 1, len(xp) - 1)


def slope_at(x, xp, fp, k):
    """The slope of piece k; 0 outside all of them."""
    width = xp[k] - xp[k - 1]
    slope = (fp[k] - fp[k - 1]) / np.where(width == 0, np.inf, width)
    return np.where((x < xp[0]) | (x > xp[-1]), 0.0, slope)


def part_at(x, xp, k):
    """How far in piece k, in parts of it; outside, at an end."""
    width = xp[k] - xp[k - 1]
    return np.clip((x - xp[k - 1]) / np.where(width == 0, 1.0, width), 0.0, 1.0)


def mixed(x, xp, heights):
    """Heights of points at both ends of a piece, by how near they are."""
    k = piece(x, xp)
    t = part_at(x, xp, k)
    return (1.0 - t) * heights[k - 1] + t * heights[k]


def interp_tangent(x, xp, fp, x_dot, xp_dot, fp_dot):
    """The line's slope times x_dot, less what the points move under it."""
    slope = slope_at(x, xp, fp, piece(x, xp))
    return slope * x_dot, -slope * mixed(x, xp, xp_dot), mixed(x, xp, fp_dot)


@general(
    np.interp,
    signature="x, xp, fp",
    operands=("x", "xp", "fp"),
    meets=meets_points,
    tangent=interp_tangent,
    complex_too=False,
    samples=(
        given(
            np.array([0.3, 1.7, 2.2, -0.6, 3.4]), np.array([0.1, 0.9, 2.0, 3.1]), ROW
        ),
        given(0.3, np.array([0.1, 0.9, 2.0, 3.1]), ROW),
        given(TABLE, np.array([-1.0, 0.9, 2.0, 3.1]), ROW),
    ),
)
def interp(x, xp, fp, y_bar):
    """Straight lines between points; at a point the slope is that behind it."""
    k = piece(x, xp)
    slope = y_bar * slope_at(x, xp, fp, k)
    t = part_at(x, xp, k)
    return slope, -shared_out(slope, t, k, len(xp)), shared_out(y_bar, t, k, len(xp))


def shared_out(x_bar, t, k, n):
    """What both ends of the pieces get, by how near they are, added up by point."""
    before, behind = x_bar * (1.0 - t), x_bar * t
    return added_by(k - 1, before, n) + added_by(k, behind, n)


def added_by(k, weights, n):
    """The sums of the weights at each of n places."""
    if np.ndim(k) == 0:
        return weights * (np.arange(n) == k)
    if np.ndim(k) == 1:
        return np.bincount(k, weights, minlength=n)
    return np.bincount(np.ravel(k), np.ravel(weights), minlength=n)


def meets_weights(x, weights=None, **_):
    """Every number has a weight."""
    if weights is not None and x.rank and weights.rank:
        yield x.dims[0], weights.dims[0]


@multilinear(
    np.bincount,
    signature="x, weights=None, minlength=0",
    operands=("x", "weights"),
    runtime=("minlength",),
    meets=meets_weights,
    ragged=True,
    complex_too=False,
    samples=(
        given(np.array([1, 0, 3, 1]), ROW),
        given(np.array([1, 0, 3, 1]), ROW, minlength=6),
        given(np.array([1, 0, 3, 1])),
    ),
)
def bincount(x, y_bar):
    """The sums of the weights of each number."""
    return 0.0, y_bar[x]
