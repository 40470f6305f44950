"""Activity: what lies between the inputs and the results of a derivative.

    def f(x, n):              varied from x: x, y        useful for y: y, x, k
        k = n * 2.0     ->    active: x, y               (k and n get no derivative)
        y = x * k

What is active is both: it varies, and the result depends on it.
"""

from __future__ import annotations

from typing import Any

from gradwright.transform.core import (
    AddUp,
    Call,
    Function,
    Insert,
    Let,
    Load,
    Place,
    Pop,
    Push,
    Remove,
    Statement,
    Store,
    Take,
    Tape,
    Value,
    walk,
)


def active(function: Function, wrt: set[Any], seeded: set[Any]) -> set[Any]:
    """Values and places between an input of `wrt` and a result of `seeded`."""
    statements = list(walk(function.body))
    varied: set[Any] = set(wrt)
    useful: set[Any] = set(seeded)
    size = -1
    while size != len(varied) + len(useful):
        size = len(varied) + len(useful)
        for s in statements:
            into, out = flow(s)
            if any(v in varied for v in into):
                varied.update(out)
            if any(v in useful for v in out):
                useful.update(into)
    return varied & useful


def flow(s: Statement) -> tuple[list[Any], list[Any]]:
    """What a derivative flows from and to, through one statement."""
    match s:
        case Let() if s.primitive.kind != "constant" and carries(s.out):
            return [o for o in s.operands if carries(o)], [s.out]
        case Load() if carries(s.out):
            return [s.source], [s.out]
        case Store() if carries(s.operand):
            return [s.operand], [s.place]
        case Insert() if carries(s.operand):
            return [s.operand], [s.place]
        case Take():
            return [s.source], [s.place]
        case Remove() if carries(s.out):
            return [s.place], [s.out]
        case AddUp():
            return [s.operand], [s.tape]
        case Push() if carries(s.operand):
            return [s.operand], [s.tape]
        case Pop() if carries(s.out):
            return [s.tape], [s.out]
        case Call():
            given = [o for o in s.operands if carries(o)]
            tapes = [o for o in given if isinstance(o, Tape)]  # may be pushed on
            return given, [*(o for o in s.outs if carries(o)), *tapes]
    return [], []


def carries(o: Any) -> bool:
    """Whether a derivative can flow through a value or place."""
    return isinstance(o, Tape) or (isinstance(o, Value | Place) and o.type.is_inexact)


def varied(function: Function, wrt: set[Any]) -> set[Any]:
    """Values and places that vary with the inputs."""
    found = set(wrt)
    size = -1
    while size != len(found):
        size = len(found)
        for s in walk(function.body):
            into, out = flow(s)
            if any(v in found for v in into):
                found.update(out)
    return found
