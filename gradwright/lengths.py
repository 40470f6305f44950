"""What a specialisation takes for granted of the lengths of arrays, checked at a call.

Lengths are symbols while a program is rewritten.  Where two of them meet they are taken
to be equal, and a slice is taken to lie inside its axis.  A call for which that does
not hold gets a specialisation of its own, with its lengths as numbers: where one of the
two is 1 NumPy stretches it, and otherwise its error comes where the program meets it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from gradwright.pipeline import Built
from gradwright.transform.indices import Dim, Linear

Fits = Callable[[Any], bool]


class Exceptional(Exception):
    """The lengths of this call are not as its specialisation takes them to be."""


def length_checks(built: Built) -> Iterator[str]:
    """What must hold of a call's arguments and captured values, as Python on `values`.

    Example:
        For `x + y` of two arrays it is `values[0].shape[0] == values[1].shape[0]`.
    """
    specialised = built.specialised
    values = [*specialised.inputs, *(p for _, p in specialised.hidden)]
    for a, b in specialised.equal_dims:
        left, right = _text(a, values), _text(b, values)
        if left is not None and right is not None:
            yield f"{left} == {right}"
    for form in specialised.at_least_zero:
        length = _text(form, values)
        if length is not None:
            yield f"{length} >= 0"


def fits(checks: list[str]) -> Fits | None:
    """The function of the values that says whether all checks hold; None of none."""
    if not checks:
        return None
    made: Fits = eval(f"lambda values: {' and '.join(checks)}")
    return made


def _text(form: Linear, values: list[Any]) -> str | None:
    """A form of lengths, as Python; None if it is of other lengths."""
    terms = [str(form.offset)] if form.offset or not form.terms else []
    for s, c in form.terms.items():
        if not isinstance(s, Dim) or s.array not in values:
            return None
        length = f"values[{values.index(s.array)}].shape[{s.axis}]"
        terms.append(length if c == 1 else f"{c} * {length}")
    return " + ".join(terms)
