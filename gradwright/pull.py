"""The functions that vjp and linearize return: the second halves of split programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from gradwright.arguments import flat, is_inexact
from gradwright.nans import run_checked
from gradwright.results import gradient_like, matched, outline, zeros
from gradwright.specialisation import Specialisation
from gradwright.switches import DEBUG_NANS, SWITCHED
from gradwright.transform.errors import ShapeError


class Half:
    """The second half of one call; it may be called any number of times.

    It keeps what the backward half needs: residuals, and copies of the arguments, so
    that their owners may change them in the meantime.
    """

    def __init__(
        self,
        found: Specialisation,
        places: tuple[Any, ...],
        args: tuple[Any, ...],
        leaves: Any,
        hidden: dict[str, Any],
        residuals: list[Any],
        value: Any,
        count: int,
        of: Callable[[], str],
    ) -> None:
        assert found.backward is not None
        self.backward = found.backward
        self.places = places
        self.count = count  # of the call's own arguments
        self.args = tuple(map(outline, args))
        self.value = outline(value)
        others = [a for a in (*leaves, *hidden.values(), *flat(value)) if _is_array(a)]
        self.residuals = [_apart(r, others) for r in residuals]
        self.kept = [
            _copied(hidden[k] if isinstance(k, str) else leaves[k])
            for k in found.needed
        ]
        self.of = of

    def run(self, seeds: Iterable[Any]) -> Iterator[Any]:
        """The flat results for flat cotangents or tangents."""
        made: dict[int, Any] = {}
        given = [*(_fresh(r, made) for r in self.residuals), *self.kept, *seeds]
        if SWITCHED.any and DEBUG_NANS.on:
            out = run_checked(self.backward, given)
        else:
            out = self.backward.run(given)
        return iter(out if isinstance(out, tuple) else (out,))

    def source(self) -> str:
        """The text of this half."""
        return self.backward.module.text


class Pull(Half):
    """Pulls cotangents back, from the result to the arguments."""

    def __call__(self, cotangent: Any) -> tuple[Any, ...]:
        gradients = self.run(matched(self.value, cotangent, "cotangent"))
        found: dict[int, Any] = {}
        for place, a in zip(self.places, self.args, strict=True):
            _sort(place, a, gradients, found)
        return tuple(found[k] for k in range(len(found)))

    def __repr__(self) -> str:
        return f"<pull of {self.of()}>"


class Push(Half):
    """Pushes tangents forward, from the arguments to the result."""

    def __call__(self, *tangents: Any) -> Any:
        if len(tangents) != self.count:
            raise ShapeError(
                f"{self!r} needs a tangent for each primal: "
                f"{self.count} primals, {len(tangents)} tangents"
            )
        dots = self.run(moved(self.places, self.args, tangents))
        return gradient_like(self.value, dots)

    def __repr__(self) -> str:
        return f"<push of {self.of()}>"


def moved(places: Any, args: Any, tangents: tuple[Any, ...]) -> Iterator[Any]:
    """The tangents of all inexact leaves, in the order of the parameters."""
    for place, a in zip(places, args, strict=True):
        if type(place) is tuple:
            yield from moved(place, a, tangents)
        elif place is None:
            yield from (zeros(leaf) for leaf in flat(a) if is_inexact(leaf))
        else:
            yield from matched(a, tangents[place], "tangent")


def _sort(place: Any, a: Any, gradients: Iterator[Any], found: dict[int, Any]) -> None:
    """Take a parameter's gradients, and keep those of the call's own arguments."""
    if type(place) is tuple:
        for p, item in zip(place, a, strict=True):
            _sort(p, item, gradients, found)
        return
    gradient = gradient_like(a, gradients)
    if place is not None:
        found[place] = gradient


def _apart(residual: Any, others: list[Any]) -> Any:
    """A residual without memory that the caller may store into."""
    if isinstance(residual, list):
        return [_apart(r, others) for r in residual] if others else residual
    if _is_array(residual) and any(np.may_share_memory(residual, a) for a in others):
        return residual.copy()
    return residual


def _is_array(a: Any) -> bool:
    return isinstance(a, np.ndarray)


def _copied(a: Any) -> Any:
    return a.copy() if _is_array(a) else a


def _fresh(residual: Any, made: dict[int, Any]) -> Any:
    """A tape is used up by the backward half: each call gets its own.

    A list that stands in two of them does so in their copies, too: `made` has these.
    """
    if not isinstance(residual, list):
        return residual
    if id(residual) not in made:
        made[id(residual)] = own = []  # type: ignore[var-annotated]
        own.extend(_fresh(i, made) for i in residual)
    return made[id(residual)]
