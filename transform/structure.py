"""Tuples, lists, dicts and namedtuples, nested in any way, and what is inside them.

{"W": W, "b": b}   ->   Structure(dict, (W, b), keys=("W", "b"))
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(eq=False)
class Structure:
    """A tuple, list, dict or namedtuple, taken apart; a dict has keys, in its order."""

    kind: type
    items: tuple[Any, ...]
    keys: tuple[Any, ...] | None = None

    def of(self, items: Iterable[Any]) -> Structure:
        """The same structure around other items."""
        return Structure(self.kind, tuple(items), self.keys)

    def holding(self, items: Iterable[Any]) -> Structure:
        """The same structure with other words for its items: a list stays that list."""
        found = tuple(items)
        if all(a is b for a, b in zip(found, self.items, strict=True)):
            return self
        if self.kind is not list:
            return self.of(found)
        self.items = found
        return self

    @property
    def form(self) -> Any:
        """What two structures have in common that differ in their items; hashable."""
        if self.keys is None:
            return self.kind, len(self.items)
        return self.kind, self.keys, tuple(map(type, self.keys))

    @property
    def sequence(self) -> Any:
        """The plain tuple or list that it is, if it is one."""
        return None if self.keys is not None else list if self.kind is list else tuple

    @property
    def labels(self) -> Sequence[Any]:
        """How each item is asked for: by its key, its field or its position."""
        if self.keys is not None:
            return self.keys
        return getattr(self.kind, "_fields", range(len(self.items)))


def is_namedtuple(cls: type) -> bool:
    """Whether a class was made by `namedtuple` or `NamedTuple`, or derives from one."""
    return issubclass(cls, tuple) and isinstance(getattr(cls, "_fields", None), tuple)


def structure_of(a: Any) -> Structure | None:
    """A plain tuple, list, dict or namedtuple with its items as they are; else None."""
    t = type(a)
    if t is dict:
        return Structure(dict, tuple(a.values()), tuple(a))
    if t is tuple or t is list or (isinstance(a, tuple) and is_namedtuple(t)):
        return Structure(t, tuple(a))
    return None


def put_together(kind: type, items: Iterable[Any], keys: Any = None) -> Any:
    """The object that a structure of these items is."""
    if keys is not None:
        return dict(zip(keys, items, strict=True))
    return kind._make(items) if is_namedtuple(kind) else kind(items)  # type: ignore[attr-defined]


def item_name(held: Structure, name: str, label: Any) -> str:
    """How a user asks for an item of a structure: params["W"], pair[0], p.x."""
    if is_namedtuple(held.kind):
        return f"{name}.{label}"
    key = f'"{label}"' if isinstance(label, str) and label.isidentifier() else label
    return f"{name}[{key if key is not label else repr(label)}]"
