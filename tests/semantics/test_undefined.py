"""Undefined names raise UnboundLocalError when and only when Python would."""

from typing import Any

import numpy as np
import pytest
from semantics.oracle import check

import gradwright as gw


def one_branch(x):
    if x > 0.0:
        result = x * x
    return result * 3.0


def several_branches(x):
    if x > 2.0:
        y = x
    elif x > 0.0:
        x = x + 1.0
    else:
        y = 2.0 * x
    return y * x


def only_in_the_loop(x, n):
    for k in range(n):
        y = x * k
    return y + x


def the_loop_variable(x, n):
    for k in range(n):
        pass
    return x * k


def the_element(xs):
    for x in xs:
        if x > 2.0:
            break
    return x * x


def found_or_not(xs):
    for x in xs:
        if x > 2.0:
            found = x * x
            break
    return found + xs[0]


def found_or_else(xs):
    for x in xs:
        if x > 2.0:
            found = x * x
            break
    else:
        found = 7.0 * xs[0]
    return found + xs[0]


def endless(x):
    while True:
        new = 0.5 * x
        if new < 1.0:
            break
        x = new
    return new * 3.0


def while_it_lasts(x):
    while x > 1.0:
        y = x
        x *= 0.5
    return y * x


def in_the_second_trip(x, n):
    s = 0.0
    for k in range(n):
        if k > 0:
            s += before * x  # noqa: F821  bound in the trip before
        if x > 0.0:
            before = s + x  # noqa: F841  read in the next trip
    return s


def read_before(x):
    y = y + x  # noqa: F821  the error is what is tested
    return y


def added_before(x):
    total += x  # noqa: F821  the error is what is tested
    return total


def under_a_flag(x, flag):
    if flag:
        y = x * x
    x = x + 1.0
    if flag:
        x = x + y
    return x


def skipped(x, n):
    for k in range(n):
        if k % 2:
            continue
        y = x * k
    return y


def short(x):
    if x > 0.0 and (y := x * x) > 4.0:
        return y
    return y + 1.0 if x > 0.0 else x


def one_of_a_pair(x):
    if x > 0.0:
        a, b = x, 2.0 * x
    else:
        a = x
    return a * b


def a_square(x):
    if x > 0.0:
        y = 3.0 * x
    return y * y


def a_structure(x):
    if x > 0.0:
        pair = (x, 2.0 * x)
    return pair[0] * pair[1]


def an_array(xs, n):
    for k in range(n):
        tail = xs[k:]
    return np.sum(tail * tail)


def a_function(x):
    if x > 0.0:

        def law(y):
            return y * x

    return law(x)


def shadowed(x):
    if x > 0.0:
        max = 3.0 * x
    return max * x


def in_a_helper(x):
    return 2.0 * one_branch(x - 1.0)


def loop_in_a_loop(x, n, m):
    for j in range(n):
        for k in range(m):
            y = x * (j + k)
    return y


def assigned_after_break(x, n):
    for k in range(n):
        if k == 2:
            y = x * k
            break
    return y


XS = np.array([1.0, 3.0, 5.0])
LOW = np.array([1.0, 1.5])

CASES: list[tuple[Any, tuple[Any, ...]]] = [
    (one_branch, (2.0,)),
    (one_branch, (-2.0,)),
    (several_branches, (3.0,)),
    (several_branches, (1.0,)),
    (several_branches, (-1.0,)),
    (only_in_the_loop, (2.0, 3)),
    (only_in_the_loop, (2.0, 1)),
    (only_in_the_loop, (2.0, 0)),
    (the_loop_variable, (2.0, 3)),
    (the_loop_variable, (2.0, 0)),
    (the_element, (XS,)),
    (the_element, (LOW,)),
    (the_element, (XS[:0],)),
    (found_or_not, (XS,)),
    (found_or_not, (LOW,)),
    (found_or_else, (XS,)),
    (found_or_else, (LOW,)),
    (endless, (7.0,)),
    (endless, (0.5,)),
    (while_it_lasts, (7.0,)),
    (while_it_lasts, (0.5,)),
    (in_the_second_trip, (2.0, 3)),
    (in_the_second_trip, (2.0, 1)),
    (in_the_second_trip, (-2.0, 1)),
    (in_the_second_trip, (-2.0, 2)),
    (read_before, (2.0,)),
    (added_before, (2.0,)),
    (under_a_flag, (2.0, True)),
    (under_a_flag, (2.0, False)),
    (skipped, (2.0, 3)),
    (skipped, (2.0, 0)),
    (short, (3.0,)),
    (short, (1.0,)),
    (short, (-1.0,)),
    (one_of_a_pair, (2.0,)),
    (one_of_a_pair, (-2.0,)),
    (a_square, (2.0,)),
    (a_square, (-2.0,)),
    (a_structure, (2.0,)),
    (a_structure, (-2.0,)),
    (an_array, (XS, 2)),
    (an_array, (XS, 0)),
    (a_function, (2.0,)),
    (a_function, (-2.0,)),
    (shadowed, (2.0,)),
    (shadowed, (-2.0,)),
    (in_a_helper, (3.0,)),
    (in_a_helper, (0.5,)),
    (loop_in_a_loop, (2.0, 2, 3)),
    (loop_in_a_loop, (2.0, 2, 0)),
    (loop_in_a_loop, (2.0, 0, 3)),
    (assigned_after_break, (2.0, 4)),
    (assigned_after_break, (2.0, 2)),
]


@pytest.mark.parametrize(
    ("f", "args"), CASES, ids=lambda v: getattr(v, "__name__", str(v))
)
def test_unbound_where_python_is(f, args: tuple[Any, ...]) -> None:
    try:
        f(*args)
    except UnboundLocalError as error:
        wanted = error
    else:
        check(f, *args)
        return
    for call in (
        lambda: gw.grad(f)(*args),
        lambda: gw.jvp(f, args, args),
        lambda: gw.vjp(f, *args),
    ):
        with pytest.raises(UnboundLocalError) as caught:
            call()
        assert str(caught.value) == str(wanted)
        assert any("test_undefined.py:" in n for n in caught.value.__notes__)


def test_a_global_of_the_same_name_is_not_taken() -> None:
    """A name that the function binds anywhere is local everywhere in it."""
    with pytest.raises(UnboundLocalError):
        gw.grad(hides_a_global)(1.0)


STEP = 3.0


def hides_a_global(x):
    y = STEP * x  # noqa: F823  the error is what is tested
    STEP = 1.0  # noqa: F841  what makes it local
    return y


def test_a_free_variable_that_is_not_bound_yet() -> None:
    def f(x):
        return later * x

    with pytest.raises(NameError, match="free variable 'later'") as caught:
        gw.grad(f)(2.0)
    assert "test_undefined.py:" in caught.value.__notes__[0]
    later = 3.0
    assert gw.grad(f)(2.0) == 3.0


def test_a_free_variable_of_the_program_itself() -> None:
    def f(x):
        def law(y):
            return gain * y

        if x > 0.0:
            gain = 3.0 * x
        return law(x)

    check(f, 2.0)
    with pytest.raises(NameError, match="variable 'gain'"):
        gw.grad(f)(-2.0)
