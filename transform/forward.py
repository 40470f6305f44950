"""Forward mode, core to core: beside every value its tangent, in one sweep.

    y = tanh(w * y)    ->    y_dot = (w_dot * y + w * y_dot) * (1 - y * y)
                             y = tanh(w * y)

A cell has a cell of tangents beside it, a tape a tape, a called function its own jvp.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gradwright.transform.activity import carries, varied
from gradwright.transform.build import Builder, constant, row
from gradwright.transform.core import (
    Alloc,
    Buffer,
    Call,
    Cell,
    For,
    Function,
    If,
    Let,
    Load,
    Operand,
    Place,
    Pop,
    Push,
    Statement,
    Store,
    Tape,
    Value,
    While,
    is_recursive,
    type_of,
)
from gradwright.transform.primitives.structural import (
    CAST,
    DISPLAY,
    FORMAT,
    NAMED,
    SPREAD,
    SUM_TO,
)
from gradwright.transform.rules import Rules, real_part
from gradwright.transform.types import Type


def tangents(
    function: Function, wrt: list[Value], program: Any = None
) -> tuple[Function, list[Value], list[Operand]]:
    """The function that also pushes tangents of `wrt` forward.

    Returns it, the parameters that take the tangents (placed before the hidden ones),
    and its results: those of the function, then their tangents.
    """
    return _Functions(program).jvp(function, wrt)


class _Functions:
    """The jvp forms of the functions of one program, made on demand."""

    def __init__(self, program: Any) -> None:
        self.program = program
        self.made: dict[Any, Function] = {}

    def jvp(
        self, function: Function, wrt: list[Value], into: Function | None = None
    ) -> tuple[Function, list[Value], list[Operand]]:
        sweep = _Sweep(self, function, wrt)
        body = sweep.block(function.body)
        with sweep.builder.nested(body):
            out = [sweep.tangent(r) for r in function.results]
        dots = [sweep.dots[p] for p in wrt]
        plain = [p for p in function.params if p not in function.hidden]
        hidden = [p for p in function.params if p in function.hidden]
        f = into or replace(function)
        f.name = f"{function.name}_jvp"
        f.params = [*plain, *dots, *hidden]
        f.body = body
        f.results = [*function.results, *out]
        return f, dots, f.results  # type: ignore[return-value]

    def called(self, function: Function, given: tuple[bool, ...]) -> Function:
        """The jvp form of a called function, for these varied arguments."""
        key = (function, given)
        if key not in self.made:
            self.made[key] = replace(function)
            wrt = [p for p, g in zip(function.params, given, strict=True) if g]
            self.jvp(function, wrt, self.made[key])  # type: ignore[arg-type]
        return self.made[key]


def _dot_of(p: Any) -> Any:
    """The parameter that takes the tangent of a parameter."""
    name = f"{p.name}_dot"
    return (
        Tape(name, p.type) if isinstance(p, Tape) else Value(name, p.type, users=True)
    )


class _Sweep:
    def __init__(
        self, functions: _Functions, function: Function, wrt: list[Value]
    ) -> None:
        self.functions = functions
        self.builder = Builder(folds=True)
        self.builder.adjoint = True
        self.rules = Rules(self.builder)
        self.dots: dict[Any, Any] = {p: _dot_of(p) for p in wrt}
        self.varied = varied(function, set(wrt))

    def tangent(self, o: Any) -> Any:
        """The tangent of an operand; zero for what does not vary."""
        if isinstance(o, Value | Place) and o in self.dots:
            return self.dots[o]
        if isinstance(o, Tape):
            empty = self.dots[o] = Tape(f"{o.name}_dot", o.type)
            self.builder.add(Alloc(empty))
            return empty
        t = type_of(o)
        if t.is_array and t.is_inexact:
            zeros = Buffer(f"{o.name}_dot", t, o)
            self.builder.add(Alloc(zeros))
            return self.builder.element(zeros, (), t, zeros.name)
        return constant(0j) if t.is_complex else constant(0.0)

    def block(self, body: list[Statement]) -> list[Statement]:
        b = self.builder
        with b.nested([]) as out:
            b.known = {}
            for s in body:
                b.where = s.where
                self.statement(s)
        return out

    def keep(self, s: Statement) -> None:
        self.builder.block.append(s)

    def statement(self, s: Statement) -> None:
        b = self.builder
        match s:
            case Let():
                self.keep(s)
                if s.out in self.varied:
                    self.dots[s.out] = self._let(s)
            case Load():
                self.keep(s)
                if s.out in self.varied:
                    out = Value(f"{s.out.name}_dot", s.out.type)
                    b.add(Load(out, self.dots[s.source], s.index, safe=True))
                    self.dots[s.out] = out
            case Alloc():
                self.keep(s)
                if s.place in self.varied:
                    b.add(Alloc(self._place(s.place)))
            case Store():
                if s.place in self.varied:
                    dot = self.tangent(s.operand)
                    if not (s.accumulate and dot == constant(0.0)):
                        b.add(Store(self.dots[s.place], dot, s.index, s.accumulate))
                self.keep(s)
            case Push():
                if s.tape in self.varied:
                    b.add(Push(self.dots[s.tape], self.tangent(s.operand)))
                self.keep(s)
            case Pop():
                self.keep(s)
                if s.tape in self.varied:
                    kind: type[Tape | Value]
                    kind = Tape if isinstance(s.out, Tape) else Value
                    popped = kind(f"{s.out.name}_dot", s.out.type)
                    b.add(Pop(popped, self.dots[s.tape]))
                    self.dots[s.out] = popped
            case For():
                self.keep(replace(s, body=self.block(s.body)))
            case While():
                self.keep(replace(s, header=s.header, body=self.block(s.body)))
            case If():
                then, orelse = self.block(s.then), self.block(s.orelse)
                self.keep(replace(s, then=then, orelse=orelse))
            case Call():
                self._call(s)
            case _:
                self.keep(s)

    def _place(self, p: Place) -> Place:
        name = f"{p.name}_dot"
        dot: Place
        if isinstance(p, Buffer):
            dot = Buffer(name, p.type, p.like)
        elif isinstance(p, Cell):
            dot = Cell(name, p.type, p.choice)
        else:
            dot = Tape(name, p.type)
        self.dots[p] = dot
        return dot

    def _let(self, s: Let) -> Operand:
        """The tangent of one primitive's result."""
        b, p = self.builder, s.primitive
        if p in (NAMED, FORMAT):
            same: Operand = self.tangent(s.operands[0])
            return same
        if p is DISPLAY:
            parts = [self.tangent(o) for o in s.operands]
            return b.let(DISPLAY, *parts, attribute=s.attribute, type=s.out.type)
        if p in (CAST, SUM_TO):
            dot = self.tangent(s.operands[0])
            return b.let(p, dot, attribute=s.attribute, type=s.out.type)
        if p is SPREAD:
            return b.let(p, self.tangent(s.operands[0]), s.operands[1], type=s.out.type)
        if p.kind == "linear":
            return b.let(p, self.tangent(s.operands[0]))
        if p.function is np.where:
            sides = (self.tangent(o) for o in s.operands[1:])
            return self._fitted(b.let(p, s.operands[0], *sides), s.out.type, s.out)
        total: Operand | None = None
        for k, o in enumerate(s.operands):
            if o not in self.varied:
                continue
            partial = self.rules.partial(p, k, lambda j: s.operands[j], lambda: s.out)
            term = b.multiply(partial, self.tangent(o))
            if p.kind == "reduction":
                term = b.let(row(np.sum, 1), term)
            total = term if total is None else b.add_up(total, term)
        assert total is not None
        return self._fitted(total, s.out.type, s.out)

    def _fitted(self, dot: Operand, t: Type, like: Value) -> Operand:
        """The tangent in the shape and realness of the primal."""
        if not t.is_complex:
            dot = real_part(self.builder, dot)
        here = type_of(dot)
        if t.is_array and here.dims != t.dims:
            dot = self.builder.let(SPREAD, dot, like, type=replace(here, dims=t.dims))
        if isinstance(dot, Value) and not dot.name.endswith("_dot"):
            dot.name, dot.users = f"{like.name}_dot", like.users
        return dot

    def _call(self, s: Call) -> None:
        given = tuple(o in self.varied for o in s.operands)
        if not any(given):
            self.keep(s)
            return
        if is_recursive(s.function):  # one form of it, whatever the call
            given = tuple(carries(p) for p in s.function.params)
        f = self.functions.called(s.function, given)
        dots = [self.tangent(o) for o, g in zip(s.operands, given, strict=True) if g]
        outs: list[Any] = list(s.outs)
        for o in s.outs:
            self.dots[o] = dot = _dot_of(o)
            outs.append(dot)
        self.keep(Call(tuple(outs), f, (*s.operands, *dots), where=s.where))
