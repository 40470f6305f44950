"""Sizes: lengths of arrays that are known before a kernel runs.

    np.zeros((n // 2, A.shape[1]))   ->   (n // 2, A.shape[1]) of the arguments

Such an array is workspace that the driver keeps, or a result that it makes.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

from gradwright.transform.core import Const, Function, Let, Value
from gradwright.transform.indices import Dim, Linear

OPERATORS = {
    operator.add: "{} + {}",
    operator.sub: "{} - {}",
    operator.mul: "{} * {}",
    operator.floordiv: "{} // {}",
    max: "max({}, {})",
    min: "min({}, {})",
}


@dataclass(frozen=True)
class Length:
    """A length of an argument, an int argument, or an operation on such."""

    parameter: int = -1
    axis: int | None = None
    function: Any = None
    operands: tuple[Any, ...] = ()


Size = int | Length | tuple[tuple[tuple[int, Length], ...], int]
"""A number, one length, or a sum of lengths by coefficient, and an offset."""


class Sizes:
    """What is known of the ints of a function when it is entered."""

    def __init__(self, function: Function) -> None:
        self.params: dict[Any, int] = {p: k for k, p in enumerate(function.params)}
        self.lets = {s.out: s for s in function.body if isinstance(s, Let)}

    def of(self, o: Any) -> Size | None:
        """The size that an operand is, where it is known at entry."""
        match o:
            case int():
                return o
            case Const() if type(o.value) is int:
                return o.value
            case Linear():
                terms = []
                for s, c in o.terms.items():
                    length = self._symbol(s)
                    if length is None:
                        return None
                    terms.append((c, length))
                return (tuple(terms), o.offset) if terms else o.offset
            case Value():
                return self._symbol(o)
        return None

    def shape(self, like: Any) -> tuple[Size, ...] | None:
        """The lengths of a buffer, where all are known."""
        if isinstance(like, tuple):
            found = [self.of(o) for o in like]
        elif like in self.params:
            k = self.params[like]
            found = [Length(k, axis) for axis in range(like.type.rank)]
        else:
            return None
        return None if None in found else tuple(found)  # type: ignore[arg-type]

    def _symbol(self, s: Any) -> Length | None:
        if isinstance(s, Dim):
            if s.array in self.params:
                return Length(self.params[s.array], s.axis)
            return None
        if s in self.params and s.type.dtype == "int" and s.type.python:
            return Length(self.params[s])
        let = self.lets.get(s)
        if let is None or let.primitive.function not in OPERATORS:
            return None
        given = tuple(self.of(o) for o in let.operands)
        if None in given or not (s.type.python and s.type.dtype == "int"):
            return None
        divides = let.primitive.function is operator.floordiv
        if divides and (type(given[1]) is not int or given[1] == 0):
            return None
        return Length(function=let.primitive.function, operands=given)


def text(size: Size, names: list[str]) -> str:
    """A size as Python, of the arguments under these names."""
    match size:
        case int():
            return str(size)
        case Length():
            return _length(size, names)
    terms, offset = size
    parts = [f"{c} * {_length(s, names)}" for c, s in terms]
    return f"({' + '.join([*parts, str(offset)])})"


def _length(s: Length, names: list[str]) -> str:
    if s.function is not None:
        given = (text(o, names) for o in s.operands)
        return f"({OPERATORS[s.function].format(*given)})"
    name = names[s.parameter]
    return name if s.axis is None else f"{name}.shape[{s.axis}]"
