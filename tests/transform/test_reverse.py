"""Reverse mode: what goes on tapes, what is done again, and what comes back.

Every number is a binary fraction, so that a gradient is exact in any order of sums.
"""

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from written import written

import gradwright as gw
from gradwright.transform import source
from gradwright.transform.activity import carries
from gradwright.transform.core import (
    Break,
    Call,
    Cell,
    For,
    Function,
    If,
    Pop,
    Push,
    Statement,
    Store,
    While,
    blocks,
    type_of,
    walk,
)
from gradwright.transform.core import program as functions
from gradwright.transform.notation import notation
from gradwright.transform.reverse import gradient
from gradwright.transform.scopes import settle
from gradwright.transform.simplify import simplify
from gradwright.transform.specialise import specialise
from gradwright.transform.specialise.frame import type_of_input

Program = Callable[..., Any]
PROGRAMS: list[tuple[Program, tuple[Any, ...], Any, str | None]] = []


def program(*args: Any, gives: Any, does: str | None = None) -> Any:
    """A program, where its gradient is taken, what that is, and how it is found.

    gives: one gradient for each argument that has any.  does: loops, branches, tapes
    and calls of the functions that the derivative consists of, callees first; `back` is
    a loop that runs backwards.
    """

    def enter(f: Program) -> Program:
        PROGRAMS.append((f, args, gives, does))
        return f

    return enter


def inexact(args: tuple[Any, ...]) -> tuple[int, ...]:
    kinds = (float, complex, np.inexact, np.ndarray)
    return tuple(k for k, a in enumerate(args) if isinstance(a, kinds))


def specialised(f: Program, args: tuple[Any, ...]) -> Function:
    types = map(type_of_input, args)
    known = dict(zip(inspect.signature(f).parameters, types, strict=True))
    return specialise(source.read(f), known).function


def sketch(block: list[Statement]) -> str:
    words = []
    for s in block:
        inner = "|".join(map(sketch, blocks(s)))
        match s:
            case For():
                words.append(f"{'back' if s.backwards else 'for'}({inner})")
            case While():
                words.append(f"while({inner.lstrip('|')})")
            case If():
                words.append(f"if({inner})")
            case Push() | Pop():
                word, name = type(s).__name__.lower(), s.tape.name
                words.append(f"{word} {name.removesuffix('_tape')}")
            case Break():
                words.append("break")
            case Call():
                words.append(s.function.name)
    return " ".join(words)


# ---- nothing is saved ----------------------------------------------------------------


@program(3.0, 2.0, 4, gives=(32.0, 48.0), does="for() back()")
def a_linear_loop(x, w, n):
    s = x
    for _ in range(n):
        s = s * 2.0
    return s * w


@program(2.0, 3, gives=(3.0,), does="for()")
def an_affine_sum(x, n):
    s = 0.0
    for k in range(n):
        s += x * k
    return s


@program(
    np.array([1.0, 2.0]),
    np.array([3.0, 5.0]),
    gives=(np.array([3.0, 5.0]), np.array([1.0, 2.0])),
    does="for()",
)
def a_sum_of_products(xs, ys):
    s = 0.0
    for x, y in zip(xs, ys):
        s += x * y
    return s


@program(np.array([1.0, 2.0]), gives=(np.array([3.0, 12.0]),), does="for()")
def independent_trips(xs):
    s = 0.0
    for x in xs:
        t = x * x
        s += t * x
    return s


@program(1.5, 3, gives=(6.75,), does="if(|) if(|)")
def a_condition_asked_again(x, n):
    if n > 2:
        y = x * x
    else:
        y = x * 3.0
    return y * x


@program(2.0, 3.0, gives=(108.0, 48.0), does="")
def names_bound_again(x, y):
    a = x * y
    x = a * x
    a = x * a
    return a


@program(2.0, 3, 2, gives=(36.0,), does="for(for(push t) back(pop t))")
def an_inner_tape_of_independent_trips(x, n, m):
    s = 0.0
    for i in range(n):
        t = x
        for _ in range(m):
            t = t * x
        s += t * i
    return s


@program(3.0, 5.0, 2.0, gives=(-3.0, -3.0, 3.0))
def a_difference_of_products(x, y, z):
    a = x * z
    b = x * y
    return a - b


@program(2.0, 3.0, gives=(16.0, 2.0))
def terms_of_both_signs(x, q):
    a = 3.0 * (x * q)
    b = 2.0 * (x * q)
    c = x * 13.0
    return c - b + a


# ---- what is saved -------------------------------------------------------------------


@program(2.0, 3, gives=(12.0,), does="for(push y) back(pop y)")
def a_product(x, n):
    y = 1.0
    for _ in range(n):
        y = y * x
    return y


@program(0.0, 4.0, 3, gives=(64.0, 0.0), does="for(push y) back(pop y)")
def one_tape_for_what_is_needed_twice(x, w, n):
    y = x
    for _ in range(n):
        y = math.tanh(w * y)
    return y


@program(2.0, 3, gives=(32.0,), does="for(push b) back(pop b)")
def two_that_change_places(x, n):
    a = x
    b = 1.0
    for _ in range(n):
        a, b = b * x, a
    return a * b


@program(1.5, 3, gives=(3.375,), does="for(if(|push y)) back(if(|pop y))")
def only_the_branch_that_needs_it(x, n):
    y = x
    for k in range(n):
        if k == 1:
            y = y * 0.5
        else:
            y = y * x
    return y


@program(1.5, 3, gives=(6.75,), does="for(push y if(|)) back(pop y if(|))")
def a_condition_on_what_changes(x, n):
    y = x
    for _ in range(n):
        if y > 3.0:
            y = y * 0.5
        else:
            y = y * y
    return y


@program(2.0, 3, gives=(116.0,))
def what_the_next_trip_overwrites(x, n):
    y = x
    s = 0.0
    for _ in range(n):
        y = y + x
        s = s + y * y
    return s


@program(2.0, 3, 2, gives=(64.0,), does="for(for(push t)) back(back(pop t))")
def nested_loops(x, n, m):
    t = x
    for _ in range(n):
        for _ in range(m):
            t = t * t * 0.5
    return t


@program(2.0, 3, gives=(1024.0,))
def a_name_set_again_in_each_trip(x, n):
    s = x
    for k in range(n):
        t = x
        if k > 0:
            t = s
        s = s * t
    return s


@program(3.0, 2.0, gives=(18.0, 9.0))
def a_cell_read_before_and_after_its_store(x, y):
    a = x
    if x > 1.0:
        b = a * a
        a = b * y
    else:
        b = y
    return a + b


@program(2.0, 4, gives=(8.0,))
def a_sum_that_is_cleared(x, n):
    s = 0.0
    for k in range(n):
        if k == 2:
            s = 0.0
        s = s + x * x
    return s


@program(2.0, 3, gives=(27.0,))
def trips_that_read_the_sum(x, n):
    s = 1.0
    for _ in range(n):
        s += s * x
    return s


@program(2.0, 3, gives=(4.0,))
def trips_that_add_the_sum(x, n):
    s = 1.0
    t = 0.0
    for k in range(n):
        s += k * x
        t += s
    return t


@program(2.0, 3, gives=(61.0,))
def a_sum_read_between_its_additions(x, n):
    s = x
    t = x
    for _ in range(n):
        u = s * x
        s += x
        t = t + s * x + u
    return t


# ---- loops that end early ------------------------------------------------------------


@program(1.5, 5.0, gives=(13.5, 0.0), does="for(push y if(break|)) back(pop y)")
def a_break_at_the_end(x, limit):
    y = x
    for _ in range(10):
        y = y * x
        if y > limit:
            break
    return y


@program(1.5, 3.0, gives=(6.75, 0.0))
def a_break_before_the_step(x, limit):
    y = x
    for _ in range(10):
        if y > limit:
            break
        y = y * x
    return y


@program(2.0, 6.5, gives=(1171.0, 0.0))
def a_break_in_a_range_with_a_step(x, limit):
    y = x
    for k in range(9, -9, -2):
        y = y * (x + k)
        if k < limit:
            break
    return y


@program(0.5, 2.0, gives=(19.0, 4.5))
def a_break_counts_what_ran(x, w):
    y = x
    for k in range(1, 20, 2):
        if k > 5:
            break
        y = y + w * k * x
    return y


@program(1.5, 5, gives=(6.75,), does="for(if(push y|)) back(if(pop y|))")
def a_continue(x, n):
    y = x
    for k in range(n):
        if k % 2 == 0:
            continue
        y = y * x
    return y


@program(1.5, 4.0, gives=(13.5, 0.0))
def an_early_return(x, limit):
    y = x
    for _ in range(10):
        y = y * x
        if y > limit - 1.0:
            return y * x
    return x


@program(1.5, 4.0, gives=(13.5, 0.0), does="while(push y) for(pop y)")
def trips_of_a_while(x, limit):
    y = x
    while y < limit:
        y = y * y
    return y


@program(1.5, 10.0, gives=(30.0, 0.0))
def a_while_that_only_breaks(x, limit):
    y = x
    while True:
        y = y * y
        if y > limit:
            break
        y = y + x
    return y


@program(2.0, 3, gives=(48.0,))
def a_break_in_an_inner_loop(x, n):
    s = 0.0
    for i in range(n):
        t = x
        for j in range(5):
            if j > i:
                break
            t = t * x
        s = s + t
    return s


# ---- calls ---------------------------------------------------------------------------


def power(t, n):
    y = t
    for _ in range(n):
        y = y * t
    return y


@program(
    1.0,
    2,
    gives=(48.0,),
    does="for(push y); back(pop y); "
    "power_forward power_forward power_backward power_backward",
)
def two_calls(x, n):
    return power(x, n) * power(2.0 * x, n)


@program(1.5, 2, gives=(230.66015625,))
def a_call_in_a_loop(x, n):
    y = x
    for _ in range(n):
        y = power(y, 2)
    return y


def tripled(t, n):
    s = 0.0
    for _ in range(n):
        s = s + 3.0 * t
    return s


@program(2.0, 2, gives=(24.0,), does=None)
def a_call_without_residuals(x, n):
    return tripled(x, n) * x


def factorial(t, n):
    if n == 0:
        return t
    return t * factorial(t, n - 1)


@program(
    2.0,
    3,
    gives=(32.0,),
    does="if(|factorial_forward) push tape; pop tape if(|factorial_backward); "
    "factorial_forward factorial_backward",
)
def a_recursion(x, n):
    return factorial(x, n)


@program(2.0, gives=(80.0,))
def two_recursions_on_one_tape(x):
    return factorial(x, 2) * factorial(x, 1)


def branching(t, n):
    if n < 2:
        return t * t
    left = branching(t, n - 1)
    return left * t + branching(0.5 * t, n - 2) * left


@program(2.0, 3, gives=(84.0,))
def a_recursion_with_two_calls(x, n):
    return branching(x, n)


def pair(t, u):
    s = t
    for _ in range(2):
        s = s * u
    return s, t * u


@program(2.0, 3.0, gives=(33.0, 21.0))
def a_call_with_two_results(x, y):
    a, b = pair(x, y)
    c, _ = pair(x, 2.0)
    return a + b * c * 0.5 + y


# ---- kinds of cotangents -------------------------------------------------------------


@program(np.float64(2.0), 3, gives=(np.float64(12.0),))
def of_a_numpy_number(x, n):
    y = 1.0
    for _ in range(n):
        y = y * x
    return y


@program(2.0, np.array([1.0, 3.0]), gives=(16.0, np.array([4.0, 4.0])))
def of_a_float_beside_an_array(x, xs):
    return np.sum(x * x * xs)


@program(2.0, np.array([1.0, 3.0]), gives=(48.0, np.array([8.0, 8.0])))
def of_a_cell_beside_an_array(x, xs):
    s = 1.0
    for _ in range(2):
        s = s * x
    return np.sum(s * xs) * x


@program(3.0, gives=(8.0,))
def the_real_part_of_a_complex_chain(x):
    z = x * (1.0 + 2.0j)
    return (z * (2.0 - 3.0j)).real


@program(2.0, gives=(-1.0,))
def the_real_part_on_the_way(x):
    y = (x * (1.0 + 2.0j)).real
    return (y * (2.0 - 3.0j) * (1.0 + 1.0j)).imag


@program(1.0 + 2.0j, gives=(2.0 - 4.0j,))
def the_conjugate_convention(z):
    return z.real * z.real + z.imag * z.imag


@program(2.0, gives=(-3.0,))
def the_imaginary_part(x):
    return ((0.5 + x) * (2.0 - 3.0j)).imag


@program(3, 2.0, gives=(0.0,))
def what_does_not_depend(n, x):
    return n * 2.0


@program(2.0, 3.0, gives=(1.0, 0.0))
def the_argument_itself(x, y):
    return x


# ---- arrays --------------------------------------------------------------------------

ROW, COLUMN = np.array([[1.0, 2.0, 4.0]]), np.array([[0.5], [3.0]])


@program(ROW, COLUMN, gives=(np.array([[3.5, 3.5, 3.5]]), np.array([[7.0], [7.0]])))
def a_row_and_a_column(a, b):
    return np.sum(a * b)


@program(ROW[0], COLUMN, gives=(np.array([3.5, 3.5, 3.5]), np.array([[7.0], [7.0]])))
def fewer_axes(a, b):
    return np.sum(a * b)


@program(2.0, ROW, gives=(7.0, np.array([[2.0, 2.0, 2.0]])))
def a_number_and_an_array(x, a):
    return np.sum(x * a)


@program(2.0, 3.0, gives=(9.0, 5.0))
def a_display_in_order(x, y):
    a = np.array([x, y, x * y])
    return a[0] * 3.0 + a[1] + a[2] * 2.0


@program(np.array([1.0, 2.0, 3.0]), gives=(np.array([2.0, 0.0, 5.0]),))
def elements_from_both_ends(a):
    return 2.0 * a[0] + 5.0 * a[-1]


@program(np.array([1.0, 2.0, 3.0]), gives=(np.array([-1.0, 0.0, 1.0]),))
def a_difference_of_slices(a):
    return np.sum(a[1:] - a[:-1])


# ---- ties ----------------------------------------------------------------------------


@program(2.0, 2.0, gives=(0.5, 0.5))
def a_tie_is_shared(x, y):
    return np.maximum(x, y)


@program(np.array([3.0, 1.0, 3.0]), gives=(np.array([0.5, 0.0, 0.5]),))
def a_tie_of_elements(a):
    return np.max(a)


@program(0.0, gives=(0.0,))
def a_kink(x):
    return abs(x)


# ---- names that are not always bound -------------------------------------------------


@program(2.0, 4, gives=(17.0,))
def a_name_first_set_in_a_later_trip(x, n):
    s = 0.0
    for k in range(n):
        if k == 1:
            t = x
        if k > 0:
            s = s + t
            t = t * x
    return s


@program(2.0, gives=(12.0,))
def none_before_the_first(x):
    best = None
    for k in range(3):
        if best is None:
            best = x
        else:
            best = best * x
    return best


# ---- the tables ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "args", "gives"),
    [p[:3] for p in PROGRAMS],
    ids=[p[0].__name__ for p in PROGRAMS],
)
def test_gradient(f: Program, args: Any, gives: Any) -> None:
    """The very numbers, of the very kinds; the value is the function's own."""
    value, found = gw.value_and_grad(f, argnums=inexact(args))(*args)
    assert repr(found) == repr(gives)
    assert repr(value) == repr(f(*args))


SKETCHED = [p for p in PROGRAMS if p[3] is not None]


@pytest.mark.parametrize(
    ("f", "args", "does"),
    [(p[0], p[1], p[3]) for p in SKETCHED],
    ids=[p[0].__name__ for p in SKETCHED],
)
def test_what_is_done(f: Program, args: Any, does: str) -> None:
    """Loops, branches, tapes and calls of the derivative."""
    f_core = simplify(specialised(f, args))
    wrt = [p for p in f_core.params if carries(p)]
    derivative = simplify(gradient(settle(f_core), wrt, None))
    assert "; ".join(sketch(g.body) for g in functions(derivative)) == does


@pytest.mark.parametrize(
    ("f", "args"), [p[:2] for p in PROGRAMS], ids=[p[0].__name__ for p in PROGRAMS]
)
def test_kinds(f: Program, args: Any) -> None:
    """Of gradients those of the arguments; a cell of Python's holds none of NumPy's."""
    function = simplify(specialised(f, args))
    wrt = [p for p in function.params if carries(p)]
    derivative = gradient(settle(function), wrt, None)
    for p, bar in zip(wrt, derivative.results, strict=True):
        assert type_of(bar).dtype == p.type.dtype
        assert type_of(bar).python == p.type.python
    for s in walk(derivative.body):
        if isinstance(s, Store) and isinstance(s.place, Cell) and s.place.type.python:
            assert type_of(s.operand).python


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
SWEEPS = """
def f_grad(x: float, w: float, n: int):
    cell y
    store y, 1.0
    tape t
    tape y_tape
    tape y_tape_1
    for k in range(0, n, 1):
        y_1 = load y
        product = multiply y_1, x
        y_1 = load y
        push y_tape, y_1
        store y, product
        push t, product
        push t, w
        back = pop t
        y_2 = load y
        push y_tape_1, y_2
        add y, back
    end = load y
    cell y_bar
    store y_bar, 0.0
    tape t_bar
    add y_bar, 1.0
    cell x_bar
    store x_bar, 0.0
    for k_1 in reversed(range(0, n, 1)):
        y_bar_1 = load y_bar
        push t_bar, y_bar_1
        w_bar = pop t_bar
        product_bar = pop t_bar
        y_3 = pop y_tape_1
        store y, y_3
        store y_bar, 0.0
        product_bar_1 = add product_bar, y_bar_1
        y_1_bar = multiply x, product_bar_1
        y_4 = pop y_tape
        store y, y_4
        y_1_1 = load y
        product_1 = multiply product_bar_1, y_1_1
        add x_bar, product_1
        add y_bar, y_1_bar
    store y_bar, 0.0
    x_bar_1 = load x_bar
    return x_bar_1
"""


def test_the_two_sweeps() -> None:
    """A store clears its cotangent, a push pops it, a pop pushes it."""
    function = written(PRIMAL)
    assert notation(gradient(function, function.params[:1], None)) == SWEEPS.strip()


def test_a_pop_that_gets_nothing_pushes_a_zero() -> None:
    """Else the pops of the cotangents' tape would not fit its pushes."""
    function = written(
        """
        def f(x: float):
            tape t
            y = multiply x, 2.0
            push t, x
            push t, y
            a = pop t
            b = pop t
            return b
        """
    )
    derivative = gradient(function, function.params, None)
    text = notation(derivative).partition("return")[0]
    assert text.count("push t_bar") == text.count("pop t_bar") == 2
    assert "push t_bar, 1.0" in text and "push t_bar, 0.0" in text


@pytest.mark.parametrize("f", [a_product, a_recursion, a_while_that_only_breaks])
def test_the_halves_may_be_used_again(f: Program) -> None:
    """A pull empties no tape that the next one needs."""
    args = next(p[1] for p in PROGRAMS if p[0] is f)
    value, pull = gw.vjp(lambda x: f(x, *args[1:]), args[0])
    once = gw.grad(f)(*args)
    assert value == f(*args)
    assert [pull(seed) for seed in (1.0, -2.0, 1.0)] == [
        (once,),
        (-2.0 * once,),
        (once,),
    ]


def test_a_name_that_is_unbound_raises_in_its_place(capsys: Any) -> None:
    """What comes before it is done; the tape's own None is never read."""

    def f(x: float, n: int) -> float:
        s = x
        for k in range(n):
            if k > 1:
                t = s * x
            print(k)
            s = s * t
        return s

    with pytest.raises(UnboundLocalError, match="'t'"):
        gw.grad(f)(2.0, 3)
    assert capsys.readouterr().out == "0\n"


SCALE = 3.0


def test_a_captured_number_is_read_at_each_call(monkeypatch: Any) -> None:
    def f(x: float) -> float:
        y = x
        for _ in range(2):
            y = y * x * SCALE
        return y

    g = gw.grad(f)
    assert g(2.0) == 108.0
    monkeypatch.setitem(globals(), "SCALE", 1.0)
    assert g(2.0) == 12.0


def test_a_cotangent_for_every_result() -> None:
    def f(x: float, n: int) -> tuple[float, tuple[float, int]]:
        y = x
        for _ in range(n):
            y = y * x
        return x * 3.0, (y, n)

    _, pull = gw.vjp(f, 2.0, 2)
    assert pull((1.0, (0.0, None)))[0] == 3.0
    assert pull((0.0, (1.0, None)))[0] == 12.0


def rooted(x: float, n: int) -> float:
    total = 1.5
    for _ in range(n):
        if x > 0.0:
            total -= math.sin(x)
        total += math.pow(total, 0.5)
    return total


def test_a_branch_reads_a_cotangent_as_a_chosen_partial_left_it() -> None:
    slope = 1.0 + 0.5 / math.sqrt(1.5 - math.sin(0.7))
    assert gw.grad(rooted)(0.7, 1) == pytest.approx(-math.cos(0.7) * slope, rel=1e-14)
    gw.check_grads(lambda x: rooted(x, 3), (0.7,))
