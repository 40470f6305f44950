"""array[index]: every index of NumPy's, read, with its length as a linear form."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradwright as gw

X = np.array([0.7, -1.3, 2.1, 0.4, 1.1])
M = np.arange(12.0).reshape(3, 4) / 7.0
T = np.arange(24.0).reshape(2, 3, 4) / 5.0 - 1.0
PLACES = np.array([0, 2, 2, -1])

READS: list[Callable[..., Any]] = [
    lambda x, m, t: x[1:-1],
    lambda x, m, t: x[::-2],
    lambda x, m, t: x[-2],
    lambda x, m, t: x[None, :, None],
    lambda x, m, t: x[...],
    lambda x, m, t: t[..., 1],
    lambda x, m, t: t[1, ..., None, 2:],
    lambda x, m, t: x[[0, 2, 2, -1]],
    lambda x, m, t: x[PLACES],
    lambda x, m, t: x[np.array([[0, 1], [3, 0]])],
    lambda x, m, t: m[[0, 2, 0], [1, 1, 3]],
    lambda x, m, t: m[np.ix_([2, 0], [3, 3, 0])],
    lambda x, m, t: m[:, [1, 1]],
    lambda x, m, t: m[1, None, [0, 3]],
    lambda x, m, t: t[0, :, [1, 1, 2]],
    lambda x, m, t: t[:, [0, 2], 1],
    lambda x, m, t: t[[0, 1], :, [1, 2]],
    lambda x, m, t: x[x > 0.5],
    lambda x, m, t: m[m > 0.5],
    lambda x, m, t: m[np.array([True, False, True])],
    lambda x, m, t: m[np.array([True, False, True]), 1:],
    lambda x, m, t: x[x > 0.5] * x[x > 0.5],
    lambda x, m, t: t[(slice(None),) * 2 + (slice(1, None),)],
    lambda x, m, t: m[(1, 2)] * x,
    lambda x, m, t: x[1][None] * x,
    lambda x, m, t: np.sin(x[1])[()] * x,
    lambda x, m, t: np.sin(x[1])[..., None, None] * m,
    lambda x, m, t: np.sin(x[1])[...] * x,
    lambda x, m, t: m[slice(0, 2)][:, ::-1],
    lambda x, m, t: m.T[1:],
    lambda x, m, t: x[: x.shape[0] - 1],
]


def weighted(read: Callable[..., Any], x: Any, m: Any, t: Any) -> Any:
    part = read(x, m, t)
    return np.sum(part * part) + 0.5 * np.sum(part)


@pytest.mark.parametrize("read", READS, ids=range(len(READS)))
def test_a_read(read: Callable[..., Any]) -> None:
    args = (X, M, T)
    value, _ = gw.vjp(read, *args)
    expected = read(*args)
    assert type(value) is type(expected)
    np.testing.assert_array_equal(value, expected)
    gw.check_grads(lambda x, m, t: weighted(read, x, m, t), args, order=2)


def test_an_element_that_is_picked_twice_counts_twice() -> None:
    def f(x: Any) -> Any:
        return np.sum(x[[1, 1, 0]])

    np.testing.assert_array_equal(gw.grad(f)(X), [1.0, 2.0, 0.0, 0.0, 0.0])
    assert "np.add.at(x_bar, [1, 1, 0], 1.0)" in gw.grad(f).source(X)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 6])
def test_lengths_of_slices(n: int) -> None:
    def f(x: Any) -> Any:
        return np.sum(x) * len(x[2:]) + x[1:-1].shape[0]

    x = np.linspace(0.5, 1.5, n)
    value, pull = gw.vjp(f, x)
    assert value == f(x)
    np.testing.assert_array_equal(pull(1.0)[0], np.full(n, max(n - 2.0, 0.0)))


@pytest.mark.parametrize(("n", "m"), [(5, 4), (2, 4), (2, 1), (5, 1), (1, 1), (1, 0)])
def test_a_slice_that_numpy_stretches(n: int, m: int) -> None:
    def f(x: Any, y: Any) -> Any:
        return np.sum((x[1:] + y) ** 2)

    gw.check_grads(f, (np.linspace(0.1, 0.9, n), np.linspace(1.0, 2.0, m)), order=2)


@pytest.mark.parametrize(
    ("index", "words"),
    [
        (lambda x: x[0, 0], "too many indices"),
        (lambda x: x[[7]], "out of bounds"),
        (lambda x: x["a":], "slice indices must be integers"),
        (lambda x: x[[0, 1], [0, 1]], "too many indices"),
    ],
)
def test_what_numpy_refuses(index: Callable[[Any], Any], words: str) -> None:
    with pytest.raises((IndexError, TypeError), match=words):
        index(X)
    with pytest.raises((IndexError, TypeError), match=words):
        gw.vjp(index, X)


def by_slices(x: Any, y: Any, n: int) -> Any:
    """Slices whose lengths only the run knows: some are 1, and NumPy stretches them."""
    s = 0.0
    for k in range(n):
        s += np.sum((x[: k + 1] + y[k:]) ** 2)
    return s


@pytest.mark.parametrize(("size", "n"), [(3, 1), (1, 1), (3, 0)])
def test_slices_of_a_loop_that_numpy_stretches(size: int, n: int) -> None:
    x, y = np.linspace(0.1, 0.9, size), np.linspace(1.0, 2.0, size)
    gw.check_grads(by_slices, (x, y, n), order=2)


def test_equal_slices_of_a_loop_are_of_one_length() -> None:
    def f(x: Any, n: int) -> Any:
        s = 0.0
        for k in range(n):
            s += np.sum(x[:k] * x[:k])
        return s

    gw.check_grads(f, (X, 4), order=2)
    assert "x_bar[:k] += 2.0 * x[:k]" in gw.grad(f).source(X, 4)


def test_what_two_masks_pick_may_be_stretched() -> None:
    def f(x: Any, m: Any) -> Any:
        return np.sum(x[x > 1.5] * m[m > 0.5])

    gw.check_grads(f, (X, M))


def test_a_slice_beside_an_index_array_is_clipped_to_its_axis() -> None:
    def f(x: Any) -> Any:
        return x[5:, np.argsort(x[0])].size + np.sum(x[:1, np.argsort(x[0])] ** 2)

    x = np.array([[2.0, 1.0], [0.5, 3.0]])
    assert gw.value_and_grad(f)(x)[0] == f(x)
    gw.check_grads(f, (x,))


@pytest.mark.parametrize("columns", [[2, 0], [1]])
def test_index_arrays_meet(columns: list[int]) -> None:
    def f(x: Any, i: Any, j: Any) -> Any:
        return np.sum(x[i, j] ** 2)

    gw.check_grads(
        f, (np.arange(6.0).reshape(2, 3), np.array([1, 0]), np.array(columns))
    )


@pytest.mark.parametrize("i", [[-1, 1, -1], [1, 1, 2]])
def test_index_arrays_of_which_the_run_stretches_one(i: list[int]) -> None:
    def f(x: Any, i: Any, j: Any) -> Any:
        y, z = x[i[i >= 0], j], x[j, i[i >= 0]]
        return len(y) * np.sum(y**2) + z.shape[0] * np.sum(z)

    x, *indices = np.arange(9.0).reshape(3, 3), np.array(i), np.array([0, 2, 1])
    assert gw.value_and_grad(f)(x, *indices)[0] == f(x, *indices)
    gw.check_grads(f, (x, *indices))


def test_a_mask_over_an_axis_without_items() -> None:
    def f(x: Any) -> Any:
        y = np.full((0, 2), 0.4)[(x[:, None] + np.zeros(2)) > 0.3]
        z = np.zeros((2, 0, 3))[..., np.array([True, False, True])]
        return np.sum(y) + np.sum(z) + np.sum(x * x) + z.size

    x = np.zeros(0)
    assert gw.value_and_grad(f)(x)[0] == f(x)
