"""What a row is for all samples: what rules see of the program, and what they share.

    np.sum(x, axis=0)      np.sum(x, axis=-2)       axes are counted from the last one
    np.interp(x, xs, ys)   for i in range(n):       what NumPy does to one sample alone
                               values[i] = np.interp(x, xs[i], ys)

An axis of the samples in front changes nothing about axes that are counted from the
end, nor about what NumPy does to each matrix of a stack.  A row that NumPy has no form
of for many samples is a loop over the samples: of that statement, not of the program.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from gradwright.transform.build import Builder, row
from gradwright.transform.core import (
    Alloc,
    At,
    Buffer,
    For,
    Index,
    Let,
    NewAxis,
    Operand,
    Span,
    Statement,
    Store,
    Substitution,
    Value,
    Whole,
    type_of,
)
from gradwright.transform.indices import Dim, Linear, linear, symbol
from gradwright.transform.primitives.record import Primitive
from gradwright.transform.primitives.structural import ITEM
from gradwright.transform.template import Hole, Sequence, Template, holes
from gradwright.transform.types import (
    INT,
    MIXED,
    VARYING,
    Type,
    array,
    element_dtype,
)


class NotLifted(Exception):
    """Why a program is not lifted, in a user's words."""


class OneByOne(Exception):
    """NumPy has no form of a row for many samples; raised before any is written."""


class Lift(Protocol):
    """The program of all samples while it is written, as rules see it.

    b: what it is written with.  own: what stands for the values of one sample.  size:
    the number of samples.  index: what loops over them are named for.  parts: what
    stands for the items of a tuple of one sample.
    """

    b: Builder
    own: Substitution
    size: Linear
    index: Value
    parts: dict[Value, list[Operand]]

    def differs(self, o: Any) -> bool:
        """Whether an operand may differ from sample to sample."""

    def type(self, t: Type, name: str = ...) -> Type:
        """The type for all samples of what one sample has."""

    def lift(self, v: Value, of: Operand) -> None:
        """All samples of a value are this."""

    def let(
        self, s: Let, p: Primitive, *operands: Operand, attribute: Any = None
    ) -> None:
        """One primitive gives all samples of what a statement defines."""

    def aligned(self, o: Operand, rank: int) -> Operand:
        """An operand with its axes where broadcasting meets those of the result."""

    def given(self, o: Operand) -> Operand:
        """All samples of an operand, also of one that is the same for all."""

    def spread(self, s: Let, g: Operand) -> None:
        """A number or array for each sample, in the shape of a result."""


Rule = Callable[[Lift, Let, dict[str, Any]], None]
RULES: dict[Any, Rule] = {}


def rule(*functions: Any) -> Callable[[Rule], Rule]:
    """Enter what rows are for all samples."""

    def register(made: Rule) -> Rule:
        RULES.update(dict.fromkeys(functions, made))
        return made

    return register


def lifted_row(L: Lift, s: Let) -> None:
    """A row that takes its arguments by name, for all samples."""
    arguments = dict(s.primitive.template(s.attribute).arguments)
    try:
        RULES.get(s.primitive.function, one_sample)(L, s, arguments)
    except OneByOne:
        one_by_one(L, s)


def one_sample(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """What takes one sample, whichever operands differ."""
    raise OneByOne


# ---- the same row once more --------------------------------------------------------


def again(
    L: Lift, s: Let, arguments: dict[str, Any], of: Callable[[Any], Any] | None = None
) -> None:
    """The same row with other arguments, and operands as `of` makes them."""
    operands, template = _other(s, arguments, of or L.own.operand)
    L.let(s, s.primitive, *operands, attribute=template)


def again_as(
    L: Lift, s: Let, arguments: dict[str, Any], of: Callable[[Any], Any], t: Type
) -> Operand:
    """The same, on the way to what a statement defines: a value of this type."""
    operands, template = _other(s, arguments, of)
    return L.b.raw(s.primitive, *operands, attribute=template, type=t)


def _other(
    s: Let, arguments: dict[str, Any], of: Callable[[Any], Any]
) -> tuple[list[Operand], Template]:
    """The operands that other arguments take, and these around them."""
    used = [k for a in arguments.values() for k in holes(kept(a))]
    number = {k: n for n, k in enumerate(dict.fromkeys(used))}
    template = Template(
        tuple((n, renumbered(kept(a), number)) for n, a in arguments.items())
    )
    return [of(s.operands[k]) for k in number], template


def renumbered(a: Any, number: dict[int, int]) -> Any:
    """An argument whose operands stand at other places."""
    if isinstance(a, Hole):
        return Hole(number[a.position])
    if isinstance(a, Sequence):
        return Sequence(a.kind, tuple(renumbered(i, number) for i in a.items))
    return a


def kept(a: Any) -> Any:
    """An argument as templates have it: no tuples and lists but their own."""
    if isinstance(a, tuple | list):
        return Sequence(type(a), tuple(map(kept, a)))
    return a


def plain(a: Any) -> Any:
    """An argument in which no operand stands, as a call has it."""
    if isinstance(a, Sequence) and not holes(a):
        return a.kind(map(plain, a.items))
    return a


def from_the_end(axis: Any, rank: int) -> Any:
    """Axes of one sample, counted from the last one."""
    axis = plain(axis)
    if isinstance(axis, tuple):
        return tuple(from_the_end(k, rank) for k in axis)
    if type(axis) is not int:
        raise NotLifted("an axis that only the run knows")
    return axis - rank if axis >= 0 else axis


def first_rank(L: Lift, s: Let) -> int:
    """How many axes one sample of the first operand has, if that differs."""
    if not L.differs(s.operands[0]):
        raise OneByOne
    return type_of(s.operands[0]).rank


# ---- shapes ------------------------------------------------------------------------


def sizes(L: Lift) -> list[Any]:
    """The number of samples as an operand, where it is not known."""
    return [L.size] if L.size.constant is None else []


def with_size(L: Lift, items: tuple[Any, ...], first: int) -> Sequence:
    """A shape with the number of samples in front, which may be operand `first`."""
    size = Hole(first) if sizes(L) else L.size.constant
    return Sequence(tuple, (size, *items))


def in_a_row(L: Lift, a: Any) -> Any:
    """The elements of every sample in a row, along the last axis."""
    if a.type.rank < 3:
        return a if a.type.rank == 2 else with_axis(L, a, -1)
    template = Template((("a", Hole(0)), ("shape", with_size(L, (-1,), 1))))
    t = array(np.dtype(a.type.dtype), (L.size, VARYING))
    return L.b.raw(
        row(np.reshape, 2), a, *sizes(L), attribute=template, type=t, name=a.name
    )


def with_axis(L: Lift, a: Any, axis: int) -> Any:
    """An array with an axis of length one, counted from the last of the result."""
    dims = list(type_of(a).dims or ())
    dims.insert(len(dims) + 1 + axis, linear(1))
    template = Template((("a", Hole(0)), ("axis", axis)))
    t = array(np.dtype(type_of(a).dtype), tuple(dims))
    return L.b.raw(row(np.expand_dims, 2), a, attribute=template, type=t, name=a.name)


def without_axis(L: Lift, s: Let, a: Any, axis: int) -> None:
    """A result that has one axis more, of length one: its only element along that."""
    index: Index = (Whole(), At(linear(0)), *[Span()] * (-1 - axis))
    t = L.type(s.out.type, s.out.name)
    L.lift(s.out, L.b.element(a, index, t, s.out.name, safe=True))


def stood(L: Lift, a: Any, axis: int, rank: int) -> Any:
    """A vector, or one of every sample, as an array that has only one axis so long."""
    *lead, n = a.type.dims
    before, behind = axis, rank - 1 - axis
    if rank == 1:
        return a
    index: Index = (
        *[Span()] * len(lead), *[NewAxis()] * before, Span(), *[NewAxis()] * behind
    )  # fmt: skip
    dims = (*lead, *[linear(1)] * before, n, *[linear(1)] * behind)
    return L.b.element(a, index, replace(a.type, dims=dims), a.name, safe=True)


def stretched_to(L: Lift, a: Any, dims: tuple[Linear, ...]) -> Any:
    """An array in a larger shape."""
    template = Template((("array", Hole(0)), ("shape", shape_in(dims, 1))))
    known = [d for d in dims if d.constant is None]
    t = array(np.dtype(element_dtype(type_of(a))), dims)
    name = getattr(a, "name", "value")
    p = row(np.broadcast_to, 2)
    return L.b.raw(p, a, *known, attribute=template, type=t, name=name)


def shape_in(dims: tuple[Linear, ...], first: int) -> Sequence:
    """A shape in a template: numbers as they are, other lengths as operands."""
    waiting = iter(range(first, first + len(dims)))
    return Sequence(
        tuple,
        tuple(Hole(next(waiting)) if d.constant is None else d.constant for d in dims),
    )


# ---- one sample after the other ----------------------------------------------------


def one_by_one(L: Lift, s: Let, dims: tuple[Linear, ...] | None = None) -> None:
    """A loop over the samples of one statement; `dims` where it does not tell them."""
    one = s.out.type if dims is None else replace(s.out.type, dims=dims)
    types = [L.type(t, s.out.name) for t in one.items or (one,)]
    if any(is_open(d, s.out) for t in types for d in t.dims or ()):
        raise NotLifted(
            f"{s.primitive.spelling} takes one sample at a time, and the shape of its "
            f"result is known only then"
        )
    values = [Buffer(s.out.name, t, t.dims or ()) for t in types]
    for buffer in values:
        L.b.add(Alloc(buffer))
    i = Value("i", INT)
    i.of = L.index  # loops one behind the other count by one name
    body: list[Statement] = []
    with L.b.nested(body):
        for buffer, result in zip(values, _of_one(L, s, i), strict=True):
            index = (At(symbol(i)),)
            store = Store(buffer, result, index, accumulate=True, first=True, safe=True)
            L.b.add(store)
    L.b.add(For(i, linear(0), L.size, linear(1), body))
    found = [L.b.element(v, (), v.type, v.name) for v in values]
    if one.items is None:
        L.lift(s.out, found[0])
    else:
        L.parts[s.out] = found


def is_open(dim: Linear, out: Value) -> bool:
    """Whether a length is known only when a value is made."""
    unknown = {*VARYING.symbols(), *MIXED.symbols()}
    return any(
        d in unknown or (isinstance(d, Dim) and d.array is out) for d in dim.symbols()
    )


def _of_one(L: Lift, s: Let, i: Value) -> list[Any]:
    """The results of one sample."""
    operands = []
    for o in s.operands:
        found: Any = L.own.operand(o)
        if L.differs(o):
            if not isinstance(o, Value):
                raise NotLifted("a length differs from sample to sample")
            t = L.own.type(o.type)
            index = (At(symbol(i)),)
            found = L.b.element(found, index, t, o.name, safe=True)
        operands.append(found)
    t = L.own.type(s.out.type)
    if t.dims is not None and any(is_open(d, s.out) for d in t.dims):
        t = replace(t, dims=(VARYING,) * t.rank)
    L.b.quiet, quiet = s.quiet, L.b.quiet
    made = L.b.raw(
        s.primitive, *operands, attribute=s.attribute, type=t, name=s.out.name
    )
    L.b.quiet = quiet
    if t.items is None:
        return [made]
    return [
        L.b.raw(ITEM, made, attribute=k, type=L.own.type(item))
        for k, item in enumerate(t.items)
    ]
