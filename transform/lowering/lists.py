"""Lists while they are lowered: arrays with a counter, and room for more.

    xs.append(x)         xs[count] = x; count += 1
    xs.insert(0, x)      for i in reversed(range(count)): xs[i + 1] = xs[i] ...
    np.array(xs)         the first `count` elements

Items are numbers, or arrays.
"""

from __future__ import annotations

from typing import Any

from gradwright.transform.core import (
    At,
    For,
    Insert,
    Length,
    List,
    Load,
    Remove,
    Span,
    Store,
    Take,
    Value,
    type_of,
)
from gradwright.transform.indices import Linear, linear, symbol
from gradwright.transform.lowering import nested_lists
from gradwright.transform.lowering.listed import (
    ASSIGNED,
    RANGE,
    Listed,
    agree,
    clamped,
    copy_items,
    count,
    raise_if_empty,
    shift,
    within,
)
from gradwright.transform.lowering.nested_lists import SAID, TABLE, Nested
from gradwright.transform.lowering.nests import Scope, variables
from gradwright.transform.lowering.program import Lowering
from gradwright.transform.lowering.ragged_lists import Ragged
from gradwright.transform.lowering.regions import span
from gradwright.transform.lowering.tapes import Stack, begin_column, claim
from gradwright.transform.types import Type


def begin_list(L: Lowering, place: List) -> None:
    """A list begins empty, or with zeros."""
    if place.type.optional or not place.type.is_number:
        raise L.refuse(f"{place.name}, a list of what may be None,")
    if place in L.lists:
        L.lists[place].clear(L)
    else:
        L.lists[place] = _made(L, place)
    if place.length is not None:
        n = L.greatest(L.length(place.length), linear(0))
        L.lists[place].add_zeros(L, n)


def _made(L: Lowering, place: List) -> Listed | Nested:
    """Room for a list: for its items, and for what says where they are."""
    here, depth = set(L.numbers), len(L.loops)
    item, number = place.type, len(L.cells)
    L.cells[place] = None
    if place.depth > 1:
        L.needs.growing.add(place)

    def begin(name: str, type: Type) -> Stack:
        column = begin_column(L, place, name, type)
        stack = L.tapes[column.buffer] = Stack(place, L.items, depth, here, column)
        L.memory_of.setdefault(place, set()).update({column.buffer, column.top})
        return stack

    tables = [begin(f"{place.name}_rows", TABLE) for _ in range(place.depth - 1)]
    for table in tables:
        table.shape = (linear(len(SAID)),)
    stack = begin(place.name, item)
    items = Listed(stack, item)
    if place in L.needs.ragged:
        places = begin(f"{place.name}_places", TABLE)
        places.shape = (linear(item.rank + 1),)
        items = Ragged(places, item, stack, number)
    elif not item.dims:
        stack.shape = ()
    return Nested(place, tables, items, number) if tables else items


def insert(L: Lowering, s: Insert) -> None:
    """One item more, at the end or before another one."""
    if s.place.depth > 1:
        nested_lists.insert(L, nested_as(L, s.place), s)
        return
    listed, operand = listed_as(L, s.place), L.operand(s.operand)
    listed.fit(L, operand)
    n = claim(L, listed.stack, listed.column, (), linear(1))
    place = n
    if s.position is not None:
        place = clamped(L, L.operand(s.position), n)
        if listed.buffer in L.touched(operand):
            operand = L.written_out(operand)
        shift(L, listed.stack, place, n, up=True)
    listed.put(L, place, operand)
    L.add(Store(listed.column.top, linear(1), accumulate=True))


def remove(L: Lowering, s: Remove) -> None:
    """An item is taken out: the last one, or another."""
    if s.place.depth > 1:
        if isinstance(s.out, List):
            begin_list(L, s.out)
        nested_lists.remove(L, nested_as(L, s.place), s)
        return
    listed = listed_as(L, s.place)
    assert isinstance(s.out, Value)
    n = count(L, listed)
    raise_if_empty(L, n)
    place = n - 1
    if s.position is not None:
        place = within(L, L.operand(s.position), n, "pop index out of range")
    listed.take_out(L, s.out, place)
    listed.drop(L, place)
    if s.position is not None:
        shift(L, listed.stack, place, n, up=False)
    L.add(Store(listed.column.top, n - 1))


def load_list(L: Lowering, s: Load) -> None:
    """An item, the number of items, all of them as an array, or some as a list."""
    assert isinstance(s.source, List)
    if s.source.depth > 1:
        if isinstance(s.out, List):
            begin_list(L, s.out)
        nested_lists.load(L, nested_as(L, s.source), s)
        return
    listed = listed_as(L, s.source)
    n = count(L, listed)
    match s.index:
        case (Length(),):
            L.number(s.out, Scope(), n)
        case (At(position=position),):
            place = within(L, L.operand(position), n, RANGE)
            listed.take_out(L, s.out, place)
        case () if isinstance(s.out, Value):
            listed.gather(L, s.out, n)
        case () | (Span(),) if isinstance(s.out, List):
            item = s.index[0] if s.index else Span()
            assert isinstance(item, Span)
            start, step, length = span(L, item, n, None)
            assert isinstance(step, int)
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
    if s.place.depth > 1:
        nested_lists.store(L, nested_as(L, s.place), s)
        return
    listed, operand = listed_as(L, s.place), L.operand(s.operand)
    if len(s.index) != 1 or not isinstance(s.index[0], At):
        raise L.refuse("a store into a part of a list")
    n = count(L, listed)
    message = RANGE if s.accumulate else ASSIGNED
    place = within(L, L.operand(s.index[0].position), n, message)
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
    if s.place.depth > 1:
        nested, other = nested_as(L, s.source), nested_as(L, s.place)
        if nested is not other:
            other.clear(L)
            nested_lists.copy(L, nested, other)
        return
    source, to = listed_as(L, s.source), listed_as(L, s.place)
    if source is to:
        return
    to.clear(L)
    _copy(L, s.source, s.place, linear(0), 1, count(L, source))


def listed_as(L: Lowering, place: List) -> Listed:
    """A list of the program where it stands in memory."""
    found: Listed = _found(L, place)
    return found


def nested_as(L: Lowering, place: List) -> Nested:
    """A list of lists where it stands in memory."""
    found: Nested = _found(L, place)
    return found


def _found(L: Lowering, place: List) -> Any:
    if place not in L.lists:
        raise L.refuse(f"the list {place.name}")
    return L.lists[place]
