"""Lists in the reverse sweep: what is put back, and what is kept on a tape."""

from typing import Any

import numpy as np
import pytest
from semantics.oracle import check

import gradwright as gw

X = np.array([0.7, -0.35, 1.2, 0.51])


def test_an_append_is_undone_only_where_the_list_is_read_before() -> None:
    def sums(x):
        items = []
        for v in x:
            items.append(v * v)
        return sum(items)

    def powers(x):
        items = [1.0]
        for v in x:
            items.append(items[-1] * v)
        return items[-1]

    check(sums, X)
    check(powers, X)
    assert "        items.pop()" not in gw.grad(sums).source(X)
    assert "        items.pop()" in gw.grad(powers).source(X)


def test_a_store_keeps_the_item_only_where_it_is_read_before() -> None:
    def scaled(x, n):
        items = [0.0] * n
        for k in range(n):
            items[k] = x * k
        return sum(items)

    def squared(x, n):
        items = [x] * n
        for k in range(n):
            items[k] = items[k] ** 2 + items[0]
        return sum(items)

    check(scaled, 0.7, 4)
    check(squared, 0.7, 4)
    assert "tape" not in gw.grad(scaled).source(0.7, 4)
    assert "items_tape" in gw.grad(squared).source(0.7, 4)


def test_a_list_that_a_variable_loses_is_kept_whole() -> None:
    def rows(x, n):
        row = [x, 1.0]
        for _ in range(n):
            new = [x]
            for v in row:
                new.append(v * row[0])
            row = new
        return sum(row)

    check(rows, 0.9, 4)
    assert "row_tape.append(row)" in gw.grad(rows).source(0.9, 4)


@pytest.mark.parametrize("position", [-4, -2, -1, 0, 1, 2, 5])
def test_an_item_goes_back_to_where_it_was(position: int) -> None:
    def inserted(x, k):
        items = [x[0] * x[1], x[1], x[2]]
        for _ in range(2):
            items.insert(k, items[0] * items[-1])
        return sum(v * v * (j + 1) for j, v in enumerate(items))

    def popped(x, k):
        items = [x[0] * x[1], x[1], x[2], x[3]]
        total = items[0] * items[-1]
        for _ in range(2):
            total += items.pop(k) * items[0]
        return total + items[1] * items[0]

    check(inserted, X, position)
    if -3 <= position <= 2:
        check(popped, X, position)
    else:
        with pytest.raises(IndexError, match="pop index out of range"):
            gw.grad(popped)(X, position)


def test_cotangents_of_arrays_share_no_memory() -> None:
    def f(x, n):
        items = [x * 2.0]
        for k in range(n):
            items.append(items.pop() * x[k])
            items.append(items[0] + items[-1])
            items[0] = items[1] * items[0]
        return np.sum(items[0] * items[-1] + items[1])

    check(f, X, 3)


def reversed_twice(f, x, n):
    """Both ways to second derivatives give the same."""
    wanted = gw.jacfwd(gw.grad(f))(x, n)
    np.testing.assert_allclose(gw.jacrev(gw.grad(f))(x, n), wanted, rtol=1e-9)


@pytest.mark.parametrize("n", [1, 3])
def test_a_number_that_stands_for_an_array_gets_a_sum(n: int) -> None:
    def f(x, n):
        rows = [x]
        for k in range(n):
            rows = [np.sin(row) * x[k] for row in rows] + [rows[-1]]
        return np.sum(rows[0]) * np.sum(rows[-1])

    def parts(x, n):
        rows = [x[k:] * 1.0 for k in range(n + 1)]
        some = rows[1:]
        return np.sum(some[0] * some[0])

    reversed_twice(f, X, n)
    reversed_twice(parts, X, n)


@pytest.mark.parametrize("n", [2, 3])
def test_an_item_that_is_had_again_has_a_length_of_its_own(n: int) -> None:
    def f(x, n):
        parts = [x[k:] * 1.0 for k in range(n)]
        for k in range(n):
            parts[k] = np.concatenate((parts[k], parts[k - 1])) * x[0]
        total = 0.0
        for part in parts:
            total = total * 0.5 + np.sum(part * part)
        return total

    reversed_twice(f, X, n)


def upwards(x, n):
    items = [x[0]] * n
    for k in range(1, n):
        items.insert(k, x[1] * items[0])
    return sum(v * v * (j + 1) for j, v in enumerate(items))


def downwards(x, n):
    items = [x[0]] * n
    for k in range(n, -1, -1):
        items.insert(k, x[1] * items[0])
    return sum(v * v * (j + 1) for j, v in enumerate(items))


def from_below(x, n):
    items = [x[0]] * n
    for k in range(-3, n):
        items.insert(k, x[1] * items[0])
    return sum(v * v * (j + 1) for j, v in enumerate(items))


@pytest.mark.parametrize("f", [upwards, downwards, from_below])
def test_the_sign_of_a_position_is_asked_where_it_is_not_known(f: Any) -> None:
    check(f, X, 4)
    asks = "max(" in gw.grad(f).source(X, 4)
    assert asks == (f is from_below)
