"""Primitives without a row: they stand for syntax; the engine knows each by name."""

from __future__ import annotations

from typing import Any

from gradwright.transform.primitives.record import Primitive
from gradwright.transform.types import BOOL, INT, TEXT, Type


def _structural(name: str, type_rule: Any, cheap: bool = False) -> Primitive:
    return Primitive(name, None, name, "structural", type_rule, cheap=cheap)


def _same(operand: Type) -> Type:
    return operand


def _text(*operands: Type) -> Type:
    return TEXT


def following(name: str) -> Primitive:
    """A function of `following`, of labels; the attribute is a last argument."""
    spelling = f"following.{name}"
    return Primitive(name, None, spelling, "constant", _same, view=True)


NAMED = _structural("named", _same, cheap=True)
"""y = operand: a literal that the user gave a name."""

STOPPED = Primitive("stopped", None, "stopped", "constant", _same, cheap=True)
"""y = operand, whose derivative is zero: stop_gradient."""

FORMAT = _structural("format", _text)
"""An f-string; the attribute holds its parts, operands by (conversion, spec)."""

DISPLAY = _structural("display", _same)
"""np.array of a (nested) display of scalars; the attribute is its shape."""

SPREAD = _structural("spread", _same)
"""A scalar cotangent repeated in the shape of an array: np.full_like(array, scalar)."""

CAST = _structural("cast", _same, cheap=True)
"""The operand as another kind of number; the attribute is the target type."""

CONJUGATE = _structural("conjugate", _same, cheap=True)
"""z.conjugate() of a number: of the kind that z has when the program runs."""

COPY = _structural("copy", _same)
"""An array of its own with the same content."""

ITEM = _structural("item", _same, cheap=True)
"""One of several results of a primitive; the attribute says which."""

SUM_TO = _structural("sum_to", _same)
"""A cotangent summed over the axes along which its primal was broadcast.

The attribute says over which; without it, the second operand is the primal, and it is
seen at run time whether that is a number.
"""

IS_ONE = _structural("is_one", lambda x: BOOL, cheap=True)
"""Whether an array has length one along an axis, the attribute; a number has not."""

WITHIN = _structural("within", lambda place, length: INT, cheap=True)
"""A place on an axis of some length, counted from its start: range(length)[place].

IndexError where it lies outside; the attribute is the axis, which the message names.
"""

PRODUCT = _structural("product", _same)
"""a @ b of two matrices in memory; the attribute says which of them are turned."""

ELEMENTS = Primitive(
    "elements", None, "following.elements", "constant", _same, view=True
)
"""What a row makes of elements with labels, in the shape of the last operand.

The attribute is the row, its template, and which operands are labels and factors.
"""

MADE = (SPREAD, CAST, COPY, DISPLAY)


def makes_anew(p: Primitive) -> bool:
    """Whether an array that a primitive gives shares memory with no other."""
    return (
        not p.shares_memory
        and p is not STOPPED
        and (p.kind != "structural" or p in MADE)
    )
