"""Jacobians, core to core: a derivative in every direction, by loops over unit vectors.

    y = f(x)     ->     jacobian = np.zeros((len(y), len(x)))
                        for i in range(len(y)):
                            y_bar = np.zeros_like(y)
                            y_bar[i] = 1.0
                            jacobian[i] = ...           the reverse sweep, to x_bar

By rows, the forward sweep runs once and the reverse sweep for every element of the
results.  By columns, the tangents are pushed forward for every element of the
arguments, and what they do not change is computed once, before the loops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from gradwright.transform.activity import active, varied
from gradwright.transform.build import Builder, constant
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
    stores,
    type_of,
    walk,
)
from gradwright.transform.core import For as Loop
from gradwright.transform.forward import tangents
from gradwright.transform.indices import linear, symbol
from gradwright.transform.reverse import Split, halves
from gradwright.transform.types import INT, Type, array, promote

Write = Callable[[Operand, tuple[At, ...]], None]
Blocks = dict[tuple[int, int], Operand]
AXES = [*"ijklmn"]


def by_rows(
    function: Function, outputs: list[Value], wrt: list[Value], name: str
) -> tuple[Function, Blocks]:
    """The derivative of each output by each input, in reverse mode.

    Returns the function without results, and its blocks by the positions of output and
    input; a block that is not there is zero. One block alone has the name.
    """
    split = halves(replace(function, results=list(outputs)), wrt, None)
    b, jacobian = _begun(split.forward)
    handed = split.forward.results[len(outputs) :]
    pairs = _connected(function, outputs, wrt)
    name = name if len(pairs) == 1 else ""
    blocks = {
        (k, j): _block(b, outputs[k], wrt[j], wrt[j].type, name)
        if outputs[k].type.dims
        else None
        for k, j in pairs
    }
    for k, y in enumerate(outputs):
        columns = [j for i, j in pairs if i == k]
        if columns:
            write = _row_writer(b, split, handed, outputs, wrt, k, columns, blocks)
            _each_direction(b, y, "bar", write)
    return jacobian, _loaded(b, blocks)


def _row_writer(
    b: Builder,
    split: Split,
    handed: list[Any],
    outputs: list[Value],
    wrt: list[Value],
    k: int,
    columns: list[int],
    blocks: dict[Any, Any],
) -> Write:
    """Writes what pulls one cotangent back, and where its results go."""

    def row(unit: Operand, index: tuple[At, ...]) -> None:
        seeds = [unit if i == k else _zero(b, o) for i, o in enumerate(outputs)]
        again = bool(index) or len(outputs) > 1
        bars = _pulled(b, split, handed, seeds, again)
        if len(outputs) > 1:
            for bar, x in zip(bars, wrt, strict=True):
                bar.name = f"{x.name}_bar"  # type: ignore[union-attr]
        for j in columns:
            name = f"{outputs[k].name}_by_{wrt[j].name}"
            _put(b, blocks, (k, j), bars[j], index, name)

    return row


def by_columns(
    function: Function, outputs: list[Value], wrt: list[Value], name: str
) -> tuple[Function, Blocks]:
    """The same as `by_rows`, in forward mode."""
    once = _unmoved(function, varied(function, set(wrt)))
    swept = [_columns(function, outputs, x, once) for x in wrt]
    b, jacobian = _begun(function)
    jacobian.commented = False  # no line of it is the reverse of one of the user's
    for s in walk(s for s in function.body if s not in once):
        if isinstance(s, Let | Load):
            s.safe = True  # what it may raise, it raises in the loops
    pairs = _connected(function, outputs, wrt)
    name = name if len(pairs) == 1 else ""
    blocks = {
        (k, j): _block(b, outputs[k], wrt[j], outputs[k].type, name)
        if wrt[j].type.dims
        else None
        for k, j in pairs
    }
    for j, x in enumerate(wrt):
        rows = [k for k, i in pairs if i == j]
        if rows:
            write = _column_writer(b, swept[j], outputs, j, rows, blocks)
            _each_direction(b, x, "dot", write)
    return jacobian, _loaded(b, blocks)


def _column_writer(
    b: Builder,
    swept: tuple[list[Statement], Value, list[Any]],
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


def _begun(function: Function) -> tuple[Builder, Function]:
    """A function that begins as this one does, and a builder that goes on with it."""
    b = Builder(folds=True)
    b.adjoint = True
    b.block = list(function.body)
    return b, replace(function, body=b.block, results=[], commented=True)


def _connected(
    function: Function, outputs: list[Value], wrt: list[Value]
) -> list[tuple[int, int]]:
    """The pairs of an output and an input on which it depends."""
    return [
        (k, j)
        for k, y in enumerate(outputs)
        for j, x in enumerate(wrt)
        if y in active(function, {x}, {y})
    ]


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
    residuals = [
        _copied(b, r, split.forward) if again and p in emptied else r
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


def _copied(b: Builder, tape: Tape | List, forward: Function) -> Tape | List:
    """A tape or list with the same content, which may be emptied."""
    copy = type(tape)(tape.name, tape.type)
    copy.of = tape
    deep = isinstance(tape, Tape) and holds_tapes(forward)
    b.add(Load(copy, tape, deep=deep))
    return copy


# ---- columns -----------------------------------------------------------------------


def _columns(
    function: Function, outputs: list[Value], x: Value, once: set[Statement]
) -> tuple[list[Statement], Value, list[Any]]:
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
