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
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwright.transform.build import row
from gradwright.transform.core import Let, Value, type_of
from gradwright.transform.indices import linear
from gradwright.transform.template import Hole, Sequence, Template
from gradwright.transform.types import array

if TYPE_CHECKING:
    from gradwright.transform.lifting import Lift

Rule = Callable[["Lift", Let, dict[str, Any]], None]


class NotLifted(Exception):
    """Why a program is not lifted, in a user's words."""


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
        tuple((n, _renumbered(a, number)) for n, a in arguments.items())
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


def from_the_end(axis: Any, rank: int) -> Any:
    """Axes of one sample, counted from the last one."""
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
    axes = arguments["axes"]
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
    _with_shape(L, s, L.own.operand(s.operands[0]))


@rule(np.ravel)
def laid_out(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """The elements of every sample in a row."""
    if first_rank(L, s) == 1:
        L.lift(s.out, L.own.operand(s.operands[0]))
        return
    shape = Sequence(tuple, (Hole(1), -1))
    template = Template((("a", Hole(0)), ("shape", shape)))
    a = L.own.operand(s.operands[0])
    L.let(s, row(np.reshape, 2), a, L.size, attribute=template)


@rule(np.broadcast_to)
def stretched(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """Every sample in a larger shape."""
    first_rank(L, s)
    _with_shape(L, s, L.aligned(s.operands[0], s.out.type.rank))


def _with_shape(L: Lift, s: Let, a: Any) -> None:
    """A row of an array and a shape, which is that of all samples."""
    shape = (L.size, *(L.own.type(s.out.type).dims or ()))
    numbers = [d for d in shape if d.constant is None]
    waiting = iter(range(1, 1 + len(numbers)))
    items = tuple(
        Hole(next(waiting)) if d.constant is None else d.constant for d in shape
    )
    (name, _), *_ = s.primitive.template(s.attribute).arguments
    template = Template(((name, Hole(0)), ("shape", Sequence(tuple, items))))
    L.let(s, s.primitive, a, *numbers, attribute=template)


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
            L.let(s, row(np.vecmat, 2), x, y)
        case _:
            L.let(s, matmul, x, y)


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
)  # fmt: skip
def of_stacks(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """What NumPy does to each matrix of a stack."""
    first_rank(L, s)
    again(L, s, arguments)


@rule(np.linalg.solve)
def solved(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """Systems of equations, one for each sample."""
    a, b = s.operands
    if type_of(b).rank == 2:
        L.let(s, s.primitive, L.own.operand(a), L.own.operand(b))
        return
    raise NotLifted("np.linalg.solve for one vector")


def _let(L: Lift, p: Any, *operands: Any, like: Any, name: str | None = None) -> Any:
    return L.b.raw(p, *operands, type=type_of(like), name=name)


def _turned(L: Lift, a: Any) -> Any:
    """The transpose of a matrix that all samples share."""
    dims = tuple(reversed(type_of(a).dims or ()))
    transpose = row(np.transpose, 1)
    return L.b.let(transpose, a, type=replace(type_of(a), dims=dims))


def _with_axis(L: Lift, a: Value, axis: int) -> Any:
    """An array with an axis of length one, counted from the last of the result."""
    dims = list(type_of(a).dims or ())
    dims.insert(len(dims) + 1 + axis, linear(1))
    template = Template((("a", Hole(0)), ("axis", axis)))
    t = array(np.dtype(type_of(a).dtype), tuple(dims))
    return L.b.raw(row(np.expand_dims, 2), a, attribute=template, type=t, name=a.name)
