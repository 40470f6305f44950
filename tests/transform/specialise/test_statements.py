"""Statements: which names become cells, which loops stay, what is written out."""

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
from gradwright.transform.specialise import specialise
from gradwright.transform.specialise.frame import type_of_input

Program = Callable[..., Any]
PROGRAMS: list[tuple[Program, tuple[Any, ...], str]] = []
XS = np.array([1.0, 2.0])


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
    called, header, body = text.rpartition(f"def {f.__name__}(")
    return called + textwrap.dedent(body.partition("\n")[2]) if header else text


# ---- names ---------------------------------------------------------------------------


@becomes(
    2.0,
    3,
    core="""
    s = named 0.0
    cell s_1
    store s_1, s
    for k in range(0, n, 1):
        add s_1, x
        product = multiply x, k
        difference = negative product
        add s_1, difference
    s_2 = load s_1
    return s_2
    """,
)
def sums_are_added_in_place(x, n):
    s = 0.0
    for k in range(n):
        s = s + x
        s -= x * k
    return s


@becomes(
    2.0,
    3,
    core="""
    cell s
    store s, 0.0
    for k in range(0, n, 1):
        product = multiply x, k
        add s, product
    s_1 = load s
    return s_1
    """,
)
def an_int_becomes_a_float(x, n):
    s = 0
    for k in range(n):
        s = s + x * k
    return s


@becomes(
    2.0,
    core="""
    cell best
    store best, None
    while:
        best_1 = load best
        best_is_same = is_ best_1, None
        cell either
        if best_is_same:
            store either, best_is_same
        else:
            best_is_below = lt best_1, x
            store either, best_is_below
        either_1 = load either
    test either_1:
        store best, x
    best_2 = load best
    return best_2
    """,
)
def none_becomes_an_optional_float(x):
    best = None
    while best is None or best < x:
        best = x
    return best


@becomes(
    2.0,
    3,
    core="""
    cell s
    store s, x
    for k in range(0, n, 1):
        s_1 = load s
        t = multiply s_1, k
        store s, t
    s_2 = load s
    return s_2
    """,
)
def a_temporary_is_no_cell(x, n):
    s = x
    for k in range(n):
        t = s * k
        s = t
    return s


@becomes(
    2.0,
    3,
    core="""
    cell k
    store k, 7
    for k_1 in range(0, n, 1):
        store k, k_1
    k_2 = load k
    product = multiply x, k_2
    return product
    """,
)
def a_loop_variable_that_is_read_after_it(x, n):
    k = 7
    for k in range(n):
        pass
    return x * k


@becomes(
    2.0,
    3,
    core="""
    cell p_0
    cell p_1
    store p_0, x
    store p_1, 1.0
    for k in range(0, n, 1):
        p_0_1 = load p_0
        p_1_1 = load p_1
        product = multiply p_0_1, k
        store p_0, p_1_1
        store p_1, product
    p_0_2 = load p_0
    p_1_2 = load p_1
    return p_0_2
    """,
)
def a_pair_is_two_cells(x, n):
    p = (x, 1.0)
    for k in range(n):
        p = (p[1], p[0] * k)
    return p[0]


# ---- branches ------------------------------------------------------------------------


@becomes(
    2.0,
    core="""
    return x
    """,
)
def a_branch_that_is_known(x):
    if isinstance(x, float):
        y = x
    else:
        y = "never"
    return y


@becomes(
    2.0,
    core="""
    x_is_above = gt x, 1.0
    cell y
    if x_is_above:
        store y, x
    else:
        store y, 2.0
    y_1 = load y
    return y_1
    """,
)
def two_types_join(x):
    if x > 1.0:
        y = x
    else:
        y = 2
    return y


@becomes(
    2.0,
    core="""
    y = multiply x, x
    x_is_above = gt x, 1.0
    cell y_1
    store y_1, y
    if x_is_above:
        store y_1, x
    y_2 = load y_1
    return y_2
    """,
)
def one_branch_keeps_what_was(x):
    y = x * x
    if x > 1.0:
        y = x
    return y


# ---- loops ---------------------------------------------------------------------------


@becomes(
    XS,
    core="""
    s = named 0.0
    cell s_1
    store s_1, s
    for i in range(0, xs.shape[0], 1):
        x = load xs[i]
        product = multiply x, i + 1
        add s_1, product
    s_2 = load s_1
    return s_2
    """,
)
def a_count_from_one(xs):
    s = 0.0
    for k, x in enumerate(xs, 1):
        s += x * k
    return s


@becomes(
    XS,
    XS,
    core="""
    s = named 0.0
    smaller = smaller xs.shape[0], ys.shape[0]
    cell s_1
    store s_1, s
    for i in range(0, smaller, 1):
        x = load xs[i]
        y = load ys[i]
        product = multiply x, y
        add s_1, product
    s_2 = load s_1
    return s_2
    """,
)
def a_zip_ends_with_its_shortest(xs, ys):
    s = 0.0
    for x, y in zip(xs, ys):
        s += x * y
    return s


@becomes(
    2.0,
    3,
    core="""
    cell s
    store s, x
    for k in reversed(range(1, n, 1)):
        s_1 = load s
        product = multiply s_1, k
        store s, product
    s_2 = load s
    return s_2
    """,
)
def a_reversed_range(x, n):
    s = x
    for k in reversed(range(1, n)):
        s = s * k
    return s


@becomes(
    2.0,
    3,
    core="""
    smaller = smaller n, n - 2
    cell s
    store s, x
    for i in range(0, smaller, 1):
        s_1 = load s
        product = multiply s_1, i + 2
        total = add product, i
        store s, total
    s_2 = load s
    return s_2
    """,
)
def a_range_in_a_zip(x, n):
    s = x
    for i, k in zip(range(n), range(2, n)):
        s = s * k + i
    return s


@becomes(
    2.0,
    core="""
    w = named 1.0
    s = multiply x, w
    w_1 = named 2.0
    s_1 = multiply s, w_1
    return s_1
    """,
)
def a_loop_over_a_tuple(x):
    s = x
    for w in (1.0, 2.0):
        s = s * w
    return s


@becomes(
    2.0,
    core="""
    w = named 1.0
    x_is_above = gt x, 3.0
    cell stopped
    cell s
    store stopped, False
    store s, x
    if x_is_above:
        store stopped, True
    else:
        s_1 = load s
        product = multiply s_1, w
        store s, product
    stopped_1 = load stopped
    otherwise = not_ stopped_1
    if otherwise:
        w_1 = named 2.0
        s_2 = load s
        s_is_above = gt s_2, 3.0
        if s_is_above:
        else:
            product_1 = multiply s_2, w_1
            store s, product_1
    s_3 = load s
    return s_3
    """,
)
def a_break_in_a_loop_over_a_tuple(x):
    s = x
    for w in (1.0, 2.0):
        if s > 3.0:
            break
        s = s * w
    return s


@becomes(
    2.0,
    core="""
    s = subtract x, x
    s_1 = subtract s, 1.0
    return s_1
    """,
)
def an_index_into_a_tuple(x):
    w = (1.0, x)
    s = x
    for k in reversed(range(2)):
        s = s - w[k]
    return s


# ---- effects -------------------------------------------------------------------------


@becomes(
    2.0,
    core="""
    x_is_positive = gt x, 0.0
    assert x_is_positive
    x_is_above = gt x, 9.0
    if x_is_above:
        raise ValueError x
    effect print x
    return x
    """,
)
def checks(x):
    assert x > 0.0, f"not {x}"
    if x > 9.0:
        raise ValueError(x)
    print(x)
    return x


@becomes(
    2.0,
    core="""
    return x
    """,
)
def an_assertion_that_is_known(x):
    assert 2 > 1
    return x


IDS = [f.__name__ for f, _, _ in PROGRAMS]


@pytest.mark.parametrize(("f", "args", "text"), PROGRAMS, ids=IDS)
def test_core(f: Program, args: tuple[Any, ...], text: str) -> None:
    assert core(f, args) == textwrap.dedent(text).strip()


# ---- what it means -------------------------------------------------------------------


def a_reversed_part_of_a_zip(xs, n):
    s = 0.0
    for x, k in zip(reversed(xs), range(1, n)):
        s = s * 2.0 + x * k
    return s


def reversed_pairs(x):
    s = x
    for k, w in reversed(((1, 2.0), (2, 5.0))):
        s = s * k + w
    return s


def a_break_that_ends_a_written_out_loop(x):
    s = 0.0
    for k, w in enumerate((1.0, 4.0, 2.0), 1):
        if w * x > 3.0:
            break
        s = s + w * x * k
    return s


def a_range_down_by_two(x, n):
    s = x
    for k in range(n, -n, -2):
        s = s * x - k
    return s


def a_zip_of_three(xs, ys, n):
    s = 0.0
    for x, (y, k) in zip(xs, zip(ys, range(n))):
        s += x * y * k
    return s


def a_while_that_never_runs(x):
    y = x
    while False:
        y = y * y
    return y


def a_branch_that_binds_what_the_other_reads(x):
    a = x
    if x > 1.0:
        a = x * 3.0
        y = a * 2.0
    else:
        y = a
    return y


def a_cell_that_goes_on(x, n):
    if x > 1.0:
        y = x
    else:
        y = 2.0
    z = y
    for _ in range(n):
        y = y * x
    return y + z


def a_name_that_only_the_condition_reads(x):
    s, bound = x, 1.0
    while bound < 9.0:
        s = s * x
        bound = s + 1.0
        if s > 99.0:
            break
    return s


def a_name_read_and_then_bound_by_a_walrus(x, n):
    s, t = 0.0, 1.0
    for k in range(n):
        s = s + t + (t := x * k)
    return s


VALUES = [
    (a_while_that_never_runs, (2.0,)),
    (a_reversed_part_of_a_zip, (np.array([1.0, 2.0, 4.0]), 3)),
    (a_branch_that_binds_what_the_other_reads, (0.5,)),
    (a_branch_that_binds_what_the_other_reads, (2.0,)),
    (a_cell_that_goes_on, (3.0, 2)),
    (a_name_that_only_the_condition_reads, (2.0,)),
    (a_name_read_and_then_bound_by_a_walrus, (3.0, 3)),
    (reversed_pairs, (3.0,)),
    (a_break_that_ends_a_written_out_loop, (1.0,)),
    (a_range_down_by_two, (1.5, 3)),
    (a_zip_of_three, (np.array([1.0, 2.0, 4.0]), np.array([3.0, 5.0]), 4)),
    (a_zip_of_three, (np.array([1.0, 2.0, 4.0]), np.array([3.0, 5.0]), 1)),
]


@pytest.mark.parametrize(("f", "args"), VALUES, ids=[f.__name__ for f, _ in VALUES])
def test_value(f: Program, args: tuple[Any, ...]) -> None:
    """What the function itself gives, bit for bit."""
    assert repr(gw.value_and_grad(f)(*args)[0]) == repr(f(*args))


def test_two_types_that_do_not_join() -> None:
    def f(x):
        y = x
        if x > 1.0:
            y = "much"
        return y

    with pytest.raises(
        UnsupportedSyntax, match=r"'y' is .* on one path and .* on another"
    ):
        core(f, (2.0,))


def test_a_long_loop_is_not_written_out() -> None:
    def f(x):
        w = (x, 1.0)
        for k in range(300):
            x = x + w[k]
        return x

    with pytest.raises(UnsupportedSyntax, match="300 trips would be written out"):
        core(f, (2.0,))
