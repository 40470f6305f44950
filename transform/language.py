"""The language: which Python is accepted, and what is said of the rest.

The accepted nodes are the ones that `specialise` has handlers for; this table gives
every other node its name in the user's words and what to write instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gast

REFUSALS: dict[str, tuple[str, str | None]] = {
    "With": ("a 'with' block", "open the resource outside and pass what it gives"),
    "AsyncWith": ("a 'with' block", None),
    "Try": ("a 'try' statement", "test for the condition with 'if' before the call"),
    "TryStar": ("a 'try' statement", None),
    "Match": ("a 'match' statement", "write it as if and elif"),
    "ClassDef": ("a class defined inside a function", "define the class outside"),
    "AsyncFunctionDef": ("an async function", "write a plain function"),
    "AsyncFor": ("an async loop", "write a plain loop"),
    "Await": ("'await'", "call the function outside and pass its result"),
    "Yield": ("'yield'", "collect the values and return them together"),
    "YieldFrom": ("'yield from'", "collect the values and return them together"),
    "Global": ("'global': it changes what the function captured",
               "pass the value in and return the new one"),
    "Nonlocal": ("'nonlocal' yet", "pass the value in and return the new one"),
    "Delete": ("'del'", "leave the name alone: it is released at the end"),
    "Import": ("an import inside a function",
               "import the module at the top of the file"),
    "ImportFrom": ("an import inside a function",
                   "import the name at the top of the file"),
    "Set": ("a set", "use a tuple"),
    "DictComp": ("a dict comprehension over run-time values yet",
                 "write the loop out and add up as you go"),
    "SetComp": ("a set comprehension", "use a loop"),
    "ListComp": ("a list comprehension over run-time values yet",
                 "write the loop out and add up as you go"),
    "GeneratorExp": ("a generator expression over run-time values yet",
                     "write the loop out and add up as you go"),
    "Starred": ("a starred expression here", "write the items out"),
    "Interpolation": ("a template string", "use an f-string"),
}  # fmt: skip


def refusal(node: Any) -> tuple[str, str | None]:
    """(message, what to write instead) for a node outside of the language."""
    name = type(node).__name__
    words, instead = REFUSALS.get(name, (f"'{name}' syntax", None))
    return f"gradwright does not rewrite {words}", instead


@dataclass(frozen=True)
class Stored:
    """The names of arrays that a function may change, and those bound in its blocks."""

    surely: frozenset[str]  # by a subscript
    maybe: frozenset[str]  # by an operator, if it is an array's
    rebound: frozenset[str]

    @property
    def places(self) -> frozenset[str]:
        """Those that become places, if arrays: of `maybe`, what no block assigns."""
        return self.surely | (self.maybe - self.rebound)


def stored_names(node: gast.FunctionDef) -> Stored:
    """The names that a subscript stores into, or a view of theirs, or an operator."""
    surely, maybe, rebound = set(), set(), set()
    for n in gast.walk(node):
        if isinstance(n, gast.For | gast.While | gast.If):
            for inner in (m for s in (*n.body, *n.orelse) for m in gast.walk(s)):
                if isinstance(inner, gast.Assign | gast.AnnAssign | gast.For):
                    targets = getattr(inner, "targets", None) or [inner.target]
                    rebound |= {
                        m.id
                        for t in targets
                        for m in gast.walk(t)
                        if isinstance(m, gast.Name) and isinstance(m.ctx, gast.Store)
                    }
        if isinstance(n, gast.AugAssign) and isinstance(n.target, gast.Name):
            maybe.add(n.target.id)
        if isinstance(n, gast.Subscript) and isinstance(n.ctx, gast.Store):
            root = _root(n)
            if isinstance(root, gast.Name):
                surely.add(root.id)
    _add_roots(node, surely)
    return Stored(frozenset(surely), frozenset(maybe), frozenset(rebound))


def _root(node: Any) -> Any:
    while isinstance(node, gast.Subscript):
        node = node.value
    return node


def _add_roots(node: gast.FunctionDef, found: set[str]) -> None:
    """Add the arrays of which those found are views."""
    size = -1
    while size != (size := len(found)):
        for n in gast.walk(node):
            if isinstance(n, gast.Assign) and any(
                isinstance(t, gast.Name) and t.id in found for t in n.targets
            ):
                root = _root(n.value)
                if isinstance(root, gast.Name) and root is not n.value:
                    found.add(root.id)


def local_names(node: gast.FunctionDef) -> frozenset[str]:
    """Names that are local to a function by Python's own rule: it binds them."""
    names: set[str] = set()
    elsewhere: set[str] = set()

    def visit(n: Any) -> None:
        match n:
            case gast.FunctionDef() | gast.ClassDef():
                names.add(n.name)
                return
            case gast.Lambda() | gast.ListComp() | gast.GeneratorExp():
                return
            case gast.SetComp() | gast.DictComp():
                return
            case gast.Name() if not isinstance(n.ctx, gast.Load):
                names.add(n.id)
            case gast.Global() | gast.Nonlocal():
                elsewhere.update(n.names)
        for child in gast.iter_child_nodes(n):
            visit(child)

    for argument in parameters(node):
        names.add(argument.id)
    for statement in node.body:
        visit(statement)
    return frozenset(names - elsewhere)


def parameters(node: gast.FunctionDef) -> list[Any]:
    """Every parameter of a function, starred ones included, in order."""
    a = node.args
    stars = [star for star in (a.vararg, a.kwarg) if star is not None]
    return [*a.posonlyargs, *a.args, *a.kwonlyargs, *stars]
