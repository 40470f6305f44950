"""Names that hold whole arrays, while they are lowered: memory that is stored into.

    x = F @ x + w          for i: x_1[i] = ...        x_1 is x from here on

A name that holds arrays of different lengths in the course of a loop has memory in one
row, which grows, and its lengths in cells.  One that holds a number first, as the 0.0
before a loop that adds arrays, holds it as an array of length one, and a flag.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

from gradwright.transform.build import row
from gradwright.transform.core import (
    Alloc,
    Buffer,
    Cell,
    Const,
    If,
    Let,
    Load,
    Operand,
    Raise,
    Resize,
    Store,
    Value,
    leaves,
    type_of,
    walk,
)
from gradwright.transform.indices import Linear, linear, symbol
from gradwright.transform.lowering.arrays import (
    alias,
    cast,
    elementwise,
    in_step,
    load_part,
    store_part,
)
from gradwright.transform.lowering.choice import chosen
from gradwright.transform.lowering.nests import Places, Scope
from gradwright.transform.lowering.program import Again, LengthsVary, Lowering, Shape
from gradwright.transform.lowering.unbound import (
    ask_bound,
    begin_flag,
    begins_unbound,
    note_bound,
)
from gradwright.transform.lowering.views import flat
from gradwright.transform.types import BOOL, INT, MIXED, TEXT, Type


@dataclass(eq=False)
class Varying:
    """Memory of a name whose arrays have different lengths."""

    buffer: Buffer
    room: Cell
    lengths: list[Cell]
    is_number: Cell | None


@dataclass(eq=False)
class Fixed:
    """Memory of a name whose arrays are taken to have one shape.

    number: which of the program's names it is.  memory and shape: once they are known.
    is_number: set as long as it holds a number, in every element.  block: the
    statements among which it begins.
    """

    number: int
    block: Any
    memory: Buffer | None = None
    shape: Shape = ()
    is_number: Cell | None = None


def begin_cell(L: Lowering, place: Cell) -> None:
    """Room for what a name holds."""
    begin_flag(L, place)
    dims = place.type.dims or ()
    number = list(L.cells).index(place) if place in L.cells else len(L.cells)
    L.cells.setdefault(place)
    flag = L.cell("is_number", BOOL, Const(False, BOOL)) if MIXED in dims else None
    if number in L.needs.varying or L.runs_once:
        _begin_varying(L, place, flag)
        return
    fixed = L.fixed[place] = Fixed(number, L.items, is_number=flag)
    L.memory_of[place] = {flag} if flag else set()
    shape = L.needs.shapes.get(number) or _foreseen(L, place)
    if shape is not None:
        _settle_shape(L, place, fixed, shape)


def _foreseen(L: Lowering, place: Cell) -> Shape | None:
    """The shape of what a name will hold, where the program's types say it."""
    stored = [
        type_of(s.operand).dims
        for s in walk(L.function.body)
        if isinstance(s, Store) and s.place is place
    ]
    found: list[Shape] = []
    for dims in (place.type.dims, *stored):
        known = [L.granted(n) for n in dims or ()]
        if known and None not in known:
            found.append(tuple(n for n in known if n is not None))
    found.sort(key=lambda shape: sum(n.constant == 1 for n in shape))
    return found[0] if found else None


def _settle_shape(L: Lowering, place: Cell, fixed: Fixed, shape: Shape) -> None:
    fixed.memory = L.room(place.name, place.type, shape, lasts=True)
    fixed.shape = shape
    L.is_memory(place, fixed.memory, shape)
    L.memory_of[place] = L.memory_of[place] | {fixed.memory}


# ---- read and stored ---------------------------------------------------------------


def lower_load(L: Lowering, s: Load) -> None:
    """What a name holds now, or a part of an array."""
    source = s.source
    if isinstance(source, Cell):
        L.held[s.out] = source
    if not type_of(source).is_array:
        L.add(Load(s.out, source, unsure=s.unsure))
        return
    ask_bound(L, s)
    if source in L.varying:
        load_varying(L, s, L.varying[source])
        return
    if source in L.fixed and not s.index:
        load_fixed(L, s, L.fixed[source])
        return
    load_part(L, s)


def lower_store(L: Lowering, s: Store) -> None:
    """A cell, an element, or a part of an array."""
    if begins_unbound(L, s):
        return
    note_bound(L, s)
    operand = L.operand(s.operand)
    if not s.place.type.is_array:
        unordered = s.accumulate and s.adjoint
        operand = L.at(Scope(), operand, ())  # an array without axes is a number
        L.add(Store(s.place, operand, accumulate=s.accumulate, unordered=unordered))
        return
    if s.place in L.varying:
        store_varying(L, s, L.varying[s.place])
        return
    if s.place in L.fixed and not s.index:
        store_fixed(L, s, L.fixed[s.place])
        return
    store_part(L, s, operand)


def load_fixed(L: Lowering, s: Load, fixed: Fixed) -> None:
    """The array that a name holds now; it may be a number in every element."""
    if fixed.memory is None:
        raise _vary(L, fixed)
    if fixed.is_number is not None:
        L.flags[s.out] = [_loaded(L, fixed.is_number, BOOL)]
        L.spread[s.out] = {fixed.number}
    alias(L, s.out, s.source)


def _vary(L: Lowering, fixed: Fixed) -> Again:
    L.needs.varying.add(fixed.number)
    return Again()


def store_fixed(L: Lowering, s: Store, fixed: Fixed) -> None:
    """A name holds another array, of the shape that it had, or a number."""
    operand = L.operand(s.operand)
    shape = L.shape(operand) if type_of(operand).is_array else None
    if fixed.memory is None:
        if shape is None or len(shape) != s.place.type.rank:
            return _wait_for_shape(L, s, fixed)
        if fixed.is_number is not None:
            if not all(v in L.known for n in shape for v in leaves(n)):
                raise _vary(L, fixed)
            L.needs.shapes[fixed.number] = shape
            raise Again
        if L.items is not fixed.block and not L.has_room_at_entry(shape):
            raise _vary(L, fixed)  # another branch, or trip, needs the memory too
        assert isinstance(s.place, Cell)
        _settle_shape(L, s.place, fixed, shape)
    if shape is not None:
        if len(shape) > len(fixed.shape):
            raise L.refuse(f"{s.place.name}, which holds arrays of several ranks,")
        own = fixed.shape[len(fixed.shape) - len(shape) :]
        pairs = list(zip(shape, own, strict=True))
        if s.accumulate:  # what is added may be stretched
            pairs = [(n, m) for n, m in pairs if n.constant != 1]
        if any(m.constant == 1 and n.constant != 1 for n, m in pairs):
            if all(v in L.known for n in shape for v in leaves(n)):
                L.needs.shapes[fixed.number] = shape
                raise Again
            raise _vary(L, fixed)
        for n, m in pairs:
            if not L.forms.are_equal(n, m):
                _check(L, fixed, n, m)
    store_part(L, s, operand)
    if fixed.is_number is not None and not s.accumulate:
        L.add(Store(fixed.is_number, number_flag(L, operand)))
    elif fixed.is_number is not None and shape is not None:
        L.add(Store(fixed.is_number, Const(False, BOOL)))


def _wait_for_shape(L: Lowering, s: Store, fixed: Fixed) -> None:
    """A number is held first: its shape is that of an array that comes later."""
    if fixed.is_number is None:
        raise _vary(L, fixed)


def _check(L: Lowering, fixed: Fixed, n: Linear, m: Linear) -> None:
    differ = L.let(operator.ne, n, m, type=BOOL)
    L.add(If(differ, [Raise(LengthsVary, (linear(fixed.number),))], []))


def _begin_varying(L: Lowering, place: Cell, flag: Cell | None) -> None:
    t = place.type
    buffer = Buffer(place.name, Type(t.dtype, dims=(linear(1),)), (linear(1),))
    L.add(Alloc(buffer, blank=True))
    room = L.cell("room", INT, linear(1))
    lengths = [L.cell("length", INT, linear(0)) for _ in t.dims or ()]
    L.varying[place] = Varying(buffer, room, lengths, flag)
    L.memory_of[place] = {buffer, room, *lengths} | ({flag} if flag else set())


def load_varying(L: Lowering, s: Load, cell: Varying) -> None:
    """The array that a name holds now."""
    shape = tuple(_loaded(L, c, INT) for c in cell.lengths)
    lengths = tuple(map(symbol, shape))
    t = s.out.type.element
    if cell.is_number is not None:
        L.flags[s.out] = [_loaded(L, cell.is_number, BOOL)]

    def at(w: Scope, places: Places) -> Operand:
        return w.load(cell.buffer, (flat(w, places, lengths),), t, s.out.name)

    L.is_computed(s.out, lengths, at, (cell.buffer, *shape), cheap=True)


def _loaded(L: Lowering, cell: Cell, type: Type) -> Value:
    out = Value(cell.name, type)
    L.add(Load(out, cell))
    return out


def store_varying(L: Lowering, s: Store, cell: Varying) -> None:
    """A name holds another array, or a number, from here on."""
    operand = L.operand(s.operand)
    if s.accumulate:
        held = Value(s.place.name, s.place.type)
        L.uses[held] = 1
        load_varying(L, Load(held, s.place), cell)
        total = Value(s.place.name, s.place.type)
        L.uses[total] = 1
        made = Let(total, row(operator.add, 2), (held, operand))
        elementwise(L, made, (held, operand))
        L.waiting.pop(held, None)
        operand = total
    shape = L.shape(operand) if type_of(operand).is_array else ()
    ones = tuple(linear(1) for _ in cell.lengths[len(shape) :])
    full = (*ones, *shape)
    if cell.buffer in L.touched(operand) and not (
        len(full) == 1 and _reads_in_step(L, cell.buffer, operand, full)
    ):
        operand = L.written_out(operand)
    L.waiting.pop(operand, None) if isinstance(operand, Value) else None
    L.settle({cell.buffer})
    _make_room(L, cell, L.product(full))
    t = cell.buffer.type.element
    given = L.stretched(operand, full)

    def write(w: Scope, at: tuple[Linear, ...]) -> None:
        w.store(cell.buffer, (flat(w, at, full),), cast(w, given(w, at), t))

    L.root(full, write)
    for c, n in zip(cell.lengths, full, strict=True):
        L.add(Store(c, n))
    if cell.is_number is not None:
        L.add(Store(cell.is_number, number_flag(L, operand)))


def _reads_in_step(L: Lowering, buffer: Buffer, operand: Operand, full: Shape) -> bool:
    return in_step(L, buffer, operand, None, full)


def _make_room(L: Lowering, cell: Varying, count: Linear) -> None:
    room = symbol(_loaded(L, cell.room, INT))
    if L.forms.is_natural(room - count):
        return
    is_full = L.let(operator.gt, count, room, type=BOOL)
    L.add(If(is_full, [Resize(cell.buffer, count), Store(cell.room, count)], []))


# ---- arrays that may be numbers ----------------------------------------------------


def number_flag(L: Lowering, o: Any) -> Operand:
    """Whether an operand is a number when the program runs."""
    if not type_of(o).is_array:
        return Const(True, BOOL)
    flags = L.flags.get(o)
    if not flags:
        return Const(False, BOOL)
    found: Operand = flags[0]
    for f in flags[1:]:
        found = L.let(operator.and_, found, f, type=BOOL)
    return found


def refuse_number(L: Lowering, r: Value) -> None:
    """What comes out as an array has to be one when the program runs."""
    if L.flags.get(r):
        text = (
            f"{r.name} is an array if its loop runs, and a number as it did not: "
            f"compiled programs return the one or the other"
        )
        L.add(If(number_flag(L, r), [Raise(TypeError, (Const(text, TEXT),))], []))


def summed_where_number(L: Lowering, out: Value, x: Operand, like: Operand) -> None:
    """A cotangent: all of it summed where its primal is a number, else as it is."""
    if like not in L.flags:
        L.is_same(out, x)
        return
    flag, shape = number_flag(L, like), L.shape(x)
    full = tuple(chosen(L, flag, linear(1), n) for n in shape)
    size = L.product(shape)
    place = L.room(
        out.name, Type(out.type.dtype, dims=(size,)), (L.greatest(size, linear(1)),)
    )
    t = out.type.element
    zero = Const(t.weak().type(0).item(), t)
    with L.block() as then:
        w = Scope()
        w.store(place, (linear(0),), zero)
        for s in w.block:
            L.add(s)

        def add(w: Scope, at: tuple[Linear, ...]) -> None:
            w.store(place, (linear(0),), L.at(w, x, at), accumulate=True)

        L.root(shape, add)
    with L.block() as orelse:
        L.root(
            shape,
            lambda w, at: w.store(place, (flat(w, at, shape),), L.at(w, x, at)),
        )
    L.add(If(flag, then, orelse))
    L.flags[out] = [flag]

    def at(w: Scope, places: Places) -> Operand:
        return w.load(place, (flat(w, places, full),), t, out.name)

    L.is_computed(out, full, at, (place, *full), cheap=True)
