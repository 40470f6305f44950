"""Functions that call themselves, and their derivatives, in machine code."""

import math
from typing import Any

import numpy as np
import pytest
from lowered import assert_compiles, assert_differentiates, texts

import gradwright as gw

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


# ---- derivatives: what both halves share is on one tape ------------------------------


def even(x, n):
    """Two functions that call each other."""
    if n <= 0:
        return x * x
    return math.sin(x) * odd(0.5 * x, n - 1)


def odd(x, n):
    if n <= 0:
        return x
    return x + even(x * x, n - 1)


def fibonacci(x, n):
    if n < 2:
        return x
    return math.sin(fibonacci(x, n - 1)) * fibonacci(x * x, n - 2)


def looped(x, n):
    """A loop round the call, whose tapes lie on the tape."""
    if n == 0:
        return x
    y = x
    for _ in range(n):
        y = math.sin(y) * looped(y, n - 1)
    return y


def called_in_a_loop(x, n):
    s = 0.0
    for k in range(n):
        s = s * s + looped(x, k)
    return s


def until(x, n):
    """A loop on a condition, whose trips the tape has."""
    if n == 0:
        return x
    while x < 20.0:
        x = x * x + 1.0
    return x * until(0.1 * x, n - 1)


def best(x, n):
    """A name of the user's own that may be None."""
    if n == 0:
        return x
    found = None
    for k in range(n):
        if found is None or x * k > found:
            found = x * k * math.sin(x) + x
    return found * best(found if found is not None else x, n - 1)


def rotated(x, n):
    """A complex number."""

    def turned(z, k):
        return z if k == 0 else z * turned(z * z, k - 1) + 1

    w = turned(complex(x, 1.0), n)
    return w.real * w.imag


NUMBERS = [power, even, fibonacci, looped, called_in_a_loop, until, best, rotated]


def norm(x):
    """Halves that come back."""

    def halved(x):
        if len(x) < 2:
            return np.sin(x)
        m = len(x) // 2
        a, b = halved(x[:m]), halved(x[m:])
        return np.concatenate((a * b[: len(a)], a + b[0]))

    y = halved(x)
    return np.sum(y * y)


def spectrum(x):
    """Fourier's transform, whose arrays are complex; of two, four, eight ..."""
    y = transformed(x[: 2 ** int(math.log2(len(x)))])
    return np.sum(np.abs(y) ** 2 * np.arange(len(y)))


def sorted_sum(x):
    y = merged(x)
    return np.sum(y * y * np.arange(len(y)))


def moments(x):
    """Two results."""

    def both(x):
        if len(x) == 1:
            return x[0], x[0] * x[0]
        a, b = both(x[: len(x) // 2])
        c, d = both(x[len(x) // 2 :])
        return a * c, b + math.sin(d) * a

    a, b = both(x)
    return a * b


def chosen(x):
    """Arrays of bools and of ints on the tape."""
    if len(x) < 2:
        return np.sum(x)
    order = np.argsort(x)
    y = np.where(x > 0.3, x * x, np.sin(x))[order]
    return chosen(y[1:]) * np.sum(y) + y[order[0]]


def prefixes(x):
    """Arrays of different lengths on a tape on the tape."""

    def summed(x, n):
        if n == 0:
            return np.sum(x)
        s = 0.0
        for k in range(n):
            y = np.sin(x[: k + 1] + s)
            s = s * np.sum(y * y) + summed(y, n - 1)
        return s

    return summed(x, min(len(x), 3))


ARRAYS = [tree, norm, spectrum, sorted_sum, moments, chosen, prefixes]


def blocks(A):
    """Parts of a matrix."""
    if A.shape[0] < 2 or A.shape[1] < 2:
        return np.sum(A * A)
    m, n = A.shape[0] // 2, A.shape[1] // 2
    return blocks(np.sin(A[:m, :n])) * blocks(A[m:, n:]) + blocks(A[:m, n:])


def squared(A):
    """A matrix that comes back, by way of a library."""

    def go(A, k):
        return A if k == 0 else go(0.5 * (A + A.T) @ A, k - 1)

    return np.sum(np.sin(go(A, 2)))


@pytest.mark.parametrize("f", NUMBERS)
@pytest.mark.parametrize("n", [0, 1, 4])
def test_derivatives_of_functions_of_numbers(f: Any, n: int) -> None:
    assert_differentiates(f, 0.7, n)


@pytest.mark.parametrize("f", ARRAYS)
@pytest.mark.parametrize("n", [1, 2, 7])
def test_derivatives_of_functions_of_arrays(f: Any, n: int) -> None:
    x = np.sin(np.arange(1.0, n + 1.0) ** 2)
    assert_differentiates(f, x)
    assert_differentiates(f, np.repeat(x, 2)[::2])


@pytest.mark.parametrize("n", [0, 1, 3])
def test_derivatives_of_arrays_that_come_back(n: int) -> None:
    assert_differentiates(rounds, 0.3, n)
    assert_differentiates(both, X, n)


@pytest.mark.parametrize("f", [blocks, squared])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_derivatives_of_functions_of_matrices(f: Any, n: int) -> None:
    A = np.sin(np.arange(float(n * n))).reshape(n, n)
    assert_differentiates(f, A)
    assert_differentiates(f, np.asfortranarray(A))


def test_derivatives_in_single_precision() -> None:
    assert_differentiates(tree, X.astype("float32"))
    assert_differentiates(norm, X.astype("float32"))


@pytest.mark.parametrize("n", [0, 1, 4])
def test_values_and_tangents(n: int) -> None:
    for f in (even, looped, rotated):
        assert_compiles(gw.value_and_grad(f), 0.7, n)
        assert_compiles(lambda x, f=f: gw.jvp(f, (x, n), (0.5, 0)), 0.7)
    x = X[: n + 1]
    for g in (tree, norm, prefixes):
        assert_compiles(gw.value_and_grad(g), x)
        assert_compiles(lambda x, g=g: gw.jvp(g, (x,), (np.cos(x),)), x)


@pytest.mark.parametrize("n", [0, 1, 3])
def test_second_derivatives(n: int) -> None:
    for f in (power, even, fibonacci, looped, rotated):
        assert_differentiates(gw.grad(f), 0.7, n)
    for g in (tree, moments, squared):
        x = X[: n + 1] if g is not squared else np.outer(X[: n + 1], X[: n + 1])
        assert_differentiates(lambda x, g=g: np.sum(np.sin(gw.grad(g)(x))), x)


def test_a_derivative_that_goes_too_deep() -> None:
    made = gw.jit(gw.grad(power))
    assert made(1.0, 400) == 400.0
    with pytest.raises(RecursionError):
        made(1.0, 100_000)
    assert made(1.0, 400) == 400.0
