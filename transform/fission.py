"""Fission, core to core: a loop over samples is parted where the samples meet.

    y = x * x                        total = 0.0
    total = psum(y, "i")             for i in range(n):
    z = y / total           ->           y_batch[i] = x_batch[i] ** 2
                                         total += y_batch[i]
                                     for i in range(n):
                                         z_batch[i] = y_batch[i] / total

What a later part needs of an earlier one stands in arrays with a place for each sample.
Branches and loops round a collective must go the same way for all samples.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np

from gradwright.transform.build import Builder, constant, row
from gradwright.transform.core import (
    Alloc,
    At,
    Break,
    Buffer,
    Call,
    Cell,
    Effect,
    For,
    If,
    Index,
    Let,
    Load,
    Operand,
    Pick,
    Place,
    Pop,
    Push,
    Span,
    Statement,
    Store,
    Substitution,
    Tape,
    Value,
    View,
    While,
    blocks,
    defines,
    program,
    reads,
    stores,
    taken,
    twin,
    type_of,
    walk,
)
from gradwright.transform.errors import UnsupportedSyntax
from gradwright.transform.indices import Dim, Linear, linear, symbol
from gradwright.transform.primitives.collectives import (
    GATHER,
    INDEX,
    OWN,
    PERMUTE,
    PMAX,
    PMIN,
    PSUM,
    SIZE,
    TO_ALL,
)
from gradwright.transform.primitives.structural import CAST
from gradwright.transform.types import BOOL, INT, Type, array, numpy_scalar

Block = list[Statement]


def is_collective(s: Statement, name: Any = None) -> bool:
    """Whether it is a collective, over the axis of this name if there is one."""
    if not isinstance(s, Let) or s.primitive.kind != "collective":
        return False
    return name is None or bool(s.attribute.name == name)


def meets(body: Iterable[Statement], name: Any) -> bool:
    """Whether samples meet in a block, or in a function that it calls."""
    for s in walk(body):
        if is_collective(s, name):
            return True
        if isinstance(s, Call):
            inner = program(s.function)
            if any(is_collective(t, name) for f in inner for t in walk(f.body)):
                return True
    return False


# ---- what varies from sample to sample -----------------------------------------------


def read(operand: Any) -> Iterator[Any]:
    """The values and places whose content an operand reads; of lengths none."""
    if isinstance(operand, Value | Place):
        yield operand
    elif isinstance(operand, Linear):
        yield from (s.array if isinstance(s, Dim) else s for s in operand.symbols())


def varying(
    body: Block, given: Iterable[Any], name: Any = None, lengths: bool = True
) -> set[Any]:
    """The values and places that may differ from sample to sample.

    Args:
        body: The program of one sample.
        given: What is known to differ.
        name: Of the axis along which the samples lie: what they make together is one.
        lengths: Those of what differs may differ, too.
    """
    samples = set(given)
    found = set(samples)

    def varies(s: Statement) -> bool:
        if is_collective(s, name) and name is not None:
            return s.primitive in OWN  # type: ignore[attr-defined]
        for o in taken(s):
            if isinstance(o, Linear):
                for t in o.symbols():
                    if isinstance(t, Dim):  # the samples are of one shape
                        if lengths and t.array in found and t.array not in samples:
                            return True
                    elif t in found:
                        return True
            elif isinstance(o, Value | Place) and o in found:
                return True
        return False

    size = -1
    while size != len(found):
        size = len(found)
        for s in walk(body):
            steered = isinstance(s, If | For | While) and varies(s)
            left = isinstance(s, For | While) and any(
                varies(t) and any(isinstance(u, Break) for u in walk([t]))
                for t in walk([s])
                if t is not s
            )
            if steered or left:
                found.update(touched(s))
            elif not blocks(s) and varies(s):
                found.update(defines(s))
                found.update(stores(s))
    return found


def touched(s: Statement) -> Iterator[Any]:
    """What a statement and those in it define and store into."""
    for t in walk([s]):
        yield from defines(t)
    yield from stores(s)


# ---- the parts -----------------------------------------------------------------------


class Fission:
    """Writes a block for all samples, part by part.

    loaded: what reads a sample's own part of an argument, anew in every part.
    """

    def __init__(
        self,
        b: Builder,
        name: Any,
        index: Value,
        size: Linear,
        loaded: dict[Value, Load],
        body: Block,
    ) -> None:
        self.b, self.name, self.index, self.size = b, name, index, size
        self.loaded = loaded
        self.varying = varying(body, loaded, name)
        self.uses = Counter(v for s in walk(body) for v in _used(s))
        self.pending: Block = []
        self.held: dict[Value, Any] = {}  # an array with a place for each sample
        self.places: dict[Any, Any] = {}
        self.together: dict[Any, Any] = {}  # what stands for a result of a collective
        self.apart: set[Statement] = set()  # branches and loops that are parted, too
        self.part_apart(body)

    # ---- what is parted ------------------------------------------------------------

    def part_apart(self, body: Block) -> None:
        """Find the branches and loops of which the samples share a part."""
        while True:
            where: dict[Any, set[int]] = {}
            whole = list(self.number(body, where, count()))
            found = {s for s in whole if blocks(s) and self.is_mixed(s, where)}
            if not found:
                return
            self.apart |= found

    def number(
        self, body: Block, where: dict[Any, set[int]], parts: Iterator[int]
    ) -> Iterator[Statement]:
        """The statements that are not parted; `where` gets the parts of each place."""
        part = next(parts)
        for s in body:
            if is_collective(s, self.name):
                part = next(parts)
            elif self.is_parted(s):
                for b in blocks(s):
                    yield from self.number(b, where, parts)
                part = next(parts)
            else:
                for v in (v for t in walk([s]) for v in _used(t)):
                    where.setdefault(v, set()).add(part)
                yield s

    def is_parted(self, s: Statement) -> bool:
        """Whether a branch or a loop is written for all samples at once."""
        if not blocks(s) and not isinstance(s, Call):
            return False
        return s in self.apart or meets([s], self.name) or _leaves(s)

    def is_mixed(self, s: Statement, where: dict[Any, set[int]]) -> bool:
        """Whether it stores into what samples share, or saves for another part."""
        if self.is_shared(s):
            return False
        own = {t.place for t in walk([s]) if isinstance(t, Alloc)}
        return any(
            p not in self.varying or (isinstance(p, Tape) and len(where[p]) > 1)
            for p in stores(s) - own
        )

    # ---- statements --------------------------------------------------------------

    def block(self, body: Block) -> None:
        """Write a block in which samples meet."""
        for s in body:
            self.statement(s)
        self.flush()

    def statement(self, s: Statement) -> None:
        if is_collective(s, self.name):
            self.collective(s)  # type: ignore[arg-type]
        elif isinstance(s, Break):
            self.flush()
            self.b.block.append(s)
        elif self.is_parted(s):
            self.compound(s)
        elif self.is_shared(s):
            o = Substitution(self.together)
            if not isinstance(s, Let) and not _is_part(s):
                self.flush()
            self.b.block.append(o.statement(s))
        elif isinstance(s, Push | Pop) and s.tape in self.places:
            self.taped(s)
        else:
            self.pending.append(s)

    def is_shared(self, s: Statement) -> bool:
        """Whether all samples do the same, so that it is done once."""
        if any(isinstance(t, Effect) for t in walk([s])):
            return False
        if any(v in self.varying for v in touched(s)):
            return False
        return not any(v in self.varying for v in _contents(s))

    def compound(self, s: Statement) -> None:
        """A branch or a loop in which samples meet: all of them go the same way."""
        if isinstance(s, Call) or not isinstance(s, If | For | While):
            raise self.refused(s, "a function that is called more than once, or twice")
        operands = [o for o in taken(s) if not isinstance(o, Place)]
        header = s.header if isinstance(s, While) else []
        if any(v in self.varying for o in operands for v in read(o)) or any(
            v in self.varying for t in walk(header) for v in touched(t)
        ):
            raise self.refused(s, "a branch or a loop that depends on the sample")
        self.flush()
        o = Substitution(self.together)
        inner = []
        for part in blocks(s)[1:] if isinstance(s, While) else blocks(s):
            with self.b.nested([]) as written:
                self.block(part)
            inner.append(written)
        match s:
            case For():
                names = ("start", "stop", "step")
                bounds = {n: o.operand(getattr(s, n)) for n in names}
                self.b.block.append(replace(s, body=inner[0], **bounds))
            case If():
                condition = o.operand(s.condition)
                made = replace(s, condition=condition, then=inner[0], orelse=inner[1])
                self.b.block.append(made)
            case While():
                condition = o.operand(s.condition)
                self.b.block.append(
                    replace(
                        s, header=o.block(header), condition=condition, body=inner[0]
                    )
                )

    def refused(self, s: Statement, what: str) -> UnsupportedSyntax:
        """The error for samples that cannot meet where they are to."""
        met = next((t for t in walk([s]) if is_collective(t, self.name)), None)
        kind = met.primitive.name if isinstance(met, Let) else "a collective"
        return UnsupportedSyntax(
            f"{kind} over the axis {self.name!r} stands in {what}",
            at=(met.where if met is not None else None) or s.where,
            instead="the collective outside of it",
        )

    # ---- one part ----------------------------------------------------------------

    def flush(self) -> None:
        """Write a loop over the samples for what waits."""
        waiting, self.pending = self.pending, []
        if not waiting:
            return
        inside = Counter(v for s in walk(waiting) for v in _used(s))
        for s in waiting:
            if isinstance(s, Alloc) and self.uses[s.place] > inside[s.place]:
                self.expand(s)
        waiting = [
            s for s in waiting if not (isinstance(s, Alloc) and s.place in self.places)
        ]
        kept: Block = []
        for s in waiting:
            kept.append(s)
            for v in defines(s):
                if self.uses[v] > inside[v]:
                    kept.append(self.keep(v, s))
        self.loop(kept)

    def loop(self, body: Block) -> None:
        """A loop over the samples, with what the part needs of earlier ones."""
        if not body:
            return
        index = Value(self.index.name, INT)
        index.of = self.index
        own_index = Substitution({self.index: symbol(index)})
        mapping: dict[Any, Any] = {
            v: own_index.operand(held) for v, held in self.together.items()
        }
        mapping[self.index] = symbol(index)
        begin: Block = []
        own = {v for s in walk(body) for v in defines(s)}
        wanted = dict.fromkeys(
            v for s in walk(body) for o in _operands(s) for v in _values(o)
        )
        for v in wanted:
            if v in self.loaded:
                mapping[v] = twin(v)
                begin.append(replace(self.loaded[v], out=mapping[v]))
            elif v in self.held and v not in own:
                mapping[v] = self.again(v, self.held[v], begin)
        substitution = Substitution(mapping)
        written = substitution.block([*begin, *self.rewritten(body)])
        made = For(
            index,
            linear(0),
            self.size,
            linear(1),
            written,
            samples=True,
        )
        self.b.add(made)

    def again(self, v: Value, whole: Any, begin: Block) -> Any:
        """A value of an earlier part, of the kind that it had."""
        out = Value(v.name, whole.type.element, v.users)
        if v.type.dims:
            out.type = replace(v.type, dims=self.dims(v.type))
        out.of = v
        begin.append(Load(out, whole, (At(symbol(self.index)),), safe=True))
        if not v.type.python:
            return out
        number = Value(v.name, v.type, v.users)
        begin.append(Let(number, CAST, (out,), v.type))
        return symbol(number) if v.type == INT else number

    def keep(self, v: Value, s: Statement) -> Statement:
        """Put a value where later parts find it."""
        whole = self.whole_of(v.name, v.type)
        self.b.add(Alloc(whole))
        self.held[v] = whole
        operand = symbol(v) if v.type == INT else v
        index = (At(symbol(self.index)),)
        return Store(whole, operand, index, True, first=True, safe=True, where=s.where)

    def whole_of(self, name: str, t: Type) -> Buffer:
        """An array with a place for each sample."""
        numbers = {"float": "float64", "int": "int64", "complex": "complex128"}
        dtype = numbers.get(t.dtype, "bool") if t.python else t.dtype
        if not t.is_number or t.optional:
            raise UnsupportedSyntax(
                f"'{name}' is needed behind a collective over the axis {self.name!r}, "
                f"and is no number or array"
            )
        whole = array(np.dtype(dtype), (self.size, *self.dims(t)))
        return Buffer(f"{name}_batch", whole, whole.dims or ())

    def dims(self, t: Type) -> tuple[Linear, ...]:
        """The lengths of a value, which all samples share."""
        found = tuple(Substitution(self.together).operand(d) for d in t.dims or ())
        for d in found:
            for s in d.symbols():
                held = s.array if isinstance(s, Dim) else s
                if held in self.varying:
                    raise UnsupportedSyntax(
                        f"a collective over the axis {self.name!r} behind an array "
                        f"whose length depends on the sample"
                    )
        return found

    # ---- places ------------------------------------------------------------------

    def expand(self, s: Alloc) -> None:
        """A place that several parts use becomes one for all samples."""
        place = s.place
        if isinstance(place, Tape):
            rank = place.type.rank
            dims = (self.size, *self.dims(place.type))[: rank + 1]
            t = place.type
            dtype = np.dtype(t.dtype)
            self.places[place] = made = Tape(place.name, array(dtype, dims))
            made.of = place
            self.b.add(Alloc(made))
            return
        if not isinstance(place, Cell | Buffer) or s.value is not None:
            text = f"a collective over {self.name!r} between two uses of '{place.name}'"
            raise UnsupportedSyntax(f"{text}, which is a list", at=s.where)
        self.places[place] = whole = self.whole_of(place.name, place.type)
        whole.of = place
        self.b.add(Alloc(whole))

    def taped(self, s: Push | Pop) -> None:
        """All samples are pushed, and popped, at once."""
        self.flush()
        tape = self.places[s.tape]
        if isinstance(s, Push):
            self.b.add(Push(tape, self.all_of(s.operand)))
            return
        out: Any = s.out
        whole = Value(out.name, tape.type)
        self.held[out] = whole
        self.b.add(Pop(whole, tape))

    def rewritten(self, body: Block) -> Block:
        """Reads and stores of places for all samples, at this sample."""
        return [t for s in body for t in self._rewritten(s)]

    def _rewritten(self, s: Statement) -> Block:
        match s:
            case Load(source=source) if source in self.places:
                if s.unsure:
                    text = f"'{source.name}' may have no value behind a collective"
                    raise UnsupportedSyntax(text, at=s.where)
                whole = self.places[source]
                index = self.at(source, s.index)
                t = s.out.type
                if t.python and not s.index:
                    out = Value(s.out.name, whole.type.element)
                    load = Load(out, whole, index, safe=s.safe, where=s.where)
                    cast = Let(s.out, CAST, (out,), t, where=s.where)
                    return [load, cast]
                return [replace(s, source=whole, index=index)]
            case Store(place=place) if place in self.places:
                return [
                    replace(s, place=self.places[place], index=self.at(place, s.index))
                ]
            case Push(tape=tape) | Pop(tape=tape) if tape in self.places:
                raise self.refused(s, "a loop that depends on the sample")
            case For():
                return [replace(s, body=self.rewritten(s.body))]
            case While():
                header, inner = self.rewritten(s.header), self.rewritten(s.body)
                return [replace(s, header=header, body=inner)]
            case If():
                then, orelse = self.rewritten(s.then), self.rewritten(s.orelse)
                return [replace(s, then=then, orelse=orelse)]
        return [s]

    def at(self, place: Any, index: Index) -> Index:
        """An index of this sample's part."""
        own = At(symbol(self.index))
        if any(isinstance(i, Pick) for i in index):
            part = replace(place.type, dims=self.dims(place.type))
            return (own, View(part), *index)
        return (own, *index)

    # ---- where samples meet --------------------------------------------------------

    def all_of(self, operand: Any) -> Value:
        """The array of a value of all samples."""
        v = operand if isinstance(operand, Value) else None
        if v not in self.held:
            found = Value(getattr(operand, "name", "value"), type_of(operand))
            whole = self.whole_of(found.name, found.type)
            self.b.add(Alloc(whole))
            index = (At(symbol(self.index)),)
            self.loop([Store(whole, operand, index, True, first=True, safe=True)])
        else:
            whole = self.held[v]
        if isinstance(whole, Value):
            return whole
        return self.b.element(whole, (), whole.type, whole.name)  # type: ignore[return-value]

    def collective(self, s: Let) -> None:
        """Write one collective."""
        p = s.primitive
        if p is INDEX:
            self.together[s.out] = symbol(self.index)
        elif p is SIZE:
            self.together[s.out] = self.size
        elif p is PSUM:
            self.summed(s)
        elif p in (PMAX, PMIN):
            self.extreme(s)
        elif p is GATHER:
            self.gathered(s)
        elif p is PERMUTE:
            self.permuted(s)
        elif p is TO_ALL:
            self.exchanged(s)

    def summed(self, s: Let) -> None:
        """Total += x, for every sample."""
        t = replace(s.out.type, dims=self.dims(s.out.type) if s.out.type.dims else None)
        place: Any
        if t.dims:
            place = Buffer(s.out.name, t, t.dims)
            self.b.add(Alloc(place))
        else:
            place = Cell(s.out.name, t)
            zero = 0j if t.is_complex else 0.0 if t.is_inexact else 0
            self.b.add(Alloc(place))
            self.b.block.append(Store(place, constant(zero)))
        (x,) = s.operands
        self.pending.append(Store(place, x, (), accumulate=True, where=s.where))
        self.flush()
        out = Value(s.out.name, t)
        self.b.add(Load(out, place, safe=True))
        self.together[s.out] = out

    def extreme(self, s: Let) -> None:
        """Most = x of the first sample, and np.maximum(most, x) of every other."""
        (x,), t = s.operands, s.out.type
        t = replace(t, dims=self.dims(t) if t.dims else None)
        place: Any = Buffer(s.out.name, t, t.dims) if t.dims else Cell(s.out.name, t)
        self.b.add(Alloc(place))
        function = np.maximum if s.primitive is PMAX else np.minimum
        before, both = Value(s.out.name, t), Value(s.out.name, t)
        is_first = Value("is_first", BOOL)
        then: Block = [Store(place, x, where=s.where)]
        orelse: Block = [
            Load(before, place, safe=True),
            Let(both, row(function, 2), (before, x), where=s.where),
            Store(place, both, where=s.where),
        ]
        equal = row(operator.eq, 2)
        self.pending.append(Let(is_first, equal, (symbol(self.index), linear(0))))
        self.pending.append(If(is_first, then, orelse, where=s.where))
        self.flush()
        out = Value(s.out.name, t)
        self.b.add(Load(out, place, safe=True))
        self.together[s.out] = out

    def gathered(self, s: Let) -> None:
        """rows[i] = x, for every sample."""
        (x,), k = s.operands, s.attribute.axis
        dims = list(s.out.type.dims or ())
        dims[k] = self.size
        own = replace(s.out.type, dims=tuple(dims))
        t = replace(own, dims=self.dims(own))
        place = Buffer(s.out.name, t, t.dims or ())
        self.b.add(Alloc(place))
        index: Index = (*[Span()] * k, At(symbol(self.index)))
        self.pending.append(
            Store(place, x, index, True, first=True, safe=True, where=s.where)
        )
        self.flush()
        out = Value(s.out.name, t)
        self.b.add(Load(out, place, safe=True))
        self.together[s.out] = out

    def permuted(self, s: Let) -> None:
        """parts[j] = x_batch[i], for every pair of a source and a destination."""
        (x,) = s.operands
        self.flush_with(x)
        whole = self.all_of(x)
        target = self.whole_of(s.out.name, s.out.type)
        self.b.add(Alloc(target))
        for source, at in s.attribute.perm:
            part = self.b.element(
                whole,
                (At(linear(source)),),
                replace(whole.type, dims=(whole.type.dims or ())[1:] or None),
                f"{s.out.name}_part",
            )
            index = (At(linear(at)),)
            self.b.block.append(
                Store(target, part, index, True, first=True, where=s.where)
            )
        self.held[s.out] = target

    def exchanged(self, s: Let) -> None:
        """parts[j, i] = x[j], for every sample and every part of it."""
        (x,), along, t = s.operands, s.attribute, s.out.type
        target = self.whole_of(s.out.name, t)
        self.b.add(Alloc(target))
        k = Value("k", INT)
        wide = type_of(x)
        dims = tuple(d for n, d in enumerate(wide.dims or ()) if n != along.split)
        element = replace(wide, dims=dims) if dims else numpy_scalar(wide.dtype)
        part = Value(f"{s.out.name}_part", element)
        taken_at: Index = (*[Span()] * along.split, At(symbol(k)))
        put_at: Index = (
            At(symbol(k)), *[Span()] * along.concat, At(symbol(self.index))
        )  # fmt: skip
        body: Block = [
            Load(part, x, taken_at, where=s.where),  # type: ignore[arg-type]
            Store(target, part, put_at, True, first=True, where=s.where),
        ]
        length = (wide.dims or ())[along.split]
        self.pending.append(For(k, linear(0), length, linear(1), body, where=s.where))
        self.flush()
        self.held[s.out] = target

    def flush_with(self, x: Operand) -> None:
        """Write what waits, and keep a value of it."""
        self.uses.update(_values(x))
        self.flush()
        self.uses.subtract(_values(x))


def _leaves(s: Statement) -> bool:
    """Whether a branch leaves the loop that it stands in."""
    return isinstance(s, If) and any(
        isinstance(t, Break) or _leaves(t) for b in blocks(s) for t in b
    )


def _is_part(s: Statement) -> bool:
    """Whether it reads a part of a value, and of no place."""
    return isinstance(s, Load) and not isinstance(s.source, Place)


def _used(s: Statement) -> Iterator[Any]:
    """The values and places that a statement itself reads and stores into."""
    yield from reads(s)
    if isinstance(s, Alloc | Store):
        yield s.place
    if isinstance(s, Push | Pop):
        yield s.tape


def _contents(s: Statement) -> Iterator[Any]:
    """What a statement and those in it read, apart from lengths."""
    for t in walk([s]):
        for o in taken(t):
            if isinstance(o, Linear):
                yield from (v for v in o.symbols() if not isinstance(v, Dim))
            elif isinstance(o, Value | Place):
                yield o


def _operands(s: Statement) -> Iterator[Any]:
    yield from taken(s)
    for v in (*defines(s), *([s.place] if isinstance(s, Alloc) else [])):
        yield from getattr(v.type, "dims", None) or ()


def _values(o: Any) -> Iterator[Any]:
    """The values of which an operand reads the content or a length."""
    if isinstance(o, Value):
        yield o
    elif isinstance(o, Linear):
        yield from (s.array if isinstance(s, Dim) else s for s in o.symbols())
