"""An array that a store has changed since: seen as it is now, or not read at all."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from semantics.oracle import check

import gradwright as gw

X = np.array([0.7, -0.35, 1.2, 0.51])
A = np.array([[0.3, 0.8, -0.2], [0.6, -0.7, 0.25], [1.1, 0.15, 0.35]])


def rows_that_change_places(a):
    b = a * a
    b[0], b[1] = b[1], b[0]
    return np.sum(b * a)


def items_of_now(x):
    y, s = x * 1.0, 0.0
    for v in y:
        s += v * v
        y[3] = s
    return s


def one_array_of_two(x):
    y, z = x * 1.0, x * 2.0
    v = y if x[0] > 0.0 else z
    y[0] = x[1]
    return np.sum(v * x)


def two_names_at_once(x):
    y = z = np.zeros(4)
    y[1] = x[0]
    return np.sum(z * x)


def an_item_of_a_list(x):
    rows = [x * 1.0, x * 2.0]
    row = rows[0]
    row[1] = x[0]
    return np.sum(rows[0] * x)


def an_item_of_a_tuple(x):
    y = x * 1.0
    pair = (y, y)
    y[0] = x[1]
    return np.sum(pair[0] * x)


def changed_by_the_other_operand(x):
    y = x * 1.0

    def bump():
        y[0] = 5.0
        return x[0]

    return np.sum((y, bump())[0] * x)


def a_window_that_cannot_be_followed(x):
    y = x * 1.0
    many = np.broadcast_to(y, (2, 4))
    y[1] = x[0]
    return np.sum(many * x)


def kept_in_a_list(x):
    y, kept = x * 1.0, []
    for k in range(3):
        kept.append(y)
        y[k] = x[0] * k
    return np.sum(np.array(kept) * x)


def read_again_in_the_next_trip(x):
    y, s = x * 1.0, 0.0
    many = np.broadcast_to(y, (2, 4))
    for k in range(3):
        s += np.sum(many * x)
        y[k] = x[0]
    return s


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (kept_in_a_list, X),
        (read_again_in_the_next_trip, X),
        (one_array_of_two, X),
        (changed_by_the_other_operand, X),
        (a_window_that_cannot_be_followed, X),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_refused(f: Callable[..., Any], x: Any) -> None:
    for call in (gw.grad(f), lambda x: gw.jvp(f, (x,), (x,))):
        with pytest.raises(gw.AliasError, match="shares memory with"):
            call(x)


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (rows_that_change_places, A),
        (items_of_now, X),
        (two_names_at_once, X),
        (an_item_of_a_list, X),
        (an_item_of_a_tuple, X),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_seen_as_it_is_now(f: Callable[..., Any], x: Any) -> None:
    check(f, x)


def test_what_is_read_before_the_store_is_free() -> None:
    def f(x):
        y = x * 1.0
        pair = (y, y[1:])
        s = np.sum(pair[0] * x) + np.sum(pair[1])
        pair = (s, 0.0)
        y[0] = pair[0]
        return y[0] * y[1]

    x = np.array([1.0, 2.0])
    assert gw.grad(f)(x).tolist() == [4.0, 17.0]


def test_an_array_of_each_trip_is_another() -> None:
    def f(x):
        s = 0.0
        for k in range(3):
            z = np.zeros(4)
            z[k] = x[k] * x[k]
            s += np.sum(z * x)
        return s

    assert np.allclose(gw.grad(f)(X), [*(3.0 * X[:3] ** 2), 0.0])
