"""Comprehensions over what only the run knows."""

import numpy as np
from semantics.oracle import check

import gradwright as gw

X = np.array([0.7, -0.35, 1.2, 0.51])


def test_conditions_and_several_loops() -> None:
    def f(x, n):
        squares = [v * v for v in x if v > 0.0 if v < 1.0]
        table = [a * b + k for k, a in enumerate(squares) for b in x[:n] if b > -1.0]
        return sum(table) * len(squares)

    check(f, X, 3)


def test_one_in_another() -> None:
    def f(x, n):
        sums = [sum([x[j] * k for j in range(k)]) for k in range(n)]
        return sum([s * s for s in sums])

    check(f, X, 4)


def test_what_is_known_is_written_out() -> None:
    def f(x):
        powers = [x**k for k in range(3)]
        return powers[0] + powers[1] * powers[2]

    check(f, 1.3)
    assert "for" not in gw.grad(f).source(1.3)


def test_a_list_as_a_condition() -> None:
    def f(x, n):
        items = [v for v in x if v > 0.6]
        total = 0.0
        while (items and len(items) > n) or (items and items[-1] > 1.0):
            total += items.pop() * x[0]
        if not items:
            total *= x[1]
        return total * x[2] if items and x[0] > 0.0 else total

    for n in range(3):
        check(f, X, n)
