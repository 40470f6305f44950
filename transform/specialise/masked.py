"""Reductions of a part of an array, and from a number on: where= and initial=.

    high = np.max(x, where=m, initial=a)     ->     high = np.max(np.where(m, x, a))
                                                    high = np.maximum(high, a)

Where that is not the same to the last bit there is a row: NumPy adds up in another
order under a mask, or from a number on.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from gradwright.transform.build import constant
from gradwright.transform.core import Const
from gradwright.transform.primitives.record import TABLE, Primitive
from gradwright.transform.specialise.arrays import call_signed
from gradwright.transform.specialise.frame import Frame, ProgramError
from gradwright.transform.specialise.methods import call_function

# Of each reduction: what leaves it as it is, and how it goes on from a number.
NEUTRAL: dict[Any, tuple[Any, Any]] = {
    np.max: (None, np.maximum),
    np.min: (None, np.minimum),
    np.amax: (None, np.maximum),
    np.amin: (None, np.minimum),
    np.any: (False, None),
    np.all: (True, None),
}


def meaning(f: Any, keywords: dict[str, Any]) -> Any:
    """The meaning of a call with where= or initial=; None where it has neither."""
    if keywords.keys().isdisjoint(("where", "initial")):
        return None
    if f in NEUTRAL:
        return partial(reduced, f)
    p = TABLE.of_part(f)
    return None if p is None else partial(summed, p)


def summed(
    p: Primitive,
    frame: Frame,
    arguments: list[Any],
    keywords: dict[str, Any],
    node: Any,
) -> Any:
    """A sum or product of the elements where a mask holds, beginning with a number."""
    others = {k: a for k, a in keywords.items() if not _is_left_out(k, a)}
    if others.keys().isdisjoint(("where", "initial")):
        return call_function(frame, p.function, arguments, others, node)
    return call_signed(frame, p, arguments, others, node)


def _is_left_out(name: str, a: Any) -> bool:
    """Whether an argument says nothing: a mask that holds everywhere."""
    return name == "where" and isinstance(a, Const) and a.value is True


def reduced(
    f: Any, frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """A reduction of the elements where a mask holds, beginning with a number."""
    from gradwright.transform.specialise.expressions import operate

    others = dict(keywords)
    mask, start = others.pop("where", None), others.pop("initial", None)
    x, *rest = arguments
    neutral, goes_on = NEUTRAL[f]
    if mask is not None and not _is_left_out("where", mask):
        instead = start if neutral is None else constant(neutral)
        if instead is None:
            raise ProgramError(ValueError(_no_identity(f)))
        x = operate(frame, np.where, node, mask, x, instead)
    found = call_function(frame, f, [x, *rest], others, node)
    return found if start is None else operate(frame, goes_on, node, found, start)


def _no_identity(f: Any) -> str:
    name = "maximum" if f in (np.max, np.amax) else "minimum"
    return (
        f"reduction operation '{name}' does not have an identity, "
        "so to use a where mask one has to specify 'initial'"
    )
