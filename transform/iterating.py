"""Loops over a list that read its items by number, as loops over the items.

    for i in range(len(table)):            for row in table:
        for j in range(len(table[i])):  ->     for row_i in row:
            total += table[i][j]                   total += row_i

A loop whose number has another use, or whose list changes on the way, stays as it is.
"""

from __future__ import annotations

import ast
from typing import Any

from gradwright.transform.core import List, Value
from gradwright.transform.names import names_in
from gradwright.transform.spelling import Name, are_same, name_of

CHANGING = ("append", "insert", "pop")


def with_items(body: list[ast.stmt]) -> None:
    """Rewrite the loops and comprehensions of a block in place, outer ones first."""
    for s in body:
        for node in ast.walk(s):
            match node:
                case ast.For():
                    if put := _items(node, node.body):
                        node.body = [put.visit(t) for t in node.body]
                case ast.ListComp(generators=[generator]) if not generator.ifs:
                    if put := _items(generator, [node.elt]):
                        node.elt = put.visit(node.elt)


def _items(loop: ast.For | ast.comprehension, inside: list[Any]) -> _Put | None:
    """Let a loop go over the items where it only reads them; what puts these there."""
    k, xs = loop.target, _counted(loop.iter)
    if not isinstance(k, Name) or xs is None or any(_changes(t, xs) for t in inside):
        return None
    reads = [n for tree in inside for n in ast.walk(tree) if _reads(n, xs, k)]
    mentions = [n for tree in inside for n in names_in(tree) if n.thing is k.thing]
    if not reads or len(reads) != len(mentions):
        return None
    item = _item_of(xs)
    loop.target, loop.iter = name_of(item, True), xs
    return _Put(xs, k, item)


def _counted(items: ast.expr) -> ast.expr | None:
    """The list `xs` of `range(len(xs))`."""
    match items:
        case ast.Call(
            func=ast.Name(id="range"),
            args=[ast.Call(func=ast.Name(id="len"), args=[xs])],
        ) if _depth(xs) > 0:
            return xs
    return None


def _depth(tree: ast.expr) -> int:
    """How many lists an expression is one in another; of a number, none."""
    if isinstance(tree, Name):
        return tree.thing.depth if isinstance(tree.thing, List) else 0
    if isinstance(tree, ast.Subscript) and not isinstance(tree.slice, ast.Slice):
        return _depth(tree.value) - 1
    return 0


def _item_of(xs: ast.expr) -> Any:
    """What stands for an item: a row, or a number or array of one."""
    thing = _root(xs)
    depth = _depth(xs) - 1
    if depth:
        return List("row", thing.type, depth)
    return Value(f"{thing.name}_i", thing.type)


def _reads(n: ast.AST, xs: ast.expr, k: Name) -> bool:
    """Whether an expression is `xs[k]`."""
    return (
        isinstance(n, ast.Subscript)
        and isinstance(n.slice, Name)
        and n.slice.thing is k.thing
        and are_same(n.value, xs)
    )


def _changes(tree: ast.AST, xs: ast.expr) -> bool:
    """Whether a list, or one like it, gets other items, or is another one."""
    for n in ast.walk(tree):
        match n:
            case ast.Call(func=ast.Attribute(value=owner, attr=name)):
                if name in CHANGING and _is_like(owner, xs, _depth(xs)):
                    return True
            case ast.Assign(targets=targets):
                if any(_is_like(t, xs, _depth(xs) - 1) for t in targets):
                    return True
            case ast.AugAssign(target=target) if _is_like(target, xs, _depth(xs) - 1):
                return True
    return False


def _is_like(tree: ast.expr, xs: ast.expr, depth: int) -> bool:
    """Whether an expression is of the same list, and at least so many lists."""
    own, other = _root(tree), _root(xs)
    return own is not None and own is other and _depth(tree) >= depth


def _root(tree: ast.expr) -> Any:
    while isinstance(tree, ast.Subscript):
        tree = tree.value
    return getattr(tree, "thing", None)


class _Put(ast.NodeTransformer):
    """Puts the item in the place of `xs[k]`."""

    def __init__(self, xs: ast.expr, k: Name, item: Any) -> None:
        self.xs, self.k, self.item = xs, k, item

    def visit_Subscript(self, n: ast.Subscript) -> ast.expr:
        if _reads(n, self.xs, self.k):
            return name_of(self.item)
        self.generic_visit(n)
        return n
