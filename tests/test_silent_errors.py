"""The silent errors that others were reported for: right here, or refused by name.

The kinds come from public reports: what Google's Tangent answered wrongly, and what
users of kernel languages and of graph tracers met in loops whose trip count is not
known in advance, in nested loops, with continue and break, with overwritten variables
and with a return inside an if. The programs are our own.
"""

import math
import re
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from semantics.oracle import check, differences, near

import gradwright as gw

XS = np.array([0.5, 1.5, -0.7, 0.9])

# ---- Tangent -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "operation",
    [
        lambda x, y: x / y,
        lambda x, y: y / x,
        lambda x, y: x**y,
        lambda x, y: y**x,
        lambda x, y: np.multiply(x, y),
        lambda x, y: np.maximum(x, y),
        lambda x, y: np.arctan2(y, x),
        lambda x, y: x - y,
    ],
    ids=["x/y", "y/x", "x**y", "y**x", "multiply", "maximum", "arctan2", "x-y"],
)
def test_broadcast_operands(operation) -> None:
    """The gradient has the shape of the operand, not that of the result."""
    x, y = np.array([1.0, 2.0, 3.0]), np.array([[0.5, 1.5, 2.5], [3.5, 4.5, 5.5]])

    def f(x, y):
        return np.sum(operation(x, y))

    check(f, x, y)
    check(f, x, y[:1])
    check(f, x[:1], y)
    check(f, 2.0, y)
    check(f, np.float64(2.0), y[0])
    check(f, x[:, None], x)


def test_a_store_through_a_second_name() -> None:
    def f(x):
        y = x
        y[0] = 2 * x[1]
        return np.sum(x * x)

    x = np.array([1.0, 2.0, 3.0])
    assert gw.grad(f)(x).tolist() == [0.0, 20.0, 6.0]
    assert gw.jvp(f, (x,), (np.ones(3),))[1] == 26.0
    assert x.tolist() == [1.0, 2.0, 3.0]


def writes_through_a_view(x):
    y = x * 2.0
    v = y[1:]
    v[0] = 5.0
    return np.sum(y * y)


def log_sum_exp(a):
    largest = a[0]
    for i in range(1, len(a)):
        if a[i] > largest:
            largest = a[i]
    result = 0.0
    for i in range(len(a)):
        result += math.exp(a[i] - largest)
    return math.log(result) + largest


def test_integers_in_the_place_of_floats() -> None:
    with pytest.raises(gw.NotDifferentiable, match="only float and complex numbers"):
        gw.grad(log_sum_exp)(np.array([1, 2, 3]))
    with pytest.raises(gw.NotDifferentiable, match="only float and complex numbers"):
        gw.grad(lambda x: x * 2.5)(3)
    (gradient,) = check(log_sum_exp, np.array([1.0, 2.0, 3.0]))
    exponentials = np.exp(np.array([1.0, 2.0, 3.0]))
    assert np.allclose(gradient, exponentials / np.sum(exponentials))


def test_two_callees_of_one_name() -> None:
    one, two = types.ModuleType("one"), types.ModuleType("two")

    def g(x):
        return x**2

    one.g = g

    def g(x):
        return x**3

    two.g = g
    assert one.g.__name__ == two.g.__name__
    assert gw.grad(lambda x: one.g(x) + two.g(x))(2.0) == 16.0

    def looped(x):
        s = 0.0
        for _ in range(2):  # too long to be written out in place
            s += one.g(x) * two.g(x)
        return s

    check(looped, 2.0)


def test_comments_belong_to_their_statements() -> None:
    """Each comment of the emitted source quotes the line that it names."""

    def f(x, n):
        a = math.sin(x)
        for k in range(n):
            a = a * x + k
            if a > 2.0:
                a = math.exp(-a)
        b = a * x
        return math.cos(b) * a

    lines = Path(__file__).read_text().splitlines()
    quoted = 0
    for text in (gw.grad(f).source(1.5, 3), gw.vjp(f, 1.5, 3)[1].source()):
        for number, words in re.findall(r"# test_silent_errors\.py:(\d+) +(.+)", text):
            assert words.rstrip(" .:") in lines[int(number) - 1], (number, words)
            quoted += 1
    assert quoted > 3
    assert not hasattr(gw, "insert_grad_of")  # what the misplaced comment came from


# ---- trip counts that are not known in advance ---------------------------------------


def dynamic_sum(x, n):
    """The plainest of them: the count is an argument."""
    total = 0.0
    for i in range(n):
        total += x * i
    return total


def dynamic_product(x, n):
    """The value of each trip is overwritten by the next."""
    p = 1.0
    for _ in range(n):
        p = p * x
    return p


def count_from_data(xs):
    """The count is read from an array element."""
    s = 1.0
    for k in range(int(abs(xs[0]) * 6)):
        s = s * xs[1] + xs[k % 3]
    return s


def count_from_the_last_loop(x, n):
    """The second loop runs as often as the first one did, and one trip more."""
    trips, y = 0, x
    while y < 5.0 and trips < n:
        y = y * 1.7
        trips += 1
    for k in range(trips + 1):
        y = y * x + k
    return y


def collatz_like(x, n):
    """A while loop over an integer, that carries a float along."""
    s = x
    while n > 1:
        if n % 2:
            n = 3 * n + 1
            s = s * 0.9 + x
        else:
            n = n // 2
            s = math.sin(s)
    return s


def never_entered(x, n):
    """Zero trips: the value before the loop is the value after it."""
    y = x * x
    for k in range(n, 0):
        y = y * k
    return y * x


def backwards(x, n):
    """From the last to the first."""
    s = x
    for k in range(n - 1, -1, -1):
        s = s * x + 0.1 * k
    return s


def newton(a):
    """Endless, left by a condition on the value itself."""
    y = a
    while True:
        new = 0.5 * (y + a / y)
        if abs(new - y) < 1e-12:
            break
        y = new
    return new


def decays(x, limit):
    """A while loop whose condition reads what the body overwrites."""
    t = 0.0
    while x > limit:
        x = x - 0.1 * x * x
        t += x
    return t


# ---- nested loops, and accumulators that are overwritten -----------------------------


def reset_inside(x, n, m):
    """The inner accumulator starts anew in each trip of the outer loop."""
    total = 0.0
    for i in range(n):
        inner = 1.0
        for j in range(m):
            inner = inner * x + i * j
        total = total + inner * inner
    return total


def not_reset(x, n, m):
    """The inner accumulator goes on from where it stood."""
    total, inner = 0.0, 1.0
    for i in range(n):
        for j in range(m):
            inner = inner * x * 0.5 + i
        total += inner * inner
    return total


def triangular(x, n):
    """The inner count depends on the outer variable."""
    s = x
    for i in range(n):
        for j in range(i):
            s = s * 0.9 + math.sin(s * x) * (i - j)
    return s


def while_in_for(x, n):
    """A while loop in a for loop, of another length each time."""
    s = 0.0
    for i in range(n):
        y = x + i
        while y > 1.0:
            y = y * 0.6
            s += y * x
    return s


def for_in_while(x, n):
    """And the other way round."""
    s, k = x, 0
    while s < 50.0 and k < 6:
        for j in range(n):
            s = s + x * j * s * 0.1
        s += 1.0
        k += 1
    return s * k


def three_deep(x, n):
    """Three loops, each with an accumulator of its own."""
    a = 0.0
    for i in range(n):
        b = x
        for j in range(n):
            c = 1.0
            for k in range(i + j):
                c *= x
            b = b * 0.5 + c
        a += b * b
    return a


def two_after_one_another(x, n):
    """Two inner loops that share an accumulator."""
    s = 0.0
    for i in range(n):
        t = x
        for _ in range(i):
            t *= x
        s += t
        for _ in range(2):
            t = t * t
        s += t
    return s


def matrix_walk(table):
    """Elements by both variables, and a row kept from the trip before."""
    n = len(table)
    s, last = 0.0, table[0, 0]
    for i in range(n):
        for j in range(n):
            s = s * 0.9 + table[i, j] * last
            last = table[j, i]
    return s


# ---- continue and break --------------------------------------------------------------


def skips(x, n):
    """What stands behind a continue is skipped, in both sweeps."""
    total = 0.0
    for i in range(n):
        if i % 2 == 0:
            continue
        total += x**i
    return total


def skips_by_value(xs):
    """The condition of the continue is a value that the loop computes."""
    s = 1.0
    for x in xs:
        y = s * x
        if y < 0.0:
            continue
        s = s + y * y
    return s


def changes_then_skips(x, n):
    """The variable has been overwritten already when the trip is cut short."""
    s = x
    for k in range(n):
        s = s * x
        if k == 1:
            continue
        s = s + 1.0
    return s


def stops(x, limit):
    """The trip that breaks counts up to the break."""
    s = 0.0
    for k in range(20):
        s = s + x * (k + 1)
        if s > limit:
            break
        s = s * 1.1
    return s


def stops_the_inner(x, n):
    """Break leaves one loop only."""
    total = 0.0
    for i in range(n):
        p = 1.0
        for _ in range(10):
            p = p * x
            if p > 2.0 + i:
                break
        total += p
    return total


def skips_the_outer(x, n):
    """Continue of the outer loop behind an inner one, and in it, each their own."""
    total = 0.0
    for i in range(n):
        s = x
        for j in range(n):
            if j == i:
                continue
            if s > 6.0:
                break
            s = s * x + j
        if s > 8.0:
            continue
        total += s * s
    return total


def breaks_or_skips_in_a_while(x, n):
    """Continue and break in a while loop, whose counter must go on."""
    s, k = x, 0
    while True:
        k += 1
        if k > n:
            break
        if k % 3 == 0:
            continue
        s = s * 0.8 + x * k
        if s > 7.0:
            break
    return s * k


def finds(xs, limit):
    """A search whose trip says the value."""
    total = 0.0
    for k, x in enumerate(xs):
        total += x * x
        if total > limit:
            return total * k
    return -total


# ---- variables that are overwritten --------------------------------------------------


def overwritten_before_the_end(x, n):
    """A product reads the value from before; the trip ends with another."""
    y = x
    s = 0.0
    for k in range(n):
        s += y * y
        y = y * 0.5 + k
        s += y
        y = math.cos(y)
    return s


def overwritten_by_a_constant(x, n):
    """From there on the argument has no influence."""
    s = x
    for k in range(n):
        s = s * s
        if k == 1:
            s = 2.0
    return s


def overwritten_parameter(x, n):
    """The parameter itself is the accumulator."""
    for k in range(n):
        x = x * x * 0.5 + k * x
    return x


def overwritten_on_one_branch(x, n):
    """Only some trips overwrite; the others must find the right value."""
    s, y = 0.0, x
    for k in range(n):
        if s < 2.0:
            y = y * 1.5
        else:
            s = s * 0.5
        s += y * (k + 1)
    return s * y


def squared_in_place(x):
    """Straight-line code needs it as well."""
    y = x
    y = y * y
    y = y * y
    z = y
    y = math.sin(y)
    return y * z


def swaps(x, y, n):
    """A pair that changes places."""
    a, b = x, y
    for k in range(n):
        a, b = b, a * b + k
    return a - b * b


def fibonacci(x, n):
    """The swap of the textbooks."""
    a, b = 0.0, x
    for _ in range(n):
        a, b = b, a + b
    return a * b


def swaps_by_hand(x, y, n):
    """With a third name, which is overwritten as well."""
    for _ in range(n):
        t = x
        x = y * 0.5
        y = t * t
    return x + y * x


def rotates(x, y, z, n):
    """Three of them, in one statement."""
    for _ in range(n):
        x, y, z = y, z, x * y
    return x + 2.0 * y + 3.0 * z


def leaks_the_variable(x, n):
    """The loop variable, and a value of the last trip, are read behind the loop."""
    y = x
    for k in range(1, n):
        y = x / k + y
        last = y * k
    return last * k + y


def hides_the_variable(x, n):
    """The inner loop uses the name of the outer one."""
    s = 0.0
    for k in range(n):
        for k in range(3):
            s += x * k
        s = s * 0.5 + k
    return s


def delayed(xs):
    """Each trip reads what the trip before has left."""
    previous, s = 1.0, 0.0
    for x in xs:
        s += previous * x
        previous = s * x
    return s


# ---- returns -------------------------------------------------------------------------


def early(x):
    """A return inside an if, with more to come."""
    if x > 1.0:
        return x * x
    y = x * 3.0
    return y * y


def early_in_branches(x, y):
    """Returns on some of the branches only."""
    if x > y:
        if x > 2.0:
            return x * y
        z = x - y
    elif x < 0.0:
        return -x
    else:
        z = y * y
    return z * x


def early_in_a_loop(x, n):
    """The return leaves both loops, and what follows is not run."""
    s = x
    for i in range(n):
        for j in range(n):
            s = s * 1.1 + i * j * x
            if s > 5.0:
                return s * (i + 2 * j)
        s = s - 0.1
    return s * s


def early_in_a_helper(x):
    """The return leaves the helper only."""

    def law(y):
        if y > 1.0:
            return y
        return y * y

    return law(x) + law(2.0 * x) * law(0.5 * x)


def early_without_else(x):
    """Each if returns; the last line is reached by none or one."""
    if x < -1.0:
        return -2.0 * x
    if x < 0.0:
        return x * x
    if x < 1.0:
        return x**3
    return 1.0


TABLE = np.array([[0.5, 1.5, -0.7], [0.9, 0.3, 1.1], [-0.4, 0.8, 0.6]])

PROGRAMS: dict[Any, list[tuple[Any, ...]]] = {
    dynamic_sum: [(1.5, 0), (1.5, 1), (1.5, 5)],
    dynamic_product: [(1.5, 0), (1.5, 1), (1.5, 5), (0.0, 3)],
    count_from_data: [(XS * 1.1,), (XS * 0.1,), (XS * 1.5,)],
    count_from_the_last_loop: [(1.3, 9), (6.0, 9), (1.3, 1)],
    collatz_like: [(0.7, 1), (0.7, 7)],
    never_entered: [(1.5, 3), (1.5, -2)],
    backwards: [(0.9, 0), (0.9, 1), (0.9, 4)],
    newton: [(2.0,), (1.1,), (30.0,)],
    decays: [(3.0, 0.5), (0.4, 0.5)],
    reset_inside: [(1.2, n, m) for n in (0, 1, 3) for m in (0, 1, 3)],
    not_reset: [(1.2, n, m) for n in (0, 1, 3) for m in (0, 1, 3)],
    triangular: [(0.6, n) for n in (0, 1, 2, 4)],
    while_in_for: [(0.5, 0), (0.5, 1), (0.5, 4), (3.0, 2)],
    for_in_while: [(1.5, 0), (1.5, 3), (60.0, 3)],
    three_deep: [(0.9, n) for n in (0, 1, 3)],
    two_after_one_another: [(0.9, n) for n in (0, 1, 3)],
    matrix_walk: [(TABLE,), (TABLE[:1, :1],)],
    skips: [(1.2, n) for n in (0, 1, 2, 5)],
    skips_by_value: [(XS,), (-XS,), (XS[:0],)],
    changes_then_skips: [(1.2, n) for n in (0, 1, 2, 4)],
    stops: [(0.4, 0.1), (0.4, 3.0), (0.4, 1e9)],
    stops_the_inner: [(1.3, 0), (1.3, 1), (1.3, 4), (0.9, 2)],
    skips_the_outer: [(1.3, 0), (1.3, 1), (1.3, 4), (0.5, 4)],
    breaks_or_skips_in_a_while: [(0.5, 0), (0.5, 2), (0.5, 3), (0.5, 9), (5.0, 9)],
    finds: [(XS, 0.1), (XS, 2.6), (XS, 99.0)],
    overwritten_before_the_end: [(0.7, n) for n in (0, 1, 4)],
    overwritten_by_a_constant: [(1.2, n) for n in (0, 1, 2, 4)],
    overwritten_parameter: [(0.7, n) for n in (0, 1, 4)],
    overwritten_on_one_branch: [(0.3, n) for n in (0, 1, 6)],
    squared_in_place: [(0.9,)],
    swaps: [(0.7, 1.2, n) for n in (0, 1, 2, 5)],
    fibonacci: [(0.7, n) for n in (0, 1, 2, 7)],
    swaps_by_hand: [(0.7, 1.2, n) for n in (0, 1, 2, 5)],
    rotates: [(0.7, 1.2, 1.4, n) for n in (0, 1, 2, 3, 7)],
    leaks_the_variable: [(0.7, 2), (0.7, 5)],
    hides_the_variable: [(0.7, n) for n in (0, 1, 3)],
    delayed: [(XS,), (XS[:1],), (XS[:0],)],
    early: [(2.0,), (0.5,), (0.9,)],
    early_in_branches: [(3.0, 1.0), (1.5, 1.0), (-2.0, 1.0), (0.5, 1.0)],
    early_in_a_loop: [(2.0, 3), (0.3, 3), (0.3, 0), (6.0, 1)],
    early_in_a_helper: [(3.0,), (0.7,), (0.2,)],
    early_without_else: [(-2.0,), (-0.5,), (0.5,), (2.0,)],
}
CASES = [(f, args) for f, samples in PROGRAMS.items() for args in samples]


@pytest.mark.parametrize(
    ("f", "args"), CASES, ids=lambda v: getattr(v, "__name__", str(v))
)
@pytest.mark.filterwarnings("error")
def test_against_differences(f, args: tuple[Any, ...]) -> None:
    check(f, *args)


@pytest.mark.parametrize(
    ("f", "args"), CASES, ids=lambda v: getattr(v, "__name__", str(v))
)
def test_second_derivatives(f, args: tuple[Any, ...]) -> None:
    """What is pushed in one sweep must be right for the next one, too."""
    first, others = args[0], args[1:]
    slope = gw.grad(f)

    def along(x):
        return np.sum(slope(x, *others) * x)

    check(along, first, tolerance=1e-5, exact=False)
    if isinstance(first, float):
        second = gw.grad(slope)(first, *others)
        wanted = differences(lambda x: slope(x, *others), (first,), (1.0,))
        near(second, wanted, 1e-5, "second derivative and differences")


# ---- stores into arrays --------------------------------------------------------------


def writes_in_a_loop(xs):
    ys = xs * 1.0
    for k in range(1, len(xs)):
        ys[k] = ys[k - 1] * xs[k]
    return np.sum(ys)


def overwrites_an_array(xs):
    ys = xs * xs
    for _ in range(3):
        ys *= 0.5
    return np.sum(ys * ys)


def swaps_elements(xs):
    ys = xs * 1.0
    for k in range(2):
        ys[k], ys[-1 - k] = ys[-1 - k], ys[k]
    return ys[0] * ys[1]


def writes_a_component(table):
    table[0, 1] += table[1, 0]
    return np.sum(table * table)


def writes_on_one_branch(xs):
    ys = xs * 1.0
    if xs[0] > 0.0:
        ys[1] = 0.0
    return np.sum(ys)


def writes_through_a_row(table):
    rows = table * 1.0
    for row in rows:
        row[0] = row[1] ** 2
    return np.sum(rows)


def writes_a_slice(xs):
    ys = xs * 1.0
    ys[1:] = ys[:-1]
    return np.sum(ys * xs)


STORES = [
    (writes_in_a_loop, XS),
    (overwrites_an_array, XS),
    (swaps_elements, XS),
    (writes_on_one_branch, XS),
    (writes_a_slice, XS),
    (writes_through_a_view, XS),
]


@pytest.mark.parametrize(("f", "x"), STORES, ids=lambda v: getattr(v, "__name__", ""))
def test_stores_against_differences(f, x: Any) -> None:
    kept = x.copy()
    check(f, x)
    assert np.array_equal(x, kept)


def test_a_component_of_an_argument() -> None:
    """The argument itself stays as it is."""
    kept = TABLE.copy()
    wanted = 2.0 * kept
    wanted[0, 1] = total = 2.0 * (kept[0, 1] + kept[1, 0])
    wanted[1, 0] += total
    assert np.allclose(gw.grad(writes_a_component)(TABLE), wanted)
    _, slope = gw.jvp(writes_a_component, (TABLE,), (kept,))
    assert np.isclose(slope, np.sum(wanted * kept))
    assert np.array_equal(TABLE, kept)


def test_the_rows_of_a_loop_are_no_copies() -> None:
    check(writes_through_a_row, TABLE)
