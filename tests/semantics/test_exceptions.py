"""What the program raises is raised: same class and message, the user's line noted."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradwright as gw

MODES = {
    "grad": lambda f, *args: gw.grad(f, argnums=first_float(args))(*args),
    "jvp": lambda f, *args: gw.jvp(f, args, args),
    "vjp": lambda f, *args: gw.vjp(f, *args),
}


class Unstable(Exception):
    """An exception of the user's own."""


def first_float(args: tuple[Any, ...]) -> int:
    kinds = (float, np.floating, np.ndarray)
    return next(k for k, a in enumerate(args) if isinstance(a, kinds))


def own_check(x):
    if x < 0.0:
        raise ValueError("volume must not be negative")
    return x**1.5


def own_class(x):
    for k in range(5):
        x = x * 2.0
        if x > 10.0:
            raise Unstable(f"step {k}: {x:.1f}", k)
    return x


def class_alone(x):
    if x > 1.0:
        raise Unstable
    return x


def divided(x):
    return 1.0 / (x - x)


def divided_by_int(x, n):
    return x * (7 // n)


def remainder(x, n):
    return x * (7 % n)


def float_remainder(x):
    return x % (x - x)


def root(x):
    return math.sqrt(-x)


def logarithm(x):
    y = math.log(x - x)
    return x + y


def overflow(x):
    return math.exp(x * 1000.0)


def power(x):
    return (x * 1e200) ** 5


def zero_power(x):
    return (x - x) ** -1.0


def arc(x):
    return math.asin(x * 10.0)


def unused_root(x):
    math.sqrt(-x)
    return x


def unused_division(x):
    _ = 1.0 / (x - x)
    return x


def unused_item(xs):
    _ = xs[7]
    return np.sum(xs)


def past_the_end(xs):
    s = 0.0
    for i in range(len(xs) + 1):
        s += xs[i] ** 2
    return s


def before_the_start(xs):
    return xs[-5] * 2.0


def column(table):
    return table[0, 3]


def too_many_indices(xs):
    return xs[0, 0]


def whole_of_nan(x):
    return x * int(x * math.nan)


def whole_of_infinity(x):
    return x * int(x * math.inf)


def no_step(x, n):
    s = x
    for k in range(0, 10, n - n):
        s += k
    return s


def empty_largest(xs):
    return np.max(xs[:0]) + np.sum(xs)


def unequal(a, b):
    return np.sum(a * b)


def three_into_two(xs):
    a, b = xs
    return a * b


def two_into_three(xs):
    a, b, c = xs
    return a * b * c


def three_names_for_a_pair(x):
    a, b, c = (x, x)
    return a * b * c


def two_names_for_three(x):
    a, b = x, x, x
    return a * b


def missing_argument(x):
    return own_check()


def one_argument_too_many(x):
    return own_check(x, x)


def wrong_keyword(x):
    return own_check(x, limit=2.0)


def twice_the_same(x):
    return own_check(x, x=x)


def no_such_name(x):
    return x * undefined_name  # noqa: F821  the error is what is tested


def no_such_function(x):
    return math.sinus(x)


def float_range(x):
    for _ in range(x):
        pass
    return x


def unpacked_number(x):
    a, b = x
    return a + b


def loop_over_a_number(x):
    s = 0.0
    for item in x:
        s += item
    return s


def item_of_a_number(x):
    return x[0]


def called_number(x):
    return x(1.0)


def length_of_a_number(x):
    return x * len(x)


def attribute_of_a_number(x):
    return x.size_of_it


def text_and_number(x):
    return "x" + x


def deep(x, n):
    if n == 0:
        return x
    return deep(x, n - 1) + x


def in_a_helper(x):
    return 2.0 * own_check(x - 10.0)


def in_a_helper_in_a_loop(x):
    s = 0.0
    for k in range(5):
        s += own_check(x - k)
    return s


XS, TABLE = np.array([1.0, 2.0, 3.0]), np.ones((2, 3))

# The program, its arguments, and the words that stand in the line that raises.
RAISING: list[tuple[Callable[..., Any], tuple[Any, ...], str]] = [
    (own_check, (-1.0,), 'raise ValueError("volume must not be negative")'),
    (own_class, (2.0,), "raise Unstable(f"),
    (class_alone, (2.0,), "raise Unstable"),
    (divided, (2.0,), "return 1.0 / (x - x)"),
    (divided_by_int, (2.0, 0), "return x * (7 // n)"),
    (remainder, (2.0, 0), "return x * (7 % n)"),
    (float_remainder, (2.0,), "return x % (x - x)"),
    (root, (2.0,), "return math.sqrt(-x)"),
    (logarithm, (2.0,), "y = math.log(x - x)"),
    (overflow, (2.0,), "return math.exp"),
    (power, (2.0,), "return (x * 1e200) ** 5"),
    (zero_power, (2.0,), "return (x - x) ** -1.0"),
    (arc, (2.0,), "return math.asin"),
    (unused_root, (2.0,), "math.sqrt(-x)"),
    (unused_division, (2.0,), "_ = 1.0 / (x - x)"),
    (unused_item, (XS,), "_ = xs[7]"),
    (past_the_end, (XS,), "s += xs[i] ** 2"),
    (before_the_start, (XS,), "return xs[-5] * 2.0"),
    (column, (TABLE,), "return table[0, 3]"),
    (too_many_indices, (XS,), "return xs[0, 0]"),
    (whole_of_nan, (2.0,), "return x * int(x * math.nan)"),
    (whole_of_infinity, (2.0,), "return x * int(x * math.inf)"),
    (no_step, (2.0, 3), "for k in range(0, 10, n - n):"),
    (empty_largest, (XS,), "return np.max(xs[:0])"),
    (unequal, (XS, XS[:2]), "return np.sum(a * b)"),
    (three_into_two, (XS,), "a, b = xs"),
    (two_into_three, (XS[:2],), "a, b, c = xs"),
    (three_names_for_a_pair, (2.0,), "a, b, c = (x, x)"),
    (two_names_for_three, (2.0,), "a, b = x, x, x"),
    (missing_argument, (2.0,), "return own_check()"),
    (one_argument_too_many, (2.0,), "return own_check(x, x)"),
    (wrong_keyword, (2.0,), "return own_check(x, limit=2.0)"),
    (twice_the_same, (2.0,), "return own_check(x, x=x)"),
    (no_such_name, (2.0,), "return x * undefined_name"),
    (no_such_function, (2.0,), "return math.sinus(x)"),
    (in_a_helper, (2.0,), 'raise ValueError("volume must not be negative")'),
    (in_a_helper_in_a_loop, (2.5,), 'raise ValueError("volume must not be negative")'),
]
over_raising = pytest.mark.parametrize(
    ("f", "args", "line"), RAISING, ids=lambda v: getattr(v, "__name__", "")
)


def raised_by(call: Callable[[], Any]) -> Exception:
    with pytest.raises(Exception) as caught:
        call()
    return caught.value


@pytest.mark.parametrize("mode", MODES)
@over_raising
def test_what_python_raises(f, args: tuple[Any, ...], line: str, mode: str) -> None:
    wanted = raised_by(lambda: f(*args))
    got = raised_by(lambda: MODES[mode](f, *args))
    assert type(got) is type(wanted)
    assert str(got) == str(wanted)
    assert got.args == wanted.args
    notes = getattr(got, "__notes__", [])
    assert any("test_exceptions.py:" in n and line in n for n in notes), notes


@pytest.mark.parametrize("mode", MODES)
def test_an_assertion_that_fails(mode: str) -> None:
    def f(x):
        assert x < 0.0, "must be negative"
        return x

    # (pytest words the assertions of this file anew, the library's are as Python's)
    got = raised_by(lambda: MODES[mode](f, 2.0))
    assert (type(got), got.args) == (AssertionError, ("must be negative",))
    assert 'assert x < 0.0, "must be negative"' in got.__notes__[0]
    got = raised_by(lambda: MODES[mode](without_words, 2.0))
    assert (type(got), got.args) == (AssertionError, ())
    assert "assert x < 0.0" in got.__notes__[0]


def without_words(x):
    assert x < 0.0
    return x


# What is wrong for every argument of this kind may be told in our own words, before
# anything runs; it still is a refusal with the line.
WRONG_TYPES = [
    float_range, unpacked_number, loop_over_a_number, item_of_a_number, called_number,
    length_of_a_number, attribute_of_a_number, text_and_number,
]  # fmt: skip


@pytest.mark.parametrize("f", WRONG_TYPES, ids=lambda f: f.__name__)
def test_what_is_wrong_for_every_number(f) -> None:
    wanted = raised_by(lambda: f(2.0))
    got = raised_by(lambda: gw.grad(f)(2.0))
    if isinstance(got, gw.GradwrightError):
        assert got.location.function == f.__name__
    else:
        assert (type(got), str(got)) == (type(wanted), str(wanted))
        assert any("test_exceptions.py:" in n for n in got.__notes__)


@pytest.mark.parametrize("mode", MODES)
def test_recursion_as_deep_as_pythons_own(mode: str) -> None:
    with pytest.raises(RecursionError):
        deep(2.0, 5000)
    with pytest.raises(RecursionError):
        MODES[mode](deep, 2.0, 5000)
    MODES[mode](deep, 2.0, 800)


def test_endless_recursion() -> None:
    def f(x):
        return f(x * 0.5) + x

    with pytest.raises((RecursionError, gw.UnsupportedSyntax)):
        gw.grad(f)(2.0)


def test_the_gradient_raises_only_where_the_function_does() -> None:
    """The partials of these divide by zero, or overflow, where the value does not."""
    for f, x in [
        (lambda x: math.sqrt(x), 0.0),
        (lambda x: x**0.5, 0.0),
        (lambda x: x**0.0, 0.0),
        (lambda x: x**1.0, 0.0),
        (lambda x: x**2, 0.0),
        (lambda x: abs(x), 0.0),
        (lambda x: math.asin(x), 1.0),
        (lambda x: math.acos(x), -1.0),
        (lambda x: math.acosh(x), 1.0),
        (lambda x: math.hypot(x, x), 0.0),
        (lambda x: math.atan2(x, x), 0.0),
        (lambda x: math.cbrt(x), 0.0),
        (lambda x: math.tanh(x), 1000.0),
        (lambda x: 1.0 / math.cosh(x), 700.0),
        (lambda x: math.log(x), 1e-310),
        (lambda x: 1.0 / x, 1e-200),
        (lambda x: math.exp(x), 709.0),
        (lambda x: x**300, 10.0),
        (lambda x: math.copysign(x, 0.0), 0.0),
        (lambda x: x % 1.0, 0.0),
    ]:
        value = f(x)
        for seen in (
            gw.value_and_grad(f)(x)[0],
            gw.jvp(f, (x,), (1.0,))[0],
            gw.vjp(f, x)[0],
        ):
            assert seen == value
        gw.vjp(f, x)[1](1.0)


# ---- where it is not reached ---------------------------------------------------------


def test_what_is_not_reached_is_not_raised() -> None:
    def f(x):
        if x > 100.0:
            _, x = (1.0, 2.0, 3.0)
            x = undefined_name * own_check()  # noqa: F821  never reached
            x = math.sinus(x) + range(1.5)[0]
        return x * x

    assert gw.grad(f)(3.0) == 6.0


def test_what_comes_first_is_raised_first(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x):
        print("before")
        y = math.sqrt(-x)
        a, _ = (1.0, 2.0, y)
        return a

    with pytest.raises(ValueError, match=r"math domain error|expected a nonnegative"):
        gw.grad(f)(1.0)
    assert capsys.readouterr().out == "before\n"


def test_calls_of_the_transformed_function_itself() -> None:
    def f(x, y=1.0, *, z=2.0):
        return x * y * z

    g = gw.grad(f)
    for args, keywords in [
        ((), {}),
        ((1.0, 2.0, 3.0), {}),
        ((1.0,), {"w": 1.0}),
        ((1.0,), {"x": 1.0}),
    ]:
        wanted = raised_by(lambda: f(*args, **keywords))
        got = raised_by(lambda: g(*args, **keywords))
        assert type(got) is type(wanted) is TypeError
        assert "f()" in str(got)


def mean_of_products(x, n):
    s = 0.0
    for k in range(n):
        s += x * k
    return s / n


def test_a_division_after_a_loop_without_trips() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        gw.grad(mean_of_products)(2.0, 0)
    assert any("return s / n" in note for note in caught.value.__notes__)


def share_of_a_branch(x, n):
    y = 1.0
    if x > 0.0:
        y = x * x
    return y / n


def test_a_division_after_a_branch_not_taken() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        gw.grad(share_of_a_branch)(-2.0, 0)
    assert any("return y / n" in note for note in caught.value.__notes__)


def test_shapes_that_do_not_fit_raise_where_they_meet() -> None:
    """NumPy's own error, and none where the program does not come there."""

    def f(xs, ys, n):
        total = np.sum(xs)
        for _ in range(n):
            total += np.sum(xs * ys)
        return total

    xs, ys = np.ones(2), np.ones(3)
    np.testing.assert_array_equal(gw.grad(f)(xs, ys, 0), [1.0, 1.0])
    with pytest.raises(ValueError, match="could not be broadcast") as raised:
        gw.grad(f)(xs, ys, 1)
    assert "total += np.sum(xs * ys)" in raised.value.__notes__[0]
