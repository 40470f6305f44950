"""Transforms that the program itself uses: `grad(f)(x)` inside a function.

The function under the transform becomes a function of the program, with what it
captures as parameters; the transform runs on it, and the result is called.  So an
outer derivative sees an ordinary call, and perturbations cannot be confused: what the
inner function captures is a constant to the inner derivative and active to the outer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gradwright.transform import source as sources
from gradwright.transform.build import own_value
from gradwright.transform.core import Call, Tape, type_of
from gradwright.transform.errors import UnsupportedSyntax
from gradwright.transform.indices import Linear
from gradwright.transform.source import Source
from gradwright.transform.specialise.abstract import (
    Closure,
    Static,
    Structure,
    describe,
    is_operand,
    leaves,
    mapped,
)
from gradwright.transform.specialise.frame import Frame, Unit
from gradwright.transform.step import Step


@dataclass(eq=False)
class Derivative:
    """A transform of a function of the program, before it is called."""

    function: Any
    steps: tuple[Step, ...]


def make_derivative(
    frame: Frame, kind: str, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """grad(f, argnums, has_aux) and value_and_grad, called inside the program."""
    options = (
        dict(zip(("fun", "argnums", "has_aux"), arguments, strict=False)) | keywords
    )
    unknown = set(options) - {"fun", "argnums", "has_aux"}
    if unknown or "fun" not in options:
        raise frame.error(
            UnsupportedSyntax, f"{kind} with these arguments inside a function", node
        )
    argnums = _positions(frame, options.get("argnums", Linear({}, 0)), node)
    aux = options.get("has_aux")
    step = Step(kind, argnums, bool(getattr(aux, "value", False)))
    inner = taken_apart(options["fun"])
    if isinstance(inner, Derivative):
        return Derivative(inner.function, (*inner.steps, step))
    return Derivative(inner, (step,))


def taken_apart(function: Any) -> Any:
    """A transformed function from outside as a derivative of its function."""
    known = isinstance(function, Static)
    if not known or not hasattr(function.value, "__gradwright__"):
        return function
    steps: tuple[Step, ...] = ()
    f = function.value
    while hasattr(f, "__gradwright__"):
        steps, f = (f.__gradwright__, *steps), f.__wrapped__
    return Derivative(Static(f, function.path), steps)


def _positions(frame: Frame, a: Any, node: Any) -> int | tuple[int, ...]:
    if isinstance(a, Structure):
        return tuple(frame.static_int(i, node, "argnums") for i in a.items)
    return frame.static_int(a, node, "argnums")


def call_derivative(
    frame: Frame,
    d: Derivative,
    arguments: list[Any],
    keywords: dict[str, Any],
    node: Any,
) -> Any:
    """The abstract result of a transformed function called inside the program."""
    from gradwright.transform.specialise.calls import bind_arguments, separate_unit

    source, closure = _source_of(frame, d.function, node)
    bound = bind_arguments(frame, source, closure, arguments, keywords, node)
    unit, operands = separate_unit(frame, source, closure, bound, node)
    made = _applied(frame, unit, d.steps, source)
    captured = [c.operand_in(frame) for c in unit.captures.values()]
    frame.unit.assume_of_call(unit, [*operands, *captured])
    return _emit(frame, made.function, made.result, [*operands, *captured])


def _applied(frame: Frame, unit: Unit, steps: tuple[Step, ...], source: Source) -> Any:
    """A unit after its transforms."""
    assert frame.program.apply is not None
    arguments = list(unit.arguments.values())
    return frame.program.apply(unit.function, arguments, unit.value, steps, source)


def call_jvp(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """jvp(f, primals, tangents) inside the program."""
    if keywords or len(arguments) != 3:
        raise frame.error(
            UnsupportedSyntax, "jvp takes (function, primals, tangents)", node
        )
    target, primals, tangents = arguments
    if not isinstance(primals, Structure) or not isinstance(tangents, Structure):
        raise frame.error(UnsupportedSyntax, "jvp takes tuples or lists here", node)
    made, operands = _prepared(frame, target, list(primals.items), "jvp", node)
    dots = _dots(frame, primals, tangents, node)
    return _emit(frame, made.function, made.result, [*operands, *dots])


def _prepared(
    frame: Frame, target: Any, primals: list[Any], kind: str, node: Any
) -> tuple[Any, list[Any]]:
    """A function after jvp or vjp, and the operands of its primals and captures."""
    from gradwright.transform.specialise.calls import bind_arguments, separate_unit

    target = taken_apart(target)
    steps = target.steps if isinstance(target, Derivative) else ()
    inner = target.function if isinstance(target, Derivative) else target
    source, closure = _source_of(frame, inner, node)
    bound = bind_arguments(frame, source, closure, primals, {}, node)
    unit, operands = separate_unit(frame, source, closure, bound, node)
    made = _applied(frame, unit, (*steps, Step(kind, None)), source)
    captured = [c.operand_in(frame) for c in unit.captures.values()]
    frame.unit.assume_of_call(unit, [*operands, *captured])
    return made, [*operands, *captured]


@dataclass(eq=False)
class Pull:
    """What vjp returns beside the value: residuals, and the half that takes them."""

    split: Any
    residuals: list[Any]
    operands: list[Any]
    primals: list[Any]
    value: Any
    block: list[Any]
    used: bool = False


def call_vjp(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """vjp(f, *primals) inside the program: the value, and a pull to be called."""
    if keywords or not arguments:
        raise frame.error(
            UnsupportedSyntax, "vjp with these arguments inside a function", node
        )
    target, *primals = arguments
    made, operands = _prepared(frame, target, primals, "vjp", node)
    value, _ = made.result.items
    count = sum(1 for leaf in leaves(value) if is_operand(leaf))
    results = made.split.forward.results
    residuals = [
        Tape(r.name, r.type) if isinstance(r, Tape) else own_value(r.name, r.type)
        for r in results[count:]
    ]
    out = _emit(frame, made.split.forward, value, operands, residuals)
    pull = Pull(made.split, residuals, operands, primals, out, frame.builder.block)
    return Structure(tuple, (out, pull))


def call_pull(frame: Frame, pull: Pull, arguments: list[Any], node: Any) -> Any:
    """pull(cotangent): one cotangent for each primal."""
    if len(arguments) != 1:
        raise frame.error(UnsupportedSyntax, "a pull takes one cotangent", node)
    has_tapes = any(isinstance(r, Tape) for r in pull.residuals)
    if has_tapes and (pull.used or pull.block is not frame.builder.block):
        raise frame.error(
            UnsupportedSyntax,
            "this pull empties the tape of a loop: it can be called only once, "
            "in the block that made it",
            node,
            instead="vjp again, for a second cotangent",
        )
    pull.used = True
    bars = list(_dots(frame, pull.value, arguments[0], node))
    backward = pull.split.backward
    needed = [pull.operands[k] for k in pull.split.needed]
    outs = [own_value(getattr(r, "name", "bar"), type_of(r)) for r in backward.results]
    frame.builder.add(Call(tuple(outs), backward, (*pull.residuals, *needed, *bars)))
    gradients = iter(outs)

    def fill(leaf: Any) -> Any:
        if is_operand(leaf):
            return next(gradients) if _is_inexact(leaf) else Linear({}, 0)
        return leaf

    return Structure(tuple, tuple(mapped(fill, p) for p in pull.primals))


def _dots(frame: Frame, primal: Any, tangent: Any, node: Any) -> Iterator[Any]:
    """The tangents of inexact primals; what stands beside others is not looked at."""
    from gradwright.transform.specialise.calls import iterable

    if not isinstance(primal, Structure):
        if is_operand(primal) and _is_inexact(primal):
            yield tangent
        return
    taken = iterable(frame, tangent, node) if isinstance(tangent, Static) else tangent
    if not isinstance(taken, Structure) or len(taken.items) != len(primal.items):
        message = f"the tangent of {describe(primal)} is {describe(taken)}"
        raise frame.error(UnsupportedSyntax, message, node)
    for p, t in zip(primal.items, taken.items, strict=True):
        yield from _dots(frame, p, t, node)


def _is_inexact(operand: Any) -> bool:
    return not isinstance(operand, Linear) and operand.type.is_inexact


def _source_of(frame: Frame, function: Any, node: Any) -> tuple[Source, Closure | None]:
    if isinstance(function, Closure):
        return function.source, function
    if isinstance(function, Static) and callable(function.value):
        return sources.read(function.value), None
    raise frame.error(UnsupportedSyntax, f"a transform of {describe(function)}", node)


def _emit(
    frame: Frame,
    function: Any,
    result: Any,
    operands: list[Any],
    more: Sequence[Any] = (),
) -> Any:
    """The call, and its results in their structure; `more` are results behind these."""
    count = len(function.results) - len(more)
    outs = [
        own_value(getattr(r, "name", "value"), type_of(r))
        for r in function.results[:count]
    ]
    waiting = iter(outs)

    def fill(leaf: Any) -> Any:
        if not is_operand(leaf):
            return leaf
        out = next(waiting)
        return Linear({out: 1}) if isinstance(leaf, Linear) else out

    filled = mapped(fill, result)
    frame.builder.add(Call((*outs, *more), function, tuple(operands)))
    return filled
