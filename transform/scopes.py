"""Scopes: a value read outside the block that defines it is kept in a cell.

    if c: y = 3 * x                   cell y;  if c: y_1 = 3 * x;  store y, y_1
    ...                        ->     ...
    if c: x_bar = 2 * y * 3           if c:  y_2 = load y;  x_bar = ...

A derivative program reads in its reverse sweep what a branch of the forward sweep
defined.  Before such a program is differentiated again its values are brought into
scope so, and every rule for cells then holds for them.
"""

from __future__ import annotations

from typing import Any

from gradwright.transform.core import (
    Alloc,
    Assert,
    Cell,
    For,
    Function,
    Let,
    Load,
    Statement,
    Store,
    Substitution,
    Value,
    While,
    blocks,
    defines,
    leaves,
    program,
    reads,
    walk,
)

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
