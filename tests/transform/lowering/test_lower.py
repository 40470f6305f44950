"""Whole programs, and what a function that is lowered again begins from."""

import math
from typing import Any

import numpy as np
import pytest
from lowered import assert_compiles, assert_differentiates, in_python

import gradwright as gw

X = np.array([0.7, -1.3, 2.1, 0.4])


def waits_in_a_branch(x, n):
    """What is made in a branch is not asked for behind it."""
    if n > 1:
        x[0] = 2.0
        return np.sum(np.outer(x[:2] * 3.0, x.reshape(2, -1)))
    x[1] = 3.0
    return np.sum(x)


def kept_before_the_loop(x, n):
    y = np.exp(x)
    z = y * x
    for k in range(n):
        y = y + z * k
    return np.sum(y * z)


def spoilt_by_the_loop(x, n):
    y = x * 1.0
    z = y * 2.0
    for k in range(n):
        y[k] = z[k] + 1.0
    return y + z


def spoilt_behind_its_back(x, n):
    y = x * 1.0
    z = y * 2.0
    for k in range(n):
        y[k] = k + 1.0
    return z * 3.0 + y[0]


def cast_and_spoilt(x, n):
    y = x * 1.0
    z = y.astype(np.float32)
    s = 0.0
    for k in range(n):
        y[k] = k + 1.0
        s += np.sum(z)
    return s + y[0]


def spoilt_by_the_branch(x, n):
    y = x * 1.0
    z = y + 0.5
    if n > 1:
        y[0] = 9.0
    return y * z


def until_it_is_small(x, limit):
    n = 0
    while np.sum(np.abs(x)) > limit:
        x = x * 0.7
        n += 1
        if n > 40:
            break
    return np.sum(x) * n


def asserted(x):
    assert np.all(x > -5.0), f"too small: {x[0]}"
    return np.sum(x)


def raises(x):
    if np.any(x > 2.0):
        raise ValueError("too large")
    return np.sum(x)


def two_backwards(x, n):
    s = 0.0
    for k in reversed(range(n)):
        for j in range(k, -1, -1):
            s = s * x[j] + x[k]
    return s


EVERY = [
    kept_before_the_loop,
    spoilt_by_the_loop,
    spoilt_behind_its_back,
    cast_and_spoilt,
    spoilt_by_the_branch,
    two_backwards,
]


@pytest.mark.parametrize("f", [*EVERY, waits_in_a_branch])
@pytest.mark.parametrize("n", [0, 1, 3])
def test_values(f: Any, n: int) -> None:
    assert_compiles(f, X, n)


@pytest.mark.parametrize("f", [kept_before_the_loop, two_backwards, until_it_is_small])
def test_gradients(f: Any) -> None:
    assert_differentiates(f, X, 3)


def test_a_loop_on_a_condition() -> None:
    assert_compiles(until_it_is_small, X, 0.5)


def test_what_the_program_raises() -> None:
    assert_compiles(asserted, X)
    assert_compiles(asserted, X - 9.0)
    assert_compiles(raises, X)
    assert_compiles(raises, X - 9.0)


def takes_its_lengths_for_granted(x, n):
    s = 0.0
    while s < n:
        s = s + math.sin(x[2]) ** 2 + 0.5
        x = x * 1.1
    return s * np.sum(x)


@pytest.mark.parametrize("length", [4, 3])
def test_lowered_again_from_the_program_itself(length: int) -> None:
    """Where what was taken for granted does not hold: no line that is only printed."""
    with in_python() as made:
        gradient = gw.jit(gw.grad(takes_its_lengths_for_granted))
        for x in (X[:length], X):
            wanted = gw.grad(takes_its_lengths_for_granted)(x, 3.0)
            np.testing.assert_allclose(gradient(x, 3.0), wanted, rtol=1e-13)
        with pytest.raises(IndexError):
            gradient(X[:2], 3.0)
    assert all("while x_tape" not in program.text for program in made)
