"""The small print of Python: scopes, order of evaluation, unpacking, operators.

Part of the first paragraph, Meaning: what is differentiated computes what the function
computes, however it is written.
"""

import math
from typing import Any

import numpy as np
import pytest
from semantics.oracle import check

import gradwright as gw

XS = np.array([1.5, -0.5, 2.5, 0.5])
TABLE = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


# ---- scopes --------------------------------------------------------------------------


def late_binding(x):
    laws = [lambda y: y * k for k in (1.0, 2.0, 3.0)]
    return laws[0](x) + laws[1](x)


def early_binding(x):
    laws = [lambda y, k=k: y * k for k in (1.0, 2.0, 3.0)]
    return laws[0](x) + 10.0 * laws[1](x)


def scope_of_a_comprehension(x):
    k = 10.0
    ys = [x * k for k in (1.0, 2.0)]
    return ys[0] + ys[1] * k


def bound_after_the_definition(x):
    def law():
        return a * x

    a = 2.0 * x
    first = law()
    a = 5.0 * x
    return first + law()


def default_of_the_moment(x):
    def law(y, k=x):
        return y * k

    x = x * 2.0
    return law(x)


def defined_in_a_loop(x):
    s = 0.0
    for k in (1.0, 2.0, 3.0):

        def law(y, k=k):
            return y * k

        s += law(x)
    return s + law(x)


def closure_over_a_loop_variable(x):
    for i in range(3):

        def law(y):
            return y * i * x

    return law(x)


def closure_in_a_closure(x):
    def outer(y):
        def inner(z):
            return z * y * x

        return inner

    return outer(2.0 * x)(3.0)


def recursive_closure(x):
    def factorial(n):
        return 1.0 if n == 0 else n * x * factorial(n - 1)

    return factorial(4)


def shadowed_names(x):
    abs = 3.0 * x

    def law(x, sum=2.0):
        return x * sum + abs

    return law(x * x)


def function_as_argument(x):
    def twice(f, y):
        return f(f(y))

    return twice(lambda z: z * z * x, x)


# ---- assignment ----------------------------------------------------------------------


def chained(x):
    a = b = x * x
    a += 1.0
    return a * b


def nested_unpacking(x, y):
    (a, (b, c)), d = (x, (y, x * y)), y
    a, b = b, a
    return a * b * c + d


def starred_unpacking(x):
    a, *m, z = x, 2.0 * x, 3.0 * x, x * x
    return a + m[0] * m[1] + z * len(m)


def unpacked_in_a_loop(x):
    t = 0
    for k in range(3):
        t, u = t + k, t * x
    return u * t


def pairs_of_the_best(x, y):
    best, where = -math.inf, None
    for k in range(4):
        value = math.sin(x * k) + y
        if value > best:
            best, where = value, k
    return best * where


def annotated(x):
    y: float = x * 2.0
    return y * y


def every_operator_in_place(x):
    x += x
    x *= x
    x -= 1
    x /= 2
    x **= 2
    x %= 1000.0
    return x


def every_operator_of_ints_in_place(x):
    k = 7
    k //= 2
    k <<= 2
    k |= 1
    k ^= 3
    k &= 15
    k >>= 1
    k %= 5
    return x * k


def walrus(x):
    if (n := x * x) > 1.0:
        return n * x
    return n


def walrus_in_a_while(x):
    y = x
    while (y := y * 0.5) > 0.3:
        x += y
    return x * y


def walrus_that_is_read_at_once(x):
    s = 1.0
    for _ in range(3):
        s = s + (s := s * x)
        s += (s := 0.5 * s)
    return s


def array_taken_apart(xs):
    a, b, c, d = xs
    return a * b - c * d


# ---- operators -----------------------------------------------------------------------


def bools_in_arithmetic(x):
    return (x > 1.0) * x + True * x + x**True - (not x)


def whole_numbers(x):
    s = 0.0
    for k in range(-3, 4):
        s += x * (k // 2) + x * (k % 3) + (k**2) * x + x * (-k) * (k > 0)
    return s


def precedence(x):
    return -(x**2) + 2**-1 * x - -x + x * 7 // 2 - x**2**0.5


def values_of_and_and_or(x, n):
    return x * (n if n else 5) + ((n and x) or 2.0 * x) + (x or 1.0) * (n or 3)


def not_and_or(x):
    return (not x > 1.0 and x) or x * x


def chained_comparison(x):
    return x if 1.0 < x <= x * x < 30.0 != x else 2.0 * x


def equality(x):
    return (x == 2.0 and 1.0 * x) or (x != 2.0 and 3.0 * x)


def membership(x, k):
    return x * 2.0 if k in (1, 2) else x if k not in (3, 4) else x * x


def conditional_in_a_condition(x):
    return x if (x * x if x > 1.0 else -x) > 2.0 else 3.0 * x


def negative_index(xs):
    i, s = -1, 0.0
    while i >= -len(xs):
        s = s * 0.5 + xs[i]
        i -= 1
    return s


# ---- Python's own functions ----------------------------------------------------------


def sums_and_extremes(x):
    s = sum((x, 2 * x, x * x)) + sum((x, x), 3.0) + max((x, 2.0, x * x))
    return s + min(x, 1.0, -x) + abs(-x)


def any_and_all(x):
    return any((x > 1.0, x > 5.0)) * x + all((x > 1.0, x > 5.0)) * 100.0 * x


def rounded(x):
    return round(x, 2) * x + divmod(x, 0.7)[0] * x + divmod(x, 0.7)[1] + pow(x, 3)


def converted(x):
    return float(int(x)) * x + bool(x) * x + int(True) * x + float(x) * complex(x).real


def parts(x):
    return x.real * x + x.imag + x.conjugate()


def complex_parts(x):
    z = complex(x, 2.0 * x)
    return abs(z * z.conjugate()) + z.imag


def is_a_float(x):
    return x if isinstance(x, float) else 0.0 * x


def is_none(x, flag=None):
    return x * x if flag is None else -x


def ranges(x):
    s = 0.0
    for k in reversed(range(1, 8, 3)):
        s = s * 0.5 + x**k
    for k in range(2, 5):
        s = s * x + k
    return s


def lengths(xs):
    return len(xs) * xs[0] + xs.shape[0] * xs[1] + xs.ndim * xs[2] + xs.size * xs[3]


def zips(xs):
    s = 0.0
    for row in zip(xs, xs[1:], xs[2:]):
        a, b, c = row
        s += a * b * c
    for i, (a, b) in enumerate(zip(xs[:-1], reversed(xs))):
        s += a * b * i
    for a, b in zip((xs[0], xs[1]), [1.0, 3.0]):
        s += a * b
    return s


def enumerates(xs, first):
    s = 0.0
    for k, x in enumerate(xs, first):
        s += k * x
    for k, x in enumerate(xs, start=len(xs)):
        s += k * x * x
    return s


def letters(x):
    s = 0.0
    for c in "abc":
        s += x * (2.0 if c == "b" else 1.0)
    return s


def sequences(x):
    a = [x, 2.0 * x]
    b = a + [3.0 * x]  # noqa: RUF005  the sum is what is tested
    t = (x, (2.0 * x, 3.0))
    t2 = t + (x * x,)  # noqa: RUF005  the sum is what is tested
    first = (x, 2.0 * x, 3.0 * x)[::-1][0] + (x, x * x)[-1] + ((x,) * 3)[2]
    return b[2] * len(a) + sum(b) + t2[2] * len(t2) * t[1][0] + first


# ---- calls ---------------------------------------------------------------------------


def kinds_of_parameters(x):
    def law(a, /, b, *, c=2.0):
        return a * b * c

    return law(x, b=x) + law(x, x, c=x)


def rest(a, b=1.0, *more, c=2.0):
    return a * b * c + len(more) + sum(more)


def starred_call(x):
    return rest(*(x, 2.0 * x), c=3.0) + rest(x, *(x, x, 1.0), *[x]) + rest(b=x, a=x)


def called_at_once(x):
    return (lambda a, b=x: a * b)(x * 2.0)


# ---- what loops do to what they run over ---------------------------------------------


def rebinds_the_array(xs):
    s = 0.0
    for x in xs:
        xs = xs * 0.5
        s += x * xs[0]
    return s + np.sum(xs)


def rebinds_the_bound(x, n):
    for _ in range(n):
        n -= 1
        x = x * 1.1 + n
    return x


def counts_down(x, n):
    while n:
        n -= 1
        x = x * 1.1
    return x


def changes_late(x):
    s = 0
    for k in range(5):
        if k == 3:
            s = s + x
        else:
            s = s + 1
    return s * x


def ints_only(x, n):
    previous, current = 0, 1
    for _ in range(n):
        previous, current = current, previous + current
    return x * current


def both_indices(table):
    s = 0.0
    for i in range(table.shape[0]):
        for j in range(table.shape[1]):
            s += table[i, j] * table[i][j] * (i + 1) + table[i, -1]
    return s


PROGRAMS: list[tuple[Any, tuple[Any, ...]]] = [
    (late_binding, (1.7,)),
    (early_binding, (1.7,)),
    (scope_of_a_comprehension, (1.7,)),
    (bound_after_the_definition, (1.7,)),
    (default_of_the_moment, (1.7,)),
    (defined_in_a_loop, (1.7,)),
    (closure_over_a_loop_variable, (1.7,)),
    (closure_in_a_closure, (1.7,)),
    (recursive_closure, (1.7,)),
    (shadowed_names, (1.7,)),
    (function_as_argument, (1.7,)),
    (chained, (1.7,)),
    (nested_unpacking, (1.5, 2.5)),
    (starred_unpacking, (1.7,)),
    (unpacked_in_a_loop, (1.7,)),
    (pairs_of_the_best, (0.9, 0.3)),
    (annotated, (1.7,)),
    (every_operator_in_place, (1.7,)),
    (every_operator_of_ints_in_place, (1.7,)),
    (walrus, (1.7,)),
    (walrus, (0.7,)),
    (walrus_in_a_while, (1.7,)),
    (walrus_that_is_read_at_once, (1.7,)),
    (array_taken_apart, (XS,)),
    (bools_in_arithmetic, (1.7,)),
    (whole_numbers, (1.7,)),
    (precedence, (1.7,)),
    (values_of_and_and_or, (1.7, 0)),
    (values_of_and_and_or, (1.7, 2)),
    (not_and_or, (1.7,)),
    (not_and_or, (0.7,)),
    (chained_comparison, (1.7,)),
    (chained_comparison, (0.7,)),
    (equality, (1.7,)),
    (membership, (1.7, 2)),
    (membership, (1.7, 3)),
    (membership, (1.7, 5)),
    (conditional_in_a_condition, (1.7,)),
    (conditional_in_a_condition, (1.2,)),
    (negative_index, (XS,)),
    (sums_and_extremes, (1.7,)),
    (any_and_all, (1.7,)),
    (any_and_all, (7.0,)),
    (rounded, (1.73,)),
    (converted, (1.7,)),
    (parts, (1.7,)),
    (complex_parts, (1.7,)),
    (is_a_float, (1.7,)),
    (is_a_float, (np.float64(1.7),)),
    (is_none, (1.7,)),
    (is_none, (1.7, 0)),
    (ranges, (1.1,)),
    (lengths, (XS,)),
    (zips, (XS,)),
    (enumerates, (XS, 3)),
    (letters, (1.7,)),
    (sequences, (1.7,)),
    (kinds_of_parameters, (1.7,)),
    (starred_call, (1.7,)),
    (called_at_once, (1.7,)),
    (rebinds_the_array, (XS,)),
    (rebinds_the_bound, (1.7, 4)),
    (counts_down, (1.7, 3)),
    (changes_late, (1.7,)),
    (ints_only, (1.7, 6)),
    (both_indices, (TABLE,)),
]


@pytest.mark.parametrize(
    ("f", "args"), PROGRAMS, ids=lambda v: getattr(v, "__name__", str(v))
)
def test_small_print(f, args: tuple[Any, ...]) -> None:
    check(f, *args)


# ---- the order in which things happen ------------------------------------------------


def said(what, value):
    print(what)
    return value


def in_order(x):
    y = said("a", x) + said("b", x) * said("c", x)
    z = said("d", y) if said("e", x) > 1.0 else said("f", x)
    w = said("g", z) < said("h", x) < said("i", z)
    pair = (said("j", x), said("k", z))
    v = rest(said("l", x), *(said("m", x),), c=said("n", 2.0))
    u = said("o", 0.0) and said("p", x)
    t = said("q", x) or said("r", x)
    a, b = said("s", pair)
    print(f"{said('t', a):.1f}{said('u', b):.1f}", said("v", 1))
    assert said("w", True), said("x", "words")
    for k in range(said("y", 2)):
        t += said("z", x) * k
    return y + z + pair[1] + v + u + t + (1.0 if w else 0.0)


def test_order_of_evaluation(capsys: pytest.CaptureFixture[str]) -> None:
    for x in (1.5, 0.5):
        in_order(x)
        wanted = capsys.readouterr().out
        gw.grad(in_order)(x)
        assert capsys.readouterr().out == wanted
        gw.jvp(in_order, (x,), (1.0,))
        assert capsys.readouterr().out == wanted
        check(in_order, x)
        capsys.readouterr()
