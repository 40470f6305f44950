"""Reductions: over everything, rows, columns; what they start from; NaN."""

from typing import Any

import numpy as np
import pytest
from lowered import assert_compiles, assert_differentiates, texts

import gradwright as gw

A = np.sin(1.0 + 1.7 * np.arange(24.0)).reshape(2, 3, 4)
AXES = [None, 0, 1, 2, -1, (0, 1), (0, 2), (1, 2), (2, 0), (0, 1, 2)]
FUNCTIONS = [np.sum, np.prod, np.mean, np.max, np.min, np.any, np.all, np.count_nonzero]


def summed(x):
    return (
        np.sum(x), np.sum(x, axis=0), np.sum(x, axis=-1), np.sum(x, axis=(0, 2)),
        np.sum(x, axis=1, keepdims=True), np.sum(x, keepdims=True),
    )  # fmt: skip


def multiplied(x):
    return (
        np.prod(x), np.prod(x, axis=0), np.prod(x, axis=-1),
        np.prod(x, axis=1, keepdims=True),
    )  # fmt: skip


def averaged(x):
    return (
        np.mean(x), np.mean(x, axis=0), np.mean(x, axis=-1), np.mean(x, axis=(0, 1)),
        np.var(x), np.var(x, axis=0), np.std(x, axis=1, keepdims=True),
    )  # fmt: skip


def extremes(x):
    return (
        np.max(x), np.max(x, axis=0), np.max(x, axis=-1), np.min(x, axis=(0, 2)),
        np.min(x), np.min(x, axis=1, keepdims=True),
    )  # fmt: skip


def truths(x):
    return (
        np.any(x > 0.9), np.all(x > 0.0, axis=0), np.any(x, axis=-1),
        np.count_nonzero(x), np.count_nonzero(x, axis=1), np.all(x),
    )  # fmt: skip


@pytest.mark.parametrize("f", [summed, multiplied, averaged, extremes, truths])
@pytest.mark.parametrize("dtype", [float, np.float32, int, bool])
def test_every_axis_and_dtype(f: Any, dtype: Any) -> None:
    if f is extremes and dtype is bool:
        dtype = int
    assert_compiles(f, (A * 3).astype(dtype))


@pytest.mark.parametrize("f", [summed, multiplied, averaged])
def test_complex_numbers(f: Any) -> None:
    assert_compiles(f, A * np.exp(1j * A))


@pytest.mark.parametrize(
    "shape", [(0, 3, 4), (2, 0, 4), (2, 3, 0), (1, 1, 1), (1, 3, 1)]
)
def test_lengths_of_nothing_and_of_one(shape: tuple[int, ...]) -> None:
    x = np.sin(1.0 + np.arange(float(np.prod(shape)))).reshape(shape)
    for f in (summed, multiplied, averaged, truths):
        assert_compiles(f, x)


def test_an_extreme_of_something_that_is_no_number() -> None:
    x = A.copy()
    x[0, 1, 2] = np.nan
    x[1, 0, 0] = -np.inf
    assert_compiles(extremes, x)
    assert_compiles(summed, x)


def test_an_extreme_of_nothing_is_an_error() -> None:
    assert_compiles(lambda x: np.max(x), A[:0])
    assert_compiles(lambda x: np.min(x, axis=0), A[:0])
    assert_compiles(lambda x: np.min(x, axis=0), A[:0, :, :0])
    assert_compiles(lambda x: np.max(x, axis=1), A[:0])


def in_a_loop(x, n):
    total = 0.0
    for k in range(n):
        total = total + np.sum(x * k) + np.mean(x[k])
    return total


def test_a_sum_begins_anew_in_each_trip() -> None:
    assert_compiles(in_a_loop, A[0], 3)
    assert_differentiates(in_a_loop, A[0], 3)


def weighed(x):
    rows, columns = np.sum(x, axis=1), np.sum(np.exp(x), axis=0)
    return np.sum(rows[:, None] * x) + np.sum(columns * x) + np.max(x)


def test_gradients() -> None:
    assert_differentiates(weighed, A[0])
    assert_differentiates(weighed, A[0, :1])


def test_a_sum_along_rows_is_made_in_a_number() -> None:
    (text,) = texts(lambda x: np.sum(x, axis=1), A[0])
    assert "total = np.float64(0.0)" in text


def test_a_sum_over_rows_adds_row_by_row() -> None:
    (text,) = texts(lambda x: np.sum(x, axis=0), A[0])
    assert "[j] += x" in text


OF_NUMBERS = [
    np.sum, np.mean, np.prod, np.max, np.min, np.var, np.std, np.any, np.all,
    np.count_nonzero,
]  # fmt: skip


@pytest.mark.parametrize("x", [1.5, np.float64(-0.5), 0.0])
@pytest.mark.parametrize("f", OF_NUMBERS)
def test_numbers_are_reduced_as_arrays_without_axes(f: Any, x: float) -> None:
    assert gw.jit(lambda x: f(2.0 * x)).lower(x).compile().as_text("llvm")
    assert_compiles(lambda x: f(2.0 * x), x)


def test_gradients_of_reduced_numbers() -> None:
    assert_differentiates(lambda x: np.sum(x * x) * np.mean(x) + np.max(3.0 * x), 1.5)
