"""Lists while they are lowered: arrays with a counter, and room for more.

    xs.append(x)         xs[count] = x; count += 1
    xs.insert(0, x)      for i in reversed(range(count)): xs[i + 1] = xs[i] ...
    np.array(xs)         the first `count` elements

Items are numbers, or arrays.
"""

from __future__ import annotations

import operator
from typing import Any

from gradwright.transform.core import (
    At,
    Const,
    For,
    If,
    Insert,
    Length,
    Let,
    List,
    Load,
    Operand,
    Raise,
    Remove,
    Span,
    Store,
    Take,
    Value,
    type_of,
)
from gradwright.transform.indices import Linear, linear, symbol
from gradwright.transform.lowering.listed import (
    Listed,
    agree,
    copy_items,
    count,
    each,
)
from gradwright.transform.lowering.nests import Places, Scope, variables
from gradwright.transform.lowering.program import Lowering
from gradwright.transform.lowering.ragged_lists import Ragged
from gradwright.transform.lowering.regions import span
from gradwright.transform.lowering.tapes import Stack, begin_column, claim
from gradwright.transform.primitives.structural import WITHIN
from gradwright.transform.types import BOOL, INT, TEXT, Type

RANGE = "list index out of range"
ASSIGNED = "list assignment index out of range"


def begin_list(L: Lowering, place: List) -> None:
    """A list begins empty, or with zeros."""
    if place.type.optional or not place.type.is_number:
        raise L.refuse(f"{place.name}, a list of what may be None,")
    if place.depth > 1:
        raise L.refuse(f"{place.name}, a list of lists,")
    if place in L.lists:
        L.lists[place].clear(L)
    else:
        L.lists[place] = _made(L, place)
    if place.length is not None:
        n = L.greatest(L.length(place.length), linear(0))
        L.lists[place].add_zeros(L, n)


def _made(L: Lowering, place: List) -> Listed:
    """Room for a list: for its items, or for what says where they are."""
    here, depth = set(L.numbers), len(L.loops)
    item, number = place.type, len(L.cells)
    L.cells[place] = None

    def begin(name: str, type: Type) -> Stack:
        column = begin_column(L, place, name, type)
        stack = L.tapes[column.buffer] = Stack(place, L.items, depth, here, column)
        L.memory_of.setdefault(place, set()).update({column.buffer, column.top})
        return stack

    stack = begin(place.name, item)
    if place not in L.needs.ragged:
        if not item.dims:
            stack.shape = ()
        return Listed(stack, item)
    table = begin(f"{place.name}_places", Type("int64"))
    table.shape = (linear(item.rank + 1),)
    return Ragged(table, item, stack, number)


def insert(L: Lowering, s: Insert) -> None:
    """One item more, at the end or before another one."""
    listed, operand = listed_as(L, s.place), L.operand(s.operand)
    listed.fit(L, operand)
    n = claim(L, listed.stack, listed.column, (), linear(1))
    place = n
    if s.position is not None:
        place = _clamped(L, L.operand(s.position), n)
        if listed.buffer in L.touched(operand):
            operand = L.written_out(operand)
        _shift(L, listed, place, n, up=True)
    listed.put(L, place, operand)
    L.add(Store(listed.column.top, linear(1), accumulate=True))


def _clamped(L: Lowering, position: Operand, n: Linear) -> Linear:
    """Where `insert` puts an item: before all, behind all, or in between."""
    _, _, length = span(L, Span(None, position), n, None)
    return length


def _shift(L: Lowering, listed: Listed, first: Linear, n: Linear, up: bool) -> None:
    """The rows from `first` on move up by one, or those behind it down."""
    buffer, t = listed.column.buffer, listed.column.buffer.type.element
    L.settle({buffer})
    (i,) = variables(1)
    k = symbol(i)
    with L.block(loops=True) as body:
        to, source = (k + 1, k) if up else (k, k + 1)

        def write(w: Scope, at: Places) -> None:
            w.store(buffer, (to, *at), w.load(buffer, (source, *at), t, "item"))

        each(L, listed.stack.shape or (), write)
    stop = n if up else n - 1
    L.add(For(i, first, stop, linear(1), body, backwards=up))


def remove(L: Lowering, s: Remove) -> None:
    """An item is taken out: the last one, or another."""
    listed = listed_as(L, s.place)
    assert isinstance(s.out, Value)
    n = count(L, listed)
    _raise_if(L, operator.eq, n, linear(0), "pop from empty list")
    place = n - 1
    if s.position is not None:
        place = _within(L, L.operand(s.position), n, "pop index out of range")
    listed.take_out(L, s.out, place)
    listed.drop(L, place)
    if s.position is not None:
        _shift(L, listed, place, n, up=False)
    L.add(Store(listed.column.top, n - 1))


def _raise_if(L: Lowering, compare: Any, a: Linear, b: Linear, message: str) -> None:
    held = L.let(compare, a, b, type=BOOL)
    L.add(If(held, [Raise(IndexError, (Const(message, TEXT),))], []))


def _within(L: Lowering, position: Operand, n: Linear, message: str) -> Linear:
    """A place of an item that is there, counted from the first."""
    if isinstance(position, Linear) and L.forms.is_within(position, n):
        return position
    out = Value("place", INT)
    L.add(Let(out, WITHIN, (position, n), message))
    return symbol(out)


def load_list(L: Lowering, s: Load) -> None:
    """An item, the number of items, all of them as an array, or some as a list."""
    assert isinstance(s.source, List)
    listed = listed_as(L, s.source)
    n = count(L, listed)
    match s.index:
        case (Length(),):
            L.number(s.out, Scope(), n)
        case (At(position=position),):
            place = _within(L, L.operand(position), n, RANGE)
            listed.take_out(L, s.out, place)
        case () if isinstance(s.out, Value):
            listed.gather(L, s.out, n)
        case () | (Span(),) if isinstance(s.out, List):
            item = s.index[0] if s.index else Span()
            assert isinstance(item, Span)
            start, step, length = span(L, item, n, None)
            begin_list(L, s.out)
            _copy(L, s.source, s.out, start, step, length)
        case _:
            raise L.refuse("this part of a list")


def _copy(
    L: Lowering, source: List, to: List, start: Linear, step: int, length: Linear
) -> None:
    """Items of one list become those of another, empty one."""
    items, others = listed_as(L, source), listed_as(L, to)
    if not isinstance(items, Ragged) and not isinstance(others, Ragged):
        agree(L, others.stack, items.shape_of_items(L))
        copy_items(L, items.buffer, others, start, step, length)
        return
    (i,), item = variables(1), Value("item", source.type)
    at = (At(start + symbol(i) * step),)
    body = [Load(item, source, at, safe=True), Insert(to, item)]
    L.write([For(i, linear(0), length, linear(1), body)], length)


def store_list(L: Lowering, s: Store) -> None:
    """An item is another one from here on, or is added to."""
    assert isinstance(s.place, List)
    listed, operand = listed_as(L, s.place), L.operand(s.operand)
    if len(s.index) != 1 or not isinstance(s.index[0], At):
        raise L.refuse("a store into a part of a list")
    n = count(L, listed)
    place = _within(L, L.operand(s.index[0].position), n, ASSIGNED)
    is_array = type_of(operand).is_array
    if s.accumulate and not listed.item.dims and is_array:
        raise L.refuse("an array that is added to an item of a list")
    if is_array and listed.buffer in L.touched(operand):
        operand = L.written_out(operand)
    if s.accumulate:
        listed.increase(L, place, operand)
    else:
        listed.fit(L, operand)
        listed.replace(L, place, operand)


def take(L: Lowering, s: Take) -> None:
    """A list goes by another name."""
    source, to = listed_as(L, s.source), listed_as(L, s.place)
    if source is to:
        return
    to.clear(L)
    _copy(L, s.source, s.place, linear(0), 1, count(L, source))


def listed_as(L: Lowering, place: List) -> Listed:
    """A list of the program where it stands in memory."""
    found: Listed | None = L.lists.get(place)
    if found is None:
        raise L.refuse(f"the list {place.name}")
    return found
