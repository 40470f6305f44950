"""Tapes: how much room they have, what grows, what is ragged."""

import math
from typing import Any

import numpy as np
import optree
import pytest
from lowered import assert_compiles, assert_differentiates, texts

import gradwright as gw

X = np.array([0.7, -0.3, 0.9, 0.4, 1.1])


def counted(x, n):
    for k in range(n):
        x = x * x + 0.1 * k
    return x


def nested(x, n, m):
    for i in range(n):
        for j in range(i, m):
            x = math.sin(x) + 0.1 * i * j
    return x


def until(x, limit):
    while x < limit:
        x = x * x + 1.0
    return x


def chosen(x, n):
    """A truth on a tape, by which is multiplied."""
    for k in range(n):
        x = (x < 1.0 + k) * -x
    return x


def grown(x, n):
    """More than the first room of a tape that grows."""
    k = 0
    while k < n:
        x = math.sin(x) + 1.0
        k += 1
    return x


def arrays(x, n):
    for _ in range(n):
        x = np.sin(x) * x
    return np.sum(x)


def parts(x, n):
    s = 0.0
    for k in range(n):
        y = np.sin(x[: k + 1])
        s = s + np.sum(y * y) * s + np.sum(y)
    return s


def rows(a):
    s = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s = math.tanh(s * a[i, j] + a[j, i])
    return s


def overwritten(x, n):
    y = np.zeros(len(x))
    for k in range(n):
        y[k % len(x)] = math.sin(x[k % len(x)] * y[(k + 1) % len(x)]) + 0.5
    return np.sum(y)


def begun_in_a_loop(x, n):
    s = 0.0
    for k in range(n):
        m = int(abs(x[k % len(x)]) * 5.0)
        y = s + x[0]
        for i in range(m):
            for j in range(m):
                y = math.sin(y) * 1.1 + 0.1 * i * j
        s = s * y + y
    return s


def left(x, n):
    s = 0.0
    for k in range(n):
        if x[k % len(x)] > 1.0:
            break
        if k % 2:
            continue
        s = math.sin(s + x[k % len(x)])
    return s


@pytest.mark.parametrize("n", [0, 1, 3])
def test_the_items_of_a_counted_loop(n: int) -> None:
    assert_differentiates(counted, 0.7, n)


@pytest.mark.parametrize(("n", "m"), [(0, 3), (3, 0), (1, 1), (3, 4), (4, 2)])
def test_the_items_of_nested_loops(n: int, m: int) -> None:
    assert_differentiates(nested, 0.7, n, m)


def long_of_none(a, order):
    """The length of its items is found before it begins, and none is pushed."""
    x = np.reshape(np.concatenate((a, a[:, order]), axis=-1), -1)
    for i in range(0):
        for _ in range(3):
            x = 0.6 * x - 0.4 * (np.sign(x) * x)
    return np.sum(a) + np.sum(x)


def test_a_tape_of_no_items_that_are_arrays() -> None:
    assert_differentiates(long_of_none, np.ones((2, 4)), np.array([1, 1]))


def test_the_items_are_truths() -> None:
    assert_differentiates(chosen, 0.7, 3)


@pytest.mark.parametrize("x", [0.5, 90.0])
def test_a_tape_of_a_loop_on_a_condition(x: float) -> None:
    assert_differentiates(until, x, 50.0)


@pytest.mark.parametrize("n", [0, 15, 16, 17, 100])
def test_a_tape_grows(n: int) -> None:
    assert_differentiates(grown, 0.4, n)


@pytest.mark.parametrize("n", [0, 1, 3])
def test_items_that_are_arrays(n: int) -> None:
    assert_differentiates(arrays, X, n)


@pytest.mark.parametrize("n", [0, 1, 5, 7])
def test_ragged_items(n: int) -> None:
    assert_differentiates(parts, X, n)


@pytest.mark.parametrize("f", [overwritten, left, begun_in_a_loop])
@pytest.mark.parametrize("n", [0, 1, 4, 9])
def test_elements_and_loops_that_are_left(f: Any, n: int) -> None:
    assert_differentiates(f, X, n)


def test_two_axes() -> None:
    assert_differentiates(rows, np.sin(np.arange(9.0)).reshape(3, 3))


def test_a_tape_has_room_for_all_that_the_loops_push() -> None:
    (text,) = texts(gw.grad(counted), 0.7, 3)
    assert "np.empty(max(n, 0))" in text


def test_a_tape_of_known_trips_does_not_grow() -> None:
    (text,) = texts(gw.grad(arrays), X, 3)
    assert "np.resize" not in text
    (text,) = texts(gw.grad(grown), 0.4, 3)
    assert "np.resize" in text


# ---- a row of a jacobian at a time, each with a copy of what is on the tapes ---------


def steps_of(x, n):
    """Numbers on a tape of known length."""
    y = np.zeros(len(x))
    angle = 0.0
    for k in range(n):
        angle += x[k % len(x)]
        y[k % len(x)] += math.sin(angle) * angle
    return y


def halvings(x, n):
    """Numbers on a tape that grows."""
    y = x * 1.0
    k = 0
    while k < n:
        y[k % len(x)] = math.sin(y[k % len(x)]) * y[(k + 1) % len(x)]
        k += 1
    return y


def powers_of(x, n):
    """Arrays on a tape."""
    for _ in range(n):
        x = np.sin(x) * x
    return x


def prefixes(x, n):
    """Arrays of different lengths on a tape."""
    y = np.zeros(len(x))
    for k in range(n):
        part = np.sin(x[: k + 1] * y[0])
        y[k % len(x)] = np.sum(part * part) + y[0]
        y[0] += x[k % len(x)]
    return y


@pytest.mark.parametrize("f", [steps_of, halvings, powers_of, prefixes])
@pytest.mark.parametrize("n", [0, 1, 4, 20])
def test_a_tape_is_read_once_for_each_row(f: Any, n: int) -> None:
    assert_compiles(gw.jacrev(f), X, n)


def test_a_copy_of_a_tape_is_a_counter() -> None:
    (text,) = texts(gw.jacrev(powers_of), X, 3)
    assert text.count("x_tape = np.empty") == 1
    assert "x_top_1 = x_top\n" in text


# ---- handed from one half of a split to the other ------------------------------------

HALVES = [
    (counted, 0.7, 3),
    (counted, 0.7, 0),
    (nested, 0.7, 3, 4),
    (until, 0.5, 50.0),
    (grown, 0.4, 40),
    (arrays, X, 3),
    (overwritten, X, 9),
    (left, X, 9),
    (begun_in_a_loop, X, 3),
    (rows, np.sin(np.arange(9.0)).reshape(3, 3)),
]


@pytest.mark.parametrize("case", HALVES, ids=lambda case: case[0].__name__)
@pytest.mark.parametrize("split", [gw.vjp, gw.linearize])
def test_both_halves_are_machine_code(split: Any, case: Any) -> None:
    f, *args = case
    value, half = split(gw.jit(f), *args)
    plain, wanted = split(f, *args)
    assert half.backward.is_machine_code
    given = [1.0] if split is gw.vjp else [0.5 * a for a in args]
    for _ in range(2):  # what is on a tape stays there
        found, right = half(*given), wanted(*given)
        for a, b in zip(
            optree.tree_leaves(found), optree.tree_leaves(right), strict=True
        ):
            np.testing.assert_allclose(a, b, rtol=1e-13)
    assert value == pytest.approx(plain, rel=1e-14)


def logs(x, n):
    for k in range(n):
        x = x * np.log(x - 0.1 * k)
    return x


def test_a_nan_behind_a_tape_is_found_in_the_emitted_source() -> None:
    with gw.debug_nans(), np.errstate(all="ignore"):
        _, pull = gw.vjp(gw.jit(logs), np.float64(1.5), 2)
        with pytest.raises(FloatingPointError, match=r"x \* np\.log"):
            pull(np.float64(np.nan))
