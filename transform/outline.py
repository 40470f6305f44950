"""Outline: a statement that does not fit on its line is taken apart.

    area_bar = (long * product) + (another * long * product)

    ->  area_bar = long * product
        area_bar += another * long * product

Each nested expression knows the value that it is (`held`).  A conditional expression
that has a line to itself and is still too long becomes an `if` statement.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from gradwright.transform.core import Call, Cell, Pop, Statement, Value
from gradwright.transform.layout import INDENT, WIDTH, head_of, text_of
from gradwright.transform.spelling import Name, name_of

Block = list[ast.stmt]
NUMBERED = 2  # characters that a common name grows by: `product_1`
Long = list[tuple[Block, ast.stmt, int]]


def held(tree: ast.expr, v: Value, s: Statement, repeated: bool = False) -> None:
    """Note which value an expression is, and whether it stands elsewhere too."""
    if not hasattr(tree, "held"):
        tree.repeated = repeated  # type: ignore[attr-defined]
        tree.held = v  # type: ignore[attr-defined]
        tree.acts = isinstance(s, Pop | Call)  # type: ignore[attr-defined]


def outline(long: Long, named: set[Value]) -> bool:
    """Give a part of each long statement a name; whether any has such a part.

    A value that stands in several places joins `named`: it is not to be repeated.
    """
    done = [_outline(block, s, columns, named) for block, s, columns in long]
    return any(done)


def _outline(block: Block, s: ast.stmt, columns: int, named: set[Value]) -> bool:
    k = next((k for k, t in enumerate(block) if t is s), None)
    if k is None:
        return False
    match s:
        case ast.Assign(targets=[Name(thing=cell)], value=ast.IfExp() as chosen):
            block[k] = if_statement(cell, chosen)
            note(block[k], s)
            return True
    roots = list(_roots(s))
    is_named = isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name)
    parts = [p for root in roots for p in _parts(root) if not (is_named and p is root)]
    best = _best(parts, columns, columns - len(head_of(s)))
    if best is None or not _may_go_first(best, roots):
        return False
    if best.repeated:
        named.add(best.held)
        return True
    first, name = ast.Assign([name_of(best.held, True)], best), name_of(best.held)
    note(first, s)
    block.insert(k, first)
    _replace(s, best, name)
    s.taken = [*getattr(s, "taken", []), (first, name)]  # type: ignore[attr-defined]
    return True


def put_back(body: Block, indent: int = INDENT) -> bool:
    """Names that proved needless go again: another part of the statement has one."""
    done = False
    for first, name in [pair for s in body for pair in getattr(s, "taken", [])]:
        s = next((s for s in body if any(n is name for n in ast.walk(s))), None)
        if s is None or first not in body or _acts(first.value):
            continue
        first.value.__dict__.pop("_pp", None)  # astor's note of where it stood
        _replace(s, name, first.value)
        if indent + len(head_of(s)) <= WIDTH:
            body.remove(first)
            done = True
        else:
            _replace(s, first.value, name)
    for s in body:
        for inner in (getattr(s, "body", []), getattr(s, "orelse", [])):
            done = put_back(inner, indent + INDENT) or done
    return done


def note(s: ast.stmt, like: ast.stmt) -> None:
    """The same user's line for a statement and all inside it."""
    for t in ast.walk(s):
        if isinstance(t, ast.stmt):
            t.where = getattr(like, "where", None)  # type: ignore[attr-defined]
            t.adjoint = getattr(like, "adjoint", False)  # type: ignore[attr-defined]


def _roots(s: ast.stmt) -> Iterator[ast.expr]:
    """The expressions that a statement evaluates exactly once, at its start."""
    match s:
        case ast.If() | ast.Assert():
            yield s.test
        case ast.For():
            yield s.iter
        case ast.Assign() | ast.AugAssign() | ast.Expr():
            yield s.value
        case ast.Return() if s.value is not None:
            yield s.value
        case ast.Raise() if s.exc is not None:
            yield s.exc


def _parts(tree: ast.AST) -> Iterator[Any]:
    """The parts that are always evaluated and that have a name to be called by."""
    if hasattr(tree, "held"):
        yield tree
    match tree:
        case ast.IfExp():
            yield from _parts(tree.test)
        case ast.BoolOp():
            yield from _parts(tree.values[0])
        case ast.Compare():
            yield from _parts(tree.left)
            yield from _parts(tree.comparators[0])
        case ast.JoinedStr():
            pass
        case ast.ListComp(generators=[first, *_]):
            yield from _parts(first.iter)
        case _:
            for child in ast.iter_child_nodes(tree):
                if isinstance(child, ast.expr | ast.keyword):
                    yield from _parts(child)


def _best(parts: list[Any], columns: int, indent: int) -> Any:
    """The part to name: the widest that fits on a line."""
    best, rank = None, (0, 0, 0, 0, 0)
    for p in parts:
        width, name = len(text_of(p)), len(p.held.name)
        gain = width - name
        if gain < 4:
            continue
        is_bar = p.held.name.endswith(("_bar", "_dot"))
        grown = name if is_bar else name + NUMBERED
        alone = int(indent + grown + 3 + width <= WIDTH)
        fits = int(columns - gain <= WIDTH)
        says = int(fits and is_bar)
        new = (alone, int(fits and p.repeated), says, fits, gain)
        if new > rank:
            best, rank = p, new
    return best


def _may_go_first(part: ast.expr, roots: list[ast.expr]) -> bool:
    """Whether nothing that acts would change its place among others that do."""
    inner = {id(n) for n in ast.walk(part)}
    acts = [n for root in roots for n in ast.walk(root) if getattr(n, "acts", False)]
    return not any(id(n) in inner for n in acts) or all(id(n) in inner for n in acts)


def _acts(tree: ast.expr) -> bool:
    return any(getattr(n, "acts", False) for n in ast.walk(tree))


def _replace(s: ast.stmt, part: ast.expr, name: ast.expr) -> None:
    for parent in ast.walk(s):
        for key, child in ast.iter_fields(parent):
            if child is part:
                setattr(parent, key, name)
                return
            if isinstance(child, list):
                for k, c in enumerate(child):
                    if c is part:
                        child[k] = name
                        return


# ---- conditional expressions -------------------------------------------------------


def is_chain(tree: ast.expr) -> bool:
    """Whether a conditional expression holds another as its branch."""
    return isinstance(tree, ast.IfExp) and any(
        isinstance(n, ast.IfExp) for b in (tree.body, tree.orelse) for n in ast.walk(b)
    )


def if_statement(cell: Cell, tree: ast.expr) -> ast.stmt:
    """A conditional expression as if, elif, else that assign the cell."""
    assert isinstance(tree, ast.IfExp)
    branches = [
        if_statement(cell, b) if is_chain(b) else ast.Assign([name_of(cell, True)], b)
        for b in (tree.body, tree.orelse)
    ]
    return ast.If(tree.test, branches[:1], branches[1:])
