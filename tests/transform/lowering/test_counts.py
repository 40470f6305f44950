"""Formulas, and sums of them over loops."""

import itertools
from fractions import Fraction
from typing import Any

import pytest

from gradwright.transform.indices import Linear, linear, symbol
from gradwright.transform.lowering.counts import (
    Formula,
    Unknown,
    form_text,
    larger,
    number,
    sum_of_powers,
    summed,
)

N, M, K = symbol("n"), symbol("m"), symbol("i")


def text(f: Formula) -> str:
    return f.text(str)


def product(*forms: Any, c: int = 1) -> Formula:
    factors = ((linear(f), True) for f in forms)
    return Formula({(): Fraction(c)}).times(*factors)


@pytest.mark.parametrize(
    ("formula", "wanted"),
    [
        (number(0), "0"),
        (number(3), "3"),
        (product(N, M, c=2), "2 * m * n"),
        (product(N, N), "n**2"),
        (product(N - 1, N), "(n - 1) * n"),
        (product(N * 2 + 1), "(2 * n + 1)"),
        (product(N) + product(M, N), "m * n + n"),
        (product(N) + product(N), "2 * n"),
        (product(N, c=3).times(coefficient=Fraction(1, 2)), "3 * n / 2"),
        (product(N) + product(M, c=-2), "- 2 * m + n"),
    ],
)
def test_texts(formula: Formula, wanted: str) -> None:
    assert text(formula) == wanted.replace("- 2 * m + n", "-2 * m + n")


def test_values() -> None:
    f = product(N, M - 1, c=2) + number(5)
    assert f.value({"n": 3, "m": 4}.get) == 23
    assert f.value({"n": 3, "m": 0}.get) == 5  # a loop never runs less than not at all
    assert f.value({"n": 3}.get) is None
    half = Unknown("n // 2", lambda of: (of("n") or 0) // 2)
    assert product(symbol(half)).value({"n": 7}.get) == 3
    assert form_text(symbol(half) + 1, str) == "(n // 2 + 1)"


def test_sums_of_powers() -> None:
    for k, n in itertools.product(range(4), range(6)):
        factors, divisor = sum_of_powers(k, N)
        found = number(1).times(*factors, coefficient=Fraction(1, divisor))
        assert found.value({"n": n}.get) == sum(j**k for j in range(n))


@pytest.mark.parametrize(("start", "step", "count"), [(0, 1, 5), (2, 3, 4), (9, -1, 6)])
def test_sums_over_a_loop(start: int, step: int, count: int) -> None:
    for factors in ([], [K], [K * 2 + 1, N], [K, K - 1], [K, K, N - K]):
        f = Formula({tuple((linear(g), False) for g in factors): Fraction(1)})
        found = summed(f, "i", linear(start), step, symbol("count"))
        wanted = sum(
            f.value({"n": 20, "i": i}.get) or 0
            for i in range(start, start + count * step, step)
        )
        assert found.value({"n": 20, "count": count}.get) == wanted


def test_the_longer_way_counts() -> None:
    a, b = {"flops": product(N)}, {"flops": product(N, c=3)}
    assert text(larger(a, b)["flops"]) == "3 * n"
    assert text(larger({"flops": product(M)}, b)["flops"]) == "3 * n + m"
    assert isinstance(N, Linear)
