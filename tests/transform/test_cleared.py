"""What is done last: cleared parts are stored into, arrays change places."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from semantics.oracle import check

import gradwright as gw

X = np.array([0.7, -0.35, 1.2, 0.51])


def scaled_part(x):
    y = x * 1.0
    y[1:] *= 2.0
    return np.sum(y * y)


def stencil(x):
    y = x * 1.0
    for i in range(1, 3):
        y[i] = 0.5 * y[i] + y[i - 1] * y[i + 1]
    return np.sum(y * y)


def of_length_one(x):
    y = x * 1.0
    for i in range(len(y)):
        y[i] = 0.5 * y[i] + y[i - 1] ** 2
    return np.sum(y * y)


def kept_after_the_store(x):
    y = x * 1.0
    y[1:] = np.sin(y[1:]) * y[:-1]
    y[1:] *= y[0]
    return np.sum(y * y)


def exchanged(x):
    a, b = x * 1.0, x * 2.0
    for k in range(3):
        b[k] = a[k] ** 2
        a, b = b, a
    return np.sum(a * b)


def taken_over(x):
    y = x * 2.0
    s = np.sum(y**2)
    y[:] = x
    return s + np.sum(y**3)


def kept_on_a_tape(x):
    y = x * 1.0
    for k in range(3):
        part = y[1:].copy()
        y[1:] = np.sin(y[:-1]) + 0.1 * k
        y[:-1] *= part**2
    return np.sum(y * y)


def stored_into_in_between(x):
    a, b = x * 1.0, x * 2.0
    for k in range(3):
        c = a * 1.0
        a[...] = b
        a[k] = 0.5 * c[k]
        b[...] = c
    return np.sum(a * b * b)


PROGRAMS: list[tuple[Callable[..., Any], Any]] = [
    (scaled_part, X),
    (stencil, X),
    (of_length_one, X),
    (of_length_one, X[:1]),
    (kept_after_the_store, X),
    (exchanged, X),
    (taken_over, X),
    (kept_on_a_tape, X),
    (stored_into_in_between, X),
]


@pytest.mark.parametrize(("f", "x"), PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
def test_against_differences(f: Callable[..., Any], x: Any) -> None:
    check(f, x)


def test_what_is_added_to_a_cleared_part_is_stored_there() -> None:
    text = gw.grad(scaled_part).source(X)
    assert "y_bar[1:] *= 2.0" in text or "y_bar[1:] = 2.0 * y_bar[1:]" in text
    assert "= 0.0" not in text
    assert ".copy()" not in text


def test_additions_to_other_parts_come_after_the_store() -> None:
    """They add to it where an index wraps round to the same place."""
    text = gw.grad(of_length_one).source(X)
    stored = text.index("y_bar[i] = 0.5 *")
    assert stored < text.index("y_bar[i - 1] +=")


def test_an_array_that_is_copied_does_not_change_places() -> None:
    def f(x):
        a, b, c = x * 1.0, x * 2.0, x * 3.0
        for _ in range(3):
            c *= a
            a[...], b[...] = b, c
        return np.sum(a * b * c)

    check(f, X)


def test_arrays_change_places() -> None:
    assert "a, b = b, a" in gw.grad(exchanged).source(X)
    assert "_bar = b_bar, a_bar" in gw.grad(exchanged).source(X)
