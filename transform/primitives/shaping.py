"""Other shapes of the same elements: reshaped, turned, joined, repeated, padded."""

# Rules are formulas: they have operands, not types.
# mypy: allow-untyped-defs, allow-untyped-calls

import itertools
import math

import numpy as np

from gradwright.transform.indices import Linear, linear
from gradwright.transform.primitives.record import (
    composition,
    general,
    given,
    has_none,
    known,
)
from gradwright.transform.primitives.record import linear as linear_row
from gradwright.transform.types import INT, VARYING, array

ROW = np.array([0.7, -1.3, 2.1, 0.4])
TABLE_OF_SIX = np.array([[0.7, -1.3, 2.1], [0.4, 1.6, -0.8]])
CUBE = np.arange(24.0).reshape(2, 3, 4) / 7 - 1.3
ONE = np.array([1.7])
NONE = np.array([])
NO_ROWS = np.zeros((0, 3))

# ---- the same elements in another order --------------------------------------------


def stretched(array, shape):
    """The dims that a shape says."""
    return reshaped(array, shape)


def meets_stretched(array, shape):
    """The lengths are those of the shape, as long as they are not one."""
    wanted = shape if isinstance(shape, tuple | list) else (shape,)
    own = array.dims or ()
    yield from ((d, linear(n)) for d, n in zip(own[::-1], wanted[::-1], strict=False))


def typed(operand):
    """The type of an operand; of a form of integers, an int's."""
    return INT if isinstance(operand, Linear) else operand


def reshaped(a, shape):
    """The dims that a shape says; a -1 where it follows from the others."""
    a = typed(a)
    wanted = shape if isinstance(shape, tuple | list) else (shape,)
    dims = [linear(n) for n in wanted]
    for k, n in enumerate(dims):
        if n.constant == -1:
            dims[k] = what_is_left(a.dims or (), [*dims[:k], *dims[k + 1 :]])
    return array(a.dtype, tuple(dims))


def what_is_left(dims, others):
    """The length that makes as many elements, where it is a linear form."""
    factor = math.prod(d.constant for d in others if d.constant is not None)
    left = [d for d in dims if d.constant is None]
    for d in others:
        if d.constant is None and d in left:
            left.remove(d)
        elif d.constant is None:
            return VARYING
    total = math.prod(d.constant for d in dims if d.constant is not None)
    if len(left) > 1 or not factor or total % factor:
        return VARYING
    return left[0] * (total // factor) if left else linear(total // factor)


@linear_row(
    np.reshape,
    signature="a, shape",
    runtime=("shape",),
    result=reshaped,
    samples=(
        given(TABLE_OF_SIX, (3, 2)),
        given(CUBE, (4, -1)),
        given(ONE, (1, 1)),
        given(NONE, (0, 2)),
        given(ONE, ()),
    ),
    through="rows",
)
def reshape(a, y_bar):
    """The elements in row order in another shape."""
    return np.reshape(y_bar, a.shape)


@linear_row(
    np.ravel, signature="a", samples=(TABLE_OF_SIX, CUBE, ONE, NO_ROWS), through="rows"
)
def ravel(a, y_bar):
    """The elements in row order as one axis."""
    return np.reshape(y_bar, a.shape)


@linear_row(
    np.transpose,
    signature="a, axes=None",
    samples=(
        TABLE_OF_SIX,
        given(CUBE, (2, 0, 1)),
        given(CUBE, axes=(0, -1, 1)),
        ONE,
        given(ROW, 0),
    ),
    through="always",
)
def transpose(a, axes, y_bar):
    """The axes in another order, in the reverse one where none is said."""
    return np.transpose(y_bar) if axes is None else np.transpose(y_bar, inverse(axes))


@known
def inverse(axes):
    """The order of axes that undoes an order of axes, or the one axis there is."""
    order = (axes,) if isinstance(axes, int) else axes
    return tuple(int(k) for k in np.argsort([a % len(order) for a in order]))


@linear_row(
    np.swapaxes,
    signature="a, axis1, axis2",
    samples=(given(TABLE_OF_SIX, 0, 1), given(CUBE, -1, 0)),
    through="always",
)
def swapaxes(axis1, axis2, y_bar):
    """Two axes exchanged."""
    return np.swapaxes(y_bar, axis1, axis2)


@linear_row(
    np.moveaxis,
    signature="a, source, destination",
    samples=(given(TABLE_OF_SIX, 0, -1), given(CUBE, (0, 1), (2, 0))),
    through="always",
)
def moveaxis(source, destination, y_bar):
    """Axes moved to other places."""
    return np.moveaxis(y_bar, destination, source)


def lengths_unless_told(a, axis=None):
    """Every length, where none of the axes to go is named."""
    return () if axis is not None else a.dims or ()


@linear_row(
    np.squeeze,
    signature="a, axis=None",
    unlike_one=lengths_unless_told,
    samples=(ONE, given(TABLE_OF_SIX[:, :1], axis=1), given(TABLE_OF_SIX[None])),
    through="always",
)
def squeeze(a, y_bar):
    """Without axes of length one."""
    return np.reshape(y_bar, a.shape)


@linear_row(
    np.expand_dims,
    signature="a, axis",
    samples=(given(ROW, 0), given(ROW, 1), given(TABLE_OF_SIX, (0, 3))),
    through="always",
)
def expand_dims(axis, y_bar):
    """With axes of length one more."""
    return np.squeeze(y_bar, axis=axis)


@linear_row(
    np.flip,
    signature="m, axis=None",
    samples=(ROW, TABLE_OF_SIX, given(TABLE_OF_SIX, axis=1), NONE),
    through="always",
)
def flip(axis, y_bar):
    """The elements along axes in the reverse order."""
    return np.flip(y_bar, axis=axis)


@linear_row(
    np.roll,
    signature="a, shift, axis=None",
    runtime=("shift",),
    samples=(
        given(ROW, 1),
        given(TABLE_OF_SIX, -2),
        given(TABLE_OF_SIX, 1, axis=1),
        given(TABLE_OF_SIX, (1, 1), axis=(0, 1)),
        given(NONE, 1),
    ),
)
def roll(shift, axis, y_bar):
    """The elements shifted along axes, round the end."""
    return np.roll(y_bar, opposite(shift), axis=axis)


def opposite(shift):
    """The shift back."""
    return tuple(-s for s in shift) if isinstance(shift, tuple) else -shift


@composition(np.fliplr, samples=(given(TABLE_OF_SIX),))
def fliplr(m):
    """The elements of each row in the reverse order."""
    return m[:, ::-1]


@composition(np.flipud, samples=(given(TABLE_OF_SIX),))
def flipud(m):
    """The rows in the reverse order."""
    return m[::-1]


@composition(
    np.rot90,
    samples=(
        given(TABLE_OF_SIX),
        given(TABLE_OF_SIX, 2),
        given(CUBE, -1, axes=(1, 2)),
    ),
)
def rot90(m, k=1, axes=(0, 1)):
    """Turned by k right angles, from the first of two axes to the second."""
    if k % 4 == 0:
        return m[:]
    if k % 4 == 2:
        return np.flip(np.flip(m, axis=axes[0]), axis=axes[1])
    if k % 4 == 1:
        return np.swapaxes(np.flip(m, axis=axes[1]), axes[0], axes[1])
    return np.flip(np.swapaxes(m, axes[0], axes[1]), axis=axes[1])


@composition(
    np.atleast_1d,
    samples=(
        given(ROW),
        given(0.7),
    ),
)
def atleast_1d(a):
    """An array of one axis at least."""
    return np.reshape(a, (1,)) if np.ndim(a) == 0 else a


@composition(
    np.atleast_2d,
    samples=(
        given(ROW),
        given(TABLE_OF_SIX),
    ),
)
def atleast_2d(a):
    """An array of two axes at least."""
    return np.atleast_1d(a)[None, :] if np.ndim(a) < 2 else a


# ---- repeated ----------------------------------------------------------------------


@linear_row(
    np.broadcast_to,
    signature="array, shape",
    runtime=("shape",),
    meets=meets_stretched,
    stretches=True,
    result=stretched,
    samples=(
        given(ROW, (3, 4)),
        given(TABLE_OF_SIX[:, :1], (2, 5)),
        given(ONE, (0,)),
        given(TABLE_OF_SIX[:1], (2, 4, 3)),
    ),
    view=True,
)
def broadcast_to(array, y_bar):
    """Stretched to a shape."""
    return summed_to(y_bar, array.shape)


def summed_to(y_bar, shape):
    """A cotangent summed over the axes that were stretched."""
    lead = np.ndim(y_bar) - len(shape)
    ones = stretched_axes(shape, y_bar.shape)
    inner = np.sum(y_bar, axis=first(lead)) if lead else y_bar
    return np.sum(inner, axis=ones, keepdims=True) if ones else inner


@known
def first(count):
    """The first axes, so many."""
    return one_or_all(range(count))


def one_or_all(axes):
    """Axes as one writes them: a single one by itself."""
    found = tuple(axes)
    return found[0] if len(found) == 1 else found


@known
def stretched_axes(shape, full):
    """The axes of length one that another shape has longer."""
    long = full[len(full) - len(shape) :]
    return tuple(k for k, n in enumerate(shape) if is_one(n) and not is_one(long[k]))


def is_one(n):
    """Whether a length is known to be one."""
    return getattr(n, "constant", n) == 1


@linear_row(
    np.repeat,
    signature="a, repeats, axis=None",
    samples=(
        given(ROW, 3),
        given(TABLE_OF_SIX, 2),
        given(TABLE_OF_SIX, 2, axis=1),
        given(TABLE_OF_SIX, 1, axis=0),
        given(NONE, 2),
    ),
)
def repeat(a, repeats, axis, y_bar):
    """Each element, or each slice along an axis, so many times."""
    return (
        np.reshape(np.sum(np.reshape(y_bar, (-1, repeats)), axis=1), a.shape)
        if axis is None
        else np.sum(
            np.reshape(y_bar, split_axis(a.shape, axis, repeats)),
            axis=after(axis, a.ndim),
        )
    )


@known
def split_axis(shape, axis, repeats):
    """The shape with an axis of repeats behind an axis."""
    k = axis % len(shape)
    return (*shape[: k + 1], repeats, *shape[k + 1 :])


@known
def after(axis, rank):
    """The axis behind an axis."""
    return axis % rank + 1


@linear_row(
    np.tile,
    signature="A, reps",
    samples=(
        given(ROW, 3),
        given(ROW, (2, 2)),
        given(TABLE_OF_SIX, (2, 1)),
        given(TABLE_OF_SIX, 2),
        given(TABLE_OF_SIX, (2, 1, 3)),
        given(NONE, 2),
    ),
)
def tile(A, reps, y_bar):
    """The whole array side by side, so many times along each axis."""
    times = all_repeats(reps, A.ndim)
    return np.reshape(
        np.sum(np.reshape(y_bar, paired(times, A.shape)), axis=every_other(len(times))),
        A.shape,
    )


@known
def all_repeats(reps, rank):
    """A number of repeats for every axis of the result."""
    times = tuple(reps) if isinstance(reps, tuple | list) else (reps,)
    return (1,) * (rank - len(times)) + times


@known
def paired(times, shape):
    """Repeats and lengths in turn, axis by axis."""
    full = (1,) * (len(times) - len(shape)) + tuple(shape)
    return tuple(n for pair in zip(times, full, strict=True) for n in pair)


@known
def every_other(count):
    """The axes 0, 2, 4 ..., so many."""
    return tuple(range(0, 2 * count, 2))


# ---- joined and cut ----------------------------------------------------------------


def meets_joined(arrays, axis=0, **_):
    """Along all other axes the arrays are of one length."""
    arrays = [typed(a) for a in arrays]
    for head, other in zip(arrays[:1] * len(arrays), arrays[1:], strict=False):
        for k, (n, m) in enumerate(
            zip(head.dims or (), other.dims or (), strict=False)
        ):
            if k != axis % head.rank:
                yield n, m


def joined(arrays, axis=0):
    """As long along the axis as all arrays together."""
    arrays = [typed(a) for a in arrays]
    ones = [np.ones((1,) * a.rank, a.dtype) for a in arrays]
    dtype = np.concatenate(ones, axis=axis).dtype  # or NumPy's error
    k = axis % arrays[0].rank
    dims, lengths = list(arrays[0].dims), [a.dims[k] for a in arrays]
    dims[k] = VARYING if VARYING in lengths else sum(lengths[1:], lengths[0])
    return array(dtype, tuple(dims))


@linear_row(
    np.concatenate,
    signature="arrays, axis=0",
    sequences=("arrays",),
    meets=meets_joined,
    result=joined,
    samples=(
        given((ROW, ONE, NONE)),
        given([TABLE_OF_SIX, TABLE_OF_SIX[:, :1]], axis=1),
        given([TABLE_OF_SIX], axis=-1),
    ),
)
def concatenate(arrays, axis, y_bar):
    """Arrays one behind the other along an axis."""
    return [
        along(y_bar, axis, lower, upper)
        for lower, upper in bounds(arrays, axis % y_bar.ndim)
    ]


def bounds(arrays, axis):
    """Where each of several arrays begins and ends along an axis; None at the ends."""
    found: list[tuple[int | None, int | None]] = []
    end = 0
    for k, a in enumerate(arrays):
        start = end
        end = end + a.shape[axis]
        last = k == len(arrays) - 1
        found = [*found, (start if k else None, None if last else end)]
    return found


def along(x, axis, lower, upper):
    """A slice along one axis."""
    return x[(slice(None),) * (axis % x.ndim) + (slice(lower, upper),)]


def meets_alike(arrays, **_):
    """All arrays have one shape."""
    for head, other in itertools.pairwise(map(typed, arrays)):
        yield from zip(head.dims or (), other.dims or (), strict=False)


@linear_row(
    np.stack,
    signature="arrays, axis=0",
    sequences=("arrays",),
    meets=meets_alike,
    samples=(
        given((ROW, ROW + 1.0)),
        given([TABLE_OF_SIX, 2.0 * TABLE_OF_SIX], axis=1),
        given([ROW, ROW, ROW], axis=-1),
        given([NONE, NONE]),
    ),
)
def stack(arrays, axis, y_bar):
    """Arrays of one shape along a new axis."""
    return [picked(y_bar, axis, k) for k in range(len(arrays))]


def picked(x, axis, k):
    """One slice along one axis."""
    return x[(slice(None),) * (axis % x.ndim) + (k,)]


@composition(apart=True)
def concatenate_items(arrays, first, axis):
    """The items of a list, which may differ in length, one after another."""
    for k, a in enumerate(arrays):
        for other in range(first.ndim):
            if other != axis and a.shape[other] != first.shape[other]:
                raise ValueError(
                    "all the input array dimensions except for the concatenation axis "
                    f"must match exactly, but along dimension {other}, the array at "
                    f"index 0 has size {first.shape[other]} and the array at index {k} "
                    f"has size {a.shape[other]}"
                )
    length = 0
    for a in arrays:
        length += a.shape[axis]
    shape = (*first.shape[:axis], length, *first.shape[axis + 1 :])
    whole = np.zeros(shape, dtype=first.dtype)
    start = 0
    for a in arrays:
        stop = start + a.shape[axis]
        if axis == 0:
            whole[start:stop] = a
        else:
            np.moveaxis(whole, axis, 0)[start:stop] = np.moveaxis(a, axis, 0)
        start = stop
    return whole


@composition(
    np.hstack,
    samples=(
        given((ROW, ONE)),
        given([TABLE_OF_SIX, TABLE_OF_SIX]),
    ),
)
def hstack(tup):
    """Arrays side by side."""
    arrays = [np.atleast_1d(a) for a in tup]
    return np.concatenate(arrays, axis=0 if arrays[0].ndim == 1 else 1)


@composition(
    np.vstack,
    samples=(
        given((ROW, ROW + 1.0)),
        given([TABLE_OF_SIX, NO_ROWS]),
    ),
)
def vstack(tup):
    """Arrays below each other."""
    return np.concatenate([np.atleast_2d(a) for a in tup], axis=0)


@composition(np.column_stack, samples=(given((ROW, ROW + 1.0)),))
def column_stack(tup):
    """Vectors and matrices as columns."""
    return np.concatenate([as_columns(a) for a in tup], axis=1)


def as_columns(a):
    """A vector as one column, a matrix itself."""
    return a[:, None] if np.ndim(a) == 1 else np.atleast_2d(a)


@composition(
    np.append,
    samples=(
        given(ROW, ONE),
        given(TABLE_OF_SIX, TABLE_OF_SIX, axis=1),
    ),
)
def append(arr, values, axis=None):
    """Two arrays joined; flat where no axis is said."""
    if axis is None:
        return np.concatenate([np.ravel(arr), np.ravel(values)])
    return np.concatenate([arr, values], axis=axis)


@linear_row(
    np.split,
    np.array_split,
    signature="ary, indices_or_sections, axis=0",
    samples=(
        given(ROW, 2),
        given(ROW, [1, 3]),
        given(TABLE_OF_SIX, [2], axis=1),
        given(TABLE_OF_SIX, 1),
    ),
    ragged=True,  # an index may lie behind the end
    view=True,
)
def split(axis, y_bar):
    """An array cut along an axis, in equal parts or at indices."""
    return np.concatenate(y_bar, axis=axis)


@composition(
    np.diff,
    samples=(
        given(ROW),
        given(TABLE_OF_SIX, axis=0),
        given(ROW, n=2),
        given(ROW, prepend=0.4),
    ),
)
def diff(a, n=1, axis=-1, prepend=None, append=None):
    """The differences of neighbours along an axis, n times over."""
    parts = [] if prepend is None else [end_of(prepend, a, axis)]
    parts = [*parts, a]
    if append is not None:
        parts = [*parts, end_of(append, a, axis)]
    a = np.concatenate(parts, axis=axis) if len(parts) > 1 else a
    for _ in range(n):
        a = along(a, axis, 1, None) - along(a, axis, None, -1)
    return a


def end_of(value, a, axis):
    """What `diff` puts before or behind: a number fills one slice."""
    if np.ndim(value) == 0:
        return np.broadcast_to(value, one_long(a.shape, axis))
    return value


@known
def one_long(shape, axis):
    """The shape with length one along an axis."""
    k = axis % len(shape)
    return (*shape[:k], 1, *shape[k + 1 :])


# ---- with a border -----------------------------------------------------------------


@linear_row(
    np.pad,
    signature="array, pad_width, mode='constant', constant_values=0",
    operands=("array", "constant_values"),
    runtime=("pad_width",),
    choices={"mode": ("constant", "edge", "reflect", "symmetric", "wrap")},
    samples=(
        given(ROW, 2),
        given(ROW, (1, 2), constant_values=0.5),
        given(TABLE_OF_SIX, ((1, 0), (0, 1)), mode="edge"),
        given(TABLE_OF_SIX, ((1, 2), (2, 1)), mode="reflect"),
        given(TABLE_OF_SIX, 1, mode="wrap"),
        given(TABLE_OF_SIX, ((2, 1),), mode="symmetric"),
        given(NONE, 1),
    ),
)
def pad(array, pad_width, mode, constant_values, y_bar):
    """An array with a border, of a constant or of its own elements."""
    widths = widths_of(pad_width, array.ndim)
    return (
        inner_part(y_bar, widths, array.shape)
        if mode == "constant"
        else folded_in(y_bar, widths, mode, array.shape),
        np.sum(y_bar) - np.sum(inner_part(y_bar, widths, array.shape)),
    )


@known
def widths_of(pad_width, rank):
    """Widths before and behind, for every axis."""
    pairs = np.broadcast_to(np.asarray(pad_width), (rank, 2))
    return tuple((int(before), int(behind)) for before, behind in pairs)


def inner_part(y_bar, widths, shape):
    """The elements that are no border."""
    return y_bar[
        tuple(slice(w[0], w[0] + n) for w, n in zip(widths, shape, strict=False))
    ]


def folded_in(y_bar, widths, mode, shape):
    """The border added to the elements that it repeats, axis by axis."""
    for axis in range(len(widths)):
        if widths[axis][0] + widths[axis][1] > 0:
            sources = np.pad(np.arange(shape[axis]), widths[axis], mode=mode)
            y_bar = added_by(y_bar, sources, axis, shape[axis])
    return y_bar


def added_by(y_bar, sources, axis, length):
    """Slices along an axis, those of one source added up."""
    chosen = sources[:, None] == np.arange(length)
    return np.moveaxis(np.tensordot(y_bar, 1.0 * chosen, axes=([axis], [0])), -1, axis)


# ---- parts of matrices -------------------------------------------------------------


@linear_row(
    np.tril,
    signature="m, k=0",
    runtime=("k",),
    samples=(ROW, TABLE_OF_SIX, given(TABLE_OF_SIX, 1), given(CUBE, -1)),
)
def tril(m, k, y_bar):
    """The elements on and below a diagonal; a vector is taken for every row."""
    kept = np.tril(y_bar, k)
    return np.sum(kept, axis=0) if m.ndim == 1 else kept


@linear_row(
    np.triu,
    signature="m, k=0",
    runtime=("k",),
    samples=(ROW, TABLE_OF_SIX, given(TABLE_OF_SIX, 1), given(CUBE, -1)),
)
def triu(m, k, y_bar):
    """The elements on and above a diagonal; a vector is taken for every row."""
    kept = np.triu(y_bar, k)
    return np.sum(kept, axis=0) if m.ndim == 1 else kept


@composition(np.hsplit, samples=(given(ROW, 2), given(TABLE_OF_SIX, [2])))
def hsplit(ary, indices_or_sections):
    """An array cut into columns; one with one axis along that."""
    return np.split(ary, indices_or_sections, axis=0 if ary.ndim == 1 else 1)


@composition(np.vsplit, samples=(given(TABLE_OF_SIX, 2), given(CUBE, [1])))
def vsplit(ary, indices_or_sections):
    """An array cut into rows."""
    return np.split(ary, indices_or_sections)


@linear_row(
    np.diag,
    signature="v, k=0",
    samples=(
        ROW,
        given(ROW, 1),
        given(ROW, -2),
        TABLE_OF_SIX,
        given(TABLE_OF_SIX, 1),
        given(TABLE_OF_SIX, -1),
        given(TABLE_OF_SIX[:, :2]),
    ),
    view=True,
)
def diag(v, k, y_bar):
    """The matrix of a diagonal, or the diagonal of a matrix."""
    return np.diagonal(y_bar, k) if v.ndim == 1 else on_diagonal(y_bar, k, v.shape)


def on_diagonal(y_bar, k, shape):
    """A matrix of a shape with these elements on a diagonal, or many of them."""
    if len(shape) > 2:
        return each_on_diagonal(y_bar, k, shape)
    if k == 0 and are_equal(shape[0], shape[1]):
        return np.diag(y_bar)
    before = below(k)
    column = np.pad(y_bar, (before, shape[0]))[: shape[0]]
    return np.eye(shape[0], shape[1], k) * column[:, None]


@known
def below(k):
    """How many rows stand above where a diagonal begins."""
    return max(-k, 0)


def each_on_diagonal(y_bar, k, shape):
    """The same for every diagonal along two leading axes."""
    before = max(-k, 0)
    border = (*((0, 0) for _ in shape[2:]), (before, shape[0]))
    columns = np.pad(y_bar, border)[..., : shape[0], None]
    return np.moveaxis(np.eye(shape[0], shape[1], k) * columns, (-2, -1), (0, 1))


@known
def are_equal(n, m):
    """Whether two lengths are known to be equal."""
    return n == m


@linear_row(
    np.diagonal,
    signature="a, offset=0, axis1=0, axis2=1",
    samples=(
        TABLE_OF_SIX,
        given(TABLE_OF_SIX, 1),
        given(TABLE_OF_SIX, -1),
        given(TABLE_OF_SIX, 1, axis1=1, axis2=0),
        given(CUBE),
        given(CUBE, -1),
        given(CUBE, axis1=-2, axis2=-1),
        given(CUBE, -1, axis1=2, axis2=0),
    ),
    view=True,
)
def diagonal(a, offset, axis1, axis2, y_bar):
    """The diagonal of a matrix, or of each along two axes."""
    return on_diagonal_of(y_bar, offset, axis1, axis2, a.shape)


def on_diagonal_of(y_bar, k, axis1, axis2, shape):
    """The same for a diagonal along two of the axes of a shape."""
    if are_in_front(axis1, axis2, len(shape)):
        return on_diagonal(y_bar, k, shape)
    found = on_diagonal(y_bar, k, with_in_front(axis1, axis2, shape))
    return np.moveaxis(found, (0, 1), (axis1, axis2))


@known
def are_in_front(axis1, axis2, rank):
    """Whether two axes are the first ones, in this order."""
    return (axis1 % rank, axis2 % rank) == (0, 1)


@known
def with_in_front(axis1, axis2, shape):
    """A shape with two of its axes in front."""
    two = axis1 % len(shape), axis2 % len(shape)
    others = (k for k in range(len(shape)) if k not in two)
    return tuple(shape[k] for k in (*two, *others))


@composition(
    np.trace,
    samples=(
        given(TABLE_OF_SIX),
        given(TABLE_OF_SIX, 1),
        given(CUBE, axis1=1, axis2=2),
    ),
)
def trace(a, offset=0, axis1=0, axis2=1):
    """The sum of the diagonal of a matrix, or of each along two axes."""
    found = np.diagonal(a, offset, axis1, axis2)
    return np.sum(found) if np.ndim(a) == 2 else np.sum(found, axis=-1)


# ---- picked and sorted -------------------------------------------------------------


@composition(
    np.take,
    samples=(
        given(ROW, [2, 0]),
        given(TABLE_OF_SIX, [1, 1, 0], axis=1),
        given(TABLE_OF_SIX[:0], [7, 0], axis=1),
    ),
)
def take(a, indices, axis=None):
    """The elements, or slices along an axis, at some indices."""
    if axis is None:
        return np.ravel(a)[indices]
    lead = axis % a.ndim
    if has_none(a.shape[:lead]):  # NumPy looks at no index then
        return np.reshape(a, a.shape[:lead] + np.shape(indices) + a.shape[lead + 1 :])
    found = a[(slice(None),) * lead + (indices,)]
    return np.copy(found) if np.ndim(indices) == 0 and a.ndim > 1 else found


@composition(np.take_along_axis)
def take_along_axis(arr, indices, axis):
    """Along one axis, the elements at indices of their own for each line."""
    if axis is None:
        return np.ravel(arr)[indices]
    places = [
        indices
        if k == axis % arr.ndim
        else np.reshape(np.arange(indices.shape[k]), ones_but(k, arr.ndim))
        for k in range(arr.ndim)
    ]
    return arr[tuple(places)]


@known
def ones_but(k, rank):
    """A shape of ones with a free length at one axis."""
    return tuple(-1 if j == k else 1 for j in range(rank))


def sort_tangent(a, axis, a_dot):
    """The tangents in the order of the elements."""
    return sorted_like(a_dot, a, axis)


def sorted_like(x, a, axis):
    """An array in the order that sorts another one."""
    if axis is None:
        return np.ravel(x)[np.argsort(a, axis=None)]
    return np.take_along_axis(x, np.argsort(a, axis=axis), axis)


@general(
    np.sort,
    signature="a, axis=-1",
    tangent=sort_tangent,
    samples=(
        ROW,
        TABLE_OF_SIX,
        given(TABLE_OF_SIX, axis=0),
        given(TABLE_OF_SIX, axis=None),
        ONE,
        NONE,
    ),
)
def sort(a, axis, y_bar):
    """The elements along an axis in increasing order."""
    return unsorted(y_bar, a, axis)


def unsorted(y_bar, a, axis):
    """What stands in sorted order, back where it came from."""
    if axis is None:
        return np.reshape(y_bar[np.argsort(np.argsort(a, axis=None))], a.shape)
    order = np.argsort(np.argsort(a, axis=axis), axis=axis)
    return np.take_along_axis(y_bar, order, axis)
