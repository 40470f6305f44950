"""Primal values in the reverse sweep: kept, read again, made again, or taped.

In this order: a literal or a parameter; a value of the outermost block, which is still
there; a cell read again, where it still holds what it held; a cheap operation done
again, or a function of a number that is saved anyway; a cell into which the value went;
else a push here and a pop there.  A store saves what it overwrites only if it may run
after a read that is repeated so.
"""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gradwright.transform.core import (
    Alloc,
    Cell,
    For,
    If,
    Insert,
    Length,
    Let,
    List,
    Load,
    Place,
    Pop,
    Push,
    Remove,
    Store,
    Take,
    Tape,
    Value,
    While,
    index_operands,
    leaves,
    mapped_index,
    stores,
)
from gradwright.transform.indices import Dim, Linear, symbol
from gradwright.transform.picks import is_places
from gradwright.transform.reverse.state import Block, begins_stored, statement_at
from gradwright.transform.types import INT

if TYPE_CHECKING:
    from gradwright.transform.reverse.sweep import Sweep


def need(sweep: Sweep, o: Any) -> Any:
    """A primal operand as the reverse sweep can have it, at this very point."""
    if isinstance(o, Linear):
        return o.substitute(lambda s: need_symbol(sweep, s))
    if not isinstance(o, Value | Tape | List):
        return o
    block = owner_of(sweep, o)
    if block is None or (block.top and not is_cheap(sweep, block, o)):
        return still_held(sweep, block, o)
    return provide(sweep, block, o)


def need_index(sweep: Sweep, index: Any) -> Any:
    """The index with every value in it there again."""
    return mapped_index(index, lambda o: need(sweep, o))


def still_held(sweep: Sweep, block: Block | None, o: Any) -> Any:
    """A value of an outer block; read again where its cell has not changed since."""
    if block is None or o not in block.defined:
        return o
    s = block.body[block.defined[o]]
    if isinstance(s, Load) and s.index == (Length(),):
        return still_long(sweep, s)
    if not (isinstance(s, Load) and isinstance(s.source, Cell)):
        return o
    if s.unsure or s.source.choice:
        return o
    later = sweep.stores_of.get(s.source, ())
    if any(sweep.may_follow(t, s) for t in later) or not is_kept(sweep, s.source):
        return o
    return sweep.builder.load(s.source)


def still_long(sweep: Sweep, s: Load) -> Value:
    """The length of a list; found again where it has not changed since."""
    assert isinstance(s.source, Place)
    resized = sweep.resized.get(s.source, ())
    changed = any(sweep.may_follow(t, s) for t in resized)
    if changed or not is_kept(sweep, s.source):
        return s.out  # type: ignore[no-any-return]
    again = Value(s.out.name, INT)
    sweep.builder.add(Load(again, s.source, s.index, safe=True))
    return again


def is_cheap(sweep: Sweep, block: Block, o: Any) -> bool:
    """A small unnamed value of values that are still there: written out again."""
    if o not in block.defined or not isinstance(o, Value) or o.users:
        return False
    s = block.body[block.defined[o]]
    if not isinstance(s, Let) or o in sweep.function.results:
        return False
    if not s.primitive.cheap and not is_places(s):
        return False
    return all(is_there(sweep, x) for x in s.operands)


def is_there(sweep: Sweep, o: Any) -> bool:
    """Whether the reverse sweep may read the operand as it stands."""
    if isinstance(o, Linear):
        return all(is_there(sweep, v) for v in leaves(o))
    if not isinstance(o, Value) or o in sweep.function.params:
        return not isinstance(o, Place)
    block = owner_of(sweep, o)
    return block is not None and block.top and isinstance(o, Value) and o.users


def need_symbol(sweep: Sweep, s: Any) -> Linear:
    """A value or dimension of an index, there again."""
    if isinstance(s, Dim):
        return symbol(Dim(need(sweep, s.array), s.axis))
    new = need(sweep, s)
    return new if isinstance(new, Linear) else symbol(new)


def owner_of(sweep: Sweep, v: Any) -> Block | None:
    """The block that defines or provides the value."""
    block: Block | None = sweep.block
    while block is not None and v not in block.defined and v not in block.provided:
        block = block.parent
    return block


def provide(sweep: Sweep, block: Block, v: Any) -> Any:
    """Make a value of the block again, or save it."""
    if v in block.provided:
        return block.provided[v]
    k = block.defined[v]
    s = block.body[k]
    with sweep.inside(block):
        if isinstance(v, List):
            new: Any = popped(sweep, block, k, v)
        elif isinstance(s, Load) and can_remake(sweep, v):
            put_back_older(sweep, block, s.source, k)
            new = another(sweep, v)
            index = need_index(sweep, s.index)
            source = s.source if isinstance(s.source, Place) else need(sweep, s.source)
            again = Load(new, source, index, s.safe)
            sweep.builder.definition[new] = again
            sweep.builder.add(again)
            if isinstance(s.source, Place):
                sweep.repeated.setdefault(s.source, set()).add(s)
        elif isinstance(s, Let) and can_remake(sweep, v):
            operands = tuple(need(sweep, o) for o in s.operands)
            new = another(sweep, v)
            let = Let(new, s.primitive, operands, s.attribute, s.quiet)
            sweep.builder.definition[new] = let
            sweep.builder.add(let)
        elif (store := holder_of(sweep, block, v)) is not None:
            new = another(sweep, v)
            sweep.repeated.setdefault(store.place, set()).add(store)
            sweep.builder.add(Load(new, store.place))
        else:
            new = popped(sweep, block, k, v)
        block.provided[v] = new
    return block.provided[v]


def another(sweep: Sweep, v: Value) -> Value:
    """A value for what another one was, in this trip of the loops around it."""
    new = Value(v.name, v.type, v.users)
    if v.type.dims is not None:
        dims = (length_of(sweep, new, k, v) for k in range(v.type.rank))
        new.type = replace(v.type, dims=tuple(dims))
    return new


def length_of(sweep: Sweep, new: Value, axis: int, v: Value) -> Linear:
    """A length of a value that is there again: that of an array, or its own.

    Nothing else is had again for it, which might put back what is about to be read.
    """
    assert v.type.dims is not None
    d = v.type.dims[axis]
    others = [x for x in leaves(d) if not is_settled(sweep, x)]
    if not all(is_provided(sweep, x) for x in others):
        return symbol(Dim(new, axis))
    found: Linear = need(sweep, d) if others else d
    return found


def is_provided(sweep: Sweep, o: Any) -> bool:
    """Whether something is had again already."""
    block = owner_of(sweep, o)
    return block is not None and o in block.provided


def is_settled(sweep: Sweep, o: Any) -> bool:
    """Whether something is the same in every trip of the loops around this place."""
    block = owner_of(sweep, o)
    return block is None or block.top


def popped(sweep: Sweep, block: Block, k: int, v: Any) -> Any:
    """Push a value in the forward sweep, pop it here."""
    sweep.pushed.add(v)
    tape = tape_of(sweep, v, v.name)
    kept, where = v, block.body[k].where
    if isinstance(v, List):  # what is on a tape does not change
        kept = List(v.name, v.type, v.depth)
        deep = kept if v.depth > 1 else None
        block.after.setdefault(k, []).append(Load(kept, v, deep=deep, where=where))
    block.after.setdefault(k, []).append(Push(tape, kept, where=where))
    if isinstance(v, List):
        new: Any = List(v.name, v.type, v.depth)
    else:
        new = type(v)(v.name, v.type) if isinstance(v, Place) else another(sweep, v)
    sweep.builder.add(Pop(new, tape))
    return new


def tape_of(sweep: Sweep, key: Any, name: str) -> Tape:
    """The tape of a value; it begins before the outermost loop around it."""
    if key not in sweep.tapes:
        tape = sweep.tapes[key] = Tape(f"{name}_tape", key.type)
        begin_tape(sweep, tape)
    return sweep.tapes[key]


def begin_tape(sweep: Sweep, tape: Tape) -> None:
    """A tape begins empty before the outermost statement that pushes on it."""
    home = sweep.block
    while home.parent is not None and not home.is_home:
        home = home.parent
    begun = sweep.begun.get(tape)
    if begun is not None and begun[0] is home:
        if begun[1] <= home.at:
            return
        home.before[begun[1]].remove(begun[2])
    start = Alloc(tape)
    sweep.begun[tape] = home, home.at, start
    home.before.setdefault(home.at, []).insert(0, start)


def can_remake(sweep: Sweep, o: Any) -> bool:
    """Whether a value can be had again without pushing it."""
    if isinstance(o, Linear):
        return all(can_remake(sweep, v) for v in leaves(o))
    if not isinstance(o, Value):
        return not isinstance(o, Place)
    block = owner_of(sweep, o)
    if block is None or block.top or o in block.provided:
        return True
    s = block.body[block.defined[o]]
    match s:
        case Load(source=Place() as place):
            return is_unchanged(sweep, block, block.defined[o], place)
        case Load():
            return can_remake(sweep, s.source) and all(
                can_remake(sweep, i) for i in index_operands(s.index)
            )
        case Let():
            if is_function(s):
                return all(is_at_hand(sweep, x) for x in s.operands)
            return is_places(s) or (
                s.primitive.cheap
                and all(can_remake(sweep, x) or x in sweep.pushed for x in s.operands)
            )
    return False


def is_function(s: Let) -> bool:
    """Whether it is one function, or power, of one number: no dearer than a tape."""
    p = s.primitive
    varying = [o for o in s.operands if isinstance(o, Value)]
    is_known = p.spelling.startswith("math.") or p.function is operator.pow
    return s.out.type.python and len(varying) == 1 and is_known and not p.cheap


def is_at_hand(sweep: Sweep, x: Any) -> bool:
    """Whether an operand is there, or is saved in any case for something else."""
    if not can_remake(sweep, x):
        return x in sweep.pushed
    block = owner_of(sweep, x)
    if block is None or x not in block.defined or x in block.provided:
        return True
    match s := block.body[block.defined[x]]:
        case Load(source=Place() as place):
            return s in sweep.repeated.get(place, ())
    return False


def is_unchanged(sweep: Sweep, block: Block, k: int, place: Place) -> bool:
    """Whether a place read at `k` of the block still holds what it held then."""
    if not is_kept(sweep, place):
        return False
    now = statement_at(block)
    is_within = isinstance(now, For | While | If)
    # What it stores is there by now.
    is_of_index = isinstance(now, Insert | Remove) or (
        isinstance(now, Store) and bool(now.index)
    )
    end = block.at + (1 if is_within or is_of_index else 0)
    return not any(place in stores(s) for s in block.body[k + 1 : end])


def is_kept(sweep: Sweep, place: Place) -> bool:
    """Whether a place is there in the reverse sweep: it began in an outer block."""
    block: Block | None = sweep.block
    begun = sweep.alloc.get(place)
    while block is not None:
        if begun in block.body:
            return block.top
        block = block.parent
    return False


def holder_of(sweep: Sweep, block: Block, v: Any) -> Store | None:
    """A store of the value into a cell that still holds it."""
    k = block.defined[v]
    for j in range(k + 1, len(block.body)):
        s = block.body[j]
        if isinstance(s, Store) and s.operand is v and not s.accumulate and not s.index:
            place = s.place
            if not isinstance(place, Cell) or not is_kept(sweep, place):
                continue
            if any(
                place in stores(t) for t in block.body[j + 1 : max(block.at, j + 1)]
            ):
                continue
            pending = block.undo.get(place)
            if block.at > j or (pending and pending[0] == j) or not must_save(sweep, s):
                return s
    return None


def must_save(sweep: Sweep, s: Store | Insert | Remove | Take) -> bool:
    """Whether the statement may overwrite what a repeated read wants."""
    return any(sweep.may_follow(s, r) for r in sweep.repeated.get(s.place, ()))


def begin_saved(sweep: Sweep, place: Place) -> None:
    """A cell whose content is saved holds something from the start."""
    if isinstance(place, Cell) and not begins_stored(sweep.function.body, place):
        sweep.placeholders.add(place)


def put_back(sweep: Sweep, block: Block, places: set[Any]) -> None:
    """Put back what pending stores overwrote."""
    for p in [p for p in block.undo if p in places]:
        _, back = block.undo.pop(p)
        for s in back:
            sweep.builder.add(s)


def put_back_older(sweep: Sweep, block: Block, source: Any, k: int) -> None:
    """Put back the stores to the source that came after statement k."""
    if source in block.undo and block.undo[source][0] > k:
        put_back(sweep, block, {source})
