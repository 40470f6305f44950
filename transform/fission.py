"""Fission, core to core: a loop over samples is parted where the samples meet.

    y = x * x                        total = 0.0
    total = psum(y, "i")             for i in range(n):
    z = y / total           ->           y_batch[i] = x_batch[i] ** 2
                                         total += y_batch[i]
                                     for i in range(n):
                                         z_batch[i] = y_batch[i] / total

What a later part needs of an earlier one stands in arrays with a place for each sample.
Branches and loops round a collective must go the same way for all samples. They meet in
a call, too, for which the user has a rule that takes all samples.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
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
    Function,
    If,
    Index,
    Let,
    Load,
    Pick,
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
from gradwright.transform.custom import Rule, call_of, rule_for
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
UNNAMED = object()  # the name of an axis without one, where sums go along it


def is_collective(s: Statement) -> bool:
    """Whether it is a collective."""
    return isinstance(s, Let) and s.primitive.kind == "collective"


def is_along(s: Statement, name: Any) -> bool:
    """Whether it is a collective over the axis of this name."""
    return is_collective(s) and bool(s.attribute.name == name)  # type: ignore[attr-defined]


def is_batching(s: Statement) -> bool:
    """Whether it is a call for which the user has a rule that takes all samples."""
    return isinstance(s, Call) and s.function.batching is not None


def meets(body: Iterable[Statement], name: Any) -> bool:
    """Whether samples meet in a block, or in a function that it calls."""
    return any(is_along(s, name) or is_batching(s) for s in everything(body))


def everything(body: Iterable[Statement]) -> Iterator[Statement]:
    """The statements of a block, and of the functions that it calls."""
    for s in walk(body):
        yield s
        if isinstance(s, Call):
            yield from (t for f in program(s.function) for t in walk(f.body))


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
        if is_along(s, name):
            return s.primitive in OWN  # type: ignore[attr-defined]
        return any(map(differs, taken(s)))

    def differs(o: Any) -> bool:
        if not isinstance(o, Linear):
            return isinstance(o, Value | Place) and o in found
        return any(
            # the samples are of one shape
            lengths and s.array in found and s.array not in samples
            if isinstance(s, Dim)
            else s in found
            for s in o.symbols()
        )

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
            elif isinstance(s, Call) and is_batching(s):
                found.update(apart(s, tuple(map(differs, s.operands))))
            elif not blocks(s) and varies(s):
                found.update(defines(s))
                found.update(stores(s))
    return found


def apart(s: Call, differ: tuple[bool, ...]) -> list[Any]:
    """The results of the user's rule that differ where these operands do."""
    if not any(differ):
        return []
    _, batched = rule_for(s.function, differ)
    return [out for out, differs in zip(s.outs, batched, strict=True) if differs]


def touched(s: Statement) -> Iterator[Any]:
    """What a statement and those in it define and store into."""
    for t in walk([s]):
        yield from defines(t)
    yield from stores(s)


# ---- the parts -----------------------------------------------------------------------


class Fission:
    """Writes a block for all samples, part by part.

    loaded: what reads a sample's own part of an argument, anew in every part.  of_all:
    gives a function with derivatives of the user's, for all samples.  equal: lengths
    that the user's rules take to be so, of arguments.
    """

    def __init__(
        self,
        b: Builder,
        name: Any,
        index: Value,
        size: Linear,
        loaded: dict[Value, Load],
        body: Block,
        of_all: Callable[[Function, tuple[bool, ...], Any], Function],
    ) -> None:
        self.of_all = of_all
        self.b, self.name, self.index, self.size = b, name, index, size
        self.loaded = loaded
        self.varying = varying(body, loaded, name)
        self.uses = Counter(v for s in walk(body) for v in _used(s))
        self.pending: Block = []
        self.held: dict[Value, Any] = {}  # an array with a place for each sample
        self.places: dict[Any, Any] = {}
        self.together: dict[Any, Any] = {}  # what stands for a result of a collective
        self.apart: set[Statement] = set()  # branches and loops that are parted, too
        self.equal: list[tuple[Linear, Linear]] = []
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
            if self.joins(s):
                part = next(parts)
            elif self.is_parted(s):
                for b in blocks(s):
                    yield from self.number(b, where, parts)
                part = next(parts)
            else:
                for v in (v for t in walk([s]) for v in _used(t)):
                    where.setdefault(v, set()).add(part)
                yield s

    def joins(self, s: Statement) -> bool:
        """Whether the samples meet in this statement itself."""
        if not isinstance(s, Call):
            return is_along(s, self.name)
        if s.function.custom is None:
            return is_batching(s) and any(self.differ(s))
        return any(self.differ(s)) and meets([s], self.name)

    def differ(self, s: Call) -> tuple[bool, ...]:
        """In which of its operands the samples differ."""
        return tuple(any(v in self.varying for v in read(o)) for o in s.operands)

    def is_parted(self, s: Statement) -> bool:
        """Whether a branch or a loop is written for all samples at once."""
        if not blocks(s) and not isinstance(s, Call):
            return False
        if s in self.apart or _leaves(s):
            return True
        if isinstance(s, Call):
            inner = [*everything([s])]
            if any(is_along(t, self.name) for t in inner):
                return True
            return any(self.differ(s)) and any(map(is_batching, inner[1:]))
        return any(self.joins(t) or self.is_parted(t) for b in blocks(s) for t in b)

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
        if self.joins(s):
            (self.rule if isinstance(s, Call) else self.collective)(s)  # type: ignore[arg-type]
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
        inner = everything([s])
        met = next((t for t in inner if is_along(t, self.name) or is_batching(t)), s)
        return UnsupportedSyntax(
            f"{self.named(met)} stands in {what}",
            at=met.where or s.where,
            instead="the call outside of it",
        )

    def named(self, met: Statement) -> str:
        """What samples meet in, in a user's words."""
        if isinstance(met, Call) and is_batching(met):
            return f"{met.function.batching.name}, which has a rule for vmap,"
        if isinstance(met, Let):
            return f"{met.primitive.name} over the axis {self.name!r}"
        return self.any_met

    @property
    def any_met(self) -> str:
        """The same, where it is not known in which."""
        if self.name is None or self.name is UNNAMED:
            return "a call that has a rule for vmap"
        return f"a collective over the axis {self.name!r}"

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
                f"'{name}' is needed behind {self.any_met}, and is no number or array"
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
                        f"{self.any_met} behind an array whose length depends on the "
                        f"sample"
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
            text = f"{self.any_met} between two uses of '{place.name}'"
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
                    text = f"'{source.name}' may have no value behind {self.any_met}"
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
        v: Any = operand if isinstance(operand, Value) else None
        first = (At(symbol(self.index)),)
        if v in self.loaded and self.loaded[v].index == first:
            whole: Any = self.loaded[v].source
        elif v not in self.held:
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

    def flush_with(self, *wanted: Any) -> None:
        """Write what waits, and keep values of it."""
        used = [v for x in wanted for v in _values(x)]
        self.uses.update(used)
        self.flush()
        self.uses.subtract(used)

    # ---- the user's rules ----------------------------------------------------------

    def rule(self, s: Call) -> None:
        """One call of the rule for all samples, in the place of theirs."""
        differ = self.differ(s)
        if is_batching(s):
            rule, batched = rule_for(s.function, differ)
        else:
            made = self.of_all(s.function, differ, self.name)
            rule = Rule(made, [*range(len(differ))], [*made.results])  # type: ignore[list-item]
            batched = [True for _ in made.results]
        pairs = zip(s.operands, differ, strict=True)
        self.flush_with(*(o for o, differs in pairs if differs))

        def operand(place: Any) -> Any:
            if place == "size":
                return self.size
            o = s.operands[place]
            whole = differ[place]
            return self.all_of(o) if whole else Substitution(self.together).operand(o)

        self.b.where = s.where
        (call,), results = call_of(rule, operand)
        assert isinstance(call, Call)
        self.b.block.append(replace(call, where=s.where))
        seen = self.seen_by(rule, call, differ)
        ends: Any = zip(s.outs, rule.outs, results, batched, strict=True)
        for out, made, r, differs in ends:
            t = type_of(out)
            known = map(seen, type_of(made).dims or ())
            wanted = (*([self.size] if differs else []), *self.dims(t))
            self.same_lengths(r, known, wanted)
            if differs:
                self.held[out] = r
            else:
                self.together[out] = self.as_before(r, t)
        self.equal += [(seen(a), seen(b)) for a, b in rule.equal]
        self.b.where = None

    def seen_by(
        self, rule: Rule, call: Call, differ: tuple[bool, ...]
    ) -> Callable[[Linear], Linear]:
        """What a length of the rule's parameters is, of what this call gives it."""
        given: dict[Any, Any] = dict(
            zip(rule.function.params, call.operands, strict=True)
        )
        places: dict[Any, Any] = dict(
            zip(rule.function.params, rule.given, strict=True)
        )

        def put(s: Any) -> Linear:
            if not isinstance(s, Dim):
                held = given.get(s)
                return held if isinstance(held, Linear) else symbol(s)
            place = places.get(s.array)
            if s.axis == 0 and place != "size" and place is not None and differ[place]:
                return self.size
            dims = type_of(given[s.array]).dims if s.array in given else None
            return dims[s.axis] if dims else symbol(s)

        return lambda form: form.substitute(put)

    def same_lengths(
        self, r: Any, known: Iterable[Linear], wanted: tuple[Linear, ...]
    ) -> None:
        """A result of a rule is as long as those of the samples; the text asks."""
        lengths = type_of(r).dims or ()
        for found, is_known, n in zip(lengths, known, wanted, strict=True):
            if is_known == n:
                continue
            differ = self.b.let(row(operator.ne, 2), found, n, type=BOOL)
            text = constant("the rule for vmap returns arrays of other lengths")
            self.b.add(If(differ, [Raise(ValueError, (text,))], []))

    def as_before(self, r: Any, t: Type) -> Any:
        """A number of a rule as that of the function itself."""
        if not t.python or type_of(r) == t:
            return r
        number = self.b.let(CAST, r, attribute=t, type=t)
        return symbol(number) if t == INT and isinstance(number, Value) else number


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
