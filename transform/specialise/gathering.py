"""Comprehensions over what only the run knows, as the loops that they are.

[f(x) for x in xs if x > 0.0]   ->   items = []
for x in xs:
if x > 0.0: items.append(f(x))
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast

from gradwright.transform.liveness import after_loop, assigned
from gradwright.transform.specialise.abstract import Listed, leaves
from gradwright.transform.specialise.births import origin_of, position
from gradwright.transform.specialise.frame import STATEMENTS, Frame
from gradwright.transform.specialise.lists import begin, insert

GATHERED = "the list of a comprehension"


class Gather(gast.stmt):
    """The innermost statement of a comprehension: its element joins the list."""

    _fields = ("elt",)


def gather(frame: Frame, node: Any) -> None:
    """Append the element to the list that the comprehension makes."""
    insert(frame, frame.env[GATHERED], frame.evaluate(node.elt), None, node.elt)


def comprehension(frame: Frame, node: Any) -> Listed:
    """[element for target in items if test], written as a loop."""
    made: Listed = begin(frame, origin_of(frame, node), node)
    for place in leaves(made.tree):
        if place is not None:
            place.gathered = True
    inner = frame.scope(assigned([g.target for g in node.generators]))
    inner.env[GATHERED] = made
    loop = frame.program.comprehensions.get(id(node))
    if loop is None:
        loop = frame.program.comprehensions[id(node)] = _as_loop(node)
        after_loop(inner.liveness, [loop], frozenset())
    inner.run([loop])
    return made


def _as_loop(node: Any) -> Any:
    """The loop that a comprehension is."""
    inner: Any = gast.copy_location(Gather(elt=node.elt), node)
    for g in reversed(node.generators):
        for test in reversed(g.ifs):
            made = gast.If(test=test, body=[inner], orelse=[])
            inner = gast.copy_location(made, node)
        made = gast.For(
            target=g.target, iter=g.iter, body=[inner], orelse=[], type_comment=None
        )
        inner = gast.copy_location(made, node)
    return inner


STATEMENTS[Gather] = gather


# ---- truth ---------------------------------------------------------------------------


def is_test(frame: Frame, node: Any) -> bool:
    """Whether of an `and` or an `or` only the truth is asked for."""
    tests = frame.program.tests.get(id(frame.source.node))
    if tests is None:
        found = {position(t) for n in gast.walk(frame.source.node) for t in _tests(n)}
        tests = frame.program.tests[id(frame.source.node)] = found
    return position(node) in tests


def _tests(node: Any) -> Iterator[Any]:
    """The `and`s and `or`s whose truth a node asks for."""
    match node:
        case gast.If() | gast.While() | gast.IfExp() | gast.Assert():
            asked = [node.test]
        case gast.comprehension():
            asked = list(node.ifs)
        case gast.UnaryOp(op=gast.Not()):
            asked = [node.operand]
        case _:
            return
    while asked:
        test = asked.pop()
        if isinstance(test, gast.BoolOp):
            yield test
            asked += test.values
