"""Batches, core to core: every array of a program gets one more axis, of the samples.

    def f(x, W): return np.tanh(W @ x)

    def f_batched(x_batch, W):
        return np.tanh(x_batch @ W.T)

The samples lie along the first axis of what differs between them; all else stands as it
was.  A program is lifted where all its samples go one way, and where all that differs
is of NumPy; otherwise a loop goes over the samples (see `batch`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gradwright.transform.batch import Out, _Batch, shared_by_none
from gradwright.transform.build import Builder, row
from gradwright.transform.core import (
    Alloc,
    Assert,
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
    List,
    Load,
    NewAxis,
    Operand,
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
    defines,
    fresh,
    is_recursive,
    stores,
    taken,
    twin,
    type_of,
    walk,
)
from gradwright.transform.fission import varying
from gradwright.transform.indices import Dim, Linear, linear, symbol
from gradwright.transform.lifted_rows import NotLifted, lifted_row
from gradwright.transform.primitives.record import UFUNCS
from gradwright.transform.primitives.structural import (
    CAST,
    CONJUGATE,
    COPY,
    ITEM,
    NAMED,
    SPREAD,
    STOPPED,
    SUM_TO,
)
from gradwright.transform.template import Hole, Sequence, Template
from gradwright.transform.types import Type, array, element_dtype

AS_THEY_ARE = (NAMED, STOPPED, COPY, CONJUGATE, ITEM)  # of any number of axes
ELEMENTWISE = {np.where, np.clip, abs, np.abs}


class Lift(_Batch):
    """The program of all samples while it is written."""

    def run(self, out: list[Out]) -> list[Operand]:
        """Write the program; the results of all samples."""
        body, inner = self._body()
        count = len(self.outer.mapping)
        loaded = [s for s in body[:count] if isinstance(s, Load)]
        L = Lifting(self.builder, self.size, {})
        L.vary = varying(body, [s.out for s in loaded], lengths=False)
        for s in loaded:
            axis = 0 if not s.index or isinstance(s.index[0], At) else len(s.index) - 1
            whole: Any = s.source
            L.lift(s.out, moved(L, whole, axis, 0) if axis else whole)
        L.statements(body[count:])
        results = map(inner.operand, self.function.results)
        return [stacked(L, r, o) for r, o in zip(results, out, strict=True)]


def stacked(L: Lifting, r: Any, out: Out) -> Operand:
    """One result of all samples."""
    if out.axis is None:
        if L.differs(r):
            raise shared_by_none()
        return L.own.operand(r)  # type: ignore[no-any-return]
    found = L.given(r)
    rank = type_of(found).rank
    if not -rank <= out.axis < rank:
        raise NotLifted("out_axes names no axis of the result")  # the loop says so
    if np.dtype(type_of(found).dtype) != np.dtype(element_dtype(out.type)):
        raise NotLifted("a result is of another type than its samples")
    axis = out.axis % rank
    return moved(L, found, 0, axis) if axis else found


def moved(L: Lifting, a: Any, source: int, destination: int) -> Operand:
    """An array one of whose axes comes to another place."""
    dims = list(a.type.dims or ())
    dims.insert(destination, dims.pop(source))
    p = row(np.moveaxis, 3)
    arguments: list[Any] = [("source", source), ("destination", destination)]
    if len(dims) == 2:
        p, arguments = row(np.transpose, 1), [("axes", None)]
    return L.b.raw(
        p,
        a,
        attribute=Template((("a", Hole(0)), *arguments)),
        type=replace(a.type, dims=tuple(dims)),
        name=a.name,
    )


def function_of_all(L: Lifting, f: Function, differ: list[bool]) -> Function:
    """A function of the program for all samples of the arguments that differ."""
    params: list[Any] = []
    given: dict[Any, Any] = {}
    for p in f.params:
        one = Value(p.name, p.type, users=getattr(p, "users", False))
        given[p] = one
        params.append(one)
    inner = fresh(f.body, given)
    for one in params:
        one.type = inner.type(one.type)
    some = [one for one, d in zip(params, differ, strict=True) if d]
    wholes = {one: twin(one) for one in some}
    size = symbol(Dim(wholes[some[0]], 0))
    made = Lifting(Builder(), size, L.functions)
    body = inner.block(f.body)
    made.vary = varying(body, some, lengths=False)
    for one, whole in wholes.items():
        made.lift(one, whole)
    for one, whole in wholes.items():
        t = made.type(one.type, one.name)
        whole.type = replace(t, dims=(symbol(Dim(whole, 0)), *(t.dims or ())[1:]))
    made.statements(body)
    return replace(
        f,
        name=f"{f.name}_batched",
        params=[wholes.get(one, one) for one in params],
        body=made.b.block,
        results=[made.given(inner.operand(r)) for r in f.results],
    )


class Lifting:
    """A block of statements while it is written for all samples.

    own: what stands for the values and places of one sample.  vary: which of them may
    differ from sample to sample.  functions: what is called, for the arguments that
    differ.
    """

    def __init__(
        self, builder: Builder, size: Linear, functions: dict[Any, Function]
    ) -> None:
        self.b, self.size, self.functions = builder, size, functions
        self.own = Substitution({}, {})
        self.vary: set[Any] = set()

    # ---- what differs from sample to sample ------------------------------------

    def differs(self, o: Any) -> bool:
        """Whether an operand or a place may differ from sample to sample."""
        if isinstance(o, Linear):  # lengths are those of every sample
            return any(v in self.vary for v in o.symbols() if not isinstance(v, Dim))
        return isinstance(o, Value | Place) and o in self.vary

    def type(self, t: Type, name: str = "a value") -> Type:
        """The type for all samples of what one sample has."""
        if t.items is not None:
            return replace(t, items=tuple(self.type(i, name) for i in t.items))
        if t.python or not t.is_number or t.optional:
            raise NotLifted(f"'{name}' is a number of Python's in every sample")
        own = self.own.type(t)
        return array(np.dtype(t.dtype), (self.size, *(own.dims or ())))

    def lift(self, v: Value, of: Operand) -> None:
        """All samples of a value are this."""
        assert isinstance(of, Value)
        self.own.mapping[v] = of
        for k in range(v.type.rank):
            self.own.lengths[Dim(v, k)] = symbol(Dim(of, k + 1))
        if of.type.dims is not None:  # it may have lengths of its own
            of.type = self.own.type(of.type)

    def let(self, s: Let, p: Any, *operands: Operand, attribute: Any = None) -> None:
        """One primitive gives all samples of what a statement defines."""
        t = self.type(s.out.type, s.out.name)
        out = self.b.raw(p, *operands, attribute=attribute, type=t, name=s.out.name)
        assert isinstance(out, Value)
        out.users, out.of = s.out.users, s.out.of
        made = self.b.block[-1]
        if isinstance(made, Let) and made.out is out:
            made.quiet, made.safe, made.loose = s.quiet, s.safe, s.loose
        self.lift(s.out, out)

    def aligned(self, o: Operand, rank: int) -> Operand:
        """An operand with its axes where broadcasting meets those of the result."""
        found: Operand = self.own.operand(o)
        missing = rank - type_of(o).rank
        if not self.differs(o) or missing <= 0:
            return found
        assert isinstance(found, Value) and found.type.dims is not None
        size, *rest = found.type.dims
        dims = (size, *[linear(1)] * missing, *rest)
        index: Index = (Span(), *[NewAxis()] * missing)
        name = getattr(o, "name", "value")
        t = replace(found.type, dims=dims)
        return self.b.element(found, index, t, name, safe=True)

    def given(self, o: Operand) -> Operand:
        """All samples of an operand, also of one that is the same for all."""
        found: Operand = self.own.operand(o)
        if self.differs(o):
            return found
        t = type_of(o)
        if not t.is_array:
            return self._repeated(found, t)
        own = self.own.type(t)
        dims = (self.size, *(own.dims or ()))
        shape = Template((("array", Hole(0)), ("shape", _shape(dims, 1))))
        return self.b.raw(
            row(np.broadcast_to, 2),
            found,
            *[d for d in dims if d.constant is None],
            attribute=shape,
            type=array(np.dtype(own.dtype), dims),
            name=getattr(o, "name", "value"),
        )

    def _repeated(self, o: Operand, t: Type) -> Operand:
        """One number for every sample."""
        if not t.is_number or t.optional:
            raise NotLifted("what is stacked is no number")
        dtype = np.dtype(element_dtype(t))
        given = [d for d in (self.size,) if d.constant is None]
        arguments = (
            ("shape", Hole(0) if given else self.size.constant),
            ("fill_value", Hole(len(given))),
            ("dtype", None),
        )
        return self.b.raw(
            row(np.full, 3),
            *given,
            o,
            attribute=Template(arguments),
            type=array(dtype, (self.size,)),
            name=getattr(o, "name", "value"),
        )

    # ---- statements ------------------------------------------------------------

    def statements(self, body: list[Statement]) -> None:
        for s in body:
            self.b.where, self.b.adjoint = s.where, s.adjoint
            self.statement(s)

    def nested(self, body: list[Statement]) -> list[Statement]:
        with self.b.nested([]) as block:
            self.statements(body)
        return block

    def statement(self, s: Statement) -> None:
        """One statement, for all samples."""
        match s:
            case For() | If() | While():
                self._control(s)
            case Break():
                self.b.add(replace(s))
            case Effect():
                raise NotLifted("something is reported")
            case Assert() | Raise():
                self._same(s)
            case _ if not any(map(self.differs, (*defines(s), *stores(s)))):
                self._same(s)
            case Let():
                self._let(s)
            case Load():
                self._load(s)
            case Alloc():
                self._alloc(s)
            case Store():
                self._store(s)
            case Call():
                self._call(s)
            case Push() if not isinstance(s.operand, Tape):
                _refuse_number(s.operand, s.popped)
                tape = self.own.operand(s.tape)
                self.b.add(Push(tape, self.given(s.operand)))  # type: ignore[arg-type]
            case Pop() if isinstance(s.out, Value):
                self._define(s, Pop(self._own_value(s.out), self.own.operand(s.tape)))
            case _:
                raise NotLifted(f"{type(s).__name__} in what differs")

    def _same(self, s: Statement) -> None:
        """What is the same for all samples stands as it is."""
        for t in walk([s]):
            if any(self.differs(o) for o in taken(t)):
                raise NotLifted("what is raised differs from sample to sample")
        self.own.rename_lengths([s])
        made = self.own.statement(s)
        self.b.block.append(made)
        if isinstance(made, Let):
            self.b.definition[made.out] = made

    def _control(self, s: Any) -> None:
        o = self.own.operand
        if isinstance(s, If) and self.differs(s.condition) and s.adjoint:
            self._choose(s)
            return
        if isinstance(s, If):
            self._steered(s, s.condition, "a branch")
            made: Any = If(o(s.condition), self.nested(s.then), self.nested(s.orelse))
        elif isinstance(s, While):
            header = self.nested(s.header)
            self._steered(s, s.condition, "a loop")
            made = While(header, o(s.condition), self.nested(s.body))
        else:
            for bound in (s.start, s.stop, s.step):
                self._steered(s, bound, "a loop")
            body = self.nested(s.body)
            bounds = map(o, (s.start, s.stop, s.step))
            made = replace(s, body=body, **dict(zip(BOUNDS, bounds, strict=True)))
        made.where, made.adjoint = s.where, s.adjoint
        self.b.block.append(made)

    def _choose(self, s: If) -> None:
        """A choice that a derivative makes: both are computed, and one is taken."""
        then, orelse = self._chosen(s, s.then), self._chosen(s, s.orelse)
        if then.keys() != orelse.keys():
            self._steered(s, s.condition, "a branch")
        for cell in then:
            rank = cell.type.rank
            given = (s.condition, then[cell], orelse[cell])
            operands = [self.aligned(v, rank) for v in given]
            t = self.type(cell.type, cell.name)
            chosen = self.b.raw(row(np.where, 3), *operands, type=t)
            self.b.add(Store(self.own.operand(cell), chosen))

    def _chosen(self, s: If, body: list[Statement]) -> dict[Cell, Operand]:
        """What is stored into cells on one side, which does nothing else."""
        found: dict[Cell, Operand] = {}
        for t in body:
            match t:
                case Let() if self.differs(t.out):
                    self.statement(replace(t, quiet=True))
                case Let():
                    self._same(t)
                case Store(place=Cell() as cell) if not t.accumulate:
                    found[cell] = t.operand
                case _:
                    self._steered(s, s.condition, "a branch")
        return found

    def _steered(self, s: Statement, by: Any, what: str) -> None:
        if self.differs(by):
            line = "" if s.where is None else f" in line {s.where.line}"
            raise NotLifted(f"{what}{line} depends on the sample")

    def _own_value(self, v: Value) -> Value:
        out = Value(v.name, self.type(v.type, v.name), users=v.users)
        out.of = v.of
        return out

    def _define(self, s: Any, made: Any) -> None:
        self.b.add(made)
        self.lift(s.out, made.out)

    def _let(self, s: Let) -> None:
        p, rank = s.primitive, s.out.type.rank
        if p in AS_THEY_ARE:
            self.let(s, p, *map(self.own.operand, s.operands), attribute=s.attribute)
        elif p is CAST:
            wanted = self.type(s.attribute, s.out.name)
            self.let(s, p, *map(self.own.operand, s.operands), attribute=wanted)
        elif p is SPREAD:
            self._spread(s)
        elif p is SUM_TO:
            self._sum_to(s)
        elif p.signature is None:
            f = p.function
            if not (isinstance(f, np.ufunc) or f in UFUNCS or f in ELEMENTWISE):
                raise NotLifted(f"{p.spelling} takes one sample at a time")
            operands = [self.aligned(o, rank) for o in s.operands]
            self.let(s, p, *operands, attribute=s.attribute)
        else:
            lifted_row(self, s)

    def _spread(self, s: Let) -> None:
        """One number for each sample, in every element of an array."""
        g, like = s.operands
        if self.differs(like) and not self.differs(g):
            self.let(s, SPREAD, self.own.operand(g), self.own.operand(like))
        else:
            self.spread(s, g)

    def spread(self, s: Let, g: Operand) -> None:
        """A number or array for each sample, in the shape of a result."""
        t = self.type(s.out.type, s.out.name)
        dims = t.dims or ()
        template = Template((("array", Hole(0)), ("shape", _shape(dims, 1))))
        known = [d for d in dims if d.constant is None]
        spread = self.aligned(g, s.out.type.rank)
        self.let(s, row(np.broadcast_to, 2), spread, *known, attribute=template)

    def _sum_to(self, s: Let) -> None:
        """Sums over the axes along which an operand was stretched."""
        if s.attribute is None:
            raise NotLifted("a cotangent of what may be a number or an array")
        lead, kept = s.attribute
        c = self.own.operand(s.operands[0])
        if not self.differs(s.operands[0]):
            raise NotLifted("a sum is the same for all samples")
        dims = list(type_of(c).dims or ())
        for axes, keepdims in ((range(lead), False), (kept, True)):
            if not axes:
                continue
            axis = tuple(k + 1 for k in axes)
            for k in reversed(axis):
                dims[k : k + 1] = [linear(1)] if keepdims else []
            template = Template(
                (
                    ("x", Hole(0)),
                    ("axis", Sequence(tuple, axis) if len(axis) > 1 else axis[0]),
                    ("keepdims", keepdims),
                )
            )
            t = replace(type_of(c), dims=tuple(dims))
            c = self.b.raw(row(np.sum, 3), c, attribute=template, type=t)
        self.lift(s.out, c)

    # ---- places ----------------------------------------------------------------

    def _load(self, s: Load) -> None:
        source = self.own.operand(s.source)
        if isinstance(s.out, Tape) and not s.deep:
            copy = Tape(s.out.name, source.type)
            copy.of = source
            self.own.mapping[s.out] = copy
            self.b.add(replace(s, out=copy, source=source))
            return
        if not isinstance(s.out, Value):
            raise NotLifted("a list differs from sample to sample")
        if not self.differs(s.source):
            self._look_up(s)
            return
        self.type(s.out.type, s.out.name)
        index = self._index(s.index)
        made = replace(s, out=self._own_value(s.out), source=source, index=index)
        self._define(s, made)

    def _look_up(self, s: Load) -> None:
        """A part of what is the same for all, at a place that differs."""
        match s.index:
            case (At(position=Value() as p),) if not p.type.is_array:
                index: Index = (Pick(self.own.operand(p)),)
                out = self._own_value(s.out)
                source = self.own.operand(s.source)
                self._define(s, replace(s, out=out, source=source, index=index))
            case _:
                raise NotLifted("an index differs from sample to sample")

    def _index(self, index: Index) -> Index:
        """The same part of every sample."""
        if not index:
            return ()
        picks = [i for i in index if isinstance(i, Pick)]
        if any(isinstance(i, View) for i in index):
            raise NotLifted("a part of a part of an array")
        if len(picks) > 1 or (picks and any(isinstance(i, At) for i in index)):
            raise NotLifted("an array of places beside other places")
        if any(type_of(i.places).dtype == "bool" for i in picks):
            raise NotLifted("a mask")
        for i in index:
            for o in vars(i).values():
                if isinstance(o, Value | Linear) and self.differs(o):
                    raise NotLifted("an index differs from sample to sample")
        return (Span(), *self.own.index(index))

    def _alloc(self, s: Alloc) -> None:
        place = s.place
        t = self.type(place.type, place.name)
        if isinstance(place, Buffer):
            made: Any = Buffer(place.name, t, t.dims or ())
            if isinstance(place.like, Value) and self.differs(place.like):
                made.like = self.own.operand(place.like)
        elif isinstance(place, Cell):
            made = Cell(place.name, t, place.choice)
        elif isinstance(place, Tape) and place.like is None:
            made = Tape(place.name, t)
        else:
            raise NotLifted("a list differs from sample to sample")
        self.own.mapping[place] = made
        for k in range(place.type.rank):
            self.own.lengths[Dim(place, k)] = symbol(Dim(made, k + 1))
        value: Any = None if s.value is None else self.given(s.value)
        self.b.add(replace(s, place=made, value=value))

    def _store(self, s: Store) -> None:
        place = self.own.operand(s.place)
        if not (s.index or s.accumulate):
            _refuse_number(s.operand, s.place.type)
        if isinstance(place, Cell):
            self.b.add(replace(s, place=place, operand=self.given(s.operand)))
            return
        if not (s.index or s.accumulate or self.differs(s.operand)):
            self._fill(s, place)
            return
        index = self._index(s.index)
        rank = s.place.type.rank - sum(isinstance(i, At) for i in s.index)
        rank += sum(isinstance(i, NewAxis) for i in s.index)
        operand = self.aligned(s.operand, rank)
        self.b.add(replace(s, place=place, operand=operand, index=index))

    def _fill(self, s: Store, place: Any) -> None:
        """Every sample of an array begins as one that all share."""
        made = self.b.definition.get(self.own.operand(s.operand))
        before = self.b.block[-1] if self.b.block else None
        begins = isinstance(before, Alloc) and before.place is place
        if begins and isinstance(made, Let) and made.primitive.function is np.zeros:
            return  # as it does by itself
        whole = self.given(s.operand)
        copy = self.b.raw(COPY, whole, type=type_of(whole), name=place.name)
        self.b.add(replace(s, place=place, operand=copy))

    def _call(self, s: Call) -> None:
        """A call of a function of the program, which is written for all samples too."""
        f, differ = s.function, [self.differs(o) for o in s.operands]
        places = (*s.operands, *s.outs, *f.params)
        if is_recursive(f) or any(isinstance(o, Tape | List) for o in places):
            raise NotLifted(f"{f.name} calls itself, or takes a list")
        if f.custom is not None:
            raise NotLifted(f"{f.name} has rules of the user's")
        key = (f, *differ)
        if key not in self.functions:
            self.functions[key] = function_of_all(self, f, differ)
        outs = tuple(self._own_value(out) for out in s.outs)  # type: ignore[arg-type]
        given = tuple(map(self.own.operand, s.operands))
        self.b.add(replace(s, outs=outs, function=self.functions[key], operands=given))
        for out, of in zip(s.outs, outs, strict=True):
            self.lift(out, of)  # type: ignore[arg-type]


BOUNDS = "start", "stop", "step"


def _refuse_number(o: Any, t: Type) -> None:
    """Refuse a number that stands for an array of equal elements."""
    if type_of(o).rank != t.rank:
        raise NotLifted("a number stands for an array")


def _shape(dims: Any, first: int) -> Sequence:
    """A shape in a template: numbers as they are, other lengths as operands."""
    waiting = iter(range(first, first + len(dims)))
    return Sequence(
        tuple,
        tuple(Hole(next(waiting)) if d.constant is None else d.constant for d in dims),
    )
