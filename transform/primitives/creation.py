"""New arrays: of zeros, of one number, of numbers in a row; lengths may be symbols."""

# Rules are formulas: they have operands, not types.
# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from gradwright.transform.indices import Linear, linear
from gradwright.transform.primitives.record import (
    constant,
    general,
    given,
    known,
)
from gradwright.transform.primitives.record import linear as linear_row
from gradwright.transform.primitives.shaping import summed_to
from gradwright.transform.types import VARYING, array

NEW = "its elements are constants"
LIKE = "its elements are constants; of the operand only the shape is read"
ROW = np.array([0.7, -1.3, 2.1, 0.4])
TABLE_OF_SIX = np.array([[0.7, -1.3, 2.1], [0.4, 1.6, -0.8]])


def of_shape(shape, dtype=None):
    """The dims that a shape says."""
    lengths = shape if isinstance(shape, tuple | list) else (shape,)
    return array(dtype or float, tuple(lengths))


constant(
    np.zeros,
    np.ones,
    reason=NEW,
    signature="shape, dtype=None",
    operands=(),
    runtime=("shape",),
    result=of_shape,
    samples=(given(3), given((2, 0)), given((2, 1), dtype=np.float32)),
)
constant(
    np.zeros_like,
    np.ones_like,
    reason=LIKE,
    signature="a, dtype=None",
    samples=(given(ROW), given(TABLE_OF_SIX, dtype=np.complex128)),
)
constant(
    np.eye,
    reason=NEW,
    signature="N, M=None, k=0, dtype=float",
    operands=(),
    runtime=("N", "M", "k"),
    samples=(given(3), given(2, 3), given(3, 2, -1), given(2, dtype=int)),
)
constant(
    np.identity,
    reason=NEW,
    signature="n, dtype=None",
    operands=(),
    runtime=("n",),
    samples=(given(3),),
)
constant(
    np.tri,
    reason=NEW,
    signature="N, M=None, k=0",
    operands=(),
    runtime=("N", "M", "k"),
    samples=(given(3), given(2, 3, 1)),
)
constant(
    np.indices,
    reason="indices are integers",
    signature="dimensions",
    operands=(),
    runtime=("dimensions",),
    samples=(given((2, 3)),),
)


@linear_row(
    np.full,
    signature="shape, fill_value, dtype=None",
    operands=("fill_value",),
    runtime=("shape",),
    samples=(given(3, 0.7), given((2, 0), 1.5), given((2, 1), -0.4)),
)
def full(y_bar):
    """An array of one number."""
    return np.sum(y_bar)


@linear_row(
    np.full_like,
    signature="a, fill_value, dtype=None",
    operands=("fill_value",),
    runtime=("a",),
    samples=(given(ROW, 0.7), given(TABLE_OF_SIX, -1.2)),
)
def full_like(y_bar):
    """An array of one number, in the shape of another."""
    return np.sum(y_bar)


def steps(num, endpoint, axis, rank):
    """How far each point of `linspace` is from the start, in parts of the whole."""
    points = np.linspace(0.0, 1.0, num, endpoint=endpoint)
    return points if rank == 1 else np.reshape(points, only_along(axis, num, rank))


@known
def only_along(axis, length, rank):
    """The shape of ones but for the length of one axis."""
    return tuple(length if k == axis % rank else 1 for k in range(rank))


def meets_end(start, stop, **_):
    """The ends are as long, or one of them stretches."""
    yield from zip((start.dims or ())[::-1], (stop.dims or ())[::-1], strict=False)


@linear_row(
    np.linspace,
    signature="start, stop, num=50, endpoint=True, axis=0",
    operands=("start", "stop"),
    runtime=("num",),
    meets=meets_end,
    stretches=True,
    samples=(
        given(0.3, 2.1, 5),
        given(0.3, 2.1, 4, endpoint=False),
        given(-1.0, 1.0, num=1),
        given(ROW, 2.0, 3),
        given(ROW, 2.0, 3, axis=-1),
        given(TABLE_OF_SIX, ROW[:3], 4, axis=1),
    ),
)
def linspace(start, stop, num, endpoint, axis, y_bar):
    """Numbers at equal distances from start to stop."""
    t = steps(num, endpoint, axis, y_bar.ndim)
    return (
        onto(y_bar * (1.0 - t), axis, start),
        onto(y_bar * t, axis, stop),
    )


def onto(terms, axis, end):
    """The terms of all points, added up in the shape of an end."""
    if np.ndim(end) == 0:
        return np.sum(terms)
    return summed_to(np.sum(terms, axis=axis), end.shape)


@linear_row(
    np.meshgrid,
    signature="*xi, indexing='xy'",
    operands=("xi",),
    samples=(
        given(ROW, ROW[:3]),
        given(ROW, ROW[:3], ROW[:2], indexing="ij"),
        given(ROW, ROW[:3], ROW[:2]),
        given(ROW),
        given(ROW[:, None], ROW[0]),
    ),
)
def meshgrid(xi, indexing, y_bar):
    """The coordinates of all points of a grid, axis by axis."""
    return [along_axis(xi, k, indexing, y_bar) for k in range(len(xi))]


def along_axis(xi, k, indexing, y_bar):
    """What reaches one of the axes; an array of any other rank was laid out flat."""
    others = other_axes(k, len(xi), indexing)
    found = np.sum(y_bar[k], axis=others) if len(xi) > 1 else y_bar[k]
    return found if np.ndim(xi[k]) == 1 else np.reshape(found, np.shape(xi[k]))


@known
def other_axes(k, count, indexing):
    """The axes along which a coordinate does not change; 'xy' swaps the first two."""
    swapped = indexing == "xy" and count > 1 and k < 2
    own = 1 - k if swapped else k
    others = tuple(axis for axis in range(count) if axis != own)
    return others[0] if len(others) == 1 else others


def arange_tangent(start, stop, step, y, start_dot, stop_dot, step_dot):
    """The start moves all numbers, the step each one by its place."""
    return (
        np.full_like(y, 0.0 if stop is None else start_dot),
        np.zeros_like(y),
        np.zeros_like(y) if step is None else np.arange(y.size) * step_dot,
    )


def counted(start, stop, step, dtype):
    """As many as fit: a linear form where ints are one apart, else left open."""
    bounds = [b for b in (start, stop, step) if b is not None]
    weak = [int if isinstance(b, Linear | int) else b.weak() for b in bounds]
    found = np.arange(*(np.dtype(w).type(1) for w in weak)).dtype
    if found.kind not in "iu" or not (step is None or step == 1):
        return array(dtype or found, (VARYING,))
    first, last = (0, start) if stop is None else (start, stop)
    are_ints = isinstance(first, Linear | int) and isinstance(last, Linear | int)
    count = linear(last) - linear(first) if are_ints else VARYING
    return array(dtype or found, (count,))


@general(
    np.arange,
    signature="start, stop=None, step=None, dtype=None",
    operands=("start", "stop", "step"),
    result=counted,
    tangent=arange_tangent,
    complex_too=False,
    samples=(
        given(4.3),
        given(0.3, 2.1),
        given(0.3, 2.1, 0.25),
        given(5),
        given(1, 7, 2),
    ),
)
def arange(start, stop, step, y, y_bar):
    """Numbers from a start, one step apart; how many follows from the stop."""
    return (
        0.0 if stop is None else np.sum(y_bar),
        0.0,
        0.0 if step is None else np.sum(np.arange(y.size) * y_bar),
    )


constant(
    np.where,
    np.nonzero,
    np.flatnonzero,
    np.argwhere,
    reason="positions are integers",
    signature="a",
    ragged=True,
    samples=(given(ROW > 0.5), given(TABLE_OF_SIX > 0.5)),
)
constant(
    np.argsort,
    reason="positions are integers",
    signature="a, axis=-1, kind=None",
    samples=(
        given(ROW),
        given(TABLE_OF_SIX, axis=0),
        given(TABLE_OF_SIX, axis=None),
        given(ROW, kind="stable"),
    ),
)
constant(
    np.searchsorted,
    reason="positions are integers",
    signature="a, v, side='left'",
    operands=("a", "v"),
    samples=(given(np.sort(ROW), 0.5), given(np.sort(ROW), ROW, side="right")),
)


def mesh(args):
    """Each vector along an axis of its own; where a mask holds is open."""
    parts = []
    for k, a in enumerate(args):
        length = VARYING if a.is_bool else a.dims[0]
        dims = (length if j == k else linear(1) for j in range(len(args)))
        parts.append(array("int64" if a.is_bool else a.dtype, tuple(dims)))
    return tuple(parts)


constant(
    np.ix_,
    reason="positions are integers",
    signature="*args",
    operands=("args",),
    result=mesh,
    samples=(given([0, 1], [1, 2]), given(ROW > 0.5, [1, 2])),
)
constant(
    np.fft.fftfreq,
    np.fft.rfftfreq,
    reason="frequencies follow from a length",
    signature="n, d=1.0",
    operands=(),
    runtime=("n", "d"),
    samples=(given(4), given(5, 0.5)),
)
