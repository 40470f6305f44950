"""Targets: unpacking as in Python, and stores into what cannot be stored into."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradwright as gw

XS = np.array([1.0, 2.0, 4.0])
TABLE = [1.0, 2.0]


def nested(x):
    (a, b), c = (x, 2.0), x * x
    return a * b + c


def starred(x):
    first, *rest, last = x, 2.0, 3.0, x * 5.0
    return first * len(rest) + rest[1] * last


def swapped(x):
    a, b = x, 3.0
    a, b = b, a * b
    return a + b


def several_targets(x):
    a = b, c = x, 2.0
    return a[0] * b * c


def an_array(xs):
    a, b, c = xs
    return a * b - c


def rows(xs):
    (a, b), (c, d) = np.array([[xs[0], xs[1]], [xs[2], xs[0]]])
    return a * b - c * d


VALUES = [
    (nested, 3.0, 8.0),
    (starred, 3.0, 17.0),
    (swapped, 2.0, 3.0),
    (several_targets, 3.0, 12.0),
    (an_array, XS, [2.0, 1.0, -1.0]),
    (rows, XS, [-2.0, 1.0, -1.0]),
]


@pytest.mark.parametrize(
    ("f", "x", "gives"), VALUES, ids=[f.__name__ for f, _, _ in VALUES]
)
def test_unpacking(f: Callable[..., Any], x: Any, gives: Any) -> None:
    value, gradient = gw.value_and_grad(f)(x)
    assert repr(value) == repr(f(x))
    assert np.asarray(gradient).tolist() == gives


def too_many(x):
    a, b = x, x, x
    return a + b


def not_enough(x):
    a, b, *c = (x,)
    return a + b * len(c)


def an_array_too_long(xs):
    a, b = xs
    return a + b


def an_array_too_short(xs):
    a, b, c, d = xs
    return a + b + c + d


WRONG = [
    (too_many, 1.0),
    (not_enough, 1.0),
    (an_array_too_long, XS),
    (an_array_too_short, XS),
]


@pytest.mark.parametrize(("f", "x"), WRONG, ids=[f.__name__ for f, _ in WRONG])
def test_another_number_of_values_raises_as_in_python(
    f: Callable[..., Any], x: Any
) -> None:
    with pytest.raises(ValueError) as raised:
        gw.grad(f)(x)
    with pytest.raises(ValueError) as wanted:
        f(x)
    assert str(raised.value).startswith(str(wanted.value).split(" (")[0])


def into_a_captured_list(x):
    TABLE[0] = x
    return x


def clear(xs):
    xs[0] = 0.0


def into_an_attribute(x):
    x.real = 1.0
    return x


REFUSED = [
    (into_a_captured_list, 1.0, gw.EffectError, "this changes TABLE"),
    (into_an_attribute, 1.0, gw.UnsupportedSyntax, "stores into"),
]


@pytest.mark.parametrize(
    ("f", "x", "error", "message"), REFUSED, ids=[r[0].__name__ for r in REFUSED]
)
def test_a_store_is_refused(f: Any, x: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        gw.grad(f)(x)
