"""Arrays of zeros that are added to as a whole begin as what is added."""

from typing import Any

import numpy as np
import pytest

import gradwright as gw

X = np.array([0.7, -1.3, 2.1, 0.4])


def pairs(x: Any) -> Any:
    return np.sum(x[1:] * x[:-1]) + np.sum(x**2)


def by_itself(x: Any) -> Any:
    """What is added as a whole is an argument: it must not be stored into."""
    return np.sum(x * gw.stop_gradient(x)) + x[0] * x[1]


def number(x: Any) -> Any:
    return np.sum(x) * x[1]


def in_a_loop(x: Any, n: int) -> Any:
    s = 0.0
    for k in range(n):
        s += x[k] * x[k + 1]
    return s + np.sum(x * x)


@pytest.mark.parametrize(
    ("f", "args", "line", "zeros"),
    [
        (pairs, (X,), "x_bar = 2.0 * x\n", 0),
        (by_itself, (X,), "x_bar = x.copy()\n", 0),
        (number, (X,), "x_bar = np.full_like(x, x[1])\n", 0),
        (in_a_loop, (X, 3), "x_bar = 2.0 * x\n", 0),
    ],
)
def test_it_begins_as_the_first_addition(
    f: Any, args: Any, line: str, zeros: int
) -> None:
    text = gw.grad(f).source(*args)
    assert line in text, text
    assert text.count("np.zeros_like") == zeros
    kept = [np.copy(a) for a in args]
    if f is not by_itself:  # whose derivative is not what differences say
        gw.check_grads(f, args, order=2)
    gw.grad(f)(*args)
    assert all(np.array_equal(a, b) for a, b in zip(args, kept, strict=True))


def test_what_is_read_before_stays_zero() -> None:
    def f(x: Any) -> Any:
        return x[0] * x[1]

    assert "x_bar = np.zeros_like(x)" in gw.grad(f).source(X)


def test_a_scalar_array_is_left_alone() -> None:
    def f(x: Any) -> Any:
        return np.sum(x * x) + x[()] * 2.0

    x = np.array(1.5)
    assert gw.grad(f)(x) == 5.0


def test_an_array_that_is_used_again_is_copied() -> None:
    def f(x: Any, y: Any) -> Any:
        return np.sum((x + y) ** 2) + x[0] * y[1] * x[2]

    gw.check_grads(f, (X, X[::-1].copy()), order=2)


def test_an_argument_is_copied() -> None:
    kept = X.copy()
    assert gw.grad(by_itself)(X).tolist() == [X[0] + X[1], X[1] + X[0], *X[2:]]
    assert X.tolist() == kept.tolist()
