"""What is asked at run time of lengths that are not known before, by branches."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from gradwright.transform.core import (
    Alloc,
    Cell,
    Const,
    If,
    Load,
    Operand,
    Raise,
    Store,
    Value,
    type_of,
)
from gradwright.transform.indices import Linear, linear, symbol
from gradwright.transform.types import BOOL, INT, NONE, TEXT, Type

if TYPE_CHECKING:
    from gradwright.transform.lowering.program import Lowering

SHAPES = "operands could not be broadcast together"
STORED = "could not broadcast input array into the shape of the part it is stored in"


def chosen(L: Lowering, condition: Operand, yes: Linear, no: Linear) -> Linear:
    """The int `yes` where a condition holds, else `no`."""
    cell = Cell("n", INT, choice=True)
    L.add(Alloc(cell))
    L.add(If(condition, [Store(cell, yes)], [Store(cell, no)]))
    out = Value("n", INT)
    L.add(Load(out, cell))
    return symbol(out)


def taken_apart(L: Lowering, x: Operand, t: Type) -> tuple[Operand, Value]:
    """Whether an operand is None, and the number of this type that it is if not."""
    held, own = L.cell("held", t, zero_of(t)), type_of(x)
    is_none: Operand = Const(own == NONE, BOOL)
    if own.optional:
        is_none = L.let(operator.is_, x, Const(None, NONE), type=BOOL)
        L.add(If(is_none, [], [Store(held, x)]))
    elif own != NONE:
        L.add(Store(held, x))
    value = held.content()
    L.add(Load(value, held))
    return is_none, value


def zero_of(t: Type) -> Const:
    """The zero of an element."""
    t = t.element
    return Const(t.weak()(0) if t.python else t.weak().type(0), t)


def stretched_length(L: Lowering, n: Linear, m: Linear) -> Linear:
    """The length to which two are broadcast; NumPy's error where they do not go."""
    if L.is_long(n) or L.is_long(m):
        long, other = (n, m) if L.is_long(n) else (m, n)
        check_stored(L, other, long, SHAPES)
        return long
    is_one = L.let(operator.eq, n, linear(1), type=BOOL)
    length = chosen(L, is_one, m, n)
    differ = L.let(operator.ne, m, length, type=BOOL)
    is_long = L.let(operator.ne, m, linear(1), type=BOOL)
    L.add(If(differ, [If(is_long, [_error(SHAPES)], [])], []))
    return length


def check_stored(L: Lowering, n: Linear, m: Linear, message: str = STORED) -> None:
    """What is stored is as long as the part, or 1; NumPy's error where it is not."""
    differ = L.let(operator.ne, n, m, type=BOOL)
    if L.is_long(n):
        L.add(If(differ, [_error(message)], []))
        return
    is_long = L.let(operator.ne, n, linear(1), type=BOOL)
    L.add(If(differ, [If(is_long, [_error(message)], [])], []))


def _error(message: str) -> Raise:
    return Raise(ValueError, (Const(message, TEXT),))
