"""Jacobians, core to core: a derivative in every direction, along all unit vectors.

    y = f(x)     ->     y_bar = np.eye(len(y))
                        jacobian = ...         the reverse sweep, rows along an axis

By rows, the forward sweep runs once and the reverse sweep for every element of the
results.  By columns, the tangents are pushed forward for every element of the
arguments, and what they do not change is computed once.  All of them go together, with
an axis in front (see `basis`), where a sweep can be written so; otherwise one by one:

                        jacobian = np.zeros((len(y), len(x)))
                        for i in range(len(y)):
                            y_bar = np.zeros_like(y)
                            y_bar[i] = 1.0
                            jacobian[i] = ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from gradwright.transform.activity import active, varied
from gradwright.transform.build import Builder, constant, reshaped, row
from gradwright.transform.core import (
    Alloc,
    At,
    Buffer,
    Call,
    Function,
    Insert,
    Let,
    List,
    Load,
    Operand,
    Place,
    Pop,
    Remove,
    Span,
    Statement,
    Store,
    Take,
    Tape,
    Value,
    Whole,
    all_reads,
    defines,
    fresh,
    holds_tapes,
    program,
    reads,
    stores,
    type_of,
    walk,
)
from gradwright.transform.core import For as Loop
from gradwright.transform.forward import tangents
from gradwright.transform.indices import linear, symbol
from gradwright.transform.primitives.structural import CAST
from gradwright.transform.reverse import Split, halves
from gradwright.transform.simplify import simplify
from gradwright.transform.template import Hole, Template
from gradwright.transform.types import INT, Type, array, promote

Write = Callable[[Operand, tuple[At, ...]], None]
Blocks = dict[tuple[int, int], Operand]
Writes = Callable[[], tuple[Function, Blocks]]
Sweep = tuple[list[Statement], Value, list[Any]]
AXES = [*"ijklmn"]


@dataclass(frozen=True)
class Jacobian:
    """A function without results, and its blocks by the positions of output and input.

    A block that is not there is zero.  way: an axis of the directions, or a loop over
    them.  why: it is a loop, where it might have been an axis.
    """

    function: Function
    blocks: Blocks
    way: Literal["axis", "loop"] = "loop"
    why: str = ""


@dataclass(frozen=True)
class Asked:
    """What is to be differentiated, and by what.

    pairs: an output and an input on which it depends, by position.  name: of a block
    that is the only one.  compiled: it becomes machine code.
    """

    outputs: list[Value]
    wrt: list[Value]
    pairs: list[tuple[int, int]]
    name: str
    compiled: bool

    def called(self, k: int, j: int) -> str:
        """The name of a block."""
        return self.name or f"{self.outputs[k].name}_by_{self.wrt[j].name}"


def by_rows(
    function: Function,
    outputs: list[Value],
    wrt: list[Value],
    name: str,
    together: bool = True,
    compiled: bool = False,
) -> Jacobian:
    """The derivative of each output by each input, in reverse mode.

    Args:
        function: The program; its results are left out.
        outputs: What is differentiated.
        wrt: The inputs by which.
        name: Of a block that is the only one.
        together: All rows at once, if that can be.
        compiled: It becomes machine code.
    """
    asked = _asked(function, outputs, wrt, name, compiled)
    split = halves(replace(function, results=list(outputs)), wrt, None)
    handed = split.forward.results[len(outputs) :]

    def in_turn() -> tuple[Function, Blocks]:
        b, jacobian = _begun(split.forward)
        blocks = {
            (k, j): _block(b, outputs[k], wrt[j], wrt[j].type, asked.name)
            if outputs[k].type.dims
            else None
            for k, j in asked.pairs
        }
        for k, y in enumerate(outputs):
            columns = [j for i, j in asked.pairs if i == k]
            if columns:
                write = _row_writer(b, split, handed, asked, k, columns, blocks)
                _each_direction(b, y, "bar", write)
        return jacobian, _loaded(b, blocks)

    def at_once() -> tuple[Function, Blocks]:
        alone = [halves(replace(function, results=[y]), wrt, None) for y in outputs]
        b, jacobian = _begun(alone[0].forward)
        blocks: dict[Any, Any] = {}
        for k, one in enumerate(alone):
            columns = [j for i, j in asked.pairs if i == k]
            if columns:
                _refuse_another(one.forward, alone[0].forward)
                _rows_at_once(b, one, asked, k, columns, blocks)
        return jacobian, blocks

    several = together and any(outputs[k].type.dims for k, _ in asked.pairs)
    return _if_it_can_be(at_once if several else None, in_turn)


def _row_writer(
    b: Builder,
    split: Split,
    handed: list[Any],
    asked: Asked,
    k: int,
    columns: list[int],
    blocks: dict[Any, Any],
) -> Write:
    """Writes what pulls one cotangent back, and where its results go."""
    outputs = asked.outputs

    def row(unit: Operand, index: tuple[At, ...]) -> None:
        seeds = [unit if i == k else _zero(b, o) for i, o in enumerate(outputs)]
        again = bool(index) or len(outputs) > 1
        bars = _pulled(b, split, handed, seeds, again)
        if len(outputs) > 1:
            for bar, x in zip(bars, asked.wrt, strict=True):
                bar.name = f"{x.name}_bar"  # type: ignore[union-attr]
        for j in columns:
            name = f"{outputs[k].name}_by_{asked.wrt[j].name}"
            _put(b, blocks, (k, j), bars[j], index, name)

    return row


def _rows_at_once(
    b: Builder,
    split: Split,
    asked: Asked,
    k: int,
    columns: list[int],
    blocks: dict[Any, Any],
) -> None:
    """Pull all cotangents of one output back together."""
    from gradwright.transform.basis import of_each  # no gradient waits for it

    y = asked.outputs[k]
    unit = Value(f"{y.name}_bar", y.type)
    seed = unit if y.type.dims else constant(1.0 + 0.0j if y.type.is_complex else 1.0)
    one = Builder(folds=True)
    one.adjoint = True
    short = replace(split, backward=_simplified(split.backward))
    handed, again = split.forward.results[1:], len(asked.outputs) > 1
    bars = _pulled(one, short, handed, [seed], again)
    found: list[Any] = [bars[j] for j in columns]
    if y.type.dims:
        found = of_each(b, unit, one.block, found, asked.compiled)
    else:
        b.block += one.block
    for j, part in zip(columns, found, strict=True):
        x, name = asked.wrt[j], asked.called(k, j)
        blocks[k, j] = _in_shape(b, part, y, x, x.type, name) if y.type.dims else part
        _call(blocks[k, j], name)


def _refuse_another(forward: Function, first: Function) -> None:
    """Refuse forward sweeps that are not one: each would have tapes of its own."""
    from gradwright.transform.lifted import NotLifted

    def made(f: Function) -> list[Any]:
        return [(type(s), defines(s), stores(s)) for s in walk(f.body)]

    if made(forward) != made(first):
        raise NotLifted("several results share a tape")


def _call(part: Operand, name: str) -> None:
    """Give a block its name, where the user gave it none."""
    if isinstance(part, Value) and not part.users:
        part.name = name


def by_columns(
    function: Function,
    outputs: list[Value],
    wrt: list[Value],
    name: str,
    together: bool = True,
    compiled: bool = False,
) -> Jacobian:
    """The same as `by_rows`, in forward mode."""
    asked = _asked(function, outputs, wrt, name, compiled)
    once = _unmoved(function, varied(function, set(wrt)))
    swept = [_columns(function, outputs, x, once) for x in wrt]
    for s in walk(s for s in function.body if s not in once):
        if isinstance(s, Let | Load):
            s.safe = True  # what it may raise, it raises in the sweeps

    def written(at_once: bool) -> tuple[Function, Blocks]:
        b, jacobian = _begun(function)
        jacobian.commented = False  # no line of it is the reverse of one of the user's
        blocks = {
            (k, j): _block(b, outputs[k], wrt[j], outputs[k].type, asked.name)
            if wrt[j].type.dims and not at_once
            else None
            for k, j in asked.pairs
        }
        for j, x in enumerate(wrt):
            rows = [k for k, i in asked.pairs if i == j]
            if rows and at_once and x.type.dims:
                _columns_at_once(b, swept[j], asked, j, rows, blocks)
            elif rows:
                write = _column_writer(b, swept[j], outputs, j, rows, blocks)
                _each_direction(b, x, "dot", write)
        return jacobian, _loaded(b, blocks)

    several = together and any(wrt[j].type.dims for _, j in asked.pairs)
    at_once = partial(written, True) if several else None
    return _if_it_can_be(at_once, partial(written, False))


def _column_writer(
    b: Builder,
    swept: Sweep,
    outputs: list[Value],
    j: int,
    rows: list[int],
    blocks: dict[Any, Any],
) -> Write:
    """Writes what pushes one tangent forward, and where its results go."""
    body, x_dot, y_dots = swept

    def column(unit: Operand, index: tuple[At, ...]) -> None:
        renamed = fresh(body, {x_dot: unit})
        b.block += renamed.block(body)
        for k in rows:
            rank = outputs[k].type.rank
            every = (Whole(),) if rank > 1 else (Span(),) * rank
            name = f"{outputs[k].name}_by_{x_dot.name.removesuffix('_dot')}"
            dot = renamed.operand(y_dots[k])
            _put(b, blocks, (k, j), dot, (*every, *index), name)

    return column


def _columns_at_once(
    b: Builder,
    swept: Sweep,
    asked: Asked,
    j: int,
    rows: list[int],
    blocks: dict[Any, Any],
) -> None:
    """Push all tangents of one input forward together."""
    from gradwright.transform.basis import of_each  # no gradient waits for it

    body, x_dot, y_dots = swept
    given = dict.fromkeys(v for s in b.block for v in (*defines(s), *stores(s)))
    one = Function("", [x_dot, *given], body, [y_dots[k] for k in rows])
    one = _simplified(one)
    columns = of_each(b, x_dot, one.body, one.results, asked.compiled)
    for k, found in zip(rows, columns, strict=True):
        y = asked.outputs[k]
        last = _at_the_end(b, found, y.type.rank)
        blocks[k, j] = _in_shape(b, last, y, asked.wrt[j], y.type, asked.called(k, j))


def _if_it_can_be(at_once: Writes | None, in_turn: Writes) -> Jacobian:
    """All directions at once, or else one after the other, and why."""
    if at_once is None:
        return Jacobian(*in_turn())
    from gradwright.transform.lifted import NotLifted  # no gradient waits for it

    try:
        function, blocks = at_once()
        if not all(map(_has_all, program(function))):
            raise NotLifted("a length is of what is not there any more")
        return Jacobian(function, blocks, way="axis")
    except NotLifted as why:
        return Jacobian(*in_turn(), why=str(why))


def _has_all(function: Function) -> bool:
    """Whether all that is read is there: lengths may be those of what was dropped."""
    there = {*function.params, *(p for s in walk(function.body) for p in stores(s))}
    there.update(v for s in walk(function.body) for v in defines(s))
    return all(v in there for s in walk(function.body) for v in reads(s))


def _simplified(function: Function) -> Function:
    """A copy of a function as a person would write it, with the same parameters."""
    copy = fresh(function.body)
    body, results = copy.block(function.body), map(copy.operand, function.results)
    return simplify(replace(function, body=body, results=list(results)))


def _begun(function: Function) -> tuple[Builder, Function]:
    """A function that begins as this one does, and a builder that goes on with it."""
    b = Builder(folds=True)
    b.adjoint = True
    b.block = list(function.body)
    return b, replace(function, body=b.block, results=[], commented=True)


def _asked(
    function: Function,
    outputs: list[Value],
    wrt: list[Value],
    name: str,
    compiled: bool,
) -> Asked:
    """What is asked for, without what is zero."""
    pairs = [
        (k, j)
        for k, y in enumerate(outputs)
        for j, x in enumerate(wrt)
        if y in active(function, {x}, {y})
    ]
    return Asked(outputs, wrt, pairs, name if len(pairs) == 1 else "", compiled)


# ---- directions and blocks ---------------------------------------------------------


def _each_direction(
    b: Builder,
    like: Value,
    suffix: str,
    write: Write,
) -> None:
    """Write what is done with each unit vector in the shape of a value."""
    t = like.type
    one = constant(1.0 + 0.0j if t.is_complex else 1.0)
    unit = Buffer(f"{like.name}_{suffix}", t, like)
    used = {s.symbol.name for s in walk(b.block) if isinstance(s, Loop)}
    axes = [n for n in AXES if n not in used] or AXES

    def level(dims: tuple[Any, ...], index: tuple[At, ...]) -> None:
        if not dims:
            b.add(Alloc(unit))
            b.store(unit, one, index)
            write(b.element(unit, (), t, unit.name), index)
        elif dims[0].constant == 1:
            level(dims[1:], (*index, At(linear(0))))
        else:
            k = Value(axes[len(index) % len(axes)], INT)
            with b.nested([]) as body:
                level(dims[1:], (*index, At(symbol(k))))
            b.add(Loop(k, linear(0), dims[0], linear(1), body))

    if t.dims:
        level(t.dims, ())
    else:
        write(one, ())


def _block(b: Builder, y: Value, x: Value, like: Type, name: str) -> Buffer:
    """The array that the derivative of y by x is put into, piece by piece."""
    dims = (*(y.type.dims or ()), *(x.type.dims or ()))
    t = array(np.dtype(block_dtype(like, x.type)), dims)
    whole = next((v for v in (y, x) if v.type.dims == dims), None)
    shape: Any = whole if whole is not None and whole.type.dtype == t.dtype else dims
    buffer = Buffer(name or f"{y.name}_by_{x.name}", t, shape)
    b.add(Alloc(buffer))
    return buffer


def block_dtype(like: Type, x: Type) -> str:
    """The dtype of a block: its argument's by rows, its result's by columns."""
    return promote(like.element, x.element).dtype if like.python else like.dtype


def _put(
    b: Builder,
    blocks: dict[Any, Any],
    key: tuple[int, int],
    part: Operand,
    index: Any,
    name: str,
) -> None:
    """Put a row or column, or all there is, into its block."""
    if isinstance(blocks[key], Buffer):
        b.add(Store(blocks[key], part, index, accumulate=True, first=True))
        return
    blocks[key] = part
    if len(blocks) > 1 and isinstance(part, Value) and not part.users:
        part.name = name


def _at_the_end(b: Builder, a: Any, rank: int) -> Any:
    """An array whose first axis comes behind the others."""
    if not rank:
        return a
    first, *others = a.type.dims
    t = replace(a.type, dims=(*others, first))
    if rank == 1:
        return b.let(row(np.transpose, 1), a, type=t)
    arguments = (("a", Hole(0)), ("source", 0), ("destination", -1))
    return b.raw(row(np.moveaxis, 3), a, attribute=Template(arguments), type=t)


def _in_shape(b: Builder, a: Any, y: Value, x: Value, like: Type, name: str) -> Operand:
    """The derivative of y by x, whose directions stand along one axis as yet."""
    dims = (*(y.type.dims or ()), *(x.type.dims or ()))
    t = array(np.dtype(block_dtype(like, x.type)), dims)
    if a.type.rank != len(dims):
        a = reshaped(b, a, dims)
    if a.type.dtype != t.dtype:
        a = b.raw(CAST, a, attribute=t, type=t)
    _call(a, name)
    return a  # type: ignore[no-any-return]


def _loaded(b: Builder, blocks: dict[Any, Any]) -> Blocks:
    return {
        key: b.element(found, (), found.type, found.name)
        if isinstance(found, Buffer)
        else found
        for key, found in blocks.items()
    }


def _zero(b: Builder, o: Value) -> Operand:
    """The cotangent of an output that is not looked at."""
    t = o.type
    if not t.dims:
        return constant(0.0j if t.is_complex else 0.0)
    zeros = Buffer(f"{o.name}_bar", t, o)
    b.add(Alloc(zeros))
    return b.element(zeros, (), t, zeros.name)


# ---- rows --------------------------------------------------------------------------


def _pulled(
    b: Builder, split: Split, handed: list[Any], seeds: list[Operand], again: bool
) -> list[Operand]:
    """The cotangents of the inputs: the reverse sweep in place, or a call of it.

    `again`: it runs more than once, and so each time on tapes of its own.
    """
    backward = split.backward
    emptied = {v for s in walk(backward.body) for v in _emptied(s)}
    together = object() if holds_tapes(split.forward) else None
    residuals = [
        _copied(b, r, together) if again and p in emptied else r
        for r, p in zip(handed, split.residuals, strict=True)
    ]
    needed = [split.forward.params[k] for k in split.needed]
    given = [*residuals, *needed, *seeds]
    if len(seeds) == 1:
        mapping = dict(zip(backward.params, given, strict=True))
        inlined = fresh(backward.body, mapping)
        b.block += inlined.block(backward.body)
        return [inlined.operand(r) for r in backward.results]
    outs = tuple(
        Value(r.name, r.type) if isinstance(r, Value) else Value("bar", type_of(r))
        for r in backward.results
    )
    b.add(Call(outs, backward, tuple(given)))
    return list(outs)


def _emptied(s: Statement) -> Iterable[Any]:
    """The tapes that a statement may pop from, and the lists that it changes."""
    match s:
        case Pop():
            return (s.tape,)
        case Insert() | Remove() | Take() | Store(place=List()):
            return (s.place,)
        case Call():
            return (o for o in s.operands if isinstance(o, Tape | List))
    return ()


def _copied(b: Builder, tape: Tape | List, together: object) -> Tape | List:
    """A tape or list with the same content, which may be emptied."""
    copy: Tape | List = Tape(tape.name, tape.type)
    if isinstance(tape, List):
        copy = List(tape.name, tape.type, tape.depth)
    copy.of = tape
    b.add(Load(copy, tape, deep=together))
    return copy


# ---- columns -----------------------------------------------------------------------


def _columns(
    function: Function, outputs: list[Value], x: Value, once: set[Statement]
) -> Sweep:
    """What pushes one tangent forward, without what is done once."""
    f, (x_dot,), results = tangents(replace(function, results=list(outputs)), [x])
    body = [s for s in f.body if s not in once]
    return body, x_dot, results[len(outputs) :]


def _unmoved(function: Function, moved: set[Any]) -> set[Statement]:
    """The statements of the outermost block that need not run for every tangent.

    Those are operations on values, and whatever touches nothing that varies; but not
    what reads, or shares a place with, a statement that runs for every tangent.
    """
    once: set[Statement] = {
        s
        for s in function.body
        if (isinstance(s, Let | Load) and not any(_is_place(v) for v in all_reads(s)))
        or not any(v in moved for v in _touched(s))
    }
    while True:
        late: set[Any] = set()
        for s in function.body:
            if s not in once:
                late |= {v for t in walk([s]) for v in defines(t)}
                late |= {v for v in _touched(s) if _is_place(v)}
        waiting = {s for s in once if any(v in late for v in _touched(s))}
        if not waiting:
            return once
        once -= waiting


def _touched(s: Statement) -> Iterable[Any]:
    """What a statement and those in it read, define and change."""
    yield from all_reads(s)
    yield from stores(s)
    for t in walk([s]):
        yield from defines(t)


def _is_place(v: Any) -> bool:
    return isinstance(v, Place)
