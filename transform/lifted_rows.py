"""Rows with arguments by name while a program is lifted: what they are for all samples.

    np.sum(x, axis=0)      np.sum(x, axis=-2)       axes are counted from the last one
    x.reshape(n, m)        x.reshape(len(x), n, m)
    W @ x                  x @ W.T                  of a matrix that all samples share

An axis of the samples in front changes nothing about axes that are counted from the
end, nor about what NumPy does to each matrix of a stack.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from gradwright.transform.build import Builder, row
from gradwright.transform.core import (
    At,
    Index,
    Let,
    Operand,
    Span,
    Substitution,
    Value,
    Whole,
    type_of,
)
from gradwright.transform.indices import Linear, linear
from gradwright.transform.primitives.record import Primitive
from gradwright.transform.template import Hole, Sequence, Template
from gradwright.transform.types import Type, array


class NotLifted(Exception):
    """Why a program is not lifted, in a user's words."""


class Lift(Protocol):
    """The program of all samples while it is written, as rules see it.

    b: what it is written with.  own: what stands for the values of one sample.  size:
    the number of samples.
    """

    b: Builder
    own: Substitution
    size: Linear

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
    found = RULES.get(s.primitive.function)
    if found is None:
        raise NotLifted(f"{s.primitive.spelling} takes one sample at a time")
    arguments = dict(s.primitive.template(s.attribute).arguments)
    found(L, s, arguments)


def again(L: Lift, s: Let, arguments: dict[str, Any], every: bool = False) -> None:
    """The same row with other arguments; `every`: no operand is the same for all."""
    used = [k for a in arguments.values() for k in _holes(a)]
    number = {k: n for n, k in enumerate(dict.fromkeys(used))}
    operands = [
        L.given(s.operands[k]) if every else L.own.operand(s.operands[k])
        for k in number
    ]
    template = Template(
        tuple((n, _renumbered(kept(a), number)) for n, a in arguments.items())
    )
    L.let(s, s.primitive, *operands, attribute=template)


def _holes(a: Any) -> list[int]:
    if isinstance(a, Hole):
        return [a.position]
    return [k for i in a.items for k in _holes(i)] if isinstance(a, Sequence) else []


def _renumbered(a: Any, number: dict[int, int]) -> Any:
    if isinstance(a, Hole):
        return Hole(number[a.position])
    if isinstance(a, Sequence):
        return Sequence(a.kind, tuple(_renumbered(i, number) for i in a.items))
    return a


def kept(a: Any) -> Any:
    """An argument as templates have it: no tuples and lists but their own."""
    if isinstance(a, tuple | list):
        return Sequence(type(a), tuple(map(kept, a)))
    return a


def plain(a: Any) -> Any:
    """An argument in which no operand stands, as a call has it."""
    if isinstance(a, Sequence) and not _holes(a):
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
    """How many axes one sample of the first operand has; it must differ."""
    if not L.differs(s.operands[0]):
        raise NotLifted(f"{s.primitive.spelling} of what is the same for all samples")
    return type_of(s.operands[0]).rank


# ---- along axes --------------------------------------------------------------------


@rule(
    np.sum, np.mean, np.var, np.std, np.prod, np.max, np.amax, np.min, np.amin, np.ptp,
    np.median, np.any, np.all, np.count_nonzero,
)  # fmt: skip
def reduced(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """Over all axes of a sample, or over some of them."""
    if s.primitive.kind == "general" or len(s.operands) > 1:
        raise NotLifted(f"{s.primitive.spelling} with where= or initial=")
    rank = first_rank(L, s)
    if not rank:
        raise NotLifted(f"{s.primitive.spelling} of a number")
    axis = arguments["axis"]
    every = range(-rank, 0)
    axis = tuple(every) if axis is None else from_the_end(axis, rank)
    if isinstance(axis, tuple) and len(axis) == 1:
        (axis,) = axis
    if axis == ():
        raise NotLifted("a reduction over no axis")
    again(L, s, {**arguments, "axis": axis})


@rule(np.argmax, np.argmin, np.cumsum, np.cumprod)
def along_one(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """Along one axis; of a sample with one axis it need not be named."""
    rank = first_rank(L, s)
    axis = arguments["axis"]
    if axis is None and rank != 1:
        raise NotLifted(f"{s.primitive.spelling} of all elements in a row")
    axis = -1 if axis is None else from_the_end(axis, rank)
    again(L, s, {**arguments, "axis": axis})


@rule(np.sort, np.argsort, np.roll, np.flip)
def rearranged(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """Along axes of a sample, which keeps its shape."""
    rank = first_rank(L, s)
    axis = arguments["axis"]
    if axis is None and rank > 1 and s.primitive.function is not np.flip:
        raise NotLifted(f"{s.primitive.spelling} of all elements in a row")
    if axis is None:
        axis = -1 if rank == 1 else tuple(range(-rank, 0))
    again(L, s, {**arguments, "axis": from_the_end(axis, rank)})


@rule(np.repeat)
def repeated(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """Elements of every sample several times, along an axis."""
    if len(s.operands) > 1 and any(map(L.differs, s.operands[1:])):
        raise NotLifted("np.repeat as often as the sample says")
    along_one(L, s, arguments)


@rule(
    np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft, np.fft.fftn, np.fft.ifftn,
    np.fft.fft2, np.fft.ifft2, np.fft.rfftn, np.fft.rfft2, np.fft.irfftn,
    np.fft.irfft2, np.fft.fftshift, np.fft.ifftshift,
)  # fmt: skip
def transformed(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """Fourier's transforms along axes of every sample."""
    rank = first_rank(L, s)
    name = "axis" if "axis" in arguments else "axes"
    axes = arguments[name]
    axes = tuple(range(-rank, 0)) if axes is None else from_the_end(axes, rank)
    again(L, s, {**arguments, name: axes})


@rule(np.split, np.array_split)
def parted(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """Parts of every sample along an axis."""
    axis = from_the_end(arguments["axis"], first_rank(L, s))
    again(L, s, {**arguments, "axis": axis})


@rule(np.linalg.norm)
def measured(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """The norms of vectors, or of what is along an axis."""
    rank = first_rank(L, s)
    axis = arguments["axis"]
    if axis is None and (rank != 1 or arguments["keepdims"]):
        raise NotLifted("np.linalg.norm of a matrix")
    axis = -1 if axis is None else from_the_end(axis, rank)
    again(L, s, {**arguments, "axis": axis})


@rule(np.tril, np.triu)
def of_matrices(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """A part of every matrix."""
    if first_rank(L, s) < 2:
        raise NotLifted(f"{s.primitive.spelling} of a vector")
    again(L, s, arguments)


@rule(np.pad)
def padded(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """More elements at the ends of every sample, and no more samples."""
    rank, width = first_rank(L, s), arguments["pad_width"]
    if isinstance(width, Sequence) or len(s.operands) > 1:
        raise NotLifted("np.pad by what only the run knows")
    pairs = np.broadcast_to(np.array(width), (rank, 2)).tolist()
    every = ((0, 0), *map(tuple, pairs))
    again(L, s, {**arguments, "pad_width": every})


@rule(np.swapaxes)
def exchanged(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """Two axes of every sample change places."""
    rank = first_rank(L, s)
    axes = {n: from_the_end(arguments[n], rank) for n in ("axis1", "axis2")}
    again(L, s, {**arguments, **axes})


@rule(np.moveaxis)
def moved(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """Axes of every sample come to other places."""
    rank = first_rank(L, s)
    axes = {n: from_the_end(arguments[n], rank) for n in ("source", "destination")}
    again(L, s, {**arguments, **axes})


@rule(np.expand_dims)
def expanded(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """An axis of length one in every sample."""
    first_rank(L, s)
    axis = from_the_end(arguments["axis"], s.out.type.rank)
    again(L, s, {**arguments, "axis": axis})


@rule(np.squeeze)
def squeezed(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """Without axes of length one, which are named: of the samples there may be one."""
    rank = first_rank(L, s)
    axis = arguments["axis"]
    if axis is None:
        dims = type_of(s.operands[0]).dims or ()
        axis = tuple(k for k, d in enumerate(dims) if d.constant == 1)
    again(L, s, {**arguments, "axis": from_the_end(axis, rank)})


@rule(np.concatenate, np.stack)
def joined(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """Arrays of every sample one behind the other, or one beside the other."""
    axis = from_the_end(arguments["axis"], s.out.type.rank)
    again(L, s, {**arguments, "axis": axis}, every=True)


@rule(np.transpose)
def transposed(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """The axes of every sample in another order."""
    rank = first_rank(L, s)
    axes = plain(arguments["axes"])
    if rank < 2:
        L.lift(s.out, L.own.operand(s.operands[0]))
        return
    if rank == 2 and axes is None:
        swap = Template((("a", Hole(0)), ("axis1", -1), ("axis2", -2)))
        L.let(s, row(np.swapaxes, 3), L.own.operand(s.operands[0]), attribute=swap)
        return
    order = tuple(range(rank))[::-1] if axes is None else axes
    again(L, s, {**arguments, "axes": (0, *(k % rank + 1 for k in order))})


# ---- shapes ------------------------------------------------------------------------


@rule(np.reshape)
def reshaped(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """The elements of every sample in another shape."""
    first_rank(L, s)
    with_shape(L, s, arguments, L.own.operand(s.operands[0]))


@rule(np.broadcast_to)
def stretched(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """Every sample in a larger shape."""
    first_rank(L, s)
    with_shape(L, s, arguments, L.aligned(s.operands[0], s.out.type.rank))


@rule(np.ravel)
def laid_out(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """The elements of every sample in a row."""
    a = L.own.operand(s.operands[0])
    if first_rank(L, s) == 1:
        L.lift(s.out, a)
        return
    of_size = with_size(L, (-1,), 1)
    template = Template((("a", Hole(0)), ("shape", of_size)))
    L.let(s, row(np.reshape, 2), a, *sizes(L), attribute=template)


def with_shape(L: Lift, s: Let, arguments: dict[str, Any], a: Any) -> None:
    """A row of an array and a shape, which is that of all samples."""
    (name, _), (_, shape) = arguments.items()
    items = shape.items if isinstance(shape, Sequence) else shape
    items = items if isinstance(items, tuple | list) else (items,)
    used = [k for i in items for k in _holes(i)]
    number = {k: n for n, k in enumerate(used, 1 + len(sizes(L)))}
    items = tuple(_renumbered(i, number) for i in items)
    template = Template(((name, Hole(0)), ("shape", with_size(L, items, 1))))
    rest = [L.own.operand(s.operands[k]) for k in used]
    L.let(s, s.primitive, a, *sizes(L), *rest, attribute=template)


def sizes(L: Lift) -> list[Any]:
    """The number of samples as an operand, where it is not known."""
    return [L.size] if L.size.constant is None else []


def with_size(L: Lift, items: tuple[Any, ...], first: int) -> Sequence:
    """A shape with the number of samples in front, which may be operand `first`."""
    size = Hole(first) if sizes(L) else L.size.constant
    return Sequence(tuple, (size, *items))


@rule(np.full, np.full_like)
def filled(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """One number for every sample in an array that all are like."""
    fill = arguments["fill_value"]
    if arguments["dtype"] is not None or not isinstance(fill, Hole):
        raise NotLifted(f"{s.primitive.spelling} of a dtype")
    L.spread(s, s.operands[fill.position])


@rule(np.zeros_like, np.ones_like)
def like(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """Zeros or ones in the shape of all samples."""
    again(L, s, arguments)


@rule(np.real, np.imag, np.conjugate, np.conj)
def part(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """A part of every element."""
    again(L, s, arguments)


# ---- products ----------------------------------------------------------------------


@rule(operator.matmul, np.dot)
def product(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """Products of vectors and matrices, of which one or both differ."""
    a, b = s.operands
    ranks = type_of(a).rank, type_of(b).rank
    if 0 in ranks or max(ranks) > 2:
        raise NotLifted(f"{s.primitive.spelling} of other than vectors and matrices")
    x, y = L.own.operand(a), L.own.operand(b)
    matmul = row(operator.matmul, 2)
    match L.differs(a), L.differs(b), *ranks:
        case True, False, _, _:
            L.let(s, matmul, x, y)
        case False, True, 1, 1:
            L.let(s, matmul, y, x)
        case False, True, 2, 1:
            L.let(s, matmul, y, _turned(L, x))
        case False, True, _, 2:
            L.let(s, matmul, x, y)
        case True, True, 1, 1:
            both = _let(L, row(operator.mul, 2), x, y, like=x)
            template = Template((("x", Hole(0)), ("axis", -1), ("keepdims", False)))
            L.let(s, row(np.sum, 3), both, attribute=template)
        case True, True, 2, 1:
            L.let(s, row(np.matvec, 2), x, y)
        case True, True, 1, 2:
            line = _with_axis(L, x, -2)
            size, n = type_of(x).dims[0], type_of(y).dims[-1]  # type: ignore[index]
            out = array(L.type(s.out.type).dtype, (size, linear(1), n))
            _without_axis(L, s, L.b.raw(matmul, line, y, type=out), -2)
        case _:
            L.let(s, matmul, x, y)


@rule(np.matvec, np.vecmat)
def of_matrix(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """Products of which NumPy takes stacks."""
    if {type_of(o).rank for o in s.operands} != {1, 2}:
        raise NotLifted(f"{s.primitive.spelling} of stacks")
    again(L, s, arguments)


@rule(np.cross)
def crossed(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """Products of two vectors in space."""
    if any(type_of(o).rank != 1 for o in s.operands):
        raise NotLifted("np.cross of other than two vectors")
    again(L, s, arguments)


@rule(np.inner, np.vecdot, np.vdot)
def inner(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """Products of real vectors."""
    a, b = map(type_of, s.operands)
    if (a.rank, b.rank) != (1, 1) or a.is_complex:
        raise NotLifted(f"{s.primitive.spelling} of other than real vectors")
    product(L, s, arguments)


@rule(np.einsum)
def summed(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """A sum of products, in which the samples have a letter of their own."""
    left, arrow, right = arguments["subscripts"].replace(" ", "").partition("->")
    terms = left.split(",")
    free = (c for c in "nsbtuvwxyzNSBTUVWXYZ" if c not in left + right)
    letter = next(free, None)
    if letter is None:
        raise NotLifted("np.einsum with every letter")
    differ = [L.differs(o) for o in s.operands]
    given = [letter * d + t for t, d in zip(terms, differ, strict=True)]
    if not arrow:
        if "..." in left:
            raise NotLifted("np.einsum that does not name its result")
        right = "".join(sorted(c for c in set(left) - {","} if left.count(c) == 1))
    subscripts = f"{','.join(given)}->{letter}{right}"
    again(L, s, {**arguments, "subscripts": subscripts})


@rule(np.tensordot)
def contracted(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """A sum of products over axes, as one by letters."""
    ranks = [type_of(o).rank for o in s.operands]
    axes = plain(arguments["axes"])
    if type(axes) is int:
        pairs = [(ranks[0] - axes + k, k) for k in range(axes)]
    else:
        first, second = ((k,) if type(k) is int else tuple(k) for k in axes)
        ends = zip(first, second, strict=True)
        pairs = [(j % ranks[0], k % ranks[1]) for j, k in ends]
    letters = iter("ijklmopqrcdefgh")
    one = [next(letters) for _ in range(ranks[0])]
    met = {k: one[j] for j, k in pairs}
    other = [met.get(k) or next(letters) for k in range(ranks[1])]
    left = [c for c in one if c not in met.values()]
    right = [c for k, c in enumerate(other) if k not in met]
    a, b = (
        "n" * L.differs(o) + "".join(t)
        for o, t in zip(s.operands, (one, other), strict=True)
    )
    subscripts = f"{a},{b}->n{''.join(left + right)}"
    items = (
        ("subscripts", subscripts),
        ("operands", Sequence(tuple, (Hole(0), Hole(1)))),
        ("optimize", False),
    )
    operands = map(L.own.operand, s.operands)
    L.let(s, row(np.einsum, 3), *operands, attribute=Template(items))


@rule(np.outer)
def outer(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """Every product of elements of two vectors."""
    if any(type_of(o).rank != 1 for o in s.operands):
        raise NotLifted("np.outer of other than vectors")
    a, b = s.operands
    x, y = L.own.operand(a), L.own.operand(b)
    column = _with_axis(L, x, -1)
    line = _with_axis(L, y, -2) if L.differs(b) else y
    L.let(s, row(operator.mul, 2), column, line)


@rule(
    np.linalg.inv, np.linalg.det, np.linalg.cholesky, np.linalg.eigh,
    np.linalg.eigvalsh, np.linalg.slogdet, np.linalg.svd, np.linalg.qr,
    np.linalg.pinv,
)  # fmt: skip
def of_stacks(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """What NumPy does to each matrix of a stack."""
    first_rank(L, s)
    again(L, s, arguments)


@rule(np.linalg.solve)
def solved(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """Systems of equations, one for each sample."""
    a, b = s.operands
    if type_of(a).rank != 2:
        raise NotLifted("np.linalg.solve of a stack")
    if type_of(b).rank == 2:
        L.let(s, s.primitive, L.own.operand(a), L.own.operand(b))
        return
    column = L.type(s.out.type)
    dims = (*(column.dims or ()), linear(1))
    operands = L.own.operand(a), _with_axis(L, L.own.operand(b), -1)
    found = L.b.raw(s.primitive, *operands, type=array(column.dtype, dims))
    _without_axis(L, s, found, -1)


def _let(L: Lift, p: Any, *operands: Any, like: Any, name: str | None = None) -> Any:
    return L.b.raw(p, *operands, type=type_of(like), name=name)


def _turned(L: Lift, a: Any) -> Any:
    """The transpose of a matrix that all samples share."""
    dims = tuple(reversed(type_of(a).dims or ()))
    transpose = row(np.transpose, 1)
    return L.b.let(transpose, a, type=replace(type_of(a), dims=dims))


def _with_axis(L: Lift, a: Any, axis: int) -> Any:
    """An array with an axis of length one, counted from the last of the result."""
    dims = list(type_of(a).dims or ())
    dims.insert(len(dims) + 1 + axis, linear(1))
    template = Template((("a", Hole(0)), ("axis", axis)))
    t = array(np.dtype(type_of(a).dtype), tuple(dims))
    return L.b.raw(row(np.expand_dims, 2), a, attribute=template, type=t, name=a.name)


def _without_axis(L: Lift, s: Let, a: Any, axis: int) -> None:
    """A result that has one axis more, of length one: its only element along that."""
    index: Index = (Whole(), At(linear(0)), *[Span()] * (-1 - axis))
    t = L.type(s.out.type, s.out.name)
    L.lift(s.out, L.b.element(a, index, t, s.out.name, safe=True))
