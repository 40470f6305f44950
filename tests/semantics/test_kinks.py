"""Kinks and singular points: no exception, no warning, no NaN of what is not taken."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from semantics.oracle import same

import gradwright as gw


@pytest.fixture(autouse=True)
def loud() -> Iterator[None]:
    """Let NumPy raise where it would warn."""
    with np.errstate(divide="raise", over="raise", invalid="raise"):
        yield


def slopes(f, x: Any) -> Any:
    """The gradient, after all modes have agreed on it."""
    gradient = gw.grad(f)(x)
    seed = np.ones_like(x) if isinstance(x, np.ndarray) else type(x)(1.0)
    value, tangent = gw.jvp(f, (x,), (seed,))
    same(value, f(x))
    np.testing.assert_allclose(np.sum(tangent), np.sum(gradient), rtol=1e-15)
    pulled = gw.vjp(f, x)[1](1.0)[0]
    assert np.array_equal(pulled, gradient)
    return gradient


SCALARS = [
    (lambda x: math.sqrt(x), 0.0, math.inf),
    (lambda x: x**0.5, 0.0, math.inf),
    (lambda x: x**1.5, 0.0, 0.0),
    (lambda x: x**2, 0.0, 0.0),
    (lambda x: x**1, 0.0, 1.0),
    (lambda x: x**0, 0.0, 0.0),
    (lambda x: x**0.0, 0.0, 0.0),
    (lambda x: 0.0**x, 2.0, 0.0),
    (lambda x: abs(x), 0.0, 0.0),
    (lambda x: math.fabs(x), 0.0, 0.0),
    (lambda x: math.hypot(x, 0.0), 0.0, 0.0),
    (lambda x: math.atan2(x, 0.0), 0.0, 0.0),
    (lambda x: math.asin(x), 1.0, math.inf),
    (lambda x: math.acos(x), 1.0, -math.inf),
    (lambda x: math.acosh(x), 1.0, math.inf),
    (lambda x: math.cbrt(x), 0.0, math.inf),
    (lambda x: math.floor(x) * x, 2.0, 2.0),
    (lambda x: round(x) * x, 2.5, 2.0),
    (lambda x: x % 1.0, 3.0, 1.0),
    (lambda x: x // 1.0 + x, 3.0, 1.0),
]


@pytest.mark.parametrize(("f", "x", "slope"), SCALARS, ids=range(len(SCALARS)))
def test_singular_points(f, x: float, slope: float) -> None:
    for number in (x, np.float64(x)):
        assert slopes(f, number) == slope


# Python's max and min take one of two equals: so does the derivative.
TIES = [
    (lambda x: max(x, 1.0), 1.0),
    (lambda x: max(1.0, x), 0.0),
    (lambda x: min(x, 1.0), 1.0),
    (lambda x: min(1.0, x), 0.0),
    (lambda x: np.maximum(x, 1.0), 0.5),
    (lambda x: np.minimum(x, 1.0), 0.5),
    (lambda x: np.maximum(x, x), 1.0),
    (lambda x: np.max(np.array([x, 1.0, 0.5])), 0.5),
    (lambda x: x if x >= 1.0 else -x, 1.0),
    (lambda x: x if x > 1.0 else -x, -1.0),
]


@pytest.mark.parametrize(("f", "slope"), TIES, ids=range(len(TIES)))
def test_ties(f, slope: float) -> None:
    assert slopes(f, 1.0) == slope
    assert slopes(f, np.float64(1.0)) == slope


NOT_TAKEN = [
    (lambda x: math.sqrt(x) if x > 0.0 else 0.0, 0.0),
    (lambda x: 1.0 / x if x != 0.0 else 0.0, 0.0),
    (lambda x: 0.0 if x <= 0.0 else math.log(x) ** 2, 0.0),
    (lambda x: x * math.log(x) if x > 0.0 else x, 1.0),
    (lambda x: 3.0 * x if x == 0.0 else math.sin(x) / x, 3.0),
    (lambda x: max(0.0, x) ** 0.5 if x > 1.0 else 2.0 * x, 2.0),
]


@pytest.mark.parametrize(("f", "wanted"), NOT_TAKEN, ids=range(len(NOT_TAKEN)))
def test_a_branch_that_is_not_taken(f, wanted: float) -> None:
    slope = slopes(f, 0.0)
    assert slope == wanted


def guarded_root(xs):
    return np.sum(np.where(xs > 0.0, np.sqrt(np.maximum(xs, 0.0)), 0.0))


def guarded_quotient(xs):
    return np.sum(np.where(xs == 0.0, xs, 1.0 / np.where(xs == 0.0, 1.0, xs)))


def guarded_logarithm(xs):
    return np.sum(xs * np.where(xs > 0.0, np.log(np.where(xs > 0.0, xs, 1.0)), 0.0))


def plain_roots_under_where(xs):
    return np.sum(np.where(xs > 0.0, np.sqrt(np.abs(xs)), 2.0 * xs))


def guarded_power(xs):
    return np.sum(np.where(xs > 0.0, np.abs(xs) ** 0.5, -(xs**2)))


def root_taken_twice(xs):
    roots = np.sqrt(np.abs(xs))
    return np.sum(np.where(xs > 0.0, roots, xs)) + np.sum(np.where(xs > 0.0, roots, xs))


def root_taken_in_a_loop(xs):
    roots, total = np.sqrt(np.abs(xs)), 0.0
    for k in range(2):
        total = total + np.sum(np.where(xs > 0.0, k * roots, 2.0 * xs))
    return total


def root_stretched_and_turned(xs):
    roots = np.reshape(np.sqrt(np.abs(xs)), (3, 1)).T
    return np.sum(np.where(xs > 0.0, roots, np.array([[0.5], [1.5]]) * xs))


def root_of_a_row(xs):
    rows = np.sqrt(np.abs(np.stack([xs, xs])))
    return np.sum(np.where(xs > 0.0, rows[1], 2.0 * xs))


def root_carried(xs):
    roots = np.abs(xs)
    for _ in range(2):
        roots = np.sqrt(roots)
    return np.sum(np.where(xs > 0.0, roots, 2.0 * xs))


def fourth_root(xs):
    for _ in range(2):
        xs = np.sqrt(xs)
    return xs


def root_of_a_function(xs):
    roots = fourth_root(np.abs(xs)) + fourth_root(np.abs(xs) * 0.0625)
    return np.sum(np.where(xs > 0.0, roots, 2.0 * xs))


def roots_of_elements(xs):
    total = 0.0
    for k in range(len(xs)):
        total = total + np.where(xs[k] > 0.0, np.sqrt(np.abs(xs[k])), 2.0 * xs[k])
    return total


def root_of_a_length(xs):
    length = np.linalg.norm(0.0 * xs)
    return np.sum(np.where(length > 0.0, np.sqrt(length), 2.0 * xs))


def root_below_a_bound(xs):
    return np.sum(np.maximum(np.sqrt(np.abs(xs)), 2.0 * xs + 0.5))


def root_held(xs):
    return np.sum(np.clip(np.sqrt(np.abs(xs)), 0.5, 3.0) + np.fmin(np.cbrt(xs), -5.0))


MASKED = [
    (root_below_a_bound, [2.0, 2.0, -0.5]),
    (root_held, [0.25, 0.0, -0.5]),
    (guarded_root, [0.25, 0.0, 0.0]),
    (guarded_quotient, [-1.0 / 16.0, 1.0, -1.0]),
    (guarded_logarithm, [math.log(4.0) + 1.0, 0.0, 0.0]),
    (plain_roots_under_where, [0.25, 2.0, 2.0]),
    (guarded_power, [0.25, 0.0, 2.0]),
    (root_taken_twice, [0.5, 2.0, 2.0]),
    (root_taken_in_a_loop, [0.25, 4.0, 4.0]),
    (root_stretched_and_turned, [0.5, 2.0, 2.0]),
    (root_of_a_row, [0.25, 2.0, 2.0]),
    (root_carried, [math.sqrt(2.0) / 16.0, 2.0, 2.0]),
    (roots_of_elements, [0.25, 2.0, 2.0]),
    (root_of_a_length, [2.0, 2.0, 2.0]),
    (root_of_a_function, [math.sqrt(2.0) * 3.0 / 32.0, 2.0, 2.0]),
]


@pytest.mark.parametrize(
    ("f", "wanted"), MASKED, ids=lambda v: getattr(v, "__name__", "")
)
def test_an_element_that_is_not_taken(f, wanted: list[float]) -> None:
    xs = np.array([4.0, 0.0, -1.0])
    assert slopes(f, xs).tolist() == pytest.approx(wanted, rel=1e-15)


def test_an_array_at_a_singular_point() -> None:
    """Where an element does sit on it, the row's value; nothing is warned of."""
    got = gw.grad(lambda xs: np.sum(np.sqrt(xs)))(np.array([4.0, 0.0]))
    assert got.tolist() == [0.25, math.inf]
    got = gw.grad(lambda xs: np.sum(np.abs(xs)))(np.array([-4.0, 0.0]))
    assert got.tolist() == [-1.0, 0.0]
    got = gw.grad(lambda xs: np.sum(xs**2.0))(np.array([3.0, 0.0]))
    assert got.tolist() == [6.0, 0.0]


@pytest.mark.parametrize(
    "f",
    [
        lambda xs: np.sum(np.sqrt(xs) * xs),
        lambda xs: np.sum(np.sin(np.sqrt(xs))),
        lambda xs: np.sum(np.cbrt(xs) * xs),
        lambda xs: np.sum(np.arctan2(xs, xs)),
        lambda xs: np.sum(np.power(xs, xs + 1.0)),
    ],
)
def test_a_second_derivative_at_a_singular_point_is_quiet(f) -> None:
    """Whatever number it gives there, nothing is warned of; it is right elsewhere."""

    def slope(xs):
        return np.sum(gw.grad(f)(xs))

    xs = np.array([4.0, 0.0])
    seconds = gw.grad(slope)(xs)[0], gw.hvp(f, (xs,), (np.ones(2),))[1][0]
    (alone,) = gw.grad(slope)(xs[:1])
    assert seconds == pytest.approx((alone, alone), rel=1e-14)


def test_a_loop_that_is_not_entered() -> None:
    def f(x, n):
        s = x
        for _ in range(n):
            s = math.sqrt(s) / x
        return s

    assert gw.grad(f)(0.0, 0) == 1.0
    assert gw.vjp(f, 0.0, 0)[1](1.0)[0] == 1.0


def test_derivative_code_does_not_overflow_or_underflow_loudly() -> None:
    for f, x in [
        (lambda x: np.exp(-x * x), 40.0),
        (lambda x: np.tanh(x), 400.0),
        (lambda x: 1.0 / np.cosh(x), 400.0),
        (lambda x: np.log1p(x), 1e300),
        (lambda x: np.arctan(x), 1e150),
        (lambda x: np.hypot(x, x), 1e200),
        (lambda x: np.logaddexp(x, -x), 700.0),
        (lambda x: 1.0 / (1.0 + x * x), 1e70),
    ]:
        with np.errstate(under="ignore"):
            assert np.isfinite(slopes(f, np.float64(x)))
            assert np.isfinite(slopes(f, x))
            got = gw.grad(lambda xs, f=f: np.sum(f(xs)))(np.array([x, 0.5 * x]))
            assert np.all(np.isfinite(got))


def test_of_repeated_indices_the_last_write_counts() -> None:
    def stored(x):
        y = np.ones(2)
        y[np.array([0, 0, 1])] = x
        return y[0] + 2.0 * y[1]

    def added(x):
        y = np.ones(2)
        y[np.array([0, 0, 1])] += x
        return y[0] + 2.0 * y[1]

    x = np.array([1.0, 2.0, 3.0])
    assert slopes(stored, x).tolist() == [0.0, 1.0, 2.0]
    assert slopes(added, x).tolist() == [0.0, 1.0, 2.0]
