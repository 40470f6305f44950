"""Sums of products while they are lowered: matmul, einsum and their kin, by subscripts.

    C = A @ B       ij,jk->ik       for i: for j: for k: C[i, k] += A[i, j] * B[j, k]

The loops run over the letters of the first operand first, so that the last letter runs
along rows of memory.  What sums along rows is summed in a number.
"""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import Any

import numpy as np

from gradwright.transform.build import row
from gradwright.transform.core import (
    Alloc,
    Cell,
    Const,
    If,
    Let,
    Library,
    Operand,
    Store,
    Value,
    type_of,
)
from gradwright.transform.indices import Linear, linear, multiply
from gradwright.transform.lowering.arrays import cast, is_cheap, lowers, moved
from gradwright.transform.lowering.nests import Places, Scope
from gradwright.transform.lowering.program import Lowering, Shape
from gradwright.transform.lowering.reductions import SUM, fold, in_floats
from gradwright.transform.lowering.views import reshaped
from gradwright.transform.primitives.structural import PRODUCT
from gradwright.transform.types import BOOL

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def contract(
    L: Lowering, out: Value, operands: list[Any], taken: list[str], given: str
) -> None:
    """The sum of the products of elements: of `taken` axes what is not `given`."""
    lengths: dict[str, Linear] = {}
    for o, letters in zip(operands, taken, strict=True):
        for letter, n in zip(letters, L.shape(o), strict=True):
            lengths[letter] = L.length_met(lengths.get(letter, n), n)
    summed = [c for c in dict.fromkeys("".join(taken)) if c not in given]
    t = out.type.element

    def element(w: Scope, at: dict[str, Operand]) -> Operand:
        found: Operand | None = None
        for o, letters in zip(operands, taken, strict=True):
            places = tuple(
                linear(0) if n.constant == 1 else at[c]
                for c, n in zip(letters, L.shape(o), strict=True)
            )
            x = cast(w, L.at(w, o, places), t)
            found = (
                x
                if found is None
                else w.let(row(operator.mul, 2), (found, x), t, "product")
            )
        assert found is not None
        return found

    if not summed:
        shape = tuple(lengths[c] for c in given)

        def at(w: Scope, places: Places) -> Operand:
            return element(w, dict(zip(given, places, strict=True)))

        cheap = all(is_cheap(L, o) for o in operands)
        L.is_computed(out, shape, at, tuple(operands), cheap)
        return
    order = _order(taken, given, summed)
    shape = tuple(lengths[c] for c in order)
    axes = tuple(k for k, c in enumerate(order) if c in summed)
    kept = [c for c in order if c not in summed]
    whole = out
    if "".join(kept) != given:
        whole = Value(out.name, out.type)
        L.uses[whole] = 1

    def product(w: Scope, places: Places) -> Operand:
        return element(w, dict(zip(order, places, strict=True)))

    fold(L, whole, shape, axes, False, product, tuple(operands), SUM)
    if whole is not out:
        turned = [given.index(c) for c in kept]
        moved(
            L,
            out,
            whole,
            lambda w, at: tuple(at[k] for k in turned),
            tuple(lengths[c] for c in given),
        )


def _order(taken: list[str], given: str, summed: list[str]) -> str:
    """The letters from the outermost loop to the innermost one."""
    order = list(given)
    last = given[-1] if given else ""
    along = all(last not in letters or letters.endswith(last) for letters in taken)
    for c in summed:
        inner = any(letters.endswith(c) for letters in taken)
        if (
            along
            and last
            and len(given) > 1
            and not (inner and not any(letters.endswith(last) for letters in taken))
        ):
            order.insert(len(order) - 1, c)
        else:
            order.append(c)
    return "".join(order)


def _letters(*ranks: int) -> list[str]:
    return [LETTERS[:r] for r in ranks]


SMALL = 8  # rows and columns of matrices that are multiplied in loops


def by_library(L: Lowering, s: Let, a: Any, b: Any) -> bool:
    """A product of matrices that may be large, by BLAS."""
    shapes = (*L.shape(a), *L.shape(b))
    if all(n.constant is not None and n.constant <= SMALL for n in shapes):
        return False
    t = s.out.type
    if not t.is_inexact or any(type_of(o).dtype != t.dtype for o in (a, b)):
        return False
    (n, k), (j, m) = L.shape(a), L.shape(b)
    L.length_met(k, j)
    turned, operands = [], []
    for o in (a, b):
        base = L.turned.get(o) if o not in L.stored else None
        turned.append(base is not None)
        operands.append(L.whole_memory(base if base is not None else o))
    place = L.room(s.out.name, t, (n, m), exactly=True)
    L.is_memory(s.out, place, (n, m))
    L.add(Library((place,), PRODUCT, tuple(operands), tuple(turned)))
    return True


LARGE = 4096  # elements of a matrix that BLAS multiplies with a vector


def by_size(L: Lowering, s: Let, a: Any, b: Any) -> bool:
    """A matrix and a vector: in loops where it is small, and else by BLAS."""
    left, right = L.shape(a), L.shape(b)
    matrix = left if len(left) == 2 else right
    size = multiply(*matrix)
    if size is not None and size.constant is not None and size.constant < LARGE:
        return False
    t = s.out.type
    if not t.is_inexact or any(type_of(o).dtype != t.dtype for o in (a, b)):
        return False
    L.length_met(left[-1], right[0])
    n = left[0] if len(left) == 2 else right[1]
    turned, operands = [], []
    for o in (a, b):
        base = L.turned.get(o) if o not in L.stored else None
        turned.append(base is not None)
        operands.append(L.whole_memory(base if base is not None else o))
    place = L.room(s.out.name, t, (n,), exactly=True)
    is_large = L.let(operator.ge, L.product(matrix), linear(LARGE), type=BOOL)
    with L.block() as large:
        L.add(Library((place,), PRODUCT, tuple(operands), tuple(turned)))
    with L.block() as small:
        k = left[-1]

        def row_of(w: Scope, at: Places) -> None:
            acc = Cell(s.out.name, t.element)
            w.add(Alloc(acc))
            w.add(Store(acc, Const(t.element.weak().type(0), t.element)))

            def add(w: Scope, over: tuple[Linear, ...]) -> None:
                ends = ((*at, *over), over) if len(left) == 2 else (over, (*over, *at))
                x, y = (L.at(w, o, p) for o, p in zip((a, b), ends, strict=True))
                product = w.let(row(operator.mul, 2), (x, y), t.element, "product")
                w.store(acc, (), product, accumulate=True, unordered=True)

            w.loop((k,), add)
            w.store(place, at, w.load(acc, (), t.element, s.out.name))

        L.root((n,), row_of)
    L.add(If(is_large, large, small))
    L.is_memory(s.out, place, (n,))
    return True


@lowers(np.dot)
@in_floats
def dot(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    """Over the last axis of the first, and the last but one of the second."""
    a, b = s.operands
    n, m = len(L.shape(a)), len(L.shape(b))
    if not n or not m:
        contract(L, s.out, [a, b], [LETTERS[:n], LETTERS[:m]], LETTERS[: n + m])
        return
    if n == m == 2 and by_library(L, s, a, b):
        return
    if n + m == 3 and by_size(L, s, a, b):
        return
    left, z = LETTERS[: n - 1], "Z"
    right = LETTERS[n - 1 : n + m - 2]
    second = z if m == 1 else right[:-1] + z + right[-1:]
    contract(L, s.out, [a, b], [left + z, second], left + right)


@lowers(operator.matmul)
@in_floats
def matmul(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    """Matrices, or stacks of them that are broadcast."""
    a, b = s.operands
    n, m = len(L.shape(a)), len(L.shape(b))
    if n == m == 2 and by_library(L, s, a, b):
        return
    if n + m == 3 and by_size(L, s, a, b):
        return
    count = max(n, m, 2) - 2
    stack = LETTERS[:count]
    i = "X" if n > 1 else ""
    k = "Y" if m > 1 else ""
    first = (stack[count - (n - 2) :] if n > 2 else "") + i + "Z"
    second = (stack[count - (m - 2) :] if m > 2 else "") + "Z" + k
    contract(L, s.out, [a, b], [first, second], stack + i + k)


@lowers(np.matvec)
@in_floats
def matvec(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    _of_stacks(L, s, "XZ", "Z", "X")


@lowers(np.vecmat)
@in_floats
def vecmat(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    _of_stacks(L, s, "Z", "ZX", "X", conjugate=True)


def _of_stacks(
    L: Lowering, s: Let, left: str, right: str, out: str, conjugate: bool = False
) -> None:
    a, b = s.operands
    if conjugate:
        a = _conjugate(L, a)
    n, m = len(L.shape(a)) - len(left), len(L.shape(b)) - len(right)
    stack = LETTERS[: max(n, m)]
    first, second = stack[len(stack) - n :] + left, stack[len(stack) - m :] + right
    contract(L, s.out, [a, b], [first, second], stack + out)


def _conjugate(L: Lowering, o: Any) -> Any:
    """An array whose elements are conjugated; itself where they are real."""
    t = type_of(o)
    if not t.is_complex:
        return o
    out = Value("conjugate", t)
    L.uses[out] = 1

    def at(w: Scope, places: Places) -> Operand:
        return w.let(row(np.conjugate, 1), (L.at(w, o, places),), t.element, "x")

    L.is_computed(out, L.shape(o), at, (o,), cheap=is_cheap(L, o))
    return out


@lowers(np.inner)
@in_floats
def inner(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    """Over the last axes of both."""
    a, b = s.operands
    n, m = len(L.shape(a)), len(L.shape(b))
    if not n or not m:
        contract(L, s.out, [a, b], [LETTERS[:n], LETTERS[:m]], LETTERS[: n + m])
        return
    left, right = LETTERS[: n - 1], LETTERS[n - 1 : n + m - 2]
    contract(L, s.out, [a, b], [left + "Z", right + "Z"], left + right)


@lowers(np.outer)
@in_floats
def outer(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    """Every element of one with every element of the other."""
    a, b = (_flat(L, o) for o in s.operands)
    contract(L, s.out, [a, b], ["a", "b"], "ab")


def _flat(L: Lowering, o: Any) -> Any:
    """An operand as one axis."""
    shape = L.shape(o)
    if len(shape) == 1:
        return o
    out = Value("flat", type_of(o))
    found = reshaped(L, shape, (L.product(shape),))
    L.uses[out] = 1
    moved(L, out, o, found.move, found.shape, found.reads)
    out.type = _typed(type_of(o), found.shape)
    return out


def _typed(t: Any, shape: Shape) -> Any:
    return replace(t, dims=shape)


@lowers(np.tensordot)
@in_floats
def tensordot(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    """Over some axes of each."""
    a, b = s.operands
    n, m = len(L.shape(a)), len(L.shape(b))
    axes = given.get("axes", 2)
    if isinstance(axes, int):
        of_a, of_b = list(range(n - axes, n)), list(range(axes))
    else:
        of_a, of_b = ([k] if isinstance(k, int) else list(k) for k in axes)
    of_a, of_b = [k % n for k in of_a], [k % m for k in of_b]
    first = [LETTERS[k] for k in range(n)]
    second = [LETTERS[n + k] for k in range(m)]
    for i, j in zip(of_a, of_b, strict=True):
        second[j] = first[i]
    kept = [c for k, c in enumerate(first) if k not in of_a]
    kept += [c for k, c in enumerate(second) if k not in of_b]
    contract(L, s.out, [a, b], ["".join(first), "".join(second)], "".join(kept))


@lowers(np.einsum)
@in_floats
def einsum(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    """As its subscripts say."""
    text = given["subscripts"].replace(" ", "")
    operands = list(s.operands)
    left, arrow, right = text.partition("->")
    taken = left.split(",")
    extra = max(
        [
            len(L.shape(o)) - len(t) + 3
            for o, t in zip(operands, taken, strict=True)
            if "..." in t
        ],
        default=0,
    )
    spare = [c for c in reversed(LETTERS) if c not in text][:extra]
    for k, (o, t) in enumerate(zip(operands, taken, strict=True)):
        if "..." in t:
            count = len(L.shape(o)) - len(t) + 3
            taken[k] = t.replace("...", "".join(spare[extra - count :]))
    if not arrow:
        joined = "".join(taken)
        once = sorted(c for c in set(joined) if joined.count(c) == 1 and c not in spare)
        right = "".join(spare) + "".join(once)
    right = right.replace("...", "".join(spare))
    contract(L, s.out, operands, taken, right)


@lowers(np.vdot)
@in_floats
def vdot(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    """All elements, the first ones conjugated."""
    a, b = (_flat(L, o) for o in s.operands)
    contract(L, s.out, [_conjugate(L, a), b], ["a", "a"], "")


@lowers(np.vecdot)
@in_floats
def vecdot(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    """Of stacks of vectors, along one axis of both."""
    a, b = s.operands
    axis = given.get("axis", -1)
    ranks = [len(L.shape(o)) for o in (a, b)]
    stack = LETTERS[: max(ranks) - 1]

    def letters(rank: int) -> str:
        own, k = stack[len(stack) - rank + 1 :], axis % rank
        return f"{own[:k]}Z{own[k:]}"

    contract(L, s.out, [_conjugate(L, a), b], [*map(letters, ranks)], stack)
