"""What a name holds where: paths that part and meet, and clashes that nobody reads."""

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright.transform.errors import UnsupportedSyntax

Program = Callable[..., Any]


def two_lambdas_unread(x, wanted):
    if x > 1.0:
        law = lambda t: t * t  # noqa: E731
    else:
        law = lambda t: 3.0 * t  # noqa: E731
    if wanted is not None:
        return law(x)
    return x * x


def read_on_their_own_paths(x, wanted):
    if x > 1.0:
        law = math.sin
        y = law(x)
        law = math.tanh
    else:
        law = math.tanh
        y = x
    return law(x) * y


def replaced_before_it_is_read(x, wanted):
    if x > 0.0:
        if x > 1.0:
            law = math.sin
        else:
            law = math.cos
        law = math.tanh
    else:
        law = math.tanh
    return law(x)


def kept_where_the_other_path_replaces(x, wanted):
    law, y = math.sin, x
    for k in range(3):
        if k > 1:
            before = law
            law = math.cos
            y = y * law(x) + before(y)
            law = math.sin
        else:
            y = y + law(x)
    return y


def read_on_the_path_that_keeps_it(x, wanted):
    law = math.sin
    if x > 1.0:
        law = math.cos
        y = law(x)
    else:
        y = law(x)
    if wanted is not None:
        y = law(y)
    return y


def a_tuple_or_a_number(x, wanted):
    if x > 1.0:
        y = (x, x)
    else:
        y = x
    if wanted is not None:
        return y
    return 2.0 * x


def a_vector_or_a_matrix(x, wanted):
    if x > 1.0:
        y = np.array([x, 1.0])
    else:
        y = np.array([[x]])
    if wanted is not None:
        return np.sum(y)
    return 2.0 * x


def items_that_clash_and_one_that_does_not(x, wanted):
    for _ in range(2):
        pair = (math.sin, x)
        if x > 1.0:
            pair = (math.cos, x)
        pair = (math.tanh, x * x)
        x = pair[0](pair[1])
    return x


def a_number_after_a_function(x, wanted):
    total = x
    for k in range(3):
        part = math.sin
        if k > 0:
            part = math.cos
        part = x * k
        total = total + part
    return total * part


def a_function_of_the_trip_before(x, wanted):
    total = x
    for k in range(3):
        if k > 0:
            total = total * law(x) + pair[0](pair[1])  # noqa: F821
        law = math.sin  # noqa: F841
        pair = (math.cos, x * k)  # noqa: F841
    return total


def a_function_with_a_default_made_in_each_trip(x, wanted):
    total = x
    for _ in range(2):
        for _ in range(2):

            def law(t, rate=0.5):
                return math.sin(rate * t)

        total = total + law(total)
    return total + law(x)


def an_assignment_inside_an_expression(x, wanted):
    total = x
    for k in range(3):
        law = math.sin
        total = total + (law(x) if k > 1 else (law := math.cos)(total))
        law = math.tanh
    return total * law(x)


RIGHT: list[Program] = [
    two_lambdas_unread,
    read_on_their_own_paths,
    replaced_before_it_is_read,
    kept_where_the_other_path_replaces,
    read_on_the_path_that_keeps_it,
    a_tuple_or_a_number,
    a_vector_or_a_matrix,
    items_that_clash_and_one_that_does_not,
    a_number_after_a_function,
    a_function_of_the_trip_before,
    a_function_with_a_default_made_in_each_trip,
    an_assignment_inside_an_expression,
]


@pytest.mark.parametrize("x", [0.5, 1.5])
@pytest.mark.parametrize("f", RIGHT, ids=[f.__name__ for f in RIGHT])
def test_a_clash_that_nobody_reads(f: Program, x: float) -> None:
    value, gradient = gw.value_and_grad(f)(x, None)
    assert value == f(x, None)
    step = 1e-6
    difference = (f(x + step, None) - f(x - step, None)) / (2.0 * step)
    assert gradient == pytest.approx(difference, rel=1e-7)


def two_functions(x, n):
    if x > 1.0:
        law = math.sin
    else:
        law = math.cos
    y = x
    return y * law(x)


def the_next_trip(x, n):
    law, y = math.sin, x
    for _ in range(n):
        y = y + law(x)
        law = math.cos
    return y


def behind_a_break(x, n):
    y = x
    for _ in range(n):
        law = math.sin
        if y > 3.0:
            law = math.cos
            break
        law = math.sin
        y = y * 2.0
    return y * law(x)


def by_a_nested_function(x, n):
    if x > 1.0:
        law = math.sin
    else:
        law = math.cos
    return (lambda t: law(t))(x)


def a_path_that_leaves_it(x, n):
    y = (x, x)
    if x > 1.0:
        y = x
        y = y * 2.0
    return y


REFUSED: list[tuple[Program, int, str]] = [
    (two_functions, 6, r"sin on one path \(line 2\) and .* cos on another \(line 4\)"),
    (the_next_trip, 3, r"sin on one path and .* cos on another \(line 4\)"),
    (behind_a_break, 9, r"cos on one path \(line 5\) and .* sin on another \(line 7\)"),
    (by_a_nested_function, 5, r"'law' is .* sin on one path"),
    (a_path_that_leaves_it, 5, r"a tuple of 2 on one path and .* float on another"),
]


@pytest.mark.parametrize(
    ("f", "line", "text"), REFUSED, ids=[f.__name__ for f, *_ in REFUSED]
)
def test_the_read_of_a_clash(f: Program, line: int, text: str) -> None:
    first = f.__code__.co_firstlineno
    with pytest.raises(UnsupportedSyntax) as raised:
        gw.grad(f)(1.5, 3)
    assert raised.value.location is not None
    assert raised.value.location.line == first + line
    message = re.sub(
        r"\(line (\d+)\)", lambda m: f"(line {int(m[1]) - first})", str(raised.value)
    )
    assert re.search(text, message), message
