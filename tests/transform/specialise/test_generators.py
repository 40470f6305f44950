"""Generator expressions consumed on the spot: Python's values, and what it skips."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from semantics.oracle import check, differences, near

import gradwright as gw

X = np.array([0.7, -0.35, 1.2, 0.51])


def over_a_range(x, a):
    lit = all(x[k] < a for k in range(len(x)))
    dark = any(x[k] * a > 1.0 for k in range(1, len(x)))
    return (x[1] ** 2 if lit else x[2] ** 3) * (x[3] if dark else 2.0)


def several_clauses(x, n):
    s = sum(x[k] ** 2 * i for i in range(n) for k in range(i, len(x)) if x[k] > 0)
    t = sum(v * w for v, w in zip(x, x[::-1], strict=False) if v > 0 if w < 1.0)
    some = any(x[j] * x[k] > 0.5 for j in range(n) for k in range(j) if k != 1)
    every = all(v < 1.0 for k, v in enumerate(x) for w in x if k < n and w > v)
    return s * x[0] + t * (2.0 if some else x[1]) + (x[2] if every else 0.0)


def the_largest_and_the_smallest(x, n):
    top = max(v**2 for v in x)
    low = min((x[k] * x[0] for k in range(n)), default=x[1])
    known = max((v for v in (x[0], x[1])), default=0.0)
    return top * low + known * min(v * k for k, v in enumerate(x))


def products(x, n):
    p = math.prod(x[k] + i for i, k in enumerate(range(1, n + 1)))
    q = math.prod((x[k] for k in range(n)), start=x[0])
    return p * x[3] + q + math.prod(v for v in (x[0], x[1]))


def sums_of_arrays(x, n):
    rows = sum((x * k for k in range(n)), start=x)
    big = sum(x * x for k in range(n))
    return np.sum(rows**2) + np.sum(big) * x[0] + sum((v for v in x), x[1])


def in_loops(x, n):
    total = 0.0
    for r in range(n):
        total += sum(x[k] for k in range(r)) * x[r]
        if any(v > 1.0 for v in x[:r]):
            total *= x[0]
        while any(total > v for v in (5.0, 6.0)):
            total = total / 2.0
    return total


def names_of_its_own(x, n):
    k = 2
    value, total = x[0], x[1]
    total = sum(total * v for k, v in enumerate(x) if k != n)
    every = all(value < v for v in x if v > 0)
    return total * x[k] + value + (1.0 if every else x[3])


def over_tuples(x, n):
    pair = (x[0], x[1] * x[2])
    s = sum(v * v for v in pair) + max(v for v in pair)
    t = sum(v for v in pair if v > 0.1)
    return s * t + (x[3] if all(v > n for v in pair) else x[2])


def in_a_helper(x, n):
    def inside(v):
        return all(abs(v - w) < n for w in x)

    return sum(v * v for v in x if inside(v))


def gathered(x, n):
    xs = list(x[k % 4] * (k + 1) for k in range(n) for j in range(k) if j != 1)
    ys = np.array(list(v * v for v in x if v > 0))
    zs = [*(v * v for v in (x[0], x[1]))]
    a, b = (v * v for v in x[:2])
    first, *others = (v * x[3] for v in (x[0], x[1], x[2]))
    known = dict((k, x[k]) for k in range(3))
    numbered = dict(enumerate(v * v for v in (x[0], x[1])))
    total = np.sum(ys**2) + sum(zs) * a * b + first * sum(others)
    return total + sum(xs) * len(xs) + known[0] * known[2] + numbered[1]


def seen_by_a_list_that_grows(x, n):
    xs, ys = [x[0]], [x[1]]
    xs.extend(xs[-1] * x[1] for _ in range(3))
    xs += (xs[-2] * v for v in (x[0], x[2]))
    ys.extend(x[k % 4] * ys[-1] for k in range(n) if k != 2)
    ys += (v * ys[0] for v in x if v > 0)
    return sum(v * v * (k + 1) for k, v in enumerate(xs + ys))


def gathered_before_a_list_changes(x, n):
    xs = [x[k % 4] * (k + 1) for k in range(n)]
    xs[:] = (v * xs[0] for v in xs)
    xs[1:] = (v * xs[-1] for v in xs if v < 2)
    xs[:1] = (xs[0] * v * k for k, v in enumerate(w * xs[-1] for w in x))
    return sum(v * v * (k + 1) for k, v in enumerate(xs))


def step_by_step(x, n):
    y, t, w = x.copy(), 0.0, x[1]
    for v in (y[k % 4] for k in range(n)):
        y[:] = y * 1.5
        t += v * x[0]
    for k, v in enumerate(y[j] * x[0] for j in range(4)):
        y[:] = y * 0.5
        t += v * (k + 1)
    for v, w in zip((y[j] * w for j in range(n)), x, strict=False):
        y[0] = y[0] * w
        t = t * 0.3 + v * w
        if t > 2.0:
            break
    for v in (y[k] * w for k, w in ((0, x[1]), (2, x[0]), (1, 1.0))):
        y[:] = y * x[0]
        t += v * w
    return t


def loops_with_tests(x, n):
    t, w, y = 0.0, x[0], x.copy()
    for v in (w * w for w in y if w > 0):
        y[:] = y * 0.9 + x
        t += v * w
    for v in (a * b for a in x for b in range(n) if b % 2 or a > 1):
        t = t * 0.5 + v
        if v > 1.5:
            break
    else:
        t *= x[1]
    for v in (x[a] * b for a in range(3) for b in (1, 2) if b + a > 1):
        if v > 2:
            return t
        if v < 0:
            continue
        t = t * 0.5 + v
    return t


def under_a_name(x, n):
    def total(items):
        s = 0.0
        for v in items:
            s = s * 0.5 + v * v
        return s

    y = x[3]
    g = (v * y for v in x if v > 0)
    y = x[0]
    z = list(g)
    largest = (v * v for v in x)
    result = sum(z) * max(largest) + total(v * x[1] for v in z)
    return result + total(x[k] * x[1] for k in range(n))


def of_another_one(x, n):
    x = [x * x for x in x]
    x = list(x * x for x in x)
    s = sum(v * v for v in (w * w for w in x))
    t = [v * v for v in (w * 2 for w in x if w > 0.1)]
    return s * sum(t) + sum(v for v in (x[k] for k in range(n)))


PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (over_a_range, (X, 2.0)),
    (over_a_range, (X, 1.0)),
    (several_clauses, (X, 0)),
    (several_clauses, (X, 3)),
    (the_largest_and_the_smallest, (X, 0)),
    (the_largest_and_the_smallest, (X, 3)),
    (products, (X, 0)),
    (products, (X, 3)),
    (sums_of_arrays, (X, 0)),
    (sums_of_arrays, (X, 2)),
    (in_loops, (X, 0)),
    (in_loops, (X, 4)),
    (names_of_its_own, (X, 1)),
    (over_tuples, (X, 0)),
    (over_tuples, (X, -1)),
    (in_a_helper, (X, 1)),
    *(
        (f, (X, n))
        for f in (
            gathered,
            seen_by_a_list_that_grows,
            step_by_step,
            loops_with_tests,
            under_a_name,
            of_another_one,
        )
        for n in (0, 1, 3)
    ),
    (gathered_before_a_list_changes, (X, 1)),
    (gathered_before_a_list_changes, (X, 4)),
]
NAMES = [f"{f.__name__}-{args[1]}" for f, args in PROGRAMS]


@pytest.mark.parametrize(("f", "args"), PROGRAMS, ids=NAMES)
def test_against_differences(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    check(f, *args)


@pytest.mark.parametrize(("f", "args"), PROGRAMS, ids=NAMES)
def test_second_order(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    def along(x):
        return np.sum(gw.grad(f)(x, *args[1:]) * x)

    gradient = gw.grad(along)(args[0])
    slope = differences(along, (args[0],), (np.ones_like(args[0]),))
    near(np.sum(gradient), slope, 1e-5, "second order and differences")


def test_it_is_the_loop_that_a_person_writes() -> None:
    def f(x, a):
        lit = all(x[k] < a for k in range(len(x)))
        return x[0] if lit else x[1]

    assert """
    lit = True
    for k in range(len(x)):
        if not x[k] < a:
            lit = False
            break
""" in gw.grad(f).source(X, 1.0)


def test_what_is_skipped_is_not_evaluated() -> None:
    def some(x, n):
        return x[0] if any(x[k] > 1.0 for k in range(n)) else x[1]

    def every(x, n):
        return x[0] if all(1.0 / (2 - k) > x[0] for k in range(n)) else x[1]

    assert gw.grad(some)(X, 9).tolist() == [1.0, 0.0, 0.0, 0.0]
    with pytest.raises(IndexError):
        gw.grad(some)(np.minimum(X, 1.0), 9)
    assert gw.grad(every)(np.array([0.8, 1.0]), 3).tolist() == [0.0, 1.0]
    with pytest.raises(ZeroDivisionError):
        gw.grad(every)(np.array([0.3, 1.0]), 3)


def test_nothing_has_no_largest_item() -> None:
    def f(x, n):
        return max(x[k] for k in range(n)) + min(x[k] for k in range(n))

    with pytest.raises(ValueError, match=r"max\(\)") as numpys:
        f(X, 0)
    with pytest.raises(ValueError, match=r"max\(\)") as ours:
        gw.grad(f)(X, 0)
    assert str(ours.value) == str(numpys.value)


def twice(x):
    squares = (v * v for v in x)
    return sum(squares) + sum(squares)


def in_another_loop(x):
    squares, total = (v * v for v in x), 0.0
    for _ in x:
        total += max(squares)
    return total


def endless(x):
    xs = [v * v for v in x]
    xs.extend(v for v in xs)
    return sum(xs)


def endless_and_known(x):
    xs = [x[0], x[1]]
    xs.extend(v for v in xs)
    return sum(xs)


def numbered(x):
    total = 0.0
    for k, v in enumerate(v * v for v in x if v > 0):
        total += k * v
    return total


REFUSED = [
    ("':=' inside a generator expression", lambda x: all((y := v) < y for v in x)),
    (
        "':=' inside a generator expression",
        lambda x: sum(list((y := v) * y for v in x)),
    ),
    (r"this argument of max\(\)", lambda x: max((v for v in x), key=abs)),
    ("a tuple of run-time length", lambda x: len(tuple(v for v in x))),
    ("a number is needed here", lambda x: np.sum(np.array(v for v in x))),
    ("gone through twice", twice),
    ("or in another loop", in_another_loop),
    ("the length of a list changes in a loop over it", endless),
    ("which never ends", endless_and_known),
    ("with an 'if' or a second 'for'", numbered),
    ("returns a generator expression", lambda x: (v for v in x)),
]


@pytest.mark.parametrize(("words", "f"), REFUSED)
def test_what_is_refused_is_named(words: str, f: Callable[..., Any]) -> None:
    with pytest.raises(gw.UnsupportedSyntax, match=words):
        gw.grad(f)(X)
