"""Equations, determinants and decompositions of matrices, and of stacks of them.

Sources: M. Giles, Collected matrix derivative results for forward and reverse mode
algorithmic differentiation, 2008; M. Seeger et al., Auto-differentiating linear
algebra, 2017.  Where eigenvalues or singular values are equal the results are finite.
"""

# Rules are formulas: they have operands, not types.
# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from gradwright.transform.errors import NotDifferentiable
from gradwright.transform.primitives.products import conjugate, turned
from gradwright.transform.primitives.record import (
    general,
    given,
    known,
    reduction,
)
from gradwright.transform.primitives.shaping import summed_to

ROW = np.array([0.7, -1.3, 2.1])
SQUARE = np.array([[1.7, -0.3, 0.4], [0.4, 1.6, -0.8], [-0.2, 0.5, 2.1]])
TALL = np.array([[0.7, -1.3], [0.4, 1.6], [-0.8, 2.1]])
STACK = np.stack([SQUARE, SQUARE.T + 0.3 * np.eye(3)])
POSITIVE = SQUARE @ SQUARE.T + np.eye(3)
POSITIVES = np.stack([POSITIVE, POSITIVE[::-1, ::-1] + np.eye(3)])
SYMMETRIC = SQUARE + SQUARE.T
APART = np.diag([1.0, 2.0, 4.0]) + 0.2 * SQUARE  # as are its singular values
ONE = np.array([[1.7]])


def hermitian(a):
    """The mean of a matrix and its conjugate transpose."""
    return 0.5 * (a + conjugate(turned(a)))


def meets_square(a, **_):
    """A matrix has as many columns as rows."""
    if a.rank > 1:
        yield a.dims[-1], a.dims[-2]


# ---- equations ---------------------------------------------------------------------


def meets_solve(a, b):
    """The matrix is square and the right side as long; stacks stretch."""
    yield from meets_square(a)
    if a.rank > 1 and b.rank:
        yield a.dims[-1], b.dims[-2:][0]
        if b.rank > 1:
            yield from zip(a.dims[-3::-1], b.dims[-3::-1], strict=False)


def solve_tangent(a, b, y, a_dot, b_dot):
    """Of the equation a y = b: a y_dot = b_dot - a_dot y."""
    return -solved(a, applied(a_dot, y, b), b), solved(a, b_dot, b)


def solved(a, x, b):
    """The solution for a right side like b; vectors stay vectors in a stack."""
    if b.ndim == 1 and x.ndim > 1:
        return np.linalg.solve(a, x[..., None])[..., 0]
    return np.linalg.solve(a, x)


def applied(a, y, b):
    """The product with what solves for a right side like b."""
    return (a @ y[..., None])[..., 0] if b.ndim == 1 and y.ndim > 1 else a @ y


@general(
    np.linalg.solve,
    signature="a, b",
    operands=("a", "b"),
    meets=meets_solve,
    tangent=solve_tangent,
    samples=(
        given(SQUARE, ROW),
        given(SQUARE, TALL),
        given(STACK, TALL),
        given(STACK, np.stack([TALL, TALL + 0.4])),
        given(STACK, ROW),
        given(ONE, ROW[:1]),
    ),
)
def solve(a, b, y, y_bar):
    """What a takes to b.  b_bar solves with the transpose; a_bar = -b_bar y^T."""
    b_bar = solved(turned(a), y_bar, b)
    return summed_to(-columns_times_rows(b_bar, y, b), a.shape), summed_to(
        b_bar, b.shape
    )


def columns_times_rows(b_bar, y, b):
    """The products that a matrix's cotangent is made of."""
    if b.ndim > 1:
        return b_bar @ turned(y)
    return np.outer(b_bar, y) if y.ndim == 1 else b_bar[..., None] * y[..., None, :]


def inverse_tangent(y, a_dot):
    """Of a y = 1."""
    return -y @ a_dot @ y


@general(
    np.linalg.inv,
    signature="a",
    meets=meets_square,
    tangent=inverse_tangent,
    samples=(SQUARE, STACK, ONE),
)
def inverse(y, y_bar):
    """The inverse of a square matrix."""
    return -turned(y) @ y_bar @ turned(y)


def pinv_tangent(a, y, a_dot):
    """Golub & Pereyra, 1973; the rank is taken to stay as it is."""
    in_rows = np.eye(y.shape[-2]) - y @ a
    in_columns = np.eye(a.shape[-2]) - a @ y
    a_dot_h, y_h = conjugate(turned(a_dot)), conjugate(turned(y))
    return y @ y_h @ a_dot_h @ in_columns - y @ a_dot @ y + in_rows @ a_dot_h @ y_h @ y


@general(
    np.linalg.pinv,
    signature="a, rcond=None",
    tangent=pinv_tangent,
    samples=(SQUARE, TALL, TALL.T),
)
def pseudo_inverse(a, y, y_bar):
    """The pseudo-inverse; the rank is taken to stay as it is."""
    in_rows = np.eye(y.shape[-2]) - y @ a
    in_columns = np.eye(a.shape[-2]) - a @ y
    y_t, y_h = turned(y), conjugate(turned(y))
    across = in_columns @ turned(y_bar) @ y @ y_h + y_h @ y @ turned(y_bar) @ in_rows
    return conjugate(across) - y_t @ y_bar @ y_t


# ---- determinants ------------------------------------------------------------------


def of_numbers(x):
    """A number for each matrix of a stack, with axes for rows and columns."""
    return x if np.ndim(x) == 0 else x[..., None, None]


def summed(x):
    """The sum of each matrix of a stack."""
    return np.sum(x) if x.ndim == 2 else np.sum(x, axis=(-2, -1))


def det_tangent(a, y, a_dot):
    """Jacobi's formula."""
    return y * summed(turned(np.linalg.inv(a)) * a_dot)


@general(
    np.linalg.det,
    signature="a",
    meets=meets_square,
    tangent=det_tangent,
    samples=(SQUARE, STACK, ONE),
)
def det(a, y, y_bar):
    """The determinant of a matrix that is not singular.  Source: Jacobi's formula."""
    return of_numbers(y_bar * y) * turned(np.linalg.inv(a))


def slogdet_tangent(a, y, a_dot):
    """The trace of inv(a) a_dot is the tangent of the complex logarithm."""
    return sign_and_log(a, y, a_dot)


def sign_and_log(a, y, a_dot):
    """The tangents of both results."""
    of_log = summed(turned(np.linalg.inv(a)) * a_dot)
    if np.iscomplexobj(a):
        return 1j * np.imag(of_log) * y[0], np.real(of_log)
    return 0.0 * y[0], of_log


@general(
    np.linalg.slogdet,
    signature="a",
    meets=meets_square,
    tangent=slogdet_tangent,
    samples=(SQUARE, STACK, ONE),
)
def slogdet(a, y, y_bar):
    """The sign (a phase) and the logarithm of the modulus of the determinant."""
    return of_numbers(of_log(a, y, y_bar)) * turned(np.linalg.inv(a))


def of_log(a, y, y_bar):
    """The cotangent of the complex logarithm of the determinant."""
    sign_bar, log_bar = y_bar
    if sign_bar is None or not np.iscomplexobj(a):
        return 0.0 if log_bar is None else log_bar
    of_sign = 1j * np.imag(sign_bar * y[0])
    return of_sign if log_bar is None else log_bar + of_sign


# ---- symmetric matrices ------------------------------------------------------------


def lower_half(x):
    """The elements below the diagonal, and half of those on it."""
    return np.tril(x) * (1.0 - 0.5 * np.eye(x.shape[-1]))


def cholesky_tangent(y, a_dot):
    """L_dot = L Φ(inv(L) a_dot inv(L)^H).  Source: Giles 2008."""
    inverse = np.linalg.inv(y)
    return y @ lower_half(inverse @ hermitian(a_dot) @ conjugate(turned(inverse)))


@general(
    np.linalg.cholesky,
    signature="a",
    meets=meets_square,
    tangent=cholesky_tangent,
    onto=hermitian,
    samples=(POSITIVE, POSITIVES, ONE),
)
def cholesky(y, y_bar):
    """The lower factor L of a = L L^H; the cotangent is symmetric, as JAX has it."""
    inverse = np.linalg.inv(y)
    middle = lower_half(turned(y) @ y_bar)
    return hermitian(turned(inverse) @ middle @ conjugate(inverse))


def across(x):
    """One number for each column, of each matrix of a stack."""
    return x if x.ndim == 1 else x[..., None, :]


def down(x):
    """One number for each row, of each matrix of a stack."""
    return x[:, None] if x.ndim == 1 else x[..., None]


def over_gaps(w):
    """1 / (w_j - w_i), and 0 where the two are equal."""
    gaps = across(w) - down(w)
    return 1.0 / np.where(gaps == 0, np.inf, gaps)


def eigh_tangent(y, a_dot):
    """Source: JAX, lax.linalg.eigh; 0 between vectors of one eigenvalue."""
    return values_and_vectors(y, a_dot)


def values_and_vectors(y, a_dot):
    """The tangents of both results."""
    w, v = y
    turned_dot = conjugate(turned(v)) @ hermitian(a_dot) @ v
    return on_diagonals(turned_dot), v @ (over_gaps(w) * turned_dot)


def on_diagonals(x):
    """The real diagonal of each matrix."""
    return np.real(np.sum(x * np.eye(x.shape[-1]), axis=-1))


def values_and_moduli(found):
    """Eigenvalues, and of vectors what does not depend on their phases."""
    w, v = found
    return w, np.abs(v)


@general(
    np.linalg.eigh,
    signature="a, UPLO='L'",
    meets=meets_square,
    tangent=eigh_tangent,
    onto=hermitian,
    determined=values_and_moduli,
    samples=(SYMMETRIC, POSITIVES, given(SYMMETRIC, "U")),
)
def eigh(y, y_bar):
    """Eigenvalues and eigenvectors of a symmetric matrix; the cotangent is one too."""
    return hermitian(of_spectrum(y, y_bar))


def of_spectrum(y, y_bar):
    """The cotangent from eigenvalues alone, or from the vectors too."""
    w, v = y
    if y_bar[1] is None:
        return (conjugate(v) * across(y_bar[0])) @ turned(v)
    return conjugate(v) @ between_vectors(w, v, y_bar) @ turned(v)


def between_vectors(w, v, y_bar):
    """The cotangent in the basis of the eigenvectors."""
    w_bar, v_bar = y_bar
    of_vectors = over_gaps(w) * (turned(v) @ v_bar)
    if w_bar is None:
        return of_vectors
    return of_vectors + down(w_bar) * np.eye(w.shape[-1])


def eigvalsh_tangent(a, UPLO, a_dot):
    """Source: Giles 2008."""
    v = vectors(a, UPLO)
    return np.real(np.sum(conjugate(v) * (hermitian(a_dot) @ v), axis=-2))


@general(
    np.linalg.eigvalsh,
    signature="a, UPLO='L'",
    meets=meets_square,
    tangent=eigvalsh_tangent,
    onto=hermitian,
    samples=(SYMMETRIC, POSITIVES, given(SYMMETRIC, "U")),
)
def eigvalsh(a, UPLO, y_bar):
    """The eigenvalues of a symmetric matrix; the cotangent is symmetric too."""
    v = vectors(a, UPLO)
    return hermitian((conjugate(v) * across(y_bar)) @ turned(v))


def vectors(a, UPLO):
    """The eigenvectors as columns."""
    _w, v = np.linalg.eigh(a, UPLO)
    return v


# ---- decompositions ----------------------------------------------------------------


def svd_tangent(a, full_matrices, compute_uv, y, a_dot):
    """Source: JAX, lax.linalg.svd; 0 between vectors of one singular value."""
    return factors(a, full_matrices, compute_uv, y, a_dot)


def factors(a, full_matrices, compute_uv, y, a_dot):
    """The tangents of the results: of the singular values alone, or of all."""
    if not compute_uv:
        u, _s, vh = np.linalg.svd(a, full_matrices=False)
        return on_diagonals(conjugate(turned(u)) @ a_dot @ conjugate(turned(vh)))
    refuse_full(full_matrices)
    u, s, vh = y
    uh, v = conjugate(turned(u)), conjugate(turned(vh))
    inner = uh @ a_dot @ v
    scaled, other = inner * across(s), down(s) * inner
    gaps = over_gaps(s * s)
    u_dot = u @ (gaps * (scaled + conjugate(turned(scaled))) + phases(inner, s))
    v_dot = v @ (gaps * (other + conjugate(turned(other))))
    outside_u = (a_dot @ v - u @ inner) * across(over(s))
    outside_v = conjugate(turned(a_dot)) @ u - v @ conjugate(turned(inner))
    v_dot = v_dot + outside_v * across(over(s))
    return u_dot + outside_u, on_diagonals(inner), conjugate(turned(v_dot))


def over(s):
    """1 / s, and 0 where s is."""
    return 1.0 / np.where(s == 0, np.inf, s)


def phases(inner, s):
    """What the left vectors turn by, one and all; of real ones nothing."""
    if not np.iscomplexobj(inner):
        return 0.0
    return 1j * np.imag(inner) * across(over(s)) * np.eye(s.shape[-1])


@known
def refuse_full(full_matrices):
    """What full_matrices adds to the vectors is any basis of what is left."""
    if full_matrices:
        raise NotDifferentiable(
            "the full matrices of np.linalg.svd are not determined",
            instead="full_matrices=False",
        )


def values_and_outer_moduli(found):
    """Singular values, and of vectors what does not depend on their phases."""
    if not isinstance(found, tuple):
        return found
    u, s, vh = found
    return np.abs(u), s, np.abs(vh), np.real((u * s[..., None, :] ** 2) @ vh)


@general(
    np.linalg.svd,
    signature="a, full_matrices=True, compute_uv=True",
    tangent=svd_tangent,
    determined=values_and_outer_moduli,
    samples=(
        given(TALL, full_matrices=False),
        given(TALL.T, full_matrices=False),
        given(APART, full_matrices=False),
        given(np.stack([APART, APART[::-1]]), full_matrices=False),
        given(TALL, compute_uv=False),
        given(np.stack([APART, APART[::-1]]), compute_uv=False),
    ),
)
def svd(a, full_matrices, compute_uv, y, y_bar):
    """Singular values and vectors.  Source: Giles 2008; Seeger et al. 2017."""
    return (
        of_values(a, y_bar)
        if not compute_uv
        else of_factors(a, full_matrices, y, y_bar)
    )


def of_values(a, s_bar):
    """The cotangent from singular values alone."""
    u, _s, vh = np.linalg.svd(a, full_matrices=False)
    return conjugate((u * across(s_bar)) @ vh)


def of_factors(a, full_matrices, y, y_bar):
    """The cotangent from values and vectors."""
    u_bar, s_bar, vh_bar = y_bar
    if u_bar is None and vh_bar is None:
        return of_values(a, s_bar)
    refuse_full(full_matrices)
    u, s, vh = y
    v = conjugate(turned(vh))
    gaps = over_gaps(s * s)
    found = 0.0 if s_bar is None else (u * across(s_bar)) @ vh
    if u_bar is not None:
        u_bar = conjugate(u_bar)
        inner = conjugate(turned(u)) @ u_bar
        within = gaps * (inner - conjugate(turned(inner))) * across(s)
        outside = (u_bar - u @ inner) * across(over(s))
        found = found + (u @ (within + phases(inner, s)) + outside) @ vh
    if vh_bar is not None:
        v_bar = turned(vh_bar)
        inner = vh @ v_bar
        within = down(s) * gaps * (inner - conjugate(turned(inner)))
        outside = conjugate(turned(v_bar - v @ inner)) * down(over(s))
        found = found + u @ (within @ vh + outside)
    return conjugate(found)


@known
def refuse_complex(is_complex):
    """The phases of complex columns are LAPACK's choice."""
    if is_complex:
        raise NotDifferentiable("np.linalg.qr of complex numbers has no rule")


def qr_tangent(a, y, a_dot):
    """Source: JAX, lax.linalg.qr."""
    return columns_and_triangle(a, y, a_dot)


def columns_and_triangle(a, y, a_dot):
    """The tangents of both results."""
    refuse_complex(np.iscomplexobj(a))
    q, r = y
    scaled = turned(np.linalg.solve(turned(r), turned(a_dot)))
    inner = turned(q) @ scaled
    below = np.tril(inner, -1)
    turning = below - turned(below)
    return q @ (turning - inner) + scaled, (inner - turning) @ r


@general(
    np.linalg.qr,
    signature="a",
    tangent=qr_tangent,
    complex_too=False,
    samples=(TALL, SQUARE, STACK, np.stack([TALL, TALL + 0.4])),
)
def qr(a, y, y_bar):
    """Orthogonal columns and a triangle, of a matrix not wider than it is high.

    Source: Seeger et al. 2017.
    """
    return of_qr(a, y, y_bar)


def of_qr(a, y, y_bar):
    """The cotangent from the factors."""
    refuse_complex(np.iscomplexobj(a))
    q, r = y
    q_bar, r_bar = y_bar
    if q_bar is None:
        return q @ turned(np.linalg.solve(r, turned(mirrored(r @ turned(r_bar)))))
    inner = turned(q_bar) @ q
    inner = -inner if r_bar is None else r @ turned(r_bar) - inner
    return turned(np.linalg.solve(r, turned(q_bar + q @ mirrored(inner))))


def mirrored(x):
    """The symmetric matrix of the same lower half."""
    return np.tril(x) + turned(np.tril(x, -1))


# ---- norms -------------------------------------------------------------------------


@reduction(
    np.linalg.norm,
    signature="x, ord=None, axis=None, keepdims=False",
    complex_too=True,
    kinks=((np.zeros(2), np.zeros(2)),),
    samples=(
        ROW,
        TALL,
        given(TALL, "fro"),
        given(TALL, axis=0),
        given(STACK, axis=(1, 2)),
        given(TALL, axis=-1, keepdims=True),
        given(ROW, 2),
        given(ROW, 1),
        given(ROW, np.inf),
        given(ROW, -np.inf),
        given(ROW, 3),
        given(ROW, 0),
        given(TALL, 1, axis=1),
        given(TALL, np.inf, axis=0),
        given(TALL, 1),
        given(TALL, np.inf),
        given(TALL, 2),
        given(TALL, "nuc"),
    ),
)
def norm(x, ord, axis, y):
    """The norm of vectors along an axis, or of a matrix; at 0 the slope is 0."""
    return norm_slope(x, ord, axis, y)


def norm_slope(x, ord, axis, y):
    """The partials of a norm, by its order."""
    is_matrix = is_of_matrix(x.ndim, ord, axis)
    if ord is None or ord == "fro" or (ord == 2 and not is_matrix):
        return conjugate(x) / np.where(y == 0, 1.0, y)
    if not is_matrix:
        return vector_slope(x, ord, axis, y)
    return matrix_slope(x, ord, axis, y)


def direction(x):
    """What the modulus grows along: the sign, conjugated."""
    if np.iscomplexobj(x):
        return np.conj(x) / np.where(x == 0, 1.0, np.abs(x))
    return np.sign(x)


def vector_slope(x, ord, axis, y):
    """Of the norm of vectors."""
    if ord == 0:
        return np.zeros_like(x)
    if ord == 1:
        return direction(x)
    if is_extreme(ord):
        return direction(x) * shared(np.abs(x) == y, axis)
    size = np.abs(x) / np.where(y == 0, 1.0, y)
    return direction(x) * size ** (ord - 1)


def matrix_slope(x, ord, axis, y):
    """Of the norm of a matrix."""
    refuse_norm(ord, axis)
    if ord == 1 or is_extreme(ord):
        sums = np.sum(np.abs(x), axis=0 if ord == 1 else 1, keepdims=True)
        return direction(x) * shared(sums == y, None)
    u, _s, vh = np.linalg.svd(x, full_matrices=False)
    return conjugate(u @ vh if ord == "nuc" else np.outer(u[:, 0], vh[0]))


def shared(chosen, axis):
    """Equal parts for what is chosen."""
    return chosen / np.count_nonzero(chosen, axis=axis, keepdims=axis is not None)


@known
def is_extreme(ord):
    """Whether a norm is that of the largest or the smallest."""
    return ord in (np.inf, -np.inf)


@known
def is_of_matrix(rank, ord, axis):
    """Whether the norm is one of matrices."""
    if axis is None:
        return rank == 2 and ord is not None
    return isinstance(axis, tuple) and len(axis) == 2


@known
def refuse_norm(ord, axis):
    """Which norms of matrices have no rule."""
    if axis is not None or ord not in (1, 2, np.inf, "nuc"):
        raise NotDifferentiable(f"np.linalg.norm of matrices with ord={ord} and axis=")
