"""Loops of any trip count, from any condition; values may change their type once."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from semantics.oracle import check

import gradwright as gw

XS = np.array([1.5, -0.5, 2.5, 0.5])


# ---- trip counts ---------------------------------------------------------------------


def over_range(x, n):
    s = 1.0
    for k in range(n):
        s = s * x + k
    return s


def over_steps(x, start, stop, step):
    s = x
    for k in range(start, stop, step):
        s = s * 0.5 + x * k
    return s + x


def while_below(x, limit):
    trips = 0
    while x < limit:
        x = x * 1.5 + 0.1
        trips += 1
    return x * trips


def nested(x, n, m):
    s = x
    for j in range(n):
        inner = s
        for k in range(m - j):
            inner = inner * x * 0.5 + k
        s += inner
    return s


@pytest.mark.parametrize("n", [0, 1, 2, 7, -3])
def test_range(n: int) -> None:
    check(over_range, 0.8, n)


@pytest.mark.parametrize(
    "bounds", [(0, 5, 2), (5, 0, -2), (5, 5, 1), (3, 0, 1), (-4, 3, 3)]
)
def test_range_with_a_step(bounds: tuple[int, int, int]) -> None:
    check(over_steps, 0.8, *bounds)


@pytest.mark.parametrize("limit", [0.5, 1.0, 1.2, 50.0])
def test_while(limit: float) -> None:
    check(while_below, 1.0, limit)


@pytest.mark.parametrize(("n", "m"), list(itertools.product((0, 1, 3), repeat=2)))
def test_nested(n: int, m: int) -> None:
    check(nested, 0.8, n, m)


@pytest.mark.parametrize("n", [0, 1, 4])
def test_over_arrays(n: int) -> None:
    def f(xs, ys):
        s = 1.0
        for x in xs:
            s = s * x + 1.0
        for x in reversed(xs):
            s = s * 0.5 + x * x
        for k, (x, y) in enumerate(zip(xs, ys), start=2):
            s += x * y * k
        for k in reversed(range(len(xs))):
            s = s * 0.5 + xs[k] * k
        return s

    check(f, XS[:n], XS[:n] * 0.7 + 1.0)
    check(f, XS[:n], XS * 0.7 + 1.0)  # zip ends with the shorter


def test_over_rows() -> None:
    def f(table):
        s = 0.0
        for row in table:
            s = s * 0.5 + np.sum(row * row) * row[0]
        for k, row in enumerate(table):
            for x in row:
                s += x * k
        return s

    for shape in ((3, 2), (1, 1), (3, 0), (0, 3)):
        check_rows = np.linspace(0.5, 1.5, math.prod(shape)).reshape(shape)
        if shape[1]:
            check(f, check_rows)


def test_a_trip_count_computed_from_the_argument() -> None:
    def f(x):
        terms = int(4.5 + 2.0 * abs(x))
        term, total, k = 1.0, 0.0, 0
        while k < terms:
            total += term
            k += 1
            term *= x / k
        else:
            total += 0.001 * term
        return total

    for x in (0.3, 1.3, -2.2):
        check(f, x)


def test_long_loops() -> None:
    def f(x, n):
        for _ in range(n):
            x = x + 1e-4 * (1.0 - x * x)
        return x

    check(f, 0.3, 20_000)


# ---- break, continue, else, return ---------------------------------------------------


def jumps(x, n, m):
    total = 0.0
    for i in range(n):
        partial = 1.0
        for j in range(m):
            if (i + j) % 3 == 0:
                continue
            partial = partial * (x + 0.1 * j) - 0.05 * i
            if partial > 3.0:
                break
        else:
            total += 0.5 * partial
        total += partial * (i + 1)
        if total > 30.0:
            return total * x
    else:
        total -= x
    return total


@pytest.mark.parametrize("x", [0.5, 1.5, 2.5])
@pytest.mark.parametrize(("n", "m"), [(0, 0), (1, 0), (1, 1), (4, 5), (9, 9)])
def test_jumps(x: float, n: int, m: int) -> None:
    check(jumps, x, n, m)


def test_while_with_else_and_break() -> None:
    def f(x, limit):
        while x < 100.0:
            x = x * x + 0.5
            if x > limit:
                break
        else:
            return x * 2.0
        return x * 3.0

    for limit in (2.0, 20.0, 1e6):
        check(f, 1.1, limit)
    check(f, 200.0, 2.0)


def test_a_loop_that_always_leaves_in_its_first_trip() -> None:
    def f(xs):
        for x in xs:
            return x * x
        return 3.0

    check(f, XS)
    assert gw.grad(f)(XS[:0]).tolist() == []


# ---- values that change their type ---------------------------------------------------


def test_an_int_that_becomes_a_float() -> None:
    def f(xs):
        total = 0
        for x in xs:
            total = total + x * x
        return total * 1.0

    check(f, XS)
    value, gradient = gw.value_and_grad(f)(XS[:0])
    assert (value, gradient.shape) == (0.0, (0,))


def test_an_int_that_becomes_an_array() -> None:
    def f(table):
        total = 0
        for row in table:
            total = total + row * row
        return np.sum(total)

    check(f, np.array([[1.0, 2.0], [3.0, 4.0]]))


def test_none_before_a_search() -> None:
    def f(xs):
        best = None
        where = None
        for k, x in enumerate(xs):
            v = x * x - x
            if best is None or v > best:
                best = v
                where = k
        if best is None:
            return 0.0 * np.sum(xs)
        return best * (where + 1)

    check(f, XS)
    check(f, XS[::-1])
    check(f, XS[:1])
    assert gw.grad(f)(XS[:0]).tolist() == []


def test_none_before_a_difference() -> None:
    def f(x, n):
        previous, s = None, 0.0
        for k in range(n):
            now = x * (k + 1) ** 2
            if previous is not None:
                s += (now - previous) ** 2
            previous = now
        return s + x

    for n in (0, 1, 2, 5):
        check(f, 1.5, n)


def test_a_flag_that_is_a_string() -> None:
    def f(xs):
        mode, s = "up", 0.0
        for x in xs:
            if mode == "up":
                s += x * x
            else:
                s -= x
            if x < 0.0:
                mode = "down" if mode == "up" else "up"
        return s

    check(f, XS)


def test_a_function_that_changes() -> None:
    def double(x):
        return 2.0 * x

    def triple(x):
        return 3.0 * x * x

    def f(x):
        if x > 1.0:
            law = double
        else:
            law = triple
        return law(x)

    for x in (2.0, 0.5):
        try:
            check(f, x)
        except gw.UnsupportedSyntax as error:  # refused, naming the name
            assert "'law'" in str(error)


def test_none_that_is_returned() -> None:
    """There is no gradient of None, however it comes about."""

    def f(x, n):
        best = None
        for _ in range(n):
            best = x
        return best

    assert gw.grad(f)(2.0, 1) == 1.0
    with pytest.raises((gw.NotDifferentiable, TypeError)):
        gw.grad(f)(2.0, 0)


# ---- loops that are written out ------------------------------------------------------


def test_over_a_tuple_and_a_list() -> None:
    def f(x, factors):
        s = 0.0
        for factor in factors:
            s = s * x + factor
        for name, power in (("a", 2), ("b", 3)):
            if name == "b":
                s += x**power
        for k, item in enumerate([x, x * x]):
            s += item * k
        return s

    for factors in ((), (2.0,), (2.0, 3.0, np.float64(4.0)), [1.0, 2.0]):
        check(f, 1.5, factors)
    assert gw.grad(f)(1.5, (2.0, 3)) == gw.grad(f)(1.5, (2.0, 3.0))


def test_a_tuple_with_break_and_continue() -> None:
    def f(x, y):
        s = 0.0
        for item in (x, y, x * y, 1.0):
            if item < 0.0:
                continue
            if item > 5.0:
                s *= 2.0
                break
            s += item * item
        else:
            s += x
        return s

    for x, y in ((1.0, 2.0), (-1.0, 2.0), (6.0, 1.0), (3.0, 2.0), (1.0, 6.0)):
        check(f, x, y)


def test_a_range_that_picks_from_a_tuple() -> None:
    """The loop variable is needed as a constant: the loop is written out."""

    def f(x, y):
        items = (x, y, x * y)
        s = 0.0
        for k in range(3):
            s = s * 0.5 + items[k] * k
        for k in range(2, -1, -1):
            s += items[k] ** k
        return s

    check(f, 1.5, 2.5)


def test_such_a_range_has_at_most_256_trips() -> None:
    def f(x, n):
        items = (x,) * 300
        s = 0.0
        for k in range(n):
            s += items[k]
        return s

    check(f, 1.5, 200)
    with pytest.raises(gw.UnsupportedSyntax, match="300 trips"):
        gw.grad(f)(1.5, 300)


def test_a_comprehension_over_a_tuple() -> None:
    def f(x, y):
        squares = [item * item for item in (x, y, x + y) if item is not None]
        return sum(squares) + max(squares) + sum(s * x for s in squares)

    check(f, 1.5, 2.5)


# ---- what loops carry ----------------------------------------------------------------


def test_swaps_and_pairs() -> None:
    def f(x, y, n):
        a, b = x, y
        for _ in range(n):
            a, b = b, a + 0.5 * b
        return a * b

    for n in range(4):
        check(f, 1.5, 2.5, n)


def test_variables_that_are_overwritten() -> None:
    def f(x, n):
        s, t = x, 1.0
        for k in range(n):
            u = s
            u = u * t
            s = s * 0.9 + u
            u = 0.0
            t = s + u
            if k == 1:
                s = x
        return s * t

    for n in range(5):
        check(f, 0.7, n)


def test_the_variable_after_the_loop() -> None:
    def f(x, n):
        k = 5
        for k in range(n):
            x = x * 1.1
        return x * k

    for n in (0, 1, 4):
        check(f, 1.5, n)


def test_the_variable_is_changed_inside() -> None:
    def f(x, n):
        s = 0.0
        for k in range(n):
            k = k * 2
            s += x**k
        return s

    check(f, 1.1, 4)


def test_bounds_are_read_once() -> None:
    def f(x, n):
        for _ in range(n):
            n = n + 1
            x = x * 1.1 + n
        return x

    check(f, 1.5, 3)


# ---- recursion -----------------------------------------------------------------------


def fast_power(x, n):
    if n == 0:
        return 1.0
    if n % 2:
        return x * fast_power(x, n - 1)
    half = fast_power(x, n // 2)
    return half * half


def ackermann_like(x, m, n):
    if m == 0:
        return x + n
    if n == 0:
        return ackermann_like(x * 1.1, m - 1, 1)
    return ackermann_like(x, m - 1, n - 1) * 0.5 + x


def conditional(x, n):
    return x if n == 0 else conditional(x * 0.9, n - 1) * x + 1.0


def even(x, n):
    return x if n == 0 else odd(x * x * 0.5, n - 1)


def odd(x, n):
    return 2.0 * x if n == 0 else even(x + 0.1, n - 1)


def in_a_loop(x, n):
    if n == 0:
        return x
    s = 0.0
    for k in range(2):
        s += in_a_loop(x * (0.5 + k), n - 1) ** 2
    return s


def on_a_view(xs):
    n = len(xs)
    if n == 1:
        return xs[0] * xs[0]
    return on_a_view(xs[: n // 2]) + on_a_view(xs[n // 2 :]) * xs[0]


def until_small(x):
    if x < 0.1:
        return x
    return until_small(x * 0.5) + x * x


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (fast_power, (1.1, 13)),
        (fast_power, (1.1, 0)),
        (ackermann_like, (1.1, 3, 2)),
        (conditional, (1.1, 5)),
        (conditional, (1.1, 0)),
        (even, (1.1, 5)),
        (odd, (1.1, 4)),
        (in_a_loop, (0.7, 4)),
        (on_a_view, (XS,)),
        (on_a_view, (XS[:1],)),
        (until_small, (5.0,)),
        (until_small, (0.05,)),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_recursion(f, args: tuple[Any, ...]) -> None:
    check(f, *args)


def test_recursion_of_a_nested_function() -> None:
    def f(x, n):
        gain = x * 0.5

        def go(y, k):
            if k == 0:
                return y * gain
            return go(y * y, k - 1) + gain

        return go(x, n) + go(gain, n)

    for n in (0, 1, 3):
        check(f, 1.2, n)
