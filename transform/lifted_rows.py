"""Rows with arguments by name while a program is lifted: along axes, and of shapes.

np.sum(x, axis=0)      np.sum(x, axis=-2)       axes are counted from the last one
x.reshape(n, m)        x.reshape(len(x), n, m)
np.diag(a)             np.diagonal(a, axis1=-2, axis2=-1)
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from gradwright.transform.build import constant, row
from gradwright.transform.core import Const, Let, Operand, type_of
from gradwright.transform.indices import linear
from gradwright.transform.lifted import (
    Lift,
    OneByOne,
    again,
    again_as,
    first_rank,
    from_the_end,
    in_a_row,
    kept,
    one_by_one,
    one_sample,
    plain,
    renumbered,
    rule,
    shape_in,
    sizes,
    stood,
    stretched_to,
    with_axis,
    with_size,
)
from gradwright.transform.template import Hole, Sequence, Template, holes
from gradwright.transform.types import BOOL, Type, array

# ---- along axes --------------------------------------------------------------------


OF_ONE = {np.sum, np.mean, np.prod, np.max, np.amax, np.min, np.amin, np.median}
"""Reductions that leave a number as it is."""


@rule(
    np.sum, np.mean, np.var, np.std, np.prod, np.max, np.amax, np.min, np.amin, np.ptp,
    np.median, np.any, np.all, np.count_nonzero,
)  # fmt: skip
def reduced(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """Over all axes of a sample, or over some of them."""
    found = L.own.operand(s.operands[0])
    is_number = not type_of(s.operands[0]).rank
    is_kept = is_number and type_of(found) == L.type(s.out.type)
    if s.primitive.kind == "general":
        reduced_part(L, s, arguments)
    elif s.primitive.function in OF_ONE and is_kept:
        L.lift(s.out, found)
    elif len(s.operands) > 1:
        raise OneByOne
    else:
        axis = every_axis(arguments["axis"], first_rank(L, s))
        again(L, s, {**arguments, "axis": axis})


def every_axis(axis: Any, rank: int) -> Any:
    """The axes of a reduction; without any named, all of a sample."""
    axis = tuple(range(-rank, 0)) if axis is None else from_the_end(axis, rank)
    if axis == ():
        raise OneByOne  # of a number, or over no axis
    return axis[0] if isinstance(axis, tuple) and len(axis) == 1 else axis


def reduced_part(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """Of the elements where a mask holds; a number for each sample is put in last."""
    a, where = s.operands[0], argument(s, arguments["where"])
    rank = type_of(a).rank
    arguments = {**arguments, "axis": every_axis(arguments["axis"], rank)}

    def of_all(o: Operand) -> Operand:
        if o is a and L.differs(where):
            return L.given(a)
        return L.aligned(o, rank) if o is where else L.own.operand(o)

    begun = argument(s, arguments.get("initial"))
    if not L.differs(begun):
        again(L, s, arguments, of_all)
        return
    t = s.out.type
    if not (type_of(a).is_inexact and _is_kept(begun, t)):
        raise OneByOne
    is_one = not (L.differs(a) or L.differs(where))
    found = again_as(
        L,
        s,
        {**arguments, "initial": None},
        of_all,
        L.own.type(t) if is_one else L.type(t, s.out.name),
    )
    joins = operator.add if s.primitive.function is np.sum else operator.mul
    L.let(s, row(joins, 2), found, L.aligned(begun, t.rank))


def _is_kept(number: Any, t: Type) -> bool:
    """Whether a number leaves an array of the type that it is put into."""
    joined = np.result_type(type_of(number).weak(), np.dtype(t.dtype))
    return bool(joined == np.dtype(t.dtype))


def argument(s: Let, a: Any) -> Any:
    """What stands for an argument, if anything does."""
    return s.operands[a.position] if isinstance(a, Hole) else None


@rule(np.argmax, np.argmin, np.cumsum, np.cumprod)
def along_one(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """Along one axis, or along all elements in a row."""
    rank, axis = first_rank(L, s), arguments["axis"]
    if axis is not None:
        again(L, s, {**arguments, "axis": from_the_end(axis, rank)})
    elif arguments.get("keepdims") and rank != 1:
        raise OneByOne
    else:
        again(L, s, {**arguments, "axis": -1}, first_in_a_row(L, s))


def first_in_a_row(L: Lift, s: Let) -> Any:
    """Operands for all samples, the elements of the first in a row."""

    def of_all(o: Operand) -> Any:
        found = L.own.operand(o)
        return in_a_row(L, found) if o is s.operands[0] else found

    return of_all


@rule(np.sort, np.argsort)
def sorted_along(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """In order along an axis, or all elements in a row."""
    along_one(L, s, arguments)


@rule(np.repeat)
def repeated(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """Elements of every sample several times, along an axis."""
    if any(map(L.differs, s.operands[1:])):
        raise OneByOne
    along_one(L, s, arguments)


@rule(np.roll, np.flip)
def rearranged(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """Along axes of a sample, which keeps its shape."""
    rank, axis = first_rank(L, s), arguments["axis"]
    if any(map(L.differs, s.operands[1:])):
        raise OneByOne
    if axis is not None or s.primitive.function is np.flip:
        again(L, s, {**arguments, "axis": every_axis(axis, rank)})
        return
    a = L.own.operand(s.operands[0])
    t = in_a_row(L, a).type
    found = again_as(L, s, {**arguments, "axis": -1}, first_in_a_row(L, s), t)
    if rank == 1:
        L.lift(s.out, found)
        return
    dims = a.type.dims
    template = Template((("a", Hole(0)), ("shape", shape_in(dims, 1))))
    known = [d for d in dims if d.constant is None]
    L.let(s, row(np.reshape, 2), found, *known, attribute=template)


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
    if arguments["axis"] is None and rank not in (1, 2):
        raise OneByOne
    again(L, s, {**arguments, "axis": every_axis(arguments["axis"], rank)})


@rule(np.tril, np.triu)
def of_matrices(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """A part of every matrix; a vector is taken for every row of one."""
    if first_rank(L, s) > 1:
        again(L, s, arguments)
        return
    dims = L.type(s.out.type, s.out.name).dims or ()
    rows = stretched_to(L, with_axis(L, L.own.operand(s.operands[0]), -2), dims)
    again(L, s, arguments, lambda o: rows if o is s.operands[0] else L.own.operand(o))


@rule(np.diagonal)
def on_diagonals(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """The diagonal of every matrix."""
    rank = first_rank(L, s)
    axes = {n: from_the_end(arguments[n], rank) for n in ("axis1", "axis2")}
    again(L, s, {**arguments, **axes})


@rule(np.diag)
def diagonal(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """The diagonal of every matrix, or every matrix of a diagonal."""
    k, v = arguments["k"], L.own.operand(s.operands[0])
    if first_rank(L, s) == 2:
        named = (("a", Hole(0)), ("offset", k), ("axis1", -2), ("axis2", -1))
        L.let(s, row(np.diagonal, 4), v, attribute=Template(named))
        return
    n = v.type.dims[-1] + abs(k)
    known = n.constant is not None
    eye = (
        ("N", n.constant if known else Hole(0)),
        ("M", None),
        ("k", k),
        ("dtype", bool),
    )
    mask = L.b.raw(
        row(np.eye, 4),
        *([] if known else [n]),
        attribute=Template(eye),
        type=array(bool, (n, n)),
        name="is_there",
    )
    if k:
        v = lengthened(L, v, abs(k))
    column = with_axis(L, v, -2 if k < 0 else -1)
    L.let(s, row(np.where, 3), mask, column, zero_of(s.out.type))


def lengthened(L: Lift, a: Any, k: int) -> Any:
    """More elements at the end of every vector."""
    n, m = a.type.dims
    named = (
        ("array", Hole(0)),
        ("pad_width", kept(((0, 0), (0, k)))),
        ("mode", "constant"),
        ("constant_values", 0),
    )
    t = array(np.dtype(a.type.dtype), (n, m + k))
    return L.b.raw(row(np.pad, 2), a, attribute=Template(named), type=t, name=a.name)


def zero_of(t: Type) -> Operand:
    """The zero that an array of a type may hold without another type."""
    if t.is_bool:
        return Const(False, BOOL)
    return constant(0.0) if t.is_inexact else linear(0)


@rule(np.pad)
def padded(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """More elements at the ends of every sample, and no more samples."""
    rank, width = first_rank(L, s), arguments["pad_width"]
    if any(map(L.differs, s.operands[1:])):
        raise OneByOne
    again(L, s, {**arguments, "pad_width": ((0, 0), *widths(width, rank))})


def widths(width: Any, rank: int) -> list[tuple[Any, Any]]:
    """How many elements before and behind, axis by axis, as np.pad reads it."""
    items = width.items if isinstance(width, Sequence) else width
    if not isinstance(items, tuple | list):
        return [(items, items)] * rank
    if not any(isinstance(i, tuple | list | Sequence) for i in items):
        return [(items[0], items[-1])] * rank
    pairs = [i.items if isinstance(i, Sequence) else i for i in items]
    return [(p[0], p[-1]) for p in pairs] * (rank if len(pairs) == 1 else 1)


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
    again(L, s, {**arguments, "axis": axis}, L.given)


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
    first_rank(L, s)
    L.lift(s.out, in_a_row(L, L.own.operand(s.operands[0])))


def with_shape(L: Lift, s: Let, arguments: dict[str, Any], a: Any) -> None:
    """A row of an array and a shape, which is that of all samples."""
    (name, _), (_, shape) = arguments.items()
    items = shape.items if isinstance(shape, Sequence) else shape
    items = items if isinstance(items, tuple | list) else (items,)
    used = [k for i in items for k in holes(i)]
    number = {k: n for n, k in enumerate(used, 1 + len(sizes(L)))}
    items = tuple(renumbered(i, number) for i in items)
    template = Template(((name, Hole(0)), ("shape", with_size(L, items, 1))))
    rest = [L.own.operand(s.operands[k]) for k in used]
    L.let(s, s.primitive, a, *sizes(L), *rest, attribute=template)


@rule(np.full, np.full_like)
def filled(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """One number for every sample in an array that all are like."""
    fill = arguments["fill_value"]
    if arguments["dtype"] is not None or not isinstance(fill, Hole):
        raise OneByOne
    L.spread(s, s.operands[fill.position])


@rule(np.tile)
def tiled(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """Every sample side by side, so many times along each axis."""
    rank, times = first_rank(L, s), plain(arguments["reps"])
    times = tuple(times) if isinstance(times, tuple | list) else (times,)
    every = (1,) * (1 + max(rank - len(times), 0)) + times
    arguments = {**arguments, "reps": every}
    again(L, s, arguments, lambda o: L.aligned(o, len(every) - 1))


@rule(np.linspace)
def spaced(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """From every start to every stop."""
    rank = s.out.type.rank
    axis = from_the_end(arguments["axis"], rank)
    again(L, s, {**arguments, "axis": axis}, lambda o: L.aligned(o, rank - 1))


@rule(np.meshgrid)
def grids(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """The coordinates of every grid, stretched along the other axes."""
    count = len(s.operands)
    if any(type_of(x).rank != 1 for x in s.operands):
        raise OneByOne
    is_swapped = arguments["indexing"] == "xy" and count > 1
    parts: list[Operand] = []
    for k, (x, t) in enumerate(zip(s.operands, s.out.type.items or (), strict=True)):
        axis = 1 - k if is_swapped and k < 2 else k
        dims = L.type(t, s.out.name).dims or ()
        along = stood(L, L.own.operand(x), axis, count)
        parts.append(stretched_to(L, along, dims))
    L.parts[s.out] = parts


@rule(np.zeros_like, np.ones_like)
def like(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """Zeros or ones in the shape of all samples."""
    again(L, s, arguments)


@rule(np.real, np.imag, np.conjugate, np.conj)
def part(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """A part of every element."""
    again(L, s, arguments)


# ---- one sample at a time ----------------------------------------------------------


@rule(np.interp)
def interpolated(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """Between points that all samples share, NumPy takes places of any shape."""
    if any(map(L.differs, s.operands[1:])):
        raise OneByOne
    again(L, s, arguments)


@rule(np.searchsorted)
def found_in(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """In an array that all samples share, NumPy finds places for any shape."""
    if L.differs(s.operands[0]):
        raise OneByOne
    again(L, s, arguments)


@rule(np.quantile)
def quantiles(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """One quantile of every sample; more have an axis before that of the samples."""
    rank = first_rank(L, s)
    if any(L.differs(q) or type_of(q).rank for q in s.operands[1:]):
        raise OneByOne
    again(L, s, {**arguments, "axis": every_axis(arguments["axis"], rank)})


@rule(np.bincount)
def counted(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """As many counts in every sample as are asked for; where there are more, it raises.

    The samples have counts of different lengths then.
    """
    least = arguments["minlength"]
    n = s.operands[least.position] if isinstance(least, Hole) else linear(least)
    one_by_one(L, s, dims=(L.own.operand(n),) if n != linear(0) else None)


rule(
    np.arange, np.zeros, np.ones, np.eye, np.identity, np.tri, np.indices, np.ix_,
    np.fft.fftfreq, np.fft.rfftfreq, np.where, np.nonzero, np.flatnonzero, np.argwhere,
)(one_sample)  # fmt: skip
