"""Arrays that are stored into, under names that loops and branches bind."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from semantics.oracle import check, differences, near

import gradwright as gw

X = np.array([0.7, -0.35, 1.2, 0.51])


def bound_anew(x):
    y = x * 1.0
    for k in range(4):
        y = y * 0.5 + x
        y[k] = y[k] ** 2
    return np.sum(y * y)


def bound_in_branches(x):
    if x[0] > 0.6:
        y = x * 2.0
    else:
        y = np.sin(x)
    y[2] = y[1] * x[0]
    y += x
    return np.sum(y * y)


def left_behind_by_a_loop(x):
    for k in range(3):
        row = x * k
        row[k] = row[k - 1] ** 2 + x[k]
        row /= 2.0 + x[0]
    return np.sum(row * row)


def directions(x):
    total = 0.0
    for k in range(3):
        d = np.array([x[k], x[k + 1], 1.0])
        d /= np.linalg.norm(d)
        total += d[0] * d[1]
    return total


def a_network(x):
    h = np.zeros(len(x))
    for k in range(3):
        h = np.tanh(h + x)
        h += x[k]
        h *= h
    return np.sum(h)


def wave(x, n):
    u, v = x.copy(), x * 0.5
    for _ in range(n):
        for i in range(1, len(u) - 1):
            v[i] = 2.0 * u[i] - v[i] + 0.1 * u[i - 1] * u[i + 1] + 0.05 * u[i] ** 2
        u, v = v, u
    return np.sum(u * u) + v[1]


def jacobi(x, n):
    u, v = np.zeros(len(x)), np.zeros(len(x))
    for _ in range(n):
        v[1:-1] = 0.5 * (u[2:] + u[:-2] + x[1:-1])
        u, v = v, u
    return np.sum(u * u)


def three_that_turn(x):
    a, b, c = x * 1.0, x * 2.0, x * 3.0
    for _ in range(4):
        c[1:] = a[:-1] * b[1:]
        a, b, c = b, c, a
    return np.sum(a * b * c)


def moved_on(x):
    a, b = x * 1.0, x * 0.5
    for k in range(3):
        b[k] *= a[k]
        a, b = b, np.sin(a) + b
    return np.sum(a * b)


def exchanged_in_a_branch(x):
    a, b = x * 1.0, x * 0.5
    for k in range(4):
        if x[k] > 0.5:
            a, b = b, a
        a[k] = b[k] ** 2 + a[k - 1]
    return np.sum(a * b * b)


def exchanged_once(x):
    a, b = x * 1.0, x * 0.5
    a, b = b, a
    a[1] = b[0] ** 2
    return np.sum(a * b * b)


def bound_in_one_loop_and_exchanged_in_another(x):
    y = x * 1.0
    for k in range(2):
        z = x * k
    for _ in range(3):
        y += 0.4 * z
        z, y = y, z
    return np.sum(y * y * x)


def begun_behind_an_early_return(x):
    a = x * 1.0
    if x[0] > 0.6:
        return x[1] ** 2
    z = a + 0.0
    for _ in range(2):
        a[...] = np.sin(z)
        z, a = a, z
    z *= x[1]
    return np.sum(a) + np.sum(z**2)


def from_a_helper(x):
    def squares(p):
        made = np.zeros_like(p)
        for i in range(len(p)):
            made[i] += p[i] * p[0]
        return made

    a = squares(x)
    for k in range(3):
        a = squares(a + 0.3)
        a[k] = x[k]
    return np.sum(a)


PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (bound_anew, (X,)),
    (bound_in_branches, (X,)),
    (bound_in_branches, (X - 0.3,)),
    (left_behind_by_a_loop, (X,)),
    (directions, (X,)),
    (a_network, (X,)),
    (wave, (X, 0)),
    (wave, (X, 3)),
    (jacobi, (X, 4)),
    (three_that_turn, (X,)),
    (moved_on, (X,)),
    (exchanged_in_a_branch, (X,)),
    (exchanged_once, (X,)),
    (bound_in_one_loop_and_exchanged_in_another, (X,)),
    (begun_behind_an_early_return, (X,)),
    (begun_behind_an_early_return, (X - 0.3,)),
    (from_a_helper, (X,)),
]
NAMES = [f.__name__ for f, _ in PROGRAMS]


@pytest.mark.parametrize(("f", "args"), PROGRAMS, ids=NAMES)
def test_against_differences(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    check(f, *args)


@pytest.mark.parametrize(("f", "args"), PROGRAMS, ids=NAMES)
def test_second_order(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    x, others = args[0], args[1:]

    def along(x):
        return np.sum(gw.grad(f)(x, *others) * x)

    gradient = gw.grad(along)(x)
    slope = differences(along, (x,), (np.ones_like(x),))
    near(np.sum(gradient), slope, 1e-5, "second order and differences")
    hessian = gw.hessian(f)(*args)
    columns = [
        gw.jvp(lambda x: gw.grad(f)(x, *others), (x,), (e,))[1] for e in np.eye(4)
    ]
    np.testing.assert_allclose(hessian.T, columns, rtol=1e-9, atol=1e-9)


def of_a_name_in_a_branch(x):
    v = x * 2.0
    if x[0] > 0.0:
        u = v
    else:
        u = x * 1.0
    u += x[1]
    return np.sum(v * v)


def of_an_item_in_a_branch(x):
    pair = (x * 2.0, 1.0)
    u = x * 1.0
    if x[0] > 0.0:
        u = pair[0]
    u *= x[1]
    return np.sum(pair[0] * x)


def exchanged_in_a_loop_over_them(x):
    a, b, s = x * 1.0, x * 2.0, 0.0
    for p, q in zip(a, b):
        a[0] += 1.0
        a, b = b, a
        s += p * q
    return s


def exchanged_before_a_loop_over_them(x):
    a, b, s = x * 1.0, x * 2.0, 0.0
    both = zip(a, b)
    for _ in range(3):
        a, b = b, a
        a[0] += 1.0
    for p, q in both:
        s += p * p * q
    return s


REFUSED = [
    of_a_name_in_a_branch,
    of_an_item_in_a_branch,
    exchanged_in_a_loop_over_them,
    exchanged_before_a_loop_over_them,
]


@pytest.mark.parametrize("f", REFUSED)
def test_a_second_name_of_what_is_bound_anew_is_refused(f: Callable[..., Any]) -> None:
    with pytest.raises(gw.AliasError):
        gw.grad(f)(X)


def given_away(x):
    for k in range(3):
        y = x.copy()
        y[1:-1] = 0.5 * x[:-2] * x[2:]
        x = y
    return np.sum(x * x)


def not_given_away(x):
    for k in range(3):
        y = x.copy()
        y[1:-1] = 0.5 * x[:-2] * x[2:]
        x = y
        y[0] = 3.0 * k
    return np.sum(x * x)


def test_a_name_that_is_bound_anew_first_gives_its_array_away() -> None:
    check(given_away, X)
    assert "copy() * " not in gw.grad(given_away).source(X)
    with pytest.raises(gw.AliasError, match="'x' is a part of 'y'"):
        gw.grad(not_given_away)(X)


def test_a_name_that_no_trip_bound_is_unbound() -> None:
    def f(x, n):
        for k in range(n):
            row = x * k
            row[0] = 1.0
        return np.sum(row)

    assert np.array_equal(gw.grad(f)(X, 3), [0.0, 2.0, 2.0, 2.0])
    with pytest.raises(UnboundLocalError, match="row"):
        gw.grad(f)(X, 0)


def test_a_linear_stencil_saves_nothing() -> None:
    assert "append" not in gw.grad(jacobi).source(X, 4)


def test_the_stages_show_what_changes_places() -> None:
    assert "exchange" in gw.grad(jacobi).stages(X, 4)["simplify"]


# ---- arrays that a caller lends ------------------------------------------------------


def scaled(u, x):
    """The caller's array gets a number; the one behind it is another array."""
    u[0] = x
    if x > 0:
        u = 0.6 * u
    return u


def lent_and_read(x):
    u = x * np.ones(3)
    return np.sum(scaled(u, x)) + np.sum(u**2)


def lent_in_one_expression(x):
    v = x * np.ones(3)
    s = np.sum(scaled(v, x)) + v[0]
    return s


def lent_for_good(x):
    u = x * np.ones(3)
    return np.sum(scaled(u, x))


def lent_and_bound_anew(x):
    v = x * np.ones(3)
    for _ in range(3):
        v = scaled(v, x)
    return np.sum(v)


@pytest.mark.parametrize(
    ("f", "name"), [(lent_and_read, "u"), (lent_in_one_expression, "v")]
)
def test_an_array_of_the_caller_that_is_read_later_gets_no_other(
    f: Any, name: str
) -> None:
    text = f"stands for '{name}' of the caller\n    u = 0.6 [*] u"
    with pytest.raises(gw.AliasError, match=text):
        gw.grad(f)(0.7)


@pytest.mark.parametrize("f", [lent_for_good, lent_and_bound_anew])
def test_an_array_of_the_caller_that_nobody_reads_may_get_another(f: Any) -> None:
    check(f, 0.7)
