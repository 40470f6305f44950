"""Sweeps over all unit vectors at once: what they move has an axis of these in front.

    y_bar = np.zeros_like(y)             x_bar = (1 - y * y)[:, None] * W
    y_bar[i] = 1.0               ->
    x_bar = (y_bar * (1 - y * y)) @ W

All unit vectors together are the identity, and what is done to each element by itself
leaves a diagonal.  Of that only the diagonal is kept: the product with a matrix scales
its rows, and zeros stand around it where nothing else will do.
"""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import Any, TypeGuard

import numpy as np

from gradwright.transform.build import Builder, constant, reshaped, row
from gradwright.transform.core import (
    For,
    Index,
    Let,
    NewAxis,
    Operand,
    Pop,
    Span,
    Statement,
    Store,
    Value,
    While,
    all_reads,
    type_of,
    walk,
)
from gradwright.transform.fission import varying
from gradwright.transform.indices import Dim, Linear, linear
from gradwright.transform.lifted import NotLifted
from gradwright.transform.lifting import Lifting
from gradwright.transform.primitives.structural import COPY, NAMED, SPREAD
from gradwright.transform.template import Hole, Template
from gradwright.transform.types import INT, Type, array, fills, is_mixed

PRODUCTS = (operator.matmul, np.dot, np.matvec)  # np.vecmat conjugates
ONE_BY_ONE = "machine code is faster with one at a time"


def of_each(
    b: Builder,
    unit: Value,
    body: list[Statement],
    results: list[Any],
    compiled: bool = False,
) -> list[Operand]:
    """What a block makes of every unit vector in the shape of a value.

    Args:
        b: What it is written with.
        unit: What stands for a unit vector in the block.
        body: The block, which nobody else has.
        results: What is wanted; all that the unit vectors do not change is repeated.
        compiled: It becomes machine code, and is to be faster than a loop in that.

    Raises:
        NotLifted: The block takes one unit vector at a time.
    """
    L = Basis(b, unit, compiled)
    L.vary = varying(body, [unit], lengths=False)
    if compiled and not _pays(L, body):
        raise NotLifted(ONE_BY_ONE)
    L.statements(body)
    for r in results:
        L.spell_out(r)
    return [L.given(r) for r in results]


def _pays(L: Basis, body: list[Statement]) -> bool:
    """Whether machine code is faster with an axis of the unit vectors than in a loop.

    What one of them stores into stays in the cache; but a loop does all that they share
    again for each: functions of numbers, and what comes from tapes.
    """
    if not any(isinstance(s, Store) and L.differs(s.place) for s in walk(body)):
        return True
    loops = [s for s in walk(body) if isinstance(s, For | While)]
    return any(_is_dear(s) and not L.differs(s.out) for s in walk(loops))


def _is_dear(s: Statement) -> TypeGuard[Let | Pop]:
    """Whether a statement makes a number that takes long to be made again."""
    if isinstance(s, Pop):
        return isinstance(s.out, Value) and not s.out.type.rank
    if not isinstance(s, Let) or s.out.type.rank or s.primitive.kind == "structural":
        return False
    return not (s.primitive.cheap or s.primitive.is_operator)


class Basis(Lifting):
    """A block while it is written for all unit vectors.

    diagonal: of what is zero but for the element where the unit vector has its one,
    those elements for all unit vectors, or the number that they all are.
    """

    def __init__(self, b: Builder, unit: Value, compiled: bool) -> None:
        dims = unit.type.dims or ()
        written = Builder()
        written.block = b.block
        self.algebra, self.compiled = Builder(folds=True), compiled
        super().__init__(written, _count(written, dims), {})
        self.diagonal: dict[Value, Operand] = {}
        self._keep(unit, constant(1.0))

    def _spread(self, s: Let) -> None:
        """What has its shape already is not spread."""
        g = s.operands[0]
        t, whole = type_of(g), s.out.type
        is_whole = isinstance(g, Value) and not g.loose and t.dtype == whole.dtype
        if is_whole and self.differs(g) and _alike(t, whole):
            self.lift(s.out, self.own.operand(g))
        else:
            super()._spread(s)

    def _keep(self, v: Value, elements: Operand) -> None:
        """What is on the diagonal of a value."""
        self.diagonal[v] = elements
        for k, d in enumerate(v.type.dims or ()):
            self.own.lengths[Dim(v, k)] = self.own.operand(d)

    def statement(self, s: Statement) -> None:
        """One statement, for all unit vectors."""
        if isinstance(s, Let) and self._stays_diagonal(s):
            return
        for v in all_reads(s):
            self.spell_out(v)
        super().statement(s)

    # ---- diagonals -------------------------------------------------------------

    def _stays_diagonal(self, s: Let) -> bool:
        """Write a statement with what is on diagonals alone, if that will do."""
        if s.loose or not any(_held(o, self.diagonal) for o in s.operands):
            return False
        with self.algebra.nested(self.b.block):
            self.algebra.where, self.algebra.adjoint = self.b.where, self.b.adjoint
            self.algebra.quiet = s.quiet
            if s.out.type.rank and self._elementwise(s):
                return True
            f = s.primitive.function
            if f is np.sum:
                return self._sum(s)
            return f in PRODUCTS and self._product(s)

    def _elementwise(self, s: Let) -> bool:
        """What is done to each element by itself."""
        held = [o for o in s.operands if _held(o, self.diagonal)]
        b, t = self.algebra, s.out.type
        if not all(_alike(type_of(o), t) for o in held):
            return False
        inner = [
            self.diagonal[o] if _held(o, self.diagonal) else self.own.operand(o)  # type: ignore[index]
            for o in s.operands
        ]
        others = [o for o in s.operands if not _held(o, self.diagonal)]
        if any(map(self.differs, others)):
            return False
        elements: Operand
        f = s.primitive.function
        if s.primitive in (NAMED, COPY):
            (elements,) = inner
        elif s.primitive is SPREAD and s.out.type.dtype == type_of(held[0]).dtype:
            elements = self.diagonal[held[0]]  # type: ignore[index]
        elif f in (operator.neg, np.negative):
            elements = b.negate(inner[0])
        elif f in (operator.mul, np.multiply) and len(held) == 1:
            elements = b.multiply(*inner)
        elif f in (operator.truediv, np.divide) and held == [s.operands[0]]:
            if type_of(inner[1]).python:
                return False  # Python raises for zero, and NumPy does not
            elements = b.operator(operator.truediv, *inner)
        elif f in (operator.add, operator.sub) and len(held) == 2:
            elements = b.operator(f, *inner)
        else:
            return False
        here = type_of(elements)
        if here.dims and not _alike(here, t):
            return False
        if not here.python and here.dtype != t.dtype:
            return False
        self._keep(s.out, elements)
        return True

    def _product(self, s: Let) -> bool:
        """A product with a vector or matrix that is the same for all."""
        a, b = s.operands
        first = _held(a, self.diagonal)
        d, other = (a, b) if first else (b, a)
        if self.differs(other) or type_of(d).rank != 1:
            return False
        if type_of(other).rank not in (1, 2):
            return False
        t = self.type(s.out.type, s.out.name)
        elements: Any = self.diagonal[d]  # type: ignore[index]
        w = self.own.operand(other)
        if not first and type_of(w).rank == 2:
            w = self.algebra.let(row(np.transpose, 1), w)
        if type_of(w).rank == 2 and type_of(elements).rank == 1:
            index: Index = (Span(), NewAxis())
            column = replace(
                type_of(elements), dims=(*(type_of(elements).dims or ()), linear(1))
            )
            elements = self.algebra.element(
                elements, index, column, elements.name, safe=True
            )
        found = self.algebra.multiply(elements, w)
        if type_of(found).dtype != t.dtype:
            return False
        self.lift(s.out, found)
        return True

    def _sum(self, s: Let) -> bool:
        """The sum of all elements, of which one is not zero."""
        (d, *others) = s.operands
        elements = self.diagonal[d]  # type: ignore[index]
        if s.out.type.rank or others or type_of(elements).rank != 1:
            return False
        self.type(s.out.type, s.out.name)
        self.lift(s.out, elements)
        return True

    def spell_out(self, v: Any) -> None:
        """Give a diagonal its zeros."""
        if not _held(v, self.diagonal):
            return
        elements, t = self.diagonal.pop(v), v.type
        if self.compiled and t.rank > 1 and not type_of(elements).dims:
            raise NotLifted(ONE_BY_ONE)
        dtype, b = np.dtype(t.dtype), self.algebra
        square = array(dtype, (self.size, self.size))
        with b.nested(self.b.block):
            b.where, b.adjoint, b.quiet = self.b.where, self.b.adjoint, False
            found: Any
            if type_of(elements).dims:
                if t.rank > 1:
                    elements = reshaped(b, elements, (self.size,))
                template = Template((("v", Hole(0)), ("k", 0)))
                found = b.raw(
                    row(np.diag, 2), elements, attribute=template, type=square
                )
            else:
                found = b.multiply(elements, _identity(b, self.size, square))
            if t.rank > 1:
                dims = self.own.type(t).dims or ()
                found = reshaped(b, found, (self.size, *dims))
        found.name = v.name
        self.lift(v, found)


def _alike(a: Type, b: Type) -> bool:
    """Whether two arrays have one shape; dims that met are taken to be equal."""
    mixed = any(map(is_mixed, (*(a.dims or ()), *(b.dims or ()))))
    return fills(a, b) and fills(b, a) and not mixed


def _held(o: Any, diagonal: dict[Value, Operand]) -> bool:
    return isinstance(o, Value) and o in diagonal


def _count(b: Builder, dims: tuple[Linear, ...]) -> Linear:
    """How many elements there are."""
    size: Any = linear(1)
    for d in dims:
        if d.constant == 1:
            continue
        if size.constant is not None and d.constant is not None:
            size = linear(size.constant * d.constant)
        elif size.constant == 1:
            size = d
        else:
            size = b.raw(row(operator.mul, 2), size, d, type=INT, name="size")
    return size  # type: ignore[no-any-return]


def _identity(b: Builder, n: Linear, t: Type) -> Value:
    """All unit vectors, one below the other."""
    dtype = float if t.dtype == "float64" else np.dtype(t.dtype)
    given = [n] if n.constant is None else []
    length = Hole(0) if given else n.constant
    items = (("N", length), ("M", None), ("k", 0), ("dtype", dtype))
    return b.raw(row(np.eye, 4), *given, attribute=Template(items), type=t)  # type: ignore[return-value]
