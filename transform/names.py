"""Names: what each value and place of an emitted function is called.

    v = x * y; x_1 = v (x the user's)     ->      x = x * y

Values and places stand in the tree as nodes that know their thing.  Two of them bear
one name only if they are of one kind (two assignments to the user's `x`, two sums on
the way to `x_bar`, one value made a second time) and neither is written while the
other is still needed.  The user's own names come first.
"""

from __future__ import annotations

import ast
import re
from typing import Any

from gradwright.transform import build
from gradwright.transform.core import Cell, List, Place, Value
from gradwright.transform.spelling import Name

NOUNS = frozenset(build.NOUNS.values())
SUFFIX = re.compile(r"_(bar|dot|tape)$")


def free(base: str, taken: set[str]) -> str:
    """The name itself, or the first of name_1, name_2 ... that is not taken."""
    name, k = base, 1
    while name in taken:
        name, k = f"{base}_{k}", k + 1
    return name


def spell(name: str) -> str:
    """An identifier made of any name."""
    spelled = re.sub(r"\W", "_", name)
    return spelled if spelled and not spelled[0].isdigit() else f"v{spelled}"


def settle(body: list[ast.stmt], params: list[Any], taken: set[str]) -> dict[Any, str]:
    """Name every thing in a function's body; returns the names of the parameters."""
    lives = _Lives()
    lives.function(body, params)
    kinds = _Kinds([*params, *lives.things])
    _coalesce(lives, kinds, set(params))
    users = kinds.users
    given: dict[str, tuple[Any, int]] = {}  # of each name: the kind, and who bears it
    settled: list[str] = [""] * len(lives.things)
    order = {p: k for k, p in enumerate(params)}
    ranked = sorted(
        (
            lives.number[t]
            for t in lives.things
            if lives.root(lives.number[t]) == lives.number[t]
        ),
        key=lambda k: (
            order.get(lives.things[k], len(params)),
            not users.get(lives.things[k].name, False) or not is_users(lives.things[k]),
            lives.things[k].serial,
        ),
    )
    for k in ranked:
        thing = lives.things[k]
        base, kind, n = spell(thing.name), kinds.of(thing), 0
        name = base
        while name in taken or not _may_bear(given.get(name), kind, lives.conflicts[k]):
            n += 1
            name = f"{base}_{n}"
        settled[k] = name
        given[name] = (kind, given.get(name, (kind, 0))[1] | 1 << k)
    for node in lives.names:
        node.id = settled[lives.root(lives.number[node.thing])]
    return {p: settled[lives.number[p]] for p in params}


def _may_bear(given: tuple[Any, int] | None, kind: Any, conflicts: int) -> bool:
    return given is None or (given[0] == kind and not given[1] & conflicts)


def is_users(t: Any) -> bool:
    """Whether a thing is a variable of the user's program."""
    if isinstance(t, Value):
        return t.users
    named = isinstance(t, List) or (isinstance(t, Cell) and not t.choice)
    return named and not SUFFIX.search(t.name)


class _Kinds:
    """What things have in common that may share a name."""

    def __init__(self, things: list[Any]) -> None:
        self.users = {t.name: True for t in things if is_users(t)}

    def of(self, thing: Any) -> Any:
        """A name, for what is the user's or stands beside it; else the thing itself."""
        root, seen = thing, {thing}
        while root.of is not None and root.of not in seen:
            root = root.of
            seen.add(root)
        stem = thing.name
        while stem not in self.users and SUFFIX.search(stem):
            stem = SUFFIX.sub("", stem)
        is_ours = stem == thing.name and stem in NOUNS and not is_users(root)
        return thing.name if stem in self.users and not is_ours else root


# ---- lives -------------------------------------------------------------------------


def names_in(node: Any) -> list[Name]:
    """The unsettled names inside a node."""
    found: list[Name] = []
    stack = [node]
    while stack:
        n = stack.pop()
        if n.__class__ is Name:
            found.append(n)
            continue
        for key in n._fields:
            child = getattr(n, key, None)
            if child.__class__ is list:
                stack.extend(c for c in child if isinstance(c, ast.AST))
            elif isinstance(child, ast.AST):
                stack.append(child)
    return found


class _Lives:
    """Which things are needed while which others are written.

    Sets of things are the bits of integers.  conflicts: for each thing those that it
    may not share a name with.  copies: (target, source) of each `x = v`.
    targets: those of them that begin a loop over `v`.
    """

    def __init__(self) -> None:
        self.number: dict[Any, int] = {}
        self.things: list[Any] = []
        self.conflicts: list[int] = []
        self.parent: list[int] = []
        self.names: list[Name] = []
        self.copies: dict[tuple[int, int], None] = {}
        self.targets: set[tuple[int, int]] = set()
        self.parts: dict[Any, tuple[int, tuple[int, ...]]] = {}

    def index(self, thing: Any) -> int:
        if thing not in self.number:
            self.number[thing] = len(self.things)
            self.things.append(thing)
            self.conflicts.append(0)
            self.parent.append(len(self.parent))
        return self.number[thing]

    def root(self, k: int) -> int:
        while self.parent[k] != k:
            k = self.parent[k]
        return k

    def function(self, body: list[ast.stmt], params: list[Any]) -> None:
        given = 0
        for p in params:
            given |= 1 << self.index(p)
        start = self.block(body, 0, 0)
        for p in params:
            self._conflict(self.number[p], start | given)
        for k in _bits(start & ~given):  # may be read before anything is written
            bound_with = sum(1 << v for x, v in self.targets if x == k)
            self._conflict(k, (1 << len(self.things)) - 1 & ~bound_with)
        for k, others in enumerate(list(self.conflicts)):
            for j in _bits(others):
                self.conflicts[j] |= 1 << k

    def _conflict(self, k: int, others: int) -> None:
        self.conflicts[k] |= others & ~(1 << k)

    def _part(self, node: Any) -> tuple[int, tuple[int, ...]]:
        """What an expression or a simple statement reads, and what it writes."""
        if node not in self.parts:
            found = names_in(node)
            self.names += found
            reads, writes = 0, []
            for n in found:
                k = self.index(n.thing)
                if isinstance(n.ctx, ast.Store):
                    writes.append(k)
                else:
                    reads |= 1 << k
            for n in _targets(node):
                reads &= ~(1 << self.index(n.thing))
            if isinstance(node, ast.AugAssign):
                reads |= sum(1 << k for k in writes)
            self.parts[node] = reads, tuple(writes)
        return self.parts[node]

    def block(self, body: list[ast.stmt], live: int, left: int) -> int:
        """What is needed before a block; `left` is needed after a break."""
        for s in reversed(body):
            live = self.statement(s, live, left)
        return live

    def statement(self, s: ast.stmt, live: int, left: int) -> int:
        match s:
            case ast.If():
                then = self.block(s.body, live, left)
                orelse = self.block(s.orelse, live, left)
                return then | orelse | self._part(s.test)[0]
            case ast.For() | ast.While():
                return self._loop(s, live)
            case ast.With():
                return self.block(s.body, live, left)
            case ast.Return() | ast.Raise():
                return self._part(s)[0]
            case ast.Break():
                return left
        return self._simple(s, live)

    def _simple(self, s: ast.stmt, live: int) -> int:
        reads, writes = self._part(s)
        written = 0
        for k in writes:
            written |= 1 << k
        kept = live
        if isinstance(s, ast.Assign) and isinstance(s.value, Name) and len(writes) == 1:
            source = self.number[s.value.thing]
            self.copies.setdefault((writes[0], source))
            kept &= ~(1 << source)
        for k in writes:
            self._conflict(k, kept | written)
        return (live & ~written) | reads

    def _loop(self, s: ast.For | ast.While, live: int) -> int:
        head = live
        targets = 0
        if isinstance(s, ast.For):
            first = self._part(s.iter)[0]
            writes = self._part(s.target)[1]
            for k in writes:
                targets |= 1 << k
        else:
            first = self._part(s.test)[0]
            if isinstance(s.test, ast.Constant):
                head = 0
            head |= first
        while True:
            inside = self.block(s.body, head, live)
            grown = head | (inside & ~targets)
            if grown == head:
                break
            head = grown
        if isinstance(s, ast.For):
            for k in writes:
                self._conflict(k, inside | targets)
            match s.body[0]:
                case ast.Assign(targets=[Name() as x], value=Name() as v):
                    copy = self.number[x.thing], self.number[v.thing]
                    self.targets |= {copy} if copy[1] in writes else set()
            return head | first
        return head


def _targets(node: Any) -> list[Name]:
    """The names that comprehensions inside a node bind."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.ListComp):
        return []
    return [n for g in node.value.generators for n in names_in(g.target)]


def _bits(mask: int) -> list[int]:
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found


def _coalesce(lives: _Lives, kinds: _Kinds, params: set[Any]) -> None:
    """`x = v`: both are written as x from the start, where x is free by then."""
    for target, source in lives.copies:
        into, v = lives.root(target), lives.root(source)
        x, thing = lives.things[into], lives.things[v]
        if into == v or lives.conflicts[into] >> v & 1 or thing in params:
            continue
        if not isinstance(thing, Value | Cell) or not isinstance(x, Value | Cell):
            continue
        if is_users(thing) and kinds.of(thing) != kinds.of(x):
            continue
        lives.parent[v] = into
        lives.conflicts[into] |= lives.conflicts[v]
        for k in _bits(lives.conflicts[v]):
            lives.conflicts[k] |= 1 << into


def places_in(tree: ast.expr) -> set[Place]:
    """The places that an expression reads."""
    return {n.thing for n in names_in(tree) if isinstance(n.thing, Place)}
