"""Lists in lists: one that another name has changed since is not read.

    table.append(row); row.append(x)        `table` is not read from here on
    table.append(row); table[0][0] = x      `row` is not read from here on

In the core a list that is put into another one is a copy of it, in the emitted source
it is the same: nobody can tell where neither is read after the other has changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from gradwright.transform.core import (
    Alloc,
    At,
    For,
    Function,
    Insert,
    Length,
    List,
    Load,
    Remove,
    Statement,
    Store,
    Take,
    While,
    all_reads,
    blocks,
    defines,
    reads,
    stores,
    walk,
)
from gradwright.transform.errors import AliasError, Location

Levels = tuple[frozenset[Any], ...]
"""What a list may be, then what its items may be, and so on."""


def refuse_changed_rows(function: Function) -> None:
    """Refuse to read a list that has changed under another name."""
    changed = (p for s in function.body for p in stores(s))
    if any(isinstance(p, List) and p.depth > 1 for p in changed):
        sharing = _Sharing(set(_last_uses(function.body)))
        sharing.run(function.body)
        for r in function.results:
            sharing.read(r, function.body[-1].where)


def _last_uses(body: list[Statement]) -> Iterator[Insert]:
    """Where a list that a block makes is put into another one, and has no name then."""
    for block in (body, *(b for s in walk(body) for b in blocks(s))):
        for k, s in enumerate(block):
            if not isinstance(s, Insert) or not isinstance(s.operand, List):
                continue
            own = s.operand
            is_made = any(own in _begins(t) for t in block[:k])
            later = (v for t in block[k + 1 :] for v in (*all_reads(t), *stores(t)))
            if is_made and own not in later:
                yield s


def _begins(s: Statement) -> tuple[Any, ...]:
    """What begins with a statement."""
    return (s.place,) if isinstance(s, Alloc) else defines(s)


class _Sharing:
    """Which lists each place may be and hold, and which have changed behind the core.

    `doubled` are those that may hold one list twice.
    """

    def __init__(self, last_uses: set[Insert]) -> None:
        self.last_uses = last_uses
        self.levels: dict[List, Levels] = {}
        self.stale: dict[List, List] = {}
        self.doubled: set[List] = set()

    def of(self, xs: List) -> Levels:
        return self.levels.setdefault(xs, _new(xs))

    def run(self, block: Iterable[Statement]) -> None:
        for s in block:
            self._read(s)
            self._step(s)

    def _read(self, s: Statement) -> None:
        put = s.operand if isinstance(s, Insert | Store) else None
        for v in reads(s):
            other = self.stale.get(v)
            if other is None or (put is not None and v is not put):
                continue
            asks_length = isinstance(s, Load) and s.index == (Length(),)
            if not (asks_length and v.depth > other.depth):
                self.read(v, s.where)

    def read(self, v: Any, where: Location | None) -> None:
        """Refuse a list that is out of date."""
        other = self.stale.get(v)
        if other is not None:
            raise AliasError(
                f"'{v.name}' is read here, which has a list in common with "
                f"'{other.name}', and that list was changed in between",
                at=where,
                instead=f"list(...) of what goes into '{v.name}'",
            )

    def _step(self, s: Statement) -> None:
        match s:
            case Alloc(place=List() as xs):
                self._renew(xs)
                self.levels[xs] = _new(xs)
            case Take(place=xs, source=source):
                found = self.of(source)
                self._renew(xs)
                self.levels[xs] = found
                self._move(source, xs, xs)
            case Load(out=List() as xs, source=List() as source):
                at = sum(isinstance(i, At) for i in s.index)
                found = self.of(source)[at:]
                self._renew(xs)
                is_copy = len(s.index) > at or not s.index
                self.levels[xs] = (frozenset([xs]), *found[1:]) if is_copy else found
            case Remove(place=place):
                self._change(place, len(s.path), s)
                if isinstance(s.out, List):
                    self._renew(s.out)
                    self.levels[s.out] = self.of(place)[len(s.path) + 1 :]
            case Insert(place=place, operand=operand):
                self._change(place, len(s.path), s)
                if isinstance(operand, List):
                    self._put(place, len(s.path) + 1, operand)
                    if s in self.last_uses:
                        self._move(operand, ("in", place), place)
            case Store(place=List() as place):
                self._change(place, len(s.index) - 1, s)
            case _:
                self._nested(s)

    def _nested(self, s: Statement) -> None:
        """Blocks: any of them may run, those of a loop again."""
        for _ in range(2 if isinstance(s, For | While) else 1):
            before = dict(self.levels), dict(self.stale)
            ends = [before]
            for block in blocks(s):
                if not isinstance(s, While):
                    self.levels, self.stale = dict(before[0]), dict(before[1])
                self.run(block)
                ends.append((self.levels, self.stale))
            self.levels, self.stale = {}, {}
            for levels, stale in ends:
                for xs, found in levels.items():
                    own = self.levels.get(xs, found)
                    pairs = zip(own, found, strict=True)
                    self.levels[xs] = tuple(a | b for a, b in pairs)
                self.stale |= stale

    def _renew(self, xs: List) -> None:
        """A name stands for another list: what was it is still held by others."""
        self.stale.pop(xs, None)
        self.doubled.discard(xs)
        self.levels[xs] = _new(xs)
        for token in (xs, ("in", xs)):
            holders = [
                other
                for other, found in self.levels.items()
                if other is not xs and any(token in level for level in found)
            ]
            now = ("in", holders[0]) if len(holders) == 1 else ("was", token)
            for other in holders:
                self.levels[other] = _renamed(self.levels[other], token, now)

    def _move(self, source: List, token: Any, place: List) -> None:
        """A list goes by its name no more: it is another one, or in it."""
        found = _renamed(self.of(place), source, token)
        self.levels[place] = _renamed(found, ("in", source), ("in", place))
        self.levels[source] = tuple(frozenset[Any]() for _ in self.of(source))

    def _put(self, place: List, level: int, operand: List) -> None:
        own, more = self.of(place), self.of(operand)
        if own[level] & more[0]:
            self.doubled.add(place)
        both = (a | b for a, b in zip(own[level:], more, strict=True))
        self.levels[place] = (*own[:level], *both)

    def _change(self, place: List, level: int, s: Statement) -> None:
        """A list, or one in it, is not what others take it for."""
        if level and place in self.doubled:
            raise AliasError(
                f"a list is changed here that '{place.name}' may hold twice",
                at=s.where,
                instead="list(...) of what is put into it",
            )
        changed = self.of(place)[level]
        for other, found in self.levels.items():
            if other is not place and any(changed & level for level in found):
                self.stale[other] = place


def _new(xs: List) -> Levels:
    """A list that is no other one; what is in it, nothing else has."""
    return frozenset([xs]), *(frozenset[Any]() for _ in range(xs.depth - 1))


def _renamed(levels: Levels, old: Any, new: Any) -> Levels:
    return tuple(frozenset(new if v == old else v for v in level) for level in levels)
