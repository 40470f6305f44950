"""Transforms that the program itself uses: `grad(f)(x)` inside a function.

The function under the transform becomes a function of the program, with what it
captures as parameters; the transform runs on it, and the result is called.  So an
outer derivative sees an ordinary call, and perturbations cannot be confused: what the
inner function captures is a constant to the inner derivative and active to the outer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gradwright.transform import source as sources
from gradwright.transform.core import Call, Value, type_of
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
from gradwright.transform.specialise.frame import Frame


@dataclass(frozen=True)
class Step:
    """One transform and its options, as the user asked for it."""

    kind: str  # grad | value_and_grad | jvp | vjp
    argnums: int | tuple[int, ...] | None = 0
    has_aux: bool = False


@dataclass(eq=False)
class Derivative:
    """A transform of a function of the program, before it is called."""

    function: Any
    steps: tuple[Step, ...]


def make_derivative(
    frame: Frame, kind: str, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """grad(f, argnums, has_aux) and value_and_grad, called inside the program."""
    options = dict(zip(("fun", "argnums", "has_aux"), arguments, strict=False)) | keywords
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
    if not isinstance(function, Static) or not hasattr(function.value, "__gradwright__"):
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
    frame: Frame, d: Derivative, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """The abstract result of a transformed function called inside the program."""
    from gradwright.transform.specialise.calls import bind_arguments, separate_unit

    source, closure = _source_of(frame, d.function, node)
    bound = bind_arguments(frame, source, closure, arguments, keywords, node)
    unit, operands = separate_unit(frame, source, closure, bound, node)
    assert frame.program.apply is not None
    function, result = frame.program.apply(
        unit.function, list(unit.arguments.values()), unit.value, d.steps, source
    )
    captured = [c.operand_in(frame) for c in unit.captures.values()]
    return _emit(frame, function, result, [*operands, *captured])


def call_jvp(frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any) -> Any:
    """jvp(f, primals, tangents) inside the program."""
    from gradwright.transform.specialise.calls import bind_arguments, separate_unit

    if keywords or len(arguments) != 3:
        raise frame.error(UnsupportedSyntax, "jvp takes (function, primals, tangents)", node)
    target, primals, tangents = arguments
    target = taken_apart(target)
    if not isinstance(primals, Structure) or not isinstance(tangents, Structure):
        raise frame.error(UnsupportedSyntax, "jvp takes tuples or lists here", node)
    steps = target.steps if isinstance(target, Derivative) else ()
    inner = target.function if isinstance(target, Derivative) else target
    source, closure = _source_of(frame, inner, node)
    bound = bind_arguments(frame, source, closure, list(primals.items), {}, node)
    unit, operands = separate_unit(frame, source, closure, bound, node)
    assert frame.program.apply is not None
    function, result = frame.program.apply(
        unit.function,
        list(unit.arguments.values()),
        unit.value,
        (*steps, Step("jvp", None)),
        source,
    )
    captured = [c.operand_in(frame) for c in unit.captures.values()]
    pairs = zip(leaves(primals), leaves(tangents), strict=True)
    dots = [t for p, t in pairs if is_operand(p) and _is_inexact(p)]
    return _emit(frame, function, result, [*operands, *captured, *dots])


def _is_inexact(operand: Any) -> bool:
    return not isinstance(operand, Linear) and operand.type.is_inexact


def _source_of(frame: Frame, function: Any, node: Any) -> tuple[Source, Closure | None]:
    if isinstance(function, Closure):
        return function.source, function
    if isinstance(function, Static) and callable(function.value):
        return sources.read(function.value), None
    raise frame.error(UnsupportedSyntax, f"a transform of {describe(function)}", node)


def _emit(frame: Frame, function: Any, result: Any, operands: list[Any]) -> Any:
    """The call, and its results in their structure."""
    outs = [Value(getattr(r, "name", "value"), type_of(r)) for r in function.results]
    waiting = iter(outs)

    def fill(leaf: Any) -> Any:
        if not is_operand(leaf):
            return leaf
        out = next(waiting)
        return Linear({out: 1}) if isinstance(leaf, Linear) else out

    filled = mapped(fill, result)
    frame.builder.add(Call(tuple(outs), function, tuple(operands)))
    return filled
