"""Axes of vmap: which axis of each number or array inside of an argument is mapped.

    in_axes ({"w": 0, "b": None}, 1)  for  ({"w": W, "b": b}, X)   ->   0, None, 1

What the user writes is a prefix of the argument's structure: an int or None stands for
all that is inside.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from gradwright.transform.errors import ShapeError
from gradwright.transform.step import Step
from gradwright.transform.structure import Structure, structure_of

BY_NAME = "by name"


@dataclass(frozen=True)
class Axes:
    """Axes in the form of a tuple, list, dict or namedtuple; hashable."""

    kind: type
    items: tuple[Any, ...]
    keys: tuple[Any, ...] | None = None

    def __str__(self) -> str:
        items = list(map(str, self.items))
        if self.keys is not None:
            pairs = zip(self.keys, items, strict=True)
            return f"{{{', '.join(f'{k!r}: {i}' for k, i in pairs)}}}"
        if self.kind is list:
            return f"[{', '.join(items)}]"
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def frozen(axes: Any, option: str) -> Any:
    """Axes as the user writes them, hashable.

    Raises:
        TypeError: Something in them is neither an int nor None.
    """
    held = structure_of(axes)
    if held is not None:
        items = tuple(frozen(i, option) for i in held.items)
        return Axes(held.kind, items, held.keys)
    if axes is None or type(axes) is int:
        return axes
    raise TypeError(
        f"{option} of vmap holds ints and None, in tuples, lists and dicts, "
        f"and not {axes!r}"
    )


def spread(axes: Any, a: Any, option: str, name: str) -> Iterator[int | None]:
    """The axis of each leaf of a structure, in order.

    Raises:
        ShapeError: The axes are of another structure.
    """
    if not isinstance(axes, Axes):
        for _ in _leaves(a):
            yield axes
        return
    items = _items(axes, a)
    if items is None:
        raise ShapeError(
            f"{option} of vmap does not have the structure of {name}: "
            f"{axes} for {_outline(a)}"
        )
    for inner, item in zip(items, a.items, strict=True):
        yield from spread(inner, item, option, name)


def _items(axes: Axes, a: Any) -> list[Any] | None:
    """The axes of each item of a structure; None where the two are not alike."""
    if not isinstance(a, Structure) or len(a.items) != len(axes.items):
        return None
    if axes.keys is None:
        plain = axes.kind in (tuple, list) and a.keys is None
        return list(axes.items) if plain or axes.kind is a.kind else None
    if a.keys is None or {*axes.keys} != {*a.keys}:
        return None
    found = dict(zip(axes.keys, axes.items, strict=True))
    return [found[k] for k in a.keys]


def _leaves(a: Any) -> Iterator[Any]:
    if isinstance(a, Structure):
        for item in a.items:
            yield from _leaves(item)
    else:
        yield a


def _outline(a: Any) -> str:
    """The structure of an argument, for a message: {'w': *, 'b': (*, *)}."""
    if not isinstance(a, Structure):
        return "*"
    return str(Axes(a.kind, tuple(map(_outline, a.items)), a.keys))


# ---- which parameters --------------------------------------------------------------


def of_parameters(
    step: Step, given: dict[str, Any], static: frozenset[str] = frozenset()
) -> Step:
    """A vmap whose in_axes has an entry for each parameter of the function.

    Args:
        step: The vmap; another transform stays as it is.
        given: By parameter, the position of the argument of a call that stands there,
            or BY_NAME; None for a default; a tuple or dict of these behind stars.
        static: The parameters that are no part of what runs.

    Raises:
        ShapeError: in_axes has more or fewer entries than the call has arguments.
    """
    if step.kind != "vmap":
        return step
    axes = step.in_axes
    if isinstance(axes, Axes):
        count = _count(given) - step.first
        if len(axes.items) != count:
            raise ShapeError(
                f"in_axes of vmap has {len(axes.items)} entries, and this call has "
                f"{count} arguments by position: in_axes={axes}"
            )

    def entry(place: Any) -> Any:
        if isinstance(place, tuple):
            return Axes(tuple, tuple(map(entry, place)))
        if isinstance(place, dict):
            return Axes(dict, tuple(map(entry, place.values())), tuple(place))
        if place is None or place == BY_NAME:
            return None if place is None else 0
        if not isinstance(axes, Axes):
            return axes if place >= step.first else None
        return axes.items[place - step.first] if place >= step.first else None

    in_axes = tuple(None if n in static else entry(p) for n, p in given.items())
    return replace(step, in_axes=in_axes)


def _count(given: dict[str, Any]) -> int:
    """How many arguments by position there are, with the bound ones."""
    places: list[Any] = []
    for p in given.values():
        places += p if isinstance(p, tuple) else [p]
    return max((p + 1 for p in places if isinstance(p, int)), default=0)
