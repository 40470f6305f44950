"""What lists of the caller hold once a compiled function has changed them.

    def f(x, history):
        history.append(x)     ->     return 2.0 * x, [history_0, x]
        return 2.0 * x

The caller puts these items into its own list.  What it gave and what is still there
stays the very object that it was: an `Own`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from gradwright.transform.core import Load, Store, Value, type_of, walk
from gradwright.transform.specialise.abstract import (
    Listed,
    Region,
    Rows,
    Static,
    Structure,
    as_constant,
    is_operand,
    leaves,
    mapped,
)
from gradwright.transform.specialise.frame import Frame
from gradwright.transform.specialise.kinds import kind_at
from gradwright.transform.structure import item_name

WayTo = tuple[Any, ...]
"""The name of a parameter, then the keys, fields or positions in it."""


class OnlyItself(Exception):
    """Python's own objects would be others: the function itself has to run."""


@dataclass(frozen=True)
class Own:
    """What a call gives, at the end of a way: it is the same object afterwards."""

    way: WayTo


@dataclass(eq=False)
class Changed:
    """A list of the caller's, and what it holds afterwards.

    items: a structure of results, `Static` objects and what is the caller's own.  Of a
    list of run-time length it is the lists of the core that its items are taken from,
    and `row` what such an item is.  depth: of lists in lists.  is_new: its items are
    others; else some are added to those it had.  words: how a user asks for it.
    """

    way: WayTo
    items: Any
    row: Any = None
    depth: int = 1
    is_new: bool = True
    words: str = ""


class HandingBack:
    """The lists that a function is given, while it is rewritten.

    They are noted as they are before anything changes.
    """

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.ways: dict[int, WayTo] = {}
        self.kept: list[Any] = []  # so that nothing else gets their numbers
        self.made: set[Any] = set()  # lists of the function's own that it hands over
        for name, a in frame.env.items():
            self._note(a, (name,))

    def _note(self, a: Any, way: WayTo) -> None:
        if isinstance(a, Static):
            return
        self.ways[id(a)] = way
        self.kept.append(a)
        if isinstance(a, Structure):
            for label, item in zip(a.labels, a.items, strict=True):
                self._note(item, (*way, label))

    def of(self, value: Any, given: dict[str, Any]) -> tuple[Any, list[Changed]]:
        """What the function returns, and all lists that it has changed.

        Args:
            value: What it returns.
            given: The arguments, as they were.

        Raises:
            OnlyItself: Only the function itself can change them.
        """
        changed = self.frame.unit.changed
        if not changed:
            return value, []
        self._forget_names()
        found = [self._changed(way, given) for way in changed]
        found = [replace(c, words=_words(given, c.way)) for c in found]
        return self._result(value), found

    def _result(self, a: Any) -> Any:
        """A result with the lists that were changed themselves in it."""
        if not isinstance(a, Structure | Listed):
            return a
        own = self._behind(a)
        for way in self.frame.unit.changed:
            if own is self.frame.unit.lists[way]:
                return Static(Own(way))
        return a.of(map(self._result, a.items)) if isinstance(a, Structure) else a

    def _behind(self, a: Any) -> Any:
        """The structure that was read here."""
        return self.frame.program.behind.get(a, a) if isinstance(a, Structure) else a

    def _seen(self, a: Any) -> Any:
        """An item, with what is the caller's own in its place."""
        own = self._behind(a)
        way = self.ways.get(id(self._begun(own)))
        if way is not None:
            return Static(Own(way))
        if isinstance(own, Structure):
            if own in self.made:
                raise OnlyItself("one list is handed over twice")
            self.made |= {own} if own.kind is list else set()
            return own.of(map(self._seen, own.items))
        if isinstance(own, Listed):
            raise OnlyItself("a list of run-time length is in it")
        if self.frame.is_widened(own):
            raise OnlyItself("a number may be of another kind")
        return as_constant(self.frame.now(own))

    def _forget_names(self) -> None:
        """An array whose name gets another one is the caller's no more."""
        block = self.frame.builder.block
        others = {s.place for s in walk(block) if isinstance(s, Store) and s.rebinds}
        for a in self.kept:
            if isinstance(a, Region) and a.place in others:
                self.ways.pop(id(a))

    def _begun(self, a: Any) -> Any:
        """The argument that an array is which is stored into; else the thing itself."""
        made = self.frame.builder.definition.get(a) if isinstance(a, Value) else None
        place = made.source if isinstance(made, Load) and not made.index else None
        if place is None:
            return a
        regions = (held for held in self.kept if isinstance(held, Region))
        return next((held for held in regions if held.place is place), a)

    def _changed(self, way: WayTo, given: dict[str, Any]) -> Changed:
        unit = self.frame.unit
        made = unit.lists[way]
        if isinstance(made, Structure):
            return Changed(way, Structure(list, tuple(map(self._seen, made.items))))
        places = list(leaves(made.tree))
        versions, moves = self.frame.program.versions, self.frame.program.moves
        if way in unit.doubtful or None in places:
            raise OnlyItself("which list it is, or what it holds, is not known")
        if any(versions.get(p, 0) != (made.version or 0) for p in places):
            raise OnlyItself("its name may be that of another list")
        depth = max(p.depth for p in places)
        is_new = way in unit.reordered
        if depth > 1 and (
            len(places) > 1 or any(moves.get(p, (0,))[0] for p in places)
        ):
            raise OnlyItself("the lists in it are others")
        if is_new and not _may_be_made_anew(made, at(given, way)):
            raise OnlyItself("what it holds would not stay what it is")
        items = Structure(tuple, tuple(places))
        return Changed(way, items, made.tree, depth, is_new)


def at(given: dict[str, Any], way: WayTo) -> Any:
    """An argument, or what is in it."""
    a = given[way[0]]
    for label in way[1:]:
        a = a.items[list(a.labels).index(label)]
    return a


def _words(given: dict[str, Any], way: WayTo) -> str:
    """How a user asks for it."""
    words: str = way[0]
    for k, label in enumerate(way[1:], 1):
        words = item_name(at(given, way[:k]), words, label)
    return words


def _may_be_made_anew(made: Listed, given: Structure) -> bool:
    """Whether nobody can tell the items of a list from copies of them.

    They are numbers, all of a kind, or tuples or lists of such.
    """
    if any(p.type.is_array for p in leaves(made.tree)):
        return False
    kind = mapped(kind_at, made.tree)
    return all(_is_such(item, kind) for item in given.items)


def _is_such(a: Any, kind: Any) -> bool:
    """Whether an item is of this kind as it is."""
    if isinstance(kind, Rows):
        return isinstance(a, Structure) and all(_is_such(i, kind.item) for i in a.items)
    if isinstance(kind, Structure):
        pairs = zip(a.items, kind.items, strict=True)
        return kind.kind is not list and all(_is_such(i, k) for i, k in pairs)
    return is_operand(a) and type_of(a) == kind
