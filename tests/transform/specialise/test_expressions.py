"""Expressions: what is known stays known; only what Python evaluates is written."""

import inspect
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright.transform import source
from gradwright.transform.errors import UnsupportedSyntax
from gradwright.transform.notation import notation
from gradwright.transform.specialise import NeedsValue, specialise
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


# ---- truth ---------------------------------------------------------------------------


@becomes(
    2.0,
    core="""
    x_is_above = gt x, 1.0
    cell both
    if x_is_above:
        quotient = divide x, 2.0
        is_above = gt quotient, 3.0
        store both, is_above
    else:
        store both, x_is_above
    both_1 = load both
    return both_1
    """,
)
def both_sides_or_the_first(x):
    return x > 1.0 and x / 2.0 > 3.0


@becomes(
    2.0,
    core="""
    cell either
    if x:
        store either, x
    else:
        store either, 1.0
    either_1 = load either
    return either_1
    """,
)
def the_first_that_is_true(x):
    return x or 1.0


@becomes(
    2.0,
    3.0,
    core="""
    product = multiply x, y
    is_below = lt 0.0, product
    cell both
    if is_below:
        is_below_1 = lt product, 3.0
        store both, is_below_1
    else:
        store both, is_below
    both_1 = load both
    return both_1
    """,
)
def a_chain_evaluates_its_middle_once(x, y):
    return 0.0 < x * y < 3.0


@becomes(
    2.0,
    core="""
    x_is_positive = gt x, 0.0
    cell chosen
    if x_is_positive:
        product = multiply x, x
        store chosen, product
    else:
        store chosen, 1.0
    chosen_1 = load chosen
    return chosen_1
    """,
)
def a_choice(x):
    return x * x if x > 0.0 else 1


@becomes(
    2.0,
    core="""
    product = multiply x, 6
    return product
    """,
)
def what_is_known(x):
    return x * (2 * 3) if 2 in (1, 2) and not None else 0.0


@becomes(
    2.0,
    core="""
    return x
    """,
)
def a_conjunction_that_is_known(x):
    return x * 2.0 if 2 > 1 and 1 > 2 else x


@becomes(
    2.0,
    3,
    core="""
    product = multiply x, n
    return product
    """,
)
def integers_are_linear(x, n):
    return x * (2 * (n + 1) - n - 2)


@becomes(
    2.0,
    3,
    core="""
    return x
    """,
)
def a_difference_that_is_known(x, n):
    return x if n + 1 > n else 0.0


@becomes(
    2.0,
    core="""
    x_is_positive = gt x, 0.0
    cell chosen
    if x_is_positive:
        store chosen, 1.0
    else:
        store chosen, 2.0
    b = load chosen
    product = multiply x, b
    return product
    """,
)
def a_choice_of_tuples(x):
    a, b = (x, 1.0) if x > 0.0 else (x, 2.0)
    return a * b


@becomes(
    2.0,
    core="""
    x_is_positive = gt x, 0.0
    if x_is_positive:
    else:
        raise IndexError 'tuple index out of range'
    return x
    """,
)
def a_branch_that_only_raises(x):
    return x if x > 0.0 else (1.0, x)[2]


# ---- names and parts -----------------------------------------------------------------


@becomes(
    2.0,
    core="""
    y = multiply x, x
    total = add y, y
    return total
    """,
)
def a_walrus(x):
    return (y := x * x) + y


@becomes(
    2.0,
    core="""
    product = multiply 1.0, x
    product_1 = multiply product, 4
    return product_1
    """,
)
def parts_of_a_tuple(x):
    a = (x, 1.0, 2.0, x)
    b = a[1:3] + a[-1:]
    return b[0] * b[-1] * len(a)


@becomes(
    2.0,
    core="""
    product = multiply 1, x
    product_1 = multiply 3, x
    total = add product, product_1
    return total
    """,
)
def a_comprehension_over_a_tuple(x):
    a = [k * x for k in (1, 2, 3) if k != 2]
    return a[0] + a[1]


@becomes(
    np.ones((2, 3)),
    1,
    core="""
    a_item = load a[k, 0]
    a_item_1 = load a[-1]
    a_item_1 = load a_item_1[1]
    total = add a_item, a_item_1
    a_item_2 = load a[..., None]
    total_1 = add total, a.shape[1]
    return total_1
    """,
)
def parts_of_an_array(a, k):
    return a[k, 0] + a[-1][1] + a[..., None].shape[-1] * a.shape[1]


@becomes(
    2.0 + 1.0j,
    core="""
    real = real z
    imag = imag z
    product = multiply real, imag
    return product
    """,
)
def attributes_of_a_number(z):
    return z.real * z.imag


IDS = [f.__name__ for f, _, _ in PROGRAMS]


@pytest.mark.parametrize(("f", "args", "text"), PROGRAMS, ids=IDS)
def test_core(f: Program, args: tuple[Any, ...], text: str) -> None:
    assert core(f, args) == textwrap.dedent(text).strip()


def sum_by_index(x, k):
    return (x, 2.0 * x, 5.0 * x)[k]


def test_an_index_into_a_tuple_must_be_known() -> None:
    """Found on demand: the parameter is then static, and called so by the entry."""
    with pytest.raises(NeedsValue) as raised:
        core(sum_by_index, (2.0, 1))
    assert raised.value.parameter == "k"
    assert [gw.grad(sum_by_index)(2.0, k) for k in (0, 1, 2, -1)] == [
        1.0,
        2.0,
        5.0,
        5.0,
    ]


def among(x, n):
    a = x if n in (1, 3) else 2.0
    return a * (x if n not in (2, 3) else 5.0)


@pytest.mark.parametrize("n", range(5))
def test_membership_at_run_time(n: int) -> None:
    assert gw.value_and_grad(among)(7.0, n)[0] == among(7.0, n)


REFUSED = [
    (lambda x: x if x > 0.0 else "none", "depending on the condition"),
    (lambda x: (x > 0.0 and (y := x) > 1.0) + 0.0 * y, "':=' where it may not"),
    (lambda x: x * 2.0 if np.array([x, x]) else x, "truth value of an array"),
    (lambda x: x is x, "'is' between numbers"),
    (lambda x: "a" + x, "turned into text"),
    (lambda x: (x, x) * (x, x), "of a tuple of 2 and a tuple of 2"),
]


@pytest.mark.parametrize(("f", "message"), REFUSED, ids=[m for _, m in REFUSED])
def test_refused(f: Program, message: str) -> None:
    with pytest.raises(UnsupportedSyntax, match=message):
        core(f, (2.0,))
