"""Calls of functions with derivatives of the user's own: custom_jvp, custom_vjp.

The function and its rules become functions of the program, each for the kinds of this
call; the transforms take the rules in the place of the function's body.
"""

from __future__ import annotations

from typing import Any

from gradwright.transform.core import Const, Value, program, type_of
from gradwright.transform.custom import Custom, Rule
from gradwright.transform.errors import Location, UnsupportedSyntax
from gradwright.transform.indices import Linear, linear
from gradwright.transform.specialise.abstract import (
    Static,
    Structure,
    as_constant,
    describe,
    is_operand,
    leaves,
    mapped,
)
from gradwright.transform.specialise.frame import Frame, Unit
from gradwright.transform.specialise.nested import _opened, _source_of


def call_custom(
    frame: Frame,
    function: Static,
    arguments: list[Any],
    keywords: dict[str, Any],
    node: Any,
) -> Any:
    """The call, and the rules beside the function."""
    from gradwright.transform.specialise.calls import bind_arguments
    from gradwright.transform.specialise.units import emit_custom, separate_unit

    made = function.value
    fun = _part(frame, function, "fun")
    source, closure = _source_of(frame, fun, node)
    given = [_opened(frame, a) for a in arguments]
    named = {n: _opened(frame, a) for n, a in keywords.items()}
    bound = bind_arguments(frame, source, closure, given, named, node)
    label = "custom", id(made), id(made.jvp), id(made.fwd), id(made.bwd)
    unit, operands = separate_unit(frame, source, closure, bound, node, label)
    if unit.function.custom is None:
        where = source.location(source.node)
        _Rules(frame, function, unit, bound, node, where)
    extra = [c.operand_in(frame) for c in unit.captures.values()]
    extra += [c.operand_in(frame) for c in unit.borrowed]
    return emit_custom(frame, unit, [*operands, *extra])


def _part(frame: Frame, function: Static, name: str) -> Any:
    """The function or a rule of it, which must be the same at every call."""
    value = getattr(function.value, name)
    if function.path is None:
        return Static(value)
    return frame.wrap(value, function.path.attribute(name))


class _Rules:
    """The rules of one function, for the kinds of one call."""

    def __init__(
        self,
        frame: Frame,
        function: Static,
        unit: Unit,
        bound: dict[str, Any],
        node: Any,
        where: Location,
    ) -> None:
        self.frame, self.unit, self.node, self.bound = frame, unit, node, bound
        self.function = function
        made = function.value
        self.name = unit.name
        self.marks: dict[Any, Any] = {}
        nondiff = made.nondiff_argnums
        standing = {n: mapped(self.stand_in, a) for n, a in bound.items()}
        self.count = len(self.marks)
        values = list(standing.values())
        self.fixed = [values[k] for k in nondiff]
        self.primals = [a for k, a in enumerate(values) if k not in nondiff]
        self.all = values
        own = [c.param for c in unit.captures.values()]
        if len(unit.params) != self.count + len(own):
            raise self.refused(f"a call of {self.name} with what must be known")
        fixed = [v for a in self.fixed for v in leaves(a) if is_operand(v)]
        self.custom = Custom(
            self.name,
            self.count,
            where,
            fixed=frozenset(self.position(v) for v in fixed),
        )
        unit.function.custom = self.custom  # a rule may call the function
        unit.borrowed = []
        if made.jvp is not None:
            self.jvp()
        if made.fwd is not None:
            self.vjp()
        rules = (self.custom.jvp, self.custom.fwd, self.custom.bwd)
        called = [g for r in rules if r is not None for g in program(r.function)]
        if unit.borrowed and unit.function in called:
            raise self.refused(
                f"a rule of {self.name} that calls it, and captures a number or array"
            )

    def stand_in(self, leaf: Any) -> Any:
        """A value for a number or array of the arguments, by its position."""
        leaf = as_constant(leaf)
        if not is_operand(leaf) or (
            isinstance(leaf, Const) and not leaf.type.is_number
        ):
            return Static(leaf.value) if isinstance(leaf, Const) else leaf
        return self.mark(getattr(leaf, "name", "value"), leaf, len(self.marks))

    def mark(self, name: str, like: Any, place: Any) -> Any:
        v = Value(name, type_of(like), users=True)
        self.marks[v] = place
        return Linear({v: 1}) if v.type.python and v.type.dtype == "int" else v

    def rule(self, name: str, arguments: list[Any]) -> tuple[Unit, list[Any]]:
        """A rule as a function, and what its operands are."""
        from gradwright.transform.specialise.calls import bind_arguments
        from gradwright.transform.specialise.units import separate_unit

        held = _part(self.frame, self.function, name)
        source, closure = _source_of(self.frame, held, self.node)
        bound = bind_arguments(self.frame, source, closure, arguments, {}, self.node)
        unit, operands = separate_unit(
            self.frame, source, closure, bound, self.node, ("rule", id(self.unit))
        )
        given = []
        for o in operands:
            v = next(iter(o.symbols())) if isinstance(o, Linear) and o.terms else o
            if v not in self.marks:
                raise self.refused(f"a rule of {self.name} that is given what is known")
            given.append(self.marks[v])
        for c in unit.captures.values():
            given.append(len(self.unit.params))
            self.unit.borrowed.append(c)
            self.unit.param(getattr(c.param, "name", "count"), type_of(c.param))
        self.unit.function.params = self.unit.params
        return unit, given

    def pair(self, unit: Unit, what: str) -> tuple[Any, Any]:
        value = _known_apart(unit.value)
        if not isinstance(value, Structure) or len(value.items) != 2:
            raise self.refused(f"{what} of {self.name} returns {describe(value)}")
        return value.items[0], value.items[1]

    def dots(self, like: Any, kind: str, at: list[int]) -> Any:
        """Tangents or cotangents beside numbers; zero beside what has none."""

        def dot(leaf: Any) -> Any:
            if not is_operand(leaf):
                return leaf
            k = at.pop(0)
            if isinstance(leaf, Linear) or not type_of(leaf).is_inexact:
                return linear(0)
            suffix = "_dot" if kind == "dot" else "_bar"
            return self.mark(
                f"{getattr(leaf, 'name', 'value')}{suffix}", leaf, (kind, k)
            )

        return mapped(dot, like)

    def jvp(self) -> None:
        at = [
            self.position(v)
            for v in leaves(Structure(tuple, tuple(self.primals)))
            if is_operand(v)
        ]
        primals = Structure(tuple, tuple(self.primals))
        tangents = self.dots(primals, "dot", at)
        unit, given = self.rule("jvp", [*self.fixed, primals, tangents])
        value, tangent = self.pair(unit, "the jvp rule")
        self.same(value, self.unit.value, "the value of the jvp rule")
        self.same(tangent, self.unit.value, "the tangent of the jvp rule")
        own = [v for v in leaves(self.unit.value) if is_operand(v)]
        dots = [v for v in leaves(tangent) if is_operand(v)]
        outs = [v for v in leaves(value) if is_operand(v)]
        ends = [
            d if type_of(v).is_inexact and not isinstance(v, Linear) else None
            for v, d in zip(own, dots, strict=True)
        ]
        self.custom.jvp = Rule(unit.function, given, [*outs, *ends])

    def vjp(self) -> None:
        unit, given = self.rule("fwd", self.all)
        value, residuals = self.pair(unit, "the forward rule")
        self.same(value, self.unit.value, "the value of the forward rule")
        outs = [v for v in leaves(value) if is_operand(v)]
        kept = [v for v in leaves(residuals) if is_operand(v)]
        self.custom.fwd = Rule(unit.function, given, [*outs, *kept])
        count = iter(range(len(kept)))

        def residual(leaf: Any) -> Any:
            if not is_operand(leaf):
                return leaf
            return self.mark(
                getattr(leaf, "name", "value"), leaf, ("residual", next(count))
            )

        held = mapped(residual, residuals)
        at = list(range(sum(1 for v in leaves(self.unit.value) if is_operand(v))))
        bars = self.dots(self.unit.value, "bar", at)
        unit, given = self.rule("bwd", [*self.fixed, held, bars])
        found = _known_apart(unit.value)
        if not isinstance(found, Structure) or len(found.items) != len(self.primals):
            raise self.refused(
                f"the backward rule of {self.name} returns {describe(found)}, and "
                f"there are {len(self.primals)} arguments"
            )
        ends: list[Any] = [None] * self.count
        for a, g in zip(self.primals, found.items, strict=True):
            if isinstance(g, Static) and g.value is None:
                continue
            self.same(g, a, "a cotangent of the backward rule")
            for v, bar in zip(leaves(a), leaves(g), strict=True):
                if is_operand(v) and is_operand(bar):
                    ends[self.position(v)] = bar
        self.custom.bwd = Rule(unit.function, given, ends)

    def position(self, v: Any) -> int:
        v = next(iter(v.symbols())) if isinstance(v, Linear) else v
        found: int = self.marks[v]
        return found

    def same(self, found: Any, wanted: Any, what: str) -> None:
        """Two structures are alike, their leaves of one rank."""
        if isinstance(found, Structure) and isinstance(wanted, Structure):
            if len(found.items) == len(wanted.items) and found.keys == wanted.keys:
                for a, b in zip(found.items, wanted.items, strict=True):
                    self.same(a, b, what)
                return
        elif is_operand(found) and is_operand(wanted):
            a, b = type_of(found), type_of(wanted)
            if a.rank == b.rank or (a.is_number and not b.is_inexact):
                return
        elif not any(
            isinstance(a, Structure) or is_operand(a) for a in (found, wanted)
        ):
            return
        raise self.refused(
            f"{what} of {self.name} is {describe(found)}, where {describe(wanted)} is "
            f"needed"
        )

    def refused(self, text: str) -> Exception:
        return self.frame.error(UnsupportedSyntax, text, self.node)


def _known_apart(value: Any) -> Any:
    """A result whose None and texts are known, and no part of what runs."""

    def known(leaf: Any) -> Any:
        is_text = isinstance(leaf, Const) and not leaf.type.is_number
        return Static(leaf.value) if is_text else leaf

    return mapped(known, value)


def _is_structured(a: Any) -> bool:
    return isinstance(a, Structure) or is_operand(a)
