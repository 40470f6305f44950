"""Fourier transforms: sums over frequencies, each its own transpose.

A transform of complex numbers multiplies by a symmetric matrix, so its cotangent is
the same transform of the cotangent.  Those to and from the half spectrum of real
numbers count the frequencies that the half stands for twice.
"""

# Rules are formulas: they have operands, not types.
# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from gradwright.transform.primitives.record import given, known, linear
from gradwright.transform.primitives.shaping import along

ROW = np.array([0.7, -1.3, 2.1, 0.4, -0.6])
EVEN = np.array([0.7, -1.3, 2.1, 0.4])
ONE = np.array([1.7])
TABLE = np.array([[0.7, -1.3, 2.1], [0.4, 1.6, -0.8]])
CUBE = np.arange(24.0).reshape(2, 3, 4) / 7 - 1.3 + np.eye(3, 4)

ALONG_ONE = (
    ROW,
    EVEN,
    ONE,
    given(TABLE, axis=0),
    given(TABLE, norm="ortho"),
    given(ROW, norm="forward"),
    given(ROW, 3),
    given(ROW, 8),
    given(TABLE, n=5, axis=0),
)


def resized(x, length, axis):
    """As long along an axis: cut off, or with zeros behind."""
    zeros = np.pad(x, behind(axis, x.ndim, length))
    return along(zeros, axis, None, length)


@known
def behind(axis, rank, length):
    """The widths of a border behind one axis."""
    widths = [(0, 0)] * rank
    widths[axis] = (0, length)
    return tuple(widths)


# ---- along one axis ----------------------------------------------------------------


@linear(
    np.fft.fft,
    signature="a, n=None, axis=-1, norm=None",
    runtime=("n",),
    samples=ALONG_ONE,
)
def fft(a, n, axis, norm, y_bar):
    """The amplitudes of all frequencies."""
    found = np.fft.fft(y_bar, axis=axis, norm=norm)
    return found if n is None else resized(found, a.shape[axis], axis)


@linear(
    np.fft.ifft,
    signature="a, n=None, axis=-1, norm=None",
    runtime=("n",),
    samples=ALONG_ONE,
)
def ifft(a, n, axis, norm, y_bar):
    """The numbers of given amplitudes."""
    found = np.fft.ifft(y_bar, axis=axis, norm=norm)
    return found if n is None else resized(found, a.shape[axis], axis)


@linear(
    np.fft.rfft,
    signature="a, n=None, axis=-1, norm=None",
    runtime=("n",),
    complex_too=False,
    samples=ALONG_ONE,
)
def rfft(a, n, axis, norm, y_bar):
    """The amplitudes of real numbers, up to half of all frequencies."""
    count = a.shape[axis] if n is None else n
    found = np.real(np.fft.fft(y_bar, count, axis=axis, norm=norm))
    return found if n is None else resized(found, a.shape[axis], axis)


@linear(
    np.fft.irfft,
    signature="a, n=None, axis=-1, norm=None",
    runtime=("n",),
    samples=(
        EVEN,
        given(EVEN, 5),
        given(EVEN, n=7),
        given(EVEN, 9),
        given(TABLE, axis=0),
        given(TABLE, norm="ortho"),
        given(EVEN, 7, norm="forward"),
    ),
)
def irfft(a, n, axis, norm, y_bar):
    """The real numbers of the amplitudes of half the frequencies."""
    half = np.conj(np.fft.rfft(y_bar, axis=axis, norm=opposite(norm)))
    found = half * twice(half, y_bar.shape[axis], axis)
    return found if n is None else resized(found, a.shape[axis], axis)


@known
def opposite(norm):
    """The scaling of the transform the other way."""
    return {None: "forward", "backward": "forward", "forward": None}.get(norm, norm)


def twice(half, n, axis):
    """For how many of n frequencies each of half of them stands."""
    k = np.arange(half.shape[axis])
    times = np.where((k == 0) | (2 * k == n), 1.0, 2.0)
    places = places_behind(axis, half.ndim)
    return times if places == 0 else times[(slice(None),) + (None,) * places]


@known
def places_behind(axis, rank):
    """How many axes stand behind one."""
    return rank - 1 - axis % rank


# ---- along several axes ------------------------------------------------------------

ALONG_ALL = (
    TABLE,
    CUBE,
    given(CUBE, axes=(0, 2)),
    given(TABLE, norm="ortho"),
    given(TABLE, s=(3, 2), axes=(0, 1)),
)


def resized_all(x, a, s, axes):
    """As long as an array along axes."""
    if s is None:
        return x
    for axis in axes_of(axes, a.ndim):
        x = resized(x, a.shape[axis], axis)
    return x


@known
def axes_of(axes, rank):
    """The axes that a transform is along."""
    return tuple(range(rank)) if axes is None else tuple(axes)


@linear(
    np.fft.fftn,
    signature="a, s=None, axes=None, norm=None",
    runtime=("s",),
    samples=ALONG_ALL,
)
def fftn(a, s, axes, norm, y_bar):
    """The amplitudes along several axes."""
    return resized_all(np.fft.fftn(y_bar, axes=axes, norm=norm), a, s, axes)


@linear(
    np.fft.ifftn,
    signature="a, s=None, axes=None, norm=None",
    runtime=("s",),
    samples=ALONG_ALL,
)
def ifftn(a, s, axes, norm, y_bar):
    """The numbers of given amplitudes along several axes."""
    return resized_all(np.fft.ifftn(y_bar, axes=axes, norm=norm), a, s, axes)


@linear(
    np.fft.fft2,
    signature="a, s=None, axes=(-2, -1), norm=None",
    runtime=("s",),
    samples=ALONG_ALL,
)
def fft2(a, s, axes, norm, y_bar):
    """The amplitudes along two axes."""
    return resized_all(np.fft.fft2(y_bar, axes=axes, norm=norm), a, s, axes)


@linear(
    np.fft.ifft2,
    signature="a, s=None, axes=(-2, -1), norm=None",
    runtime=("s",),
    samples=ALONG_ALL,
)
def ifft2(a, s, axes, norm, y_bar):
    """The numbers of given amplitudes along two axes."""
    return resized_all(np.fft.ifft2(y_bar, axes=axes, norm=norm), a, s, axes)


HALF = (TABLE, CUBE, given(CUBE, axes=(0, 2)), given(TABLE, norm="ortho"))


@linear(
    np.fft.rfftn,
    signature="a, axes=None, norm=None",
    complex_too=False,
    samples=HALF,
)
def rfftn(a, axes, norm, y_bar):
    """The amplitudes of real numbers, along the last axis up to half of them."""
    return full_of(a, axes_of(axes, a.ndim), norm, y_bar)


@linear(
    np.fft.rfft2,
    signature="a, axes=(-2, -1), norm=None",
    complex_too=False,
    samples=HALF,
)
def rfft2(a, axes, norm, y_bar):
    """The amplitudes of real numbers along two axes."""
    return full_of(a, axes, norm, y_bar)


def full_of(a, axes, norm, y_bar):
    """The transform of the half, with zeros for the other half."""
    lengths = tuple([a.shape[k] for k in axes])
    return np.real(np.fft.fftn(y_bar, s=lengths, axes=axes, norm=norm))


@linear(
    np.fft.irfftn,
    signature="a, axes=None, norm=None",
    samples=HALF,
)
def irfftn(a, axes, norm, y_bar):
    """The real numbers of the amplitudes of half the frequencies of the last axis."""
    half = np.conj(np.fft.rfftn(y_bar, axes=axes, norm=opposite(norm)))
    return half * twice_last(half, y_bar, axes_of(axes, a.ndim))


@linear(
    np.fft.irfft2,
    signature="a, axes=(-2, -1), norm=None",
    samples=HALF,
)
def irfft2(a, axes, norm, y_bar):
    """The real numbers of the amplitudes of half the frequencies of two axes."""
    half = np.conj(np.fft.rfft2(y_bar, axes=axes, norm=opposite(norm)))
    return half * twice_last(half, y_bar, axes)


def twice_last(half, y_bar, axes):
    """The same of the last of several axes."""
    return twice(half, y_bar.shape[axes[-1]], axes[-1])


# ---- the order of frequencies ------------------------------------------------------

SHIFTS = (ROW, EVEN, TABLE, given(TABLE, axes=1), given(CUBE, axes=(0, 2)))


@linear(np.fft.fftshift, signature="x, axes=None", samples=SHIFTS)
def fftshift(axes, y_bar):
    """Frequency 0 in the middle."""
    return np.fft.ifftshift(y_bar, axes=axes)


@linear(np.fft.ifftshift, signature="x, axes=None", samples=SHIFTS)
def ifftshift(axes, y_bar):
    """Frequency 0 first again."""
    return np.fft.fftshift(y_bar, axes=axes)
