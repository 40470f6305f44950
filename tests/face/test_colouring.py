"""Colours: right wherever they are, few where it is known how few they can be."""

from typing import Any

import numpy as np
import pytest

from gradwright.colouring import colours, colours_in, transposed


def rows_of(pattern: Any) -> list[Any]:
    return [np.flatnonzero(row) for row in np.asarray(pattern)]


def is_right(pattern: Any, found: Any) -> bool:
    """Whether the columns of each row have colours of their own."""
    return all(len({*found[row].tolist()}) == len(row) for row in rows_of(pattern))


N = 12
BAND = np.abs(np.subtract.outer(np.arange(N), np.arange(N))) <= 1
ARROW = np.eye(N, dtype=bool) | (np.arange(N) == 0)
CASES = [
    (np.eye(N), 1),
    (BAND, 3),
    (ARROW, 2),
    (ARROW.T, N),
    (np.ones((2, 5)), 5),
    (np.zeros((3, 4)), 1),
    (np.zeros((0, 4)), 1),
    (np.zeros((4, 0)), 0),
]


@pytest.mark.parametrize(("pattern", "count"), CASES)
def test_known_patterns(pattern: Any, count: int) -> None:
    found = colours(rows_of(pattern), pattern.shape[1])
    assert found.shape == (pattern.shape[1],)
    assert is_right(pattern, found) and colours_in(found) == count


@pytest.mark.parametrize("seed", range(5))
def test_any_pattern(seed: int) -> None:
    pattern = np.random.default_rng(seed).random((20, 30)) < 0.15
    found = colours(rows_of(pattern), 30)
    assert is_right(pattern, found)
    assert colours_in(found) >= pattern.sum(axis=1).max()


@pytest.mark.parametrize("shape", [(4, 7), (0, 3), (3, 0)])
def test_transposed(shape: tuple[int, int]) -> None:
    pattern = np.random.default_rng(1).random(shape) < 0.4
    found = transposed(rows_of(pattern), shape[1])
    assert [r.tolist() for r in found] == [r.tolist() for r in rows_of(pattern.T)]
