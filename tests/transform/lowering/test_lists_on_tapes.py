"""Lists on tapes: their items behind one another, and how many each of them has."""

from typing import Any

import numpy as np
import pytest
from lowered import assert_compiles, assert_differentiates

import gradwright as gw

X = np.array([0.7, -1.3, 2.1, 0.4])


def rows_of_a_table(x, n):
    before = [0.0] * (n + 1)
    for i in range(n):
        row = [0.0] * (n + 1)
        for j in range(1, n + 1):
            row[j] = max(before[j], row[j - 1]) * 0.9 + x[(i + j) % 3]
        before = row
    return before[-1]


def doubled(x, n):
    items = [x[0]]
    for _ in range(n):
        new = []
        for v in items:
            new.append(v * x[1])
            new.append(v + x[2])
        items = new
    return sum(items)


def chosen(x, n):
    xs = list(x)
    for _ in range(n):
        xs = [v * v for v in xs if v > 0.1]
    return sum(xs)


def halved(x, n):
    xs = [v * (n + 1.0) for v in x]
    while len(xs) > 1:
        pairs = []
        for k in range(0, len(xs) - 1, 2):
            pairs.append(xs[k] * xs[k + 1])
        if len(xs) % 2:
            pairs.append(xs[-1])
        xs = pairs
    return xs[0]


def of_arrays(x, n):
    rows = [x, x * 2.0]
    for k in range(n):
        new = []
        for row in rows:
            new.append(np.sin(row) * (k + 1))
        new.append(rows[0] * rows[-1])
        rows = new
    return np.sum(np.stack(rows) ** 2)


def smooth(xs, w):
    out = [xs[0] * w]
    for k in range(1, len(xs)):
        out.append(xs[k] * w + xs[k - 1] ** 2)
    out.append(xs[-1])
    return out


def in_a_helper(x, n):
    xs = [x[0]]
    for _ in range(n):
        xs = smooth(xs, x[1])
    return np.array(xs) * x[2]


def changing_places(x, n):
    prev, cur = [x * k for k in range(n)], [x * 0.0] * n
    for _ in range(3):
        for j in range(n):
            cur[j] = prev[j] * prev[j - 1] + cur[j]
        prev, cur = cur, prev
    return sum(np.sum(p * x) for p in prev) + sum(np.sum(p) for p in cur)


PROGRAMS = [rows_of_a_table, doubled, chosen, halved, of_arrays, changing_places]


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("n", [0, 1, 4])
def test_cotangents(f: Any, n: int) -> None:
    assert_differentiates(f, X, n)


@pytest.mark.parametrize("f", PROGRAMS)
def test_second_derivatives(f: Any) -> None:
    assert_compiles(gw.hessian(f), X, 2)


def test_more_items_than_there_was_room_for() -> None:
    assert_differentiates(doubled, X, 6)


def test_every_row_has_lists_of_its_own() -> None:
    assert_compiles(gw.jacrev(in_a_helper), X, 3)


def test_samples() -> None:
    each = gw.vmap(gw.grad(doubled), in_axes=(0, None))
    assert_compiles(each, np.stack([X, X * 0.5]), 3)
