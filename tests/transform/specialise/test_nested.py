"""Transforms inside the program: perturbations of two levels are never confused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradwright as gw


def power(t, n):
    y = t
    for _ in range(n):
        y = y * t
    return y


def of_a_product(x):
    """The example of perturbation confusion: the inner derivative is 1 for any x."""
    return x * gw.grad(lambda y: x + y)(1.0)


def what_the_inner_one_captures(x):
    def inner(y):
        return x * y * y

    return gw.grad(inner)(3.0)


def of_a_called_function(x):
    return gw.grad(power)(x, 2) * x


def of_a_derivative_made_outside(x):
    return SLOPE(x, 2) * x


SLOPE = gw.grad(power)


def with_its_value(x):
    value, slope = gw.value_and_grad(power)(x, 1)
    return value * 10.0 + slope


def in_two_arguments(x):
    a, b = gw.grad(lambda u, v: u * u * v, argnums=(0, 1))(x, 3.0)
    return a * 10.0 + b


def forward(x):
    value, slope = gw.jvp(lambda y: power(y, 2) * x, (x,), (2.0,))
    return value + slope


def twice(x):
    return gw.grad(gw.grad(lambda y: y * y * y * x))(x)


def in_a_loop(x):
    y = x
    for _ in range(2):
        y = y - 0.5 * gw.grad(lambda t: t * t * x)(y)
    return y


NESTED = [
    (of_a_product, 1.0),
    (what_the_inner_one_captures, 6.0),  # of 6 x
    (of_a_called_function, 36.0),  # of 3 x**3
    (of_a_derivative_made_outside, 36.0),
    (with_its_value, 42.0),  # of 10 x**2 + 2 x
    (in_two_arguments, 64.0),  # of 60 x + x**2
    (forward, 104.0),  # of x**4 + 6 x**3
    (twice, 24.0),  # of 6 x**2
    (in_a_loop, 5.0),  # of x (1 - x)**2
]


@pytest.mark.parametrize(("f", "gives"), NESTED, ids=[f.__name__ for f, _ in NESTED])
def test_nested(f: Callable[..., Any], gives: float) -> None:
    assert gw.grad(f)(2.0) == gives
    assert gw.jvp(f, (2.0,), (1.0,))[1] == gives


def test_what_is_not_known_inside_is_refused() -> None:
    with pytest.raises(gw.UnsupportedSyntax, match="inside a function"):
        gw.grad(lambda x: gw.grad(power, nothing=1)(x, 1))(2.0)


def test_defaults_do_not_move_under_a_jvp() -> None:
    table = np.array([1.0, 2.0])

    def g(x, by=3.0, row=table, *rest):
        return by * x * x + np.sum(row) * x

    def f(x):
        return gw.jvp(g, (x,), (1.0,))[1]

    assert gw.jvp(f, (2.0,), (1.0,)) == (15.0, 6.0)
    assert gw.grad(f)(2.0) == 6.0


def test_one_array_is_not_handed_over_twice() -> None:
    def h(u, v):
        u[0] = v[1]
        return np.sum(u * v)

    def f(x):
        y = x * 2.0
        return np.sum(gw.grad(h)(y, y[::-1]))

    with pytest.raises(gw.AliasError, match="'u' is stored into, and shares memory"):
        gw.grad(f)(np.array([1.0, 2.0]))


def test_one_list_is_not_handed_over_twice() -> None:
    def h(us, vs):
        us.append(vs[0])
        return sum(us) * sum(vs)

    def f(x):
        xs = [x, x * x]
        return gw.grad(h)(xs, xs)[0]

    with pytest.raises(gw.AliasError, match="'us' is changed, and is the same list"):
        gw.grad(f)(2.0)
