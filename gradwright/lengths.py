"""What a specialisation takes for granted of the lengths of arrays, checked at a call.

Lengths are symbols while a program is rewritten.  Where two of them meet they are taken
to be equal, and a slice is taken to lie inside its axis.  A call for which that does
not hold, as where one of the two is 1 and NumPy stretches it, gets a specialisation of
its own, with its lengths as numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from gradwright.pipeline import Built
from gradwright.transform.errors import Location, note_user_line
from gradwright.transform.indices import Dim, Linear

Check = Callable[[Any], None]


class Exceptional(Exception):
    """The lengths of this call are not as its specialisation takes them to be."""


def length_checks(built: Built) -> Iterator[Check]:
    """The checks of a specialisation, of a call's arguments and captured values."""
    specialised = built.specialised
    params = specialised.inputs
    for a, b, where in specialised.equal_dims:
        found = _equality(a, b, params, where)
        if found is not None:
            yield found
    everything = [*params, *(p for _, p in specialised.hidden)]
    for form in specialised.at_least_zero:
        length = _evaluator(form, everything)
        if length is not None:
            yield _at_least_zero(length)


def _evaluator(form: Linear, params: list[Any]) -> Callable[[Any], int] | None:
    """The function from the arguments to the value of a form of their lengths."""
    terms = []
    for s, c in form.terms.items():
        if not isinstance(s, Dim) or s.array not in params:
            return None
        terms.append((params.index(s.array), s.axis, c))
    offset = form.offset
    if len(terms) == 1 and terms[0][2] == 1:
        ((k, axis, _),) = terms
        return lambda values: values[k].shape[axis] + offset
    return lambda values: offset + sum(c * values[k].shape[a] for k, a, c in terms)


def _at_least_zero(length: Callable[[Any], int]) -> Check:
    def check(values: Any) -> None:
        if length(values) < 0:
            raise Exceptional

    return check


def _equality(
    a: Linear, b: Linear, params: list[Any], where: Location | None
) -> Check | None:
    left, right = _evaluator(a, params), _evaluator(b, params)
    if left is None or right is None:
        return None
    pair = _operand(a, params), _operand(b, params)

    def check(values: Any) -> None:
        n, m = left(values), right(values)
        if n == m:
            return
        if where is not None and None not in pair and 1 not in (n, m):
            x, y = (values[k] for k in pair)
            error = ValueError(
                f"operands could not be broadcast together with shapes "
                f"{_shape(x)} {_shape(y)} "
            )
            note_user_line(error, where)
            raise error
        raise Exceptional

    return check


def _operand(form: Linear, params: list[Any]) -> int | None:
    """The argument of which a form is a length, if it is one."""
    (s,) = form.symbols() if len(form.terms) == 1 else (None,)
    if isinstance(s, Dim) and form == Linear({s: 1}):
        return params.index(s.array)
    return None


def _shape(x: Any) -> str:
    return str(x.shape).replace(" ", "")
