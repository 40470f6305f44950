"""Reading is free: views and arrays that are passed twice behave as in NumPy."""

import numpy as np
import pytest
from semantics.oracle import check

import gradwright as gw


def product(a, b):
    s = 0.0
    for k in range(len(a)):
        s += a[k] * b[-1 - k]
    return s


def test_one_array_passed_twice() -> None:
    xs = np.array([1.0, 2.0, 4.0])
    first, second = check(product, xs, xs)
    assert first.tolist() == second.tolist() == [4.0, 2.0, 1.0]
    assert not np.shares_memory(first, second)


def test_overlapping_arguments() -> None:
    xs = np.array([1.0, 2.0, 4.0, 8.0])
    first, second = check(product, xs[1:], xs[:-1])
    assert first.tolist() == [4.0, 2.0, 1.0]
    assert second.tolist() == [8.0, 4.0, 2.0]


def test_an_argument_that_is_also_captured() -> None:
    xs = np.array([1.0, 2.0, 4.0])

    def f(a):
        return product(a, xs)

    assert gw.grad(f)(xs).tolist() == [4.0, 2.0, 1.0]


def test_two_names_of_one_array() -> None:
    def f(xs):
        ys = xs
        zs = ys[1:]
        return np.sum(xs * xs) + np.sum(ys) * zs[0]

    (gradient,) = check(f, np.array([1.0, 2.0, 4.0]))
    assert gradient.tolist() == [4.0, 13.0, 10.0]


@pytest.mark.parametrize(
    "part",
    [
        lambda xs: xs[1:],
        lambda xs: xs[:-1],
        lambda xs: xs[::2],
        lambda xs: xs[::-1],
        lambda xs: xs[::-1][1:-1],
        lambda xs: xs[-2:1:-1],
        lambda xs: xs[1:100],
        lambda xs: xs[3:1],
        lambda xs: xs[...],
        lambda xs: xs[None, 1:],
        lambda xs: xs[1:, None],
    ],
)
def test_views_and_views_of_views(part) -> None:
    def f(xs):
        ys = part(xs)
        return np.sum(ys * ys) + 3.0 * np.sum(part(xs * xs))

    check(f, np.array([1.0, 2.0, 3.0, 5.0, 7.0]))


def test_rows_and_columns() -> None:
    def f(table):
        row, column = table[1], table[:, 0]
        corner = table[:2, 1:]
        return row[0] * np.sum(column) + corner[0, -1] ** 2 * table[-1, -1]

    check(f, np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]))


def test_a_view_that_is_kept_over_the_trips_of_a_loop() -> None:
    def f(table):
        row, s = table[0], 0.0
        for k in range(1, len(table)):
            s += row[0] * table[k, 1]
            row = table[k]
        return s + row[1]

    check(f, np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))


def test_buffers_that_change_places() -> None:
    def f(a, b, n):
        for _ in range(n):
            a, b = b, a * 2.0
        return a[0] * b[1]

    for n in range(4):
        check(f, np.array([1.0, 2.0]), np.array([3.0, 5.0]), n)


@pytest.mark.parametrize("layout", ["C", "F"])
def test_the_layout_makes_no_difference(layout: str) -> None:
    def f(table):
        s = 0.0
        for row in table:
            s = s * 0.5 + row[0] * row[-1]
        return s

    table = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], order=layout)
    (gradient,) = check(f, table)
    assert gradient.tolist() == [[0.5, 0.25], [2.0, 1.5], [6.0, 5.0]]
    check(f, table[::-1])
    check(f, table.T[:, :2])
