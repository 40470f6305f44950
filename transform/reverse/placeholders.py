"""Cells that begin as None: saved or handed over before their first store."""

from __future__ import annotations

import operator
from dataclasses import replace

from gradwright.transform.build import constant, row
from gradwright.transform.core import (
    Alloc,
    Assert,
    Cell,
    Const,
    For,
    If,
    Let,
    Load,
    Raise,
    Statement,
    Store,
    Value,
    While,
    blocks,
)
from gradwright.transform.types import BOOL, NONE


def with_placeholders(body: list[Statement], cells: set[Cell]) -> list[Statement]:
    """Begin as None the cells that are saved before their first store.

    A read that may come before it still raises Python's own error.
    """
    if not cells:
        return body
    result: list[Statement] = []
    for s in body:
        if isinstance(s, Load) and s.source in cells and s.unsure:
            result += unbound_check(s)
        elif blocks(s):
            s = with_blocks(s, [with_placeholders(b, cells) for b in blocks(s)])
        result.append(s)
        if isinstance(s, Alloc) and s.place in cells:
            result.append(Store(s.place, Const(None, NONE)))
    return result


def unbound_check(s: Load) -> list[Statement]:
    """The statement `if x is None: raise UnboundLocalError(...)` before a read."""
    held, test = Value(s.source.name, s.source.type), Value("is_unbound", BOOL)
    text = (
        f"cannot access local variable '{s.source.name}' "
        "where it is not associated with a value"
    )
    raised = Raise(UnboundLocalError, (constant(text),), where=s.where)
    is_none = Let(test, row(operator.is_, 2), (held, Const(None, NONE)), where=s.where)
    return [
        Load(held, s.source, safe=True, where=s.where),
        is_none,
        If(test, [raised], [], where=s.where),
    ]


def with_blocks(s: Statement, inner: list[list[Statement]]) -> Statement:
    """The statement with other inner blocks."""
    match s:
        case For():
            return replace(s, body=inner[0])
        case While():
            return replace(s, header=inner[0], body=inner[1])
        case If():
            return replace(s, then=inner[0], orelse=inner[1])
        case Assert():
            return replace(s, header=inner[0])
    return s
