"""Programs that read, slice and reduce arrays, to the second derivative.

Part of the first paragraph, Meaning, for what arrays can do without being stored into.
"""

import math
from typing import Any

import numpy as np
import pytest
from semantics.oracle import check

import gradwright as gw

XS = np.array([1.5, -0.5, 2.5, 0.5])
YS = np.array([0.3, 0.7, -0.2, 1.1])
ZS = XS + 1j * YS
TABLE = np.array([[1.0, 2.0, 3.0, 0.5], [3.0, 4.0, -1.0, 2.0], [5.0, 6.0, 0.7, 1.0]])


def carried_array(xs, n):
    a = xs
    for k in range(n):
        a = a * 0.5 + xs * k
    return np.sum(a * a)


def array_on_two_paths(xs, ys):
    a = xs
    if xs[0] > 0.0:
        a = a * ys
    else:
        a = a + ys
    return np.sum(a * a)


def carried_row(table):
    s, acc = np.sum(table[0]), table[0]
    for row in table[1:]:
        acc = acc * row + row
    return np.sum(acc) * s


def law(a, b):
    return a * b + np.sin(a)


def through_a_helper(xs, ys):
    return np.sum(law(xs, ys) * law(ys, 2.0)) + law(xs[0], ys[1])


def squared(a, n):
    for _ in range(n):
        a = a * a * 0.3
    return a


def through_a_loop_of_a_helper(xs):
    return np.sum(squared(xs, 3)) + np.sum(squared(xs[1:], 2)) + squared(xs[0], 2)


def shrunk(a, n):
    if n == 0:
        return a
    return shrunk(a * 0.7, n - 1) * a


def through_recursion(xs):
    return np.sum(shrunk(xs, 3))


def broadcast(xs, table):
    s = np.sum(xs * table) + np.sum(table * xs[None, :])
    return s + np.sum(table[:, 0][:, None] * xs)


def broadcast_both(a, b):
    return np.sum(a) * np.sum(b) + np.sum(a * b) + np.sum((a + b) / (b * b + 2.0))


def complex_array(zs):
    s = np.sum((zs * zs.conjugate()).real) + np.sum(np.abs(zs))
    return s + np.sum(zs.imag * zs.real)


def complex_and_real(zs, xs):
    return np.sum((zs * xs).imag) + np.sum(xs * xs)


def extremes(xs):
    return np.max(xs) * np.min(xs) + xs.argmax() * xs[0] * xs[0]


def selected(xs, c):
    s = np.sum(np.where(xs > 0, xs * c, c * c))
    return s + np.sum(np.maximum(xs, 0.3) ** 2.0) + np.sum(np.clip(xs, 0.0, 1.0) * xs)


def neighbours(xs):
    s = 0.0
    for k in range(len(xs) - 1):
        s += (xs[k + 1] - xs[k]) ** 2 * xs[k]
    return s


def pairs(xs):
    s = 0.0
    for a in xs:
        for b in xs:
            s += a * b * math.exp(-abs(a - b))
    return s


def computed_indices(xs, i):
    return xs[i] * xs[i - 1] + xs[-i] * xs[-i]


def two_indices(table, i, j):
    return table[i, j] * table[j, i] + table[i][j] + np.sum(table[i:, :j] ** 2)


def displays(xs):
    a = np.array([xs[0], xs[1] * xs[2]])
    return np.sum(a * a) * a[1]


def display_of_a_number(x):
    a = np.array([x, x * x, 1.0])
    return np.sum(a[1:] * a[:-1]) + np.mean(a)


def normalised(xs):
    m = np.mean(xs)
    v = np.mean((xs - m) ** 2)
    return v / m + xs.sum() / len(xs) + np.sum(np.exp(xs)) / np.prod(xs)


def slices(xs, k):
    s = np.sum(xs[::2] * 2.0) + np.sum(xs[1::2] ** 2)
    return s + np.sum(xs[k:] * xs[k:]) + np.sum(xs[:k] * xs[0])


def best_of(xs):
    best = xs[0]
    for x in xs:
        best = max(best, x * x)
    return best * xs[1]


def rows_of_rows(table):
    s = 0.0
    for i, row in enumerate(table):
        for j, v in enumerate(row):
            s += v * v * i - v * j
    return s


def closure_over_an_array(xs):
    def scaled(t):
        return t * xs

    return np.sum(scaled(2.0)) + np.sum(scaled(xs))


def number_and_array(x, xs):
    return np.sum(x * xs) + np.sum(xs / x) + np.sum(xs**2 * x)


def number_to_the_power_of_an_array(x, xs):
    return np.sum(x**xs) + np.sum(2.0**xs)


def filter_with_memory(xs, w):
    previous, s = np.sum(xs) * 0.0, 0.0
    for x in xs:
        now = x * w[0] + previous * w[1]
        s += now * previous
        previous = now
    return s


def unpacked(xs):
    a, b, c, d = xs * 2.0
    return a * b + c * d


def counted(xs, ys):
    n, s = 0, 0.0
    for x, y in zip(xs, ys):
        if x * y > 0:
            continue
        n += 1
        s += x * y
    return s * n


PROGRAMS: list[tuple[Any, tuple[Any, ...]]] = [
    (carried_array, (XS, 3)),
    (carried_array, (XS, 0)),
    (array_on_two_paths, (XS, YS)),
    (array_on_two_paths, (-XS, YS)),
    (carried_row, (TABLE,)),
    (through_a_helper, (XS, YS)),
    (through_a_loop_of_a_helper, (XS,)),
    (through_recursion, (XS,)),
    (broadcast, (XS, TABLE)),
    (broadcast, (XS[:1], TABLE[:, :1])),
    (broadcast_both, (XS, TABLE)),
    (broadcast_both, (XS, np.array(2.0))),
    (broadcast_both, (2.0, XS)),
    (broadcast_both, (np.ones(1), XS)),
    (broadcast_both, (np.ones((3, 1)), XS)),
    (broadcast_both, (np.zeros(0), np.ones(1))),
    (complex_array, (ZS,)),
    (complex_and_real, (ZS, XS)),
    (extremes, (XS,)),
    (selected, (XS, 1.3)),
    (neighbours, (XS,)),
    (neighbours, (XS[:1],)),
    (pairs, (XS,)),
    (computed_indices, (XS, 2)),
    (two_indices, (TABLE, 1, 2)),
    (displays, (XS,)),
    (display_of_a_number, (1.3,)),
    (display_of_a_number, (np.float64(1.3),)),
    (normalised, (XS,)),
    (slices, (XS, 2)),
    (slices, (XS, 0)),
    (slices, (XS, 9)),
    (slices, (XS, -1)),
    (best_of, (XS,)),
    (rows_of_rows, (TABLE,)),
    (closure_over_an_array, (XS,)),
    (number_and_array, (1.3, XS)),
    (number_and_array, (np.float64(1.3), XS)),
    (number_and_array, (np.array(1.3), XS)),
    (number_to_the_power_of_an_array, (1.3, XS)),
    (number_to_the_power_of_an_array, (np.float64(1.3), XS)),
    (filter_with_memory, (XS, YS)),
    (unpacked, (XS,)),
    (counted, (XS, YS)),
]
over_programs = pytest.mark.parametrize(
    ("f", "args"), PROGRAMS, ids=lambda v: getattr(v, "__name__", "")
)


@over_programs
def test_reading(f, args: tuple[Any, ...]) -> None:
    check(f, *args)


@over_programs
def test_second_derivatives(f, args: tuple[Any, ...]) -> None:
    first, others = args[0], args[1:]
    slope = gw.grad(f)

    def along(x):
        return np.sum((slope(x, *others) * x).real)

    check(along, first, tolerance=1e-5, exact=False)


def test_float32_stays_float32() -> None:
    for f, args in PROGRAMS[:8]:
        small = tuple(
            a.astype(np.float32) if isinstance(a, np.ndarray) else a for a in args
        )
        value, gradient = gw.value_and_grad(f)(*small)
        wanted = f(*small)
        assert (type(value), value) == (type(wanted), wanted)
        assert gradient.dtype == np.float32
        assert np.allclose(gradient, gw.grad(f)(*args), rtol=1e-4, atol=1e-4)


def test_a_mask_beside_places_that_come_twice() -> None:
    """NumPy stretches the one place of the mask: both terms count."""

    def f(table, column):
        return np.sum(table[[0, 0], column > 0.1] ** 2)

    table, column = np.array([[2.0, 5.0]]), np.array([1.0, 0.0])
    table_bar, _ = gw.grad(f, argnums=(0, 1))(table, column)
    np.testing.assert_array_equal(table_bar, [[8.0, 0.0]])
