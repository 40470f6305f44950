"""Forward mode, core to core: beside every value its tangent, in one sweep.

    y = tanh(w * y)    ->    y_dot = (w_dot * y + w * y_dot) * (1 - y * y)
                             y = tanh(w * y)

A cell has a cell of tangents beside it, a tape a tape, a called function its own jvp.
"""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import Any

import numpy as np

from gradwright.transform.activity import carries, varied
from gradwright.transform.build import Builder, constant, row
from gradwright.transform.core import (
    AddUp,
    Alloc,
    At,
    Buffer,
    Call,
    Cell,
    Const,
    For,
    Function,
    If,
    Insert,
    Length,
    Let,
    List,
    Load,
    Operand,
    Place,
    Pop,
    Push,
    Remove,
    Statement,
    Store,
    Take,
    Tape,
    Value,
    While,
    defines,
    is_recursive,
    reads,
    stores,
    type_of,
    walk,
)
from gradwright.transform.custom import jvp_form
from gradwright.transform.indices import Linear, linear, symbol
from gradwright.transform.mixed import Mixed, shapes
from gradwright.transform.primitives.collectives import PMAX, PMIN, no_derivative
from gradwright.transform.primitives.structural import (
    CAST,
    CONJUGATE,
    COPY,
    DISPLAY,
    FORMAT,
    ITEM,
    NAMED,
    SPREAD,
    SUM_TO,
)
from gradwright.transform.rules import (
    SELECTIONS,
    Access,
    Rules,
    flows_into_choices,
    has_poles,
    if_it_counts,
    over_axes,
    real_part,
    reduction_partial,
)
from gradwright.transform.specialise.abstract import Structure
from gradwright.transform.template import Template, holes
from gradwright.transform.types import INT, Type


def tangents(
    function: Function, wrt: list[Value], program: Any = None
) -> tuple[Function, list[Value], list[Operand]]:
    """The function that also pushes tangents of `wrt` forward.

    Returns it, the parameters that take the tangents (placed before the hidden ones),
    and its results: those of the function, then their tangents.
    """
    return Functions(program, Sweep).jvp(function, wrt)


class Functions:
    """The jvp forms of the functions of one program, made on demand."""

    def __init__(self, program: Any, sweep: type[Sweep]) -> None:
        self.program = program
        self.sweep = sweep
        self.made: dict[Any, Function] = {}

    def jvp(
        self, function: Function, wrt: list[Value], into: Function | None = None
    ) -> tuple[Function, list[Value], list[Operand]]:
        sweep = self.sweep(self, function, wrt)
        body = sweep.block(function.body)
        with sweep.builder.nested(body):
            out = [sweep.tangent(r) for r in function.results]
        dots = [sweep.dots[p] for p in wrt]
        plain = [p for p in function.params if p not in function.hidden]
        hidden = [p for p in function.params if p in function.hidden]
        f = into or replace(function)
        f.name = f"{function.name}_{sweep.suffix}"
        f.params = [*plain, *dots, *hidden]
        f.body = body
        f.results = [*function.results, *out]
        return f, dots, f.results  # type: ignore[return-value]

    def called(self, function: Function, given: tuple[bool, ...]) -> Function:
        """The jvp form of a called function, for these varied arguments."""
        key = (function, given)
        if function.custom is not None and key not in self.made:
            self.made[key] = jvp_form(function, given)
        if key not in self.made:
            self.made[key] = replace(function, batching=None)
            wrt = [p for p, g in zip(function.params, given, strict=True) if g]
            self.jvp(function, wrt, self.made[key])  # type: ignore[arg-type]
        return self.made[key]


def _is_choice(s: Statement) -> bool:
    """Whether something may not be taken here, whatever its tangent is."""
    return isinstance(s, Let) and s.primitive.function in SELECTIONS


class Sweep:
    """The statements of a function, each with what it does to tangents."""

    suffix = "jvp"

    def __init__(
        self, functions: Functions, function: Function, wrt: list[Value]
    ) -> None:
        self.functions = functions
        self.builder = Builder(folds=True)
        self.builder.adjoint = True
        self.rules = Rules(self.builder)
        self.dots: dict[Any, Any] = {p: self.dot_of(p) for p in wrt}
        self.varied = varied(function, set(wrt))
        self.mixed = Mixed(function, self.varied).all
        self.chosen = flows_into_choices(function, set(wrt))
        self.unbounded = self._unbounded(function) if self.chosen else set()

    def _unbounded(self, function: Function) -> set[Any]:
        """Values and places whose tangents may be infinite, or no number."""
        poles = {
            s.out
            for s in walk(function.body)
            if isinstance(s, Let) and s.out in self.varied
            if s.primitive.rule is not None and has_poles(s.primitive.rule)
        }
        return varied(function, poles) & self.varied

    def kind(self, t: Type) -> Type:
        """The type of the tangent of what is of a type."""
        return t

    def dot_of(self, p: Any) -> Any:
        """The parameter that takes the tangent of a parameter."""
        if isinstance(p, Place):
            return self.beside(p)
        return Value(f"{p.name}_dot", self.kind(p.type), True)

    def beside(self, out: Any) -> Any:
        """A value, tape or list of the same kind for its tangent."""
        name, t = f"{out.name}_dot", self.kind(out.type)
        if isinstance(out, List):
            return List(name, t, out.depth)
        return (type(out) if isinstance(out, Place) else Value)(name, t)

    def tangent(self, o: Any) -> Any:
        """The tangent of an operand; zero for what does not vary."""
        if isinstance(o, Value | Place) and o in self.dots:
            return self.dots[o]
        if isinstance(o, List):
            return self._zeros(o)
        if isinstance(o, Tape):
            empty = self.dots[o] = Tape(f"{o.name}_dot", self.kind(o.type))
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
                    b.quiet = s.quiet
                    self.dots[s.out] = self.let(s)
                    b.quiet = False
            case Load():
                self.keep(s)
                if s.out in self.varied:
                    out = self.beside(s.out)
                    dots = self._tangents_of(s.source)
                    b.add(Load(out, dots, s.index, safe=True, deep=s.deep))
                    self.dots[s.out] = out
            case Alloc():
                self.keep(s)
                if s.place in self.varied:
                    b.add(Alloc(self._place(s.place)))
            case Store():
                if s.place in self.varied:
                    self.store(s)
                self.keep(s)
            case AddUp():
                if s.tape in self.varied:
                    self.add_up(s)
                self.keep(s)
            case Push():
                if s.tape in self.varied:
                    dot = self.tangent(s.operand)
                    item = replace(s.popped, optional=False)
                    b.add(Push(self.dots[s.tape], dot, item))
                self.keep(s)
            case Pop():
                self.keep(s)
                if s.tape in self.varied:
                    popped = self.beside(s.out)
                    popped.type = replace(popped.type, optional=False)
                    b.add(Pop(popped, self.dots[s.tape]))
                    self.dots[s.out] = popped
            case Insert():
                if s.place in self.varied:
                    dot = self.tangent(s.operand)
                    b.add(Insert(self.dots[s.place], dot, s.position, s.path))
                self.keep(s)
            case Take():
                if s.place in self.varied:
                    b.add(Take(self.dots[s.place], self._tangents_of(s.source)))
                self.keep(s)
            case Remove():
                self.keep(s)
                if s.place in self.varied:
                    removed = self.beside(s.out)
                    b.add(Remove(removed, self.dots[s.place], s.position, s.path))
                    self.dots[s.out] = removed
            case For() | While() | If() if not self._varies(s):
                self.keep(s)
            case For():
                self.keep(replace(s, body=self.block(s.body)))
            case While():
                self.keep(replace(s, header=s.header, body=self.block(s.body)))
            case If():
                then, orelse = self.block(s.then), self.block(s.orelse)
                self.keep(replace(s, then=then, orelse=orelse))
            case Call():
                self.call(s)
            case _:
                self.keep(s)

    def _varies(self, s: Statement) -> bool:
        """Whether a loop or branch changes anything that has a tangent."""
        return any(
            v in self.varied
            for t in walk([s])
            for v in (*defines(t), *stores(t), *reads(t))
        )

    def store(self, s: Store) -> None:
        """Store a tangent where its value is stored."""
        dot = self.tangent(s.operand)
        if not (s.accumulate and dot == constant(0.0)):
            place = self.dots[s.place]
            self.builder.add(Store(place, dot, s.index, s.accumulate, s.first))

    def add_up(self, s: AddUp) -> None:
        """Add the tangents of one tape to those of another."""
        self.builder.add(AddUp(self.dots[s.tape], self.tangent(s.operand)))

    def _place(self, p: Place) -> Place:
        name, t = f"{p.name}_dot", self.kind(p.type)
        dot: Place
        if isinstance(p, Buffer):
            dot = Buffer(name, t, p.like)
        elif isinstance(p, Cell):
            dot = Cell(name, t, p.choice)
        elif isinstance(p, List):
            dot = List(name, t, p.depth)
            dot.length = p.length
        else:
            dot = Tape(name, t)
            dot.like = p.like  # type: ignore[attr-defined]
        self.dots[p] = dot
        return dot

    def _tangents_of(self, source: Any) -> Any:
        """The tangents of a place; those of a list that does not vary are zero."""
        if isinstance(source, List) and source not in self.dots:
            return self._zeros(source)
        return self.dots[source]

    def _zeros(self, xs: List, path: tuple[At, ...] = ()) -> List:
        """A list of tangents that are zero, for one or for an item of one at a path."""
        b, n, k = self.builder, Value("count", INT), Value("i", INT)
        depth = xs.depth - len(path)
        dots = List(f"{xs.name}_dot", self.kind(xs.type), depth)
        b.add(Load(n, xs, (*path, Length()), safe=True))
        if not xs.type.is_array and depth == 1:
            dots.length = symbol(n)
            b.add(Alloc(dots))
            return dots
        b.add(Alloc(dots))
        at = (*path, At(symbol(k)))
        with b.nested([]) as body:
            if depth > 1:
                b.add(Insert(dots, self._zeros(xs, at)))
            else:
                x = b.element(xs, at, xs.type, xs.name, safe=True)
                b.add(Insert(dots, self.tangent(x)))
        b.add(For(k, linear(0), symbol(n), linear(1), body))
        return dots

    def let(self, s: Let) -> Operand:
        """The tangent of one primitive's result."""
        b, p = self.builder, s.primitive
        if p in (NAMED, FORMAT):
            same: Operand = self.tangent(s.operands[0])
            return same
        if p is DISPLAY:
            parts = [self.tangent(o) for o in s.operands]
            return b.let(DISPLAY, *parts, attribute=s.attribute, type=s.out.type)
        if p in (CAST, SUM_TO, CONJUGATE, COPY):
            dot = self.tangent(s.operands[0])
            like = s.operands[1:]
            return b.let(p, dot, *like, attribute=s.attribute, type=s.out.type)
        if p is SPREAD:
            return b.let(p, self.tangent(s.operands[0]), s.operands[1], type=s.out.type)
        if p.kind == "collective":
            return self._collective(s)
        if p is ITEM:
            (whole,) = s.operands
            return self.dots[whole][s.attribute]  # type: ignore[no-any-return]
        if p.kind in ("linear", "multilinear", "general"):
            return self._signed(s)  # type: ignore[no-any-return]
        if p.function is np.where:
            sides = (self.tangent(o) for o in s.operands[1:])
            return self._fitted(b.let(p, s.operands[0], *sides), s)
        total: Operand | None = None
        for k, o in enumerate(s.operands):
            if o not in self.varied:
                continue
            if p.kind == "reduction":
                term = self._reduced(s, o)
            elif _is_choice(s) and o in self.unbounded:
                term = self._taken(self._partial(s, k), self.tangent(o))
            else:
                partial = self._partial(s, k)
                term = b.multiply(partial, self.tangent(o))
                if s.out in self.chosen:
                    self.rules.note_product(term, partial)
            total = term if total is None else b.add_up(total, term)
        assert total is not None
        return self._fitted(total, s)

    def _partial(self, s: Let, k: int) -> Operand:
        return self.rules.partial(
            s.primitive, k, lambda j: s.operands[j], lambda: s.out
        )

    def _taken(self, partial: Operand, dot: Operand) -> Operand:
        """The product with a partial that is zero where something is not taken."""
        b = self.builder
        if isinstance(partial, Const | Linear):
            return b.multiply(partial, dot)
        counts = b.operator(operator.ne, partial, constant(0.0))
        if type_of(partial).is_array or type_of(dot).is_array:
            product = b.multiply(partial, dot)
            made = b.definition.get(product)  # type: ignore[arg-type]
            if isinstance(made, Let):
                made.quiet = True
            return b.let(row(np.where, 3), counts, product, constant(0.0))
        return if_it_counts(b, counts, lambda: b.multiply(partial, dot))

    def _reduced(self, s: Let, x: Operand) -> Operand:
        """The tangent of a reduction: partial times x_dot, summed over its axes."""
        b, template = self.builder, s.primitive.template(s.attribute)
        partial = reduction_partial(self.rules, s, lambda o: o)
        dot = self.tangent(x)
        if isinstance(partial, Const | Linear) or not type_of(partial).is_array:
            return b.multiply(partial, over_axes(b, template, dot, s.out.type))
        return over_axes(b, template, b.multiply(partial, dot), s.out.type)

    def _signed(self, s: Let) -> Any:
        """The tangent of an array primitive's result: one operand, or several."""
        p = s.primitive
        template = p.template(s.attribute)
        varied = [k for k, o in enumerate(s.operands) if o in self.varied]
        if p.kind == "linear":
            named = {k for n in p.operands for k in holes(template[n])}
            dots = [
                self._filled(o) if k in named else o for k, o in enumerate(s.operands)
            ]
            return self._again(s, dots)
        if p.kind == "multilinear":
            terms = []
            for k in varied:
                dots = list(s.operands)
                dots[k] = self._filled(s.operands[k])
                terms.append(self._again(s, dots))
        else:
            assert p.tangent is not None
            terms = [
                self._of_rule(s, p.tangent, j, n, template)
                for j, n in enumerate(p.operands)
                if set(holes(template[n])) & set(varied)
            ]
        total = terms[0]
        for term in terms[1:]:
            total = self._sum(total, term)
        if isinstance(total, list):
            return total
        return self._fitted(total, s)

    def _sum(self, a: Any, b: Any) -> Any:
        if isinstance(a, list):
            return [self._sum(x, y) for x, y in zip(a, b, strict=True)]
        return self.builder.add_up(a, b)

    def _filled(self, o: Any) -> Any:
        """The tangent of an operand, in its shape: zeros for what does not vary."""
        dot = self.tangent(o)
        t = type_of(o)
        if t.is_array and not type_of(dot).is_array:
            return self.builder.let(SPREAD, dot, o, type=t)
        return dot

    def _again(self, s: Let, operands: list[Any]) -> Any:
        """The primitive of other operands; its items, where it gives several."""
        b, t = self.builder, s.out.type
        out = b.let(s.primitive, *operands, attribute=s.attribute, type=t)
        if t.items is None:
            return out
        return [
            b.let(ITEM, out, attribute=k, type=item, name="part_dot")
            for k, item in enumerate(t.items)
        ]

    def _of_rule(self, s: Let, rule: Any, k: int, name: str, template: Template) -> Any:
        """What a general row's tangent rule gives for one operand."""
        operands = s.operands
        access = Access(lambda j: operands[j], lambda j: operands[j])
        extra = {
            "y": lambda: self._result(s),
            f"{name}_dot": lambda: self._filled(operands[holes(template[name])[0]]),
        }
        found = self.rules.signed(rule, k, template, access, extra)
        return list(found.items) if isinstance(found, Structure) else found

    def _result(self, s: Let) -> Any:
        """The result as a rule takes it: an operand, or a tuple of them."""
        if s.out.type.items is None:
            return s.out
        items = [
            self.builder.let(ITEM, s.out, attribute=k, type=t)
            for k, t in enumerate(s.out.type.items)
        ]
        return Structure(tuple, tuple(items))

    def _fitted(self, dot: Operand, s: Let) -> Operand:
        """The tangent in the shape and realness of the primal."""
        like, t = s.out, s.out.type
        if not t.is_complex:
            dot = real_part(self.builder, dot)
        here = type_of(dot)
        is_smaller = len(set(shapes(s))) > 1 and self._may_be_number(dot)
        if t.is_array and (here.dims != t.dims or is_smaller):
            dot = self.builder.let(SPREAD, dot, like, type=replace(here, dims=t.dims))
        if isinstance(dot, Value) and not dot.name.endswith("_dot"):
            dot.name, dot.users = f"{like.name}_dot", like.users
        return dot

    def _collective(self, s: Let) -> Operand:
        """Those that are linear do the same to tangents; the others have none."""
        if s.primitive in (PMAX, PMIN):
            raise no_derivative(s)
        dot = self.tangent(s.operands[0])
        made = self.builder.let(
            s.primitive, dot, attribute=s.attribute, type=s.out.type, name=s.out.name
        )
        return made

    def _may_be_number(self, o: Any) -> bool:
        """Whether a tangent of an array's type may be a number at run time."""
        if o in self.mixed or any(self.dots.get(v) is o for v in self.mixed):
            return True
        made = self.builder.definition.get(o)
        arrays = shapes(made) if isinstance(made, Let) else []
        return bool(arrays) and all(map(self._may_be_number, arrays))

    def call(self, s: Call) -> None:
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
            self.dots[o] = dot = self.dot_of(o)
            outs.append(dot)
        self.keep(Call(tuple(outs), f, (*s.operands, *dots), where=s.where))
