"""Matrices times matrices and vectors, however they lie in memory."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradwright as gw

SIZES = [(3, 5, 4), (1, 7, 1), (40, 130, 20), (0, 4, 3), (3, 0, 2)]
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "strided": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
}


def product(a: Any, b: Any) -> Any:
    return a @ b


def left_turned(a: Any, b: Any) -> Any:
    return a.T @ b


def right_turned(a: Any, b: Any) -> Any:
    return a @ b.T


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
@pytest.mark.parametrize("layout", list(LAYOUTS))
@pytest.mark.parametrize("n, k, m", SIZES)
def test_matrices(n: int, k: int, m: int, layout: str, dtype: str) -> None:
    rng = np.random.default_rng(n + k + m)
    a, b = (rng.normal(size=s).astype(dtype) for s in ((n, k), (k, m)))
    lay = LAYOUTS[layout]
    for f, x, y in (
        (product, a, b),
        (left_turned, a.T.copy(), b),
        (right_turned, a, b.T.copy()),
    ):
        found = gw.jit(f)(lay(x), lay(y))
        np.testing.assert_allclose(found, f(x, y), rtol=1e-4, atol=1e-5)
        assert found.dtype == dtype


@pytest.mark.parametrize("layout", list(LAYOUTS))
@pytest.mark.parametrize("n, k", [(3, 5), (100, 90), (5, 0)])
def test_a_matrix_and_a_vector(n: int, k: int, layout: str) -> None:
    rng = np.random.default_rng(n)
    a, u, v = (rng.normal(size=s) for s in ((n, k), (k,), (n,)))
    lay = LAYOUTS[layout]
    for f, x, y in (
        (product, a, u),
        (product, v, a),
        (left_turned, a, v),
        (right_turned, u, a),
    ):
        given = [lay(z) if z.ndim == 2 else z for z in (x, y)]
        np.testing.assert_allclose(gw.jit(f)(*given), f(x, y), rtol=1e-10, atol=1e-13)
