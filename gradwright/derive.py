"""One transform, core to core, with the structure of its arguments and results.

Derived(f(x, y), result value)  -- grad -->  Derived(f_grad(x, y), result x_bar)
"""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import Any

from gradwright.batches import batched
from gradwright.derived import (
    Derived,
    Gradient,
    arranged,
    differentiated,
    inexact_parameters,
    last_return,
    not_holomorphic,
    not_scalar,
    per_argument,
    with_aux,
    zeros_of_ints,
)
from gradwright.jacobians import jacobian, not_a_program, pattern
from gradwright.transform.build import Builder, constant, row
from gradwright.transform.calls import inline, recalled
from gradwright.transform.core import (
    Const,
    If,
    Operand,
    Raise,
    Value,
    type_of,
)
from gradwright.transform.forward import tangents
from gradwright.transform.linear import linear_halves
from gradwright.transform.reverse import gradient, halves
from gradwright.transform.scopes import settle
from gradwright.transform.simplify import simplify
from gradwright.transform.specialise.abstract import (
    Static,
    Structure,
    describe,
    is_operand,
    leaves,
    mapped,
)
from gradwright.transform.step import Step
from gradwright.transform.types import BOOL, NONE, Type


def derive(d: Derived, step: Step) -> Derived:
    """One transform, core to core."""
    if step.kind == "jit":  # says how the result runs, not what it is
        return d
    d = replace(_simplified(d), batched=None)
    if step.kind == "vmap":
        return batched(d, step)
    if step.sparse:
        raise not_a_program(d, step)
    if step.kind == "pattern":
        return pattern(d, step)
    if step.kind == "jvp":
        return _jvp(d, step)
    if step.kind in ("vjp", "linearize"):
        return _split(d, step)
    if step.kind in ("jacfwd", "jacrev"):
        return jacobian(d, step)
    return _grad(d, step)


def _simplified(d: Derived) -> Derived:
    """The function simplified, and its results again in their structure."""
    function = recalled(inline(simplify(d.function), d.whole))
    results = iter(function.results)
    result = mapped(lambda a: next(results) if is_operand(a) else a, d.result)
    return replace(d, function=function, result=result)


def _grad(d: Derived, step: Step) -> Derived:
    value, aux = _scalar_result(d, step)
    wrt = differentiated(d, step)
    is_value = step.kind == "value_and_grad"
    f = gradient(settle(d.function), wrt, None, value=is_value)
    others = d.function.results[1:]
    bars: list[Any] = f.results[(1 if is_value else 0) + len(others) :]
    found = {p: Gradient(g, p) for p, g in zip(wrt, bars, strict=True)}
    grads = per_argument(d, step, found | zeros_of_ints(d, step, f))
    result: Any = Structure(tuple, (value, grads)) if is_value else grads
    if step.has_aux:
        first = Structure(tuple, (value, aux))
        result = Structure(
            tuple, (first if is_value else grads, grads if is_value else aux)
        )
    return arranged(d, f, result)


def _scalar_result(d: Derived, step: Step) -> tuple[Any, Any]:
    """(value, aux): the first must be a real scalar."""
    value, aux = with_aux(d, step)
    if not is_operand(value):
        raise not_scalar(d, step, describe(value))
    t = type_of(value)
    if t.optional:
        _refuse_none(d, step, value)
    if t.is_array and t.dims:
        raise not_scalar(d, step, f"an array with {len(t.dims)} axes")
    if step.holomorphic and not t.is_complex:
        raise not_holomorphic(d, step, value)
    if not t.is_inexact or (t.is_complex and not step.holomorphic):
        raise not_scalar(d, step, describe(value))
    return value, aux


def _refuse_none(d: Derived, step: Step, value: Any) -> None:
    """A result that may be None is a number here, or the call raises."""
    builder = Builder()
    builder.where = d.source.location(last_return(d.source))
    text = f"{step.kind} needs one real number, and {d.source.name} returned None"
    with builder.nested(d.function.body):
        is_none = builder.let(row(operator.is_, 2), value, Const(None, NONE), type=BOOL)
        builder.add(If(is_none, [Raise(TypeError, (constant(text),))], []))


def _moving(d: Derived, step: Step) -> list[Value]:
    """What a jvp or vjp moves: everything that can be, or what argnums names."""
    return inexact_parameters(d) if step.argnums is None else differentiated(d, step)


def _jvp(d: Derived, step: Step) -> Derived:
    wrt = _moving(d, step)
    value, aux = with_aux(d, step)
    f, dots, results = tangents(settle(d.function), wrt)
    dot_of = dict(zip(wrt, dots, strict=True))
    given = [
        mapped(lambda leaf: dot_of.get(leaf, Static(None)), a) for a in d.arguments
    ]
    out = iter(results[len(d.function.results) :])

    def dot(leaf: Any) -> Any:
        """The tangent of a number; a text or None beside it stays as it is."""
        if not is_operand(leaf):
            return leaf
        found = next(out)
        return found if type_of(leaf).is_number else leaf

    tangent = mapped(dot, value)
    outcome = (value, tangent, aux) if step.has_aux else (value, tangent)
    made = arranged(d, f, Structure(tuple, outcome))
    made.fits = _jvp_fits(d, [a for a in leaves(value) if is_operand(a)])
    made.arguments = [
        Structure(tuple, tuple(d.arguments)),
        Structure(tuple, tuple(given)),
    ]
    return made


def _jvp_fits(d: Derived, values: list[Operand]) -> dict[int, Type]:
    """Values keep what they had to fit; tangents are of the kinds of their values."""
    fits = {k: t for k, t in d.fits.items() if k < len(values)}
    for k, v in enumerate(values):
        t = fits.get(k, type_of(v))
        if t.is_inexact and (k in fits or not t.is_array):
            fits[len(values) + k] = t
    return fits


def _split(d: Derived, step: Step) -> Derived:
    """The halves; the forward one returns the value, then what comes beside it."""
    value, aux = with_aux(d, step)
    seeded = [leaf for leaf in leaves(value) if is_operand(leaf)]
    beside = [leaf for leaf in leaves(aux) if is_operand(leaf)]
    function = settle(d.function)
    if step.has_aux:
        function = replace(function, results=seeded)
    made = halves if step.kind == "vjp" else linear_halves
    split = made(function, _moving(d, step), None)
    if step.has_aux:
        results = [*seeded, *beside, *split.forward.results[len(seeded) :]]
        split.forward = replace(split.forward, results=results)
    return replace(d, split=split, result=Structure(tuple, (value, aux)))
