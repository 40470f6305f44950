"""The language: which Python is accepted, and what is said of the rest.

The accepted nodes are the ones that `specialise` has handlers for; this table gives
every other node its name in the user's words and what to write instead.
"""

from __future__ import annotations

import ast
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
    "Delete": ("'del' of a name", "leave the name alone: it is released at the end"),
    "Import": ("an import inside a function",
               "import the module at the top of the file"),
    "ImportFrom": ("an import inside a function",
                   "import the name at the top of the file"),
    "Set": ("a set", "use a tuple"),
    "DictComp": ("a dict comprehension over run-time values yet",
                 "write the loop out and add up as you go"),
    "SetComp": ("a set comprehension", "use a loop"),
    "Starred": ("a starred expression here", "write the items out"),
    "Interpolation": ("a template string", "use an f-string"),
}  # fmt: skip


def refusal(node: Any) -> tuple[str, str | None]:
    """(message, what to write instead) for a node outside of the language."""
    name = type(node).__name__
    words, instead = REFUSALS.get(name, (f"'{name}' syntax", None))
    return f"gradwright does not rewrite {words}", instead


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


def copied(node: Any) -> Any:
    """A tree anew, with the same names and numbers in it."""
    kind: Any = type(node)
    new = kind.__new__(kind)
    for part, value in vars(node).items():
        if isinstance(value, list):
            value = [copied(v) if isinstance(v, ast.AST) else v for v in value]
        elif isinstance(value, ast.AST):
            value = copied(value)
        setattr(new, part, value)
    return new


def parameters(node: gast.FunctionDef) -> list[Any]:
    """Every parameter of a function, starred ones included, in order."""
    a = node.args
    stars = [star for star in (a.vararg, a.kwarg) if star is not None]
    return [*a.posonlyargs, *a.args, *a.kwonlyargs, *stars]
