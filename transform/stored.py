"""Which arrays a function may change: the names it stores into, by its text alone.

    def sweep(u, f):            surely: u, by a subscript; inner, so u, whose part it is
        inner = u[1:-1]         maybe: f, which an operator changes if it is an array
        inner[0] = 1.0
        f *= 2.0

What a called function changes of its arguments its caller changes.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from gradwright.transform.errors import GradwrightError
from gradwright.transform.language import local_names
from gradwright.transform.source import Source, is_library, read

VIEWS = frozenset(
    (
        *(
            "array_split",
            "asarray",
            "atleast_1d",
            "atleast_2d",
            "atleast_3d",
            "diagonal",
            "expand_dims",
        ),
        *("flip", "fliplr", "flipud", "hsplit", "moveaxis", "ravel", "reshape"),
        *("rot90", "split", "squeeze", "swapaxes", "transpose", "view", "vsplit"),
    )
)
"""The names of functions and methods whose result may be a part of an array."""


# Functions that change their first argument, and methods that change their array.
FUNCTIONS = ("at", "copyto", "fill_diagonal", "place", "put", "putmask")
METHODS = ("fill", "put", "sort")


@dataclass(frozen=True)
class Stored:
    """The names of arrays that a function may change, and those bound in its blocks.

    `free` are those of `surely` and `maybe` that are variables of an outer function.
    """

    surely: frozenset[str] = frozenset()  # by a subscript
    maybe: frozenset[str] = frozenset()  # by an operator or a call, if it is an array's
    rebound: frozenset[str] = frozenset()
    free: frozenset[str] = frozenset()

    @property
    def places(self) -> frozenset[str]:
        """Those that become places, if they are arrays."""
        return self.surely | self.maybe


def stored_names(
    source: Source, of: Callable[[Source], Stored], wary: bool = True
) -> Stored:
    """The names that are stored into, or of which a part or a view is.

    Args:
        source: The function.
        of: What a function that it calls stores into.
        wary: What is changed by an operator alone may be a part of an array, too.
    """
    node = source.node
    surely: set[str] = set()
    maybe: set[str] = set()
    for n in _own_nodes(node):
        match n:
            case gast.FunctionDef():
                found = of(source.nested(n))
                surely |= found.surely & found.free
                maybe |= found.maybe & found.free
            case gast.AugAssign(target=gast.Name(id=name)):
                maybe.add(name)
            case gast.Subscript(value=value) if isinstance(n.ctx, gast.Store):
                _add(value, surely, maybe)
            case gast.Call():
                for value in (*_in_place(n), *_by_callee(n, source, of)):
                    _add(value, maybe, maybe)
    _add_whole(node, surely, maybe, wary)
    return Stored(
        frozenset(surely),
        frozenset(maybe),
        _bound_in_blocks(node),
        frozenset((surely | maybe) - local_names(node)),
    )


def _called(source: Source, name: str) -> Source | None:
    """The function of the user's that a name stands for where it is called."""
    for n in gast.walk(source.node):
        if isinstance(n, gast.FunctionDef) and n.name == name:
            return source.nested(n)
    found = source.variable(name)
    if type(found) is not types.FunctionType or is_library(found):
        return None
    try:
        return read(found)
    except GradwrightError:  # said where it is called
        return None


def _own_nodes(node: gast.FunctionDef) -> Iterator[Any]:
    """The nodes of a function; of those nested in it, the functions themselves."""
    waiting = list(node.body)
    while waiting:
        n = waiting.pop()
        yield n
        if not isinstance(n, gast.FunctionDef | gast.ClassDef):
            waiting += gast.iter_child_nodes(n)


def _in_place(call: gast.Call) -> Iterator[Any]:
    """The arguments that NumPy's functions and methods change, by how a call reads."""
    for k in call.keywords:
        if k.arg == "out":
            yield from k.value.elts if isinstance(k.value, gast.Tuple) else [k.value]
    f = call.func
    name = getattr(f, "attr", getattr(f, "id", ""))
    if name in FUNCTIONS and call.args:
        yield call.args[0]
    if name in METHODS and isinstance(f, gast.Attribute):
        yield f.value
    ufunc = vars(np).get(name)
    inputs = ufunc.nin if isinstance(ufunc, np.ufunc) else 2 if name == "dot" else None
    if inputs is not None:
        yield from call.args[inputs:]


def _by_callee(
    call: gast.Call, source: Source, of: Callable[[Source], Stored]
) -> Iterator[Any]:
    """The arguments that a function of the user's may store into."""
    name = getattr(call.func, "id", None)
    callee = _called(source, name) if name else None
    if callee is None:
        return
    a, found = callee.node.args, of(callee)
    names = [p.id for p in (*a.posonlyargs, *a.args)]
    given = dict(zip(names, call.args, strict=False))
    given |= {k.arg: k.value for k in call.keywords if k.arg}
    yield from (given[name] for name in given if name in found.places - found.free)


def _add(node: Any, found: set[str], maybe: set[str]) -> None:
    """Add the names whose arrays an expression may be a part of."""
    match node:
        case gast.Name(id=name):
            found.add(name)
        case gast.Subscript(value=value) | gast.Attribute(value=value):
            _add(value, found, maybe)
        case gast.IfExp(body=body, orelse=orelse):
            _add(body, maybe, maybe)
            _add(orelse, maybe, maybe)
        case gast.List(elts=parts) | gast.Tuple(elts=parts) | gast.Dict(values=parts):
            for a in parts:
                _add(a, maybe, maybe)
        case gast.Call(func=gast.Attribute(value=value, attr=name), args=arguments):
            if name in VIEWS:  # a method, or a function of a module
                _add(value, maybe, maybe)
                for a in arguments[:1]:
                    _add(a, maybe, maybe)
        case gast.Call(func=gast.Name(), args=arguments):
            for a in arguments:
                _add(a, maybe, maybe)


def _add_whole(
    node: gast.FunctionDef, surely: set[str], maybe: set[str], wary: bool
) -> None:
    """Add the names of arrays of which those found may be parts."""
    size = -1
    while size != (size := len(surely) + len(maybe)):
        for name, value in _bindings(node):
            if name in surely:
                _add(value, surely, maybe)
            elif name in maybe and wary:
                _add(value, maybe, maybe)


def _bindings(node: gast.FunctionDef) -> Iterator[tuple[str, Any]]:
    """The names that assignments and loops bind, each with what it is a part of."""
    for n in _own_nodes(node):
        if isinstance(n, gast.For):
            targets = n.target.elts if isinstance(n.target, gast.Tuple) else [n.target]
            yield from ((t.id, n.iter) for t in targets if isinstance(t, gast.Name))
        for t in n.targets if isinstance(n, gast.Assign) else ():
            pairs = [(t, n.value)]
            if isinstance(t, gast.Tuple) and isinstance(n.value, gast.Tuple):
                pairs = list(zip(t.elts, n.value.elts, strict=False))
            for a, value in pairs:
                yield from ((name, value) for name in _names(a))


def _names(target: Any) -> Iterator[str]:
    """The names that a target binds, those of a tuple to parts of what it is given."""
    match target:
        case gast.Name(id=name):
            yield name
        case gast.Tuple(elts=parts) | gast.List(elts=parts):
            for part in parts:
                yield from _names(part)
        case gast.Starred(value=value):
            yield from _names(value)


def _bound_in_blocks(node: gast.FunctionDef) -> frozenset[str]:
    """The names that a loop or a branch binds."""
    found: set[str] = set()
    for n in gast.walk(node):
        if not isinstance(n, gast.For | gast.While | gast.If):
            continue
        for inner in (m for s in (*n.body, *n.orelse) for m in gast.walk(s)):
            if isinstance(inner, gast.Assign | gast.AnnAssign | gast.For):
                targets = getattr(inner, "targets", None) or [inner.target]
                found |= {
                    m.id
                    for t in targets
                    for m in gast.walk(t)
                    if isinstance(m, gast.Name) and isinstance(m.ctx, gast.Store)
                }
    return frozenset(found)
