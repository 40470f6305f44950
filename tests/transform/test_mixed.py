"""Names that are a number first and an array later: derivatives of all orders."""

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright.transform import source
from gradwright.transform.activity import active
from gradwright.transform.build import constant, row
from gradwright.transform.core import (
    Alloc,
    Cell,
    Function,
    Let,
    Load,
    Place,
    Store,
    Value,
    walk,
)
from gradwright.transform.errors import UnsupportedSyntax
from gradwright.transform.indices import Linear, linear
from gradwright.transform.mixed import Mixed, short
from gradwright.transform.primitives import load_rows
from gradwright.transform.specialise import specialise
from gradwright.transform.specialise.frame import type_of_input
from gradwright.transform.types import array

Program = Callable[..., Any]
XS = np.array([0.7, 1.1, 0.9])


def product(x, xs, n):
    s = x
    for _ in range(n):
        s = s * xs * s
    return np.sum(s)


def sum_of_numbers_and_arrays(x, xs, n):
    s, y = x, 0.0
    for _ in range(n):
        y = y + s
        s = s * xs
    return np.sum(y)


def sum_beside_a_product(x, xs, n):
    s, total = x, 0.0
    for _ in range(n):
        wide = s * xs
        total += np.sum(s) * 2.0
        s = wide
    return total + np.sum(s)


def array_in_a_later_trip(x, xs, n):
    s = x
    for k in range(n):
        if k < 2:
            s = s * s
        else:
            s = s * xs
    return np.sum(s)


def number_beside_what_became_an_array(x, xs, n):
    s, y = x * x, x
    for k in range(n):
        t = np.exp(0.1 * s)
        if k > 1:
            s = s * xs
            y = y * s + t
        s = s * 0.5 + 0.1 * t * y
    return np.sum(s * y)


def constant_that_became_an_array(x, xs, n):
    s = 0.0
    for k in range(n):
        s = s + xs * x * k
    return np.sum(s * s)


def array_beside_a_branch(x, xs, n):
    s, y, total = x, 0.8, 0.0
    for k in range(n):
        s = s + s * y
        total += np.sum(np.sin(s))
        if k == 1:
            y = y + x * x
        else:
            for _ in range(2):
                s = 0.6 * np.tanh(y)
                total += np.sum(s + 0.3)
            y = y * 0.8 + (0.3 + xs)
    return total + np.sum(y)


def on_one_path(x, xs, n):
    s = x
    if n > 1:
        s = s * xs
    return np.sum(s * s) + np.mean(s + xs)


def array_held_from_the_trip_before(x, xs, n):
    s, total = 0.8 * x, 0.0
    for _ in range(n):
        y = s
        for _ in range(2):
            s = s * xs
            total += np.sum(y * s)
    return total + np.sum(s)


def sum_with_its_own(x, xs, n):
    s = x
    for _ in range(n):
        s = s + (s + xs)
    return np.sum(0.5 * s)


PROGRAMS: list[Program] = [
    product,
    sum_of_numbers_and_arrays,
    sum_beside_a_product,
    array_in_a_later_trip,
    number_beside_what_became_an_array,
    constant_that_became_an_array,
    array_beside_a_branch,
    on_one_path,
    array_held_from_the_trip_before,
    sum_with_its_own,
]


def difference(f: Program, x: float, n: int) -> Any:
    step = 1e-5
    return (f(x + step, XS, n) - f(x - step, XS, n)) / (2.0 * step)


def tangent(f: Program) -> Program:
    return lambda x, xs, n: gw.jvp(lambda t: f(t, xs, n), (x,), (1.0,))[1]


@pytest.mark.parametrize("n", [0, 1, 2, 3])
@pytest.mark.parametrize("f", PROGRAMS, ids=[f.__name__ for f in PROGRAMS])
def test_derivatives(f: Program, n: int) -> None:
    for first in (gw.grad(f), tangent(f)):
        assert first(0.8, XS, n) == pytest.approx(difference(f, 0.8, n), rel=1e-7)
    wanted = difference(gw.grad(f), 0.8, n)
    for second in (gw.grad(gw.grad(f)), tangent(gw.grad(f)), gw.grad(tangent(f))):
        assert second(0.8, XS, n) == pytest.approx(wanted, rel=1e-6, abs=1e-8)


def test_a_third_derivative() -> None:
    second = gw.grad(gw.grad(product))
    wanted = difference(second, 0.8, 2)
    assert gw.grad(second)(0.8, XS, 2) == pytest.approx(wanted, rel=1e-6)


def test_the_sum_stands_in_the_source() -> None:
    text = gw.grad(product).source(0.8, XS, 2)
    assert "axis=() if np.ndim(s) else None" in text


def test_a_constant_that_became_an_array_is_asked_nothing() -> None:
    text = gw.grad(constant_that_became_an_array).source(0.8, XS, 2)
    assert "np.ndim" not in text


def found(f: Program) -> tuple[set[str], set[str]]:
    """The names of what may be a number, and of what is wanted while it is one."""
    arguments = {
        a.id: type_of_input(v)
        for a, v in zip(source.read(f).node.args.args, (0.8, XS, 2), strict=True)
    }
    function = specialise(source.read(f), arguments).function
    params = {p for p in function.params if p.type.is_inexact}
    made = Mixed(function, active(function, params, set(function.results)))
    assert made.active <= made.all <= {
        v for s in walk(function.body) for v in vars(s).values()
        if isinstance(v, Value | Place)
    }  # fmt: skip
    return {v.name for v in made.all}, {v.name for v in made.active}


def test_what_may_be_a_number() -> None:
    every, wanted = found(product)
    assert "s" in every and "s" in wanted
    assert "product" not in every  # it has the shape of xs
    every, wanted = found(constant_that_became_an_array)
    assert "s" in every and not wanted
    every, wanted = found(array_in_a_later_trip)
    assert "product" in every & wanted  # s * s in one branch


def test_a_call_is_refused() -> None:
    def power(s, n):
        return s if n == 0 else s * power(s, n - 1)

    def f(x, xs, n):
        s = x
        for _ in range(n):
            s = power(s, n) * xs
        return np.sum(s)

    assert f(0.8, XS, 2) > 0.0
    with pytest.raises(UnsupportedSyntax, match="a number first and an array later"):
        gw.grad(f)(0.8, XS, 2)


def test_a_call_that_begins_with_a_constant() -> None:
    def series(v, n):
        return 1.0 if n == 0 else power(v, n) + series(v, n - 1)

    def power(v, n):
        s = 1.0
        for _ in range(n):
            s = s * v
        return s

    def f(x, xs, n):
        return np.sum(np.sin(series(x * xs, n)))

    assert gw.grad(f)(0.8, XS, 3) == pytest.approx(difference(f, 0.8, 3), rel=1e-7)


def test_a_second_derivative_through_such_a_call_is_refused() -> None:
    def power(v, n):
        s = 1.0
        for _ in range(n):
            s = s * v
        return s

    def f(x, xs, n):
        t = 0.0
        for k in range(n):
            t = t + power(x * xs, k) * power(xs + x, 2)
        return np.sum(t)

    assert gw.grad(f)(0.8, XS, 3) == pytest.approx(difference(f, 0.8, 3), rel=1e-7)
    with pytest.raises(UnsupportedSyntax, match="a number first and an array later"):
        gw.grad(gw.grad(f))(0.8, XS, 3)


def test_a_function_in_the_program_s_own_terms() -> None:
    def f(x, xs, n):
        def twice(s):
            return s * s

        s = x
        for _ in range(n):
            s = twice(s) * xs + math.sin(x)
        return np.sum(s)

    assert gw.grad(f)(0.8, XS, 2) == pytest.approx(difference(f, 0.8, 2), rel=1e-7)


def carried_rows(A, B):
    for _ in range(3):
        A = A - np.reshape(B, 3)
    for total in A.sum(axis=1):
        A = A * 0.5
    return total


def rows_halved(A):
    for line in A:
        A = np.maximum([line[:1], line[1:]], A)
    return A[1, 1]


def test_a_cotangent_in_a_cell_may_be_shorter_than_the_cell() -> None:
    a, b = np.array([[1.0, 2.0, 0.5]]), np.array([1.4, -1.7, -2.1])
    of_a, of_b = gw.grad(carried_rows, (0, 1))(a, b)
    assert of_a.tolist() == [[1.0, 1.0, 1.0]]
    assert of_b.tolist() == [-3.0, -3.0, -3.0]


def test_what_a_cell_holds_may_be_longer_than_what_it_meets() -> None:
    a = np.array([[0.03, -0.03], [0.2, 2.1]])
    assert gw.grad(rows_halved)(a).tolist() == [[0.0, 0.0], [0.0, 1.0]]
    assert gw.jvp(rows_halved, (a,), (np.ones((2, 2)),)) == (2.1, 1.0)


def test_what_may_be_short_of_its_type() -> None:
    n = Linear({"n": 1})
    wide, cut = array("float64", (n, n)), array("float64", (linear(1), n))
    cell, one = Cell("cell", wide), Value("one", cut)
    read, half = Value("read", wide), Value("half", wide)
    load_rows()
    function = Function(
        "f",
        [one],
        [
            Alloc(cell),
            Store(cell, one),
            Load(read, cell),
            Let(half, row(operator.mul, 2), (read, constant(0.5))),
        ],
        [half],
    )
    assert short(function) == {cell, read, half}


def test_a_gradient_in_single_precision_of_a_sum_in_double() -> None:
    def f(B):
        return np.sum(np.full((2, 1), -0.7) + B)

    b = np.array([[0.3, 0.5, -1.5]], np.float32)
    assert gw.grad(f)(b).dtype == np.float32
    assert gw.grad(f)(b).tolist() == [[2.0, 2.0, 2.0]]


# ---- arrays of several lengths, which may be a number --------------------------------

A = np.array([[0.7, -1.4], [-0.9, -0.3]])
B = np.array([[-2.4], [-1.9]])


def sum_of_a_list(A, B, n):
    xs = []
    for k in range(n):
        xs.append(A * k)
    xs.append(2.0 * B)
    return np.sum(sum(xs))


def loop_over_a_list(A, B, n):
    xs = []
    for k in range(n):
        xs.append(A * k)
    xs.append(2.0 * B)
    s = 0.0
    for v in xs:
        s = s + v
    return np.sum(s * s)


def on_two_paths(A, B, n):
    s = 0.0
    for k in range(n):
        if k % 2:
            s = s + A * k
        else:
            s = s + B * (k + 1)
    return np.sum(s * s)


def chosen_by_the_trip(A, B, n):
    s = 0.0
    for k in range(n):
        s = s + (A * k if k % 2 == 0 else B * k)
    return np.sum(s * s)


def two_of_them(A, B, n):
    s = t = 0.0
    for k in range(n):
        s = s + A * k
        t = t + B * k
    return np.sum(s * t)


def one_element_first(A, B, n):
    s = 0.0
    for k in range(n):
        s = s + (np.sin(A.ravel()[:k]) if k == n - 1 else A[0, :1] * B[1])
    return np.sum(s * s)


def picked(A, B, n):
    s, x = 0.0, np.concatenate((A.ravel(), B.ravel()))
    for k in range(n):
        y = x[x > 1.0 - k]
        if len(y) == 1 or k == n - 1:
            s = s + y * B[0]
    return np.sum(s * s)


STRETCHED = [
    sum_of_a_list, loop_over_a_list, on_two_paths, chosen_by_the_trip, two_of_them,
    one_element_first, picked,
]  # fmt: skip


@pytest.mark.parametrize("f", STRETCHED, ids=[f.__name__ for f in STRETCHED])
def test_what_may_be_a_number_is_stretched_where_it_is_an_array(f: Any) -> None:
    """Cotangents are summed over the axes that only the run knows to be stretched."""
    wanted = [np.zeros_like(A), np.zeros_like(B)]
    for k, x in enumerate((A, B)):
        for at in np.ndindex(x.shape):
            step = np.zeros_like(x)
            step[at] = 1e-6
            more, less = ([A, B], [A, B])
            more[k], less[k] = x + step, x - step
            wanted[k][at] = (f(*more, 3) - f(*less, 3)) / 2e-6
    gradient = gw.grad(f, (0, 1))
    for found in (gradient(A, B, 3), gw.jit(gradient)(A, B, 3)):
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)
    tangent = gw.jvp(f, (A, B, 3), (A, B, 0.0))[1]
    assert tangent == pytest.approx(np.sum(wanted[0] * A) + np.sum(wanted[1] * B))


def test_one_shape_asks_nothing() -> None:
    def f(A, n):
        s = 0.0
        for k in range(n):
            s = s + A * k
        return np.sum(s)

    assert "np.shape" not in gw.grad(f).source(A, 3)
