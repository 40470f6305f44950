"""Lists written as one does: what they begin with stands between their brackets.

    xs = []                          xs = [x, x * x]
    xs.append(x)              ->     ys = [v * v for v in xs]
    xs.append(x * x)
    ys = []
    for v in xs:
        ys.append(v * v)

    row = [0.0] * n            ->     table.append([0.0] * n)
    table.append(row)

A loop becomes a comprehension where the user wrote one.  An empty list that gets
another name's list before it is looked at is not written at all.
"""

from __future__ import annotations

import ast
from typing import Any

from gradwright.transform.core import List
from gradwright.transform.names import names_in
from gradwright.transform.spelling import Name


def with_displays(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements of a block with its lists as displays."""
    result: list[ast.stmt] = []
    for k, s in enumerate(body):
        place = _begun(s)
        if place is not None and _is_replaced(body[k + 1 :], place):
            continue
        if not _joins(result, s) and not _takes(result, s, body[k + 1 :]):
            result.append(s)
    return result


def _takes(result: list[ast.stmt], s: ast.stmt, rest: list[ast.stmt]) -> bool:
    """Whether a list without a name now stands where it is put into another one."""
    match (result[-1:], s):
        case (
            [ast.Assign(targets=[ast.Name() as name], value=value)],
            ast.Expr(
                value=ast.Call(func=ast.Attribute(attr="append"), args=[item]) as call
            ),
        ):
            place = getattr(name, "thing", None)
            if not isinstance(place, List) or place.users:
                return False
            is_it = isinstance(item, Name) and item.thing is place
            if not is_it or any(_mentions(t, place) for t in rest):
                return False
            call.args = [value]
            result[-1] = s
            return True
    return False


def _begun(s: ast.stmt) -> List | None:
    """The list that a statement begins, as an empty one."""
    match s:
        case ast.Assign(targets=[ast.Name() as name], value=ast.List(elts=[])):
            thing = getattr(name, "thing", None)
            return thing if isinstance(thing, List) else None
    return None


def _is_replaced(rest: list[ast.stmt], place: List) -> bool:
    """Whether a list is given another one before it is looked at."""
    for s in rest:
        found = [n for n in names_in(s) if n.thing is place]
        if found:
            return (
                isinstance(s, ast.Assign)
                and found == s.targets
                and isinstance(s.value, ast.Name | ast.Call)
            )
    return False


def _joins(result: list[ast.stmt], s: ast.stmt) -> bool:
    """Whether a statement is now a part of a display in one of those just before it."""
    between: list[List] = []
    for before in reversed(result):
        if not isinstance(before, ast.Assign) or not isinstance(before.value, ast.List):
            return False
        place = getattr(before.targets[0], "thing", None)
        if not isinstance(place, List):
            return False
        if not any(_mentions(s, other) for other in between) and _joined(
            before, before.value, place, s
        ):
            before.where = s.where  # type: ignore[attr-defined]
            return True
        between.append(place)
    return False


def _joined(
    before: ast.Assign, display: ast.List, place: List, s: ast.stmt
) -> ast.expr | None:
    """What a statement adds to a display, which has it then."""
    item: ast.expr | None = _appended(s, place)
    if item is not None:
        display.elts.append(item)
    elif place.gathered and not display.elts:
        item = _comprehension(s, place)
        before.value = item or display
    return item


def _appended(s: ast.stmt, place: List) -> ast.expr | None:
    """What a statement appends to the list; None where it does something else."""
    match s:
        case ast.Expr(
            value=ast.Call(
                func=ast.Attribute(value=ast.Name() as name, attr="append"), args=[item]
            )
        ) if getattr(name, "thing", None) is place and not _mentions(item, place):
            return item
    return None


def _comprehension(s: ast.stmt, place: List) -> ast.ListComp | None:
    """The comprehension that a loop is which only appends to the list."""
    generators: list[ast.comprehension] = []
    while isinstance(s, ast.For | ast.If) and len(s.body) == 1 and not s.orelse:
        if isinstance(s, ast.For):
            if _mentions(s.iter, place):
                return None
            generators.append(ast.comprehension(s.target, s.iter, [], 0))
        elif generators and not _mentions(s.test, place):
            generators[-1].ifs.append(s.test)
        else:
            return None
        (s,) = s.body
    item = _appended(s, place)
    return ast.ListComp(item, generators) if generators and item is not None else None


def _mentions(tree: Any, place: List) -> bool:
    return any(n.thing is place for n in names_in(tree))
