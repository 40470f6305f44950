"""Names that hold nothing yet, while they are lowered: a flag stands beside each.

    x = None                        x = 0.0; is_bound = False
    if x is None: raise ...   ->    if not is_bound: raise ...

A cell that is saved before its first store begins as None in core, and memory holds
numbers.
"""

from __future__ import annotations

import operator

from gradwright.transform.build import row
from gradwright.transform.core import (
    Cell,
    Const,
    If,
    Let,
    Load,
    Operand,
    Raise,
    Store,
    Value,
    walk,
)
from gradwright.transform.lowering.program import Lowering
from gradwright.transform.types import BOOL, TEXT

TRUE, FALSE = Const(True, BOOL), Const(False, BOOL)


def begins_unbound(L: Lowering, s: Store) -> bool:
    """Whether a store says that a name holds nothing; if it does, it is lowered."""
    t = s.place.type
    if not _is_none(s.operand) or (t.optional and not t.is_array):
        return False
    if s.place in L.bound:
        L.add(Store(L.bound[s.place], FALSE))
    else:
        L.bound[s.place] = L.cell("is_bound", BOOL, FALSE)
    if not t.is_array:
        L.add(Store(s.place, Const(t.weak()(0) if t.python else t.weak().type(0), t)))
    return True


def may_be_unbound(L: Lowering, place: Cell) -> bool:
    """Whether a name is read somewhere where it may hold nothing."""
    return any(
        isinstance(s, Load) and s.source is place and s.unsure
        for s in walk(L.function.body)
    )


def begin_flag(L: Lowering, place: Cell) -> None:
    """A name of arrays holds nothing yet; of numbers machine code knows that itself."""
    if may_be_unbound(L, place):
        L.bound[place] = L.cell("is_bound", BOOL, FALSE)


def ask_bound(L: Lowering, s: Load) -> None:
    """Python's error where a name of arrays is read that holds nothing."""
    if not s.unsure or s.source not in L.bound:
        return
    flag = Value("is_bound", BOOL)
    L.add(Load(flag, L.bound[s.source]))
    is_unbound = L.let(operator.not_, flag, type=BOOL)
    text = (
        f"cannot access local variable '{s.source.name}' "
        "where it is not associated with a value"
    )
    L.add(If(is_unbound, [Raise(UnboundLocalError, (Const(text, TEXT),))], []))


def note_bound(L: Lowering, s: Store) -> None:
    """A name holds something from here on."""
    if s.place in L.bound:
        L.add(Store(L.bound[s.place], TRUE))


def asks_for_none(L: Lowering, s: Let) -> bool:
    """Whether an operation asks if a name holds nothing; if it does, it is lowered."""
    if s.primitive.function is not operator.is_ or not _is_none(s.operands[1]):
        return False
    place = L.held.get(s.operands[0])
    if place not in L.bound:
        return False
    flag = Value("is_bound", BOOL)
    L.add(Load(flag, L.bound[place]))
    L.add(Let(s.out, row(operator.not_, 1), (flag,)))
    return True


def _is_none(o: Operand) -> bool:
    return isinstance(o, Const) and o.value is None
