"""What a program does with lists: sums of them, stores into slices, NumPy."""

import numpy as np
import pytest
from semantics.oracle import check

import gradwright as gw

X = np.array([0.7, -0.35, 1.2, 0.51])


@pytest.mark.parametrize("bounds", [(1, 3), (0, 0), (-2, None), (None, -1), (3, 1)])
def test_stores_into_slices(bounds: tuple[int | None, int | None]) -> None:
    def f(x, n, new):
        items = [x[k % 4] * (k + 1) for k in range(n)]
        items[lower:upper] = [x[0] * items[1]] * new
        return sum(v * v * (k + 1) for k, v in enumerate(items))

    lower, upper = bounds
    for new in range(3):
        check(f, X, 5, new)


@pytest.mark.parametrize("k", [-7, -2, 0, 2, 9])
def test_slices_with_bounds_of_the_run(k: int) -> None:
    def f(x, n, k):
        items = [x[j % 4] * (j + 1) for j in range(n)]
        some = items[k:] + items[:k] + items[k : k + 2] + items[k::-1]
        items[k:] = [x[1], x[2] * items[0]]
        return sum(v * v * (j + 1) for j, v in enumerate(some)) + sum(items)

    check(f, X, 5, k)


@pytest.mark.parametrize("rounds", [1, 2])
def test_a_list_is_read_before_it_changes(rounds: int) -> None:
    def f(x, n, rounds):
        items = [x[0]]
        for k in range(n):  # by two names from here on
            more = [x[1]]
            for v in items:
                more.append(v * x[k])
            items = more
        for _ in range(rounds):
            items[:] = items
            items[1:2] = reversed(items)
            items[2:] = [a * b for a, b in zip(items, items[::-1])]
            items.extend(items)
            items.extend(reversed(items))
        return sum(v * v * (k + 1) for k, v in enumerate(items))

    check(f, X, 2, rounds)


def test_a_list_of_which_no_item_is_known_is_read() -> None:
    def f(x, n):
        none = []
        some = list(reversed(none))
        none.extend(none)
        none.extend(x[:n])
        return sum(none) * len(some + none)

    check(f, X, 3)


def test_displays_with_items_of_the_run() -> None:
    def f(x, n):
        row = [x[0], *[x[1], x[2]]]
        for k in range(n):
            row = [x[1], *row, *reversed(row), x[0] * k]
        every = [*x, *(x * row[0])]
        return sum([v * (k + 1) for k, v in enumerate(row + every)])

    check(f, X, 2)


def test_repeated_lists() -> None:
    def f(x, n):
        zeros, ones = [0.0] * n, n * [x[0], 1.0]
        zeros[1] = x[1]
        return sum(zeros) * sum(ones) + len((ones + zeros) * 2)

    check(f, X, 3)
    assert "zeros = [0.0] * n" in gw.grad(f).source(X, 3)


def test_functions_of_numpy() -> None:
    def f(x, n):
        rows = [x * (k + 1.0) for k in range(n)]
        numbers = [x[k % 4] for k in range(n)]
        total = np.sum(np.stack(rows, axis=1) @ np.array(numbers))
        total += np.max(numbers) * np.mean(rows) + np.linalg.norm(numbers)
        return total + np.var(numbers) + np.sum(np.concatenate(rows) ** 2)

    check(f, X, 3)


def test_extremes_of_none() -> None:
    def f(x, n):
        return max([x * k for k in range(n)])

    check(f, 0.7, 3)
    with pytest.raises(ValueError, match="max"):
        gw.grad(f)(0.7, 0)
