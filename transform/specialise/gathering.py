"""Comprehensions and generator expressions: their items, known or by the loop they are.

    [f(x) for x in xs if x > 0.0]   ->   items = []
                                         for x in xs:
                                             if x > 0.0: items.append(f(x))

A generator is gone through once: at once, into a list, or step by step in a loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import gast

from gradwright.transform.errors import UnsupportedSyntax
from gradwright.transform.liveness import after_loop, assigned
from gradwright.transform.specialise.abstract import (
    Generator,
    Listed,
    Mapped,
    Structure,
    leaves,
)
from gradwright.transform.specialise.bindings import bind
from gradwright.transform.specialise.births import change, origin_of, position
from gradwright.transform.specialise.frame import STATEMENTS, Frame
from gradwright.transform.specialise.lists import begin, insert

GATHERED = "the list of a comprehension"
ITEMS = "what a comprehension goes over"


class NotKnown(Exception):
    """The items of a comprehension are not known while the program is rewritten."""


class Gather(gast.stmt):
    """The innermost statement of a comprehension: its element joins the list."""

    _fields = ("elt",)


def gather(frame: Frame, node: Any) -> None:
    """Append the element to the list that the comprehension makes."""
    insert(frame, frame.env[GATHERED], frame.evaluate(node.elt), None, node.elt)


STATEMENTS[Gather] = gather


# ---- where they stand --------------------------------------------------------------


def generator(frame: Frame, node: Any) -> Generator:
    """A generator expression, or a comprehension as one: its first clause is read."""
    from gradwright.transform.specialise.builtins import iterable, stepwise

    if any(g.is_async for g in node.generators):
        raise frame.refusal(node)
    if isinstance(node, gast.GeneratorExp):
        refuse_assignments(frame, node, node)
    first = node.generators[0].iter
    a = frame.evaluate(first)
    lazy = isinstance(node, gast.GeneratorExp) or _is_plain(a)
    items = (stepwise if lazy else iterable)(frame, a, first)
    return Generator(node, frame, items, tuple(frame.program.constructs))


def refuse_assignments(frame: Frame, generator: Any, node: Any) -> None:
    """Refuse ':=' in a generator expression, which binds a name outside of it."""
    if any(isinstance(n, gast.NamedExpr) for n in gast.walk(generator)):
        raise frame.error(
            UnsupportedSyntax,
            "':=' inside a generator expression",
            node,
            instead="a loop with an assignment",
        )


def _is_plain(a: Any) -> bool:
    """Whether a generator gives one item for each that it goes over."""
    if not isinstance(a, Generator):
        return False
    (first, *others) = a.node.generators
    return not others and not first.ifs


def _spend(frame: Frame, g: Generator, node: Any) -> None:
    """Go through a generator, which has nothing to give from there on."""
    within = tuple(frame.program.constructs)
    if g.spent or g.within != within or g.frame.unit is not frame.unit:
        raise frame.error(
            UnsupportedSyntax,
            "a generator expression that is gone through twice, or in another loop, "
            "branch or function than it is made in",
            node,
            instead="list(...) of it, under a name",
        )
    g.spent = True


# ---- step by step ------------------------------------------------------------------


def step_by_step(frame: Frame, g: Generator, node: Any) -> Mapped:
    """What a generator gives, each item when its turn comes."""
    from gradwright.transform.specialise.builtins import known_items

    _spend(frame, g, node)
    if not _is_plain(g):
        raise frame.error(
            UnsupportedSyntax,
            "a loop over a generator expression with an 'if' or a second 'for'",
            node,
            instead="a loop over list(...) of it",
        )
    (clause,) = g.node.generators
    items, before = g.items, None
    if isinstance(items, Mapped):
        items, before = items.items, items.function
    with suppress(NotKnown):
        items = Structure(tuple, tuple(known_items(frame, items, None)))

    def element(item: Any) -> Any:
        inner = g.frame.scope(assigned([clause.target]))
        bind(inner, clause.target, item if before is None else before(item))
        return inner.evaluate(g.node.elt)

    return Mapped(items, element, clause.target)


# ---- at once -----------------------------------------------------------------------


def drained(frame: Frame, g: Generator, node: Any, kind: Any = tuple) -> Any:
    """All that a generator gives: known items, or a new list of run-time length."""
    _spend(frame, g, node)
    b = frame.builder
    written, known = len(b.block), dict(b.known)
    origin = origin_of(g.frame, g.node)
    try:
        if origin not in frame.program.kinds:
            return Structure(kind, tuple(written_out(g, g.node.elt)))
    except NotKnown:
        del b.block[written:]
        b.known = known
    if isinstance(g.node, gast.GeneratorExp) and not frame.speaks:
        raise frame.refusal(g.node)
    made: Listed = begin(frame, origin, node)
    for place in leaves(made.tree):
        if place is not None:
            place.gathered = True
    _append_each(g, made)
    return made


def append_all(frame: Frame, listed: Listed, g: Generator, node: Any) -> None:
    """Append what a generator gives to a list, which it may see grow."""
    _spend(frame, g, node)
    _append_each(g, listed)


def append_known(frame: Frame, xs: Structure, g: Generator, node: Any) -> bool:
    """The same for a list that is known; False where the items are not."""
    _spend(frame, g, node)
    if g.items is xs:
        raise frame.error(
            UnsupportedSyntax,
            "a list gets items in a generator expression over it, which never ends",
            node,
            instead="a generator expression over list(...) of it",
        )
    try:
        for item in written_out(g, g.node.elt):
            change(frame, xs, (*xs.items, item), node)
    except NotKnown:
        return False
    return True


def written_out(g: Generator, element: Any) -> Iterator[Any]:
    """The items of a comprehension over what is known; over the rest: refused."""
    from gradwright.transform.specialise.builtins import known_items
    from gradwright.transform.specialise.expressions import truth

    node, frame = g.node, g.frame
    inner = frame.scope(assigned([c.target for c in node.generators]))

    def each(k: int) -> Iterator[Any]:
        if k == len(node.generators):
            yield inner.evaluate(element)
            return
        clause = node.generators[k]
        items = inner.evaluate(clause.iter) if k else g.items
        for item in known_items(inner if k else frame, items, node):
            bind(inner, clause.target, item)
            for t in clause.ifs:
                is_true = truth(inner, inner.evaluate(t), t)
                if not isinstance(is_true, bool):
                    if isinstance(node, gast.DictComp):
                        raise frame.refusal(node)
                    raise NotKnown
                if not is_true:
                    break
            else:
                yield from each(k + 1)

    return each(0)


def _append_each(g: Generator, made: Listed) -> None:
    """Write the loop that a comprehension is, into a list."""
    program, node = g.frame.program, g.node
    inner = g.frame.scope(assigned([c.target for c in node.generators]))
    inner.env[GATHERED], inner.env[ITEMS] = made, g.items
    loop = program.comprehensions.get(id(node))
    if loop is None:
        loop = program.comprehensions[id(node)] = _as_loop(node)
        after_loop(inner.liveness, [loop], frozenset())
    inner.run([loop])


def _as_loop(node: Any) -> Any:
    """The loop that a comprehension is."""
    inner: Any = gast.copy_location(Gather(elt=node.elt), node)
    for k, g in reversed(list(enumerate(node.generators))):
        for test in reversed(g.ifs):
            made = gast.If(test=test, body=[inner], orelse=[])
            inner = gast.copy_location(made, node)
        items = gast.Name(ITEMS, gast.Load(), None, None)
        made = gast.For(
            target=g.target,
            iter=g.iter if k else gast.copy_location(items, g.iter),
            body=[inner],
            orelse=[],
            type_comment=None,
        )
        inner = gast.copy_location(made, node)
    return inner


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
