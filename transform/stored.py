"""Which arrays a function may change: by a subscript, an operator, a call.

    y = x * 1.0
    y[0] = 3.0            surely
    y += x                perhaps: y may be a number
    np.copyto(y, x)       perhaps: `np.copyto` may stand for something else

A name that a block binds for what comes after it holds one array or another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from gradwright.transform.liveness import Liveness

# Functions that change their first argument, and methods that change their array.
FUNCTIONS = ("at", "copyto", "fill_diagonal", "place", "put", "putmask")
METHODS = ("fill", "put", "sort")


@dataclass(frozen=True)
class Stored:
    """The names of arrays that a function may change, and those that blocks hand on."""

    surely: frozenset[str]  # by a subscript
    maybe: frozenset[str]  # by an operator or a call, if it is an array's
    rebound: frozenset[str]

    @property
    def places(self) -> frozenset[str]:
        """Those that become places, if arrays: of `maybe`, what no block hands on."""
        return self.surely | (self.maybe - self.rebound)


def stored_names(node: gast.FunctionDef, liveness: Liveness) -> Stored:
    """The names that a function in normal form stores into, or views of theirs."""
    nodes = list(gast.walk(node))
    surely = {
        name
        for n in nodes
        if isinstance(n, gast.Subscript) and isinstance(n.ctx, gast.Store)
        for name in _root(n)
    }
    called = {
        name
        for n in nodes
        if isinstance(n, gast.Call)
        for changed in _changed(n)
        for name in _root(changed)
    }
    operated = {
        n.target.id
        for n in nodes
        if isinstance(n, gast.AugAssign) and isinstance(n.target, gast.Name)
    }
    _add_roots(nodes, surely)
    _add_roots(nodes, called)
    rebound = {name for n in nodes for name in _handed_on(n, liveness)}
    return Stored(frozenset(surely), frozenset(operated | called), frozenset(rebound))


def _changed(call: gast.Call) -> Iterator[Any]:
    """The arguments that a call may change, by how it is written."""
    for k in call.keywords:
        if k.arg == "out":
            yield from k.value.elts if isinstance(k.value, gast.Tuple) else [k.value]
    f = call.func
    name = getattr(f, "attr", getattr(f, "id", ""))
    if name in FUNCTIONS and call.args:
        yield call.args[0]
    if name in METHODS and isinstance(f, gast.Attribute):
        yield f.value
    ufunc = getattr(np, name, None)
    inputs = ufunc.nin if isinstance(ufunc, np.ufunc) else 2 if name == "dot" else None
    if inputs is not None:
        yield from call.args[inputs:]


def _handed_on(n: Any, liveness: Liveness) -> set[str]:
    """The names that a loop or branch binds for its next trip or for what follows."""
    if not isinstance(n, gast.For | gast.While | gast.If):
        return set()
    read = liveness.after.get(id(n), frozenset())
    if not isinstance(n, gast.If):
        read |= liveness.inside.get(id(n), frozenset())
    return set(read) & set(_bound([*n.body, *n.orelse]))


def _bound(block: Iterable[Any]) -> Iterator[str]:
    """The names that assignments and loops in a block bind."""
    for n in (m for s in block for m in gast.walk(s)):
        if isinstance(n, gast.Assign | gast.AnnAssign | gast.For):
            for t in getattr(n, "targets", None) or [n.target]:
                for m in gast.walk(t):
                    if isinstance(m, gast.Name) and isinstance(m.ctx, gast.Store):
                        yield m.id


def _root(node: Any) -> Iterator[str]:
    """The name of the array of which an expression is a part."""
    while isinstance(node, gast.Subscript):
        node = node.value
    if isinstance(node, gast.Name):
        yield node.id


def _add_roots(nodes: list[Any], found: set[str]) -> None:
    """Add the arrays of which those found are views."""
    size = -1
    while size != (size := len(found)):
        for n in nodes:
            if not isinstance(n, gast.Assign) or not isinstance(
                n.value, gast.Subscript
            ):
                continue
            if any(isinstance(t, gast.Name) and t.id in found for t in n.targets):
                found.update(_root(n.value))
