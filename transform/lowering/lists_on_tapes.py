"""Lists on tapes: their items behind one another, and how many each of them has.

xs_tape.append(xs)        for i in range(count): items[top + i] = xs[i]
                          top += count; lengths.append(count)
"""

from __future__ import annotations

from gradwright.transform.core import List, Pop, Push, Store
from gradwright.transform.indices import Linear
from gradwright.transform.lowering.arrays import cast
from gradwright.transform.lowering.lists import (
    agree,
    begin_list,
    copy_items,
    count,
    listed_as,
    shape_of_items,
)
from gradwright.transform.lowering.nests import Places, Scope
from gradwright.transform.lowering.program import Lowering
from gradwright.transform.lowering.tapes import (
    claim,
    give_back,
    pop_length,
    push_length,
)


def push_list(L: Lowering, s: Push) -> None:
    """All items of a list, and their number."""
    assert isinstance(s.operand, List)
    stack, listed = L.tapes[s.tape], listed_as(L, s.operand)
    shape = shape_of_items(L, listed)
    agree(L, stack, shape)
    n = count(L, listed)
    (lengths,) = stack.lengths
    push_length(L, stack, lengths, n)
    start = claim(L, stack, stack.column, (n,), n)
    source, items = listed.column.buffer, stack.column.buffer
    L.settle({items})

    def write(w: Scope, at: Places) -> None:
        k, *rest = at
        assert isinstance(k, Linear)
        x = w.load(source, at, source.type.element, "item")
        w.store(items, (start + k, *rest), cast(w, x, items.type.element))

    L.root((n, *shape), write)
    L.add(Store(stack.column.top, n, accumulate=True))


def pop_list(L: Lowering, s: Pop) -> None:
    """The list that was pushed last; it is a copy."""
    assert isinstance(s.out, List)
    stack = L.tapes[s.tape]
    (lengths,) = stack.lengths
    n = pop_length(L, lengths)
    start = give_back(L, stack.column, n)
    begin_list(L, s.out)
    listed = listed_as(L, s.out)
    agree(L, listed.stack, stack.shape)
    copy_items(L, stack.column.buffer, listed, start, 1, n)
    L.add(Store(listed.column.top, n))
