"""Reverse mode, core to core: a forward sweep, then the adjoint of every statement.

    y = tanh(w * y)        ->     push(y_tape, y); y = tanh(w * y)         forward sweep
                                  y_bar = w * (y_bar * (1 - y * y))        reverse sweep
                                  y = pop(y_tape)

What the adjoint statements need is found while they are written.  In this order: a
literal or a parameter; a value of the outermost block, which is still there; a cell
read again, where it still holds what it held; a cheap operation done again; else the
value is pushed on a tape.  A store saves what it overwrites only if it may run after a
read that is repeated so; the sweep is written again until that set stops growing.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gradwright.transform.activity import active, carries
from gradwright.transform.build import Builder, constant, row
from gradwright.transform.core import (
    Alloc,
    Assert,
    At,
    Break,
    Buffer,
    Call,
    Cell,
    Const,
    Effect,
    For,
    Function,
    If,
    Let,
    Load,
    NewAxis,
    Operand,
    Place,
    Pop,
    Push,
    Raise,
    Span,
    Statement,
    Store,
    Substitution,
    Tape,
    Value,
    While,
    all_reads,
    blocks,
    clone,
    defines,
    is_recursive,
    leaves,
    reads,
    stores,
    type_of,
    walk,
)
from gradwright.transform.errors import UnsupportedSyntax
from gradwright.transform.indices import Dim, Linear, linear, symbol
from gradwright.transform.primitives.structural import (
    CAST,
    DISPLAY,
    FORMAT,
    NAMED,
    SPREAD,
    SUM_TO,
)
from gradwright.transform.rules import Rules, is_singular, real_part
from gradwright.transform.types import BOOL, INT, NONE, VARYING, Type, join

SELECTIONS = (np.where, np.maximum, np.minimum, np.fmax, np.fmin, np.clip)

# ---- the sweep ---------------------------------------------------------------------


@dataclass(eq=False)
class _Block:
    """A block of the primal while it is reversed.

    top: its values are alive in the reverse sweep.  at: the statement being reversed.
    provided: primal values made again.  undo: stores whose old value is not put back
    yet.  before, after: what the forward sweep gains around each statement.
    """

    body: list[Statement]
    parent: _Block | None
    top: bool
    at: int = 0
    reverse: list[Statement] = field(default_factory=list)
    defined: dict[Any, int] = field(default_factory=dict)
    provided: dict[Any, Any] = field(default_factory=dict)
    undo: dict[Place, tuple[int, list[Statement]]] = field(default_factory=dict)
    before: dict[int, list[Statement]] = field(default_factory=dict)
    after: dict[int, list[Statement]] = field(default_factory=dict)
    contributions: dict[Any, list[Operand]] = field(default_factory=dict)
    bars: dict[Any, Place] = field(default_factory=dict)
    known: dict[Place, Value] = field(default_factory=dict)
    made: dict[Any, Value] = field(default_factory=dict)
    last_trip: Operand | None = None
    is_home: bool = False

    def __post_init__(self) -> None:
        self.at = len(self.body)
        for k, s in enumerate(self.body):
            if not isinstance(s, For):
                for v in defines(s):
                    self.defined[v] = k


class Sweep:
    """The forward and the reverse sweep of one function."""

    def __init__(
        self,
        function: Function,
        wrt: list[Value],
        seeds: list[Operand | None],
        splits: Splits,
        tape: Tape | None = None,
    ) -> None:
        self.function = function
        self.tape = tape  # on which a recursive function leaves its residuals
        self.wrt = wrt
        self.seeds = seeds
        self.splits = splits
        seeded = {
            r for r, s in zip(function.results, seeds, strict=True) if s is not None
        }
        self.tape_bars = {
            p: Tape(f"{p.name}_bar", p.type) for p in function.params if isinstance(p, Tape)
        }
        tapes = set(self.tape_bars)
        self.active = active(function, {v for v in wrt if carries(v)} | tapes, seeded | tapes)
        self._number()
        self.repeated: dict[Place, set[Statement]] = {}
        self.pushed: set[Any] = set()
        self.saved: dict[Statement, Value] = {}
        self.kinds: dict[Any, Type] = {}
        while True:
            before = self._found()
            self._generate()
            if before == self._found():
                break

    def _found(self) -> Any:
        """What a round of generation may add to: reads, pushes, kinds of cotangents."""
        return sum(map(len, self.repeated.values())), len(self.pushed), dict(self.kinds)

    def _number(self) -> None:
        """Where every statement stands: its rank, its loops, its branches."""
        self.rank: dict[Statement, int] = {}
        self.loops: dict[Statement, tuple[Statement, ...]] = {}
        self.branches: dict[Statement, dict[Statement, int]] = {}
        self.alloc: dict[Place, Statement] = {}
        self.independent: set[Statement] = set()
        self.stores_of: dict[Place, list[Store]] = {}

        def visit(
            block: list[Statement], loops: tuple[Statement, ...], branches: dict[Any, int]
        ) -> None:
            for s in block:
                self.rank[s] = len(self.rank)
                self.loops[s] = loops
                self.branches[s] = branches
                if isinstance(s, Alloc):
                    self.alloc[s.place] = s
                if isinstance(s, Store):
                    self.stores_of.setdefault(s.place, []).append(s)
                inner = (*loops, s) if isinstance(s, For | While) else loops
                for k, b in enumerate(blocks(s)):
                    visit(b, inner, {**branches, s: k} if isinstance(s, If) else branches)

        visit(self.function.body, (), {})

    def _may_follow(self, a: Statement, b: Statement) -> bool:
        """Whether `a` may run after `b` on the same place."""
        place = a.place if isinstance(a, Store) else None
        local = self.loops[self.alloc[place]] if place in self.alloc else ()
        common = set(self.loops[a]) & set(self.loops[b]) - set(local) - self.independent
        if common:
            return True
        exclusive = any(self.branches[a].get(i, k) != k for i, k in self.branches[b].items())
        return self.rank[a] > self.rank[b] and not exclusive

    # ---- generation ------------------------------------------------------------

    def _generate(self) -> None:
        self.builder = Builder(folds=True)
        self.builder.adjoint = True
        self.placeholders: set[Cell] = set()
        self.masked: set[Value] = set()
        self.rules = Rules(self.builder)
        self.tapes: dict[Any, Tape] = {}
        self.begun: dict[Tape, tuple[_Block, int, Statement]] = {}
        self.block: _Block = _Block([], None, True)
        root = _Block(self.function.body, None, True)
        self.root = root
        root.bars.update(self.tape_bars)
        for r, seed in zip(self.function.results, self.seeds, strict=True):
            if isinstance(seed, Tape):
                root.bars[r] = seed
            elif seed is not None and r in self.active:
                root.contributions.setdefault(r, []).append(seed)
        with self._inside(root):
            indexed = {
                s.source
                for s in walk(root.body)
                if isinstance(s, Load) and s.index and s.out in self.active
            }
            for p in self.function.params:
                if p in self.active and p in indexed:
                    self._begin_bar(root, p)
            self.forward = _with_placeholders(self._sweep(root), self.placeholders)
            self.bars = [self._result_bar(v) for v in self.wrt]
        self.reverse = root.reverse

    @contextmanager
    def _inside(self, block: _Block) -> Iterator[None]:
        """Write into a block's reverse, with what is known there."""
        b, outer = self.builder, self.block
        saved = b.block, b.known, b.made
        self.block, b.block, b.known, b.made = block, block.reverse, block.known, block.made
        try:
            yield
        finally:
            self.block = outer
            b.block, b.known, b.made = saved

    def _nested(
        self,
        body: list[Statement],
        top: bool,
        is_loop: bool,
        given: dict[Any, Any] | None = None,
        last_trip: Operand | None = None,
        is_home: bool = False,
    ) -> tuple[list[Statement], list[Statement]]:
        """The forward and reverse sweeps of a nested block."""
        parent = self.block
        block = _Block(body, parent, top, last_trip=last_trip, is_home=is_home)
        block.made = dict(parent.made)
        block.known = {} if is_loop else dict(parent.known)
        block.provided.update(given or {})
        with self._inside(block):
            forward = self._sweep(block)
        return forward, block.reverse

    def _sweep(self, block: _Block) -> list[Statement]:
        b = self.builder
        replaced: dict[int, Statement] = {}
        for s in block.body:
            match s:
                case Alloc() if s.place in self.active and s.place not in block.bars:
                    self._begin_place_bar(block, s.place)
                case Pop(out=Tape()) | Call():
                    for o in defines(s):
                        if isinstance(o, Tape) and o in self.active and o not in block.bars:
                            b.add(Alloc(self._bar_of_place(block, o)))
        for k in range(len(block.body) - 1, -1, -1):
            s = block.body[k]
            block.at = k
            b.where = s.where
            match s:
                case Let() | Load():
                    if self._let(s) if isinstance(s, Let) else self._load(s):
                        replaced[k] = replace(s, safe=True)
                case Store():
                    self._store(block, k, s)
                case Push():
                    self._push(s)
                case Pop():
                    self._pop(s)
                case For() | While() | If():
                    self._flush(block, set(all_reads(s)) | stores(s))
                    self._outer_bars(block, s)
                    replaced[k] = self._compound(block, k, s)
                case Call():
                    replaced[k] = self._call(block, k, s)
        self._flush(block, set(block.undo))
        forward: list[Statement] = []
        for k, s in enumerate(block.body):
            forward += block.before.get(k, [])
            forward.append(replaced.get(k, s))
            forward += block.after.get(k, [])
        return _break_last(forward)

    # ---- cotangents ------------------------------------------------------------

    def _begin_bar(self, block: _Block, v: Value) -> Place:
        """A place for the cotangent of a value that nested blocks add to."""
        b = self.builder
        total = self._total(block, v) if v in block.contributions else None
        where, b.where = b.where, None
        name = f"{v.name}_bar"
        place: Place
        if v.type.is_array:
            place = Buffer(name, v.type, self.need(v) if v not in self.function.params else v)
            b.add(Alloc(place))
            if total is not None:
                b.store(place, total, accumulate=True)
        else:
            place = Cell(name, self.kinds.get(v, v.type))
            b.add(Alloc(place))
            self._note_kind(v, place, total)
            b.store(place, total if total is not None else _zero(v.type))
        b.where = where
        block.bars[v] = place
        return place

    def _bar_of_place(self, block: _Block, p: Place) -> Place:
        if p not in block.bars:
            name = f"{p.name}_bar"
            like = getattr(p, "like", None)
            block.bars[p] = (
                Tape(name, p.type)
                if isinstance(p, Tape)
                else Buffer(name, p.type, like)
                if like is not None
                else Cell(name, self.kinds.get(p, p.type))
            )
        return block.bars[p]

    def _begin_place_bar(self, block: _Block, p: Place) -> None:
        bar = self._bar_of_place(block, p)
        self.builder.add(Alloc(bar))
        if isinstance(bar, Cell):
            self.builder.store(bar, _zero(bar.type))

    def _find_bar(self, p: Any) -> Place | None:
        block: _Block | None = self.block
        while block is not None:
            if p in block.bars:
                return block.bars[p]
            block = block.parent
        return None

    def _outer_bars(self, block: _Block, s: Statement) -> None:
        """Cells for cotangents of this block's values that the nested blocks add to."""
        for inner in [t for b in blocks(s) for t in walk(b)]:
            if not self._gives(inner):
                continue
            for v in reads(inner):
                if not isinstance(v, Value) or v not in self.active or v in block.bars:
                    continue
                own = v in block.defined or (block is self.root and v in self.function.params)
                if own:
                    self._begin_bar(block, v)

    def _gives(self, s: Statement) -> bool:
        """Whether reversing the statement adds to cotangents of what it reads."""
        match s:
            case Let() | Load():
                return s.out in self.active
            case Store():
                return s.place in self.active
            case Push():
                return s.tape in self.active
            case Call():
                return any(o in self.active for o in s.outs)
        return False

    def _total(self, block: _Block, v: Any) -> Operand:
        contributions = block.contributions.pop(v)
        total = contributions[0]
        for c in contributions[1:]:
            total = self.builder.add_up(total, c)
            if isinstance(total, Value):
                self._rename(total, f"{v.name}_bar")
                total.of = v
        return total

    def _collect(self, v: Value) -> Operand | None:
        """The cotangent of a value at its definition; None where nothing arrived."""
        block = self.block
        parts: list[Operand] = []
        if v in block.bars:
            parts.append(self._read_bar(block.bars[v]))
        if v in block.contributions:
            parts.append(self._total(block, v))
        if not parts:
            return None
        total = parts[0] if len(parts) == 1 else self.builder.add_up(*parts)
        if isinstance(total, Value):
            self._rename(total, f"{v.name}_bar")
        return total

    def _rename(self, v: Value, name: str, always: bool = False) -> None:
        d = self.builder.definition.get(v)
        if isinstance(d, Let) and (always or not v.name.endswith("_bar")):
            v.name = name

    def _read_bar(self, bar: Place) -> Operand:
        if isinstance(bar, Cell):
            return self.builder.load(bar)
        return self.builder.element(bar, (), bar.type, bar.name)

    def _give(self, v: Any, c: Operand, shape: Type) -> None:
        """Add a contribution, of the shape of the statement's result, to a cotangent."""
        if not isinstance(v, Value) or v not in self.active:
            return
        c = self._fitted(v, c, shape)
        bar = self._find_bar(v)
        if bar is not None:
            self._note_kind(v, bar, c)
            self.builder.store(bar, c, accumulate=True)
        else:
            self.block.contributions.setdefault(v, []).append(c)

    def _note_kind(self, v: Any, bar: Place, c: Operand | None) -> None:
        """A cotangent of a Python number may be NumPy's: its cell then holds that."""
        if c is None or not isinstance(bar, Cell) or bar.type.is_array:
            return
        if not type_of(c).python and bar.type.python:
            bar.type = self.kinds[v] = join(bar.type, type_of(c)) or bar.type

    def _as_kind(self, c: Operand, t: Type) -> Operand:
        """A cotangent as Python's number where the callee was written for one."""
        if not t.python or type_of(c).python or t.is_array:
            return c
        if isinstance(c, Const):
            return constant(complex(c.value) if t.is_complex else float(c.value))
        wanted = replace(t, optional=False)
        return self.builder.let(CAST, c, attribute=wanted, type=wanted)

    def _fitted(self, v: Value, c: Operand, shape: Type) -> Operand:
        """The contribution in the primal's shape, realness and dtype."""
        b = self.builder
        if not v.type.is_complex:
            c = real_part(b, c)
        if shape.is_array and self._stretched(v.type, shape):
            if not self._fills(type_of(c), shape):
                c = self._spread(c, shape)
            if v.type.is_array:
                c = b.let(SUM_TO, c, attribute=_summed_axes(v.type, shape), type=v.type)
            else:
                c = b.let(row(np.sum, 1), c)
        if not v.type.python and not type_of(c).python and type_of(c).dtype != v.type.dtype:
            wanted = replace(type_of(c), dtype=v.type.dtype)
            c = b.let(CAST, c, attribute=wanted, type=wanted)
        return c

    @staticmethod
    def _fills(own: Type, shape: Type) -> bool:
        """Whether an operand has the whole shape; dims that met are taken to be equal."""
        if own.rank != shape.rank:
            return False
        pairs = zip(own.dims or (), shape.dims or (), strict=True)
        return all(d.constant != 1 or f.constant == 1 for d, f in pairs)

    @staticmethod
    def _stretched(own: Type, shape: Type) -> bool:
        """Whether broadcasting stretched an operand into the result's shape."""
        dims, full = own.dims or (), shape.dims or ()
        if len(dims) < len(full):
            return True
        pairs = zip(dims, full, strict=True)
        return any(d.constant == 1 and f.constant != 1 for d, f in pairs)

    def _spread(self, c: Operand, shape: Type) -> Operand:
        """A cotangent repeated in the shape of an array."""
        like = next((p for p in self.function.params if p.type == shape), None)
        if like is None:
            like = self.need(next(v for v in self._values() if v.type == shape))
        assert isinstance(like, Value)
        return self.builder.let(SPREAD, c, like, type=replace(type_of(c), dims=shape.dims))

    def _values(self) -> Iterator[Value]:
        block: _Block | None = self.block
        while block is not None:
            yield from (v for v in block.defined if isinstance(v, Value))
            block = block.parent

    def _result_bar(self, v: Value) -> Operand:
        """The cotangent of an input, of the input's own kind."""
        b = self.builder
        b.where = None
        c = self._collect(v) if v in self.active else None
        if isinstance(c, Value):
            self._rename(c, f"{v.name}_bar", always=True)
        t = v.type
        if t.is_array:
            if c is None:
                zeros = Buffer(f"{v.name}_bar", t, v)
                b.add(Alloc(zeros))
                return self._read_bar(zeros)
            return c if self._fills(type_of(c), t) else b.let(SPREAD, c, v, type=t)
        if c is None:
            c = _zero(t)
        c = c if t.is_complex else real_part(b, c)
        here = type_of(c)
        if (here.python, here.dtype) != (t.python, t.dtype):
            known = c.constant if isinstance(c, Linear) else getattr(c, "value", None)
            if known is not None and t.python:
                return constant((complex if t.is_complex else float)(known))
            wanted = replace(t, optional=False)
            c = b.let(CAST, c, attribute=wanted, type=wanted)
        return c

    # ---- primal values ---------------------------------------------------------

    def need(self, o: Any) -> Any:
        """A primal operand as the reverse sweep can have it, at this very point."""
        if isinstance(o, Linear):
            return o.substitute(self._need_symbol)
        if not isinstance(o, Value | Tape):
            return o
        block = self._owner(o)
        if block is None or (block.top and not self._is_cheap(block, o)):
            return self._still_held(block, o)
        return self._provide(block, o)

    def _still_held(self, block: _Block | None, o: Any) -> Any:
        """A value of an outer block; read again where its cell has not changed since."""
        if block is None or o not in block.defined:
            return o
        s = block.body[block.defined[o]]
        if not (isinstance(s, Load) and isinstance(s.source, Cell)):
            return o
        if s.unsure or s.source.choice:
            return o
        later = self.stores_of.get(s.source, ())
        if any(self._may_follow(t, s) for t in later) or not self._is_kept(s.source):
            return o
        return self.builder.load(s.source)

    def _is_cheap(self, block: _Block, o: Any) -> bool:
        """A small unnamed value of values that are still there: written out again."""
        if o not in block.defined or not isinstance(o, Value) or o.users:
            return False
        s = block.body[block.defined[o]]
        if not isinstance(s, Let) or not s.primitive.cheap or o in self.function.results:
            return False
        return all(self._is_there(x) for x in s.operands)

    def _is_there(self, o: Any) -> bool:
        if isinstance(o, Linear):
            return all(self._is_there(v) for v in leaves(o))
        if not isinstance(o, Value) or o in self.function.params:
            return not isinstance(o, Place)
        block = self._owner(o)
        return block is not None and block.top and isinstance(o, Value) and o.users

    def _need_symbol(self, s: Any) -> Linear:
        if isinstance(s, Dim):
            return symbol(Dim(self.need(s.array), s.axis))
        new = self.need(s)
        return new if isinstance(new, Linear) else symbol(new)

    def _owner(self, v: Any) -> _Block | None:
        block: _Block | None = self.block
        while block is not None and v not in block.defined and v not in block.provided:
            block = block.parent
        return block

    def _provide(self, block: _Block, v: Any) -> Any:
        if v in block.provided:
            return block.provided[v]
        k = block.defined[v]
        s = block.body[k]
        with self._inside(block):
            if isinstance(s, Load) and self._can(v):
                self._flush_older(block, s.source, k)
                new: Any = Value(v.name, v.type, v.users)
                index = self.need_index(s.index)
                source = s.source if isinstance(s.source, Place) else self.need(s.source)
                again = Load(new, source, index, s.safe)
                self.builder.definition[new] = again
                self.builder.add(again)
                if isinstance(s.source, Place):
                    self.repeated.setdefault(s.source, set()).add(s)
            elif isinstance(s, Let) and self._can(v):
                operands = tuple(self.need(o) for o in s.operands)
                new = Value(v.name, v.type, v.users)
                let = Let(new, s.primitive, operands, s.attribute, s.quiet)
                self.builder.definition[new] = let
                self.builder.add(let)
            elif (store := self._holder(block, v)) is not None:
                new = Value(v.name, v.type, v.users)
                self.repeated.setdefault(store.place, set()).add(store)
                self.builder.add(Load(new, store.place))
            else:
                new = self._popped(block, k, v)
            if isinstance(v, Value) and v.type == INT:
                pass
            block.provided[v] = new
        return block.provided[v]

    def _popped(self, block: _Block, k: int, v: Any) -> Any:
        """Push a value in the forward sweep, pop it here."""
        self.pushed.add(v)
        tape = self._tape(v, v.name)
        block.after.setdefault(k, []).append(Push(tape, v, where=block.body[k].where))
        new: Any = (
            Tape(v.name, v.type) if isinstance(v, Tape) else Value(v.name, v.type, v.users)
        )
        self.builder.add(Pop(new, tape))
        return new

    def _tape(self, key: Any, name: str) -> Tape:
        """The tape of a value; it begins before the outermost loop around it."""
        if key not in self.tapes:
            tape = self.tapes[key] = Tape(f"{name}_tape", key.type)
            self._begin_tape(tape)
        return self.tapes[key]

    def _begin_tape(self, tape: Tape) -> None:
        """A tape begins empty before the outermost statement that pushes on it."""
        home = self.block
        while home.parent is not None and not home.is_home:
            home = home.parent
        begun = self.begun.get(tape)
        if begun is not None and begun[0] is home:
            if begun[1] <= home.at:
                return
            home.before[begun[1]].remove(begun[2])
        start = Alloc(tape)
        self.begun[tape] = home, home.at, start
        home.before.setdefault(home.at, []).insert(0, start)

    def need_index(self, index: Any) -> Any:
        def item(i: Any) -> Any:
            match i:
                case At():
                    return At(self.need(i.position))
                case Span():
                    bounds = (i.lower, i.upper, i.step)
                    return Span(*(None if x is None else self.need(x) for x in bounds))
            return i

        return tuple(item(i) for i in index)

    def _can(self, o: Any) -> bool:
        """Whether a value can be had again without pushing it."""
        if isinstance(o, Linear):
            return all(self._can(v) for v in leaves(o))
        if not isinstance(o, Value):
            return not isinstance(o, Place)
        block = self._owner(o)
        if block is None or block.top or o in block.provided:
            return True
        s = block.body[block.defined[o]]
        match s:
            case Load(source=Place()):
                return self._is_unchanged(block, block.defined[o], s.source)
            case Load():
                return self._can(s.source) and all(
                    self._can(i) for i in _index_values(s.index)
                )
            case Let():
                return s.primitive.cheap and all(
                    self._can(x) or x in self.pushed for x in s.operands
                )
        return False

    def _is_unchanged(self, block: _Block, k: int, place: Place) -> bool:
        """Whether a place read at `k` of the block still holds what it held then."""
        if not self._is_kept(place):
            return False
        end = block.at + (1 if isinstance(_at(block), For | While | If) else 0)
        return not any(place in stores(s) for s in block.body[k + 1 : end])

    def _is_kept(self, place: Place) -> bool:
        """Whether a place is there in the reverse sweep: it began in an outer block."""
        block: _Block | None = self.block
        begun = self.alloc.get(place)
        while block is not None:
            if begun in block.body:
                return block.top
            block = block.parent
        return False

    def _holder(self, block: _Block, v: Any) -> Store | None:
        """A store of the value into a cell that still holds it."""
        k = block.defined[v]
        for j in range(k + 1, len(block.body)):
            s = block.body[j]
            if isinstance(s, Store) and s.operand is v and not s.accumulate and not s.index:
                place = s.place
                if not isinstance(place, Cell) or not self._is_kept(place):
                    continue
                if any(place in stores(t) for t in block.body[j + 1 : max(block.at, j + 1)]):
                    continue
                pending = block.undo.get(place)
                if block.at > j or (pending and pending[0] == j) or not self._must_save(s):
                    return s
        return None

    # ---- stores ----------------------------------------------------------------

    def _must_save(self, s: Store) -> bool:
        return any(self._may_follow(s, r) for r in self.repeated.get(s.place, ()))

    def _store(self, block: _Block, k: int, s: Store) -> None:
        b = self.builder
        place = s.place
        self._flush(block, {place})
        if self._must_save(s):
            old = self.saved.setdefault(s, place.content())
            read = Load(old, place, s.index, where=s.where)
            block.before.setdefault(k, []).append(read)
            if block.top:
                back: list[Statement] = [Store(place, old, s.index)]
            else:
                tape = self._tape(old, place.name)
                block.before[k].append(Push(tape, old, where=s.where))
                popped = place.content()
                back = [Pop(popped, tape), Store(place, popped, self.need_index(s.index))]
            self._begin_saved(place)
            block.undo[place] = (k, back)
        if place not in self.active:
            return
        bar = self._find_bar(place)
        assert bar is not None
        index = self.need_index(s.index)
        carried = isinstance(s.operand, Value) and s.operand in self.active
        g: Operand | None = None
        if carried:
            t = _region(place.type, s.index) if s.index else place.type
            g = self._read_bar(bar) if not index else b.element(bar, index, t, bar.name)
            if isinstance(place, Cell) and place.type.is_array:
                g = self._whole(s, g)
        if not s.accumulate:
            b.store(bar, _zero(place.type.element if s.index else place.type), index)
        if g is not None:
            self._give(s.operand, g, type_of(g))

    def _whole(self, s: Store, g: Operand) -> Operand:
        """The cotangent of what an array cell is given; it may be a plain number yet."""
        if s.operand.type.is_array:  # type: ignore[union-attr]
            like = self.need(s.operand)
            t = replace(type_of(g), dims=like.type.dims)
            return self.builder.let(SPREAD, g, like, type=t)
        if s.adjoint or s.accumulate:
            raise UnsupportedSyntax(
                "gradwright does not differentiate twice through an array that a loop "
                "reassigns yet",
                at=s.where,
                instead="one derivative by differences, or the loop over numbers",
            )
        return g

    def _begin_saved(self, place: Place) -> None:
        """A cell whose content is saved holds something from the start."""
        if isinstance(place, Cell) and not _begins_stored(self.function.body, place):
            self.placeholders.add(place)

    def _flush(self, block: _Block, places: set[Any]) -> None:
        """Put back what pending stores overwrote."""
        for p in [p for p in block.undo if p in places]:
            _, back = block.undo.pop(p)
            for s in back:
                self.builder.add(s)

    def _flush_older(self, block: _Block, source: Any, k: int) -> None:
        if source in block.undo and block.undo[source][0] > k:
            self._flush(block, {source})

    # ---- statements ------------------------------------------------------------

    def _let(self, s: Let) -> bool:
        """The adjoint; whether it raises wherever the statement itself would."""
        if s.out not in self.active:
            return False
        g = self._collect(s.out)
        if g is None:
            return False
        p = s.primitive
        if p in (NAMED, CAST):
            self._give(s.operands[0], g, s.out.type)
        elif p is DISPLAY:
            self._display(s, g)
        elif p is SPREAD:
            self._give(s.operands[0], g, s.out.type)
        elif p is SUM_TO:
            wide = type_of(s.operands[0])
            self._give(s.operands[0], self._widened(g, s, wide), wide)
        elif p.kind == "linear":
            self._give(s.operands[0], self.rules.transpose(p, g), s.out.type)
        elif p is not FORMAT:
            self._partials(s, g)
        return p.covered

    def _widened(self, g: Operand, s: Let, wide: Type) -> Operand:
        """The transpose of a sum over stretched axes: the cotangent, stretched."""
        (x,) = s.operands
        return self.builder.let(
            SPREAD, g, self.need(x), type=replace(type_of(g), dims=wide.dims)
        )

    def _partials(self, s: Let, g: Operand) -> None:
        shape = s.out.type
        for k, o in enumerate(s.operands):
            if o not in self.active:
                continue
            if s.primitive.function is np.where:
                c = self._chosen(s, k, g)
            else:
                partial = self.rules.partial(
                    s.primitive,
                    k,
                    lambda j: self.need(s.operands[j]),
                    lambda: self.need(s.out),
                )
                c = self.builder.scale(partial, g)
            c = self._where_it_counts(s, g, c)
            if s.primitive.kind == "reduction":
                self._give(o, c, type_of(o))
            else:
                self._give(o, c, shape)

    def _chosen(self, s: Let, k: int, g: Operand) -> Operand:
        """The cotangent of one side of np.where: zero where the other was taken."""
        sides = (g, constant(0.0)) if k == 1 else (constant(0.0), g)
        return self.builder.let(s.primitive, self.need(s.operands[0]), *sides)

    def _where_it_counts(self, s: Let, g: Operand, c: Operand) -> Operand:
        """No NaN from an element that a choice did not take: its cotangent is zero."""
        p, b = s.primitive, self.builder
        if not isinstance(c, Value) or not c.type.is_array:
            return c
        if p.function in SELECTIONS:
            self.masked.add(c)
        elif g in self.masked:
            if p.rule is not None and is_singular(p.rule):
                counts = b.let(row(operator.ne, 2), g, constant(0.0))
                made = b.definition.get(c)
                if isinstance(made, Let):
                    made.quiet = True
                c = b.let(row(np.where, 3), counts, c, constant(0.0), type=c.type)
            if isinstance(c, Value):
                self.masked.add(c)
        return c

    def _display(self, s: Let, g: Operand) -> None:
        positions = list(np.ndindex(*s.attribute))
        for o, position in zip(s.operands, positions, strict=True):
            if o not in self.active:
                continue
            if not (isinstance(g, Value) and g.type.is_array):
                self._give(o, g, type_of(o))
                continue
            index = tuple(At(linear(k)) for k in position)
            name = f"{o.name}_bar" if isinstance(o, Value) else "part"
            part = self.builder.element(g, index, g.type.element, name)
            self._give(o, part, type_of(part))

    def _load(self, s: Load) -> bool:
        """The adjoint; whether it raises wherever the statement itself would."""
        if s.out not in self.active:
            return False
        g = self._collect(s.out)
        if g is None:
            return False
        if isinstance(s.source, Value) and not s.index:
            self._give(s.source, g, s.out.type)
            return True
        bar = self._find_bar(s.source)
        if bar is None:
            assert isinstance(s.source, Value)
            owner = self._owner(s.source) or self.root
            with self._inside(owner):
                bar = self._begin_bar(owner, s.source)
        if isinstance(s.source, Value) and not s.source.type.is_complex:
            g = real_part(self.builder, g)
        self._note_kind(s.source, bar, g)
        self.builder.store(bar, g, self.need_index(s.index), accumulate=True)
        return bool(s.index)

    def _push(self, s: Push) -> None:
        if s.tape not in self.active:
            return
        bar = self._find_bar(s.tape)
        assert isinstance(bar, Tape)
        if isinstance(s.operand, Tape):
            inner = self._bar_of_place(self.block, s.operand)
            self.builder.add(Pop(inner, bar))
            return
        name = s.operand.name if isinstance(s.operand, Value) else "unused"
        g = Value(f"{name}_bar", type_of(s.operand))
        self.builder.add(Pop(g, bar))
        self._give(s.operand, g, g.type)

    def _pop(self, s: Pop) -> None:
        if s.tape not in self.active:
            return
        bar = self._find_bar(s.tape)
        assert isinstance(bar, Tape)
        if isinstance(s.out, Tape):
            inner = self._find_bar(s.out)
            self.builder.add(Push(bar, inner))
            return
        g = self._collect(s.out) if s.out in self.active else None
        self.builder.add(Push(bar, g if g is not None else _zero(s.out.type)))

    # ---- branches and loops ----------------------------------------------------

    def _compound(self, block: _Block, k: int, s: Statement) -> Statement:
        match s:
            case If():
                return self._if(block, s)
            case For() if self._is_independent(block, s):
                return self._independent(s)
            case For():
                return self._for(block, k, s)
            case While():
                return self._while(block, k, s)
        raise AssertionError(s)

    def _if(self, block: _Block, s: If) -> If:
        then = self._nested(s.then, block.top, False, last_trip=block.last_trip)
        orelse = self._nested(s.orelse, block.top, False, last_trip=block.last_trip)
        if then[1] or orelse[1]:
            leaves_loop = bool(s.then) and isinstance(s.then[-1], Break)
            if leaves_loop and block.last_trip is not None:
                condition: Operand = block.last_trip
            else:
                condition = self.need(s.condition)
            self.builder.add(If(condition, then[1], orelse[1]))
            self.builder.forget({p for b in (then[1], orelse[1]) for t in b for p in stores(t)})
        return replace(s, then=then[0], orelse=orelse[0])

    def _for(self, block: _Block, k: int, s: For) -> For:
        breaks = _breaks(s.body)
        again = Value(s.symbol.name, INT, s.symbol.users)
        forward, reverse = self._nested(s.body, False, True, {s.symbol: again})
        start: Operand = s.start
        stop: Operand = s.stop
        if breaks:
            trips = self._count_trips(block, k, forward)
            step = s.step
            assert isinstance(start, Linear) and isinstance(step, Linear)
            if reverse:
                n = self._trips(block, k, trips)
                if s.backwards:
                    start, stop = self._last_of(s, n), self.need(s.stop)
                else:
                    start = self.need(start)
                    stop = start + self._times(n, self.need(step))
        if reverse:
            step = self.need(s.step)
            if not breaks:
                start, stop = self.need(s.start), self.need(s.stop)
            self.builder.add(
                For(again, start, stop, step, reverse, backwards=not s.backwards)
            )
            self.builder.forget({p for t in reverse for p in stores(t)})
        return replace(s, body=forward)

    def _times(self, n: Linear, step: Linear) -> Linear:
        if step.constant is not None:
            return n * step.constant
        product = self.builder.operator(operator.mul, n, step)
        assert isinstance(product, Linear)
        return product

    def _last_of(self, s: For, n: Linear) -> Linear:
        """Where the last `n` items of a range begin: a backwards loop ran through them."""
        start, stop, step = (self.need(x) for x in (s.start, s.stop, s.step))
        if step.constant in (1, -1):
            return stop - self._times(n, step)
        b = self.builder
        length = -b.operator(operator.floordiv, start - stop, step)
        return start + self._times(length - n, step)

    def _while(self, block: _Block, k: int, s: While) -> While:
        n_trips: Linear | None = None
        trip = Value("_", INT)
        last: Operand | None = None
        placeholder = Value("trips", INT)
        endless = isinstance(s.condition, Const) and len(_breaks(s.body)) == 1
        if endless:
            trip = Value("trip", INT)
            last = self.builder.let(
                row(operator.eq, 2),
                symbol(trip),
                symbol(placeholder) - 1,
                type=BOOL,
                name="is_last",
            )
            test = self.builder.block.pop()
        forward, reverse = self._nested(s.body, False, True, {trip: trip}, last)
        trips = self._count_trips(block, k, forward)
        if reverse:
            n_trips = self._trips(block, k, trips)
            if endless:
                mapping = {placeholder: n_trips}
                reverse = Substitution(mapping).block([test, *reverse])
            self.builder.add(
                For(trip, linear(0), n_trips, linear(1), reverse, backwards=endless)
            )
            self.builder.forget({p for t in reverse for p in stores(t)})
        return replace(s, body=forward)

    def _count_trips(self, block: _Block, k: int, forward: list[Statement]) -> Cell:
        """A counter in the forward sweep of a loop that may end early."""
        s = block.body[k]
        trips = self._counter(s)
        begin: list[Statement] = [Alloc(trips), Store(trips, linear(0))]
        block.before.setdefault(k, []).extend(begin)
        first = 0
        while first < len(forward) and _is_item(forward[first]):
            first += 1
        forward.insert(first, Store(trips, linear(1), accumulate=True))
        return trips

    def _counter(self, s: Statement) -> Cell:
        counters: dict[Statement, Cell] = self.__dict__.setdefault("counters", {})
        return counters.setdefault(s, Cell("trips", INT))

    def _trips(self, block: _Block, k: int, trips: Cell) -> Linear:
        """How many iterations ran: counted, and taped where the loop is nested."""
        counted: dict[Cell, Value] = self.__dict__.setdefault("counted", {})
        n = counted.setdefault(trips, Value("trips", INT))
        block.after.setdefault(k, []).insert(0, Load(n, trips))
        if block.top:
            return symbol(n)
        tape = self._tape(n, "trips")
        block.after[k].insert(1, Push(tape, n))
        popped = Value("trips", INT)
        self.builder.add(Pop(popped, tape))
        return symbol(popped)

    def _is_independent(self, block: _Block, s: For) -> bool:
        """Iterations only add to what lies outside, and read none of that."""
        if not block.top or _breaks(s.body):
            return False
        inner = list(walk(s.body))
        if any(isinstance(t, Push | Pop | Effect | Raise | Assert | Call) for t in inner):
            return False
        own = {t.place for t in inner if isinstance(t, Alloc)}
        outer = [t for t in inner if isinstance(t, Store) and t.place not in own]
        if not all(t.accumulate for t in outer):
            return False
        added = {t.place for t in outer}
        if any(isinstance(t, Load) and t.source in added for t in inner):
            return False
        return not any(v in added for r in self.function.results for v in leaves(r))

    def _independent(self, s: For) -> For:
        """One loop that runs each iteration forward and backward: no tape."""
        self.independent.add(s)
        for t in walk(s.body):
            if isinstance(t, Load) and isinstance(t.source, Place):
                if self.alloc.get(t.source) not in set(walk(s.body)):
                    self.repeated.setdefault(t.source, set()).add(t)
        forward, reverse = self._nested(
            s.body, True, True, {s.symbol: s.symbol}, is_home=True
        )
        if reverse:
            bounds = [self.need(x) for x in (s.start, s.stop, s.step)]
            body = [*forward, *reverse]
            self.builder.add(For(s.symbol, *bounds, body, s.backwards, pair=s))
            self.builder.forget({p for t in reverse for p in stores(t)})
        (again,) = clone([replace(s, pair=s)])
        assert isinstance(again, For)
        return again

    # ---- calls -----------------------------------------------------------------

    def _call(self, block: _Block, k: int, s: Call) -> Statement:
        given = [o in self.active for o in s.operands]
        if is_recursive(s.function):  # one form of it, whatever the call
            given = [carries(p) for p in s.function.params]
        wanted = [o in self.active for o in s.outs]
        pushed = any(isinstance(o, Tape) and o in self.active for o in s.operands)
        if not any(wanted) and not pushed:
            return s
        bars = [
            self._tape_bar(o) if isinstance(o, Tape) else self._collect(o) if w else None
            for o, w in zip(s.outs, wanted, strict=True)
        ]
        if all(g is None for g in bars) and not pushed:
            return s
        split = self.splits.split(s.function, tuple(given))
        residuals = self._residuals(s, split)
        forward = Call(
            (*s.outs, *residuals),
            split.forward,
            (*s.operands, *self._tape_operand(block, split)),
            where=s.where,
        )
        for r in residuals:
            block.defined[r] = k
        operands: list[Any] = [
            *(self.need(r) for r in residuals),
            *(self.need(s.operands[j]) for j in split.needed),
            *(
                _zero(o.type) if g is None else g if isinstance(g, Tape) else self._as_kind(g, o.type)
                for g, o in zip(bars, s.outs, strict=True)
                if carries(o)
            ),
            *(self._tape_bar(o) for o in s.operands if isinstance(o, Tape)),
            *self._tape_operand(block, split),
        ]
        outs = []
        for o, a in zip(s.operands, given, strict=True):
            if a and not isinstance(o, Tape):
                outs.append((o, Value(f"{getattr(o, 'name', 'unused')}_bar", type_of(o))))
        self.builder.add(Call(tuple(v for _, v in outs), split.backward, tuple(operands)))
        for o, out in outs:
            self._give(o, out, out.type)
        return forward

    def _tape_bar(self, o: Tape) -> Tape:
        """The tape of cotangents beside a tape; an empty one where nothing flows."""
        bar = self._find_bar(o)
        if bar is None:
            bar = Tape(f"{o.name}_bar", o.type)
            self.builder.add(Alloc(bar))
        assert isinstance(bar, Tape)
        return bar

    def _residuals(self, s: Call, split: Split) -> list[Any]:
        made: dict[Call, list[Any]] = self.__dict__.setdefault("residual_values", {})
        if s not in made or len(made[s]) != len(split.residuals):
            handed = split.forward.results[len(s.function.results) :]
            made[s] = [
                Tape(r.name, r.type) if isinstance(r, Tape) else Value(r.name, type_of(h))
                for r, h in zip(split.residuals, handed, strict=True)
            ]
        return made[s]

    def _tape_operand(self, block: _Block, split: Split) -> tuple[Any, ...]:
        if not split.recursive:
            return ()
        if self.tape is not None:
            return (self.tape,)
        tapes: dict[Any, Tape] = self.__dict__.setdefault("call_tapes", {})
        key = split.forward
        if key not in self.tapes:
            tape = tapes.setdefault(key, Tape("tape", Type("tape")))
            self.tapes[key] = tape
        self._begin_tape(self.tapes[key])
        return (self.tapes[key],)


def _all_blocks(body: list[Statement]) -> Iterator[list[Statement]]:
    yield body
    for s in body:
        for b in blocks(s):
            yield from _all_blocks(b)


def _with_placeholders(body: list[Statement], cells: set[Cell]) -> list[Statement]:
    """Cells that are saved before their first store begin as None; a read that may come
    before it still raises Python's own error."""
    if not cells:
        return body
    result: list[Statement] = []
    for s in body:
        if isinstance(s, Load) and s.source in cells and s.unsure:
            result += _unbound_check(s)
        elif blocks(s):
            s = _with_blocks(s, [_with_placeholders(b, cells) for b in blocks(s)])
        result.append(s)
        if isinstance(s, Alloc) and s.place in cells:
            assert isinstance(s.place, Cell)
            s.place.maybe_unbound = False
            result.append(Store(s.place, Const(None, NONE)))
    return result


def _unbound_check(s: Load) -> list[Statement]:
    """if x is None: raise UnboundLocalError(...)"""
    held, test = Value(s.source.name, s.source.type), Value("is_unbound", BOOL)
    text = f"cannot access local variable '{s.source.name}' where it is not associated with a value"
    raised = Raise(UnboundLocalError, (constant(text),), where=s.where)
    is_none = Let(test, row(operator.is_, 2), (held, Const(None, NONE)), where=s.where)
    return [
        Load(held, s.source, safe=True, where=s.where),
        is_none,
        If(test, [raised], [], where=s.where),
    ]


def _with_blocks(s: Statement, inner: list[list[Statement]]) -> Statement:
    match s:
        case For():
            return replace(s, body=inner[0])
        case While():
            return replace(s, header=inner[0], body=inner[1])
        case If():
            return replace(s, then=inner[0], orelse=inner[1])
        case Assert():
            return replace(s, header=inner[0])
    return s


def _at(block: _Block) -> Statement | None:
    return block.body[block.at] if block.at < len(block.body) else None


def _is_item(s: Statement) -> bool:
    """The load of the next item of a loop over an array."""
    return isinstance(s, Load) and s.safe and isinstance(s.source, Value)


def _index_values(index: Any) -> Iterator[Any]:
    from gradwright.transform.core import index_operands

    yield from index_operands(index)


def _breaks(body: list[Statement]) -> list[Break]:
    """The breaks that leave this very loop."""
    found: list[Break] = []
    for s in body:
        if isinstance(s, Break):
            found.append(s)
        elif isinstance(s, If):
            found += _breaks(s.then) + _breaks(s.orelse)
    return found


def _break_last(block: list[Statement]) -> list[Statement]:
    """A break stays the last statement of its block."""
    breaks = [s for s in block if isinstance(s, Break)]
    return [s for s in block if not isinstance(s, Break)] + breaks


def _region(t: Type, index: Any) -> Type:
    """The type of the part of an array that an index names."""
    taken = sum(isinstance(i, At | Span) for i in index)
    added = sum(isinstance(i, Span | NewAxis) for i in index)
    rank = t.rank - taken + added
    if not rank:
        return t.element
    return replace(t, dims=(VARYING,) * rank)


def _zero(t: Type) -> Operand:
    return constant(0j) if t.is_complex else constant(0.0)


def _summed_axes(own: Type, shape: Type) -> tuple[int, tuple[int, ...]]:
    """(leading axes to drop, axes of length one to keep) of a stretched operand."""
    lead = shape.rank - own.rank
    kept = tuple(k for k, d in enumerate(own.dims or ()) if d.constant == 1)
    return lead, kept


# ---- functions split in two --------------------------------------------------------


@dataclass(eq=False)
class Split:
    """g as g_forward, which returns residuals too, and g_backward, which takes them."""

    forward: Function
    backward: Function
    residuals: list[Any]
    needed: list[int]
    recursive: bool


class Splits:
    """The split forms of the functions of one program, made on demand."""

    def __init__(self, program: Any) -> None:
        self.program = program
        self.made: dict[Any, Split] = {}

    def split(self, function: Function, given: tuple[bool, ...]) -> Split:
        """The two halves of a function for these active arguments."""
        key = (function, given)
        if key not in self.made:
            if is_recursive(function):
                self._recursive(key, function, given)
            else:
                self.made[key] = self._plain(function, given)
        return self.made[key]

    def _plain(self, function: Function, given: tuple[bool, ...]) -> Split:
        bars, seeds = _seeds(function)
        wrt = _inexact(function, given)
        sweep = Sweep(function, wrt, seeds, self)
        return _halved(function, sweep, bars)

    def _recursive(self, key: Any, function: Function, given: tuple[bool, ...]) -> None:
        """Residuals of a recursive function go on a list that all calls share."""
        bars, seeds = _seeds(function)
        params = function.params
        tape = Tape("tape", Type("tape"))
        forward = replace(function, name=f"{function.name}_forward", hidden={})
        backward = Function(
            f"{function.name}_backward", [], [], [], filename=function.filename, commented=True
        )
        split = Split(forward, backward, [], list(range(len(params))), recursive=True)
        self.made[key] = split
        wrt = _inexact(function, given)
        sweep = Sweep(function, wrt, seeds, self, tape)
        residuals = residuals_of(sweep.reverse, sweep.bars, sweep.forward, function)
        residuals = [r for r in residuals if r is not tape]
        hand = _Handover(function, sweep.forward, residuals)
        forward.params = [*params, tape]
        forward.body = [*hand.forward, *(Push(tape, r) for r in hand.over)]
        backward.params = [*params, *bars, *sweep.tape_bars.values(), tape]
        pops = [Pop(r, tape, adjoint=True) for r in reversed(hand.taken)]
        backward.body = [*pops, *hand.begin, *sweep.reverse]
        backward.results = list(sweep.bars)


def _inexact(function: Function, given: tuple[bool, ...]) -> list[Value]:
    """The parameters, of those that vary, whose cotangents are returned."""
    return [
        p
        for p, is_given in zip(function.params, given, strict=True)
        if is_given and isinstance(p, Value)
    ]


def _seeds(function: Function) -> tuple[list[Any], list[Any]]:
    """Parameters of the backward half: a cotangent for every inexact result."""
    bars: list[Any] = []
    seeds: list[Any] = []
    for r in function.results:
        if isinstance(r, Tape):
            bars.append(Tape(f"{r.name}_bar", r.type))
            seeds.append(bars[-1])
            continue
        t = type_of(r)
        if t.is_inexact:
            name = r.name if isinstance(r, Value) else "result"
            bars.append(Value(f"{name}_bar", t))
            seeds.append(bars[-1])
        else:
            seeds.append(None)
    return bars, seeds


def free_values(block: list[Statement], results: list[Any]) -> dict[Any, None]:
    """Values and places that a block (and what is returned) reads but does not define."""
    own: set[Any] = set()
    for s in walk(block):
        own.update(defines(s))
        if isinstance(s, Alloc):
            own.add(s.place)
    found: dict[Any, None] = {}
    for s in walk(block):
        for v in reads(s):
            if v not in own:
                found.setdefault(v)
        if isinstance(s, Store | Alloc) and s.place not in own:
            found.setdefault(s.place)
    for r in results:
        for v in leaves(r):
            if v not in own:
                found.setdefault(v)
    return found


def residuals_of(
    reverse: list[Statement], bars: list[Any], forward: list[Statement], function: Function
) -> list[Any]:
    """What the reverse sweep reads that the forward sweep made, in order."""
    made: set[Any] = set()
    for s in walk(forward):
        made.update(defines(s))
        if isinstance(s, Alloc):
            made.add(s.place)
    return [v for v in free_values(reverse, bars) if v in made]


class _Handover:
    """Residuals on their way from the forward half to the backward half.

    What only some paths define is None on the others: it is handed over in a cell that
    begins as None.  over: what the forward half returns.  taken: the parameters of the
    backward half.  begin: statements that put taken values into the cells they were.
    """

    def __init__(self, function: Function, forward: list[Statement], residuals: list[Any]) -> None:
        outermost = {v for s in forward for v in defines(s)}
        outermost |= {s.place for s in forward if isinstance(s, Alloc)}
        self.over: list[Any] = []
        self.taken: list[Any] = []
        self.begin: list[Statement] = []
        first: list[Statement] = []
        last: list[Statement] = []
        moved: dict[Any, Cell] = {}
        nothing = Const(None, NONE)
        for r in residuals:
            if isinstance(r, Tape):
                if r not in outermost:
                    first.append(Alloc(r))
                self.over.append(r)
                self.taken.append(r)
                continue
            cell = r
            taken = Value(r.name, r.type)
            if isinstance(r, Value) and r not in outermost:
                cell = moved[r] = Cell(r.name, replace(r.type, optional=True))
                taken = r
            if isinstance(r, Value) and r in outermost:
                self.over.append(r)
                self.taken.append(r)
                continue
            if isinstance(r, Cell):
                self.begin += [Alloc(r), Store(r, taken)]
            if r not in outermost:
                first += [Alloc(cell), Store(cell, nothing)]
            left = Value(r.name, cell.type)
            last.append(Load(left, cell, safe=True))
            self.over.append(left)
            self.taken.append(taken)
        begun = {s.place for s in first if isinstance(s, Alloc)}
        late = {r for r in residuals if isinstance(r, Cell) and not _begins_stored(forward, r)}
        body = _with_placeholders(_with_stores(forward, moved, begun), late - begun)
        self.forward = [*first, *body, *last]


def _begins_stored(body: list[Statement], cell: Cell) -> bool:
    """Whether a value is stored right where the cell begins."""
    for block in _all_blocks(body):
        for k, s in enumerate(block):
            if isinstance(s, Alloc) and s.place is cell:
                return _is_stored_next(block[k + 1 :], cell)
    return False


def _is_stored_next(rest: list[Statement], place: Cell) -> bool:
    for s in rest:
        if isinstance(s, Store) and s.place is place:
            return True
        if place in stores(s) or place in set(all_reads(s)):
            return False
    return False


def _with_stores(
    body: list[Statement], moved: dict[Any, Cell], begun: set[Place]
) -> list[Statement]:
    """The block with a store behind each value that is handed over in a cell."""
    result: list[Statement] = []
    for s in body:
        if isinstance(s, Alloc) and s.place in begun:
            continue
        for b in blocks(s):
            b[:] = _with_stores(b, moved, begun)
        result.append(s)
        result += [Store(moved[v], v, where=s.where) for v in defines(s) if v in moved]
    return result


# ---- what the pipeline calls -------------------------------------------------------


def gradient(
    function: Function, wrt: list[Value], program: Any, value: bool = False
) -> Function:
    """grad or value_and_grad: the first result is the scalar to differentiate.

    Results: the value (where asked for), the other results (has_aux), the gradients.
    """
    (first, *others) = function.results
    seeds: list[Operand | None] = [constant(1.0), *(None for _ in others)]
    sweep = Sweep(function, wrt, seeds, Splits(program))
    name = f"{function.name}_{'value_and_grad' if value else 'grad'}"
    results = [*([first] if value else []), *others, *sweep.bars]
    body = [*sweep.forward, *sweep.reverse]
    return replace(function, name=name, body=body, results=results, commented=True)


def halves(function: Function, wrt: list[Value], program: Any) -> Split:
    """vjp: the forward half and the backward half, which may be called again."""
    bars, seeds = _seeds(function)
    sweep = Sweep(function, wrt, seeds, Splits(program))
    split = _halved(function, sweep, bars)
    split.forward.name = f"{function.name}_forward"
    return split


def _halved(function: Function, sweep: Sweep, bars: list[Value]) -> Split:
    """The two sweeps as functions; what one hands to the other are residuals."""
    residuals = residuals_of(sweep.reverse, sweep.bars, sweep.forward, function)
    used = free_values(sweep.reverse, sweep.bars)
    needed = [k for k, p in enumerate(function.params) if p in used]
    hand = _Handover(function, sweep.forward, residuals)
    forward = function
    if residuals:
        forward = replace(
            function,
            name=f"{function.name}_forward",
            body=hand.forward,
            results=[*function.results, *hand.over],
        )
    backward = Function(
        f"{function.name}_backward",
        [
            *hand.taken,
            *(function.params[k] for k in needed),
            *bars,
            *sweep.tape_bars.values(),
        ],
        [*hand.begin, *sweep.reverse],
        list(sweep.bars),
        filename=function.filename,
        commented=True,
    )
    return Split(forward, backward, hand.taken, needed, recursive=False)


__all__ = ["gradient", "halves"]
