"""Names that hold nothing yet: saved all the same, and an error where they are read."""

import math
from typing import Any

import numpy as np
import pytest
from lowered import assert_compiles, assert_differentiates

X = np.array([0.7, -0.3, 0.9])


def a_number(x, n):
    for k in range(n):
        b = math.sin(x * (k + 1.0))
        x = x * b
    return x + b


def an_int(x, n):
    for k in range(n):
        i = k + 3
        x = math.sin(x) * i
    return x * i


def an_array(x, n):
    for _ in range(n):
        y = np.sin(x) * x
        x = x * y
    return np.sum(x * y)


EVERY = [(a_number, 0.7), (an_int, 0.7), (an_array, X)]


@pytest.mark.parametrize(("f", "x"), EVERY)
@pytest.mark.parametrize("n", [1, 3])
def test_bound_in_a_loop(f: Any, x: Any, n: int) -> None:
    assert_compiles(f, x, n)
    assert_differentiates(f, x, n)


@pytest.mark.parametrize(("f", "x"), EVERY)
def test_not_bound(f: Any, x: Any) -> None:
    assert_compiles(f, x, 0)
    with pytest.raises(UnboundLocalError):
        assert_differentiates(f, x, 0)
    with pytest.raises(UnboundLocalError):
        import gradwright as gw

        gw.jit(gw.grad(f))(x, 0)
