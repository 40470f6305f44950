"""Scopes: a value that leaves its block gets a cell; derivatives of derivatives."""

import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from written import written

import gradwright as gw
from gradwright.transform.core import Let, Load, walk
from gradwright.transform.notation import notation
from gradwright.transform.scopes import enclose, settle

ENCLOSED = {
    "out of a branch": (
        """
        def f(x: float, c: bool):
            if c:
                y = multiply x, x
            if c:
                z = add y, 1.0
            return x
        """,
        """
        def f(x: float, c: bool):
            cell y
            if c:
                y_1 = multiply x, x
                store y, y_1
            if c:
                y_2 = load y
                z = add y_2, 1.0
            return x
        """,
    ),
    "a result": (
        """
        def f(x: float, n: int):
            for k in range(0, n, 1):
                y = multiply x, x
                z = add y, y
            return y
        """,
        """
        def f(x: float, n: int):
            cell y
            for k in range(0, n, 1):
                y_1 = multiply x, x
                store y, y_1
                z = add y_1, y_1
            y_2 = load y
            return y_2
        """,
    ),
    "no further than its last reader": (
        """
        def f(x: float, n: int, c: bool):
            for k in range(0, n, 1):
                if c:
                    y = multiply x, x
                else:
                    y_0 = multiply x, 2.0
                z = add y, 1.0
            return x
        """,
        """
        def f(x: float, n: int, c: bool):
            for k in range(0, n, 1):
                cell y
                if c:
                    y_1 = multiply x, x
                    store y, y_1
                else:
                    y_0 = multiply x, 2.0
                y_2 = load y
                z = add y_2, 1.0
            return x
        """,
    ),
    "a condition": (
        """
        def f(x: float, c: bool):
            if c:
                d = gt x, 1.0
            if c:
                if d:
                    raise ValueError x
            return x
        """,
        """
        def f(x: float, c: bool):
            cell d
            if c:
                d_1 = gt x, 1.0
                store d, d_1
            if c:
                d_2 = load d
                if d_2:
                    raise ValueError x
            return x
        """,
    ),
    "a pop": (
        """
        def f(x: float, c: bool):
            tape t
            push t, x
            if c:
                y = pop t
            return y
        """,
        """
        def f(x: float, c: bool):
            cell y
            tape t
            push t, x
            if c:
                y_1 = pop t
                store y, y_1
            y_2 = load y
            return y_2
        """,
    ),
}

UNCHANGED = {
    "read in an inner block": """
        def f(x: float, c: bool):
            y = multiply x, x
            if c:
                z = add y, 1.0
            return y
        """,
    "read in its own loop": """
        def f(x: float, n: int):
            for k in range(0, n, 1):
                y = multiply x, k
                z = add y, k
            return x
        """,
}


def spelled(text: str) -> str:
    return textwrap.dedent(text).strip()


@pytest.mark.parametrize(("before", "after"), ENCLOSED.values(), ids=ENCLOSED)
def test_enclosed(before: str, after: str) -> None:
    f = written(before)
    enclose(f)
    assert notation(f).replace("y_0_1", "y_0") == spelled(after)


@pytest.mark.parametrize("text", UNCHANGED.values(), ids=UNCHANGED)
def test_unchanged(text: str) -> None:
    f = written(text)
    enclose(f)
    assert notation(f) == spelled(text)


def test_a_derivative_settles_into_a_primal() -> None:
    """Its own statements raise nothing that the first function would not have."""
    f = settle(written(ENCLOSED["out of a branch"][0]))
    assert not any(s.adjoint for s in walk(f.body))
    made = [s for s in walk(f.body) if isinstance(s, Let | Load)]
    assert [s.safe for s in made] == [True, False, True]


# ---- derivatives of derivatives ------------------------------------------------------


def a_branch(x, n):
    if n > 1:
        y = x * x * x
    else:
        y = x
    return y * y


def a_loop(x, n):
    y = x
    for _ in range(n):
        y = y * y * 0.5
    return y


def a_while(x, n):
    y = x
    while y < 20.0:
        y = y * y
    return y


def a_break(x, n):
    y = x
    for _ in range(9):
        y = y * x
        if y > 10.0:
            break
    return y


def power(t, n):
    y = t
    for _ in range(n):
        y = y * t
    return y


def calls(x, n):
    return power(x, n) * power(x, 1)


def factorial(t, n):
    if n == 0:
        return t
    return t * factorial(t, n - 1)


def elements(x, n):
    a = np.array([x, x * x])
    return a[0] * a[1] * 2.0


SECOND = [
    (a_branch, 480.0),  # of x**6
    (a_loop, 6.0),  # of x**4 / 8
    (a_while, 3584.0),  # of x**8 where x is 2
    (a_break, 48.0),  # of x**4
    (calls, 160.0),  # of x**5
    (factorial, 12.0),  # of x**3
    (elements, 24.0),
]


@pytest.mark.parametrize(("f", "gives"), SECOND, ids=[f.__name__ for f, _ in SECOND])
def test_second_derivatives(f: Callable[..., Any], gives: float) -> None:
    """All ways to the second derivative lead to the same number."""
    g = gw.grad(f)
    assert gw.grad(g)(2.0, 2) == gives
    assert gw.jvp(lambda x: g(x, 2), (2.0,), (1.0,))[1] == gives
    forward = gw.grad(lambda x: gw.jvp(lambda y: f(y, 2), (x,), (1.0,))[1])
    assert forward(2.0) == gives


def test_third_derivative() -> None:
    assert gw.grad(gw.grad(gw.grad(a_break)))(2.0, 2) == 48.0
