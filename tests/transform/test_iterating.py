"""Loops over lists in lists, written as loops over their items."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradwright as gw

X = np.array([0.7, -0.35, 1.2])


def sums(x, n):
    table = [[a * k for k in range(n)] for a in x]
    total = 0.0
    for r in table:
        for v in r:
            total = total * 0.5 + v * v
    return total


def changed_inside(x, n):
    table = [[a * k for k in range(n)] for a in x]
    for k in range(len(table)):
        table[k][0] = x[0]
        table[k].append(x[1])
    return sum([len(r) * sum(r) for r in table])


def changed_as_they_come(x, n):
    table = [[a * k for k in range(n)] for a in x]
    for k in range(len(table)):
        for j in range(len(table[k])):
            table[k][j] = table[k][j] * table[k][0]
    return sum([sum(r) for r in table])


def by_number(x, n):
    table = [[a * k for k in range(n)] for a in x]
    total = 0.0
    for k in range(len(table)):
        total += table[k][0] * k + table[k - 1][-1]
    return total


@pytest.mark.parametrize(
    ("f", "lines"),
    [
        (sums, ["for row in table:", "    for v in row:"]),
        (changed_inside, ["    table[k_1][0] = x", "    for row_i in row:"]),
        (changed_as_they_come, ["for row in table:", "        row[j] *= row[0]"]),
        (by_number, ["in range(len(table)):", "    total += table[k_1][0] * k_1"]),
    ],
)
def test_the_text(f: Callable[..., Any], lines: list[str]) -> None:
    value, _ = gw.value_and_grad(f)(X, 3)
    assert value == f(X, 3)
    gw.check_grads(lambda x: f(x, 3), (X,))
    text = gw.value_and_grad(f).source(X, 3)
    for line in lines:
        assert line in text, text


def test_zeros_like_a_table() -> None:
    text = gw.grad(sums).source(X, 3)
    assert "table_bar = [[0.0] * len(row) for row in table]" in text
