"""Dependence, core to core: beside every value the labels of what it depends on.

    y = np.sin(x) * x[0]   ->   sine_dot = following.shaped(sine, x_dot)
                                y_dot = following.shaped(y, sine_dot, x_dot[0])

It is forward mode with sets in the place of tangents: the same values have them, and
they go the same ways through cells, buffers, tapes, loops and calls.  What is stored is
stored beside, what is added joins what was there.  The control flow is the run's own.
"""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import Any

import numpy as np

from gradwright.transform.build import own_value
from gradwright.transform.core import (
    AddUp,
    At,
    Call,
    Function,
    Index,
    Let,
    List,
    Load,
    NewAxis,
    Operand,
    Pick,
    Store,
    Tape,
    Value,
    View,
    Whole,
    type_of,
)
from gradwright.transform.forward import Functions, Sweep
from gradwright.transform.indices import linear
from gradwright.transform.picks import may_repeat
from gradwright.transform.primitives.collectives import no_derivative
from gradwright.transform.primitives.record import Primitive
from gradwright.transform.primitives.structural import (
    CAST,
    CONJUGATE,
    COPY,
    DISPLAY,
    ELEMENTS,
    FORMAT,
    ITEM,
    NAMED,
    SPREAD,
    SUM_TO,
    following,
)
from gradwright.transform.template import fill, holes
from gradwright.transform.types import VARYING, Type, array, tuple_of

LABEL = Type("int64")
UNION = following("union")
SHAPED = following("shaped")
EVERYTHING = following("everything")
REDUCED = following("reduced")
SUMMED = following("summed")
PLACES = following("places")
ADDED = following("added")

# What only moves elements, and leaves zeros where there is none: labels as well.
MOVES = {
    np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.squeeze,
    np.expand_dims, np.flip, np.roll, np.broadcast_to, np.repeat, np.tile,
    np.concatenate, np.stack, np.split, np.array_split, np.tril, np.triu, np.diag,
    np.diagonal, np.meshgrid, np.fft.fftshift, np.fft.ifftshift,
}  # fmt: skip
# What NumPy makes of any elements by moving, adding and multiplying them.
BY_ELEMENTS = {
    np.pad, np.cumsum, operator.matmul, np.dot, np.vdot, np.inner, np.outer, np.kron,
    np.cross, np.tensordot, np.einsum, np.convolve,
}  # fmt: skip
EACH = {np.real, np.imag, np.conjugate, np.conj}


def dependence(function: Function, wrt: list[Value]) -> tuple[Function, list[Operand]]:
    """The function that also follows what depends on the elements of `wrt`.

    Returns it, and the labels of its results; it takes those of `wrt` where a jvp takes
    tangents.
    """
    f, _, results = Functions(None, Dependence).jvp(function, wrt)
    return f, results[len(function.results) :]


class Dependence(Sweep):
    """The statements of a function, each with what it does to labels."""

    suffix = "pattern"

    def kind(self, t: Type) -> Type:
        if t.items is not None:
            return tuple_of(tuple(map(self.kind, t.items)))
        if t.dims is not None:
            return replace(t, dtype="int64", python=False)
        return replace(LABEL, optional=t.optional)

    def tangent(self, o: Any) -> Any:
        if o in self.dots or isinstance(o, Tape):
            return super().tangent(o)
        return self.made(SHAPED, o) if type_of(o).is_array else linear(0)

    def made(self, p: Primitive, y: Any, *operands: Any) -> Any:
        """Labels in the shape of a value, by a function of `following`."""
        t = self.kind(type_of(y))
        name = f"{getattr(y, 'name', 'value')}_dot"
        return self.builder.raw(p, y, *operands, type=t, name=name)

    def joined(self, y: Any, dots: list[Any]) -> Any:
        """The union of labels in the shape of a value."""
        if any(type_of(o).is_array for o in (y, *dots)):
            return self.made(SHAPED, y, *dots)
        if len(dots) == 1:
            return dots[0]
        return self.builder.raw(UNION, *dots, type=LABEL, name=f"{y.name}_dot")

    def let(self, s: Let) -> Any:
        p = s.primitive
        if p is DISPLAY:
            parts = [self.tangent(o) for o in s.operands]
            t = self.kind(s.out.type)
            return self.builder.let(p, *parts, attribute=s.attribute, type=t)
        if p is ITEM:
            return self.dots[s.operands[0]][s.attribute]
        dots = [self.dots[o] for o in s.operands if o in self.varied]
        if p in (NAMED, FORMAT, CONJUGATE, COPY):
            return dots[0]
        if p is SUM_TO:
            return self.made(SUMMED, s.out, *dots)
        if p.kind == "collective":
            raise no_derivative(s)
        if p.kind == "elementwise" or p in (CAST, SPREAD) or p.function in EACH:
            return self._by_element(s, dots)
        if p.kind == "reduction" and "axis" in dict(p.template(s.attribute).arguments):
            axis = p.template(s.attribute)["axis"]
            if not holes(axis):
                return self._by_axes(s, dots[0], fill(axis, holes))
        if p.function in MOVES:
            return self._by_moves(s)
        if p.function in BY_ELEMENTS:
            return self._by_elements(s)
        return self._all(s.out, dots)

    def _by_element(self, s: Let, dots: list[Any]) -> Any:
        """Each element depends on those of the operands that meet there."""
        if s.primitive.function is np.where:
            sides = (self.tangent(o) for o in s.operands[1:])
            t = self.kind(s.out.type)
            dots = [self.builder.raw(s.primitive, s.operands[0], *sides, type=t)]
        if any(type_of(o).is_array for o in s.operands):
            return self.made(SHAPED, s.out, *dots)
        return self.joined(s.out, dots)

    def _by_axes(self, s: Let, dot: Any, axis: Any) -> Any:
        t = self.kind(s.out.type)
        name = f"{s.out.name}_dot"
        return self.builder.raw(REDUCED, s.out, dot, attribute=axis, type=t, name=name)

    def _by_moves(self, s: Let) -> Any:
        """The same move of labels."""
        named = self._named(s)
        given = [self.tangent(o) if k in named else o for k, o in enumerate(s.operands)]
        return self._parts(s.primitive, given, s.attribute, s)

    def _by_elements(self, s: Let) -> Any:
        """The function itself, of elements that carry their labels."""
        p, named = s.primitive, self._named(s)
        is_linear = p.kind == "linear"
        moved = tuple(k for k in named if is_linear or s.operands[k] in self.varied)
        given = [self.tangent(o) if k in moved else o for k, o in enumerate(s.operands)]
        factors = tuple(k for k in named if k not in moved)
        attribute = (p, p.template(s.attribute), moved, factors)
        return self._parts(ELEMENTS, [*given, s.out], attribute, s)

    def _named(self, s: Let) -> list[int]:
        """The operands that stand where the row takes arrays."""
        template = s.primitive.template(s.attribute)
        return [k for n in s.primitive.operands for k in holes(template[n])]

    def _parts(self, p: Primitive, given: list[Any], attribute: Any, s: Let) -> Any:
        """Labels that a row or a function gives: one array of them, or several."""
        b, t = self.builder, self.kind(s.out.type)
        name = f"{s.out.name}_dot"
        out = b.raw(p, *given, attribute=attribute, type=t, name=name)
        if t.items is None:
            return out
        return [
            b.raw(ITEM, out, attribute=k, type=item, name="part_dot")
            for k, item in enumerate(t.items)
        ]

    def _all(self, out: Any, dots: list[Any]) -> Any:
        """Everything depends on all that it is made of."""
        flat = [d for dot in dots for d in (dot if isinstance(dot, list) else [dot])]
        if out.type.items is None:
            return self.made(EVERYTHING, out, *flat)
        return [
            self.made(
                EVERYTHING,
                self.builder.raw(ITEM, out, attribute=k, type=t, name="part"),
                *flat,
            )
            for k, t in enumerate(out.type.items)
        ]

    def store(self, s: Store) -> None:
        place, dot, index = self.dots[s.place], self.tangent(s.operand), s.index
        if s.accumulate:
            t = _type_of_part(place, index)
            if t is None or may_repeat(index):
                dot, index = self._added(place, dot, index), (Whole(),)
            else:
                old = own_value("old", t)
                self.builder.add(Load(old, place, index, safe=True))
                dot = self.joined(old, [old, dot])
        self.builder.add(Store(place, dot, index))

    def _added(self, place: Any, dot: Any, index: Index) -> Any:
        """All of an array after an addition to a part, which may name a place twice."""
        b = self.builder
        whole, where = own_value(place.name, place.type), own_value("where", place.type)
        b.add(Load(whole, place, safe=True))
        numbers = self.made(PLACES, whole)
        b.add(Load(where, numbers, index, safe=True))
        return self.made(ADDED, whole, where, dot)

    def add_up(self, s: AddUp) -> None:
        self.builder.add(AddUp(self.dots[s.tape], self.tangent(s.operand), labels=True))

    def call(self, s: Call) -> None:
        given = [o for o in s.operands if o in self.varied]
        if s.function.custom is None or not given:
            super().call(s)
            return
        self.keep(s)
        for o in s.outs:
            if o in self.varied:
                self.dots[o] = self._all(o, [self.dots[g] for g in given])


def _type_of_part(place: Any, index: Index) -> Type | None:
    """The type of a part that an index names; None where its rank is not told here."""
    t: Type = place.type
    if isinstance(place, List) or not index:
        return t
    if any(isinstance(i, Pick | View) for i in index):
        return None
    new = sum(isinstance(i, NewAxis) for i in index)
    rank = t.rank - sum(isinstance(i, At) for i in index) + new
    return array("int64", (VARYING,) * rank) if rank else LABEL
