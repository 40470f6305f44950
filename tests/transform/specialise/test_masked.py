"""Reductions with where= and initial=: values of NumPy, derivatives by differences."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from semantics.oracle import check

import gradwright as gw

X = np.array([0.7, -0.35, 1.2, 0.51])
M = X > 0
NONE = X > 5
LINE = np.arange(1.0, 5.0)

PROGRAMS: list[Callable[[Any, Any], Any]] = [
    lambda x, m: np.max(x, initial=0.9) + np.max(x, initial=2.0) * x[0],
    lambda x, m: np.max(x, where=m, initial=-1.0) ** 2,
    lambda x, m: np.max(x, where=True) ** 2,
    lambda x, m: np.min(x, where=m, initial=0.6) ** 2 + x.min(initial=x[0]),
    lambda x, m: np.sum(
        np.max(np.outer(x, x), axis=0, where=m[:, None], initial=0.1) * LINE
    ),
    lambda x, m: np.sum(x, where=m) ** 2 + x.sum(initial=x[0], where=m) * x[1],
    lambda x, m: np.sum(np.outer(x, x), where=m) + np.sum(x, where=True, initial=2.0),
    lambda x, m: np.sum(np.sum(np.outer(x, x), axis=1, where=m, initial=x[3]) * LINE),
    lambda x, m: np.mean(np.outer(x, x), where=np.append(m[1:], True)) ** 2,
    lambda x, m: np.sum(np.mean(x * x[:, None], axis=0, where=x[:, None] < 2) * LINE),
    lambda x, m: np.prod(x, where=m) + np.prod(x, initial=x[1]) * x[0],
    lambda x, m: np.sum(np.prod(np.outer(x, x), axis=0, where=m, keepdims=True) ** 2),
    lambda x, m: x[0] if np.all(x > 0, where=m) else x[1],
    lambda x, m: x[0] if np.any(x > 1, where=m) else x[1],
]


@pytest.mark.parametrize("k", range(len(PROGRAMS)))
@pytest.mark.parametrize("mask", [M, ~M, NONE])
def test_against_numpy_and_differences(k: int, mask: np.ndarray) -> None:
    f = PROGRAMS[k]
    check(f, X, mask)
    direction = np.array([0.3, -1.1, 0.7, 0.4])

    def slope(x, m):
        return np.sum(gw.grad(f)(x, m) * direction)

    check(slope, X, mask, exact=False)


def test_no_number_to_begin_with() -> None:
    def f(x, m):
        return np.max(x, where=m)

    with pytest.raises(ValueError, match="one has to specify 'initial'") as ours:
        gw.grad(f)(X, M)
    with pytest.raises(ValueError, match="'maximum'") as numpys:
        f(X, M)
    assert str(ours.value) == str(numpys.value)
