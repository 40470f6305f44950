"""Jacobians of programs: every result by every argument, in nested structures.

{"u": u, "v": v} by (x, y)     ->     {"u": (u_by_x, u_by_y), "v": (v_by_x, v_by_y)}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from gradwright.batches import reports
from gradwright.derived import (
    Derived,
    Gradient,
    arranged,
    differentiated,
    last_return,
    not_holomorphic,
    per_argument,
    with_aux,
)
from gradwright.transform.build import Builder, constant
from gradwright.transform.core import (
    Alloc,
    Buffer,
    Effect,
    Function,
    Let,
    Load,
    Operand,
    Value,
    program,
    type_of,
    walk,
)
from gradwright.transform.errors import EffectError, NotDifferentiable
from gradwright.transform.jacobian import (
    Jacobian,
    block_dtype,
    by_columns,
    by_rows,
)
from gradwright.transform.primitives.structural import NAMED
from gradwright.transform.scopes import settle
from gradwright.transform.specialise.abstract import (
    Structure,
    describe,
    is_operand,
    leaves,
    mapped,
)
from gradwright.transform.step import Step
from gradwright.transform.types import array


def jacobian(d: Derived, step: Step) -> Derived:
    """The derivative of every result by every argument, result by result."""
    value, aux = with_aux(d, step)
    wrt = differentiated(d, step)
    function = settle(d.function)
    outputs = [leaf for leaf in leaves(value) if _is_number(leaf)]
    for leaf in outputs:
        _check_output(d, step, leaf)
    beside = [leaf for leaf in leaves(aux) if is_operand(leaf)]
    if step.kind == "jacfwd":
        _refuse_effects(d, step, function)
    by = by_columns if step.kind == "jacfwd" else by_rows
    name = _name_of_jacobian(function.name, step)
    values = _as_values(function, outputs, _labels(value))
    only = "hessian" if name.endswith("_hessian") else "jacobian"
    made = by(function, values, wrt, only, step.how != "loop", d.compiled)
    f, blocks = made.function, made.blocks
    place = iter(range(len(outputs)))

    def row(leaf: Any) -> Any:
        """The derivative of one result, in the structure of the arguments."""
        if not _is_number(leaf):
            return leaf
        k = next(place)
        found = {
            x: _part(f, blocks.get((k, j)), values[k], x, step)
            for j, x in enumerate(wrt)
        }
        return per_argument(d, step, found)

    result = mapped(row, value)
    f.name = name
    f.results = beside
    lifted = (d.is_lifted or made.way == "axis") and not reports(f)
    d = replace(d, notes=(*d.notes, *_note(made, step, only)), is_lifted=lifted)
    return arranged(d, f, Structure(tuple, (result, aux)) if step.has_aux else result)


def _note(made: Jacobian, step: Step, only: str) -> Iterator[str]:
    """How its directions are gone through, for the head of the source."""
    each = "column" if step.kind == "jacfwd" else "row"
    moved = "tangents" if each == "column" else "cotangents"
    kind = only if only == "hessian" else step.kind
    if made.way == "axis":
        yield f"{kind}: {moved} have an axis of the {each}s in front."
    elif made.why:
        yield f"{kind}: a loop over the {each}s: {made.why.replace('sample', each)}."


def pattern(d: Derived, step: Step) -> Derived:
    """Beside each result, on which elements of the arguments it depends."""
    asked = replace(step, kind="jacobian")
    value, aux = with_aux(d, asked)
    wrt = differentiated(d, asked)
    function = settle(d.function)
    for leaf in filter(_is_number, leaves(value)):
        _check_output(d, asked, leaf)
    for x in wrt:
        if x.type.is_complex:
            raise NotDifferentiable(
                f"sparse=True is for real numbers, and an argument of {d.source.name} "
                f"is {describe(x)}",
                at=d.source.location(d.source.node),
                instead="the call without sparse=True",
            )
    _refuse_effects(d, step, function)
    from gradwright.transform.dependence import dependence  # no dense one waits for it

    f, found = dependence(function, wrt)
    out = iter(found)

    def labels(leaf: Any) -> Any:
        """The labels of a number; a text or None beside it stays as it is."""
        if not is_operand(leaf):
            return leaf
        label = next(out)
        return label if type_of(leaf).is_number else leaf

    return arranged(d, f, Structure(tuple, (mapped(labels, value), aux)))


def not_a_program(d: Derived, step: Step) -> NotDifferentiable:
    """The error for a sparse Jacobian that is to be transformed or called in turn."""
    return NotDifferentiable(
        f"the sparse Jacobian of {d.source.name} is put together at a call, and no "
        f"program to transform",
        at=d.source.location(d.source.node),
        instead=f"sparse=True outermost, as in {step.kind}(jit(f), sparse=True); "
        f"or the call without it",
    )


def _labels(value: Any, name: str = "") -> Iterator[str]:
    """The keys and fields under which the results stand; empty where there are none."""
    if isinstance(value, Structure):
        for label, item in zip(value.labels, value.items, strict=True):
            yield from _labels(item, label if isinstance(label, str) else name)
    elif _is_number(value):
        yield name


def _is_number(leaf: Any) -> bool:
    """Whether it is differentiated: a text or None beside it stays as it is."""
    return is_operand(leaf) and type_of(leaf).is_number


def _as_values(
    function: Function, outputs: list[Any], labels: Iterable[str]
) -> list[Value]:
    """The results to differentiate, each a value of its own: literals get a name."""
    builder = Builder()
    values: list[Value] = []
    with builder.nested(function.body):
        for leaf, label in zip(outputs, labels, strict=True):
            found = leaf
            if not isinstance(leaf, Value) or leaf in (*values, *function.params):
                found = Value(getattr(leaf, "name", "value"), type_of(leaf))
                builder.add(Let(found, NAMED, (leaf,)))
            if label and not found.users:
                found.name = label
            values.append(found)
    return values


def _part(f: Function, block: Any, y: Value, x: Value, step: Step) -> Gradient:
    """One block, of the kind of the argument, or of the result for jacfwd."""
    dims = (*(y.type.dims or ()), *(x.type.dims or ()))
    t = (x if step.kind == "jacrev" else y).type
    if dims or y.type.is_array or x.type.is_array:
        t = array(np.dtype(block_dtype(t, x.type)), dims)
    if block is None:
        block = constant(0j if t.is_complex else 0.0)
        if dims:
            zeros = Buffer(f"{y.name}_by_{x.name}", t, dims)
            f.body.append(Alloc(zeros, adjoint=True))
            block = Value(zeros.name, t)
            f.body.append(Load(block, zeros, adjoint=True))
    return Gradient(block, t)


def _check_output(d: Derived, step: Step, leaf: Operand) -> None:
    """What comes out must have a derivative of the kind that was asked for."""
    t = type_of(leaf)
    if step.holomorphic and not t.is_complex:
        raise not_holomorphic(d, step, leaf)
    is_real = t.is_inexact and not t.is_complex
    if step.holomorphic or is_real or (t.is_complex and step.kind == "jacfwd"):
        return
    raise NotDifferentiable(
        f"{step.kind} needs a function that returns real numbers, and "
        f"{d.source.name} returns {describe(leaf)}",
        at=d.source.location(last_return(d.source)),
        instead="holomorphic=True for complex numbers; "
        "has_aux=True for what is not to be differentiated",
    )


def _refuse_effects(d: Derived, step: Step, function: Function) -> None:
    """Forward mode runs the program once for every direction, a sparse one too."""
    for g in program(function):
        for s in walk(g.body):
            if isinstance(s, Effect):
                name = getattr(s.function, "__name__", "this call")
                raise EffectError(
                    f"{step.kind} of {d.source.name} runs it once for every element "
                    f"of its argument, and {name}() would happen as often"
                    if step.kind != "pattern"
                    else f"sparse=True runs {d.source.name} once to find what is not "
                    f"zero and then for each sweep, and {name}() would happen as often",
                    at=s.where,
                    instead="jacrev, which runs it once; or the program without it",
                )


def _name_of_jacobian(name: str, step: Step) -> str:
    """`f_jacfwd`; of a Jacobian or gradient it is the Hessian."""
    stem = next(
        (name.removesuffix(e) for e in ("_jacrev", "_grad") if name.endswith(e)), None
    )
    return f"{name}_{step.kind}" if stem is None else f"{stem}_hessian"
