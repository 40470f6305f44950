"""Which items a store at an array of indices leaves behind: of a place, the last one.

    y[cells] = v      ->      last[cells] = np.arange(len(cells))
                              is_last = last[cells] == np.arange(len(cells))
                              v_bar = np.where(is_last, y_bar[cells], 0.0)

Every item leaves its position at its place; the one that finds its own there again is
the last.  Of two places it is seen by comparing them, and a swap is its own adjoint:

    a[[k, p]] = a[[p, k]]      ->      a_bar[[p, k]] = a_bar[[k, p]]
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwright.transform.build import constant, row
from gradwright.transform.core import (
    Alloc,
    At,
    Buffer,
    Index,
    Load,
    Operand,
    Pick,
    Place,
    Statement,
    Store,
    Value,
    parted,
    stores,
    type_of,
)
from gradwright.transform.indices import Linear, linear
from gradwright.transform.picks import is_places, picked_axes, picked_first
from gradwright.transform.primitives.structural import DISPLAY
from gradwright.transform.reverse.primals import owner_of
from gradwright.transform.reverse.state import Block
from gradwright.transform.reverse.state import region as part_type
from gradwright.transform.template import Hole, Sequence, Template
from gradwright.transform.types import array

if TYPE_CHECKING:
    from gradwright.transform.reverse.sweep import Sweep

Dims = tuple[Linear, ...]


def of_winners(sweep: Sweep, bar: Place, index: Index, part: Operand) -> Operand:
    """The cotangent of each item that is stored: zero where it is overwritten."""
    b, t = sweep.builder, type_of(part)
    view, items = parted(index)
    first, rank = picked_first(part_type(bar.type, view), items)
    key = "is_last", bar, index
    is_last: Operand | None = b.made.get(key)
    if is_last is None:
        shape = (t.dims or ())[first : first + rank]
        is_last = b.made[key] = _last_items(sweep, bar, view, items, shape)
    is_last = _followed(sweep, is_last, t.rank - first - rank)
    return b.let(row(np.where, 3), is_last, part, constant(0.0), type=t)


def _last_items(
    sweep: Sweep, bar: Place, view: Index, items: Index, shape: Dims
) -> Any:
    """Whether each item of those that an index names is the last one at its place."""
    named = part_type(bar.type, view) if view else bar.type
    whole = sweep.builder.element(bar, view, named, bar.name)
    lengths = tuple((type_of(whole).dims or ())[k] for k in picked_axes(named, items))
    places = tuple(i for i in items if isinstance(i, At | Pick))
    pair = _pair(sweep, items)
    if pair is not None:
        return _of_two(sweep, *pair, lengths[0])
    return _of_many(sweep, places, lengths, shape)


def _pair(sweep: Sweep, index: Index) -> tuple[Operand, Operand] | None:
    """The two places of an index such as `[k, p]`, and no other array of places."""
    places = [i for i in index if isinstance(i, At | Pick)]
    if len(places) > 1 or not isinstance(places[0], Pick):
        return None
    v = places[0].places
    made: Any = sweep.builder.definition.get(v)  # type: ignore[arg-type]
    block = owner_of(sweep, v)
    if made is None and block is not None and v in block.defined:
        made = block.body[block.defined[v]]
    if made is None or not is_places(made) or len(made.operands) != 2:
        return None
    one, other = made.operands
    return one, other


def is_swap(sweep: Sweep, block: Block, k: int, s: Store) -> bool:
    """Whether a store puts two items of an array each in the place of the other."""
    j = block.defined.get(s.operand)
    taken = block.body[j] if j is not None else None
    if not isinstance(taken, Load) or taken.source is not s.place or s.accumulate:
        return False
    there, here = (
        _pair(sweep, i) if _has_pick(i) else None for i in (taken.index, s.index)
    )
    if there is None or here != there[::-1] or _rest(taken.index) != _rest(s.index):
        return False
    assert j is not None
    between = block.body[j + 1 : k]
    return not any(s.place in stores(t) for t in between)


def swapped_back(place: Place, there: Index, here: Index) -> list[Statement]:
    """The statements that put the two items back."""
    out = Value(f"{place.name}_part", part_type(place.type, here))
    return [Load(out, place, here), Store(place, out, there)]


def _has_pick(index: Index) -> bool:
    return any(isinstance(i, Pick) for i in index)


def _rest(index: Index) -> list[Any]:
    """An index without its places."""
    return [None if isinstance(i, Pick) else i for i in index]


def _of_two(sweep: Sweep, k: Operand, p: Operand, length: Operand) -> Operand:
    """Whether each of two items is the last one: they may meet round the end."""
    b = sweep.builder
    around = b.operator(operator.mod, b.operator(operator.sub, k, p), length)
    differ = b.operator(operator.ne, around, linear(0))
    both = array(bool, (linear(2),))
    return b.let(
        DISPLAY, differ, constant(True), attribute=(2,), type=both, name="is_last"
    )


def _of_many(sweep: Sweep, places: Index, lengths: Dims, shape: Dims) -> Operand:
    """Whether each item finds its own position, which all of them left."""
    b = sweep.builder
    last = Buffer("last", array(np.intp, lengths), lengths)
    b.add(Alloc(last))
    items = Value("items", array(np.intp, shape))
    given = {"items": lambda: items}
    position = sweep.rules.signed(positions, 0, Template(()), None, given)  # type: ignore[arg-type]
    b.store(last, position, places)
    left = b.element(last, places, items.type, "last_part")
    return b.let(row(operator.eq, 2), left, position, name="is_last")


def positions(items: Any) -> Any:
    """The position of each item, row by row."""
    return (
        np.arange(items.shape[0])
        if items.ndim == 1
        else np.reshape(np.arange(items.size), items.shape)
    )


def _followed(sweep: Sweep, is_last: Operand, count: int) -> Operand:
    """The same with axes of length one behind, as many as each item has."""
    if not count:
        return is_last
    t = type_of(is_last)
    axes = tuple(range(t.rank, t.rank + count))
    axis = axes[0] if count == 1 else Sequence(tuple, axes)
    return sweep.builder.let(
        row(np.expand_dims, 1),
        is_last,
        attribute=Template((("a", Hole(0)), ("axis", axis))),
        type=array(bool, (*(t.dims or ()), *[linear(1)] * count)),
        name="is_last",
    )
