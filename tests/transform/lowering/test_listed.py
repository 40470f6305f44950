"""Where the items of a list stand in memory: behind one another, all of one shape."""

from typing import Any

import numpy as np
import pytest
from lowered import assert_compiles, assert_differentiates, texts

import gradwright as gw

X = np.array([0.7, -1.3, 2.1, 0.4])


def of_one_shape(x, n):
    rows = []
    for k in range(n):
        rows.append(x * (k + 1.0))
    rows[0] = rows[-1] * x
    return np.sum(np.array(rows) ** 2) + np.sum(rows.pop() * rows[0])


def of_several(x, n):
    rows = []
    for k in range(n):
        rows.append(x[k:])
    return np.sum(rows[0] ** 2)


def of_zeros(x, n):
    rows = [np.zeros(3) for _ in range(n)]
    for k in range(n):
        rows[k] = rows[k - 1] * x[0] + x[1:] * k
    return np.sum(np.array(rows) ** 2)


def of_integers(x, n):
    before = [-1] * n
    values = [0.0] * n
    for k in range(1, n):
        before[k] = (k - 1) // 2
        values[k] = values[before[k]] * x[0] + x[k]
    return sum(values)


@pytest.mark.parametrize("f", [of_one_shape, of_zeros, of_integers])
@pytest.mark.parametrize("n", [2, 4])
def test_values_and_derivatives(f: Any, n: int) -> None:
    assert_compiles(f, X, n)
    assert_differentiates(f, X, n)
    assert_compiles(gw.hessian(f), X, n)


def test_only_items_of_several_shapes_have_a_table() -> None:
    (rows,) = texts(of_one_shape, X, 3)
    (parts,) = texts(of_several, X, 3)
    assert "places" not in rows
    assert "rows_places" in parts
