"""Arguments that are stored into: in place, where nothing reads them as they were."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradwright as gw


def first(x: Any) -> Any:
    x[0] = 2.0
    return np.sum(x * x)


def both(x: Any, y: Any) -> Any:
    x[0] = y[0] * y[0]
    y[1:] *= x[1:]
    return np.sum(x * y)


def seen_before(x: Any) -> Any:
    square = np.sum(x * x * x)
    x[0] = 2.0
    return square * x[1]


def grown(x: Any, n: int) -> Any:
    for _ in range(n):
        x[1:] = x[1:] * x[:-1]
    return np.sum(x)


PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (first, (np.array([1.0, 3.0]),)),
    (both, (np.array([1.0, 3.0]), np.array([2.0, 5.0]))),
    (seen_before, (np.array([1.0, 3.0]),)),
    (grown, (np.array([1.0, 0.5, 2.0]), 3)),
]


@pytest.mark.parametrize(("f", "args"), PROGRAMS)
@pytest.mark.parametrize("backend", ["cpu", "numpy"])
def test_the_derivative_is_the_same(f: Any, args: Any, backend: str) -> None:
    which = tuple(k for k, a in enumerate(args) if isinstance(a, np.ndarray))
    wanted = gw.value_and_grad(f, argnums=which)(*args)
    given = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    g = gw.value_and_grad(f, argnums=which)
    value, gradients = gw.jit(g, donate_argnums=which, backend=backend)(*given)
    assert value == pytest.approx(wanted[0])
    for a, b in zip(gradients, wanted[1], strict=True):
        assert np.allclose(a, b)


def test_a_store_is_made_where_the_array_stands() -> None:
    x = np.array([1.0, 3.0])
    text = gw.jit(gw.grad(first), donate_argnums=0).source(x)
    assert "copy" not in text and "x[0] = 2.0" in text
    assert "copy" in gw.jit(gw.grad(first)).source(x)
    assert "copy" not in gw.jit(first).source(x)


def test_only_what_is_given_away() -> None:
    x, y = np.array([1.0, 3.0]), np.array([2.0, 5.0])
    gw.jit(gw.grad(both, argnums=(0, 1)), donate_argnums=1)(x, y)
    assert x.tolist() == [1.0, 3.0]
    assert y.tolist() != [2.0, 5.0]
