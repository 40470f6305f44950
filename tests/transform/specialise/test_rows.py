"""Lists in lists: values, derivatives of both modes and orders, and what is refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from semantics.oracle import check, differences, near

import gradwright as gw

X = np.array([0.7, -0.35, 1.2])


def a_table(x, n):
    table = [[0.0] * (n + 1) for _ in range(n + 1)]
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            longer = max(table[i - 1][j], table[i][j - 1])
            table[i][j] = longer + x[(i * j) % 3]
    return table[n][n]


def a_triangle(x, n):
    table = []
    for i in range(n):
        row = [x[i % 3]]
        for j in range(i):
            row.append(row[-1] * x[0] + table[i - 1][j])
        table.append(row)
    return table[-1][-1]


def pascals(x, n):
    rows = []
    row = [x[0]]
    for k in range(n):
        rows.append(row)
        inner = [row[j] * x[2] + row[j + 1] for j in range(len(row) - 1)]
        row = [x[1], *inner, x[0] * k]
    return sum([sum([v * v for v in r]) for r in rows])


def rows_change(x, n):
    table = [[x[i] * j for j in range(n)] for i in range(3)]
    for row in table:
        row[0] = x[1] * 2.0
        row.append(row[-1] * x[0])
    return sum([r[-1] * r[0] for r in table])


def begun_in_a_loop(x, n):
    total = 0.0
    for t in range(n):
        table = [[0.0] * 3 for _ in range(t + 1)]
        for i in range(t + 1):
            for j in range(3):
                table[i][j] = x[j] * (total + i)
                if i > 0:
                    table[i][j] += table[i - 1][j] ** 2
        total = total * 0.5 + table[t][1] + table[0][2]
    return total


def a_stack(x, n):
    stack = [[x[0]]]
    s = 0.0
    for _ in range(n):
        top = stack.pop()
        s = s + sum(top)
        stack.append([v * x[1] for v in top] + [x[2]])
        stack.append([v + x[0] for v in top])
    return s + sum([len(r) for r in stack])


def a_queue(x, n):
    queue = [[x[0], 1.0], [x[1], 2.0]]
    s = 0.0
    while len(queue) > 0 and s < 5.0:
        item = queue.pop(0)
        s += item[0] * item[1] + 1.0
        if len(item) < n:
            queue.append([*item, x[2]])
    return s


def a_cube(x, n):
    cube = [[[x[i] * j * k for k in range(2)] for j in range(n)] for i in range(3)]
    cube[1][0][1] = x[0] ** 2
    cube[2].append([x[1]])
    return sum([sum([sum([v * v for v in r]) for r in p]) for p in cube])


def other_lengths(x, n):
    table = [[x[0], x[1]], [x[2]]]
    for k in range(n):
        table.append([table[-1][0] * table[0][1]])
        table[k].insert(0, x[k % 3])
    return sum([r[0] * len(r) for r in table])


def elimination(x, n):
    m = [[x[i] + j for j in range(3)] for i in range(3)]
    for i in range(3):
        for j in range(i + 1, 3):
            m[j][:] = [a - b * x[0] for a, b in zip(m[j], m[i])]
    return m[2][2] * n + m[1][2]


def double_buffered(x, n):
    grid = [[x[(i + j) % 3] for j in range(n)] for i in range(n)]
    for _ in range(2):
        new = [[0.0] * n for _ in range(n)]
        for i in range(n):
            for j in range(n):
                new[i][j] = 0.5 * grid[i][j] + 0.1 * grid[i - 1][j] * grid[i][j - 1]
        grid = new
    return sum([sum(r) for r in grid])


def arrays_in_groups(x, n):
    rows = [x * k for k in range(n)]
    groups = [[] for _ in range(2)]
    for k in range(n):
        groups[k % 2].append(rows[k])
    return sum([np.sum(a * a) for g in groups for a in g])


def made_by_a_helper(x, n):
    def build(v):
        out = [[v]]
        for _ in range(n):
            out.append([a * v for a in out[-1]] + [1.0])
        return out

    one, other = build(x[0]), build(x[1])
    return sum(one[-1]) + sum(other[n // 2])


def until_one_is_left(x, n):
    levels = [[v for v in x]]
    while len(levels[-1]) > 1:
        last = levels[-1]
        levels.append([0.5 * (last[i] + last[i + 1]) for i in range(len(last) - 1)])
    return levels[-1][0] * levels[0][0] + np.array(levels[1]).sum() * n


def as_arrays(x, n):
    table = [[x[i % 3] * j for j in range(n)] for i in range(n)]
    column, flat = [row[0] for row in table], [v for row in table for v in row]
    turned = [[table[j][i] for j in range(n)] for i in range(n)]
    product = np.array(table) @ np.array(turned)
    return sum(column) + sum(flat) + turned[-1][0] * np.sum(product)


def begun_empty(x, n):
    acc = []
    for k in range(n):
        acc.append([])
        for j in range(k):
            before = acc[k - 1][-1] if j and len(acc[k - 1]) else 1.0
            acc[k].append(x[j % 3] * before)
    return 0.0 + sum([sum(a) for a in acc])


def an_item_by_a_name(x, n):
    table = [[x[0] * i for _ in range(n)] for i in range(n + 1)]
    row = table[1]
    for k in range(n):
        row[0] += x[1]
        table[k][n - 1] *= 2.0
        table.append([x[2]])
    return sum([sum(r) for r in table]) + row[0]


def folded(x, n):
    table = []
    k = 0
    while k < n:
        table.append([x[k % 3], 1.0 + x[0]] + [1.0] * k)
        k += 1
    while table:
        last = table.pop()
        if len(table) > 0:
            table[-1][0] += last[0] * last[1]
        else:
            return last[0]
    return 0.0


def slices(x, n):
    table = [[x[0] * (i + j) for j in range(n)] for i in range(n)]
    some = [row[1:] for row in table[1:]]
    some += [list(table[0]), table[0].copy(), table[-1][::-1]]
    return sum([v * (k + 1) for k, row in enumerate(some) for v in row])


PROGRAMS = [
    a_table, a_triangle, pascals, rows_change, begun_in_a_loop, a_stack, a_queue,
    a_cube, other_lengths, elimination, double_buffered, arrays_in_groups,
    made_by_a_helper, until_one_is_left, as_arrays, begun_empty, an_item_by_a_name,
    folded, slices,
]  # fmt: skip


@pytest.mark.parametrize("n", [1, 3, 4])
@pytest.mark.parametrize("f", PROGRAMS)
def test_against_differences(f: Callable[..., Any], n: int) -> None:
    check(f, X, n)


@pytest.mark.parametrize("f", PROGRAMS)
def test_second_order(f: Callable[..., Any]) -> None:
    def along(x):
        return np.sum(gw.grad(f)(x, 3) * x)

    slope = differences(along, (X,), (np.ones_like(X),))
    near(np.sum(gw.grad(along)(X)), slope, 1e-5, "second order and differences")
    tangent = gw.jvp(along, (X,), (np.ones_like(X),))[1]
    near(tangent, slope, 1e-5, "forward over reverse and differences")


@pytest.mark.parametrize("f", [a_table, a_triangle, a_stack])
def test_batches(f: Callable[..., Any]) -> None:
    every = np.stack([X, 2.0 * X, X[::-1]])
    found = gw.vmap(gw.grad(f), in_axes=(0, None))(every, 3)
    np.testing.assert_allclose(found, [gw.grad(f)(x, 3) for x in every])


def test_the_text() -> None:
    text = gw.grad(a_triangle).source(X, 3)
    assert "        table.append(row)\n" in text
    assert "        row_bar = table_bar.pop()\n" in text


def test_python_raises_as_it_does() -> None:
    def f(x, n):
        table = [[x[0]] * (k + 1) for k in range(n)]
        return table[n - 1][n]

    for n in (0, 2):
        with pytest.raises(IndexError, match="list index out of range"):
            gw.grad(f)(X, n)


# ---- what is refused -----------------------------------------------------------------


def changed_by_its_own_name(x, n):
    row, table = [x[0]], []
    for _ in range(n):
        table.append(row)
        row.append(x[1])
    return sum([sum(r) for r in table])


def one_list_several_times(x, n):
    table = [[x[0]] * 2] * n
    table[0][0] = x[1]
    return sum([sum(r) for r in table])


def one_list_put_in_again(x, n):
    row = [x[0] for _ in range(n)]
    table = [row for _ in range(n)]
    table[0][0] = x[1]
    return sum([sum(r) for r in table])


def an_item_that_is_moved(x, n):
    table = [[x[0] for _ in range(n)] for _ in range(n)]
    row = table[-1]
    table.append([x[1]])
    row[0] = x[2]
    return sum([sum(r) for r in table])


def an_item_that_a_loop_moves(x, n):
    table = [[x[0] * i for _ in range(n)] for i in range(n + 1)]
    row = table[0]
    for _ in range(n):
        row[0] += x[1]
        table.pop(0)
    return row[0]


def changed_in_a_copy(x, n):
    table = [[x[0] for _ in range(n)] for _ in range(n)]
    other = table[:]
    other[0][0] = x[1]
    return sum([sum(r) for r in table])


def another_row(x, n):
    table = [[x[0] for _ in range(n)] for _ in range(n)]
    table[0] = [x[1]] * n
    return sum([sum(r) for r in table])


def pairs_in_rows(x, n):
    table = [[(v, k) for v in x] for k in range(n)]
    return table[0][0][0]


@pytest.mark.parametrize(
    ("f", "words"),
    [
        (changed_by_its_own_name, "another list holds"),
        (one_list_several_times, "holds one list several times"),
        (one_list_put_in_again, "'table' may hold twice"),
        (an_item_that_is_moved, "moved after it was found"),
        (an_item_that_a_loop_moves, "moved after it was found"),
        (changed_in_a_copy, "a list in common with 'other'"),
        (another_row, "is another one from here on"),
        (pairs_in_rows, "in a list of run-time length"),
    ],
)
def test_refused(f: Callable[..., Any], words: str) -> None:
    with pytest.raises((gw.AliasError, gw.UnsupportedSyntax), match=words) as caught:
        gw.grad(f)(X, 3)
    assert "Write instead" in str(caught.value)
