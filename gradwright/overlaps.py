"""What a function changes of its arguments, nothing else of a call may be a part of.

The derivative stores into a copy of an array, and what else lies in the same memory
would change in the function itself and not there; so with a list that another argument
is, too.  It is checked at a call, as nobody knows sooner.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from gradwright.pipeline import Built
from gradwright.transform.errors import AliasError, Location
from gradwright.transform.structure import item_name, structure_of


class Apart:
    """What of the arguments is changed, against the rest of a call."""

    def __init__(self, built: Built) -> None:
        specialised = built.specialised
        inputs = [*specialised.inputs, *(p for _, p in specialised.hidden)]
        self.count = len(specialised.inputs)
        self.stored = [
            (inputs.index(p), name, at) for p, name, at in specialised.stored
        ]
        self.changed, self.deep = specialised.changed, specialised.deep
        self.captured = [path.read for path in specialised.captured]

    def check(self, values: Any, hidden: dict[str, Any]) -> None:
        """Refuse a call whose arrays overlap."""
        every = self._every(values, hidden)
        for k, name, at in self.stored:
            for other in (*every[:k], *every[k + 1 :]):
                if isinstance(other, np.ndarray) and np.may_share_memory(
                    every[k], other
                ):
                    raise AliasError(
                        f"'{name}' is stored into, and shares memory with another "
                        f"array of this call",
                        at=at,
                        instead=f"a copy of the array for '{name}'",
                    )

    def _every(self, values: Any, hidden: dict[str, Any]) -> list[Any]:
        return [*values[: self.count], *hidden.values()]

    def kept(self, values: Any, hidden: dict[str, Any]) -> list[tuple[Any, Any]]:
        """The arrays that are stored into, each with a copy as it is now."""
        every = self._every(values, hidden)
        stored = [every[k] for k, _, _ in self.stored]
        return [(a, a.copy()) for a in stored if a.flags.writeable]

    def check_lists(self, named: Iterable[tuple[str, Any]], root: Any) -> None:
        """Refuse a call in which a list that is changed is given twice."""
        every = [found for n, a in named for found in _lists(a, (n,), n)]
        captured = [read(root) for read in self.captured]
        for path, words, held in every:
            others = [other for p, _, other in every if p != path]
            where = self._change_of(path)
            if where is not None and any(o is held for o in (*others, *captured)):
                raise AliasError(
                    f"'{words}' is changed, and is the same list as another one of "
                    f"this call",
                    at=where,
                    instead=f"list(...) of it for '{words}'",
                )

    def _change_of(self, path: tuple[Any, ...]) -> Location | None:
        """Where a list is changed: by itself, or as one in another list."""
        around = (path[:k] for k in range(len(path)) if path[:k] in self.deep)
        return self.changed.get(next(around, path))


def _lists(a: Any, path: tuple[Any, ...], words: str) -> Iterator[tuple[Any, str, Any]]:
    """The lists in an argument: the way to each, how a user says it, and itself."""
    held = structure_of(a)
    if held is None:
        return
    if held.kind is list:
        yield path, words, a
    for label, item in zip(held.labels, held.items, strict=True):
        yield from _lists(item, (*path, label), item_name(held, words, label))
