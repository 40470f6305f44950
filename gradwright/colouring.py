"""Colours for columns: those of one colour have no row in common.

    x x .        columns 0 and 2 have one colour, column 1 has another
    . x x

One sweep gives all columns of a colour: what it puts into a row is of that one of them
which has something there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Rows = list[Any]  # for each row its columns, in order


def colours(rows: Rows, count: int) -> Any:
    """A colour for each of so many columns, as few as are found, counted from 0.

    Columns take the first colour that is free, those that meet most others first; and
    once more in their own order, which suits bands.
    """
    columns = transposed(rows, count)
    met = np.array([len(r) for r in rows], np.int64)
    degrees = np.array([met[c].sum() for c in columns], np.int64)
    orders = (np.argsort(-degrees, kind="stable"), np.arange(count))
    found = [_greedy(columns, len(rows), order.tolist()) for order in orders]
    return min(found, key=colours_in)


def colours_in(found: Any) -> int:
    """How many colours there are."""
    return int(found.max()) + 1 if found.size else 0


def transposed(rows: Rows, count: int) -> Rows:
    """For each of so many columns its rows, in order."""
    lengths = [len(r) for r in rows]
    at = np.concatenate([np.empty(0, np.int64), *rows]).astype(np.int64)
    order = np.argsort(at, kind="stable")
    sorted_rows = np.repeat(np.arange(len(rows)), lengths)[order]
    bounds = np.searchsorted(at[order], np.arange(1, count))
    return np.split(sorted_rows, bounds) if count else []


def _greedy(columns: Rows, height: int, order: list[int]) -> Any:
    taken = [0] * height  # the colours in a row, as bits
    found = np.zeros(len(columns), np.int64)
    for k in order:
        column = columns[k].tolist()
        mask = 0
        for r in column:
            mask |= taken[r]
        free = ~mask & (mask + 1)
        for r in column:
            taken[r] |= free
        found[k] = free.bit_length() - 1
    return found
