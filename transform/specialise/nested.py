"""Transforms that the program itself uses: `grad(f)(x)` inside a function.

The function under the transform becomes a function of the program, with what it
captures as parameters; the transform runs on it, and the result is called.  So an
outer derivative sees an ordinary call, and perturbations cannot be confused: what the
inner function captures is a constant to the inner derivative and active to the outer.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradwright.transform.axes import BY_NAME, frozen, of_parameters
from gradwright.transform.build import constant, own_value, row
from gradwright.transform.core import (
    Call,
    Const,
    If,
    List,
    Load,
    Raise,
    Tape,
    Value,
    holds_tapes,
    type_of,
)
from gradwright.transform.errors import ShapeError, UnsupportedSyntax
from gradwright.transform.indices import Linear, linear
from gradwright.transform.language import parameters
from gradwright.transform.primitives.structural import STOPPED
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
from gradwright.transform.specialise.samples import samples
from gradwright.transform.step import Step
from gradwright.transform.structure import put_together
from gradwright.transform.types import BOOL


@dataclass(eq=False)
class Derivative:
    """A transform of a function of the program, before it is called."""

    function: Any
    steps: tuple[Step, ...]


GRADIENT = ("fun", "argnums", "has_aux")
OPTIONS = {
    "grad": (GRADIENT, ("argnames", "holomorphic", "allow_int")),
    "value_and_grad": (GRADIENT, ("argnames", "holomorphic", "allow_int")),
    "jacfwd": ((*GRADIENT, "holomorphic"), ("argnames",)),
    "jacrev": ((*GRADIENT, "holomorphic"), ("argnames",)),
    "hessian": ((*GRADIENT, "holomorphic"), ("argnames",)),
    "vmap": (("fun", "in_axes", "out_axes", "axis_name", "axis_size"), ()),
    "jit": (
        ("fun",),
        ("static_argnums", "static_argnames", "donate_argnums", "backend", "fastmath"),
    ),
}  # of each transform: what is given by position, and what by name only


def make_derivative(
    frame: Frame, kind: str, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """grad(f, argnums, has_aux) and its relatives, called inside the program."""
    by_position, by_name = OPTIONS[kind]
    options = dict(zip(by_position, arguments, strict=False)) | keywords
    unknown = set(options) - {*by_position, *by_name}
    if unknown or "fun" not in options:
        raise frame.error(
            UnsupportedSyntax, f"{kind} with these arguments inside a function", node
        )
    inner = taken_apart(options["fun"])
    d = inner if isinstance(inner, Derivative) else Derivative(inner, ())
    argnums = _positions(frame, options.get("argnums", Linear({}, 0)), node)
    if kind == "jit":
        return inner
    if kind == "vmap":
        step = _vmap(frame, options, node)
        return Derivative(d.function, (*d.steps, step))
    if "argnames" in options:
        argnums = _named(frame, d.function, options["argnames"], node)
    flags: dict[str, Any] = {
        name: bool(getattr(options.get(name), "value", False))
        for name in ("has_aux", "holomorphic", "allow_int")
    }
    kinds = ("jacrev", "jacfwd") if kind == "hessian" else (kind,)
    steps = tuple(Step(k, argnums, **flags) for k in kinds)
    return Derivative(d.function, (*d.steps, *steps))


def _named(frame: Frame, function: Any, a: Any, node: Any) -> int | tuple[int, ...]:
    """The positions of the parameters that argnames names."""
    source, _ = _source_of(frame, function, node)
    names = [p.id for p in parameters(source.node)]
    wanted = [getattr(leaf, "value", None) for leaf in leaves(a)]
    if not all(w in names for w in wanted):
        text = f"{source.node.name} has no parameters named {wanted}"
        raise frame.error(UnsupportedSyntax, text, node)
    found = tuple(names.index(w) for w in wanted)
    return found if isinstance(a, Structure) else found[0]


def stop_gradient(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """The same numbers, which no derivative flows through."""

    def stopped(leaf: Any) -> Any:
        if not is_operand(leaf) or not _is_inexact(leaf):
            return leaf
        name = leaf.name if isinstance(leaf, Value) else "stopped"
        return frame.builder.let(STOPPED, leaf, type=type_of(leaf), name=name)

    (x,) = (*arguments, *keywords.values())
    return mapped(stopped, _opened(frame, x))


def taken_apart(function: Any) -> Any:
    """A transformed function from outside as a derivative of its function."""
    known = isinstance(function, Static)
    if not known or not hasattr(function.value, "__gradwright__"):
        return function
    steps: tuple[Step, ...] = ()
    f = function.value
    while hasattr(f, "__gradwright__"):
        steps, f = (f.__gradwright__, *steps), f.__wrapped__
    inner = Static(f, function.path)
    steps = tuple(s for s in steps if s.kind != "jit")  # it is compiled with the rest
    return Derivative(inner, steps) if steps else inner


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
    made, operands, _ = _made(frame, d.function, d.steps, arguments, keywords, node)
    return _emit(frame, made.function, made.result, operands)


def _made(
    frame: Frame,
    function: Any,
    steps: tuple[Step, ...],
    arguments: list[Any],
    keywords: dict[str, Any],
    node: Any,
) -> tuple[Any, list[Any], dict[str, Any]]:
    """A function after its transforms, the operands of a call, what they are bound to.

    What a vmap maps is bound to one sample of it while the function is written.
    """
    from gradwright.transform.specialise.calls import bind_arguments
    from gradwright.transform.specialise.units import refuse_overlap, separate_unit

    source, closure = _source_of(frame, function, node)
    given = [_opened(frame, a) for a in arguments]
    named = {n: _opened(frame, a) for n, a in keywords.items()}
    bound = bind_arguments(frame, source, closure, given, named, node)
    one = bound
    wholes: dict[Any, Any] = {}
    if any(step.kind == "vmap" for step in steps):
        marks = [Static(k) for k in range(len(given))]
        by_name = {n: Static(BY_NAME) for n in named}
        places = bind_arguments(frame, source, closure, marks, by_name, node)
        places = {n: _places(p, [*marks, *by_name.values()]) for n, p in places.items()}
        steps, one, wholes = _one_sample(frame, steps, bound, places, node)
    unit, operands = separate_unit(frame, source, closure, one, node)
    made = _applied(frame, unit, steps, source)
    captured = [c.operand_in(frame) for c in unit.captures.values()]
    frame.unit.assume_of_call(unit, [*operands, *captured])

    def whole(o: Any) -> Any:
        while o in wholes:
            o = wholes[o]
        return o

    given = [*map(whole, operands), *captured]
    if wholes:
        refuse_overlap(frame, unit, given, node)
    return made, given, bound


def _places(a: Any, marks: list[Static]) -> Any:
    """Which argument of a call stands here, as `axes.of_parameters` takes it."""
    if isinstance(a, Structure):
        items = [_places(i, marks) for i in a.items]
        return tuple(items) if a.keys is None else dict(zip(a.keys, items, strict=True))
    return a.value if any(a is m for m in marks) else None


def _one_sample(
    frame: Frame,
    steps: tuple[Step, ...],
    bound: dict[str, Any],
    places: dict[str, Any],
    node: Any,
) -> tuple[tuple[Step, ...], dict[str, Any], dict[Any, Any]]:
    """The arguments under every vmap of a function, and what each is a sample of."""
    found = list(steps)
    wholes: dict[Any, Any] = {}

    def stand_in(leaf: Any, t: Any) -> Value:
        one = Value(getattr(leaf, "name", "sample"), t)
        wholes[one] = leaf
        return one

    for k in range(len(found) - 1, -1, -1):
        if found[k].kind != "vmap":
            continue
        try:
            step = of_parameters(found[k], places)
            one = samples(step, bound, stand_in)
        except ShapeError as e:
            raise frame.error(ShapeError, e.message, node, instead=e.instead) from None
        found[k], bound = one.step, one.arguments
        known = [d for d in one.lengths if d.constant is not None]
        size = [linear(step.axis_size or 0)] if step.axis_size is not None else []
        first = [*size, *known, *one.lengths][0]
        for d in one.lengths:
            if d != first:
                _same_length(frame, first, d)
    return tuple(found), bound, wholes


def _same_length(frame: Frame, a: Linear, b: Linear) -> None:
    """Two axes along which samples lie must be as long when the program runs."""
    if frame.unit.caller is None and frame.unit.sees(a) and frame.unit.sees(b):
        frame.unit.assume_equal([(a, b)], stretch=False)  # the entry checks it
        return
    differ = frame.builder.let(row(operator.ne, 2), a, b, type=BOOL)
    text = constant("vmap needs mapped axes of one size")
    frame.builder.add(If(differ, [Raise(ValueError, (text,))], []))


def _vmap(frame: Frame, options: dict[str, Any], node: Any) -> Step:
    """The step that vmap(f, in_axes, out_axes, ...) stands for."""
    known = {n: _known(frame, a, n, node) for n, a in options.items() if n != "fun"}
    try:
        in_axes, out_axes = (
            frozen(known.get(n, 0), n) for n in ("in_axes", "out_axes")
        )
    except TypeError as e:
        raise frame.error(UnsupportedSyntax, str(e), node) from None
    name, size = known.get("axis_name"), known.get("axis_size")
    return Step(
        "vmap", None, in_axes=in_axes, out_axes=out_axes, axis_name=name, axis_size=size
    )


def _known(frame: Frame, a: Any, name: str, node: Any) -> Any:
    """An option of vmap, which must be known while the program is rewritten."""
    a = _opened(frame, a)
    if isinstance(a, Structure):
        items = [_known(frame, i, name, node) for i in a.items]
        return put_together(a.kind, items, a.keys)
    if isinstance(a, Static | Const):
        return a.value
    return frame.static_int(a, node, name)


def _applied(frame: Frame, unit: Unit, steps: tuple[Step, ...], source: Source) -> Any:
    """A unit after its transforms."""
    assert frame.program.apply is not None
    arguments = list(unit.arguments.values())
    return frame.program.apply(unit.function, arguments, unit.value, steps, source)


def call_hvp(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """hvp(f, primals, tangents) inside the program: jvp of the gradient."""
    if keywords or len(arguments) != 3 or not isinstance(arguments[1], Structure):
        raise frame.error(
            UnsupportedSyntax, "hvp takes (function, primals, tangents)", node
        )
    target, primals, tangents = arguments
    count = len(primals.items)
    argnums = Structure(tuple, tuple(map(linear, range(count))))
    wrt = linear(0) if count == 1 else argnums
    gradient = make_derivative(frame, "grad", [target, wrt], {}, node)
    return call_jvp(frame, [gradient, primals, tangents], {}, node)


def call_jvp(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """jvp(f, primals, tangents) inside the program."""
    if keywords or len(arguments) != 3:
        raise frame.error(
            UnsupportedSyntax, "jvp takes (function, primals, tangents)", node
        )
    target, primals, tangents = (_opened(frame, a) for a in arguments)
    if not isinstance(primals, Structure) or not isinstance(tangents, Structure):
        raise frame.error(UnsupportedSyntax, "jvp takes tuples or lists here", node)
    made, operands, defaults = _prepared(
        frame, target, list(primals.items), "jvp", node
    )
    dots = [*_dots(frame, primals, tangents, node), *_zeros(frame, defaults)]
    return _emit(frame, made.function, made.result, [*operands, *dots])


def _zeros(frame: Frame, a: Any) -> Iterator[Any]:
    """Tangents for what does not move: the defaults of parameters."""
    for leaf in leaves(a):
        if is_operand(leaf) and _is_inexact(leaf):
            t = type_of(leaf)
            if t.is_array:
                like = row(np.zeros_like, 1)
                yield frame.builder.let(like, leaf, type=t)
            else:
                yield constant(0j if t.is_complex else 0.0)


def _prepared(
    frame: Frame, target: Any, primals: list[Any], kind: str, node: Any
) -> tuple[Any, list[Any], Structure]:
    """A function after jvp or vjp, the operands of its primals, and the defaults."""
    target = taken_apart(target)
    steps = target.steps if isinstance(target, Derivative) else ()
    inner = target.function if isinstance(target, Derivative) else target
    steps = (*steps, Step(kind, None))
    made, operands, bound = _made(frame, inner, steps, primals, {}, node)
    source, _ = _source_of(frame, inner, node)
    names = source.node.args
    called = {a.id for a in (*names.posonlyargs, *names.args)[: len(primals)]}
    called |= {names.vararg.id} if names.vararg is not None else set()
    defaults = Structure(tuple, tuple(a for n, a in bound.items() if n not in called))
    return made, operands, defaults


@dataclass(eq=False)
class Half:
    """What vjp or linearize returns beside the value: residuals, and what takes them.

    kind: "vjp", whose second half pulls, or "linearize", whose second half pushes.
    """

    kind: str
    split: Any
    residuals: list[Any]
    operands: list[Any]
    primals: list[Any]
    value: Any


def call_split(
    frame: Frame,
    kind: str,
    arguments: list[Any],
    keywords: dict[str, Any],
    node: Any,
) -> Any:
    """vjp(f, *primals) or linearize inside the program: the value, and a half."""
    if keywords or not arguments:
        raise frame.error(
            UnsupportedSyntax, f"{kind} with these arguments inside a function", node
        )
    target, *primals = arguments
    made, operands, _ = _prepared(frame, target, primals, kind, node)
    value, _ = made.result.items
    count = sum(1 for leaf in leaves(value) if is_operand(leaf))
    results = made.split.forward.results
    residuals = [
        type(r)(r.name, r.type)
        if isinstance(r, Tape | List)
        else own_value(r.name, type_of(r))
        for r in results[count:]
    ]
    out = _emit(frame, made.split.forward, value, operands, residuals)
    given = [_opened(frame, a) for a in primals]
    half = Half(kind, made.split, residuals, operands, given, out)
    return Structure(tuple, (out, half))


def call_half(frame: Frame, half: Half, arguments: list[Any], node: Any) -> Any:
    """pull(cotangent), one cotangent for each primal; or push(*tangents)."""
    is_pull = half.kind == "vjp"
    if len(arguments) != (1 if is_pull else len(half.primals)):
        pull, push = (
            "a pull takes one cotangent",
            "a push takes a tangent for each primal",
        )
        raise frame.error(UnsupportedSyntax, pull if is_pull else push, node)
    primals = Structure(tuple, tuple(half.primals))
    given, made = (primals, half.value) if not is_pull else (half.value, primals)
    with_ = arguments[0] if is_pull else Structure(tuple, tuple(arguments))
    seeds = list(_dots(frame, given, with_, node))
    second = half.split.backward
    together = object() if holds_tapes(half.split.forward) else None
    residuals = [_own(frame, r, together) for r in half.residuals]
    needed = [half.operands[k] for k in half.split.needed]
    outs = [own_value(getattr(r, "name", "bar"), type_of(r)) for r in second.results]
    frame.builder.add(Call(tuple(outs), second, (*residuals, *needed, *seeds)))
    waiting = iter(outs)

    def fill(leaf: Any) -> Any:
        if is_operand(leaf):
            return next(waiting) if _is_inexact(leaf) else Linear({}, 0)
        return leaf

    return mapped(fill, made)


def _own(frame: Frame, residual: Any, together: object) -> Any:
    """A tape of one call's own, which may be emptied; any other residual as it is."""
    if not isinstance(residual, Tape | List):
        return residual
    copy = type(residual)(residual.name, residual.type)
    copy.of = residual
    frame.builder.add(Load(copy, residual, deep=together))
    return copy


def _opened(frame: Frame, a: Any) -> Any:
    """A captured list or dict as the structure that it is; the rest as it stands."""
    return (isinstance(a, Static) and frame.opened(a)) or a


def _dots(frame: Frame, primal: Any, tangent: Any, node: Any) -> Iterator[Any]:
    """The tangents of inexact primals; what stands beside others is not looked at."""
    if not isinstance(primal, Structure):
        if is_operand(primal) and _is_inexact(primal):
            yield tangent
        return
    given = _opened(frame, tangent)
    if not isinstance(given, Structure) or not _matches(primal, given):
        message = f"the tangent of {describe(primal)} is {describe(tangent)}"
        raise frame.error(UnsupportedSyntax, message, node)
    items = dict(zip(given.labels, given.items, strict=True))
    for label, p in zip(primal.labels, primal.items, strict=True):
        yield from _dots(frame, p, items[label], node)


def _matches(primal: Structure, tangent: Structure) -> bool:
    """Whether two have the same items; a tuple and a list may stand for each other."""
    if primal.kind in (tuple, list):
        alike = tangent.kind in (tuple, list)
    else:
        alike = tangent.kind is primal.kind
    return alike and set(primal.labels) == set(tangent.labels)


def _is_inexact(operand: Any) -> bool:
    return not isinstance(operand, Linear) and operand.type.is_inexact


def _source_of(frame: Frame, function: Any, node: Any) -> tuple[Source, Closure | None]:
    if isinstance(function, Closure):
        return function.source, function
    if isinstance(function, Static) and callable(function.value):
        if getattr(type(function.value), "__gradwright_custom__", ""):
            return frame.source_of(function.value.written, node), None
        return frame.source_of(function.value, node), None
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
