"""Lists of lists: tables, stacks, groups, of numbers and arrays, in every mode."""

from typing import Any

import numpy as np
import pytest
from lowered import assert_compiles, assert_differentiates, in_both

import gradwright as gw

X = np.array([0.7, -0.3, 1.2, 0.4])


def triangle(x, n):
    table = []
    for i in range(n):
        row = []
        for j in range(i + 1):
            row.append(x[j % 4] * (i + 1.0))
        table.append(row)
    s = 0.0
    for i in range(n):
        for j in range(len(table[i])):
            s += table[i][j] ** 2
    return s


def dynamic(x, n):
    table = [[0.0] * (n + 1) for _ in range(n + 1)]
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            before = table[i - 1][j] + x[j % 4] * table[i][j - 1]
            table[i][j] = np.sin(before) + x[i % 4]
    return table[n][n]


def groups(x, n):
    found = [[] for _ in range(3)]
    for i in range(n):
        found[i % 3].append(x[i % 4] * i)
        found[0].insert(0, x[1])
        found[2].insert(1, x[i % 4])
    s = 0.0
    for group in found:
        s += sum(group) ** 2
    return s + found[0].pop() * found[2].pop(0)


def stack(x, n):
    states = [[x[0], x[1]]]
    s = 0.0
    for k in range(n):
        top = list(states.pop())
        top.append(x[k % 4] * k)
        states.append(top)
        states.append([s, top[0] * 2.0])
        s += sum(top)
    return s + len(states)


def queue(x, n):
    rows = [[x[0]] * n for _ in range(n)]
    first = list(rows.pop(0))
    first.append(x[1])
    rows.insert(1, first)
    last = rows[-1].pop()
    rows[0].append(last * x[2])
    return sum(rows[0]) * last + sum(rows[1]) * len(rows)


def rectangle(x, n):
    rows = []
    for k in range(n):
        rows.append([x[0] * k, x[1], x[2] ** 2])
    return np.sum(np.sin(np.array(rows))) + np.sum(np.array(rows[0]))


def cube(x, n):
    c = [[[x[0] * i * j * k for k in range(n)] for j in range(n)] for i in range(n)]
    c[1].append([x[1]])
    c[0][1][0] = x[2] * 3.0
    c[1][0].append(x[3])
    s = 0.0
    for p in c:
        for q in p:
            s += sum(q) ** 2
    return s


def slices(x, n):
    table = [[x[0]] * n for _ in range(n)]
    for k in range(n):
        part = table[k][1:]
        part.append(table[k][0] * x[1])
        table.append(part)
        table[0][0] += table[k][-1] ** 2
        table[-1][0] *= 2.0
    some = table[1:3]
    return sum(some[0]) * sum(some[1]) + table[0][0] + len(table)


def in_each_trip(x, n):
    s = 0.0
    for k in range(n):
        table = [[x[0]] * k, [x[1], s]]
        table[0].append(x[2] * k)
        s = s + sum(table[0]) * sum(table[1])
    return s


def on_a_tape(x, n):
    s, table = 0.0, [[x[0]]]
    for k in range(n):
        table = [[v * x[1] for v in row] for row in table]
        table.append([x[2] * s, x[0]])
        s = s + sum(table[0]) * sum(table[k]) ** 2
    return s


def two_on_tapes(x, n):
    a, b = [[x[0]]], [[x[1], x[2]]]
    for _ in range(n):
        b = [list(row) for row in a]
        a = [[sum(row) * x[0], x[1]] for row in a]
    return sum(a[0]) + sum(b[0])


def until(x, n):
    rows = [[x[0]]]
    while sum(rows[-1]) < n:
        rows.append([v * 1.5 for v in rows[-1]] + [x[1] ** 2])
    return sum(sum(row) for row in rows)


def of_arrays(x, n):
    table = [[x * 2.0] for _ in range(n)]
    for k in range(n):
        table[k].append(np.sin(x) * k)
        table[k][0] = table[k][0] * table[k][1]
        table[k].append(np.sum(table[k][0]) * x)
    return sum(np.sum(row[-1]) for row in table)


def of_several_lengths(x, n):
    table = [[x] for _ in range(n)]
    for k in range(n):
        table[k].append(x[: k % 4] * k)
        table[k].append(x[k % 3 :] * x[0])
        table[k].pop(1)
    more = table[1:]
    return sum(np.sum(row[-1] ** 2) for row in more) + np.sum(table[0][0])


EVERY = [
    triangle, dynamic, groups, stack, queue, rectangle, cube, slices, in_each_trip,
    on_a_tape, two_on_tapes, until, of_arrays, of_several_lengths,
]  # fmt: skip


@pytest.mark.parametrize("f", EVERY)
@pytest.mark.parametrize("n", [3, 4, 7])
def test_values(f: Any, n: int) -> None:
    assert_compiles(f, X, n)


@pytest.mark.parametrize("f", EVERY)
def test_gradients(f: Any) -> None:
    assert_differentiates(f, X, 4)


@pytest.mark.parametrize("f", [dynamic, on_a_tape, stack, of_several_lengths])
def test_further_modes(f: Any) -> None:
    def forward(x):
        return gw.jvp(lambda x: f(x, 4), (x,), (np.cos(x),))

    def rows_of_hessian(x):
        return gw.jacrev(gw.grad(lambda x: f(x, 4)))(x)

    def batch(x):
        return gw.vmap(lambda x: f(x, 4))(np.stack([x, 2.0 * x]))

    for whole in (forward, rows_of_hessian, batch):
        wanted = whole(X)
        with in_both():
            found = gw.jit(whole)(X)
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


def outside(x, n):
    rows = [[x[0]] * n for _ in range(n)]
    return rows[1][n]


def added_outside(x, n):
    rows = [[x[0]] * n for _ in range(n)]
    rows[n][0] += x[1]
    return rows[0][0]


def stored_outside(x, n):
    rows = [[x[0]] * n for _ in range(n)]
    rows[0][n] = x[1]
    return rows[0][0]


def taken_from_nothing(x, n):
    rows = [[x[0]] for _ in range(n)]
    rows[0].pop()
    return rows[0].pop()


@pytest.mark.parametrize(
    "f", [outside, added_outside, stored_outside, taken_from_nothing]
)
def test_what_python_raises(f: Any) -> None:
    messages = []
    for g in (f, gw.jit(f)):
        with pytest.raises(IndexError) as error:
            g(X, 3)
        messages.append(str(error.value).splitlines()[0])
    assert messages[0] == messages[1]
    assert_compiles(f, X, 3)


def test_lists_of_different_lengths_make_no_array() -> None:
    def f(x, n):
        rows = []
        for k in range(n):
            rows.append([x[0]] * k)
        return np.sum(np.array(rows))

    with pytest.warns(gw.CompileWarning), pytest.raises(ValueError, match="inhomog"):
        gw.jit(f)(X, 3)
