"""Calls: what is written out, what is a function of its own, and how arguments bind."""

import inspect
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright.transform import source
from gradwright.transform.notation import notation
from gradwright.transform.specialise import specialise
from gradwright.transform.specialise.frame import type_of_input

Program = Callable[..., Any]
PROGRAMS: list[tuple[Program, tuple[Any, ...], str]] = []


def becomes(*args: Any, core: str) -> Any:
    """A program, arguments of the kinds that it is specialised for, and its core."""

    def enter(f: Program) -> Program:
        PROGRAMS.append((f, args, core))
        return f

    return enter


def core(f: Program, args: tuple[Any, ...]) -> str:
    """The functions of the core program without the header of the outermost."""
    types = map(type_of_input, args)
    known = dict(zip(inspect.signature(f).parameters, types, strict=True))
    text = notation(specialise(source.read(f), known).function)
    called, _, body = text.rpartition(f"def {f.__name__}(")
    return called + textwrap.dedent(body.partition("\n")[2])


def doubled(t):
    return t + t


def summed(t, n):
    s = 0.0
    for k in range(n):
        s += t * k
    return s


@becomes(
    2.0,
    core="""
    total = add x, x
    product = multiply total, 3.0
    return product
    """,
)
def a_small_function_is_written_out(x):
    return doubled(x) * 3.0


@becomes(
    2.0,
    3,
    core="""
    def summed(t: float, n: int):
        s = named 0.0
        cell s_1
        store s_1, s
        for k in range(0, n, 1):
            product = multiply t, k
            add s_1, product
        s_2 = load s_1
        return s_2

    summed_value = call summed x, n_1
    product_1 = multiply 2.0, x
    summed_value_1 = call summed product_1, 4
    total = add summed_value, summed_value_1
    return total
    """,
)
def one_function_for_two_calls(x, n):
    return summed(x, n) + summed(2.0 * x, 4)


@becomes(
    2.0,
    3,
    core="""
    def summed(t: float, n: int):
        s = named 0.0
        cell s_1
        store s_1, s
        for k in range(0, n, 1):
            product = multiply t, k
            add s_1, product
        s_2 = load s_1
        return s_2

    def summed(t_1: int, n_1: int):
        s_3 = named 0.0
        cell s_4
        store s_4, s_3
        for k_1 in range(0, n_1, 1):
            product_1 = multiply t_1, k_1
            add s_4, product_1
        s_5 = load s_4
        return s_5

    summed_value = call summed x, n_2
    summed_value_1 = call summed n_2, 2
    total = add summed_value, summed_value_1
    return total
    """,
)
def another_for_another_kind(x, n):
    return summed(x, n) + summed(n, 2)


@becomes(
    2.0,
    3,
    core="""
    def weighted(t: float, n: int, scale: float):
        s = named 0.0
        cell s_1
        store s_1, s
        for k in range(0, n, 1):
            product = multiply t, scale
            add s_1, product
        s_2 = load s_1
        return s_2

    scale_1 = multiply x, x
    weighted_value = call weighted x, n_1, scale_1
    return weighted_value
    """,
)
def a_captured_variable_is_handed_in(x, n):
    scale = x * x

    def weighted(t):
        s = 0.0
        for k in range(n):
            s += t * scale
        return s

    return weighted(x)


def factorial(t, n):
    if n == 0:
        return t
    return t * factorial(t, n - 1)


@becomes(
    2.0,
    3,
    core="""
    def factorial(t: float, n: int):
        n_is_zero = eq n, 0
        cell result
        if n_is_zero:
            store result, t
        else:
            factorial_value = call factorial t, n - 1
            product = multiply t, factorial_value
            store result, product
        result_1 = load result
        return result_1

    factorial_value_1 = call factorial x, n_1
    return factorial_value_1
    """,
)
def a_recursion_is_a_function(x, n):
    return factorial(x, n)


@becomes(
    2.0,
    core="""
    larger = larger x, 1.0
    larger_1 = larger larger, 3.0
    smaller = smaller x, 2.0
    difference = subtract larger_1, smaller
    return difference
    """,
)
def extremes_by_twos(x):
    return max(x, 1.0, 3.0) - min((x, 2.0))


IDS = [f.__name__ for f, _, _ in PROGRAMS]


@pytest.mark.parametrize(("f", "args", "text"), PROGRAMS, ids=IDS)
def test_core(f: Program, args: tuple[Any, ...], text: str) -> None:
    assert core(f, args) == textwrap.dedent(text).strip()


# ---- what it means -------------------------------------------------------------------


def mixed(a, b=2.0, *rest, c, d=5.0):
    return a + 10.0 * b + 100.0 * c + 1000.0 * d + 10000.0 * sum_of(rest)


def sum_of(numbers):
    s = 0.0
    for v in numbers:
        s = s + v
    return s


def all_ways_to_bind(x):
    a = mixed(x, c=x) + mixed(x, 3.0, c=1.0, d=x)
    return a + mixed(x, x, 7.0, x, c=2.0) + mixed(*(1.0, x), c=3.0)


def captured_from_each_caller(x, y):
    def outer(n, t):
        def inner(m):
            s = 0.0
            for k in range(m):
                s = s + t * k
            return s

        s = 0.0
        for k in range(n):
            s = s + inner(k) * k
        return s

    return outer(3, x) + 10.0 * outer(4, y)


def two_functions_of_one_code(x, y):
    def make(w):
        def g(t):
            s = 0.0
            for _ in range(3):
                s = s + t * w
            return s

        return g

    return make(x)(1.0) + 10.0 * make(y)(2.0)


def captured_in_a_recursion(x, y, n):
    scale = x * y

    def down(t, k):
        if k == 0:
            return t * scale
        return down(t * y, k - 1) + scale

    scale = scale + 1.0
    return down(x, n) + down(y, 1)


def the_last_value_of_a_captured_name(x):
    def f(t):
        return t * y

    y = x
    a = f(1.0)
    y = x * x
    return a + f(1.0)


def a_number_needed_two_calls_down(x, k):
    def part(p, k):
        s = 0.0
        for _ in range(2):
            s = s + p[k]
        return s

    return part((x, x * x), k) + part((x, 3.0 * x), 1)


VALUES = [
    (all_ways_to_bind, (2.0,)),
    (captured_from_each_caller, (2.0, 3.0)),
    (two_functions_of_one_code, (2.0, 3.0)),
    (captured_in_a_recursion, (2.0, 3.0, 2)),
    (the_last_value_of_a_captured_name, (3.0,)),
    (a_number_needed_two_calls_down, (3.0, 0)),
    (a_number_needed_two_calls_down, (3.0, 1)),
]


@pytest.mark.parametrize(("f", "args"), VALUES, ids=[f.__name__ for f, _ in VALUES])
def test_value(f: Program, args: tuple[Any, ...]) -> None:
    """What the function itself gives, bit for bit."""
    assert repr(gw.value_and_grad(f)(*args)[0]) == repr(f(*args))


WRONG = {
    "one is missing": lambda x: doubled(),
    "one too many": lambda x: doubled(x, x),
    "twice the same": lambda x: doubled(x, t=x),
    "an unknown name": lambda x: doubled(u=x),
    "a keyword is missing": lambda x: mixed(x),
}


@pytest.mark.parametrize("f", WRONG.values(), ids=WRONG)
def test_wrong_arguments_raise_as_in_python(f: Program) -> None:
    with pytest.raises(TypeError) as wanted:
        f(2.0)
    with pytest.raises(TypeError) as raised:
        gw.grad(f)(2.0)
    assert str(raised.value) == str(wanted.value)


def test_an_attempt_leaves_nothing_behind(capsys: Any) -> None:
    """A function is written out until it is found to call itself."""

    def down(t: float, n: int) -> float:
        print(n)
        if n == 0:
            return t
        return t * down(t, n - 1)

    def f(x: float) -> float:
        return down(x, 2)

    assert gw.grad(f)(2.0) == 12.0
    assert capsys.readouterr().out == "2\n1\n0\n"


def test_a_default_is_read_at_each_call() -> None:
    def scaled(t, by=3.0):
        return t * by

    g = gw.grad(lambda x: scaled(x))
    assert g(2.0) == 3.0
    scaled.__defaults__ = (5.0,)
    assert g(2.0) == 5.0


def test_what_has_no_rule_is_refused() -> None:
    with pytest.raises(gw.MissingRule, match="there is no rule for"):
        core(lambda x: np.polyfit(x, x, 1), (np.ones(3),))
