"""Which names of a normalised function may still be read: a backward pass.

    for k in range(n):
        t = x * k         # t is dead at the head of the loop and after it: a temporary
        s = s + t         # s is live at the head: carried round the loop
    return s

A name is live everywhere once a nested function reads it: closures see later values.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import gast

Names = frozenset[str]
NOTHING: Names = frozenset()
SCOPES = (gast.FunctionDef, gast.Lambda, gast.AsyncFunctionDef, gast.ClassDef)


@dataclass
class Liveness:
    """Live names after each statement, and where its blocks begin (by `id` of node)."""

    after: dict[int, Names] = field(default_factory=dict)
    inside: dict[int, Names] = field(default_factory=dict)


def analyse(node: gast.FunctionDef) -> Liveness:
    """The live names of a function in normal form."""
    result = Liveness()
    captured: Names = frozenset().union(
        *(used(n) for s in node.body for n in gast.walk(s) if isinstance(n, SCOPES)),
    )
    _Pass(result, captured).block(node.body, captured, NOTHING)
    return result


def after_loop(result: Liveness, block: list[gast.AST], live: Names) -> None:
    """Add statements made while specialising, before names that are live after them."""
    _Pass(result, NOTHING).block(block, live, NOTHING)


def used(node: gast.AST) -> Names:
    """Names whose earlier value a node reads, nested functions included.

    A name that `:=` binds first, from left to right, is not among them.
    """
    first: dict[str, tuple[tuple[int, int], bool]] = {}
    for n in gast.walk(node):
        if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load):
            seen, binds = (n.lineno, n.col_offset), False
        elif isinstance(n, gast.NamedExpr):
            seen, binds = (n.value.end_lineno, n.value.end_col_offset), True
            n = n.target
        else:
            continue
        if n.id not in first or seen < first[n.id][0]:
            first[n.id] = seen, binds
    return frozenset(name for name, (_, binds) in first.items() if not binds)


def assigned(block: Iterable[gast.AST]) -> list[str]:
    """Names that a block may bind, in program order, each once."""
    names: dict[str, None] = {}

    def visit(node: gast.AST) -> None:
        if isinstance(node, gast.Name) and not isinstance(node.ctx, gast.Load):
            names.setdefault(node.id)
        if isinstance(node, gast.FunctionDef | gast.ClassDef):
            names.setdefault(node.name)
        if not isinstance(node, SCOPES):
            for child in gast.iter_child_nodes(node):
                visit(child)

    for node in block:
        visit(node)
    return list(names)


class _Pass:
    def __init__(self, result: Liveness, captured: Names) -> None:
        self.result = result
        self.captured = captured

    def block(self, body: list[gast.AST], live: Names, after_loop: Names) -> Names:
        """Names live before `body`, given those after it and those after the loop."""
        for s in reversed(body):
            self.result.after[id(s)] = live
            live = self.statement(s, live, after_loop) | self.captured
        return live

    def statement(self, s: gast.AST, live: Names, after_loop: Names) -> Names:
        match s:
            case gast.If():
                inside = self.block(s.body, live, after_loop)
                inside |= self.block(s.orelse, live, after_loop)
                self.result.inside[id(s)] = inside
                return inside | used(s.test)
            case gast.For():
                bound = frozenset(assigned([s.target]))
                head = self._loop(s, live, bound)
                return head | used(s.iter) | used(s.target)
            case gast.While():
                return self._loop(s, live, NOTHING) | used(s.test)
            case gast.Break():
                return after_loop
            case gast.Return():
                return used(s)
            case gast.Assign():
                return (live - _names(s.targets)) | used(s)
            case gast.AnnAssign():
                return (live - _names([s.target])) | used(s)
            case gast.AugAssign():
                return live | used(s) | _names([s.target])
            case gast.FunctionDef():
                return (live - {s.name}) | used(s)
            case gast.Raise():
                return used(s)
            case gast.stmt(target=target):  # an item of a loop that is written out
                return live - _names([target])
        return live | used(s)

    def _loop(self, s: gast.AST, live: Names, bound: Names) -> Names:
        endless = isinstance(s, gast.While) and _is_true(s.test)
        tested = used(s.test) if isinstance(s, gast.While) else NOTHING
        head = (NOTHING if endless else live) | tested | self.captured
        while True:
            grown = head | (self.block(s.body, head, live) - bound)
            if grown == head:
                self.result.inside[id(s)] = head
                return head
            head = grown


def _names(targets: list[gast.AST]) -> Names:
    """Names bound outright by assignment targets (a subscript binds none)."""
    found: Names = NOTHING
    for t in targets:
        match t:
            case gast.Name():
                found |= {t.id}
            case gast.Tuple() | gast.List():
                found |= _names(t.elts)
            case gast.Starred():
                found |= _names([t.value])
    return found


def _is_true(test: gast.AST) -> bool:
    return isinstance(test, gast.Constant) and test.value is True
