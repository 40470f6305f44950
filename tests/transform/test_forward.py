"""Forward mode: a tangent beside every value, a cell of tangents beside every cell."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from written import written

import gradwright as gw
from gradwright.transform import source
from gradwright.transform.core import program as functions
from gradwright.transform.forward import tangents
from gradwright.transform.notation import notation
from gradwright.transform.specialise import specialise
from gradwright.transform.specialise.frame import type_of_input

Program = Callable[..., Any]
PROGRAMS: list[tuple[Program, tuple[Any, ...], tuple[Any, ...], Any]] = []


def program(*args: Any, along: tuple[Any, ...], gives: Any) -> Any:
    """A program, where and along what it is differentiated, and the tangent."""

    def enter(f: Program) -> Program:
        PROGRAMS.append((f, args, along, gives))
        return f

    return enter


@program(2.0, 3.0, along=(1.0, 10.0), gives=23.0)
def two_operands(x, y):
    return x * y


@program(2.0, 3.0, along=(1.0, 10.0), gives=-9.0)
def one_operand_only(x, y):
    return x - y


@program(2.0, 3, along=(1.0, None), gives=12.0)
def a_carried_cell(x, n):
    y = 1.0
    for _ in range(n):
        y = y * x
    return y


@program(2.0, 4, along=(1.0, None), gives=8.0)
def a_sum_that_is_cleared(x, n):
    s = 0.0
    for k in range(n):
        if k == 2:
            s = 0.0
        s = s + x * x
    return s


@program(2.0, 3, along=(1.0, None), gives=6.0)
def a_cell_set_to_what_does_not_vary(x, n):
    s = x
    y = x
    for _ in range(n):
        y = y + s * 2.0
        s = 1.0
    return y * 2.0


@program(2.0, 3, along=(1.0, None), gives=27.0)
def a_sum_that_reads_itself(x, n):
    s = 1.0
    for _ in range(n):
        s += s * x
    return s


@program(2.0, 3.0, along=(1.0, 1.0), gives=6.0)
def a_branch(x, y):
    if x > 1.0:
        z = x * y
    else:
        z = y
    return z + (x if y > 0.0 else y)


def power(t, n):
    y = t
    for _ in range(n):
        y = y * t
    return y


@program(2.0, 3.0, along=(1.0, 1.0), gives=313.0)
def a_call_by_what_varies(x, y):
    return power(y, 2) * power(x, 1) + power(x, 2) * power(2.0, 2) + y


def factorial(t, u, n):
    if n == 0:
        return t
    return u * factorial(t, u, n - 1)


@program(2.0, 3.0, along=(1.0, 1.0), gives=103.0)
def one_form_of_a_recursion(x, y):
    return factorial(x, y, 2) + factorial(1.0, x, 5) + x * 2.0


@program(
    np.array([1.0, 2.0, 4.0]),
    along=(np.array([1.0, 1.0, 2.0]),),
    gives=np.float64(24.0),
)
def elements_and_sums(a):
    s = 0.0
    for k in range(3):
        s = s + a[k] * a[k]
    return s + np.sum(a[1:] - a[:-1]) + np.sum(a) * 0.25


@program(
    2.0, np.array([1.0, 3.0]), along=(1.0, np.zeros(2)), gives=np.array([1.0, 3.0])
)
def a_tangent_of_the_shape_of_the_value(x, a):
    return x * a


@program(np.array([1.0, 3.0]), 2.0, along=(np.zeros(2), 1.0), gives=np.ones(2))
def a_number_added_to_an_array(a, x):
    return a + x


@program(3.0, along=(1.0,), gives=8.0)
def the_real_part_of_a_complex_chain(x):
    z = x * (1.0 + 2.0j)
    return (z * (2.0 - 3.0j)).real


@program(3.0 + 4.0j, along=(1.0 + 2.0j,), gives=2.2)
def the_modulus(z):
    return abs(z)


@program(2.0, 3.0, along=(1.0, 10.0), gives=np.float64(21.0))
def a_display_in_order(x, y):
    a = np.array([x, y])
    return a[0] + 2.0 * a[1]


@program(2.0, 3.0, along=(1.0, 1.0), gives=0.0)
def what_does_not_vary(x, y):
    return 4.0


@pytest.mark.parametrize(
    ("f", "args", "along", "gives"), PROGRAMS, ids=[p[0].__name__ for p in PROGRAMS]
)
def test_tangent(f: Program, args: Any, along: Any, gives: Any) -> None:
    """The very number, of the very kind; the value is the function's own."""
    value, tangent = gw.jvp(f, args, along)
    assert repr(tangent) == repr(gives)
    assert repr(value) == repr(f(*args))


PRIMAL = """
def f(x: float, w: float, n: int):
    cell y
    store y, 1.0
    tape t
    for k in range(0, n, 1):
        y_1 = load y
        product = multiply y_1, x
        store y, product
        push t, product
        push t, w
        back = pop t
        add y, back
    end = load y
    return end
"""
BESIDE = """
def f_jvp(x: float, w: float, n: int, x_dot: float):
    cell y
    cell y_dot
    store y_dot, 0.0
    store y, 1.0
    tape t
    tape t_dot
    for k in range(0, n, 1):
        y_1 = load y
        y_1_dot = load y_dot
        product = multiply y_1, x
        product_1 = multiply x, y_1_dot
        product_2 = multiply y_1, x_dot
        product_dot = add product_1, product_2
        store y_dot, product_dot
        store y, product
        push t_dot, product_dot
        push t, product
        push t_dot, 0.0
        push t, w
        back = pop t
        back_dot = pop t_dot
        add y_dot, back_dot
        add y, back
    end = load y
    end_dot = load y_dot
    return end, end_dot
"""


def test_tangents_stand_beside_the_values() -> None:
    function = written(PRIMAL)
    derivative, dots, results = tangents(function, function.params[:1])
    assert notation(derivative) == BESIDE.strip()
    assert [d.name for d in dots] == ["x_dot"]
    assert results == derivative.results


def test_what_does_not_vary_has_no_tangent() -> None:
    """Only the calls that something varying reaches get a second form."""
    function = core_of(a_call_by_what_varies, (2.0, 3.0))
    derivative, _, _ = tangents(function, function.params[:1])
    names = [g.name for g in functions(derivative)]
    assert sorted(names) == ["a_call_by_what_varies_jvp", "power", "power_jvp"]


def joined(x, places):
    return np.sum(np.concatenate([x, places]) ** 2)


def stacked(x, places):
    return np.sum(np.stack([x, places]) ** 2)


def displayed(x, places):
    return np.sum(np.array([x, places]) ** 2)


@pytest.mark.parametrize("f", [joined, stacked, displayed])
@pytest.mark.parametrize("beside", [np.array([2, 3]), np.array([True, False])])
def test_integers_and_bools_beside_an_array_have_zeros(f: Program, beside: Any) -> None:
    x = np.array([0.3, 0.5])
    _, dot = gw.jvp(f, (x, beside), (np.ones(2), 0))
    assert dot == np.sum(2.0 * x)


def core_of(f: Program, args: tuple[Any, ...]) -> Any:
    types = map(type_of_input, args)
    known = dict(zip(inspect.signature(f).parameters, types, strict=True))
    return specialise(source.read(f), known).function
