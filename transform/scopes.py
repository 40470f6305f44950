"""Scopes: a value read outside the block that defines it is kept in a cell.

    if c: y = 3 * x                   cell y;  if c: y_1 = 3 * x;  store y, y_1
    ...                        ->     ...
    if c: x_bar = 2 * y * 3           if c:  y_2 = load y;  x_bar = ...

A derivative program reads in its reverse sweep what a branch of the forward sweep
defined.  Before such a program is differentiated again its values are brought into
scope so, and every rule for cells then holds for them.  An array that began in a branch
goes on as another array, which begins as it ended.
"""

from __future__ import annotations

from typing import Any

from gradwright.transform.core import (
    Alloc,
    Assert,
    Break,
    Buffer,
    Cell,
    For,
    Function,
    If,
    Let,
    Load,
    Statement,
    Store,
    Substitution,
    Value,
    While,
    all_reads,
    blocks,
    defines,
    leaves,
    program,
    reads,
    stores,
    walk,
)
from gradwright.transform.primitives.structural import COPY

Block = list[Statement]


def settle(function: Function) -> Function:
    """The output of one transform as the primal of the next."""
    for f in program(function):
        enclose(f)
        for s in walk(f.body):
            if s.adjoint:
                s.adjoint = False
                if isinstance(s, Let | Load):
                    s.safe = True
    return function


def enclose(function: Function) -> None:
    """Give every value that leaves its block a cell in the block around all uses."""
    go_on(function.body)
    scopes = _Scopes(function.body)
    leaving = scopes.leaving([v for r in function.results for v in leaves(r)])
    if not leaving:
        return
    cells = {v: Cell(v.name, v.type) for v in leaving}
    begins: dict[int, list[Alloc]] = {}
    for v, home in leaving.items():
        begins.setdefault(id(home), []).append(Alloc(cells[v]))
    _rewrite(function.body, scopes, cells, begins)
    mapping: dict[Any, Any] = {}
    for r in function.results:
        for v in leaves(r):
            if v in cells and v not in mapping:
                mapping[v] = Value(v.name, v.type, v.users)
                function.body.append(Load(mapping[v], cells[v]))
    function.results = [Substitution(mapping).operand(r) for r in function.results]


class _Scopes:
    """The chain of blocks around every definition and every read."""

    def __init__(self, body: Block) -> None:
        self.root = body
        self.defined: dict[Any, tuple[Block, ...]] = {}
        self.read: dict[Any, list[tuple[Block, ...]]] = {}
        self._visit(body, ())

    def _visit(self, body: Block, outer: tuple[Block, ...]) -> None:
        chain = (*outer, body)
        for s in body:
            for v in defines(s):
                inside = (*chain, s.body) if isinstance(s, For) else chain
                self.defined.setdefault(v, inside)
            header = s.header if isinstance(s, While | Assert) else []
            within = {v for h in header for v in defines(h)}
            for v in reads(s):
                where = (*chain, header) if v in within else chain
                self.read.setdefault(v, []).append(where)
            for b in blocks(s):
                self._visit(b, chain)

    def leaving(self, results: list[Any]) -> dict[Value, Block]:
        """Values read where their block has ended, and the block that holds it all."""
        found: dict[Value, Block] = {}
        for v in results:
            self.read.setdefault(v, []).append((self.root,))
        for v, chains in self.read.items():
            own = self.defined.get(v)
            if own is None or not isinstance(v, Value):
                continue
            common = own
            for chain in chains:
                common = _shared(common, chain)
            if len(common) < len(own):
                found[v] = common[-1]
        return found


def _shared(a: tuple[Block, ...], b: tuple[Block, ...]) -> tuple[Block, ...]:
    n = 0
    while n < min(len(a), len(b)) and a[n] is b[n]:
        n += 1
    return a[:n]


def _rewrite(
    body: Block,
    scopes: _Scopes,
    cells: dict[Value, Cell],
    begins: dict[int, list[Alloc]],
    chain: tuple[Block, ...] = (),
) -> None:
    """Store leaving values where they are defined; load them where they are read."""
    chain = (*chain, body)
    result: Block = list(begins.get(id(body), ()))
    for s in body:
        outside = {
            v: Value(v.name, v.type, v.users)
            for v in reads(s)
            if v in cells and not any(b is scopes.defined[v][-1] for b in chain)
        }
        result += [Load(new, cells[v], where=s.where) for v, new in outside.items()]
        for b in blocks(s):
            _rewrite(b, scopes, cells, begins, chain)
        result.append(Substitution(outside).statement(s) if outside else s)
        result += [Store(cells[v], v, where=s.where) for v in defines(s) if v in cells]
    body[:] = result


# ---- arrays that begin in a branch ---------------------------------------------------


def go_on(body: Block) -> None:
    """Let arrays go on in another branch than the one that they begin in."""
    k = 0
    while k < len(body):
        inner = [t for b in blocks(body[k]) for t in walk(b)]
        for place in [t.place for t in inner if isinstance(t, Alloc)]:
            if isinstance(place, Buffer) and any(
                _uses(t, place) for t in body[k + 1 :]
            ):
                _go_on_in(body, k, place)
                k += 1
        for b in blocks(body[k]):
            go_on(b)
        k += 1


def _go_on_in(body: Block, k: int, place: Buffer) -> None:
    """Let an array that begins within statement k go on in the next that uses it."""
    cell = Cell(place.name, place.type)
    for b in blocks(body[k]):
        end_in(b, place, cell)
    held, own = (Value(place.name, place.type) for _ in range(2))
    other = Buffer(place.name, place.type, own)
    begin: Block = [Load(held, cell), Let(own, COPY, (held,))]
    j = next(j for j in range(k + 1, len(body)) if _uses(body[j], place))
    user = [body[j]]
    begin_where_used(user, place, [*begin, Alloc(other), Store(other, own)])
    rest = [*body[k + 1 : j], *user, *body[j + 1 :]]
    body[k:] = [Alloc(cell), body[k], *Substitution({place: other}).block(rest)]


def begin_where_used(body: Block, place: Buffer, begin: Block) -> None:
    """Begin an array in the branch that alone uses it: elsewhere there is none."""
    users = [k for k, s in enumerate(body) if _uses(s, place)]
    s = body[users[0]]
    branches = blocks(s) if isinstance(s, If) else ()
    inner = [b for b in branches if any(_uses(t, place) for t in b)]
    if len(users) == 1 and len(inner) == 1:
        begin_where_used(inner[0], place, begin)
    else:
        body[users[0] : users[0]] = begin


def end_in(body: Block, place: Buffer, cell: Cell) -> None:
    """Keep what an array holds at the end of the branch that it begins in."""
    if any(isinstance(s, Alloc) and s.place is place for s in body):
        left = Value(place.name, place.type)
        end = len(body) - isinstance(body[-1], Break)
        body[end:end] = [Load(left, place), Store(cell, left)]
    for s in body:
        for b in blocks(s):
            end_in(b, place, cell)


def _uses(s: Statement, place: Buffer) -> bool:
    return place in stores(s) or place in set(all_reads(s))
