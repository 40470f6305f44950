"""Batches, core to core: one loop over the samples around a whole program.

    def f(x, w): ... return y     ->     def f_batched(x_batch, w):
                                             values = np.zeros(len(x_batch))
                                             for i in range(len(x_batch)):
                                                 x = x_batch[i]
                                                 ...
                                                 values[i] = y
                                             return values

Each sample goes its own way through the program: its branches, its trip counts, what it
stores into its own copy of an argument, and what it raises.  What is not mapped is read
where it stands.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gradwright.transform.build import NOUNS, Builder, constant, convert, row
from gradwright.transform.calls import inline
from gradwright.transform.core import (
    Alloc,
    At,
    Buffer,
    Const,
    Effect,
    For,
    Function,
    If,
    Index,
    Let,
    Load,
    Operand,
    Raise,
    Span,
    Statement,
    Store,
    Substitution,
    Value,
    Whole,
    all_reads,
    defines,
    fresh,
    stores,
    type_of,
    walk,
)
from gradwright.transform.custom import Custom, Rule
from gradwright.transform.errors import Location, ShapeError, UnsupportedSyntax
from gradwright.transform.fission import UNNAMED, Fission, meets, read, varying
from gradwright.transform.indices import Dim, Linear, linear, symbol
from gradwright.transform.primitives.collectives import PSUM, Along
from gradwright.transform.scopes import enclose
from gradwright.transform.specialise.samples import without
from gradwright.transform.types import (
    BOOL,
    INT,
    NONE,
    Type,
    array,
    as_numpy,
    element_dtype,
)

LETTERS = [*"ijklmn"]


# ---- the loop ----------------------------------------------------------------------


@dataclass(frozen=True)
class Out:
    """What becomes of one result of every sample.

    axis: along which the samples lie; None for what they share.  type: of a number of
    it, where that is not the result's own.  label: a name for it.
    """

    axis: int | None
    type: Type
    label: str = ""


@dataclass(eq=False)
class Batched:
    """A program over all samples, and what it takes for granted.

    outer: what stands for a parameter, and for the lengths of one.  equal: lengths that
    are the number of samples.
    """

    function: Function
    outer: Substitution
    equal: list[tuple[Linear, Linear]] = field(default_factory=list)


def batch(
    function: Function,
    axes: dict[Value, tuple[int, int | None]],
    size: int | None,
    out: list[Out],
    name: str,
    where: Location | None = None,
    axis_name: Any = None,
    rewrite: type[_Batch] | None = None,
) -> Batched:
    """A program for all samples.

    Args:
        function: The program of one sample; it is left as it is.
        axes: The axis of each parameter that is mapped, and its length if it is known.
        size: How many samples there are, where that was said.
        out: What becomes of each result.
        name: What the new function is called.
        where: What the program of one sample returns, in the user's source.
        axis_name: The name by which collectives know the samples.
        rewrite: How it is written; left out, as a loop.
    """
    made = (rewrite or _Batch)(function, axes, size)
    made.where, made.name = where, axis_name
    results: list[Any] = made.run(out)
    f = replace(
        function,
        name=name,
        params=made.params,
        body=made.builder.block,
        results=results,
    )
    equal = [(made.size, d) for d in made.lengths if d != made.size]
    equal += [pair for pair in made.equal if all(map(made.sees, pair))]
    return Batched(f, made.outer, equal)


class _Batch:
    """The loop while it is written."""

    def __init__(
        self,
        function: Function,
        axes: dict[Value, tuple[int, int | None]],
        size: int | None,
    ) -> None:
        self.function, self.axes = function, axes
        self.builder = Builder()
        self.where: Location | None = None
        self.name: Any = None
        self.outer = Substitution({}, {})
        self.lengths: list[Linear] = []
        self.equal: list[tuple[Linear, Linear]] = []  # as the user's rules take it
        self.params = [self._param(p) for p in function.params]
        known = [d for d in self.lengths if d.constant is not None]
        self.size = linear(size) if size is not None else [*known, *self.lengths][0]
        used = {s.symbol.name for s in walk(function.body) if isinstance(s, For)}
        letter = next((n for n in LETTERS if n not in used), LETTERS[0])
        self.index = Value(letter, INT)

    def _param(self, p: Any) -> Any:
        """The parameter that holds all samples of one."""
        if p not in self.axes:
            return p
        axis, size = self.axes[p]
        whole = Value(f"{p.name}_batch", p.type, users=True)
        whole.of = p
        own = list(p.type.dims or ())
        own.insert(axis, linear(-1 if size is None else size))
        dims = tuple(
            symbol(Dim(whole, k)) if d.constant in (None, -1) else d
            for k, d in enumerate(own)
        )
        whole.type = array(np.dtype(p.type.dtype), dims)
        self.lengths.append(dims[axis])
        self.outer.mapping[p] = whole
        for k in range(p.type.rank):
            self.outer.lengths[Dim(p, k)] = dims[k + (k >= axis)]
        return whole

    def run(self, out: list[Out]) -> list[Operand]:
        """Write the loop; the results of all samples."""
        results = self.function.results
        once = {k: None for k, o in enumerate(out) if o.axis is None}
        if meets(self.function.body, self.name):
            return self._in_parts(out)
        shared = self._shared([results[k] for k in once])
        body, inner = self._body()
        places: list[Any] = []
        for r, o in zip(results, out, strict=True):
            found = None if o.axis is None else self._place(r, o, o.axis, inner)
            places.append(found)
        b = self.builder
        for buffer, _ in filter(None, places):
            b.add(Alloc(buffer))
        with b.nested(body):
            b.where = self.where
            for r, found in zip(results, places, strict=True):
                if found is not None:
                    self._put(inner.operand(r), *found)
        b.where = None
        b.add(For(self.index, linear(0), self.size, linear(1), body, samples=True))
        waiting = iter(shared)
        return [
            next(waiting)
            if found is None
            else b.element(found[0], (), found[0].type, found[0].name)
            for found in places
        ]

    def _in_parts(self, out: list[Out]) -> list[Operand]:
        """The results of all samples, where those meet on the way."""
        body, inner = self._body()
        count = len(self.outer.mapping)
        loaded = {s.out: s for s in body[:count] if isinstance(s, Load)}
        body = body[count:]
        b, found = self.builder, list(map(inner.operand, self.function.results))
        places: list[Any] = []
        ends = Builder()
        ends.where = self.where
        for r, o in zip(self.function.results, out, strict=True):
            place = None if o.axis is None else self._place(r, o, o.axis, inner, True)
            places.append(place)
        with ends.nested(ends.block):
            for r, place in zip(found, places, strict=True):
                if place is not None:
                    self._put(r, place[0], place[1], ends)
        parts = Fission(
            b, self.name, self.index, self.size, loaded, [*body, *ends.block], of_all
        )
        for s in body:
            parts.statement(s)
        for place, _ in filter(None, places):
            place.type = replace(place.type, dims=parts.dims(place.type))
            place.like = place.type.dims
            b.add(Alloc(place))
        parts.pending += ends.block
        parts.flush()
        self.equal = [(a, b) for a, b in parts.equal if a != b]
        results: list[Operand] = []
        for r, place in zip(found, places, strict=True):
            if place is not None:
                results.append(b.element(place[0], (), place[0].type, place[0].name))
                continue
            if any(v in parts.varying for v in read(r)):
                raise shared_by_none()
            results.append(Substitution(parts.together).operand(r))
        return results

    def sees(self, form: Linear) -> bool:
        """Whether a form is of lengths of the parameters alone."""
        dims = form.symbols()
        return all(isinstance(s, Dim) and s.array in self.params for s in dims)

    # ---- one sample ------------------------------------------------------------

    def _body(self) -> tuple[list[Statement], Substitution]:
        """The program of one sample, and what stands in it for its own."""
        begin: list[Statement] = []
        given: dict[Any, Any] = {}
        for p, whole in self.outer.mapping.items():
            axis, _ = self.axes[p]
            x = Value(p.name, without(whole.type, axis), users=p.users)
            x.of = p
            given[p] = x
            index: Index = (*[Span()] * axis, At(symbol(self.index)))
            begin.append(Load(x, whole, index, safe=True))
        inner = fresh(self.function.body, given, self.outer.lengths)
        return [*begin, *inner.block(self.function.body)], inner

    def _place(
        self, r: Any, o: Out, axis: int, inner: Substitution, later: bool = False
    ) -> tuple[Buffer, int]:
        """The array that one result of every sample is put into."""
        dims = tuple(inner.operand(d) for d in type_of(r).dims or ())
        known = {*self.params, *(s for s in self._numbers())}
        for d in dims if not later else ():
            for s in d.symbols():
                held = s.array if isinstance(s, Dim) else s
                if held not in known:
                    raise Ragged
        k = _among(axis, len(dims) + 1)
        whole = array(
            np.dtype(element_dtype(o.type)), (*dims[:k], self.size, *dims[k:])
        )
        like: Any = next(
            (
                p
                for p in self.params
                if isinstance(p, Value) and p.type == whole and p.type.rank > 1
            ),
            whole.dims,
        )
        return Buffer(_name(r, o.label), whole, like), k

    def _numbers(self) -> Iterator[Any]:
        """The ints that are the same for all samples."""
        return (p for p in self.params if isinstance(p, Value) and p.type == INT)

    def _put(
        self, r: Operand, place: Buffer, axis: int, b: Builder | None = None
    ) -> None:
        """Put the result of one sample into its place."""
        rank = place.type.rank - 1
        every: Index = (Span(),) * axis
        index: Index = (*every, At(symbol(self.index)))
        b = b or self.builder
        if type_of(r).optional:
            self._refuse_none(r, b)
        r = convert(r, place.type.element) if not type_of(r).dims else r
        if axis and axis == rank and rank > 1:
            index = (Whole(), At(symbol(self.index)))
        store = Store(place, r, index, accumulate=True, first=True, safe=True)
        b.add(store)

    def _refuse_none(self, r: Operand, b: Builder) -> None:
        """A result that may be None is a number here, or the call raises."""
        text = "vmap stacks numbers and arrays, and the result of this sample is None"
        is_none = b.let(row(operator.is_, 2), r, Const(None, NONE), type=BOOL)
        raised = Raise(TypeError, (constant(text),), where=self.where)
        b.add(If(is_none, [raised], []))

    # ---- what is the same for all samples --------------------------------------

    def _shared(self, wanted: list[Any]) -> list[Any]:
        """Results that no sample has a part in, made once before the loop."""
        if not wanted:
            return []
        vary = varying(self.function.body, self.axes)
        body = needed(self.function.body, wanted)
        if any(v in vary for r in wanted for v in read(r)):
            raise shared_by_none()
        if any(isinstance(s, Effect) for s in walk(body)):
            raise UnsupportedSyntax(
                "out_axes of vmap is None for a result that is made while something "
                "is reported",
                instead="an axis for it",
            )
        once = fresh(body, {}, self.outer.lengths)
        self.builder.block += once.block(body)
        return [once.operand(r) for r in wanted]


def shared_by_none() -> ShapeError:
    """The error for a result that is to be one for all samples, and is not."""
    return ShapeError(
        "out_axes of vmap is None for a result that depends on the sample",
        instead="an axis for it",
    )


class Ragged(Exception):
    """The shape of a result may differ from sample to sample."""


def _among(axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise ShapeError(
            f"out_axes of vmap puts the samples along axis {axis} of a result that has "
            f"{rank} axes with them"
        )
    return axis % rank


def _name(r: Operand, label: str) -> str:
    """What all samples of a result are called."""
    if isinstance(r, Linear) and len(r.terms) == 1 and not r.offset:
        (r,) = r.symbols()
    name = label or getattr(r, "name", "")
    if label:
        return f"{label}_batch"
    is_noun = name in NOUNS.values() or not name
    if is_noun or not (getattr(r, "users", False) or name.endswith(("_bar", "_dot"))):
        return "values"
    return f"{name}_batch"


def needed(body: list[Statement], wanted: list[Any]) -> list[Statement]:
    """The statements of a block on which some results depend."""
    want = {v for r in wanted for v in read(r)}
    kept: list[Statement] = []
    for s in reversed(body):
        made = {v for t in walk([s]) for v in defines(t)} | stores(s)
        if made & want:
            kept.append(s)
            want |= set(all_reads(s)) | stores(s)
    return kept[::-1]


# ---- derivatives of the user's -----------------------------------------------------


def of_all(f: Function, differ: tuple[bool, ...], name: Any) -> Function:
    """A function with derivatives of the user's for all samples, and they for all, too.

    Args:
        f: The function, in which samples meet.
        differ: In which of its parameters they differ.
        name: Of the axis along which the samples lie.
    """
    custom: Custom = f.custom
    name = UNNAMED if name is None else name
    if (name, differ) not in custom.batched:
        made = custom.batched[name, differ] = replace(f)  # a rule may call it
        whole = _every(f, differ, name)
        made.params, made.body, made.results = whole.params, whole.body, whole.results
        made.name = whole.name
        made.custom = replace(custom, batched={})

        def differs(place: Any) -> bool:
            kind, k = place if isinstance(place, tuple) else ("", place)
            return kind in ("residual", "bar") or differ[k]

        made.custom.jvp = _rule_of_all(custom.jvp, differs, name)
        made.custom.fwd = _rule_of_all(custom.fwd, differs, name)
        shared = [not d for d in differ]  # cotangents of what all samples share
        made.custom.bwd = _rule_of_all(custom.bwd, differs, name, shared)
    return custom.batched[name, differ]


def _every(f: Function, differ: Sequence[bool], name: Any, once: Any = ()) -> Function:
    """A function for all samples, which lie along axis 0 of parameters and results.

    once: results that are the same for all.
    """
    inline(f, everywhere=True)
    enclose(f)
    axes: Any = {p: (0, None) for p, d in zip(f.params, differ, strict=True) if d}
    out = [Out(None if any(r is o for o in once) else 0, type_of(r)) for r in f.results]
    named = f"{f.name}_batched"
    return batch(f, axes, None, out, named, axis_name=name).function


def _rule_of_all(
    rule: Rule | None,
    differs: Callable[[Any], bool],
    name: Any,
    shared: Sequence[bool] = (),
) -> Rule | None:
    """A rule for all samples; cotangents of what they share are summed over them."""
    if rule is None:
        return None
    f = replace(rule.function, body=[*rule.function.body])
    outs: Any = [*rule.outs]
    once: list[Any] = []
    for k in (k for k, s in enumerate(shared[: len(rule.outs)]) if s):
        bar = outs[k]
        if bar is None or not type_of(bar).is_inexact:
            continue
        total = Value(getattr(bar, "name", "bar"), as_numpy(type_of(bar)))
        f.body.append(Let(total, PSUM, (bar,), Along(name)))
        f.results = [*f.results, total]
        outs[k] = total
        once.append(total)
    whole = _every(f, [differs(place) for place in rule.given], name, once)
    stands = {id(r): w for r, w in zip(f.results, whole.results, strict=True)}
    outs = [None if o is None else stands[id(o)] for o in outs]
    return Rule(whole, rule.given, outs)
