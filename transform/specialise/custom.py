"""Calls of functions with rules of the user's own: custom_jvp, custom_vjp, custom_vmap.

The function and its rules become functions of the program, each for the kinds of this
call; the transforms take the rules in the place of the function's body.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import gast

from gradwright.transform.core import Const, Value, program, type_of
from gradwright.transform.custom import Batching, Custom, Rule, has_rules
from gradwright.transform.errors import Location, UnsupportedSyntax
from gradwright.transform.indices import Linear, linear
from gradwright.transform.source import Source
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
from gradwright.transform.types import INT, array, element_dtype


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
    of_batches = made.__gradwright_custom__ == "batches"
    fun = _part(frame, function, "fun")
    source, closure = _source_of(frame, fun, node)
    given = [_opened(frame, a) for a in arguments]
    named = {n: _opened(frame, a) for n, a in keywords.items()}
    bound = bind_arguments(frame, source, closure, given, named, node)
    rules = (made.batch,) if of_batches else (made.jvp, made.fwd, made.bwd)
    label = "custom", id(made), *map(id, rules)
    unit, operands = separate_unit(frame, source, closure, bound, node, label)
    if not has_rules(unit.function):
        given = _given_to(source, bound)
        (_BatchRule if of_batches else _Derivatives)(
            frame, function, unit, given, node, source.location(source.node)
        )
    extra = [c.operand_in(frame) for c in unit.captures.values()]
    extra += [c.operand_in(frame) for c in unit.borrowed]
    return emit_custom(frame, unit, [*operands, *extra])


def _part(frame: Frame, function: Static, name: str) -> Any:
    """The function or a rule of it, which must be the same at every call."""
    value = getattr(function.value, name)
    if function.path is None:
        return Static(value)
    return frame.wrap(value, function.path.attribute(name))


def _given_to(source: Source, bound: dict[str, Any]) -> list[Any]:
    """The arguments as a call gives them: those behind a star one by one."""
    star = source.node.args.vararg
    found: list[Any] = []
    for name, a in bound.items():
        found += a.items if star is not None and name == star.id else [a]
    return found


class _Rules:
    """The rules of one function, for the kinds of one call."""

    def __init__(
        self, frame: Frame, function: Static, unit: Unit, given: list[Any], node: Any
    ) -> None:
        self.frame, self.unit, self.node = frame, unit, node
        self.function, self.name = function, unit.name
        self.own = _known_apart(unit.value)
        self.marks: dict[Any, Any] = {}
        self.returned: Location | None = None  # where the last rule returns
        self.all = [mapped(self.stand_in, a) for a in given]
        self.count = len(self.marks)
        own = [c.param for c in unit.captures.values()]
        if len(unit.params) != self.count + len(own):
            raise self.refused(f"a call of {self.name} with what must be known")
        unit.borrowed = []

    def check_captured(self, rules: Iterable[Rule | None]) -> None:
        """What a rule captures goes through every call of the function."""
        called = [g for r in rules if r is not None for g in program(r.function)]
        if self.unit.borrowed and self.unit.function in called:
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
        ends = [n for n in gast.walk(source.node) if isinstance(n, gast.Return)]
        self.returned = source.location(ends[-1] if ends else source.node)
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


# ---- derivatives -------------------------------------------------------------------


class _Derivatives(_Rules):
    """Those of custom_jvp and custom_vjp."""

    def __init__(
        self,
        frame: Frame,
        function: Static,
        unit: Unit,
        given: list[Any],
        node: Any,
        where: Location,
    ) -> None:
        super().__init__(frame, function, unit, given, node)
        made = function.value
        nondiff = made.nondiff_argnums
        self.fixed = [self.all[k] for k in nondiff]
        self.primals = [a for k, a in enumerate(self.all) if k not in nondiff]
        fixed = [v for a in self.fixed for v in leaves(a) if is_operand(v)]
        self.custom = Custom(
            self.name,
            self.count,
            where,
            fixed=frozenset(self.position(v) for v in fixed),
        )
        unit.function.custom = self.custom  # a rule may call the function
        if made.jvp is not None:
            self.jvp()
        if made.fwd is not None:
            self.vjp()
        self.check_captured((self.custom.jvp, self.custom.fwd, self.custom.bwd))

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
        self.same(value, self.own, "the value of the jvp rule")
        self.same(tangent, self.own, "the tangent of the jvp rule")
        own = [v for v in leaves(self.own) if is_operand(v)]
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
        self.same(value, self.own, "the value of the forward rule")
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
        at = list(range(sum(1 for v in leaves(self.own) if is_operand(v))))
        bars = self.dots(self.own, "bar", at)
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


# ---- all samples -------------------------------------------------------------------


class _BatchRule(_Rules):
    """That of custom_vmap, for each choice of the arguments that is asked for."""

    def __init__(
        self,
        frame: Frame,
        function: Static,
        unit: Unit,
        given: list[Any],
        node: Any,
        where: Location,
    ) -> None:
        super().__init__(frame, function, unit, given, node)
        kinds = tuple(_kind(leaf) for a in given for leaf in leaves(a))
        key = id(function.value), kinds
        rules: Any = None if function.value.batch is None else {}
        self.batching = Batching(self.name, self.count, where, key, rules)
        unit.function.batching = self.batching  # the rule may call the function
        if rules is None:
            return
        for of, differ in [*frame.program.wanted]:
            if of == key:
                self.batch(differ)
        self.check_captured(rules.values())

    def batch(self, differ: tuple[bool, ...]) -> None:
        """The rule where the samples differ in these arguments."""

        def all_samples(leaf: Any) -> Any:
            if not is_operand(leaf) or not differ[self.position(leaf)]:
                return leaf
            t = type_of(leaf)
            dims = (linear(-1), *(t.dims or ()))
            whole = Value(getattr(leaf, "name", "value"), array(element_dtype(t), dims))
            self.marks[whole] = self.position(leaf)
            return whole

        def in_batched(leaf: Any) -> Any:
            return Static(is_operand(leaf) and differ[self.position(leaf)])

        size = self.mark("axis_size", Value("axis_size", INT), "size")
        marks = Structure(list, tuple(mapped(in_batched, a) for a in self.all))
        arguments = [mapped(all_samples, a) for a in self.all]
        unit, given = self.rule("batch", [size, marks, *arguments])
        value = _known_apart(unit.value)
        if not isinstance(value, Structure) or len(value.items) != 2:
            if _never_ends(value):
                raise self.wrong("never returns: it raises, whatever the numbers are")
            raise self.wrong(
                f"returns {describe(value)}, where a pair of the results and of what "
                f"is batched is needed"
            )
        found, batched = value.items
        own = self.own
        outs: list[Any] = []
        apart: list[bool] = []
        for r, out, mark in self.results(found, own, batched):
            self.check(r, out, mark)
            outs.append(r)
            apart.append(mark)
        unit.function.results = [*outs]
        assert self.batching.rules is not None
        equal = [*unit.equal_dims]
        self.batching.rules[differ] = Rule(unit.function, given, [*outs], equal)
        self.batching.batched[differ] = apart

    def results(self, found: Any, own: Any, batched: Any) -> Iterator[Any]:
        """Each result of the rule, that of the function, whether the samples differ."""
        if isinstance(own, Structure):
            for what, a in (("returns", found), ("says what is batched in", batched)):
                alike = isinstance(a, Structure) and a.form == own.form
                if not alike:
                    raise self.wrong(
                        f"{what} {describe(a)}, where {describe(own)} is needed"
                    )
            for three in zip(found.items, own.items, batched.items, strict=True):
                yield from self.results(*three)
            return
        if not is_operand(own):
            if isinstance(found, Structure) or is_operand(found):
                raise self.wrong(f"returns {describe(found)} for {describe(own)}")
            return
        if not isinstance(batched, Const) or not isinstance(batched.value, bool):
            raise self.wrong(
                f"says with {describe(batched)} whether a result is batched, where "
                f"True or False is needed"
            )
        yield found, own, batched.value

    def check(self, found: Any, own: Any, is_batched: bool) -> None:
        """A result is of the kind that all samples of the function's own have."""
        t = type_of(own)
        rank = t.rank + is_batched
        if not is_operand(found) or type_of(found).rank != rank:
            axis = " with the samples along axis 0" if is_batched else ""
            needed = f"an array with {rank} axes" if rank else "a number"
            raise self.wrong(
                f"returns {describe(found)}, where {needed}{axis} is needed"
            )
        dtype = element_dtype(type_of(found))
        if dtype != element_dtype(t):
            raise self.wrong(
                f"returns numbers of type {dtype}, and the function itself returns "
                f"{element_dtype(t)}"
            )

    def wrong(self, text: str) -> UnsupportedSyntax:
        """The error for what a rule returns."""
        return UnsupportedSyntax(
            f"the rule for vmap of {self.name} {text}", at=self.returned
        )


def _never_ends(value: Any) -> bool:
    """Whether a function raises whatever it is given, so that nothing comes of it."""
    return isinstance(value, Const) and value.value != value.value


def _kind(leaf: Any) -> Any:
    """What tells one call from another: the kind of a number, or what is known."""
    if is_operand(leaf):
        t = type_of(leaf)
        return t.dtype, t.python, tuple(d.constant for d in t.dims or ())
    held = getattr(leaf, "value", None)
    return held if isinstance(held, str | bool | int | float) else type(held).__name__


def _known_apart(value: Any) -> Any:
    """A result whose None and texts are known, and no part of what runs."""

    def known(leaf: Any) -> Any:
        is_text = isinstance(leaf, Const) and not leaf.type.is_number
        return Static(leaf.value) if is_text else leaf

    return mapped(known, value)


def _is_structured(a: Any) -> bool:
    return isinstance(a, Structure) or is_operand(a)
