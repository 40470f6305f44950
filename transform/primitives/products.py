"""Products of matrices, vectors and stacks: sums of products over shared axes.

Rules are linear in each operand: they transpose, and conjugate only where NumPy does.
"""

# Rules are formulas: they have operands, not types.
# mypy: allow-untyped-defs, allow-untyped-calls

import itertools
import operator
import string
from typing import Any

import numpy as np

from gradwright.transform.indices import linear
from gradwright.transform.primitives.record import (
    composition,
    given,
    known,
    multilinear,
)
from gradwright.transform.primitives.shaping import (
    are_equal,
    first,
    is_one,
    one_or_all,
    paired,
    summed_to,
)
from gradwright.transform.shapes import example
from gradwright.transform.types import numpy_scalar

ROW = np.array([0.7, -1.3, 2.1])
SHORT = np.array([1.6, -0.4])
ONE = np.array([1.7])
TALL = np.array([[0.7, -1.3], [0.4, 1.6], [-0.8, 2.1]])
WIDE = np.array([[0.3, 1.9, -0.6], [1.2, -0.7, 0.5]])
SQUARE = np.array([[0.7, -1.3], [0.4, 1.6]])
STACK = np.arange(12.0).reshape(2, 3, 2) / 7 - 0.8
NO_ROWS = np.zeros((0, 3))

# ---- matrices and vectors ----------------------------------------------------------


def meets_factors(a, b):
    """The inner lengths are equal, and stacks are of one shape or stretch."""
    if a.rank and b.rank:
        yield a.dims[-1], b.dims[-2:][0]
        yield from zip(a.dims[-3::-1], b.dims[-3::-1], strict=False)


@multilinear(
    operator.matmul,
    signature="a, b",
    operands=("a", "b"),
    meets=meets_factors,
    samples=(
        given(WIDE, TALL),
        given(ROW, TALL),
        given(WIDE, ROW),
        given(ROW, ROW),
        given(STACK, SQUARE),
        given(WIDE, STACK),
        given(STACK, SHORT),
        given(ROW, STACK),
        given(STACK[None], STACK[:1, :2]),
        given(NO_ROWS, TALL),
        given(NO_ROWS.T, NO_ROWS),
    ),
)
def matmul(a, b, y_bar):
    """The product of matrices, vectors, and stacks of matrices."""
    return left_factor(a, b, y_bar), right_factor(a, b, y_bar)


def left_factor(a, b, y_bar):
    """What a product's cotangent is for the left factor."""
    if a.ndim == 1 and b.ndim == 1:
        return y_bar * b
    if a.ndim == 1 and b.ndim == 2:
        return b @ y_bar
    if a.ndim == 1:
        return np.tensordot(np.moveaxis(b, -2, 0), y_bar, b.ndim - 1)
    if a.ndim == 2 and b.ndim == 1:
        return np.outer(y_bar, b)
    if b.ndim == 1:
        return y_bar[..., None] * b
    return summed_to(y_bar @ turned(b), a.shape)


def right_factor(a, b, y_bar):
    """What a product's cotangent is for the right factor."""
    if a.ndim == 1 and b.ndim == 1:
        return y_bar * a
    if a.ndim == 1 and b.ndim == 2:
        return np.outer(a, y_bar)
    if a.ndim == 1:
        return a[:, None] * y_bar[..., None, :]
    if a.ndim == 2 and b.ndim == 1:
        return np.transpose(a) @ y_bar
    if b.ndim == 1:
        return np.tensordot(y_bar, a, a.ndim - 1)
    if b.ndim == 2 and a.ndim > 2:
        return np.tensordot(a, y_bar, (first(a.ndim - 1), first(a.ndim - 1)))
    return summed_to(turned(a) @ y_bar, b.shape)


def turned(x):
    """A matrix, or each one of a stack, with rows and columns exchanged."""
    return np.transpose(x) if x.ndim == 2 else np.swapaxes(x, -1, -2)


@composition(np.matmul, samples=(given(WIDE, TALL), given(ROW, ROW)))
def product(x1, x2):
    """The operator `@` as a function."""
    return x1 @ x2


def meets_inner_of_dot(a, b):
    """The last length of a is the last but one of b."""
    if a.rank and b.rank:
        yield a.dims[-1], b.dims[-2:][0]


@multilinear(
    np.dot,
    signature="a, b",
    operands=("a", "b"),
    meets=meets_inner_of_dot,
    samples=(
        given(WIDE, TALL),
        given(ROW, TALL),
        given(WIDE, ROW),
        given(ROW, ROW),
        given(WIDE, 0.7),
        given(-1.2, ROW),
        given(STACK, SQUARE),
        given(WIDE, STACK),
        given(STACK, SHORT),
        given(ROW, STACK),
        given(STACK, STACK[:, :2]),
        given(NO_ROWS, TALL),
        given(NO_ROWS.T, NO_ROWS),
    ),
)
def dot(a, b, y_bar):
    """The sum over the last axis of a and the last but one of b."""
    return left_of_dot(a, b, y_bar), right_of_dot(a, b, y_bar)


def left_of_dot(a, b, y_bar):
    """What the cotangent of `np.dot` is for the left operand."""
    if np.ndim(a) == 0:
        return np.sum(y_bar * b)
    if np.ndim(b) == 0:
        return y_bar * b
    if b.ndim > 2:
        axes = (behind(a.ndim - 1, y_bar.ndim), without(b.ndim - 2, b.ndim))
        return np.tensordot(y_bar, b, axes)
    return left_factor(a, b, y_bar)


def right_of_dot(a, b, y_bar):
    """What the cotangent of `np.dot` is for the right operand."""
    if np.ndim(b) == 0:
        return np.sum(y_bar * a)
    if np.ndim(a) == 0:
        return y_bar * a
    if b.ndim > 2:
        lead = first(a.ndim - 1)
        return np.moveaxis(np.tensordot(a, y_bar, (lead, lead)), 0, -2)
    return right_factor(a, b, y_bar)


@known
def behind(start, rank):
    """The axes from one on."""
    return one_or_all(range(start, rank))


@known
def without(axis, rank):
    """All axes but one."""
    return one_or_all(k for k in range(rank) if k != axis)


def meets_of_one_shape(a, b):
    """All lengths are equal, where the two have as many axes."""
    if a.rank == b.rank:
        yield from zip(a.dims or (), b.dims or (), strict=True)


def number_of_products(a, b):
    """A number of the dtype of the products, or NumPy's error for lengths it knows."""
    shapes = [tuple(n.constant for n in t.dims or ()) for t in (a, b)]
    known = not any(None in shape for shape in shapes)
    pairs = zip((a, b), shapes if known else ((), ()), strict=True)
    return numpy_scalar(np.vdot(*(example(t, s) for t, s in pairs)).dtype)


@multilinear(
    np.vdot,
    signature="a, b",
    operands=("a", "b"),
    meets=meets_of_one_shape,
    result=number_of_products,
    samples=(
        given(ROW, ROW + 0.2),
        given(WIDE, WIDE[::-1]),
        given(NO_ROWS, NO_ROWS),
        given(WIDE, np.ravel(WIDE) + 0.1),
        given(ROW[:, None], ROW[None]),
        given(0.7, ROW[:1]),
    ),
)
def vdot(a, b, y_bar):
    """The sum of products of all elements, those of a conjugated."""
    return (
        conjugate(y_bar * laid_out(b, a.shape)),
        y_bar * conjugate(laid_out(a, b.shape)),
    )


def laid_out(x, shape):
    """The elements of x in another shape with as many."""
    if taken_for_equal(x.shape, shape):
        return x
    return np.reshape(x, shape) if len(shape) > 0 else np.sum(x)


@known
def taken_for_equal(a, b):
    """Whether two shapes have as many axes, and no lengths that are known to differ."""
    met = zip(a, b, strict=False)
    return len(a) == len(b) and all(m == n or not is_known(m, n) for m, n in met)


def is_known(*lengths):
    """Whether any of the lengths is a number."""
    return any(isinstance(n, int) for n in lengths)


def conjugate(x):
    """The complex conjugate; of real numbers, the numbers."""
    return np.conj(x) if np.iscomplexobj(x) else x


def meets_along(x1, x2, axis=-1):
    """The lengths along the axis are equal; the others are, or stretch."""
    yield from zip(x1.dims[::-1], x2.dims[::-1], strict=False)


@multilinear(
    np.vecdot,
    signature="x1, x2, axis=-1",
    operands=("x1", "x2"),
    meets=meets_along,
    stretches=True,
    samples=(
        given(ROW, ROW + 0.2),
        given(WIDE, ROW),
        given(WIDE, WIDE[::-1] + 0.1, axis=0),
        given(NO_ROWS, ROW),
    ),
)
def vecdot(x1, x2, axis, y_bar):
    """The sums of products along an axis, those of x1 conjugated."""
    along = y_bar if np.ndim(y_bar) == 0 else np.expand_dims(y_bar, axis)
    return (
        summed_to(conjugate(along * x2), x1.shape),
        summed_to(along * conjugate(x1), x2.shape),
    )


def newer(*names):
    """The functions of NumPy of these names, where it has them."""
    return [getattr(np, n) for n in names if hasattr(np, n)]


def meets_matrix_first(x1, x2):
    """The last lengths are equal, and stacks are of one shape or stretch."""
    if x1.rank and x2.rank:
        yield x1.dims[-1], x2.dims[-1]
        yield from zip(x1.dims[-3::-1], x2.dims[-2::-1], strict=False)


@multilinear(
    *newer("matvec"),
    signature="x1, x2",
    operands=("x1", "x2"),
    meets=meets_matrix_first,
    samples=(given(WIDE, ROW), given(STACK, SHORT), given(STACK, TALL[:2])),
)
def matvec(x1, x2, y_bar):
    """The product of matrices and vectors."""
    if_stacked = x2.ndim > 1
    return (
        summed_to(y_bar[..., None] * x2[..., None, :], x1.shape)
        if if_stacked
        else left_factor(x1, x2, y_bar),
        summed_to((turned(x1) @ y_bar[..., None])[..., 0], x2.shape)
        if if_stacked
        else right_factor(x1, x2, y_bar),
    )


def meets_vector_first(x1, x2):
    """A vector is as long as a column; stacks are of one shape or stretch."""
    if x1.rank and x2.rank > 1:
        yield x1.dims[-1], x2.dims[-2]
        yield from zip(x1.dims[-2::-1], x2.dims[-3::-1], strict=False)


@multilinear(
    *newer("vecmat"),
    signature="x1, x2",
    operands=("x1", "x2"),
    meets=meets_vector_first,
    samples=(given(ROW, TALL), given(ROW, STACK), given(TALL[:2], STACK[:, :2])),
)
def vecmat(x1, x2, y_bar):
    """The product of vectors, conjugated, and matrices."""
    return (
        conjugate(summed_to((x2 @ y_bar[..., None])[..., 0], x1.shape)),
        summed_to(conjugate(x1)[..., None] * y_bar[..., None, :], x2.shape),
    )


def meets_last(a, b):
    """The last lengths are equal."""
    if a.rank and b.rank:
        yield a.dims[-1], b.dims[-1]


@multilinear(
    np.inner,
    signature="a, b",
    operands=("a", "b"),
    meets=meets_last,
    samples=(
        given(ROW, ROW),
        given(WIDE, ROW),
        given(ROW, WIDE),
        given(WIDE, WIDE[::-1] + 0.1),
        given(STACK, SQUARE),
        given(0.7, ROW),
        given(ROW, -1.2),
        given(NO_ROWS, WIDE),
    ),
)
def inner(a, b, y_bar):
    """The sum of products over the last axes."""
    return left_of_inner(a, b, y_bar), right_of_inner(a, b, y_bar)


def left_of_inner(a, b, y_bar):
    """What the cotangent of `np.inner` is for the left operand."""
    if np.ndim(a) == 0:
        return np.sum(y_bar * b)
    if np.ndim(b) == 0 or np.ndim(y_bar) == 0:
        return y_bar * b
    return np.tensordot(y_bar, b, b.ndim - 1)


def right_of_inner(a, b, y_bar):
    """What the cotangent of `np.inner` is for the right operand."""
    if np.ndim(b) == 0:
        return np.sum(y_bar * a)
    if np.ndim(a) == 0 or np.ndim(y_bar) == 0:
        return y_bar * a
    lead = first(a.ndim - 1)
    return np.tensordot(y_bar, a, (lead, lead))


@multilinear(
    np.outer,
    signature="a, b",
    operands=("a", "b"),
    samples=(
        given(ROW, SHORT),
        given(WIDE, ROW),
        given(ROW, WIDE),
        given(0.7, ROW),
        given(NO_ROWS, SHORT),
    ),
)
def outer(a, b, y_bar):
    """Every element of a times every element of b."""
    return (
        shaped_like(y_bar @ flat(b), a),
        shaped_like(flat(a) @ y_bar, b),
    )


def flat(x):
    """All elements as one axis."""
    return x if np.ndim(x) == 1 else np.ravel(x)


def shaped_like(elements, x):
    """Elements of one axis in the shape of an operand."""
    if np.ndim(x) == 0:
        return np.sum(elements)
    return elements if x.ndim == 1 else np.reshape(elements, x.shape)


@composition(np.multiply.outer, samples=(given(ROW, SHORT), given(WIDE, ROW)))
def outer_product(A, B):
    """Every element of A times every element of B, in the axes of both."""
    if np.ndim(A) == 0 or np.ndim(B) == 0:
        return A * B
    return np.expand_dims(A, behind(A.ndim, A.ndim + B.ndim)) * B


@multilinear(
    np.kron,
    signature="a, b",
    operands=("a", "b"),
    samples=(
        given(WIDE, SQUARE),
        given(ROW, SHORT),
        given(ROW, SQUARE),
        given(STACK, SHORT),
        given(NO_ROWS, SQUARE),
    ),
)
def kron(a, b, y_bar):
    """Every element of a times the whole of b, as blocks."""
    blocks = np.reshape(y_bar, blocks_of(a.shape, b.shape))
    return left_of_kron(a, b, blocks), right_of_kron(a, b, blocks)


@known
def blocks_of(shape, inner):
    """The lengths of two arrays in turn, the shorter shape filled up with ones."""
    rank = max(len(shape), len(inner))
    return paired(filled_up(shape, rank), filled_up(inner, rank))


def filled_up(shape, rank):
    """A shape with ones before it."""
    return (1,) * (rank - len(shape)) + tuple(shape)


def left_of_kron(a, b, blocks):
    """The blocks, each summed with the elements of b."""
    inner = every_other_from(1, b.ndim, blocks.ndim)
    found = np.tensordot(blocks, b, (inner, first(b.ndim)))
    return found if found.ndim == a.ndim else np.reshape(found, a.shape)


def right_of_kron(a, b, blocks):
    """The blocks added up, each with its element of a."""
    places = every_other_from(0, a.ndim, blocks.ndim)
    found = np.tensordot(a, blocks, (first(a.ndim), places))
    return found if found.ndim == b.ndim else np.reshape(found, b.shape)


@known
def every_other_from(start, count, rank):
    """The last so many of the axes start, start + 2 ..."""
    return tuple(range(start, rank, 2))[rank // 2 - count :]


def meets_cross(a, b, axisa=-1, axisb=-1, axis=None, **_):
    """Vectors have three components; the other lengths are equal or stretch."""
    if a.rank and b.rank:
        axisa = (axisa if axis is None else axis) % a.rank
        axisb = (axisb if axis is None else axis) % b.rank
        yield a.dims[axisa], linear(3)
        yield b.dims[axisb], linear(3)
        others_of_a = a.dims[:axisa] + a.dims[axisa + 1 :]
        others_of_b = b.dims[:axisb] + b.dims[axisb + 1 :]
        yield from zip(others_of_a[::-1], others_of_b[::-1], strict=False)


@multilinear(
    np.cross,
    signature="a, b, axisa=-1, axisb=-1, axisc=-1, axis=None",
    operands=("a", "b"),
    meets=meets_cross,
    stretches=True,
    samples=(
        given(ROW, ROW[::-1] + 0.4),
        given(TALL.T, ROW),
        given(ROW, TALL, axisb=0),
        given(TALL, TALL[:, ::-1] + 0.3, axis=0),
        given(TALL, TALL[:, ::-1] + 0.3, axisa=0, axisb=0, axisc=0),
        given(NO_ROWS, NO_ROWS),
    ),
)
def cross(a, b, axisa, axisb, axisc, axis, y_bar):
    """The vector product.  (a × b) · y_bar = a · (b × y_bar) = b · (y_bar × a)."""
    axis_of_a = axisa if axis is None else axis
    axis_of_b = axisb if axis is None else axis
    axis_of_y = axisc if axis is None else axis
    return (
        vectors_like(
            np.cross(b, y_bar, axisa=axis_of_b, axisb=axis_of_y), a, axis_of_a
        ),
        vectors_like(
            np.cross(y_bar, a, axisa=axis_of_y, axisb=axis_of_a), b, axis_of_b
        ),
    )


def vectors_like(found, x, axis):
    """Vectors along the last axis, summed to the shape of x and laid along its axis."""
    summed = summed_to(found, with_last(x.shape, axis))
    return summed if axis % x.ndim == x.ndim - 1 else np.moveaxis(summed, -1, axis)


@known
def with_last(shape, axis):
    """The shape with one of its lengths at the end."""
    k = axis % len(shape)
    return (*shape[:k], *shape[k + 1 :], shape[k])


# ---- over axes that are named ------------------------------------------------------


def meets_tensordot(a, b, axes=2):
    """The axes that are summed over have the same lengths."""
    of_a, of_b = summed_axes(axes, a.rank, b.rank)
    for i, j in zip(of_a, of_b, strict=False):
        if i < a.rank and j < b.rank:
            yield a.dims[i], b.dims[j]


def summed_axes(axes, rank_of_a, rank_of_b):
    """The axes that `np.tensordot` sums over, of each operand."""
    if isinstance(axes, int):
        return tuple(range(rank_of_a - axes, rank_of_a)), tuple(range(axes))
    of_a, of_b = ((k,) if isinstance(k, int) else tuple(k) for k in axes)
    return tuple(k % rank_of_a for k in of_a), tuple(k % rank_of_b for k in of_b)


@multilinear(
    np.tensordot,
    signature="a, b, axes=2",
    operands=("a", "b"),
    meets=meets_tensordot,
    samples=(
        given(WIDE, TALL, 1),
        given(WIDE, TALL.T),
        given(ROW, SHORT, 0),
        given(STACK, TALL, ((1, 2), (0, 1))),
        given(STACK, TALL.T, axes=([2, 1], [0, 1])),
        given(STACK, STACK[::-1], (-2, 1)),
        given(NO_ROWS, TALL, 1),
    ),
)
def tensordot(a, b, axes, y_bar):
    """The sum of products over axes of each operand."""
    return left_of_tensordot(a, b, axes, y_bar), right_of_tensordot(a, b, axes, y_bar)


def left_of_tensordot(a, b, axes, y_bar):
    """The cotangent and b, summed over the axes of b that remained."""
    summed, order = back_to_left(axes, a.ndim, b.ndim)
    found = y_bar * b if y_bar.ndim == 0 else np.tensordot(y_bar, b, summed)
    return found if order is None else np.transpose(found, order)


def right_of_tensordot(a, b, axes, y_bar):
    """The cotangent and a, summed over the axes of a that remained."""
    summed, order = back_to_right(axes, a.ndim, b.ndim)
    found = y_bar * a if y_bar.ndim == 0 else np.tensordot(a, y_bar, summed)
    return found if order is None else np.transpose(found, order)


@known
def back_to_left(axes, rank_of_a, rank_of_b):
    """Axes of the cotangent and of b to sum over; and the order of axes in a."""
    of_a, of_b = summed_axes(axes, rank_of_a, rank_of_b)
    free_a = [k for k in range(rank_of_a) if k not in of_a]
    free_b = [k for k in range(rank_of_b) if k not in of_b]
    lead = range(len(free_a), len(free_a) + len(free_b))
    came = [*free_a, *(of_a[of_b.index(k)] for k in sorted(of_b))]
    return pair_of_axes(lead, free_b), undone(came)


@known
def back_to_right(axes, rank_of_a, rank_of_b):
    """Axes of a and of the cotangent to sum over; and the order of axes in b."""
    of_a, of_b = summed_axes(axes, rank_of_a, rank_of_b)
    free_a = [k for k in range(rank_of_a) if k not in of_a]
    free_b = [k for k in range(rank_of_b) if k not in of_b]
    came = [*(of_b[of_a.index(k)] for k in sorted(of_a)), *free_b]
    return pair_of_axes(free_a, range(len(free_a))), undone(came)


def pair_of_axes(left, right):
    """Axes of two operands as one writes them: one by itself, none as 0."""
    if not len(left):
        return 0
    if len(left) == 1:
        return left[0], right[0]
    return tuple(left), tuple(right)


def undone(came):
    """The order that puts axes in their places; None where they are."""
    order = tuple(sorted(range(len(came)), key=lambda k: came[k]))
    return None if order == tuple(range(len(came))) else order


def meets_einsum(subscripts, operands, **_):
    """Axes of one letter have one length, or stretch."""
    terms, _output = letters_of(subscripts, [a.rank for a in operands])
    seen: dict[str, Any] = {}
    for term, a in zip(terms, operands, strict=False):
        for label, n in zip(term, a.dims or (), strict=False):
            if label in seen:
                yield seen[label], n
            if label not in seen or is_one(seen[label]):
                seen[label] = n


def letters_of(subscripts, ranks):
    """The labels of each operand and of the result; those under dots are numbers.

    The dots of an operand stand for its axes from -1 backwards, so that they align.
    """
    given_terms, _, output = subscripts.replace(" ", "").partition("->")
    terms = given_terms.split(",")
    dotted = [
        list(range(len(t.replace("...", "")) - rank, 0)) if "..." in t else []
        for t, rank in zip(terms, ranks, strict=False)
    ]
    longest = max(dotted, key=len, default=[])
    if "->" not in subscripts:
        letters = given_terms.replace("...", "").replace(",", "")
        once = sorted(c for c in letters if letters.count(c) == 1)
        output = "..." * bool(longest) + "".join(once)
    return (
        [labels(t, dots) for t, dots in zip(terms, dotted, strict=False)],
        labels(output, longest),
    )


def labels(term, dots):
    """Letters one by one, with what stands for the dots in their place."""
    before, found, behind_them = term.partition("...")
    return [*before, *(dots if found else ()), *behind_them]


@multilinear(
    np.einsum,
    signature="subscripts, *operands, optimize=False",
    operands=("operands",),
    meets=meets_einsum,
    stretches=True,
    samples=(
        given("ij,jk->ik", WIDE, TALL),
        given("ij,jk", WIDE, TALL),
        given("ba", WIDE),
        given("i,i->", ROW, ROW + 0.5),
        given("i,j->ij", ROW, SHORT),
        given("ii->", SQUARE),
        given("ii->i", SQUARE),
        given("ij->j", WIDE),
        given("ij->", WIDE),
        given("ij,j->i", NO_ROWS, ROW),
        given("...ij,...jk->...ik", STACK, STACK[:, :2]),
        given("...ij,...jk->...ik", STACK, SQUARE),
        given("...ij,jk", STACK, SQUARE),
        given("b...,b...->...", STACK, STACK + 0.3),
        given("nij,njk->nik", STACK, STACK[:1, :2]),
        given("ij,jk,kl->il", WIDE, TALL, SQUARE, optimize=True),
        given("iij,j->i", np.stack([SQUARE, SQUARE + 0.2], axis=2), SHORT),
        given("ij, ij -> ", WIDE, WIDE),
        given("...", WIDE),
    ),
    view=True,  # of one operand
)
def einsum(subscripts, operands, optimize, y_bar):
    """The sum of products over the letters that the result lacks."""
    return [
        of_term(subscripts, operands, optimize, k, y_bar) for k in range(len(operands))
    ]


def of_term(subscripts, operands, optimize, k, y_bar):
    """The cotangent of one operand: the result's part and its own exchange places."""
    spec, is_scaled, diagonals, new, is_stretched = exchanged(
        subscripts, [a.shape for a in operands], k
    )
    others = [operands[j] for j in range(len(operands)) if j != k]
    others = others + [np.eye(operands[k].shape[axis]) for axis in diagonals]
    if is_scaled:
        found = y_bar * summed_product(spec, others, optimize) if others else y_bar
    else:
        found = summed_product(spec, [y_bar, *others], optimize)
    if new is not None:
        found = np.expand_dims(found, new)
    return np.broadcast_to(found, operands[k].shape) if is_stretched else found


def summed_product(spec, factors, optimize):
    """Their `einsum`; of one factor as it stands, the factor."""
    if is_same(spec):
        return factors[0]
    return np.einsum(spec, *factors, optimize=optimize)


@known
def is_same(spec):
    """Whether subscripts give back their one operand."""
    left, _, right = spec.partition("->")
    return left == right


@known
def exchanged(subscripts, shapes, k):
    """How `einsum` gives the cotangent of operand k.

    Its subscripts; whether the result is one number, which then is a factor apart;
    axes of operand k that repeat a letter, each of which needs an identity matrix;
    axes of length one to be added; whether those are to be stretched.
    """
    terms, output = letters_of(subscripts, [len(s) for s in shapes])
    spare = (c for c in string.ascii_letters if c not in subscripts)
    long = {
        label
        for term, shape in zip(terms, shapes, strict=True)
        for label, n in zip(term, shape, strict=True)
        if not is_one(n)
    }
    others = [term for j, term in enumerate(terms) if j != k]
    elsewhere = {label for term in (*others, output) for label in term}
    own, diagonals, new, is_stretched = [], [], [], False
    for axis, (label, n) in enumerate(zip(terms[k], shapes[k], strict=True)):
        if label in terms[k][:axis]:
            others.append([label, next(spare)])
            own.append(others[-1][1])
            diagonals.append(axis)
        elif label not in elsewhere and terms[k].count(label) == 1:
            new.append(axis)
            is_stretched = is_stretched or not is_one(n)
        elif is_one(n) and label in long:
            new.append(axis)
        else:
            own.append(label)
    used = others if not output else [output, *others]
    spec = written([*used, own], spare)
    added = one_or_all(new) if new else None
    return spec, not output, tuple(diagonals), added, is_stretched


def written(terms, spare):
    """Subscripts from labels; dots stay where they stand for the same axes in all."""
    dots = [tuple(x for x in t if isinstance(x, int)) for t in terms]
    if {*dots} <= {(), dots[-1]}:
        names = {x: "..." if x == -1 else "" for x in dots[-1]}
    else:
        names = {x: next(spare) for x in sorted({x for d in dots for x in d})}
    *left, right = ["".join(str(names.get(x, x)) for x in t) for t in terms]
    return ",".join(left) + "->" + right


# ---- one axis slid along another ---------------------------------------------------

MODES = tuple(
    given(a, v, mode=mode)
    for mode in ("full", "same", "valid")
    for a, v in ((ROW, SHORT), (SHORT, ROW), (ROW, ONE), (np.ones(4), SHORT))
)


@multilinear(
    np.convolve, signature="a, v, mode='full'", operands=("a", "v"), samples=MODES
)
def convolve(a, v, mode, y_bar):
    """The sums of products over pairs of places with the same sum."""
    y_full = as_full(y_bar, a.size, v.size, mode)
    return (
        np.convolve(y_full, v[::-1], mode="valid"),
        np.convolve(y_full, a[::-1], mode="valid"),
    )


def as_full(y_bar, n, m, mode, is_kept=1):
    """The cotangent of the middle, between zeros for what the mode leaves out."""
    if mode == "full" or are_equal(n, 1) or are_equal(m, 1):
        return y_bar
    short = min(n, m)
    before = (short - is_kept) // 2 if mode == "same" else short - 1
    behind_it = n + m - 1 - before - y_bar.size
    return np.concatenate([np.zeros(before), y_bar, np.zeros(behind_it)])


@multilinear(
    np.correlate, signature="a, v, mode='valid'", operands=("a", "v"), samples=MODES
)
def correlate(a, v, mode, y_bar):
    """The sums of products over pairs of places with the same distance.

    The middle is that of the longer one, found before NumPy turns the result round.
    """
    y_full = as_full(y_bar, a.size, v.size, mode, v.size <= a.size)
    return (
        np.convolve(y_full, conjugate(v), mode="valid"),
        conjugate(np.convolve(y_full, a[::-1], mode="valid"))[::-1],
    )


# ---- many factors ------------------------------------------------------------------


def meets_chain(arrays, **_):
    """Each factor has as many rows as the one before it has columns."""
    for a, b in itertools.pairwise(arrays):
        if a.rank and b.rank:
            yield a.dims[-1], b.dims[0]


@multilinear(
    np.linalg.multi_dot,
    signature="arrays",
    operands=("arrays",),
    sequences=("arrays",),
    meets=meets_chain,
    samples=(
        given([WIDE, TALL]),
        given([WIDE, TALL, SQUARE]),
        given([ROW, TALL, SQUARE, SHORT]),
        given([TALL, WIDE, TALL, SHORT]),
        given([ROW, TALL, SQUARE]),
    ),
)
def multi_dot(arrays, y_bar):
    """The product of many matrices, in the cheapest order."""
    matrices = as_matrices(arrays)
    rows, columns = matrices[0].shape[0], matrices[-1].shape[1]
    y_matrix = y_bar if np.ndim(y_bar) == 2 else np.reshape(y_bar, (rows, columns))
    return [
        like_factor(between(matrices, k, y_matrix), arrays[k])
        for k in range(len(arrays))
    ]


def as_matrices(arrays):
    """A vector as a row where it stands first, as a column where it stands last."""
    start, end = arrays[0], arrays[-1]
    start = start[None, :] if start.ndim == 1 else start
    end = end[:, None] if end.ndim == 1 else end
    return [start, *arrays[1:-1], end]


def between(matrices, k, y_bar):
    """The factors before k and those behind it, turned, around the cotangent."""
    before = [np.transpose(m) for m in matrices[:k][::-1]]
    behind_it = [np.transpose(m) for m in matrices[k + 1 :][::-1]]
    if len(matrices) == 2:
        return before[0] @ y_bar if before else y_bar @ behind_it[0]
    return np.linalg.multi_dot([*before, y_bar, *behind_it])


def like_factor(found, a):
    """A cotangent as a vector where the factor is one."""
    return np.reshape(found, a.shape) if a.ndim == 1 else found


@composition(
    np.linalg.matrix_power,
    samples=[given(0.6 * SQUARE, n) for n in (0, 1, 2, 3, 4, 5, 7, 12, -1, -3)],
)
def matrix_power(a, n):
    """A square matrix times itself, n times, by NumPy's own products."""
    if n == 0:
        return np.broadcast_to(np.eye(a.shape[-1], dtype=a.dtype), a.shape)
    base = np.linalg.inv(a) if n < 0 else a
    if is_cube(n):
        return base @ base @ base
    result = None
    for bit in binary_digits(n):
        if bit:
            result = base if result is None else result @ base
        base = base @ base
    return result


@known
def is_cube(n):
    """Whether NumPy multiplies from the left."""
    return abs(n) == 3


@known
def binary_digits(n):
    """The digits of |n| to base 2, the last one first."""
    return tuple(int(d) for d in reversed(format(abs(n), "b")))
