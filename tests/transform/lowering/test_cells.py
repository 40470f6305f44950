"""Names that hold arrays: of one shape, of several, numbers first."""

from typing import Any

import numpy as np
import pytest
from lowered import assert_compiles, assert_differentiates, texts

import gradwright as gw

X = np.array([0.7, -0.3, 0.9, 0.4])
A = np.sin(1.0 + 1.7 * np.arange(16.0)).reshape(4, 4)


def one_shape(x, n):
    for k in range(n):
        x = np.sin(x) + 0.1 * k
    return np.sum(x * x)


def number_first(x, n):
    s = 0.0
    for k in range(n):
        s = s + x * (k + 1.0)
    return np.sum(s)


def one_first(x, n):
    s = np.zeros(1)
    for _ in range(n):
        s = s + x
    return np.sum(np.sin(s))


def shrinking(x):
    while len(x) > 1:
        x = x[::2] * 1.5 + 0.1
    return np.sum(x)


def growing(x, n):
    for _ in range(n):
        x = np.concatenate([x, x[:1] * 0.5])
    return np.sum(x * x)


def exchanged(x, n):
    a, b = x, x * 2.0
    for _ in range(n):
        a, b = b, a * 0.5 + b
    return np.sum(a) - np.sum(b * b)


def chosen(x, n):
    y = x
    if n > 2:
        y = np.exp(x)
    elif n > 1:
        y = x * 3.0
    return np.sum(y * x)


def turned(a, n):
    for _ in range(n):
        a = a.T @ a * 0.5
    return np.sum(a)


def reads_itself_shifted(x, n):
    for _ in range(n):
        x = np.concatenate([x[1:], x[:1]]) * 1.1
    return np.sum(x * np.arange(len(x)))


def kept_from_before(x, n):
    old = x
    for _ in range(n):
        old, x = x, np.sin(x) + old
    return np.sum(x * old)


EVERY = [
    (one_shape, X),
    (number_first, X),
    (growing, X),
    (exchanged, X),
    (chosen, X),
    (turned, A),
    (reads_itself_shifted, X),
    (kept_from_before, X),
]


def test_either_branch_stores_an_array_of_a_length_that_the_run_knows() -> None:
    """The memory is there in both of them, whichever comes first in the text."""

    def f(x: Any, k: Any) -> Any:
        y = np.convolve(x, k, "same")[None] * np.ones((2, 1))
        if y.shape[1] == 1:
            z = y
        else:
            z = y
        return z, np.sum(np.convolve(z[0], k, "valid"))

    x, k = np.arange(4.0), np.array([1.0, -0.5, 2.0])
    for found, wanted in zip(gw.jit(f)(x, k), f(x, k), strict=True):
        np.testing.assert_allclose(found, wanted)


@pytest.mark.parametrize(("f", "x"), EVERY)
@pytest.mark.parametrize("n", [0, 1, 3])
def test_values(f: Any, x: Any, n: int) -> None:
    assert_compiles(f, x, n)


@pytest.mark.parametrize(("f", "x"), EVERY)
@pytest.mark.parametrize("n", [1, 3])
def test_gradients(f: Any, x: Any, n: int) -> None:
    assert_differentiates(f, x, n)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_an_array_of_length_one_is_stretched_in_a_loop(n: int) -> None:
    assert_compiles(one_first, X, n)
    assert_differentiates(one_first, X, n)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_lengths_that_change(n: int) -> None:
    assert_compiles(shrinking, X[:n])
    assert_differentiates(shrinking, X[:n])


def test_a_name_of_one_shape_has_memory_of_that_shape() -> None:
    (text,) = texts(one_shape, X, 3)
    assert "np.resize" not in text


def test_a_name_of_several_lengths_has_room_that_grows() -> None:
    assert any("np.resize" in text for text in texts(growing, X, 3))


def returned(x, n):
    s = 0.0
    for _ in range(n):
        s = s + x
    return s


def test_a_result_is_an_array_if_its_loop_ran() -> None:
    assert_compiles(returned, X, 2)
    with pytest.raises(TypeError, match="a number as it did not"):
        gw.jit(returned)(X, 0)


def largest(x, n):
    """A number that begins as None, and is used in a loop behind."""
    found = None
    for v in x:
        if found is None or v > found:
            found = v
    s = 0.0
    for k in range(n):
        s = s + found * k
    return s - 0.8 * found


@pytest.mark.parametrize("n", [0, 3])
def test_a_number_that_begins_as_none(n: int) -> None:
    assert_compiles(largest, X, n)
    assert_differentiates(largest, X, n)


def looked_through(a, b):
    """Its cotangent gets sums along an axis added, which are of lower rank."""
    c = 0.4
    for _ in range(2):
        for row in reversed(b):
            b = b + 0.1 * np.full((2, 3, 3), 0.4)
            total = np.sum(b, axis=(-1, 0))
            c = 0.6 * c - 0.4 * np.arctan2(row, 2.5 + np.sin(total))[1, -1]
    return np.mean(a) - 0.8 * c


def test_a_sum_of_arrays_of_other_ranks() -> None:
    b = np.sin(np.arange(18.0)).reshape(2, 3, 3)
    assert_differentiates(looked_through, b[0], b, argnums=(0, 1))


def adds_its_rows(x):
    for row in x:
        x = x + 0.1 * np.where(row > 0.3, np.log(np.abs(row)), row)[np.newaxis]
    return x.sum() + row.sum()


def test_an_array_without_axes_is_added_to_a_number() -> None:
    for x in (X, X[:1], X.astype(np.float32)):
        assert_compiles(adds_its_rows, x)
        assert_differentiates(adds_its_rows, x)


def stretched_part(x):
    y = x * 1.0
    y[...] *= np.split(x[1:] * 1.0, 2)[1]
    return np.sum(y)


def test_a_part_that_turns_out_to_be_stretched() -> None:
    assert_differentiates(stretched_part, A[:3, :1])
