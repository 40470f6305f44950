"""Cotangents: where contributions to a value or place are gathered, and in what shape.

A contribution to a value of the block that is reversed waits in a list and becomes a
sum; one from a nested block is added to a cell that begins before that block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwright.transform.build import constant, row
from gradwright.transform.core import (
    Alloc,
    Buffer,
    Call,
    Cell,
    Const,
    Insert,
    Let,
    Load,
    Operand,
    Place,
    Push,
    Statement,
    Store,
    Tape,
    Value,
    blocks,
    reads,
    type_of,
    walk,
)
from gradwright.transform.indices import Linear
from gradwright.transform.mixed import is_array
from gradwright.transform.primitives.structural import CAST, SPREAD, SUM_TO
from gradwright.transform.reverse.primals import need
from gradwright.transform.reverse.state import Block, summed_axes, zero
from gradwright.transform.rules import real_part
from gradwright.transform.types import Type, fills, join

if TYPE_CHECKING:
    from gradwright.transform.reverse.sweep import Sweep


def begin_bar(sweep: Sweep, block: Block, v: Value) -> Place:
    """A place for the cotangent of a value that nested blocks add to."""
    b = sweep.builder
    total = total_of(sweep, block, v) if v in block.contributions else None
    where, b.where = b.where, None
    name = f"{v.name}_bar"
    place: Place
    if v.type.is_array:
        place = Buffer(
            name, v.type, need(sweep, v) if v not in sweep.function.params else v
        )
        b.add(Alloc(place))
        if total is not None:
            b.store(place, total, accumulate=True)
    else:
        place = Cell(name, sweep.kinds.get(v, v.type))
        b.add(Alloc(place))
        note_kind(sweep, v, place, total)
        b.store(place, total if total is not None else zero(v.type))
    b.where = where
    block.bars[v] = place
    return place


def bar_of_place(sweep: Sweep, block: Block, p: Place) -> Place:
    """The cotangent of a place in the block where the place begins."""
    if p not in block.bars:
        name = f"{p.name}_bar"
        like = getattr(p, "like", None)
        if like is not None and like not in sweep.function.params:
            like = need(sweep, like)
        block.bars[p] = (
            _tape_bar(sweep, name, p)
            if isinstance(p, Tape)
            else Buffer(name, p.type, like)
            if like is not None
            else Cell(name, sweep.kinds.get(p, p.type))
        )
    return block.bars[p]


def _tape_bar(sweep: Sweep, name: str, p: Tape) -> Tape:
    """The tape of cotangents; that of a tape with copies is added to, item by item."""
    bar = Tape(name, p.type)
    if p in sweep.shared and sweep.block is sweep.root:
        bar.like = p
    return bar


def begin_place_bar(sweep: Sweep, block: Block, p: Place) -> None:
    """Begin the cotangent of a place at zero."""
    bar = bar_of_place(sweep, block, p)
    sweep.builder.add(Alloc(bar))
    if isinstance(bar, Cell):
        sweep.builder.store(bar, zero(bar.type))


def find_bar(sweep: Sweep, p: Any) -> Place | None:
    """The cotangent of a place if one is alive around the block."""
    block: Block | None = sweep.block
    while block is not None:
        if p in block.bars:
            return block.bars[p]
        block = block.parent
    return None


def outer_bars(sweep: Sweep, block: Block, s: Statement) -> None:
    """Cells for cotangents of this block's values that the nested blocks add to."""
    for inner in [t for b in blocks(s) for t in walk(b)]:
        if not gives(sweep, inner):
            continue
        for v in reads(inner):
            if not isinstance(v, Value) or v not in sweep.active or v in block.bars:
                continue
            own = v in block.defined or (
                block is sweep.root and v in sweep.function.params
            )
            if own:
                begin_bar(sweep, block, v)


def gives(sweep: Sweep, s: Statement) -> bool:
    """Whether reversing the statement adds to cotangents of what it reads."""
    match s:
        case Let() | Load():
            return s.out in sweep.active
        case Store() | Insert():
            return s.place in sweep.active
        case Push():
            return s.tape in sweep.active
        case Call():
            return any(o in sweep.active for o in s.outs)
    return False


def total_of(sweep: Sweep, block: Block, v: Any) -> Operand:
    """The sum of the contributions that wait for a value."""
    contributions = block.contributions.pop(v)
    total = contributions[0]
    for c in contributions[1:]:
        total = sweep.builder.add_up(total, c)
        if isinstance(total, Value):
            rename(sweep, total, f"{v.name}_bar")
            total.of = v
    return total


def collect(sweep: Sweep, v: Value) -> Operand | None:
    """The cotangent of a value at its definition; None where nothing arrived."""
    block = sweep.block
    parts: list[Operand] = []
    if v in block.bars:
        parts.append(read_bar(sweep, block.bars[v]))
    if v in block.contributions:
        parts.append(total_of(sweep, block, v))
    if not parts:
        return None
    total = parts[0] if len(parts) == 1 else sweep.builder.add_up(*parts)
    if isinstance(total, Value):
        rename(sweep, total, f"{v.name}_bar")
        if v in sweep.chosen:
            sweep.masked.add(total)
    return total


def rename(sweep: Sweep, v: Value, name: str, always: bool = False) -> None:
    """Name a value after the cotangent it is, unless it has such a name."""
    d = sweep.builder.definition.get(v)
    if isinstance(d, Let) and (always or not v.name.endswith("_bar")):
        v.name = name


def read_bar(sweep: Sweep, bar: Place) -> Operand:
    """The cotangent that a place holds now."""
    if isinstance(bar, Cell):
        return sweep.builder.load(bar)
    return sweep.builder.element(bar, (), bar.type, bar.name)


def give(sweep: Sweep, v: Any, c: Operand, shape: Type) -> None:
    """Add a contribution, of the shape of the statement's result, to a cotangent."""
    if not isinstance(v, Value) or v not in sweep.active:
        return
    if c in sweep.masked:
        sweep.chosen.add(v)
    c = fitted(sweep, v, c, shape)
    bar = find_bar(sweep, v)
    if bar is not None:
        note_kind(sweep, v, bar, c)
        sweep.builder.store(bar, c, accumulate=True)
    else:
        sweep.block.contributions.setdefault(v, []).append(c)


def note_kind(sweep: Sweep, v: Any, bar: Place, c: Operand | None) -> None:
    """A cotangent of a Python number may be NumPy's: its cell then holds that."""
    if c is None or not isinstance(bar, Cell) or bar.type.is_array:
        return
    if not type_of(c).python and bar.type.python:
        bar.type = sweep.kinds[v] = join(bar.type, type_of(c)) or bar.type


def as_kind(sweep: Sweep, c: Operand, t: Type) -> Operand:
    """A cotangent as Python's number where the callee was written for one."""
    if not t.python or type_of(c).python or t.is_array:
        return c
    if isinstance(c, Const):
        return constant(complex(c.value) if t.is_complex else float(c.value))
    wanted = replace(t, optional=False)
    return sweep.builder.let(CAST, c, attribute=wanted, type=wanted)


def fitted(sweep: Sweep, v: Value, c: Operand, shape: Type) -> Operand:
    """The contribution in the primal's shape, realness and dtype."""
    b = sweep.builder
    if not v.type.is_complex:
        c = real_part(b, c)
    if shape.is_array and stretched(v.type, shape):
        if not fills(type_of(c), shape):
            c = spread(sweep, c, shape)
        if not v.type.is_complex:  # as an array that it is spread over may be
            c = real_part(sweep.builder, c)
        if v.type.is_array:
            summed = replace(type_of(c), dims=v.type.dims)
            c = b.let(SUM_TO, c, attribute=summed_axes(v.type, shape), type=summed)
        else:
            c = b.let(row(np.sum, 1), c)
    if not v.type.python and not type_of(c).python and type_of(c).dtype != v.type.dtype:
        wanted = replace(type_of(c), dtype=v.type.dtype)
        c = b.let(CAST, c, attribute=wanted, type=wanted)
    note_ones(c, v.type)
    return c


def note_ones(c: Operand, t: Type) -> None:
    """A cotangent is of length one along the axes along which the primal is."""
    if not isinstance(c, Value) or not c.type.is_array or c.type.rank != t.rank:
        return
    pairs = zip(c.type.dims or (), t.dims or (), strict=True)
    dims = tuple(f if f.constant == 1 else d for d, f in pairs)
    c.type = replace(c.type, dims=dims)


def filled(sweep: Sweep, s: Let, g: Operand) -> Operand:
    """The cotangent of a result, in the result's shape where an operand leaves it open.

    Elsewhere a number may stand for an array of equal elements.
    """
    is_open = not sweep.mixed.all.isdisjoint(s.operands) and len(set(s.operands)) > 1
    if is_array(g) or not is_array(s.out) or not is_open:
        return g
    t = replace(type_of(g), dims=s.out.type.dims)
    return sweep.builder.let(SPREAD, g, need(sweep, s.out), type=t)


def settled(sweep: Sweep, s: Let, o: Operand, c: Operand) -> Operand:
    """A contribution of the shape of the result, in the shape that the operand has."""
    others = [a for a in s.operands if is_array(a) and a is not o]
    return summed(sweep, c, o) if others and o in sweep.mixed.active else c


def summed(sweep: Sweep, c: Operand, o: Operand) -> Operand:
    """The sum of a cotangent where the operand is a number, else the cotangent."""
    t = replace(type_of(c), dims=type_of(o).dims)
    return sweep.builder.let(SUM_TO, c, need(sweep, o), type=t)


def stretched(own: Type, shape: Type) -> bool:
    """Whether broadcasting stretched an operand into the result's shape."""
    dims, full = own.dims or (), shape.dims or ()
    if len(dims) < len(full):
        return True
    pairs = zip(dims, full, strict=True)
    return any(d.constant == 1 and f.constant != 1 for d, f in pairs)


def spread(sweep: Sweep, c: Operand, shape: Type) -> Operand:
    """A cotangent repeated in the shape of an array."""
    like = next((p for p in sweep.function.params if p.type == shape), None)
    if like is None:
        like = need(sweep, next(v for v in values_around(sweep) if v.type == shape))
    assert isinstance(like, Value)
    own = type_of(c)
    if own.python and not own.is_complex and like.type.is_inexact:  # takes its dtype
        own = like.type
    return sweep.builder.let(SPREAD, c, like, type=replace(own, dims=shape.dims))


def values_around(sweep: Sweep) -> Iterator[Value]:
    """The values of the blocks around, innermost first."""
    block: Block | None = sweep.block
    while block is not None:
        yield from (v for v in block.defined if isinstance(v, Value))
        block = block.parent


def result_bar(sweep: Sweep, v: Value) -> Operand:
    """The cotangent of an input, of the input's own kind."""
    b = sweep.builder
    b.where = None
    c = collect(sweep, v) if v in sweep.active else None
    if isinstance(c, Value):
        rename(sweep, c, f"{v.name}_bar", always=True)
    t = v.type
    if t.is_array:
        if c is None:
            zeros = Buffer(f"{v.name}_bar", t, v)
            b.add(Alloc(zeros))
            return read_bar(sweep, zeros)
        return c if fills(type_of(c), t) else b.let(SPREAD, c, v, type=t)
    if c is None:
        c = zero(t)
    c = c if t.is_complex else real_part(b, c)
    here = type_of(c)
    if (here.python, here.dtype) != (t.python, t.dtype):
        known = c.constant if isinstance(c, Linear) else getattr(c, "value", None)
        if known is not None and t.python:
            return constant((complex if t.is_complex else float)(known))
        wanted = replace(t, optional=False)
        c = b.let(CAST, c, attribute=wanted, type=wanted, name=f"{v.name}_bar")
    return c
