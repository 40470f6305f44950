"""Tapes and lists that machine code hands over: their memory, in the place of a list.

What is [x_0, x_1, x_2] for the emitted source is an array of at least three items, and
their number, for machine code; where the items are of different lengths, those too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwright.transform.core import Function, List, Tape, Value

if TYPE_CHECKING:  # nobody else waits for its import
    from gradwright.transform.lowering.handed import Layout


class Unreadable(Exception):
    """Words of items of several kinds, which only machine code can tell apart."""


@dataclass(frozen=True, eq=False)
class Handed:
    """A tape that the forward half has filled; nobody stores into it any more.

    parts: its memory and how much of that counts, then the same of all lengths.
    """

    layout: Layout
    parts: tuple[Any, ...]

    def as_list(self) -> list[Any]:
        """The list that the emitted source has in its place.

        Raises:
            Unreadable: It is of words.
        """
        if self.layout.is_words:
            raise Unreadable
        columns = zip(self.parts[::2], self.parts[1::2], strict=True)
        found = _items(self.layout, [memory[:count] for memory, count in columns])
        return found[0] if self.layout.is_list and self.layout.depth else found


def _items(layout: Layout, columns: list[Any]) -> list[Any]:
    """All that is on a tape, first to last."""
    if layout.is_optional:
        values = _items(replace(layout, is_optional=False), columns[:-1])
        pairs = zip(values, columns[-1].tolist(), strict=True)
        return [None if is_none else value for value, is_none in pairs]
    if layout.depth > 1:
        rows = _items(replace(layout, depth=layout.depth - 1), columns[:-1])
        return _in_lists(rows, columns[-1], backwards=True)
    items, *lengths = columns
    if layout.depth:
        counts, *lengths = lengths
    item = layout.item
    if lengths:
        shapes = list(zip(*(n.tolist() for n in lengths), strict=True))
        ends = np.cumsum([0, *map(math.prod, shapes)]).tolist()
        found = [
            items[a:b].reshape(shape).copy()
            for (a, b), shape in zip(pairwise(ends), shapes, strict=True)
        ]
    elif item.is_array:
        found = [np.array(a) for a in items]
    else:
        found = items.tolist() if item.python else [*items]
    return _in_lists(found, counts) if layout.depth else found


def _in_lists(items: list[Any], counts: Any, backwards: bool = False) -> list[Any]:
    """Items in lists of so many."""
    ends = np.cumsum([0, *counts]).tolist()
    found = [items[a:b] for a, b in pairwise(ends)]
    return [part[::-1] for part in found] if backwards else found


def are_bound(halves: Iterable[Function]) -> bool:
    """Whether one half takes a tape of the other, or None in the place of an array.

    What is no machine code hands over neither in the form that machine code takes.
    """
    halves = list(halves)
    results = [r for f in halves for r in f.results if isinstance(r, Value)]
    return any(isinstance(p, Tape | List) for f in halves for p in f.params) or any(
        r.type.optional and r.type.is_array for r in results
    )


def packed(out: Any, layouts: Mapping[int, Layout]) -> Any:
    """The results of a half: the parts of each tape stand behind the others."""
    if not layouts:
        return out
    parts = list(out) if isinstance(out, tuple) else [out]
    first = len(parts) - sum(layout.parts for layout in layouts.values())
    found, at = parts[:first], first
    for k, layout in layouts.items():
        found.insert(k, Handed(layout, tuple(parts[at : at + layout.parts])))
        at += layout.parts
    return found[0] if len(found) == 1 else tuple(found)


def unpacked(values: Iterable[Any]) -> list[Any]:
    """The values of a half as its machine code takes them."""
    found: list[Any] = []
    for v in values:
        found += v.parts if isinstance(v, Handed) else (v,)
    return found


def as_emitted(values: Iterable[Any]) -> list[Any]:
    """The values of a half as its emitted source takes them.

    Raises:
        Unreadable: There are words among them.
    """
    return [v.as_list() if isinstance(v, Handed) else v for v in values]
