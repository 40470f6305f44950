"""Array statements: by elements, displays, calls of a library, in kinds of NumPy."""

from typing import Any

import numpy as np
import pytest
from lowered import assert_compiles, assert_differentiates, texts

X = np.array([0.7, -1.3, 2.1, 0.4])
A = np.sin(1.0 + 1.7 * np.arange(12.0)).reshape(3, 4)


def elementwise(a, x):
    return a * x + 2.0, np.where(a > x, a, 1.0), a // 0.3, a % x, -abs(a), a**2


def of_kinds(a, n):
    single = a.astype(np.float32)
    return single * 2.0, single * n, single + a, a.astype(int) // 2, a > 0.3, a * 1j


def displayed(a, x):
    y = np.array([x[0], 2.0, x[1] * x[2]])
    return y * 2.0, np.array([[x[0], x[1]], [0.0, 1.0]]) @ x[:2], np.sum(y)


def called(a, x):
    m = a[:, :3] + 3.0 * np.eye(3)
    values, vectors = np.linalg.eigh(m + m.T)
    return (
        np.linalg.solve(m, x[:3]), np.linalg.det(m), values, np.abs(vectors),
        np.sort(x), np.argsort(x), np.fft.fft(x), np.median(a),
    )  # fmt: skip


def solved(a, x):
    m = a[:, :3] + 3.0 * np.eye(3)
    return np.sum(np.linalg.solve(m, x[:3]) ** 2) + np.linalg.det(m) + np.sort(x)[1]


@pytest.mark.parametrize("f", [elementwise, displayed, called])
def test_values(f: Any) -> None:
    assert_compiles(f, A, X)


def test_kinds() -> None:
    assert_compiles(of_kinds, A, 3)
    assert_compiles(of_kinds, A.astype(np.float32), 3)


def test_gradients() -> None:
    assert_differentiates(solved, A, X, argnums=(0, 1))


def test_a_library_is_called_on_the_argument_itself() -> None:
    (text,) = texts(lambda a: np.sort(a), X)
    assert "= np.sort(a)" in text


def singular(a):
    return np.linalg.inv(a) * 2.0


def test_what_a_library_raises() -> None:
    assert_compiles(singular, np.ones((2, 2)))


def numbers_for_arrays(x):
    s = np.sum(x)
    return (
        np.argmax(s), np.argmin(s), np.median(s), np.ptp(s), np.quantile(s, 0.3),
        np.linalg.norm(s), np.flip(s), np.max(s), np.count_nonzero(s), np.std(s),
    )  # fmt: skip


def test_numbers_in_the_place_of_arrays() -> None:
    assert_compiles(numbers_for_arrays, np.array([0.3, -0.7]))


def untouched(c, x):
    return np.sum(x * np.sign(c)) + x[0]


def test_the_gradient_of_an_array_without_axes() -> None:
    """Memory that holds one number, which is read as a whole."""
    args = np.array(0.5), np.array([0.3, -0.7])
    assert_differentiates(untouched, *args, argnums=(0, 1))
