"""Arrays of numbers that are known by their place, while they are lowered."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from gradwright.transform.build import row
from gradwright.transform.core import Const, Let, Operand
from gradwright.transform.indices import Linear, linear
from gradwright.transform.lowering.arrays import cast, lowers, spread
from gradwright.transform.lowering.nests import Places, Scope
from gradwright.transform.lowering.program import Lowering, Shape
from gradwright.transform.types import BOOL, INT


def _shape(L: Lowering, wanted: Any) -> Shape:
    wanted = wanted if isinstance(wanted, tuple | list) else (wanted,)
    return tuple(
        L.length(n) if isinstance(n, int | Linear) else L.let(int, n) for n in wanted
    )


def filled(L: Lowering, s: Let, value: Any, shape: Shape) -> None:
    """An array of one number."""
    spread(L, s.out, value, L.settled_shape(s.out, shape))


def _number(s: Let, value: int) -> Const:
    t = s.out.type.element
    return Const(np.dtype(t.dtype).type(value), t)


@lowers(np.zeros)
def zeros(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    filled(L, s, _number(s, 0), _shape(L, given["shape"]))


@lowers(np.ones)
def ones(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    filled(L, s, _number(s, 1), _shape(L, given["shape"]))


@lowers(np.full)
def full(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    filled(L, s, given["fill_value"], _shape(L, given["shape"]))


@lowers(np.zeros_like)
def zeros_like(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    filled(L, s, _number(s, 0), L.shape(s.operands[0]))


@lowers(np.ones_like)
def ones_like(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    filled(L, s, _number(s, 1), L.shape(s.operands[0]))


@lowers(np.full_like)
def full_like(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    filled(L, s, given["fill_value"], L.shape(s.operands[0]))


@lowers(np.eye)
def eye(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    n = L.length(given["N"])
    m = n if given.get("M") is None else L.length(given["M"])
    diagonal(L, s, (n, m), given.get("k", 0))


@lowers(np.identity)
def identity(L: Lowering, s: Let, given: dict[str, Any]) -> None:
    n = L.length(given["n"])
    diagonal(L, s, (n, n), 0)


def diagonal(L: Lowering, s: Let, shape: Shape, k: Any) -> None:
    """Ones on a diagonal."""
    t = s.out.type.element

    def at(w: Scope, places: Places) -> Operand:
        i, j = places
        held = w.let(row(operator.eq, 2), (_plus(i, k), j), BOOL, "is_there")
        return cast(w, held, t)

    L.is_computed(s.out, L.settled_shape(s.out, shape), at, (), cheap=True)


def _plus(i: Operand, k: Any) -> Operand:
    assert isinstance(i, Linear)
    return i + (k if isinstance(k, Linear) else linear(int(k)))


_ = INT
