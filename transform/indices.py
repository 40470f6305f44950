"""Linear forms: the integers that steer a program, equal when equal as data.

A dim, a loop variable, an index, a slice bound and a trip count are all of the form
`c + a*i + b*n ...` over symbols.  A symbol is an integer `Value` of the core (a loop
variable, the result of `n // 2`) or a `Dim` (an axis of an array):

    >>> n, i = "n", "i"  # any hashable will do as a symbol
    >>> symbol(n) - 1 - symbol(i) == symbol(n) - symbol(i) - 1
    True
    >>> (symbol(n) - symbol(n) + 3).constant
    3
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Dim:
    """The length of one axis of an array value."""

    array: Any
    axis: int


class Linear:
    """An integer `offset + sum(coefficient * symbol)`; immutable, hashable."""

    __slots__ = ("offset", "terms")

    def __init__(self, terms: dict[Any, int], offset: int = 0) -> None:
        self.terms = {s: c for s, c in terms.items() if c}
        self.offset = offset

    @property
    def constant(self) -> int | None:
        """Its value where it holds no symbol, else None."""
        return None if self.terms else self.offset

    def symbols(self) -> Iterator[Any]:
        """The symbols, in the order in which the program met them."""
        return iter(self.terms)

    def substitute(self, mapping: Callable[[Any], Linear]) -> Linear:
        """The same form with every symbol replaced."""
        result = linear(self.offset)
        for s, c in self.terms.items():
            result = result + mapping(s) * c
        return result

    def __add__(self, other: Linear | int) -> Linear:
        other = linear(other)
        terms = dict(self.terms)
        for s, c in other.terms.items():
            terms[s] = terms.get(s, 0) + c
        return Linear(terms, self.offset + other.offset)

    def __mul__(self, factor: int) -> Linear:
        return Linear(
            {s: c * factor for s, c in self.terms.items()}, self.offset * factor
        )

    def __neg__(self) -> Linear:
        return self * -1

    def __sub__(self, other: Linear | int) -> Linear:
        return self + -linear(other)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Linear)
            and self.offset == other.offset
            and self.terms == other.terms
        )

    def __hash__(self) -> int:
        return hash((self.offset, frozenset(self.terms.items())))

    def __repr__(self) -> str:
        parts = [f"{c}*{s}" for s, c in self.terms.items()]
        return " + ".join([*parts, str(self.offset)])


def linear(value: Linear | int) -> Linear:
    """A linear form from itself or from a plain integer."""
    return value if isinstance(value, Linear) else Linear({}, int(value))


def symbol(s: Hashable) -> Linear:
    """The linear form that is one symbol."""
    return Linear({s: 1})


def is_length(form: Linear) -> bool:
    """Whether a form is the length of something, whatever the lengths in it are."""
    return form.offset >= 0 and all(c > 0 for c in form.terms.values())


def multiply(a: Linear, b: Linear) -> Linear | None:
    """Their product where one is a constant; None where it is not linear."""
    if a.constant is not None:
        return b * a.constant
    if b.constant is not None:
        return a * b.constant
    return None
