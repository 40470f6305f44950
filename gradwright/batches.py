"""Programs over batches: what one sample of the arguments is, and all their results.

{"w": W, "b": b} with in_axes {"w": 0, "b": None}   ->   {"w": one row of W, "b": b}
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from gradwright.derived import Derived, last_return
from gradwright.transform.axes import spread
from gradwright.transform.batch import Batched, Out, Ragged, batch
from gradwright.transform.calls import inline
from gradwright.transform.core import (
    Const,
    Effect,
    For,
    Function,
    Let,
    Operand,
    While,
    program,
    type_of,
    walk,
)
from gradwright.transform.errors import ShapeError, UnsupportedSyntax
from gradwright.transform.fission import is_collective, meets
from gradwright.transform.scopes import enclose
from gradwright.transform.specialise import Specialised
from gradwright.transform.specialise.abstract import is_operand, leaves, mapped
from gradwright.transform.specialise.samples import samples
from gradwright.transform.step import Step
from gradwright.transform.structure import Structure
from gradwright.transform.types import Type

IN_FRONT = "vmap: arrays have an axis of the samples in front."


def one_sample(
    steps: Sequence[Step], arguments: dict[str, Any]
) -> tuple[list[Step], dict[str, Any]]:
    """What the function itself is called with, under every vmap of it.

    Args:
        steps: The transforms, innermost first.
        arguments: The arguments of the outermost one.

    Raises:
        ShapeError: An argument does not have the axis that is mapped.
    """
    found = list(steps)
    for k in range(len(found) - 1, -1, -1):
        if found[k].kind == "vmap":
            one = samples(found[k], arguments)
            found[k], arguments = one.step, one.arguments
    return found, arguments


def batched(d: Derived, step: Step) -> Derived:
    """The program over all samples."""
    given = [leaf for a in d.arguments for leaf in leaves(a)]
    lines = zip(given, step.axes, step.sizes, strict=True)
    axes = {leaf: (axis, n) for leaf, axis, n in lines if axis is not None}
    returned = d.source.location(last_return(d.source))
    name = f"{d.function.name}_batched"
    try:
        out = list(_stacked(d, step))
        if meets(d.function.body, step.axis_name):
            enclose(inline(d.function, everywhere=True))
        made, note = _written(d, step, axes, out, name, returned)
    except Ragged:
        raise ShapeError(
            f"vmap of {d.source.name}: the shape of this result may differ from "
            f"sample to sample",
            at=returned,
            instead="a result whose shape follows from those of the arguments",
        ) from None
    except ShapeError as e:
        raise ShapeError(e.message, at=returned, instead=e.instead) from None
    arguments = [mapped(made.outer.operand, a) for a in d.arguments]
    waiting = iter(made.function.results)
    result = mapped(lambda a: next(waiting) if is_operand(a) else a, d.result)
    return replace(
        d,
        function=made.function,
        arguments=arguments,
        result=result,
        fits={},
        batched=made,
        notes=(*d.notes, note),
        is_lifted=(d.is_lifted or note is IN_FRONT) and not reports(made.function),
    )


def reports(f: Function) -> bool:
    """Whether a call is seen from outside, and so must not be made twice."""
    return any(isinstance(s, Effect) for g in program(f) for s in walk(g.body))


def _written(d: Derived, step: Step, *how: Any) -> tuple[Batched, str]:
    """The program of all samples, lifted if it can be, or else a loop; and which.

    What becomes machine code is a loop where that makes several samples side by side,
    or threads share it, and there are no products of arrays, which libraries make.
    """
    from gradwright.transform.lifted import NotLifted  # nobody else waits for them
    from gradwright.transform.lifting import Lift

    axes, out, name, where = how
    f = d.function
    given = f, axes, step.axis_size, out, name, where, step.axis_name
    if meets(f.body, step.axis_name):
        return batch(*given), "vmap: a loop over the samples, in parts where they meet."
    if step.how == "loop":
        return batch(*given), "vmap: a loop over the samples, as how='loop' says."
    if d.whole and step.how is None and not _multiplies(f):
        if d.side_by_side and _loops(f):
            return batch(*given), "vmap: a loop over the samples, which loop, too."
        if d.threads > 1:
            return batch(*given), "vmap: a loop over the samples, which threads share."
    try:
        return batch(*given, Lift), IN_FRONT
    except NotLifted as why:
        if step.how == "axis":
            raise UnsupportedSyntax(
                f"vmap with how='axis' gives no array another axis here: {why}",
                at=where,
                instead="how='loop'",
            ) from None
        return batch(*given), f"vmap: a loop over the samples: {why}."


def _loops(f: Function) -> bool:
    """Whether a program loops."""
    return any(isinstance(s, For | While) for g in program(f) for s in walk(g.body))


def _multiplies(f: Function) -> bool:
    """Whether a program has products of arrays, or calls of linear algebra."""
    return any(
        s.primitive.kind == "multilinear" or "linalg" in s.primitive.spelling
        for g in program(f)
        for s in walk(g.body)
        if isinstance(s, Let)
    )


def _stacked(d: Derived, step: Step) -> Iterator[Out]:
    """What becomes of each result."""
    k = 0
    wanted = spread(step.out_axes, d.result, "out_axes", "the result")
    lines = zip(leaves(d.result), wanted, _labels(d.result), strict=True)
    for leaf, axis, label in lines:
        if isinstance(leaf, Const) and not leaf.type.is_number:
            yield Out(None, leaf.type)  # the same for all
        elif is_operand(leaf):
            yield Out(axis, _kind(d, k, leaf), label)
        k += is_operand(leaf)


def _labels(value: Any, name: str = "") -> Iterator[str]:
    """The keys and fields under which the results stand; empty where there are none."""
    if isinstance(value, Structure):
        for label, item in zip(value.labels, value.items, strict=True):
            yield from _labels(item, label if isinstance(label, str) else name)
    else:
        yield name


def _kind(d: Derived, k: int, leaf: Operand) -> Type:
    """The type of what is stacked; what cannot be is refused."""
    t = type_of(leaf)
    if not t.is_number:
        raise UnsupportedSyntax(
            f"vmap of {d.source.name} stacks numbers and arrays, and the result of a "
            f"sample is a text",
            at=d.source.location(last_return(d.source)),
            instead="a number for every sample",
        )
    fit = d.fits.get(k)
    return fit if fit is not None and not fit.dims else t


def of_batch(specialised: Specialised, d: Derived) -> Specialised:
    """What the program of one sample takes for granted, of the arguments of all."""
    assert d.batched is not None
    outer, equal = d.batched.outer.operand, d.batched.equal
    pairs = [(outer(a), outer(b)) for a, b in specialised.equal_dims]
    return replace(
        specialised,
        function=d.function,
        arguments={n: mapped(outer, a) for n, a in specialised.arguments.items()},
        equal_dims=[(a, b) for a, b in [*equal, *pairs] if a != b],
        at_least_zero=list(map(outer, specialised.at_least_zero)),
        inputs=list(map(outer, specialised.inputs)),
        stored=[(outer(p), name, at) for p, name, at in specialised.stored],
    )


def refuse_unbound(functions: list[Function]) -> None:
    """Refuse a collective over an axis that no vmap has."""
    for s in (s for f in functions for g in program(f) for s in walk(g.body)):
        if isinstance(s, Let) and is_collective(s):
            name = s.attribute.name
            raise UnsupportedSyntax(
                f"{s.primitive.name} over the axis {name!r}, and there is no vmap with "
                f"this axis_name",
                at=s.where,
                instead=f"vmap(..., axis_name={name!r}) round the function",
            )
