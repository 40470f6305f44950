"""Which items a store at an array of indices leaves behind: of a place, the last one.

    y[cells] = v      ->      v_bar = np.where(is_last, y_bar[cells], 0.0)
                              y_bar[cells] = 0.0

Every item leaves its position at its place; the one that finds its own there again is
the last.  Of two places it is seen by comparing them.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwright.transform.build import constant, row
from gradwright.transform.core import (
    Alloc,
    Buffer,
    Index,
    Operand,
    Pick,
    Place,
    Value,
    Whole,
    type_of,
)
from gradwright.transform.indices import Linear, linear
from gradwright.transform.primitives.structural import DISPLAY
from gradwright.transform.types import BOOL, Type, array

if TYPE_CHECKING:
    from gradwright.transform.reverse.sweep import Sweep


def of_winners(sweep: Sweep, bar: Place, index: Index, part: Value) -> Operand:
    """The cotangent of each item that is stored: zero where it is overwritten."""
    is_last = _of_two(sweep, bar, index, part)
    if is_last is None:
        is_last = _of_many(sweep, bar, index, part)
    given = {"is_last": lambda: is_last, "y_bar": lambda: part}
    found: Operand = sweep.rules.signed(kept, 0, None, None, given)
    return found


def _of_many(sweep: Sweep, bar: Place, index: Index, part: Value) -> Operand:
    """Whether each item is the last one at its place."""
    b = sweep.builder
    given = {"part": lambda: part}
    position = sweep.rules.signed(positions, 0, None, None, given)
    whole = b.element(bar, (), bar.type, bar.name)
    assert isinstance(whole, Value)
    last = Buffer("last", Type(np.dtype(np.intp).name, dims=bar.type.dims), whole)
    b.add(Alloc(last))
    b.store(last, position, index)
    left = b.element(last, index, type_of(position), "last_part")
    return b.let(row(operator.eq, 2), left, position, name="is_last")


def _of_two(sweep: Sweep, bar: Place, index: Index, part: Value) -> Operand | None:
    """The same of places that are written out; None where there are more than two."""
    b = sweep.builder
    item = index[0]
    made = b.definition.get(item.places) if isinstance(item, Pick) else None
    if made is None or made.primitive is not DISPLAY or len(made.operands) != 2:
        return None
    return None


def positions(part: Any) -> Any:
    """The position of each element, row by row."""
    if part.ndim == 1:
        return np.arange(part.shape[0])
    return np.reshape(np.arange(part.size), part.shape)


def kept(is_last: Any, y_bar: Any) -> Any:
    """The cotangent where it counts."""
    return np.where(is_last, y_bar, 0.0)
