"""Tapes between two halves of machine code: their memory, in the place of a list.

What is [x_0, x_1, x_2] for the emitted source is an array of at least three items, and
their number, for machine code.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradwright.transform.core import Function, Tape, Value
from gradwright.transform.types import Type


@dataclass(frozen=True, eq=False)
class Handed:
    """A tape that the forward half has filled; nobody stores into it any more."""

    memory: np.ndarray
    count: int
    item: Type

    def as_list(self) -> list[Any]:
        """The list that the emitted source has in its place."""
        items = self.memory[: self.count]
        return items.tolist() if self.item.python else [*items.copy()]


def tapes_of(results: Iterable[Any]) -> dict[int, Type]:
    """The places of tapes among the results of a half, and the types of their items."""
    return {k: r.type for k, r in enumerate(results) if isinstance(r, Tape)}


def are_bound(halves: Iterable[Function]) -> bool:
    """Whether one half takes a tape of the other, or None in the place of an array.

    What is no machine code hands over neither in the form that machine code takes.
    """
    halves = list(halves)
    results = [r for f in halves for r in f.results if isinstance(r, Value)]
    return any(isinstance(p, Tape) for f in halves for p in f.params) or any(
        r.type.optional and r.type.is_array for r in results
    )


def packed(out: Any, tapes: dict[int, Type]) -> Any:
    """The results of a half: of each tape, memory and count stand behind the others."""
    if not tapes:
        return out
    parts = list(out)
    first = len(parts) - 2 * len(tapes)
    rest = iter(parts[first:])
    found = parts[:first]
    for k, item in tapes.items():
        found.insert(k, Handed(next(rest), next(rest), item))
    return found[0] if len(found) == 1 else tuple(found)


def unpacked(values: Iterable[Any]) -> list[Any]:
    """The values of a half as its machine code takes them."""
    found: list[Any] = []
    for v in values:
        found += (v.memory, v.count) if isinstance(v, Handed) else (v,)
    return found


def as_emitted(values: Iterable[Any]) -> list[Any]:
    """The values of a half as its emitted source takes them."""
    return [v.as_list() if isinstance(v, Handed) else v for v in values]
