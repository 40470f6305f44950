"""Reductions of a part of an array, and from a number on: where= and initial=.

np.sum(x, where=m)                np.sum(np.where(m, x, 0.0))
np.max(x, initial=0.0)            np.maximum(np.max(x), 0.0)
"""

from __future__ import annotations

import operator
from functools import partial
from typing import Any

import numpy as np

from gradwright.transform.build import constant
from gradwright.transform.core import Const, type_of
from gradwright.transform.specialise.abstract import Structure
from gradwright.transform.specialise.frame import Frame, ProgramError
from gradwright.transform.specialise.methods import call_function
from gradwright.transform.types import Type

# Of each reduction: what leaves it as it is, and how it goes on from a number.
NEUTRAL: dict[Any, tuple[Any, Any]] = {
    np.sum: (0, operator.add),
    np.prod: (1, operator.mul),
    np.max: (None, np.maximum),
    np.min: (None, np.minimum),
    np.amax: (None, np.maximum),
    np.amin: (None, np.minimum),
    np.mean: (0, None),
    np.any: (False, None),
    np.all: (True, None),
}


def meaning(f: Any, keywords: dict[str, Any]) -> Any:
    """The meaning of a call with where= or initial=; None where it has neither."""
    if keywords.keys().isdisjoint(("where", "initial")) or f not in NEUTRAL:
        return None
    return partial(reduced, f)


def reduced(
    f: Any, frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """A reduction of the elements where a mask holds, beginning with a number."""
    from gradwright.transform.specialise.expressions import display, operate

    others = dict(keywords)
    mask, start = others.pop("where", None), others.pop("initial", None)
    x, *rest = arguments
    x = display(frame, x, node)
    neutral, goes_on = NEUTRAL[f]
    if mask is None or (isinstance(mask, Const) and mask.value is True):
        found = call_function(frame, f, [x, *rest], others, node)
    elif f is np.mean:
        total = {**others, "where": mask}
        found = reduced(np.sum, frame, [x, *rest], total, node)
        shape = Structure(tuple, tuple(type_of(x).dims or ()))
        held = call_function(frame, np.broadcast_to, [mask, shape], {}, node)
        count = call_function(frame, np.count_nonzero, [held, *rest], others, node)
        found = operate(frame, operator.truediv, node, found, count)
    else:
        instead = start if neutral is None else _as_kind(neutral, type_of(x))
        if instead is None:
            raise ProgramError(ValueError(_no_identity(f)))
        kept = operate(frame, np.where, node, mask, x, instead)
        found = call_function(frame, f, [kept, *rest], others, node)
    if start is None:
        return found
    return operate(frame, goes_on, node, found, start)


def _as_kind(neutral: Any, t: Type) -> Any:
    """A number as one of the kind of an array's."""
    return constant(float(neutral) if t.is_inexact else neutral)


def _no_identity(f: Any) -> str:
    name = "maximum" if f in (np.max, np.amax) else "minimum"
    return (
        f"reduction operation '{name}' does not have an identity, "
        "so to use a where mask one has to specify 'initial'"
    )
