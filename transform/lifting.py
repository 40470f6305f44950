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

from gradwright.transform import lifted_products, lifted_rows  # noqa: F401  rules
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
from gradwright.transform.lifted import (
    NotLifted,
    lifted_row,
    shape_in,
    stretched_to,
)
from gradwright.transform.primitives.record import UFUNCS
from gradwright.transform.primitives.structural import (
    CAST,
    CONJUGATE,
    COPY,
    DISPLAY,
    ITEM,
    NAMED,
    SPREAD,
    STOPPED,
    SUM_TO,
)
from gradwright.transform.template import Hole, Sequence, Template
from gradwright.transform.types import INT, Type, array, as_numpy, element_dtype

AS_THEY_ARE = (NAMED, STOPPED, COPY, CONJUGATE)  # of any number of axes
ZEROS = (np.zeros, np.zeros_like)
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
    differ.  parts: what stands for the items of a tuple, where no tuple does.
    """

    def __init__(
        self, builder: Builder, size: Linear, functions: dict[Any, Function]
    ) -> None:
        self.b, self.size, self.functions = builder, size, functions
        self.own = Substitution({}, {})
        self.vary: set[Any] = set()
        self.index = Value("i", INT)
        self.parts: dict[Value, list[Operand]] = {}

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
        dims = (self.size, *(self.own.type(t).dims or ()))
        made = self.b.definition.get(found)  # type: ignore[arg-type]
        if isinstance(made, Let) and made.primitive.function is np.zeros:
            return self._zeros(made, dims)
        return stretched_to(self, found, dims)  # type: ignore[no-any-return]

    def _zeros(self, made: Let, dims: tuple[Linear, ...]) -> Operand:
        """Zeros for every sample, in the place of some that all share."""
        dtype = made.primitive.template(made.attribute)["dtype"]
        return self.b.raw(
            made.primitive,
            *[d for d in dims if d.constant is None],
            attribute=Template((("shape", shape_in(dims, 0)), ("dtype", dtype))),
            type=replace(made.out.type, dims=dims),
            name=made.out.name,
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
        if p is CAST or p.signature is not None:
            self._of_numpy(s)
        if p in AS_THEY_ARE:
            self.let(s, p, *map(self.own.operand, s.operands), attribute=s.attribute)
        elif p is ITEM and s.operands[0] in self.parts:
            self._take(s)
        elif p is ITEM:
            self.let(s, p, *map(self.own.operand, s.operands), attribute=s.attribute)
        elif p is DISPLAY:
            self._display(s)
        elif p is CAST:
            self._cast(s)
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

    def _of_numpy(self, s: Let) -> None:
        """A float of Python's is one of NumPy's in an array of all samples.

        What Python computes with it is refused where that stands.
        """
        if s.out.type.items is None and s.out.type.is_inexact:
            s.out.type = as_numpy(s.out.type)

    def _cast(self, s: Let) -> None:
        """Another kind of numbers; one number of each sample may be of it already."""
        found = self.own.operand(s.operands[0])
        wanted = self.type(s.out.type, s.out.name)
        if not s.out.type.rank and type_of(found) == wanted:
            self.lift(s.out, found)
        else:
            self.let(s, CAST, found, attribute=wanted)

    def _take(self, s: Let) -> None:
        """An item of a tuple of which the items alone are there."""
        (whole,) = s.operands
        part: Any = self.parts[whole][s.attribute]  # type: ignore[index]
        part.name, part.users = s.out.name, s.out.users
        self.lift(s.out, part)

    def _display(self, s: Let) -> None:
        """An array of numbers of each sample, one beside the other."""
        if s.out.type.rank != 1:
            raise NotLifted("an array is written of rows that differ")
        numbers = [self.given(o) for o in s.operands]
        every = Sequence(list, tuple(map(Hole, range(len(numbers)))))
        template = Template((("arrays", every), ("axis", -1)))
        self.let(s, row(np.stack, 2), *numbers, attribute=template)

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
        template = Template((("array", Hole(0)), ("shape", shape_in(dims, 1))))
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
        self.type(s.out.type, s.out.name)
        index = self._index(s.index, of_all=self.differs(s.source))
        made = replace(s, out=self._own_value(s.out), source=source, index=index)
        self._define(s, made)

    def _index(self, index: Index, of_all: bool = True) -> Index:
        """The same part of every sample, or one that differs.

        Args:
            index: As one sample has it.
            of_all: The array has an axis of the samples.
        """
        if not index:
            return ()
        if any(isinstance(i, View) for i in index):
            raise NotLifted("a part of a part of an array")
        if any(isinstance(i, Pick) and type_of(i.places).is_bool for i in index):
            raise NotLifted("a mask")
        if of_all and not any(map(self._is_moved, index)):
            self._refuse_scattered(index)
            return (Span(), *self.own.index(index))
        return self._places(index, of_all)

    def _is_moved(self, i: Any) -> bool:
        """Whether an item of an index differs from sample to sample."""
        return any(map(self.differs, vars(i).values()))

    def _refuse_scattered(self, index: Index) -> None:
        """Refuse places that do not stand side by side: their axes come first."""
        at = [k for k, i in enumerate(index) if isinstance(i, At | Pick)]
        is_picked = any(isinstance(i, Pick) for i in index)
        if is_picked and at[-1] - at[0] >= len(at):
            raise NotLifted("arrays of places that do not stand side by side")

    def _places(self, index: Index, of_all: bool) -> Index:
        """Places that differ: one for each sample, in an array of all or in one."""
        at = [k for k, i in enumerate(index) if isinstance(i, At | Pick)]
        picks = [type_of(i.places).rank for i in index if isinstance(i, Pick)]
        is_in_front = at == [*range(len(at))]
        if not is_in_front and (picks or not of_all):
            raise NotLifted("places that differ, behind other axes")
        rank = max(picks, default=0)
        found: list[Any] = [self._numbers(rank)] if of_all else []
        for i in index:
            if isinstance(i, At) and self._is_moved(i):
                found.append(Pick(self.aligned(i.position, rank)))
            elif isinstance(i, Pick):
                found.append(Pick(self.aligned(i.places, rank), i.distinct))
            elif self._is_moved(i) or isinstance(i, NewAxis):
                raise NotLifted("an index differs from sample to sample")
            else:
                found += self.own.index((i,))
        return tuple(found)

    def _numbers(self, rank: int) -> Pick:
        """The number of each sample, where it meets so many axes of places."""
        known = self.size.constant
        bounds = (("start", Hole(0) if known is None else known), ("stop", None))
        numbers = self.b.raw(
            row(np.arange, 1),
            *[self.size] * (known is None),
            attribute=Template((*bounds, ("step", None), ("dtype", None))),
            type=array(np.intp, (self.size,)),
            name="sample",
        )
        if rank:
            t = array(np.intp, (self.size, *[linear(1)] * rank))
            index: Index = (Span(), *[NewAxis()] * rank)
            numbers = self.b.element(numbers, index, t, "sample", safe=True)  # type: ignore[arg-type]
        return Pick(numbers, distinct=True)

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
        picks = [type_of(i.places).rank for i in s.index if isinstance(i, Pick)]
        rank = s.place.type.rank - sum(isinstance(i, At) for i in s.index)
        rank += sum(isinstance(i, NewAxis) for i in s.index)
        rank += max(picks, default=0) - len(picks)
        operand = self.aligned(s.operand, rank)
        self.b.add(replace(s, place=place, operand=operand, index=index))

    def _fill(self, s: Store, place: Any) -> None:
        """Every sample of an array begins as one that all share."""
        made = self.b.definition.get(self.own.operand(s.operand))
        before = self.b.block[-1] if self.b.block else None
        begins = isinstance(before, Alloc) and before.place is place
        if begins and isinstance(made, Let) and made.primitive.function in ZEROS:
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
