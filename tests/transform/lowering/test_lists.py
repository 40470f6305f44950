"""Lists: arrays with a counter, and room for more."""

import math
from typing import Any

import numpy as np
import pytest
from lowered import assert_compiles, assert_differentiates, texts

import gradwright as gw

X = np.array([0.7, -1.3, 2.1, 0.4])


def appended(x, n):
    xs = []
    for k in range(n):
        xs.append(math.sin(x[k % len(x)]) * k)
    return np.sum(np.array(xs) * 2.0) + len(xs)


def between(x, n):
    xs = [x[0], x[1], x[2]]
    for k in range(n):
        xs.insert(1, x[k % len(x)] * (k + 1.0))
    return np.array(xs) * 1.0


def removed(x, n):
    xs = list(x)
    s = 0.0
    for k in range(n):
        s = s * 0.5 + xs.pop(k % 2) * (k + 1.0)
    return s + sum(xs)


def stored(x, n):
    xs = [0.0] * 5
    for k in range(n):
        xs[k % 5] += x[k % len(x)] * xs[(k + 1) % 5] + 1.0
        xs[-1] = xs[0] * 0.5
    return sum(xs)


def of_arrays(x, n):
    rows = []
    for k in range(n):
        rows.append(x * (k + 1.0))
    return np.sum(np.array(rows) ** 2) + np.sum(rows[0])


def stacked(x, n):
    states = [x]
    for _ in range(n):
        states.append(np.sin(states[-1]) * 0.9)
    return np.sum(states[-1]) + np.sum(np.stack(states) ** 2)


def added_up(x, n):
    rows = [x * k for k in range(n)]
    total = 0.0
    for row in rows:
        total = total + np.sum(row * row)
    return total + np.sum(sum(rows) ** 3)


def folded(x, n):
    rows = [x * k for k in range(n + 1)]
    while len(rows) > 1:
        last = rows.pop()
        rows[-1] = np.tanh(rows[-1] + last)
    return np.sum(rows[0])


def begun_in_a_loop(x, n):
    s = 0.0
    for k in range(n):
        xs = []
        m = int(abs(x[k % len(x)]) * 3.0)
        for i in range(m):
            for j in range(m):
                xs.append(x[0] * i + j)
        s = s * 0.5 + sum(xs)
    return s


def missing(x, n):
    xs = [x[0], x[1]]
    return xs[n] * 2.0


@pytest.mark.parametrize("f", [appended, between, removed, stored, begun_in_a_loop])
@pytest.mark.parametrize("n", [0, 1, 4])
def test_values(f: Any, n: int) -> None:
    assert_compiles(f, X, n)


def test_an_item_goes_between_others() -> None:
    assert_compiles(between, X, 3)


@pytest.mark.parametrize("n", [1, 17, 40])
def test_a_list_grows(n: int) -> None:
    assert_compiles(appended, X, n)
    assert_differentiates(appended, X, n)


def test_items_that_are_arrays() -> None:
    assert_compiles(of_arrays, X, 3)


@pytest.mark.parametrize("f", [of_arrays, stacked, added_up, folded])
def test_cotangents_that_are_arrays(f: Any) -> None:
    assert_differentiates(f, X, 3)
    assert_compiles(gw.hessian(f), X, 3)


@pytest.mark.parametrize("n", [0, -2, 2, -3])
def test_an_item_that_is_missing(n: int) -> None:
    assert_compiles(missing, X, n)


def test_a_counted_loop_gives_the_room() -> None:
    (text,) = texts(appended, X, 3)
    assert "np.resize" not in text
