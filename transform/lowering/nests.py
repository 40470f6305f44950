"""Loop nests while a block is lowered: what is computed element by element, and where.

    y = np.exp(x)                  for i in range(n):
    s = np.sum(y * x)       ->         y[i] = np.exp(x[i])
                                       s += y[i] * x[i]

A root is what is stored, element by element, over a domain.  It joins an earlier nest
of that domain where nothing between the two has to do with it and where the two meet
in memory at one and the same element only.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gradwright.transform.build import row
from gradwright.transform.core import (
    Alloc,
    Assert,
    At,
    Buffer,
    Call,
    Cell,
    Const,
    For,
    Let,
    Library,
    Load,
    Operand,
    Place,
    Raise,
    Statement,
    Store,
    Value,
    all_reads,
    defines,
    leaves,
    stores,
    type_of,
    walk,
)
from gradwright.transform.deadcode import may_raise
from gradwright.transform.errors import Location
from gradwright.transform.indices import Linear, linear, symbol
from gradwright.transform.primitives.record import Primitive
from gradwright.transform.primitives.structural import WITHIN
from gradwright.transform.types import INT, Type

FARTHEST = 12  # items that a root may jump over to join a nest
LETTERS = "ijklmpq"
LOOPS = {letter: Value(letter, INT) for letter in LETTERS}
Domain = tuple[Linear, ...]
Places = tuple[Operand, ...]


class Scope:
    """Where scalar statements are written; the same one is written only once.

    A scope inside of another, the body of a loop in a nest, knows what that one made.
    read: the elements that were wanted and known already.  last: the latest store into
    each memory, as long as nothing was read of it since.  dropped: stores that a later
    one made needless.
    """

    def __init__(self, outer: Scope | None = None, inside: bool = True) -> None:
        self.block: list[Statement] = []
        self.made: dict[Any, Operand] = dict(outer.made) if outer else {}
        self.where: Location | None = outer.where if outer else None
        self.adjoint: bool = outer.adjoint if outer else False
        self.depth: int = outer.depth if outer else 0
        self.read: list[Access] = outer.read if outer and inside else []
        self.last: dict[Place, Store] = dict(outer.last) if outer and not inside else {}
        self.dropped: list[Store] = []

    def add(self, s: Statement) -> None:
        s.where, s.adjoint = s.where or self.where, self.adjoint
        self.block.append(s)

    def let(
        self,
        p: Primitive,
        operands: tuple[Operand, ...],
        type: Type,
        name: str,
        attribute: Any = None,
    ) -> Operand:
        """The result of a primitive on scalars."""
        key = (p, operands, attribute, type)
        if key not in self.made:
            out = Value(name, type)
            self.add(Let(out, p, operands, attribute))
            self.made[key] = symbol(out) if type == INT else out
        return self.made[key]

    def load(self, source: Place | Value, at: Places, type: Type, name: str) -> Operand:
        """One element of what is stored."""
        key = (source, at)
        if key in self.made:
            self.read.append(Access(source, at, False))
            return self.made[key]
        out = Value(name, type)
        self.add(Load(out, source, tuple(map(At, at)), safe=True))
        self.made[key] = symbol(out) if type == INT else out
        self.last.pop(source, None)  # type: ignore[arg-type]
        return self.made[key]

    def store(
        self,
        place: Place,
        at: Places,
        operand: Operand,
        accumulate: bool = False,
        unordered: bool = False,
    ) -> None:
        """Store one element; what was loaded of the place is old."""
        key = (place, at)
        if accumulate and isinstance(place, Buffer) and key in self.made:
            operand, accumulate = self._sum(key, operand), False
        if not accumulate and isinstance(place, Buffer):
            before = self.last.get(place)
            if before is not None and _places(before.index) == at:
                self.dropped.append(before)
        self.forget({place})
        index = tuple(map(At, at))
        s = Store(place, operand, index, accumulate, safe=True, unordered=unordered)
        self.add(s)
        if not accumulate and isinstance(place, Buffer):
            self.made[key] = operand
            self.last[place] = s

    def _sum(self, key: Any, operand: Operand) -> Operand:
        """What is known to stand in an element, and an operand; of zero, that alone."""
        place, at = key
        self.read.append(Access(place, at, False))
        before, t = self.made[key], place.type.element
        is_zero = isinstance(before, Const) and before.value == 0
        if is_zero and self.adjoint and type_of(operand) == t:
            return operand
        return self.let(row(operator.add, 2), (before, operand), t, "total")

    def forget(self, places: set[Place]) -> None:
        """These places were stored into."""
        for key in [k for k in self.made if len(k) == 2 and k[0] in places]:
            del self.made[key]
        for p in places:
            self.last.pop(p, None)

    def loop(
        self, lengths: Domain, body: Callable[[Scope, tuple[Linear, ...]], None]
    ) -> None:
        """Loops, one in another, over all places of a domain."""
        inner = Scope(self)
        inner.depth += len(lengths)
        symbols = variables(len(lengths), self.depth)
        body(inner, tuple(map(symbol, symbols)))
        found = inner.block
        for k, n in reversed(list(zip(symbols, lengths, strict=True))):
            found = [For(k, linear(0), n, linear(1), found, where=self.where)]
        self.forget({p for s in found for p in stores(s)})
        for s in found:
            self.add(s)


def variables(count: int, depth: int = 0) -> list[Value]:
    """New loop variables: i, j, k."""
    found = []
    for n in range(count):
        letter = LETTERS[(depth + n) % len(LETTERS)]
        symbol = Value(letter, INT)
        symbol.of = LOOPS[letter]  # loops one after another may share it
        found.append(symbol)
    return found


# ---- what a piece of code has to do with -------------------------------------------


@dataclass(frozen=True)
class Access:
    """One load or store of an element, or of a cell (without an index)."""

    place: Any
    at: Places | None
    writes: bool


def accesses(block: list[Statement]) -> list[Access]:
    """All loads and stores of elements and cells, nested ones included."""
    found: list[Access] = []
    for s in walk(block):
        match s:
            case Load(source=source, index=index) if not isinstance(s.source, Cell):
                found.append(Access(source, _places(index), False))
            case Load(source=source):
                found.append(Access(source, None, False))
            case Store(place=place, index=index):
                at = None if isinstance(place, Cell) else _places(index)
                found.append(Access(place, at, True))
            case Alloc(place=place):
                found.append(Access(place, None, True))
    return found


def _places(index: Any) -> Places | None:
    if not index or not all(isinstance(i, At) for i in index):
        return None
    return tuple(i.position for i in index)


@dataclass(eq=False)
class Item:
    """A statement, or a nest, with what it reads, changes and defines.

    raises: it may raise.  asks: it looks whether a place of the derivative's is there,
    which it is as long as all holds that was taken for granted; who raises says so.
    """

    reads: set[Any] = field(default_factory=set)
    writes: set[Any] = field(default_factory=set)
    defines: set[Any] = field(default_factory=set)
    raises: bool = False
    asks: bool = False

    def note(self, block: list[Statement]) -> None:
        for s in block:
            self.reads.update(all_reads(s))
            self.writes.update(stores(s))
        for s in walk(block):
            self.defines.update(defines(s))
            if isinstance(s, Raise | Assert | Library | Call):
                self.raises = True
            elif isinstance(s, Let | Load):
                self.raises = self.raises or may_raise(s)
                self.asks = self.asks or (isinstance(s, Let) and s.primitive is WITHIN)

    def meets(self, other: Item) -> bool:
        """Whether the order of the two matters."""
        return bool(
            self.writes & (other.reads | other.writes)
            or self.reads & other.writes
            or self.defines & other.reads
            or self.reads & other.defines
            or (self.raises and (other.raises or other.asks))
            or (self.asks and other.raises)
        )


@dataclass(eq=False)
class Plain(Item):
    """One statement."""

    statement: Statement | None = None


@dataclass(eq=False)
class Nest(Item):
    """Loops over a domain, and the roots inside of them."""

    domain: Domain = ()
    symbols: tuple[Value, ...] = ()
    scope: Scope = field(default_factory=Scope)
    met: list[Access] = field(default_factory=list)

    @property
    def at(self) -> tuple[Linear, ...]:
        return tuple(map(symbol, self.symbols))

    def statements(self) -> list[Statement]:
        found = self.scope.block
        pairs = list(zip(self.symbols, self.domain, strict=True))
        for s, n in reversed(pairs):
            where = next((t.where for t in found if t.where), None)
            loop = For(s, linear(0), n, linear(1), found, where=where)
            loop.adjoint = any(t.adjoint for t in found)
            found = [loop]
        return found

    def join(self, scope: Scope) -> None:
        """What was written in a scope stands behind the roots so far."""
        kept = [s for s in self.scope.block if s not in scope.dropped]
        own = [s for s in scope.block if s not in scope.dropped]
        self.scope.block = kept + own
        self.scope.made, self.scope.last = scope.made, scope.last
        self.met += accesses(scope.block) + scope.read
        self.note(scope.block)
        self.reads.update(a.place for a in scope.read)

    def takes(self, scope: Scope) -> bool:
        """Whether what was written in a scope may stand behind the roots so far."""
        own = set(self.symbols)
        for a in self.met:
            for b in (*accesses(scope.block), *scope.read):
                meet = a.place is b.place and (a.writes or b.writes)
                apart = a.at is None or a.at != b.at or not is_injective(a.at, own)
                if meet and apart:
                    return False
        return True


def is_injective(at: Places, symbols: set[Value]) -> bool:
    """Whether different trips of all these loops are at different places."""
    alone = set()
    for o in at:
        if isinstance(o, Linear):
            inner = [s for s in o.symbols() if s in symbols]
            if len(inner) == 1:
                alone.add(inner[0])
    return alone == symbols


class Items:
    """The statements of a block while it is lowered, in an order that may be eased."""

    def __init__(self) -> None:
        self.items: list[Item] = []

    def plain(self, s: Statement) -> None:
        """A statement; one that computes a number goes before the nests it can."""
        item = Plain(statement=s)
        item.note([s])
        place = len(self.items)
        if is_movable(s):
            for k in range(place - 1, max(place - FARTHEST, 0) - 1, -1):
                other = self.items[k]
                if other.meets(item):
                    break
                if isinstance(other, Nest):
                    place = k
        self.items.insert(place, item)

    def root(
        self,
        domain: Domain,
        write: Callable[[Scope, tuple[Linear, ...]], None],
        where: Location | None,
        adjoint: bool,
        alone: bool = False,
    ) -> None:
        """Statements for each place of a domain: in an earlier nest, or a new one."""
        if not alone:
            for nest in self._candidates(domain):
                scope = Scope(nest.scope, inside=False)
                scope.where, scope.adjoint = where, adjoint
                write(scope, nest.at)
                if nest.takes(scope) and self._may_move(nest, scope):
                    nest.join(scope)
                    return
        nest = Nest(domain=domain, symbols=tuple(variables(len(domain))))
        nest.scope.depth = len(domain)
        scope = Scope(nest.scope, inside=False)
        scope.where, scope.adjoint = where, adjoint
        write(scope, nest.at)
        nest.join(scope)
        nest.reads.update(v for n in domain for v in leaves(n))
        nest.defines.update(nest.symbols)
        self.items.append(nest)

    def _candidates(self, domain: Domain) -> list[Nest]:
        near = self.items[-FARTHEST:]
        found = [i for i in near if isinstance(i, Nest) and i.domain == domain]
        return found[::-1] if domain else []

    def _may_move(self, nest: Nest, scope: Scope) -> bool:
        moved = Item()
        moved.note(scope.block)
        moved.reads.update(a.place for a in scope.read)
        behind = self.items[self.items.index(nest) + 1 :]
        return not any(item.meets(moved) for item in behind)

    def statements(self) -> list[Statement]:
        found: list[Statement] = []
        for item in self.items:
            if isinstance(item, Nest):
                found += item.statements()
            elif isinstance(item, Plain) and item.statement is not None:
                found.append(item.statement)
        return found


def is_movable(s: Statement) -> bool:
    """Whether a statement only makes a number, or room, and may do so earlier."""
    match s:
        case Let() | Load() | Alloc() | Store(place=Cell(), accumulate=False):
            return True
    return False
