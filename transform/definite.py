"""Definite assignment: which reads of a local name might find it unbound.

The analysis runs on the user's own control flow, before any rewriting:

    for x in xs:
        if x > 1.0:
            found = x
            break
    else:
        found = 0.0
    return found        # sure: both ways out of the loop bind it
"""

from __future__ import annotations

from typing import Any

import gast

from gradwright.transform.language import local_names, parameters

Position = tuple[int, int]
Bound = frozenset[str] | None  # None: this point is not reached


def unsure_reads(node: gast.FunctionDef) -> set[Position]:
    """(line, column) of every read of a local that some path leaves unbound."""
    analysis = _Analysis(local_names(node))
    analysis.block(node.body, frozenset(p.id for p in parameters(node)))
    return analysis.unsure


def _join(a: Bound, b: Bound) -> Bound:
    if a is None or b is None:
        return a if b is None else b
    return a & b


class _Analysis:
    def __init__(self, names: frozenset[str]) -> None:
        self.names = names
        self.unsure: set[Position] = set()
        self.breaks: list[Bound] = []

    def block(self, body: list[Any], bound: Bound) -> Bound:
        for s in body:
            if bound is None:
                return None
            bound = self.statement(s, bound)
        return bound

    def statement(self, s: Any, bound: frozenset[str]) -> Bound:
        match s:
            case gast.If():
                bound = self.read(s.test, bound)
                return _join(self.block(s.body, bound), self.block(s.orelse, bound))
            case gast.For():
                bound = self.read(s.iter, bound)
                return self._loop(s, bound, bound, bound | _targets(s.target))
            case gast.While():
                bound = self.read(s.test, bound)
                endless = isinstance(s.test, gast.Constant) and bool(s.test.value)
                return self._loop(s, None if endless else bound, bound, bound)
            case gast.Break():
                self.breaks[-1] = _join(self.breaks[-1], bound)
                return None
            case gast.Return() | gast.Raise():
                self.read(s, bound)
                return None
            case gast.Continue():
                return None
            case gast.FunctionDef():
                return self.read(s.args, bound) | {s.name}
            case gast.With():
                return self.block(s.body, self.read(s.items[0], bound))
        return self.read(s, bound)

    def _loop(self, s: Any, after: Bound, head: Bound, inside: Bound) -> Bound:
        self.breaks.append(None)
        self.block(s.body, inside)
        left = self.breaks.pop()
        if s.orelse and after is not None:
            after = self.block(s.orelse, after)
        return _join(after, left)

    def read(self, node: Any, bound: frozenset[str]) -> frozenset[str]:
        """Note the reads in an expression or simple statement; the names it binds."""
        match node:
            case gast.Lambda():
                return bound
            case gast.Name() if isinstance(node.ctx, gast.Load):
                if node.id in self.names and node.id not in bound:
                    self.unsure.add((node.lineno, node.col_offset))
                return bound
            case gast.Assign() | gast.AnnAssign():
                if node.value is None:
                    return bound
                inner = self.read(node.value, bound)
                targets = (
                    node.targets if isinstance(node, gast.Assign) else [node.target]
                )
                for t in targets:
                    inner = self.read(t, inner) | _targets(t)
                return inner
            case gast.AugAssign(target=gast.Name() as target):
                if target.id in self.names and target.id not in bound:
                    self.unsure.add((target.lineno, target.col_offset))
                return self.read(node.value, bound) | {target.id}
            case gast.NamedExpr():
                return self.read(node.value, bound) | {node.target.id}
            case gast.BoolOp() | gast.IfExp():
                first, *others = node.values if isinstance(node, gast.BoolOp) else [
                    node.test, node.body, node.orelse
                ]  # fmt: skip
                bound = self.read(first, bound)
                for other in others:
                    self.read(other, bound)
                return bound
            case gast.ListComp() | gast.GeneratorExp():
                return bound
            case gast.SetComp() | gast.DictComp():
                return bound
        for child in gast.iter_child_nodes(node):
            bound = self.read(child, bound)
        return bound


def _targets(t: Any) -> frozenset[str]:
    """Names that an assignment target binds."""
    return frozenset(
        n.id
        for n in gast.walk(t)
        if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store)
    )
