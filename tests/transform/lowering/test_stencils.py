"""Derivatives of stencils: what each place gets, from all that read it."""

from typing import Any

import numpy as np
import pytest
from lowered import assert_differentiates

U = np.sin(1.0 + 1.7 * np.arange(42.0)).reshape(6, 7)


def five_points(u):
    v = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1]
    return np.sum(v * v)


def with_coefficients(u):
    v = 0.5 * u[:-1] - 2.0 * u[1:]
    w = v[:, 2:] - v[:, :-2]
    return np.sum(np.sin(w)) + np.sum(v * v)


def from_before_the_array(u):
    v = u[-9:, 1:] - u[-9:, :-1]
    return np.sum(v * v)


def one_axis(u):
    x = u[0]
    for _ in range(3):
        y = np.zeros(len(x))
        y[1:-1] = x[:-2] - 2.0 * x[1:-1] + x[2:]
        x = x + 0.1 * y
    return np.sum(x * x)


@pytest.mark.parametrize(
    "f", [five_points, with_coefficients, from_before_the_array, one_axis]
)
@pytest.mark.parametrize("shape", [(6, 7), (3, 3), (2, 2), (6, 2)])
def test_gradients(f: Any, shape: tuple[int, int]) -> None:
    assert_differentiates(f, U[: shape[0], : shape[1]])
