"""Arrays of numbers that are known by their place."""

from typing import Any

import numpy as np
import pytest
from lowered import assert_compiles, texts


def constants(n, x):
    return (
        np.zeros(n), np.ones((n, 2)), np.full(3, x), np.eye(n), np.eye(n, 4, 1),
        np.identity(n), np.eye(4, n, -2), np.zeros((2, n), np.int64), np.tri(n, 3, 1),
    )  # fmt: skip


def ranges(n, x):
    return (
        np.arange(n), np.arange(2, n), np.arange(n, -3, -2), np.arange(1, n, 3),
        np.arange(0.0, x, 0.3), np.arange(x, -1.0, -0.25), np.arange(n) * x,
    )  # fmt: skip


def points(n, x):
    return (
        np.linspace(0.0, x, 5), np.linspace(x, 2.0, n), np.linspace(0.0, x, n + 1),
        np.linspace(0.0, x, 4, endpoint=False), np.linspace(x, x, 3),
    )  # fmt: skip


@pytest.mark.parametrize("f", [constants, ranges, points])
@pytest.mark.parametrize("n", [0, 1, 5])
@pytest.mark.parametrize("x", [0.9, -0.6])
def test_values(f: Any, n: int, x: float) -> None:
    assert_compiles(f, n, x)


def weighed(n):
    return np.sum(np.arange(n) * np.eye(n)[0])


def test_they_are_no_memory() -> None:
    (text,) = texts(weighed, 5)
    assert "np.empty" not in text
    assert "np.zeros" not in text


def of_a_branch(x, n, m):
    """An array of a size that would be negative where its branch is not taken."""
    s = 0.0
    if m > 3:
        y = np.zeros(n - 3)
        y[0] = x
        s = np.sum(np.sin(y) * y)
    return s + x


@pytest.mark.parametrize("m", [2, 5])
@pytest.mark.parametrize("n", [1, 3, 4, 6])
def test_a_size_is_looked_at_where_its_array_begins(n: int, m: int) -> None:
    assert_compiles(of_a_branch, 0.7, n, m)


def ranges_of_steps(n, step):
    return np.arange(n, -2, step), np.arange(step), np.arange(0, n, step) * 0.5


@pytest.mark.parametrize("step", [-3, -1, 0, 1, 2, 7])
@pytest.mark.parametrize("n", [0, 5])
def test_steps_of_the_run(n: int, step: int) -> None:
    assert_compiles(ranges_of_steps, n, step)
