"""Functions that call themselves, in machine code; those that cannot be."""

import math
from typing import Any

import numpy as np
import pytest
from lowered import assert_compiles, texts

import gradwright as gw
from gradwright.transform.errors import CompileWarning

X = np.array([0.7, -0.3, 0.9, 0.4, 1.1])


def power(x, n):
    if n == 0:
        return 1.0
    return x * power(x, n - 1)


def tree(x):
    """A sum over halves, whose lengths are one in the end."""
    if len(x) == 1:
        return x[0] * x[0]
    m = len(x) // 2
    return tree(x[:m]) + math.sin(tree(x[m:]))


def rounds(x, n):
    """An array that comes back, of a length that is known."""
    y = np.zeros(3)

    def go(y, k):
        if k == 0:
            return y
        return go(np.sin(y + x), k - 1)

    return np.sum(go(y, n))


def transformed(x):
    """Fourier's transform, by halves: arrays of every length come back."""
    if len(x) < 2:
        return x + 0j
    even, odd = transformed(x[::2]), transformed(x[1::2])
    k = np.arange(len(odd))
    turned = np.exp(-2j * np.pi * k / len(x)) * odd
    return np.concatenate((even + turned, even - turned))


def merged(x):
    """Sorted, by halves, with loops on a condition."""
    if len(x) < 2:
        return x.copy()
    a, b = merged(x[: len(x) // 2]), merged(x[len(x) // 2 :])
    y = np.zeros(len(x))
    i = j = 0
    for k in range(len(x)):
        if j >= len(b) or (i < len(a) and a[i] <= b[j]):
            y[k] = a[i]
            i += 1
        else:
            y[k] = b[j]
            j += 1
    return y


def swept(A, k):
    """A matrix that comes back in rows, whichever way it was given."""
    if k == 0:
        return A
    return swept(0.5 * (A + A.T), k - 1)


def both(x, n):
    """Two results, one of them an array, in a loop."""

    def halved(y, k):
        if k == 0:
            return y, 0
        z, depth = halved(0.5 * y[1:], k - 1)
        return z, depth + 1

    s = 0.0
    for k in range(n):
        z, depth = halved(x, k)
        s += np.sum(z) * depth
    return s


@pytest.mark.parametrize("n", [0, 1, 7])
def test_a_function_of_numbers(n: int) -> None:
    assert_compiles(power, 1.5, n)


@pytest.mark.parametrize("f", [tree, transformed, merged])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 13])
def test_arrays_of_every_length(f: Any, n: int) -> None:
    x = np.sin(np.arange(1.0, n + 1.0) ** 2)
    for given in (x, np.repeat(x, 2)[::2], x[::-1]):
        assert_compiles(f, given)


@pytest.mark.parametrize("n", [0, 1, 4])
def test_an_array_that_comes_back(n: int) -> None:
    assert_compiles(rounds, 0.3, n)
    assert_compiles(both, X, n)
    A = np.sin(np.arange(9.0)).reshape(3, 3)
    assert_compiles(swept, A, n)
    assert_compiles(swept, np.asfortranarray(A), n)


def test_a_function_inside_of_loops_hands_over_memory() -> None:
    text = "\n".join(texts(rounds, 0.3, 2))
    assert "go_value = go(sin, k - 1, x)" in text


def test_its_derivative_runs_as_emitted_source() -> None:
    with pytest.warns(CompileWarning, match="calls itself"):
        assert gw.jit(gw.grad(power))(1.5, 3) == pytest.approx(3 * 1.5**2)
