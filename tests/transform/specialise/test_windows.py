"""Parts that NumPy cuts from an array: a store into one is a store into the array."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from semantics.oracle import check

import gradwright as gw

X = np.array([0.7, -0.35, 1.2, 0.51, -0.8, 0.25])
SQUARE = np.array([[0.7, -0.35], [1.2, 0.51]])


def equal_parts(x):
    y = x * 1.0
    a, b, c = np.split(y, 3)
    b[:] = a * c
    return np.sum(y * y * y)


def at_indices(x):
    y = x * 1.0
    parts = np.split(y, [2, 3])
    parts[1][0] = x[0] * x[2]
    parts[2] += x[3]
    return np.sum(y * y)


def along_an_axis(x):
    y = np.zeros((2, 4))
    a, b = np.split(y, 2, axis=-1)
    a[0, 1] = x[0] * x[2]
    b += x[3]
    return np.sum(y * y * x[1])


def in_unequal_parts(x):
    y = np.ones(5) * x[2]
    a, b = np.array_split(y, 2)
    a[1:] *= b
    return np.sum(y * y)


def in_columns_and_rows(x):
    y = np.outer(x, x)
    left, right = np.hsplit(y, 2)
    upper, lower = np.vsplit(right, 2)
    lower[:] = upper * left[3:]
    return np.sum(y * y)


def of_an_argument(x):
    a, b = np.split(x, 2)
    a[:] = b * b
    return np.sum(x * x)


def with_a_rest(x):
    a, *others = np.split(x, 3)
    others[1][:] = a * others[0]
    return np.sum(x * x)


def one_after_the_other(x):
    y = x * 2.0
    for part in np.split(y, 3):
        part *= x[1]
        part[0] = 1.0
    return np.sum(y * x)


def in_a_loop(x):
    y = x * 2.0
    for k in range(3):
        a, b = np.split(y, 2)
        a += b * b
        b *= x[k]
    return np.sum(y * x)


def rows_under_names(x):
    y = np.outer(x[:2], x)
    a, b = y
    a[1:] = b[:-1] * a[:-1]
    return np.sum(y * y)


PROGRAMS = [
    equal_parts, at_indices, along_an_axis, in_unequal_parts, in_columns_and_rows,
    of_an_argument, with_a_rest, one_after_the_other, in_a_loop, rows_under_names,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
def test_against_differences_in_both_orders(f: Callable[..., Any]) -> None:
    def kept(x):
        return f(x.copy())

    def slope(x):
        return np.sum(gw.grad(f)(x) * np.cos(X))

    (gradient,) = check(kept, X)
    assert np.array_equal(gw.grad(f)(X), gradient)
    check(slope, X, exact=False)


def test_parts_that_come_out_uneven() -> None:
    for f in (equal_parts, of_an_argument):
        with pytest.raises(ValueError, match="equal division") as ours:
            gw.grad(f)(X[:5])
        with pytest.raises(ValueError, match="equal division") as numpys:
            f(X[:5])
        assert str(ours.value) == str(numpys.value)


def test_an_axis_that_is_none() -> None:
    def f(x):
        a, b = np.split(x, 2, axis=1)
        a[:] = b
        return np.sum(x)

    with pytest.raises(IndexError) as ours:
        gw.grad(f)(X)
    with pytest.raises(IndexError) as numpys:
        f(X)
    assert str(ours.value) == str(numpys.value)


def test_parts_of_which_only_the_run_knows_the_lengths_are_refused() -> None:
    def f(x):
        a, _ = np.array_split(x, 2)
        a[:] = 1.0
        return np.sum(x)

    with pytest.raises(gw.GradwrightError):
        gw.grad(f)(X)


def test_the_text() -> None:
    """A part is read and stored into where it stands in the array."""
    gradient = gw.grad(at_indices)
    gradient(X)
    assert "    y[2] = x_0 * x_2\n    y[3:] += x[3]\n" in gradient.source()
