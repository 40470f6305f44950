"""What is known of the integers that steer: bounds of loop variables, equal lengths.

for i in range(1, n - 1): ... x[i + 1] ...       n - 1 - (i + 1) is never below 0
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradwright.transform.core import Value
from gradwright.transform.indices import Dim, Linear, is_length, symbol

Bounds = tuple[Linear, Linear]


class Forms:
    """Facts of a program: of its lengths, which hold everywhere, and of open loops.

    same: a length in terms of others.  natural: forms that are never negative, and
    those that are not where we are.
    bounds: of the variable of each loop round this place, its least and its greatest.
    """

    def __init__(
        self,
        equal: Iterable[tuple[Linear, Linear]] = (),
        natural: Iterable[Linear] = (),
    ) -> None:
        self.same: dict[Any, Linear] = {}
        self.lengths: set[Dim] = set()  # of parameters
        self.bounds: dict[Value, Bounds] = {}
        self.natural: list[Linear] = []
        self.here: list[Linear] = []  # what a branch round this place says
        for a, b in equal:
            self.equate(a, b)
        self.natural += map(self.resolved, natural)

    def equate(self, a: Linear, b: Linear) -> None:
        """Two lengths are one from here on: the later of them is put away."""
        difference = self.resolved(a) - self.resolved(b)
        for s in reversed(list(difference.symbols())):
            c = difference.terms[s]
            if abs(c) == 1:
                new = (difference - Linear({s: c})) * -c
                self.same = {k: _with(f, s, new) for k, f in self.same.items()}
                self.same[s] = new
                return

    def resolved(self, form: Linear) -> Linear:
        """The form without lengths that are put away."""
        if not any(s in self.same for s in form.terms):
            return form
        return form.substitute(lambda s: self.same.get(s, symbol(s)))

    def extreme(self, form: Linear, greatest: bool) -> Linear:
        """The least or the greatest that a form can be in the loops round here."""
        for s in reversed(list(self.bounds)):
            c = form.terms.get(s, 0)
            if c:
                low, high = self.bounds[s]
                end = high if (c > 0) is greatest else low
                form = form - Linear({s: c}) + end * c
        return form

    def is_natural(self, form: Linear) -> bool:
        """Whether a form is known never to be negative."""
        rests = self.rests(form)
        return any(
            _only_lengths(n - f) for n in rests for f in (Linear({}), *self.natural)
        )

    def rests(self, form: Linear) -> list[Linear]:
        """What is left of the least of a form, less each thing that is said of here."""
        form = self.resolved(form)
        facts = (*self.here, Linear({}))
        return [self.resolved(self.extreme(form - f, False)) for f in facts]

    def is_below(self, a: Linear, b: Linear) -> bool:
        """Whether a < b is known."""
        return self.is_natural(b - a - 1)

    def are_equal(self, a: Linear, b: Linear) -> bool:
        """Whether two lengths are known to be one."""
        return self.resolved(a - b).constant == 0

    def differ(self, a: Linear, b: Linear) -> bool:
        """Whether two lengths are known not to be one.

        The length of a parameter is never 1 while it is a symbol: that it is 1 belongs
        to the kind of an argument.
        """
        difference = self.resolved(a - b)
        if difference.constant is not None:
            return difference.constant != 0
        (s, *others), c = difference.terms, 0
        if not others and s in self.lengths:
            c = difference.terms[s]
        return c != 0 and difference.offset == -c

    def is_within(self, place: Linear, length: Linear) -> bool:
        """Whether a place is known to lie in an axis, counted from its start."""
        return self.is_natural(place) and self.is_below(place, length)


def _with(form: Linear, symbol_: Any, new: Linear) -> Linear:
    """The form with another form for one of its symbols."""
    return form.substitute(lambda t: new if t == symbol_ else symbol(t))


def _only_lengths(form: Linear) -> bool:
    return is_length(form) and all(isinstance(s, Dim) for s in form.symbols())
