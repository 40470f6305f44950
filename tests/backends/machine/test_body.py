"""Statements compiled: the same results, kinds and errors as the emitted source."""

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from by_machine import compiled, is_as

import gradwright as gw
from gradwright.entry import Entry

Outcome = tuple[Any, list[str]]


def outcome(function: Callable[..., Any], *args: Any) -> Outcome:
    """A result; or an exception, as class and message, with the notes on it."""
    with np.errstate(all="ignore"):
        try:
            return function(*args), []
        except Exception as e:
            return (type(e), str(e)), list(getattr(e, "__notes__", ()))


def emitted(function: Any, *args: Any) -> Any:
    """What the emitted source gives, which is the function rewritten and no more."""
    return Entry(function).call(args, {})


def check(function: Any, *args: Any, ulps: float = 0.0) -> None:
    wanted = outcome(lambda *a: emitted(function, *a), *args)
    found = outcome(compiled(function), *args)
    assert same(found[0], wanted[0], ulps), (found, wanted)
    assert found[1] == wanted[1]


def same(a: Any, b: Any, ulps: float) -> bool:
    if isinstance(b, tuple) and not isinstance(b[0], type):
        return len(a) == len(b) and all(map(same, a, b, [ulps] * len(b)))
    return is_as(a, b, ulps)


# ---- loops -------------------------------------------------------------------------


def ranges(a: int, b: int, c: int) -> tuple[int, int]:
    total, last = 0, -1
    for i in range(a, b, c):
        total = 3 * total + i
        last = i
    return total, last


@pytest.mark.parametrize("a", [0, 3, -2])
@pytest.mark.parametrize("b", [0, 1, 7, -5])
@pytest.mark.parametrize("c", [1, 2, 3, -1, -2, 0])
def test_ranges_count_as_python_counts(a: int, b: int, c: int) -> None:
    check(ranges, a, b, c)


def upwards(a: int, b: int) -> int:
    total = 0
    for i in range(a, b):
        total = total + (i & 7)
        if total > 20:
            break
    return total


@pytest.mark.parametrize(
    ("a", "b"),
    [(2**63 - 3, 2**63 - 1), (-(2**63), -(2**63) + 2), (2**63 - 1, 0), (5, 5)],
)
def test_ranges_at_the_ends_of_the_ints(a: int, b: int) -> None:
    check(upwards, a, b)


def collatz(n: int) -> int:
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
        if steps > 1000:
            break
    return steps


@pytest.mark.parametrize("n", [1, 7, 27, 97])
def test_while(n: int) -> None:
    check(collatz, n)


def nested(n: int) -> int:
    found = 0
    for i in range(n):
        for j in range(i):
            if (i * j) % 7 == 3:
                found += i - j
                break
            k = 0
            while k < j:
                k += 2
                if k == 6:
                    break
            found += k
    return found


@pytest.mark.parametrize("n", [0, 1, 2, 12])
def test_nested_loops_with_breaks(n: int) -> None:
    check(nested, n)


def searched(xs: Any, wanted: float) -> int:
    for i in range(len(xs)):
        if xs[i] == wanted:
            return i
    return -1


def test_returns_from_a_loop() -> None:
    xs = np.array([3.0, 1.0, 2.0])
    for wanted in (3.0, 2.0, 5.0):
        check(searched, xs, wanted)
    check(searched, xs[:0], 1.0)


# ---- calls -------------------------------------------------------------------------


def ackermann(m: int, n: int) -> int:
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


def is_even(n: int) -> bool:
    return True if n == 0 else is_odd(n - 1)


def is_odd(n: int) -> bool:
    return False if n == 0 else is_even(n - 1)


def tower(x: float, n: int) -> float:
    return 1.0 if n == 0 else math.log(x) * tower(x - 1.0, n - 1)


def summed(A: Any, i: int, j: int) -> Any:
    return A[i, j] if i == 0 else A[i, j] + summed(A, i - 1, j)


def test_recursion() -> None:
    check(ackermann, 2, 3)
    check(is_even, 10)
    check(is_even, 7)
    check(summed, np.arange(12.0).reshape(4, 3), 3, 1)


def test_an_error_in_a_recursion_names_its_own_line() -> None:
    check(tower, 3.0, 2)
    check(tower, 3.0, 5)
    check(summed, np.arange(12.0).reshape(4, 3), 4, 1)


def endless(n: int) -> int:
    return 1 if n == -1 else 1 + endless(n + 1)


def test_too_deep_a_recursion_is_pythons_error() -> None:
    made = compiled(endless)
    for _ in range(2):
        with pytest.raises(RecursionError, match="maximum recursion depth exceeded"):
            made(0)
        assert made(-500) == 500


# ---- errors ------------------------------------------------------------------------


def divided(x: float, y: float) -> float:
    a = x + 1.0
    return a / y


def rooted(x: float) -> float:
    return math.sqrt(x) + math.log(x)


def refused(x: float, n: int) -> float:
    if x < 0:
        raise ValueError(f"{x!r} is negative, and {n:>4} of {x:.2f} too")
    assert n < 5, f"{n} is too large"
    assert n != 3
    if n == 4:
        raise KeyError("four", n)
    return x


def unbound(n: int) -> float:
    if n > 3:
        y = 2.0 * n
    return y


def picked(A: Any, i: int, j: int) -> Any:
    return A[i, j]


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (divided, (1.0, 0.0)),
        (divided, (1.0, -0.0)),
        (divided, (1, 0)),
        (divided, (np.float64(1.0), np.float64(0.0))),
        (rooted, (-1.0,)),
        (rooted, (0.0,)),
        (rooted, (math.nan,)),
        (refused, (-1.5, 2)),
        (refused, (1.5, 7)),
        (refused, (1.5, 3)),
        (refused, (1.5, 4)),
        (refused, (np.float32(-1.5), 4)),
        (unbound, (4,)),
        (unbound, (3,)),
        (picked, (np.eye(3), 3, 0)),
        (picked, (np.eye(3), 0, -4)),
        (picked, (np.eye(3), -1, -3)),
        (picked, (np.ones((0, 2)), 0, 0)),
        (picked, (np.eye(3), np.int8(-1), np.uint8(2))),
    ],
)
def test_errors_are_pythons(function: Any, args: tuple[Any, ...]) -> None:
    check(function, *args)


def grown(n: int) -> int:
    total = 1
    for i in range(1, n + 1):
        total = total * i
    return total


def shifted(n: int) -> int:
    half = n // 2
    return 16 * half + 3


@pytest.mark.parametrize(
    ("function", "n"), [(grown, 21), (shifted, 2**61), (shifted, -(2**61))]
)
def test_ints_beyond_64_bits_raise(function: Any, n: int) -> None:
    with pytest.raises(OverflowError, match="64 bits") as info:
        gw.jit(function)(n)
    assert info.value.__notes__[0].startswith(f"  in {function.__name__}, test_body.py")
    assert gw.jit(function)(20 if function is grown else n // 4) == function(
        20 if function is grown else n // 4
    )


def test_an_argument_beyond_64_bits_raises() -> None:
    with pytest.raises(OverflowError, match="64 bits"):
        gw.jit(shifted)(2**70)


def test_a_complex_power_is_refused() -> None:
    with pytest.raises(gw.BackendError, match="complex"):
        gw.jit(lambda x, y: x**y)(-8.0, 1 / 3)


def test_what_is_no_loop_core_is_refused() -> None:
    def doubled(x: Any) -> Any:
        return 2.0 * x

    with pytest.raises(gw.UnsupportedSyntax, match=r"jit cannot compile \* of arrays"):
        compiled(doubled)(np.ones(3))

    def listed(n: int) -> float:
        xs = []
        for k in range(n):
            xs.append(k * 1.5)
        return sum(xs)

    with pytest.raises(gw.UnsupportedSyntax, match="lists"):
        compiled(listed)(3)


# ---- kinds -------------------------------------------------------------------------


def kinds(x: Any, y: Any) -> Any:
    return x + y, x * y, x < y, x == y, -x


NUMBERS = [
    True, 3, 2.5, 1 - 2j, np.bool(True), np.int8(100), np.uint8(200), np.int16(3),
    np.uint16(3), np.int32(-3), np.uint32(7), np.int64(-9), np.uint64(2**63 + 1),
    np.float32(1.25), np.float64(-0.5), np.complex64(1 + 2j), np.complex128(2 - 1j),
]  # fmt: skip


@pytest.mark.parametrize("x", NUMBERS, ids=repr)
def test_results_have_the_kind_of_the_program(x: Any) -> None:
    for y in (3, np.float32(0.5), 0.25, x):
        try:
            with np.errstate(all="ignore"):
                kinds(x, y)
        except TypeError:  # an order of complex numbers, the negative of a bool
            continue
        check(kinds, x, y)


def optional(xs: Any, limit: float) -> Any:
    best = None
    for x in xs:
        if x < limit and (best is None or x > best):
            best = x
    return best


def test_none_beside_a_number() -> None:
    xs = np.array([1.0, 5.0, 3.0, 2.0])
    check(optional, xs, 4.0)
    check(optional, xs, 0.0)


def in_one_branch(x: Any) -> Any:
    if x < 0.6:
        return -x * x * x
    return x


def test_a_sum_in_a_cell_that_may_hold_none() -> None:
    """A residual of one branch only; its cotangent is added to."""
    bent = gw.jit(gw.grad(gw.jacrev(in_one_branch)))
    assert bent(0.5) == -3.0 and bent(0.7) == 0.0


def scaled(xs: Any) -> Any:
    best = None
    for x in xs:
        if x > 1.0:
            best = x
    return best * 2.0


def test_arithmetic_with_none_raises_as_python() -> None:
    check(scaled, np.array([0.5, 2.0]))
    check(scaled, np.array([0.5]))


def signs(x: float) -> tuple[float, float, float]:
    return x * 0.0, -x, math.copysign(1.0, x) + x


@pytest.mark.parametrize("x", [0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324])
def test_special_values(x: float) -> None:
    check(signs, x)


# ---- derivatives -------------------------------------------------------------------


def decay(x: float, n: int) -> float:
    y = x
    for _ in range(n):
        y = y * 0.9 + math.sin(x)
    return y


def quadratic(A: Any, x: float) -> Any:
    total = 0.0
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            total += A[i, j] * x * x
    return total


@pytest.mark.parametrize("transform", [gw.grad, gw.value_and_grad])
def test_gradients_compile(transform: Any) -> None:
    for made in (gw.jit(transform(decay)), transform(gw.jit(decay))):
        assert made(0.7, 5) == pytest.approx(transform(decay)(0.7, 5), rel=1e-15)
    A = np.arange(6.0).reshape(2, 3)
    by_x = transform(quadratic, argnums=1)
    assert gw.jit(by_x)(A, 0.3) == pytest.approx(by_x(A, 0.3), rel=1e-15)


def test_forward_and_split_modes_compile() -> None:
    assert gw.jvp(gw.jit(decay), (0.7, 5), (1.0, 0)) == pytest.approx(
        gw.jvp(decay, (0.7, 5), (1.0, 0)), rel=1e-15
    )


def test_jit_inside_of_a_program() -> None:
    inner = gw.jit(divided)

    def outer(x: float) -> float:
        return inner(x, 2.0) * x

    assert outer(3.0) == 6.0
    assert gw.grad(outer)(3.0) == gw.grad(lambda x: divided(x, 2.0) * x)(3.0)


def test_operators_are_known() -> None:
    assert gw.jit(operator.add)(2, 3) == 5
