"""Stores at arrays of indices, backwards: which items stay, and what is written."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from semantics.oracle import differences, near

import gradwright as gw

X = np.array([0.7, -0.35, 1.2, 0.51])
CELLS = np.array([0, 2, 2, 1])
COLUMNS = np.array([1, 3, 3, 0])


def text(f: Callable[..., Any], *args: Any) -> str:
    """The lines of the gradient, without the user's."""
    lines = gw.grad(f).source(*args).splitlines()
    return "\n".join(line for line in lines if "#" not in line)


def test_the_last_of_several_items_gets_the_cotangent() -> None:
    def f(x, cells):
        y = np.zeros(3)
        y[cells] = x
        return np.sum(y * np.array([1.0, 2.0, 3.0]))

    assert gw.grad(f)(X, CELLS).tolist() == [1.0, 0.0, 3.0, 2.0]
    assert gw.grad(f)(X, CELLS - 3).tolist() == [1.0, 0.0, 3.0, 2.0]
    assert gw.grad(f)(X, np.array([1, -2, 0, 0])).tolist() == [0.0, 2.0, 0.0, 1.0]


def test_a_number_counts_once_for_each_place() -> None:
    def f(x, cells):
        y = np.zeros(3)
        y[cells] = x[0]
        return np.sum(y)

    assert gw.grad(f)(X, CELLS)[0] == 3.0


INDICES = [
    lambda y, i, j: (i, j),
    lambda y, i, j: (i,),
    lambda y, i, j: (slice(None), j),
    lambda y, i, j: (slice(1, None), j),
    lambda y, i, j: (..., j),
    lambda y, i, j: (i, None),
    lambda y, i, j: (0, j),
    lambda y, i, j: (i, -1),
    lambda y, i, j: (i[:, None], j),
    lambda y, i, j: (np.array([[0, 1], [1, 1]]),),
    lambda y, i, j: (np.array([[0, 1], [1, 1]]), slice(0, 3)),
]


@pytest.mark.parametrize("k", range(len(INDICES)))
@pytest.mark.parametrize("sign", [1, -1])
def test_any_index_against_differences(k: int, sign: int) -> None:
    pick = INDICES[k]

    def f(x, i, j):
        y = np.outer(x[:3], x)
        at = pick(y, i, j)
        y[at] = np.sin(y[at]) * x[0] + y[at] ** 2
        y[at] *= x[1]
        return np.sum(y**2 * np.arange(12.0).reshape(3, 4))

    last = {1: (CELLS, COLUMNS), -1: (CELLS - 3, COLUMNS - 4)}[sign]
    for g in (f, lambda x, *at: np.sum(gw.grad(f)(x, *at) * x)):
        gradient = gw.grad(g)(X, *last)
        d = np.cos(np.arange(4.0))
        near(np.sum(gradient * d), differences(g, (X, *last), (d, *last)), 1e-5, "grad")
        near(
            gw.jvp(lambda x, g=g: g(x, *last), (X,), (d,))[1], gradient @ d, 1e-9, "jvp"
        )


DISTINCT: list[Callable[..., Any]] = [
    lambda x: np.arange(len(x)),
    lambda x: np.arange(1, len(x)),
    lambda x: np.arange(0, len(x), 2),
    lambda x: np.argsort(x),
    lambda x: x > 0.6,
    lambda x: np.array([2, 0, 1]),
    lambda x: np.array([-1, -3]),
]


@pytest.mark.parametrize("k", range(len(DISTINCT)))
def test_no_winner_is_looked_for_among_distinct_places(k: int) -> None:
    places = DISTINCT[k]

    def f(x):
        y = x * x
        at = places(x)
        y[at] = np.sin(y[at])
        return np.sum(y * x)

    assert "last" not in text(f, X)
    direction = np.cos(X)
    near(gw.grad(f)(X) @ direction, differences(f, (X,), (direction,)), 1e-6, "grad")


def test_a_range_from_below_zero_may_name_a_place_twice() -> None:
    def f(x):
        y = np.zeros(4)
        y[np.arange(-2, 3)] = x
        return np.sum(y * np.arange(1.0, 5.0))

    x = np.arange(5.0) + 0.3
    assert gw.grad(f)(x).tolist() == [0.0, 4.0, 1.0, 2.0, 3.0]


def test_two_places_are_compared() -> None:
    def f(x, k, p):
        y = x * 1.0
        y[[k, p]] = x[:2] ** 2
        return np.sum(y * y)

    lines = text(f, X, 1, 2)
    assert "np.array([(k - p) % len(x) != 0, True])" in lines
    assert "np.zeros(" not in lines
    for k, p in [(1, 2), (2, 2), (-1, 3), (0, -4)]:
        d = np.cos(X)
        slope = differences(f, (X, k, p), (d, k, p))
        near(gw.grad(f)(X, k, p) @ d, slope, 1e-6, "grad")


def swapped(a, k, p):
    b = a * a
    c = np.sin(b)
    b[[k, p]] = b[[p, k]]
    b[[k, p], 1:] = b[[p, k], 1:] * c[0, 0]
    b[:, [p, k]] = b[:, [k, p]]
    return np.sum(b * np.arange(12.0).reshape(3, 4) * c)


@pytest.mark.parametrize("places", [(0, 2), (1, 1), (-1, 2), (-1, 0)])
def test_a_swap_is_its_own_adjoint(places: tuple[int, int]) -> None:
    lines = text(swapped, np.outer(X[:3], X), *places)
    assert "b_bar[[p, k]] = b_bar[[k, p]]" in lines
    assert "b_bar[:, [k, p]] = b_bar[:, [p, k]]" in lines
    a, d = np.outer(X[:3], X), np.cos(np.arange(12.0)).reshape(3, 4)
    slope = differences(swapped, (a, *places), (d, *places))
    near(np.sum(gw.grad(swapped)(a, *places) * d), slope, 1e-6, "grad")


def test_a_swap_that_is_undone_keeps_nothing() -> None:
    def f(a, k, n):
        total = 0.0
        b = a * 1.0
        for p in range(n):
            total += b[0, 0] * b[1, 1]
            b[[k, p]] = b[[p, k]]
        return total

    a = np.outer(X[:3], X)
    assert "append" not in text(f, a, 1, 3)
    d = np.cos(np.arange(12.0)).reshape(3, 4)
    slope = differences(f, (a, 1, 3), (d, 1, 3))
    near(np.sum(gw.grad(f)(a, 1, 3) * d), slope, 1e-6, "grad")


def test_what_only_looks_like_a_swap_is_none() -> None:
    def three(x, i, j, k):
        y = x * 1.0
        y[[i, j, k]] = y[[j, i, i]]
        return np.sum(y * np.arange(1.0, 5.0))

    def read_twice(x, k, p):
        y = x * 1.0
        part = y[[p, k]]
        y[[k, p]] = part
        return np.sum(y * np.arange(1.0, 5.0)) + part[0] ** 2

    def changed_between(x, k, p):
        y = x * 1.0
        part = y[[p, k]]
        y[p] = 3.0 * x[0]
        y[[k, p]] = part
        return np.sum(y * np.arange(1.0, 5.0))

    d = np.cos(X)
    for f, places in [
        (three, (0, 1, 0)),
        (three, (2, 0, 1)),
        (read_twice, (0, 2)),
        (read_twice, (1, 1)),
        (changed_between, (0, 2)),
    ]:
        slope = differences(f, (X, *places), (d, *places))
        near(gw.grad(f)(X, *places) @ d, slope, 1e-6, f.__name__)
