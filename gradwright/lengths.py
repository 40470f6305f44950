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

Check = Callable[[Any], None]
Length = Callable[[Any], int]


class Exceptional(Exception):
    """The lengths of this call are not as its specialisation takes them to be."""


def length_checks(built: Built) -> Iterator[Check]:
    """The checks of a specialisation, of a call's arguments and captured values."""
    specialised = built.specialised
    values = [*specialised.inputs, *(p for _, p in specialised.hidden)]
    for a, b in specialised.equal_dims:
        left, right = _evaluator(a, values), _evaluator(b, values)
        if left is not None and right is not None:
            yield _equality(left, right)
    for form in specialised.at_least_zero:
        length = _evaluator(form, values)
        if length is not None:
            yield _at_least_zero(length)


def _evaluator(form: Linear, values: list[Any]) -> Length | None:
    """The function from the values to that of a form of their lengths."""
    terms = []
    for s, c in form.terms.items():
        if not isinstance(s, Dim) or s.array not in values:
            return None
        terms.append((values.index(s.array), s.axis, c))
    offset = form.offset
    if len(terms) == 1 and terms[0][2] == 1:
        ((k, axis, _),) = terms
        return lambda values: values[k].shape[axis] + offset
    return lambda values: offset + sum(c * values[k].shape[a] for k, a, c in terms)


def _equality(left: Length, right: Length) -> Check:
    def check(values: Any) -> None:
        if left(values) != right(values):
            raise Exceptional

    return check


def _at_least_zero(length: Length) -> Check:
    def check(values: Any) -> None:
        if length(values) < 0:
            raise Exceptional

    return check
