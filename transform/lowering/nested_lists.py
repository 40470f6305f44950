"""Lists of lists while they are lowered: a table for each depth, the elements behind.

    table.append([1.0, 2.0])     rows[top] = start, 2, 2; elements[start] = 1.0 ...
    table[i].append(x)           elements[rows[i].start + rows[i].count] = x
    table[i][j]                  elements[rows[i].start + j]

A row of a table says where the items of a list begin, how many there are, and for how
many there is room.  A list that has no more room goes on behind all others.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

from gradwright.transform.core import (
    At,
    For,
    If,
    Index,
    Insert,
    Length,
    List,
    Load,
    Operand,
    Remove,
    Span,
    Store,
    Value,
    type_of,
)
from gradwright.transform.indices import Linear, linear, symbol
from gradwright.transform.lowering.arrays import cast
from gradwright.transform.lowering.listed import (
    ASSIGNED,
    RANGE,
    Listed,
    agree,
    clamped,
    copy_items,
    differ,
    further,
    leave_if,
    raise_if_empty,
    shift,
    within,
)
from gradwright.transform.lowering.nests import Places, Scope, variables
from gradwright.transform.lowering.program import Lowering
from gradwright.transform.lowering.ragged_lists import Ragged
from gradwright.transform.lowering.regions import span
from gradwright.transform.lowering.tapes import Stack, claim
from gradwright.transform.lowering.views import plus
from gradwright.transform.types import BOOL, INT, Type

SAID = "start", "count", "room"  # by the row of a table
TABLE = Type("int64")
FEW = 4  # items for which a list gets room at least, when it needs more


@dataclass(eq=False)
class Nested:
    """A list of lists in memory.

    tables: one for the lists of each depth, those of the list itself first.  items: all
    that is in the innermost lists, as if it were in one.  number: which of the names
    that hold arrays it is.
    """

    place: List
    tables: list[Stack]
    items: Listed
    number: int

    @property
    def levels(self) -> list[Stack]:
        """The tables, and the items."""
        return [*self.tables, self.items.stack]

    def clear(self, L: Lowering) -> None:
        """No item is left, in no list."""
        for table in self.tables:
            L.add(Store(table.column.top, linear(0)))
        self.items.clear(L)


@dataclass(frozen=True)
class Part:
    """One of the lists: where its items begin on a level, and how many there are.

    row: that of the table of the level above, which says so; None for the outermost.
    """

    level: int
    start: Linear
    count: Linear
    row: Linear | None = None


def row_of(L: Lowering, xs: List) -> List:
    """A list that holds one item of a list of lists for a moment."""
    row: List | None = L.needs.rows.get(xs)
    if row is None:
        row = L.needs.rows[xs] = List("row", xs.type, xs.depth - 1)
        L.needs.growing.add(row)
    return row


def part(L: Lowering, nested: Nested, path: Index) -> Part:
    """The list at the end of a path."""
    found = Part(0, linear(0), L.loaded(nested.levels[0].column.top))
    for at in path:
        assert isinstance(at, At)
        row = found.start + within(L, L.operand(at.position), found.count, RANGE)
        found = _listed_at(L, nested, found.level, row)
    return found


def _listed_at(L: Lowering, nested: Nested, level: int, row: Linear) -> Part:
    start, count = (_said(L, nested, level, row, k) for k in ("start", "count"))
    return Part(level + 1, start, count, row)


def _said(L: Lowering, nested: Nested, level: int, row: Linear, what: str) -> Linear:
    """What a row of a table says."""
    n, index = Value(what, INT), (At(row), At(linear(SAID.index(what))))
    L.add(Load(n, nested.levels[level].column.buffer, index, safe=True))
    return symbol(n)


def _say(L: Lowering, nested: Nested, level: int, row: Linear, **said: Linear) -> None:
    """Let a row of a table say something else."""
    table = nested.levels[level].column.buffer
    L.settle({table})
    for name, n in said.items():
        index = At(row), At(linear(SAID.index(name)))
        L.add(Store(table, n, index, safe=True))


# ---- changing ----------------------------------------------------------------------


def insert(L: Lowering, nested: Nested, s: Insert) -> None:
    """One item more in one of the lists: a number, an array or a list."""
    operand = L.operand(s.operand)
    if isinstance(operand, Value) and nested.items.buffer in L.touched(operand):
        operand = L.written_out(operand)
    if not isinstance(operand, List):
        nested.items.fit(L, operand)
    p = part(L, nested, s.path)
    start = _with_room(L, nested, p)
    place = p.count
    if s.position is not None:
        place = clamped(L, L.operand(s.position), p.count)
        stack = nested.levels[p.level]
        shift(L, stack, start + place, start + p.count, up=True)
    if isinstance(operand, List):
        _fill(L, nested, p.level, start + place, operand)
    else:
        nested.items.put(L, start + place, operand)


def _with_room(L: Lowering, nested: Nested, p: Part) -> Linear:
    """Where the items of a list begin, which has room for one more, and counts it."""
    stack = nested.levels[p.level]
    if p.row is None:
        claim(L, stack, stack.column, (), linear(1))
        L.add(Store(stack.column.top, linear(1), accumulate=True))
        return p.start
    place = L.cell("start", INT, p.start)
    room = _said(L, nested, p.level - 1, p.row, "room")
    is_full = L.let(operator.eq, p.count, room, type=BOOL)
    with L.block() as moved:
        wanted = p.count + L.greatest(p.count, linear(FEW))
        new = _claim(L, stack, wanted)
        _move(L, stack, stack, p.start, new, p.count)
        L.add(Store(place, new))
        _say(L, nested, p.level - 1, p.row, start=new, room=wanted)
    L.add(If(is_full, moved, []))
    _say(L, nested, p.level - 1, p.row, count=p.count + 1)
    return L.loaded(place)


def _claim(L: Lowering, stack: Stack, n: Linear) -> Linear:
    """Where so many items go, behind all others."""
    start = claim(L, stack, stack.column, (n,), n)
    L.add(Store(stack.column.top, n, accumulate=True))
    return start


def _move(
    L: Lowering, stack: Stack, to: Stack, start: Linear, new: Linear, count: Linear
) -> None:
    """Items, or rows of a table, stand at another place too."""
    source, buffer = stack.column.buffer, to.column.buffer
    t = buffer.type.element
    L.settle({buffer})

    def write(w: Scope, at: Places) -> None:
        w.store(buffer, further(new, at), w.load(source, further(start, at), t, "item"))

    L.root((count, *(stack.shape or ())), write)


def _fill(L: Lowering, nested: Nested, level: int, row: Linear, xs: List) -> None:
    """A row of a table is that of a list, of which there is a copy then."""
    listed, items = L.lists[xs], nested.items
    n = L.loaded((listed.levels[0] if xs.depth > 1 else listed.stack).column.top)
    start = _claim(L, nested.levels[level + 1], n)
    _say(L, nested, level, row, start=start, count=n, room=n)
    is_ragged = isinstance(items, Ragged) or isinstance(listed, Ragged)
    if xs.depth == 1 and not is_ragged:
        agree(L, items.stack, listed.shape_of_items(L))
        _move(L, listed.stack, items.stack, linear(0), start, n)
        return
    (i,) = variables(1)
    with L.open_loop(i, (linear(0), n - 1)), L.block(loops=True) as body:
        if xs.depth == 1:
            item = Value("item", xs.type)
            listed.take_out(L, item, symbol(i))
            items.fit(L, item)
            items.put(L, start + symbol(i), item)
        else:
            inner = row_of(L, xs)
            L.write([Load(inner, xs, (At(symbol(i)),), safe=True)], n)
            _fill(L, nested, level + 1, start + symbol(i), inner)
    L.add(For(i, linear(0), n, linear(1), body))


def remove(L: Lowering, nested: Nested, s: Remove) -> None:
    """An item is taken out of one of the lists: the last one, or another."""
    p = part(L, nested, s.path)
    raise_if_empty(L, p.count)
    place = p.count - 1
    if s.position is not None:
        place = within(L, L.operand(s.position), p.count, "pop index out of range")
    if isinstance(s.out, List):
        _copy_part(L, nested, (*s.path, At(place)), s.out, Span())
        _give_back(L, nested, p.level, p.start + place)
    else:
        nested.items.take_out(L, s.out, p.start + place)
        nested.items.drop(L, p.start + place)
    stack = nested.levels[p.level]
    if s.position is not None:
        shift(L, stack, p.start + place, p.start + p.count, up=False)
    if p.row is None:
        L.add(Store(stack.column.top, p.count - 1))
    else:
        _say(L, nested, p.level - 1, p.row, count=p.count - 1)


def _give_back(L: Lowering, nested: Nested, level: int, row: Linear) -> None:
    """The room of a list that is taken out, if nothing stands behind it."""
    start, room = (_said(L, nested, level, row, k) for k in ("start", "room"))
    top = nested.levels[level + 1].column.top
    is_last = L.let(operator.eq, start + room, L.loaded(top), type=BOOL)
    L.add(If(is_last, [Store(top, start)], []))


def store(L: Lowering, nested: Nested, s: Store) -> None:
    """An item of one of the lists is another one from here on, or is added to."""
    operand = L.operand(s.operand)
    *path, last = s.index
    if not nested.place.is_item(s.index) or not isinstance(last, At):
        raise L.refuse("a store into a part of a list")
    is_array = type_of(operand).is_array
    if s.accumulate and not nested.items.item.dims and is_array:
        raise L.refuse("an array that is added to an item of a list")
    if is_array and nested.items.buffer in L.touched(operand):
        operand = L.written_out(operand)
    p = part(L, nested, tuple(path))
    message = RANGE if s.accumulate else ASSIGNED
    place = p.start + within(L, L.operand(last.position), p.count, message)
    if s.accumulate:
        nested.items.increase(L, place, operand)
    else:
        nested.items.fit(L, operand)
        nested.items.replace(L, place, operand)


# ---- read --------------------------------------------------------------------------


def load(L: Lowering, nested: Nested, s: Load) -> None:
    """An item, a list of them, how many there are, or all as an array."""
    path = tuple(i for i in s.index if isinstance(i, At))
    rest = s.index[len(path) :]
    if isinstance(s.out, List):
        if not s.index:
            copy(L, nested, L.lists[s.out])
        else:
            cut = rest[0] if rest else Span()
            assert isinstance(cut, Span)
            _copy_part(L, nested, path, s.out, cut)
    elif rest == (Length(),):
        L.number(s.out, Scope(), part(L, nested, path).count)
    elif nested.place.is_item(path):
        p = part(L, nested, path[:-1])
        place = within(L, L.operand(path[-1].position), p.count, RANGE)
        nested.items.take_out(L, s.out, p.start + place)
    elif rest:
        raise L.refuse("this part of a list")
    else:
        _gather(L, nested, s.out, path)


def _copy_part(L: Lowering, nested: Nested, path: Index, to: List, cut: Span) -> None:
    """A list that has begun gets the items of one of the lists."""
    p, made = part(L, nested, path), L.lists[to]
    start, step, length = span(L, cut, p.count, None)
    assert isinstance(step, int)
    is_ragged = isinstance(nested.items, Ragged) or isinstance(made, Ragged)
    if to.depth == 1 and not is_ragged:
        agree(L, made.stack, nested.items.shape_of_items(L))
        first = p.start + start
        copy_items(L, nested.items.buffer, made, first, step, length)
        return
    (i,) = variables(1)
    row: Any = Value("item", to.type) if to.depth == 1 else row_of(L, to)
    index = (*path, At(start + symbol(i) * step))
    body = [Load(row, nested.place, index, safe=True), Insert(to, row)]
    L.write([For(i, linear(0), length, linear(1), body)], length)


def copy(L: Lowering, nested: Nested, to: Any) -> None:
    """All that is in a list of lists is in another, empty one too."""
    pairs = list(zip(nested.levels, to.levels, strict=True))
    items, others = nested.items, to.items
    if isinstance(items, Ragged) and isinstance(others, Ragged):
        pairs.append((items.elements, others.elements))
    elif isinstance(items, Ragged) or isinstance(others, Ragged):
        raise differ(L, (others if isinstance(items, Ragged) else items).stack)
    else:
        agree(L, others.stack, items.shape_of_items(L))
    for stack, other in pairs:
        n = L.loaded(stack.column.top)
        _move(L, stack, other, linear(0), _claim(L, other, n), n)


def _gather(L: Lowering, nested: Nested, out: Value, path: Index) -> None:
    """All items of one of the lists as an array; lists in it are of one length."""
    p = part(L, nested, path)
    if isinstance(nested.items, Ragged):
        raise L.refuse("an array of a list of lists of arrays of different lengths")
    if p.level == len(nested.tables):
        _gather_items(L, nested, out, p)
    elif p.level == len(nested.tables) - 1:
        _gather_lists(L, nested, out, p)
    else:
        raise L.refuse("an array of a list of lists of lists")


def _gather_items(L: Lowering, nested: Nested, out: Value, p: Part) -> None:
    items, t = nested.items.buffer, out.type.element

    def at(w: Scope, places: Places) -> Operand:
        k, *rest = places
        return cast(w, w.load(items, (plus(w, p.start, k), *rest), t, out.name), t)

    shape = p.count, *nested.items.shape_of_items(L)
    L.is_computed(out, shape, at, (items, p.start, p.count), cheap=True)


def _gather_lists(L: Lowering, nested: Nested, out: Value, p: Part) -> None:
    number, items, t = nested.number, nested.items.buffer, out.type.element
    if number in L.needs.varying or L.runs_once:
        raise L.refuse("an array of lists of different lengths")
    leave_if(L, number, operator.eq, p.count, linear(0))
    n = _said(L, nested, p.level, p.start, "count")
    (i,) = variables(1)
    with L.block(loops=True) as body:
        own = _said(L, nested, p.level, p.start + symbol(i), "count")
        leave_if(L, number, operator.ne, own, n)
    L.add(For(i, linear(1), p.count, linear(1), body))
    table = nested.tables[p.level].column.buffer

    def at(w: Scope, places: Places) -> Operand:
        i, k, *rest = places
        row = plus(w, p.start, i), linear(SAID.index("start"))
        start = w.load(table, row, INT, "start")
        return cast(w, w.load(items, (plus(w, start, k), *rest), t, out.name), t)

    shape = p.count, n, *nested.items.shape_of_items(L)
    L.is_computed(out, shape, at, (items, table, p.start, p.count, n), cheap=True)
