"""What a block remembers while it is reversed, and small questions about core."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from gradwright.transform.build import constant
from gradwright.transform.core import (
    Alloc,
    At,
    Break,
    Cell,
    For,
    If,
    List,
    Load,
    NewAxis,
    Operand,
    Pick,
    Place,
    Span,
    Statement,
    Store,
    Tape,
    Value,
    all_reads,
    blocks,
    defines,
    steps,
    stores,
    type_of,
)
from gradwright.transform.types import VARYING, Type


@dataclass(eq=False)
class Block:
    """A block of the primal while it is reversed.

    top: its values are alive in the reverse sweep.  at: the statement being reversed.
    provided: primal values made again.  undo: stores whose old value is not put back
    yet.  before, after: what the forward sweep gains around each statement.  items:
    cotangents of what a primitive returned as a tuple, by its value and position.
    last: lists whose length each trip leaves on a tape, with that length and that tape.
    """

    body: list[Statement]
    parent: Block | None
    top: bool
    at: int = 0
    reverse: list[Statement] = field(default_factory=list)
    defined: dict[Any, int] = field(default_factory=dict)
    provided: dict[Any, Any] = field(default_factory=dict)
    undo: dict[Place, tuple[int, list[Statement]]] = field(default_factory=dict)
    before: dict[int, list[Statement]] = field(default_factory=dict)
    after: dict[int, list[Statement]] = field(default_factory=dict)
    contributions: dict[Any, list[Operand]] = field(default_factory=dict)
    bars: dict[Any, Place] = field(default_factory=dict)
    items: dict[Any, dict[int, Operand]] = field(default_factory=dict)
    known: dict[Place, Value] = field(default_factory=dict)
    made: dict[Any, Value] = field(default_factory=dict)
    last: list[tuple[List, Value | List, Tape]] = field(default_factory=list)
    last_trip: Operand | None = None
    is_home: bool = False

    def __post_init__(self) -> None:
        self.at = len(self.body)
        for k, s in enumerate(self.body):
            if not isinstance(s, For):
                for v in defines(s):
                    self.defined[v] = k


def all_blocks(body: list[Statement]) -> Iterator[list[Statement]]:
    """The block and every block inside it."""
    yield body
    for s in body:
        for b in blocks(s):
            yield from all_blocks(b)


def statement_at(block: Block) -> Statement | None:
    """The statement that is being reversed."""
    return block.body[block.at] if block.at < len(block.body) else None


def is_item(s: Statement) -> bool:
    """The load of the next item of a loop over an array."""
    return isinstance(s, Load) and s.safe and isinstance(s.source, Value)


def own_breaks(body: list[Statement]) -> list[Break]:
    """The breaks that leave this very loop."""
    found: list[Break] = []
    for s in body:
        if isinstance(s, Break):
            found.append(s)
        elif isinstance(s, If):
            found += own_breaks(s.then) + own_breaks(s.orelse)
    return found


def break_last(block: list[Statement]) -> list[Statement]:
    """A break stays the last statement of its block."""
    breaks = [s for s in block if isinstance(s, Break)]
    return [s for s in block if not isinstance(s, Break)] + breaks


def region(t: Type, index: Any) -> Type:
    """The type of the part of an array that an index names."""
    for items, view in steps(index):
        t = _part(t, items) if view is None else view.type
    return t


def _part(t: Type, index: Any) -> Type:
    picks = [type_of(i.places) for i in index if isinstance(i, Pick)]
    taken = sum(isinstance(i, At | Span) for i in index)
    taken += sum(p.rank if p.is_bool else 1 for p in picks)
    added = sum(isinstance(i, Span | NewAxis) for i in index)
    added += max((1 if p.is_bool else p.rank for p in picks), default=0)
    rank = t.rank - taken + added
    if not rank:
        return t.element
    return replace(t, dims=(VARYING,) * rank)


def part_type(place: Place, index: Any) -> Type:
    """The type of what a store into a place, or into a part of one, replaces."""
    if isinstance(place, List) or not index:
        return place.type
    return region(place.type, index)


def zero(t: Type) -> Operand:
    """The zero of the kind of the type."""
    return constant(0j) if t.is_complex else constant(0.0)


def summed_axes(own: Type, shape: Type) -> tuple[int, tuple[int, ...]]:
    """(leading axes to drop, axes of length one to keep) of a stretched operand."""
    lead = shape.rank - own.rank
    kept = tuple(k for k, d in enumerate(own.dims or ()) if d.constant == 1)
    return lead, kept


def begins_stored(body: list[Statement], cell: Cell) -> bool:
    """Whether a value is stored right where the cell begins."""
    for block in all_blocks(body):
        for k, s in enumerate(block):
            if isinstance(s, Alloc) and s.place is cell:
                return is_stored_next(block[k + 1 :], cell)
    return False


def is_stored_next(rest: list[Statement], place: Cell) -> bool:
    """Whether the place is stored again before it is read."""
    for s in rest:
        if isinstance(s, Store) and s.place is place:
            return True
        if place in stores(s) or place in set(all_reads(s)):
            return False
    return False
