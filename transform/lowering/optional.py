"""Tapes of what may be None, while they are lowered: values, and which are None.

y_tape.append(y)          y_tape[top] = 0.0 if y is None else y
                          y_tape_is_none[top] = y is None
"""

from __future__ import annotations

from gradwright.transform.core import (
    Alloc,
    Cell,
    Const,
    If,
    Let,
    Load,
    Pop,
    Push,
    Store,
    Value,
)
from gradwright.transform.lowering.choice import taken_apart
from gradwright.transform.lowering.program import Lowering
from gradwright.transform.lowering.tapes import pop, push
from gradwright.transform.primitives.structural import NAMED
from gradwright.transform.types import BOOL, NONE

NOTHING = Const(None, NONE)


def push_optional(L: Lowering, s: Push) -> None:
    """A number or None."""
    values, flags = L.optional_of[s.tape]
    is_none, value = taken_apart(L, L.operand(s.operand), values.type)
    push(L, Push(values, value))
    push(L, Push(flags, is_none))


def pop_optional(L: Lowering, s: Pop) -> None:
    """What was pushed last."""
    assert isinstance(s.out, Value)
    values, flags = L.optional_of[s.tape]
    value, is_none = Value(s.out.name, values.type), Value("is_none", BOOL)
    pop(L, Pop(is_none, flags))
    pop(L, Pop(value, values))
    if not s.out.type.optional:
        L.add(Let(s.out, NAMED, (value,)))
        return
    cell = Cell(s.out.name, s.out.type)
    L.add(Alloc(cell))
    L.add(If(is_none, [Store(cell, NOTHING)], [Store(cell, value)]))
    L.add(Load(s.out, cell))
