"""Sums of products: matmul, einsum and their kin, of every rank."""

from typing import Any

import numpy as np
import pytest
from lowered import assert_compiles, assert_differentiates


def wave(*shape: int) -> Any:
    return np.sin(1.0 + 1.7 * np.arange(float(np.prod(shape)))).reshape(shape)


V, W, M, N = wave(3), wave(4), wave(2, 3), wave(3, 4)
S, T = wave(5, 2, 3), wave(5, 3, 4)


def matmul(a, b):
    return a @ b


def dot(a, b):
    return np.dot(a, b)


PAIRS = [(V, V), (M, V), (V, N), (M, N), (S, V), (V, T), (S, N), (M, T), (S, T)]
PAIRS += [(S[:1], T), (S, T[:1]), (M[:0], N), (M[:, :0], N[:0]), (M, N[:, :0])]


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_matmul(a: Any, b: Any) -> None:
    assert_compiles(matmul, a, b)
    assert_compiles(matmul, a.astype(np.float32), b)
    assert_compiles(matmul, a * 1j, b)


@pytest.mark.parametrize(("a", "b"), PAIRS[:9])
def test_dot(a: Any, b: Any) -> None:
    assert_compiles(dot, a, b)


def every_einsum(m, n, v, q):
    return (
        np.einsum("ij,jk->ik", m, n),
        np.einsum("ij,jk->ki", m, n),
        np.einsum("ij,j", m, v),
        np.einsum("ij->ji", m),
        np.einsum("ij->j", m),
        np.einsum("ii->i", q),
        np.einsum("ii", q),
        np.einsum("ij,kj->ikj", m, m),
        np.einsum("ij,jk,k->i", m, n, n[0]),
        np.einsum("...j,j->...", m, v),
        np.einsum("ij,ij->", m, m),
        np.einsum("i,j->ji", v, v),
    )


def test_einsum() -> None:
    assert_compiles(every_einsum, M, N, V, N[:, :3])


def others(m, n, v):
    return (
        np.inner(m, v),
        np.outer(m, v),
        np.vdot(v, v),
        np.tensordot(m, n, 1),
        np.tensordot(m, m, ([1], [1])),
        np.tensordot(m, m, 2),
        np.matvec(m, v),
        np.vecmat(v, n),
        np.vecdot(m, m),
    )


def test_the_other_products() -> None:
    assert_compiles(others, M, N, V)


def test_the_first_operand_is_conjugated() -> None:
    assert_compiles(others, M * (1 + 2j), N * 1j, V * (2 - 1j))


def stretched(a, b):
    return np.einsum("ij,ij->i", a, b), np.matmul(a[None], b[:, :, None])


def test_an_axis_of_length_one_meets_a_longer_one() -> None:
    assert_compiles(stretched, wave(3, 4), wave(3, 4))
    assert_compiles(stretched, wave(1, 4), wave(3, 4))


def quadratic(a, x):
    return x @ a @ x + np.sum((a @ a) @ (a.T @ x)) + np.sum(np.outer(x, x) * a)


def test_gradients() -> None:
    assert_differentiates(quadratic, N[:, :3], V, argnums=(0, 1))
    assert_differentiates(quadratic, wave(1, 1), wave(1), argnums=(0, 1))
