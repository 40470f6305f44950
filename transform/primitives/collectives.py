"""Collectives: what a sample of a vmap with an axis name asks of all samples.

They have no rows, since no NumPy function stands for them: the engine knows each by
name, and the vmap of that axis writes them out.  The attribute is a `Along`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gradwright.transform.errors import NotDifferentiable
from gradwright.transform.primitives.record import Primitive
from gradwright.transform.types import INT, Type


@dataclass(frozen=True)
class Along:
    """The axis of a collective, and its options.

    perm: of ppermute, the pairs of a source and a destination.  axis: where all_gather
    puts the samples.  split, concat: of all_to_all.
    """

    name: Any
    perm: tuple[tuple[int, int], ...] = ()
    axis: int = 0
    split: int = 0
    concat: int = 0


def _same(operand: Type) -> Type:
    return operand


def _int() -> Type:
    return INT


def _collective(name: str, type_rule: Any = _same) -> Primitive:
    return Primitive(name, None, name, "collective", type_rule)


PSUM = _collective("psum")
PMAX = _collective("pmax")
PMIN = _collective("pmin")
GATHER = _collective("all_gather")
PERMUTE = _collective("ppermute")
TO_ALL = _collective("all_to_all")
INDEX = _collective("axis_index", _int)
SIZE = _collective("axis_size", _int)


def no_derivative(s: Any) -> NotDifferentiable:
    """The error for a derivative of one of the others, inside of the vmap."""
    return NotDifferentiable(
        f"{s.primitive.name} has no derivative inside of the vmap",
        at=s.where,
        instead="the derivative of the vmap, or stop_gradient",
    )


OWN = (PERMUTE, TO_ALL, INDEX)
"""Those whose result differs from sample to sample."""
