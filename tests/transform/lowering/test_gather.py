"""Adjoint stencils: gathered where that is right, and scattered where it is not."""

import numpy as np
import pytest
from lowered import assert_differentiates, texts

X = np.sin(1.0 + 1.3 * np.arange(9.0))
A = np.sin(1.0 + 1.7 * np.arange(42.0)).reshape(6, 7)


def smoothed(x, n):
    for _ in range(n):
        y = x.copy()
        y[1:-1] = 0.25 * x[:-2] + 0.5 * x[1:-1] + 0.25 * x[2:]
        x = y
    return np.sum(x * x)


def five_points(a, n):
    for _ in range(n):
        b = a.copy()
        b[1:-1, 1:-1] = 0.2 * (
            a[1:-1, 1:-1] + a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]
        )
        a = b
    return np.sum(a * a)


def along_one_axis(a):
    return np.sum((a[:, 1:] - a[:, :-1]) ** 2)


def in_one_row(a, k):
    return np.sum((a[k, 2:] - a[k, :-2]) ** 3)


def read_between(x):
    y = np.sin(x)
    z = y[1:] - y[:-1]
    w = y[1:] * z
    return np.sum(w * z)


CASES = {
    "smoothed": (smoothed, (X, 3)),
    "five points": (five_points, (A, 2)),
    "along one axis": (along_one_axis, (A,)),
    "in one row": (in_one_row, (A, 2)),
    "read between": (read_between, (X,)),
}


@pytest.mark.parametrize("case", list(CASES))
def test_gradients(case: str) -> None:
    f, args = CASES[case]
    assert_differentiates(f, *args)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_short_arrays(n: int) -> None:
    assert_differentiates(smoothed, X[:n], 2)


def test_the_loop_that_adds_stores_each_element_once() -> None:
    import gradwright as gw

    (text,) = texts(gw.grad(five_points), A, 2)
    assert "padded" in text
    adding = [line for line in text.splitlines() if "a_bar" in line and "+=" in line]
    assert len(adding) <= 2, text


def scaled_in_place(x):
    for _ in range(2):
        x[1:-1] = 0.3 * (x[2:] + x[:-2]) + 0.2 * x[1:-1] * x[1:-1]
    y = np.multiply(x, 0.6, out=x)
    return np.sum(x) + np.sum(y**2)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 6])
def test_parts_of_no_length_are_not_gathered(n: int, dtype: type) -> None:
    assert_differentiates(scaled_in_place, np.sin(np.arange(1.0, n + 1)).astype(dtype))
