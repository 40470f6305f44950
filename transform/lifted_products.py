"""Products while a program is lifted: of vectors, of matrices, and of stacks of them.

W @ x        x @ W.T                                    a matrix that all share
A @ x        np.matvec(A, x)                            one for each sample
a @ b @ c    np.einsum("nij,njk,nkl->nil", a, b, c)
"""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import Any

import numpy as np

from gradwright.transform.build import row
from gradwright.transform.core import Let, NewAxis, Span, type_of
from gradwright.transform.indices import Linear, linear, multiply
from gradwright.transform.lifted import (
    Lift,
    OneByOne,
    again,
    first_rank,
    from_the_end,
    in_a_row,
    one_by_one,
    plain,
    rule,
    shape_in,
    with_axis,
    without_axis,
)
from gradwright.transform.template import Hole, Sequence, Template

MATMUL = row(operator.matmul, 2)


@rule(operator.matmul)
def product(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """Products of vectors, matrices and stacks, of which one or both differ."""
    a, b = s.operands
    ranks = type_of(a).rank, type_of(b).rank
    if 0 in ranks:
        raise OneByOne
    x, y = L.own.operand(a), L.own.operand(b)
    match L.differs(a), L.differs(b), *ranks:
        case True, False, _, 1 | 2:
            L.let(s, MATMUL, x, y)
        case False, True, 1, 1:
            L.let(s, MATMUL, y, x)
        case False, True, 2, 1:
            L.let(s, MATMUL, y, _turned(L, x))
        case False, True, 1, _:
            L.let(s, MATMUL, x, y)
        case True, True, 1, 1:
            both = _let(L, row(operator.mul, 2), x, y, like=x)
            template = Template((("x", Hole(0)), ("axis", -1), ("keepdims", False)))
            L.let(s, row(np.sum, 3), both, attribute=template)
        case _, _, _, 1:
            L.let(s, row(np.matvec, 2), x, L.aligned(b, ranks[0] - 1))
        case _, _, 1, _:
            _from_left(L, s)
        case _:
            most = max(ranks)
            L.let(s, MATMUL, L.aligned(a, most), L.aligned(b, most))


def _from_left(L: Lift, s: Let) -> None:
    """A vector times a matrix, for each sample: of a matrix with one line."""
    a, b = s.operands
    line = with_axis(L, L.aligned(a, type_of(b).rank - 1), -2)
    t = L.type(s.out.type)
    *lead, n = t.dims or ()
    t = replace(t, dims=(*lead, linear(1), n))
    without_axis(L, s, L.b.raw(MATMUL, line, L.own.operand(b), type=t), -2)


@rule(np.dot)
def dot(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """Products as of `@`, by numbers too; of stacks every one with every other."""
    a, b = s.operands
    ranks = type_of(a).rank, type_of(b).rank
    if 0 in ranks:
        operands = [L.aligned(o, max(ranks)) for o in s.operands]
        L.let(s, row(operator.mul, 2), *operands)
    elif ranks[1] > 2:
        contracted(L, s, {"axes": ((-1,), (-2,))})
    else:
        product(L, s, arguments)


@rule(np.matvec, np.vecmat)
def of_matrix(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """Products of which NumPy takes stacks."""
    own = (2, 1) if s.primitive.function is np.matvec else (1, 2)
    _of_stacks(L, s, own)


@rule(np.vecdot)
def of_vectors(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """Products of vectors along an axis, of which NumPy takes stacks."""
    if arguments["axis"] == -1:
        inner(L, s, arguments)
        return
    ranks = {type_of(o).rank for o in s.operands}
    if len(ranks) > 1:
        raise OneByOne
    again(L, s, {**arguments, "axis": from_the_end(arguments["axis"], *ranks)})


def _of_stacks(L: Lift, s: Let, own: tuple[int, int]) -> None:
    """What NumPy broadcasts, of operands that have axes of their `own` behind."""
    most = max(type_of(o).rank - k for o, k in zip(s.operands, own, strict=True))
    operands = [L.aligned(o, most + k) for o, k in zip(s.operands, own, strict=True)]
    L.let(s, s.primitive, *operands, attribute=s.attribute)


@rule(np.inner, np.vdot)
def inner(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """Products of vectors; of real ones as of `@`."""
    a, b = map(type_of, s.operands)
    f = s.primitive.function
    if (a.rank, b.rank) == (1, 1) and (f is np.inner or not a.is_complex):
        product(L, s, arguments)
    elif f is np.vecdot:
        _of_stacks(L, s, (1, 1))
    elif f is np.vdot:
        rows = [in_a_row(L, L.given(o)) for o in s.operands]
        L.let(s, row(np.vecdot, 2), *rows)
    elif 0 in (a.rank, b.rank):
        dot(L, s, arguments)
    else:
        contracted(L, s, {"axes": ((-1,), (-1,))})


@rule(np.cross)
def crossed(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """Products of vectors in space, or in a plane, along an axis."""
    most = max(type_of(o).rank for o in s.operands)
    axis = arguments["axis"]
    ranks = (*(type_of(o).rank for o in s.operands), s.out.type.rank)
    axes = {
        name: from_the_end(arguments[name] if axis is None else axis, rank)
        for name, rank in zip(("axisa", "axisb", "axisc"), ranks, strict=True)
        if rank
    }
    again(L, s, {**arguments, **axes, "axis": None}, lambda o: L.aligned(o, most))


@rule(np.einsum)
def summed(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """A sum of products, in which the samples have a letter of their own."""
    left, arrow, right = arguments["subscripts"].replace(" ", "").partition("->")
    terms = left.split(",")
    free = (c for c in "nsbtuvwxyzNSBTUVWXYZ" if c not in left + right)
    letter = next(free, None)
    if letter is None:
        raise OneByOne
    differ = [L.differs(o) for o in s.operands]
    given = [letter * d + t for t, d in zip(terms, differ, strict=True)]
    if not arrow:
        once = sorted(c for c in set(left) - {*",."} if left.count(c) == 1)
        right = "..." * ("..." in left) + "".join(once)
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
    by_letters(L, s, ["".join(one), "".join(other)], "".join(left + right))


def by_letters(
    L: Lift, s: Let, terms: list[str], right: str, optimize: bool = False
) -> None:
    """A sum of products of all operands; the samples are n."""
    given = ["n" * L.differs(o) + t for o, t in zip(s.operands, terms, strict=True)]
    every = Sequence(tuple, tuple(map(Hole, range(len(terms)))))
    items = (
        ("subscripts", f"{','.join(given)}->n{right}"),
        ("operands", every),
        ("optimize", optimize),
    )
    operands = map(L.own.operand, s.operands)
    L.let(s, row(np.einsum, 3), *operands, attribute=Template(items))


@rule(np.outer)
def outer(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """Every product of elements of two vectors."""
    a, b = s.operands
    ranks = type_of(a).rank, type_of(b).rank
    if ranks == (1, 1):
        x, y = L.own.operand(a), L.own.operand(b)
    else:
        x, y = (in_a_row(L, L.given(o)) for o in s.operands)
    column = with_axis(L, x, -1)
    line = with_axis(L, y, -2) if type_of(y).rank > 1 else y
    L.let(s, row(operator.mul, 2), column, line)


@rule(np.kron)
def blocks(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """Every product of two elements, in the order of blocks."""
    rank = s.out.type.rank
    t = L.type(s.out.type, s.out.name)
    lengths = [_filled_up(L, o, rank) for o in s.operands]
    dims = [t.dims[0]] if t.dims else []  # of the samples
    for n, m in zip(*lengths, strict=True):
        made = multiply(n, m)
        whole: Any = L.b.operator(operator.mul, n, m) if made is None else made
        dims.append(whole)
    x, y = (_in_turn(L, o, rank, is_inner=k == 1) for k, o in enumerate(s.operands))
    every = [d for pair in zip(*lengths, strict=True) for d in pair]
    wide = replace(t, dims=(dims[0], *every))
    both = L.b.raw(row(operator.mul, 2), x, y, type=wide)
    template = Template((("a", Hole(0)), ("shape", shape_in(tuple(dims), 1))))
    known = [d for d in dims if d.constant is None]
    L.let(s, row(np.reshape, 2), both, *known, attribute=template)


def _filled_up(L: Lift, o: Any, rank: int) -> list[Linear]:
    """The lengths of one sample of an operand, after ones for the axes it lacks."""
    dims = L.own.type(type_of(o)).dims or ()
    return [linear(1)] * (rank - len(dims)) + [*dims]


def _in_turn(L: Lift, o: Any, rank: int, is_inner: bool) -> Any:
    """An operand with an axis of length one behind, or before, each of a sample's."""
    a = L.own.operand(o)
    lead, missing = int(L.differs(o)), rank - type_of(o).rank
    dims = a.type.dims or ()
    wide = [*dims[:lead], *[linear(1)] * (2 * missing if lead else 0)]
    index: list[Any] = [*[Span()] * lead, *[NewAxis()] * (len(wide) - lead)]
    for n in dims[lead:]:
        wide += [linear(1), n] if is_inner else [n, linear(1)]
        index += [NewAxis(), Span()] if is_inner else [Span(), NewAxis()]
    t = replace(a.type, dims=tuple(wide))
    return L.b.element(a, tuple(index), t, a.name, safe=True)


@rule(np.linalg.multi_dot)
def chained(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """A sum of products by letters, in the cheapest order, which NumPy finds."""
    ranks = [type_of(o).rank for o in s.operands]
    if len(ranks) == 2:
        product(L, s, arguments)
        return
    terms = ["ijklmopqrcdefgh"[k : k + 2] for k in range(len(ranks))]
    if len(terms[-1]) < 2:
        raise OneByOne
    if ranks[0] == 1:
        terms[0] = terms[0][1:]
    if ranks[-1] == 1:
        terms[-1] = terms[-1][:1]
    right = terms[0][:1] * (ranks[0] == 2) + terms[-1][1:]
    by_letters(L, s, terms, right, optimize=True)


@rule(np.convolve, np.correlate)
def slid(L: Lift, s: Let, arguments: dict[str, Any]) -> None:
    """One sample at a time; the lengths are said before.

    Windows of all samples would be as many arrays as the shorter one is long.
    """
    n, m = (L.own.type(type_of(o)).dims for o in s.operands)
    lengths = _slid(L, n[0], m[0], arguments["mode"]) if n and m else None
    one_by_one(L, s, dims=lengths)


def _slid(L: Lift, n: Linear, m: Linear, mode: str) -> tuple[Linear, ...] | None:
    """How long the result of a mode is."""
    if mode == "full":
        return (n + m - 1,)
    long, short = _chosen(L, max, n, m), _chosen(L, min, n, m)
    return {"same": (long,), "valid": (long - short + 1,)}.get(mode)


def _chosen(L: Lift, function: Any, n: Linear, m: Linear) -> Linear:
    """The larger or the smaller one of two lengths."""
    if n.constant is not None and m.constant is not None:
        return linear(function(n.constant, m.constant))
    found = L.b.operator(function, n, m)
    assert isinstance(found, Linear)
    return found


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
    ranks = type_of(a).rank, type_of(b).rank
    if ranks[1] > 1:
        operands = [L.aligned(o, max(ranks)) for o in s.operands]
        L.let(s, s.primitive, *operands)
        return
    column = L.type(s.out.type)
    t = replace(column, dims=(*(column.dims or ()), linear(1)))
    right = with_axis(L, L.aligned(b, ranks[0] - 1), -1)
    without_axis(L, s, L.b.raw(s.primitive, L.own.operand(a), right, type=t), -1)


def _let(L: Lift, p: Any, *operands: Any, like: Any, name: str | None = None) -> Any:
    return L.b.raw(p, *operands, type=type_of(like), name=name)


def _turned(L: Lift, a: Any) -> Any:
    """The transpose of a matrix that all samples share."""
    dims = tuple(reversed(type_of(a).dims or ()))
    transpose = row(np.transpose, 1)
    return L.b.let(transpose, a, type=replace(type_of(a), dims=dims))
