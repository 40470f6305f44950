"""Algebra, core to core: the derivative's own arithmetic as a person would write it.

    x_bar = 0.5 * (2.0 * p) + -q      ->      x_bar = p - q
    x_bar += p; x_bar += p            ->      x_bar += 2.0 * p

Every operation of the derivative goes through a `Builder` once more, now that cells
have become values and it is known how often each is used; what is computed a second
time is taken from the first.  The user's own arithmetic stays as it is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gradwright.transform.bounds import Bounds
from gradwright.transform.build import Builder, constant, noun, row
from gradwright.transform.core import (
    Alloc,
    Assert,
    Buffer,
    Cell,
    Const,
    For,
    Function,
    If,
    Index,
    Let,
    Load,
    Place,
    Statement,
    Store,
    Substitution,
    Value,
    While,
    all_reads,
    blocks,
    leaves,
    reads,
    stores,
    twin,
    walk,
)
from gradwright.transform.indices import Dim
from gradwright.transform.mixed import Mixed, short
from gradwright.transform.primitives.record import Primitive
from gradwright.transform.primitives.structural import CAST, SPREAD, SUM_TO
from gradwright.transform.template import Hole, Sequence, Template
from gradwright.transform.types import fills

Block = list[Statement]


def rewrite(f: Function) -> None:
    """Write the derivative's operations of a function anew."""
    work = _Rewriting(f)
    f.body = work.block(f.body)
    if work.mapping:
        work.substitution.rename_lengths(f.body)
    f.results = [work.operand(r) for r in f.results]


def _compared(body: Block) -> set[Any]:
    """What is computed for a comparison: to the last bit as the program has it."""
    found: set[Any] = set()
    own = [s for s in walk(body) if isinstance(s, Let) and s.adjoint]
    for s in reversed(own):
        if s.out in found or s.out.type.dtype == "bool":
            found.update(o for o in s.operands if isinstance(o, Value))
    return found


class _Counted(Builder):
    """A builder that takes an operation apart only where nothing else uses it."""

    def __init__(self, uses: dict[Any, int]) -> None:
        super().__init__(folds=True)
        self.uses = uses
        self.home: dict[Any, int] = {}

    def may_split(self, a: Any) -> bool:
        return self.is_near(a) and (self.uses.get(a, 0) <= 1 or super().may_split(a))

    def is_near(self, a: Any) -> bool:
        return self.home.get(a) == id(self.block)

    def add(self, s: Statement) -> Statement:
        if isinstance(s, Let | Load):
            self.home[s.out] = id(self.block)
        return super().add(s)


class _Rewriting:
    """mapping: what stands for values whose statement has gone.

    same: for a value that the program computes again, or loads again, the first one.
    mixed: what may hold a number in place of an array; short: or too short an array.
    """

    def __init__(self, f: Function) -> None:
        uses: dict[Any, int] = {}
        for s in walk(f.body):
            for v in reads(s):
                uses[v] = uses.get(v, 0) + 1
        for r in f.results:
            for v in leaves(r):
                uses[v] = uses.get(v, 0) + 1
        self.builder = _Counted(uses)
        self.mapping: dict[Any, Any] = {}
        self.substitution = Substitution(self.mapping)
        self.bounds = Bounds()
        self.same: dict[Any, Any] = {}
        self.loaded: dict[Any, Value] = {}
        self.added: dict[tuple[Place, Index], Store] = {}
        self.last = _last_additions(f.body)
        self.compared = _compared(f.body)
        self.mixed = Mixed(f, set()).all
        self.short = short(f)
        self.params = [p for p in f.params if isinstance(p, Value) and _is_own(p)]

    def operand(self, o: Any) -> Any:
        return self.substitution.operand(o) if self.mapping else o

    def block(self, body: Block) -> Block:
        outer, self.added = self.added, {}
        with self.builder.nested([]) as out:
            for s in body:
                self.statement(s)
        self.added = outer
        return out

    def statement(self, s: Statement) -> None:
        self._forget(s)
        if isinstance(s, For | While):
            self._changed(s)
        self._write(s)
        self._changed(s)

    def _changed(self, s: Statement) -> None:
        """What was loaded from places that a statement changes is old."""
        if self.loaded and not isinstance(s, Let | Load):
            for place in stores(s):
                self.loaded.pop(place, None)

    def _write(self, s: Statement) -> None:
        match s:
            case Let():
                self._let(s)
            case For():
                bounds = {
                    k: self.operand(getattr(s, k)) for k in ("start", "stop", "step")
                }
                self.builder.block.append(replace(s, body=self.block(s.body), **bounds))
            case While():
                header, body = self.block(s.header), self.block(s.body)
                condition = self.operand(s.condition)
                loop = replace(s, header=header, condition=condition, body=body)
                self.builder.block.append(loop)
            case If() if isinstance(known := self.operand(s.condition), Const):
                for t in s.then if known.value else s.orelse:
                    self.statement(t)
            case If():
                condition = self.operand(s.condition)
                then, orelse = self.block(s.then), self.block(s.orelse)
                branch = replace(s, condition=condition, then=then, orelse=orelse)
                self.builder.block.append(branch)
            case Assert():
                header = self.block(s.header)
                check = replace(s, condition=self.operand(s.condition), header=header)
                check.message = None if s.message is None else self.operand(s.message)
                self.builder.block.append(check)
            case Alloc(place=Buffer(like=Value() as like) as place):
                place.like = self._shown(self.operand(like))
                self.builder.block.append(s)
            case Store() if s in self.last:
                self._add_last(s, self.last[s])
            case Load() if s.out in self.mapping:
                pass
            case Load(source=Value()) if s.index and not s.out.users:
                self._read(s)
            case Load() if isinstance(s.source, Cell):
                self.same[s.out] = self.loaded.setdefault(s.source, s.out)
                self.builder.block.append(s)
            case Store() if _is_addition(s):
                self._add(s)
            case _:
                new = self.substitution.statement(s) if self.mapping else s
                self.builder.block.append(new)

    # ---- operations ------------------------------------------------------------

    def _let(self, s: Let) -> None:
        b, p = self.builder, s.primitive
        operands = tuple(map(self.operand, s.operands))
        self.bounds.note(s.out, p, operands)
        known = self.bounds.truth(p, operands) if s.adjoint else None
        if known is not None:
            self.mapping[s.out] = constant(known)
            return
        is_free = s.adjoint and s.out not in self.compared
        if is_free and p.function in b.algebra and s.attribute is None:
            b.where, b.adjoint, b.quiet = s.where, True, s.quiet
            there = len(b.block)
            made = b.let(p, *operands)
            self._stand_for(s, made, is_new=len(b.block) > there)
            return
        if is_free and _adds(p) and self._sum_of_negative(s, operands):
            return
        if s.adjoint and p.function is np.squeeze and self._squeezed(s, operands):
            return
        if p is SPREAD and self._is_whole(operands[0], s.out):
            self.mapping[s.out] = operands[0]
            return
        key = (p, tuple(self.same.get(o, o) for o in operands), s.attribute)
        is_pure = p.kind != "structural" or p is CAST
        before = b.made.get(key) if is_pure and not s.out.users else None
        if before is not None and (s.adjoint or not p.cheap):
            self.mapping[s.out] = before
            return
        new = replace(s, operands=operands) if operands != s.operands else s
        b.block.append(new)
        if s.adjoint or not p.cheap or p.spelling in ("+", "-", "*", "/"):
            self.same[s.out] = b.made.setdefault(key, s.out)
        if s.adjoint or p.function is np.transpose:
            b.definition[s.out] = new
            b.home[s.out] = id(b.block)

    def _squeezed(self, s: Let, operands: tuple[Any, ...]) -> bool:
        """`squeeze(sum(x, keepdims=True))` is the sum over these axes."""
        b = self.builder
        (x,) = operands
        minus = b.negated(x)
        if isinstance(minus, Value):  # the sign goes out
            inner = replace(s, out=twin(s.out))
            if not self._squeezed(inner, (minus,)):
                return False
            b.where, b.adjoint, b.quiet = s.where, True, s.quiet
            self._stand_for(s, b.negate(inner.out), is_new=True)
            return True
        made = b.definition.get(x)
        axis = None if s.attribute is None else s.attribute["axis"]
        if axis is None or not (isinstance(made, Let) and made.primitive is SUM_TO):
            return False
        near = any(t is made for t in b.block)
        if b.uses.get(x, 0) > 1 or len(made.operands) > 1 or not near:
            return False
        lead, kept = made.attribute
        rank = made.out.type.rank
        axes = axis.items if isinstance(axis, Sequence) else (axis,)
        if {k % rank for k in axes} != set(kept):
            return False
        summed = (*range(lead), *(lead + k for k in kept))
        over: Any = summed[0] if len(summed) == 1 else Sequence(tuple, summed)
        arguments = (("x", Hole(0)), ("axis", over), ("keepdims", False))
        new = replace(
            s,
            primitive=row(np.sum, 1),
            operands=made.operands,
            attribute=Template(arguments),
        )
        b.block.remove(made)
        b.block.append(new)
        b.definition[s.out] = new
        b.home[s.out] = id(b.block)
        return True

    def _shown(self, like: Any) -> Any:
        """What shows a shape: an argument, for which nothing need be kept."""
        if not isinstance(like, Value) or like.loose:
            return like
        return next((p for p in self.params if p.type == like.type), like)

    def _is_whole(self, o: Any, whole: Value) -> bool:
        """Whether an operand has the shape already, now that no number is in it."""
        if not isinstance(o, Value) or o in self.mixed | self.short:
            return False
        if o.loose or whole.loose:
            return False
        t = o.type
        return t.is_array and t.dtype == whole.type.dtype and fills(t, whole.type)

    def _sum_of_negative(self, s: Let, operands: tuple[Any, ...]) -> bool:
        """The sum of -x is the negative of that of x: the sign goes out."""
        b = self.builder
        minus = b.negated(operands[0])
        if not isinstance(minus, Value):
            return False
        out = Value(noun(s.primitive, operands), s.out.type)
        self._let(replace(s, out=out, operands=(minus, *operands[1:])))
        b.where, b.adjoint, b.quiet = s.where, True, s.quiet
        total = self.operand(out)
        self._stand_for(s, b.negate(total), is_new=True)
        return True

    def _stand_for(self, s: Let, new: Any, is_new: bool) -> None:
        """Take `new` for the result of a statement; made just now, it is that value."""
        b = self.builder
        last = b.block[-1] if is_new else None
        if not isinstance(last, Let) or last.out is not new or new in b.uses:
            self.mapping[s.out] = new
            return
        says = s.out.users or s.out.name.endswith(("_bar", "_dot"))
        if last.primitive is not s.primitive and not says:
            s.out.name = new.name
        last.out = s.out
        b.made[last.primitive, last.operands, last.attribute] = s.out
        b.definition[s.out] = last
        b.home[s.out] = id(b.block)

    def _read(self, s: Load) -> None:
        """A part of an array that was read already is not read again."""
        source, index = self.operand(s.source), self.substitution.index(s.index)
        key = ("part", source, index)
        known = self.builder.made.setdefault(key, s.out)
        here = s.adjoint or self.builder.is_near(known)
        if known is not s.out and here:
            self.mapping[s.out] = known
            return
        self.builder.home[s.out] = id(self.builder.block)
        self.builder.block.append(replace(s, source=source, index=index))

    # ---- additions to one cell -------------------------------------------------

    def _forget(self, s: Statement) -> None:
        """Additions to cells that a statement reads or writes are over."""
        if not self.added or isinstance(s, Let):
            return
        if isinstance(s, Store) and _is_addition(s):
            return
        touched = (
            stores(s) | set(all_reads(s)) if blocks(s) else stores(s) | set(reads(s))
        )
        for key in [key for key in self.added if key[0] in touched]:
            del self.added[key]

    def _add(self, s: Store) -> None:
        """Two additions to one place, of one user's line or of equal terms, are one."""
        b = self.builder
        index = self.substitution.index(s.index)
        new = replace(s, operand=self.operand(s.operand), index=index)
        before = self.added.get((s.place, index)) if s.accumulate else None
        if before is not None:
            b.where, b.adjoint, b.quiet = s.where, True, False
            together = b.together(before.operand, new.operand, 1)
            if together is None and _one_line(before, s):
                together = b.add_up(before.operand, new.operand)
            if together is not None:
                b.block.remove(before)
                new.operand, new.accumulate = together, before.accumulate
                if (
                    isinstance(together, Value)
                    and not index
                    and s.place.name.endswith(("_bar", "_dot"))
                ):
                    together.name, together.of = s.place.name, s.place
        self.added[s.place, index] = new
        b.block.append(new)

    def _add_last(self, s: Store, load: Load) -> None:
        """What a cell holds in the end is the sum: `return x_bar + e_bar`."""
        b = self.builder
        b.where, b.adjoint, b.quiet = s.where, True, False
        held = s.place.content()
        b.add(Load(held, s.place, safe=True))
        total = b.add_up(held, self.operand(s.operand))
        if isinstance(total, Value):
            total.name, total.of = s.place.name, s.place
        self.mapping[load.out] = total


def _is_own(p: Value) -> bool:
    """Whether the lengths of a parameter are its own, so that it is surely there."""
    return any(
        isinstance(s, Dim) and s.array is p
        for d in p.type.dims or ()
        for s in d.symbols()
    )


def _adds(p: Primitive) -> bool:
    """Whether it only adds elements of its first operand up, or moves them."""
    return p is SUM_TO or p.function in (np.sum, np.squeeze)


def _last_additions(body: Block) -> dict[Store, Load]:
    """The additions to cells that only one load reads, and nothing changes."""
    after: dict[Any, list[Statement]] = {}
    found: dict[Store, Load] = {}
    for s in reversed(body):
        if isinstance(s, Store) and _is_addition(s) and s.accumulate:
            later = after.get(s.place, [])
            load = later[0] if len(later) == 1 and later[0] in body else None
            if isinstance(load, Load) and load.out.type == s.place.type:
                found[s] = load
        for t in walk([s]):
            place = t.source if isinstance(t, Load) else getattr(t, "place", None)
            if isinstance(place, Cell):
                after.setdefault(place, []).append(t)
    return found


def _is_addition(s: Store) -> bool:
    """Whether it sets a cell of the derivative's own, or adds to a cell or an array."""
    if isinstance(s.place, Cell):
        return s.adjoint and not s.index
    return s.adjoint and s.accumulate


def _one_line(a: Store, b: Store) -> bool:
    if a.where is None or b.where is None:
        return False
    return (a.where.filename, a.where.line) == (b.where.filename, b.where.line)
