"""Tapes that stay tapes while they are lowered: stacks of numbers, and of tapes.

    tape.append(x)       ->       for i in range(len(x)):
                                      tape.append(x[i])
                                  tape.append(len(x))

What functions share, and what lies on another tape, may hold items of several kinds.
An array is pushed element by element, and then its lengths; all that is popped in
reverse.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradwright.transform.core import (
    Alloc,
    Call,
    For,
    Function,
    Load,
    Place,
    Pop,
    Push,
    Store,
    Tape,
    Value,
    walk,
)
from gradwright.transform.core import At as Position
from gradwright.transform.indices import Linear, linear, symbol
from gradwright.transform.lowering.nests import Scope, variables
from gradwright.transform.lowering.program import Lowering, Shape
from gradwright.transform.types import INT, Type


def stacks_of(function: Function, given: Iterable[Tape] = ()) -> set[Any]:
    """The tapes that stay tapes, with those that are given so; and their copies.

    One of several kinds of items is one also where all calls are written out.
    """
    found = {*given, *(p for p in function.params if isinstance(p, Tape))}
    copies: list[tuple[Any, Any]] = []
    for s in walk(function.body):
        match s:
            case Alloc(place=Tape() as tape) if not tape.type.is_number:
                found.add(tape)
            case Call():
                found.update(o for o in s.operands if isinstance(o, Tape))
            case Push(operand=Tape() as inner) | Pop(out=Tape() as inner):
                found |= {s.tape, inner}
            case Load(source=Tape()):
                copies.append((s.source, s.out))
    for source, copy in copies * len(copies):
        if {source, copy} & found:
            found |= {source, copy}
    return found


def push(L: Lowering, s: Push) -> None:
    """An item: a number, a tape, or the elements of an array and its lengths.

    A number that stands for an array is one of a single element.
    """
    if isinstance(s.operand, Tape):
        L.add(Push(s.tape, s.operand))
        return
    if isinstance(s.operand, Place):
        raise L.refuse("a list on a tape")
    operand = L.operand(s.operand)
    _ask(L, s.tape, s.popped)
    if L.flags.get(operand):
        raise L.refuse(f"{operand.name}, which may be a number or an array,")
    shape = L.shape(operand)
    ones = [linear(1)] * (s.popped.rank - len(shape))
    at = variables(len(shape))
    w = Scope()
    w.where, w.adjoint = L.where, L.adjoint
    element = L.at(w, operand, tuple(map(symbol, at)))
    w.add(Push(s.tape, element, s.popped.element))
    _add_loops(L, at, shape, w.block)
    for n in (*ones, *shape):
        L.add(Push(s.tape, n))


def pop(L: Lowering, s: Pop) -> None:
    """The item that was pushed last; an array is memory of its own from here on."""
    if isinstance(s.out, Tape):
        L.add(Pop(s.out, s.tape))
        return
    if isinstance(s.out, Place):
        raise L.refuse("a list on a tape")
    t = s.out.type
    _ask(L, s.tape, t)
    if not t.is_array:
        L.add(Pop(s.out, s.tape))
        return
    lengths: list[Linear] = []
    for _ in range(t.rank):
        n = Value("n", INT)
        L.add(Pop(n, s.tape))
        lengths.insert(0, symbol(n))
    L.forms.natural += lengths
    shape, element = tuple(lengths), Value(s.out.name, t.element)
    if not shape:
        L.add(Pop(element, s.tape))
        L.is_number(s.out, Scope(), element)
        return
    place = L.room(s.out.name, t, shape)
    at = variables(len(shape))
    index = tuple(Position(symbol(k)) for k in at)
    body = [Pop(element, s.tape), Store(place, element, index, safe=True)]
    _add_loops(L, at, shape, body, backwards=True)
    L.is_memory(s.out, place, shape)


def _ask(L: Lowering, tape: Tape, t: Type) -> None:
    if not t.is_number:
        raise L.refuse(f"{tape.name}, which holds what is no number,")


def _add_loops(
    L: Lowering,
    symbols: list[Value],
    shape: Shape,
    body: list[Any],
    backwards: bool = False,
) -> None:
    """Statements for each place of an array."""
    for k, n in reversed(list(zip(symbols, shape, strict=True))):
        body = [For(k, linear(0), n, linear(1), body, backwards)]
    for s in body:
        L.add(s)
