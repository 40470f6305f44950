"""Splices the quoted source of a row's rule into derivative code.

    arctan2(a, b): r2 = a*a + b*b; return b / r2, -a / r2

The partial of operand 0 on core operands `u, v` becomes Let(r2, ...), Let(quotient,
div, [v, r2]).  Only the statements that this one partial needs are quoted, so only the
operands that it reads are asked for.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import gast
import numpy as np

from gradwright.transform import source as sources
from gradwright.transform.activity import active
from gradwright.transform.build import NOUNS, Builder, constant, row
from gradwright.transform.core import (
    Alloc,
    Cell,
    Const,
    Function,
    If,
    Let,
    Load,
    Operand,
    Value,
    type_of,
    walk,
)
from gradwright.transform.indices import Linear, linear
from gradwright.transform.liveness import assigned, used
from gradwright.transform.primitives.record import CLIP, Primitive
from gradwright.transform.source import Source
from gradwright.transform.specialise.abstract import (
    Static,
    Structure,
    is_operand,
    leaves,
)
from gradwright.transform.specialise.findings import Findings
from gradwright.transform.specialise.frame import Frame, Program
from gradwright.transform.template import Hole, Sequence, Template
from gradwright.transform.types import FLOAT, Type

SHAPES = ("shape", "ndim", "dtype", "size")  # what is known of an array without it
OF_RULES = Findings()  # which stay, as their source does

SELECTIONS = (np.where, np.maximum, np.minimum, np.fmax, np.fmin, CLIP)


def flows_into_choices(function: Function, wrt: set[Any]) -> set[Any]:
    """What varies, and may not be taken by a choice behind it."""
    given = {
        o
        for s in walk(function.body)
        if isinstance(s, Let) and s.primitive.function in SELECTIONS
        for o in s.operands
    }
    return active(function, wrt, given) if given else set()


@dataclass(frozen=True)
class Element:
    """One of the values that a rule returns, with the statements that it needs.

    needed: the parameters that it reads.  valued: those of which it reads more than
    the shape.
    """

    body: tuple[Any, ...]
    expression: Any
    needed: frozenset[str]
    valued: frozenset[str]


@dataclass(frozen=True)
class Rule:
    """A rule taken apart: for each element of what it returns, what it needs."""

    source: Source
    parameters: tuple[str, ...]
    elements: tuple[Element, ...]


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
        needed = frozenset(wanted & set(parameters))
        valued = frozenset(_valued([*kept, expression]) & needed)
        elements.append(Element(tuple(kept), expression, needed, valued))
    return Rule(source, parameters, tuple(elements))


def _valued(nodes: list[Any]) -> set[str]:
    """The names of which more is read than `.shape` and the like."""
    found: list[str] = []
    shapes: set[int] = set()
    for n in (n for node in nodes for n in gast.walk(node)):
        if isinstance(n, gast.Attribute) and n.attr in SHAPES:
            shapes.add(id(n.value))
        elif isinstance(n, gast.Name) and id(n) not in shapes:
            found.append(n.id)
    return set(found)


@functools.cache
def is_singular(function: Callable[..., Any]) -> bool:
    """Whether a partial may be infinite or undefined somewhere: it divides, say."""
    tree = sources.read(function).node
    powers = (gast.Div, gast.Pow, gast.FloorDiv)
    return any(
        isinstance(n, gast.BinOp) and isinstance(n.op, powers) for n in gast.walk(tree)
    )


@functools.cache
def has_poles(function: Callable[..., Any]) -> bool:
    """Whether a partial may be infinite: the rule says where, or it divides."""
    return is_singular(function) or any(
        map(_may_be_infinite, read_rule(function).elements)
    )


def _may_be_infinite(element: Element) -> bool:
    """Whether a partial is infinite somewhere: its rule says so."""
    nodes = (n for node in (*element.body, element.expression) for n in gast.walk(node))
    return any(isinstance(n, gast.Attribute) and n.attr == "inf" for n in nodes)


class Rules:
    """Quotes rules into one builder; library functions that rules call are shared."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.program = Program(findings=OF_RULES)
        self.program.root.builder = builder
        self.unbounded: set[Operand] = set()  # partials that may be infinite

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
        element = rule.elements[k]
        names = [n for n in rule.parameters if n != "y"]
        env = {n: operand(names.index(n)) for n in names if n in element.needed}
        if "y" in element.needed:
            env["y"] = y()
        by = self._operand(self._quote(rule, element, env))
        self._call_it_by(by, env.get(rule.parameters[k]))
        made = self.builder.definition.get(by) if isinstance(by, Value) else None
        if _may_be_infinite(element) and isinstance(made, Load):  # that is chosen here
            self.unbounded.add(by)
        return by

    def note_product(self, made: Operand, partial: Operand) -> None:
        """A product of a partial; infinity times zero is nothing to warn of."""
        s = self.builder.definition.get(made) if isinstance(made, Value) else None
        if partial in self.unbounded and isinstance(s, Let) and not s.out.type.python:
            s.quiet = True

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

    def signed(
        self,
        function: Callable[..., Any],
        k: int,
        template: Template,
        access: Access,
        extra: dict[str, Callable[[], Any]],
    ) -> Any:
        """Element `k` of a rule that takes arguments by name: an operand, or several.

        `template` holds the arguments of the primitive, `access` says how its operands
        are had here, and `extra` what else the rule may ask for: y, y_bar, x_dot.
        """
        rule = read_rule(function)
        element = rule.elements[k]
        env: dict[str, Any] = {}
        for n in rule.parameters:
            if n not in element.needed:
                continue
            if n in extra:
                env[n] = extra[n]()
                continue
            read = access.value if n in element.valued else access.shape
            env[n] = _abstract(template[n], read)
        return self._quote(rule, element, env)

    def _operand(self, result: Any) -> Operand:
        assert isinstance(result, Value | Linear | Const)
        return result

    def _quote(self, rule: Rule, element: Element, env: dict[str, Any]) -> Any:
        frame = Frame(self.program, self.program.root, rule.source, None, None)
        frame.in_rule = True
        frame.env.update(env)
        written = len(self.builder.block)
        self.program.chose = False
        given = [o for a in env.values() for o in leaves(a) if is_operand(o)]
        arrays = any(type_of(o).is_array for o in given)
        frame.of_arrays = arrays
        where = self.builder.where
        try:
            frame.run(list(element.body))
            return frame.evaluate(element.expression)
        finally:
            self.builder.where = where
            if self.program.chose:  # elements that are not chosen may warn
                for s in self.builder.block[written:]:
                    if isinstance(s, Let) and _may_warn(s.primitive):
                        s.quiet = True


@dataclass(frozen=True)
class Access:
    """How the operands of a primitive are had where its rule is quoted, by position.

    `shape` gives something of the operand's type; its elements are not read.
    """

    value: Callable[[int], Any]
    shape: Callable[[int], Any]


def _abstract(argument: Any, operand: Callable[[int], Any]) -> Any:
    """An argument of a template as the specialiser knows it."""
    if isinstance(argument, Hole):
        return operand(argument.position)
    if isinstance(argument, Sequence):
        items = tuple(_abstract(i, operand) for i in argument.items)
        return Structure(argument.kind, items)
    if isinstance(argument, bool | int | float | complex):
        return constant(argument)
    return Static(argument)


def _may_warn(p: Primitive) -> bool:
    """Whether an operation may warn: a comparison and a choice do not."""
    return p.kind != "constant" and p.function is not np.where


def if_it_counts(
    b: Builder, counts: Operand, product: Callable[[], Operand]
) -> Operand:
    """A product of numbers, or zero: it is not formed where it does not count."""
    cell = Cell("product", FLOAT, choice=True)
    b.add(Alloc(cell))
    with b.nested([]) as then:
        made = product()
        cell.type = type_of(made)
        b.store(cell, made)
    with b.nested([]) as orelse:
        b.store(cell, constant(0j if cell.type.is_complex else 0.0))
    b.add(If(counts, then, orelse))
    return b.load(cell)


# ---- reductions --------------------------------------------------------------------


def reduction_partial(rules: Rules, s: Let, need: Callable[[Any], Any]) -> Operand:
    """The partials of a reduction, in the shape of its operand or as one number."""
    p = s.primitive
    assert p.rule is not None
    template = p.template(s.attribute)
    (x,) = s.operands
    access = Access(lambda k: need(s.operands[k]), lambda k: shape_of(x, need))

    def result() -> Operand:
        return with_axes(rules.builder, template, need(s.out), type_of(x))

    partial = rules.signed(p.rule, 0, template, access, {"y": result})
    assert isinstance(partial, Value | Linear | Const)
    return partial


def shape_of(o: Operand, need: Callable[[Any], Any]) -> Operand:
    """A stand-in of an operand's type, whose dims can be had where `need` is asked."""
    t = type_of(o)
    if isinstance(o, Linear):
        return need(o)  # type: ignore[no-any-return]
    if t.dims is None or not isinstance(o, Value):
        return o
    return Value(o.name, replace(t, dims=tuple(need(d) for d in t.dims)))


def over_axes(b: Builder, template: Template, x: Operand, out: Type) -> Operand:
    """The sum over the axes that a reduction removes; `out` is its result's type."""
    p = row(np.sum, 1)
    t = replace(out, dtype=type_of(x).dtype)
    axis, keepdims = template["axis"], template["keepdims"]
    if axis is None and not keepdims:
        return b.let(p, x, type=t)
    arguments = (("x", Hole(0)), ("axis", axis), ("keepdims", keepdims))
    return b.let(p, x, attribute=Template(arguments), type=t)


def with_axes(b: Builder, template: Template, g: Operand, x: Type) -> Operand:
    """A reduction's result or its cotangent, with the axes that went as ones."""
    axis = template["axis"]
    if axis is None or template["keepdims"]:
        return g  # it stretches as it is
    axes = axis.items if isinstance(axis, Sequence) else (axis,)
    gone = {k % x.rank for k in axes}
    left = list(type_of(g).dims or ())
    dims: list[Linear] = []
    for k in reversed(range(x.rank)):
        if not left:
            break  # leading axes stretch by themselves
        dims.insert(0, linear(1) if k in gone else left.pop())
    made = len(dims) - type_of(g).rank
    if made == 0:
        return g
    if len(dims) < x.rank:  # a cotangent that lacks leading axes itself
        axes = tuple(k - x.rank for k in sorted(gone))[-made:]
        axis = axes[0] if made == 1 else Sequence(tuple, axes)
    arguments = (("a", Hole(0)), ("axis", axis))
    return b.let(
        row(np.expand_dims, 1),
        g,
        attribute=Template(arguments),
        type=replace(type_of(g), dims=tuple(dims)),
        name=getattr(g, "name", "part"),
    )


def real_part(builder: Builder, o: Operand) -> Operand:
    """The real part of a complex operand, a real one itself."""
    return builder.let(row(np.real, 1), o) if type_of(o).is_complex else o
