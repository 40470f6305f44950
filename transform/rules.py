"""Splices the quoted source of a row's rule into derivative code.

    arctan2(a, b): r2 = a*a + b*b; return b / r2, -a / r2

The partial of operand 0 on core operands `u, v` becomes Let(r2, ...), Let(quotient,
div, [v, r2]).  Only the statements that this one partial needs are quoted, so only the
operands that it reads are asked for.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gast

from gradwright.transform import source as sources
from gradwright.transform.build import NOUNS, Builder, row
from gradwright.transform.core import Cell, Const, Load, Operand, Value, type_of
from gradwright.transform.indices import Linear
from gradwright.transform.liveness import assigned, used
from gradwright.transform.primitives.record import Primitive
from gradwright.transform.source import Source
from gradwright.transform.specialise.frame import Frame, Program


@dataclass(frozen=True)
class Rule:
    """A rule taken apart: for each element of what it returns, what it needs."""

    source: Source
    parameters: tuple[str, ...]
    elements: tuple[tuple[tuple[Any, ...], Any, frozenset[str]], ...]
    guarded: bool


@functools.cache
def read_rule(function: Callable[..., Any]) -> Rule:
    """The rule's statements, sliced for each partial that it returns."""
    source = sources.read(function)
    *body, last = source.node.body
    body = [s for s in body if not isinstance(s, gast.Expr)]
    returned = last.value.elts if isinstance(last.value, gast.Tuple) else [last.value]
    parameters = tuple(a.id for a in source.node.args.args)
    elements = []
    for expression in returned:
        wanted = set(used(expression))
        kept: list[Any] = []
        for s in reversed(body):
            if wanted & set(assigned([s])):
                kept.insert(0, s)
                wanted |= used(s)
        elements.append((tuple(kept), expression, frozenset(wanted & set(parameters))))
    guarded = any(isinstance(n, gast.IfExp) for n in gast.walk(source.node))
    return Rule(source, parameters, tuple(elements), guarded)


@functools.cache
def is_singular(function: Callable[..., Any]) -> bool:
    """Whether a partial may be infinite or undefined somewhere: it divides, say."""
    tree = sources.read(function).node
    powers = (gast.Div, gast.Pow, gast.FloorDiv)
    return any(
        isinstance(n, gast.BinOp) and isinstance(n.op, powers) for n in gast.walk(tree)
    )


class Rules:
    """Quotes rules into one builder; library functions that rules call are shared."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.program = Program()
        self.program.root.builder = builder

    def partial(
        self,
        p: Primitive,
        k: int,
        operand: Callable[[int], Operand],
        y: Callable[[], Operand],
    ) -> Operand:
        """The partial of operand `k`; asks for operands by position, and for y."""
        assert p.rule is not None
        rule = read_rule(p.rule)
        body, expression, needed = rule.elements[k]
        names = [n for n in rule.parameters if n != "y"]
        env = {n: operand(names.index(n)) for n in names if n in needed}
        if "y" in needed:
            env["y"] = y()
        by = self._quote(rule, body, expression, env)
        self._call_it_by(by, env.get(rule.parameters[k]))
        return by

    def _call_it_by(self, by: Operand, operand: Operand | None) -> None:
        """A partial that an expression chooses is named by what it is taken by."""
        load = self.builder.definition.get(by) if isinstance(by, Value) else None
        if (
            isinstance(load, Load)
            and isinstance(load.source, Cell)
            and load.source.choice
        ):
            is_named = isinstance(operand, Value) and operand.name not in NOUNS.values()
            name = f"by_{operand.name}" if is_named else "slope"  # type: ignore[union-attr]
            load.out.name = load.source.name = name

    def transpose(self, p: Primitive, y_bar: Operand) -> Operand:
        """A linear row's transpose of a cotangent."""
        assert p.rule is not None
        rule = read_rule(p.rule)
        body, expression, _ = rule.elements[0]
        return self._quote(rule, body, expression, {rule.parameters[0]: y_bar})

    def _quote(
        self,
        rule: Rule,
        body: tuple[Any, ...],
        expression: Any,
        env: dict[str, Operand],
    ) -> Operand:
        frame = Frame(self.program, self.program.root, rule.source, None, None)
        frame.in_rule = True
        frame.env.update(env)
        quiet = self.builder.quiet
        arrays = any(type_of(o).is_array for o in env.values())
        self.builder.quiet = quiet or (rule.guarded and arrays)
        frame.of_arrays = arrays
        where = self.builder.where
        try:
            frame.run(list(body))
            result = frame.evaluate(expression)
        finally:
            self.builder.quiet = quiet
            self.builder.where = where
        assert isinstance(result, Value | Linear | Const)
        return result


def real_part(builder: Builder, o: Operand) -> Operand:
    """The real part of a complex operand, a real one itself."""
    import numpy as np

    return builder.let(row(np.real, 1), o) if type_of(o).is_complex else o
