"""Targets: unpacking as in Python, and stores into what cannot be stored into."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from semantics.oracle import check

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


def the_item_has_another_name(x):
    xs = [x * 1.0, x * 2.0]
    first = xs[0]
    xs[0] += x * x
    return np.sum(first * xs[1])


def the_item_is_the_argument(x):
    xs = [x, x * 2.0]
    xs[0] *= x
    return np.sum(x * xs[1])


def the_items_are_one_array(x):
    xs = [np.zeros(3)] * 2
    xs[0] += x
    xs[1] *= x
    return np.sum(xs[0] * xs[1] * x)


def the_item_is_a_row(x):
    y = np.outer(x, x)
    xs = [y[0], y[1]]
    xs[0] += xs[1]
    xs[-1] **= 2
    return np.sum(y * xs[0])


def the_item_is_in_a_list_in_a_list(x):
    xs = [x * 1.0, [x * 2.0, x * 3.0]]
    xs[1][0] += x
    ys = xs[1]
    ys[1] /= x
    return np.sum(xs[0] * xs[1][0] * xs[1][1])


def the_item_is_in_a_dict(x):
    d = {"a": x * 1.0, "b": x * 2.0}
    u = d["a"]
    d["a"] += d["b"]
    d["b"] -= u * u
    return np.sum(d["a"] * d["b"] * u)


def a_helper_changes_it(x):
    def change(xs):
        xs[0] += xs[1]
        return xs[1]

    xs = [x * x, x * 2.0]
    y = change(xs)
    return np.sum(xs[0] * xs[1] * y)


def in_a_loop_and_a_branch(x):
    xs = [x * 1.0, x * 2.0]
    for k in range(2):
        xs[k] += x * k
        if x[0] > 0.0:
            xs[1] *= xs[0]
    return np.sum(xs[0] * xs[1])


IN_PLACE = [
    the_item_has_another_name, the_item_is_the_argument, the_items_are_one_array,
    the_item_is_a_row, the_item_is_in_a_list_in_a_list, the_item_is_in_a_dict,
    a_helper_changes_it, in_a_loop_and_a_branch,
]  # fmt: skip


@pytest.mark.parametrize("f", IN_PLACE)
def test_an_operator_changes_the_array_that_an_item_is(f: Callable[..., Any]) -> None:
    x = np.array([0.7, -0.35, 1.2])

    def kept(x):
        return f(x.copy())

    def slope(x):
        return np.sum(gw.grad(f)(x) * np.array([0.3, -1.1, 0.7]))

    (gradient,) = check(kept, x)
    assert np.array_equal(gw.grad(f)(x), gradient)
    check(slope, x, exact=False)
