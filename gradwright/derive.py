"""One transform, core to core, with the structure of its arguments and results.

    Derived(f(x, y), result value)  -- grad -->  Derived(f_grad(x, y), result x_bar)

`forward` and `reverse` know flat functions; here stand argnums, has_aux, tuples of
arguments, and what may be differentiated at all.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, field, replace
from typing import Any

import gast

from gradwright.transform.build import Builder, constant, row
from gradwright.transform.calls import inline, recalled
from gradwright.transform.core import (
    Const,
    Function,
    If,
    Operand,
    Raise,
    Value,
    type_of,
)
from gradwright.transform.errors import NotDifferentiable, UnsupportedSyntax
from gradwright.transform.forward import tangents
from gradwright.transform.indices import Linear
from gradwright.transform.reverse import Split, gradient, halves
from gradwright.transform.scopes import settle
from gradwright.transform.simplify import simplify
from gradwright.transform.source import Source
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


@dataclass(eq=False)
class Derived:
    """A core function in the course of its transforms.

    arguments: what each argument of the user's call stands for, in order.  result: the
    structure of the results; its operands are the function's results, in order.  fits:
    by position among these, the type of the argument whose gradient stands there.
    split: the halves, once the transform is vjp.
    """

    function: Function
    arguments: list[Any]
    result: Any
    source: Source
    fits: dict[int, Type] = field(default_factory=dict)
    split: Split | None = None

    def functions(self) -> list[Function]:
        """The function, or its two halves."""
        if self.split is not None:
            return [self.split.forward, self.split.backward]
        return [self.function]


def check_result(d: Derived) -> None:
    """What is neither a number, an array nor an object from outside cannot come out."""
    for leaf in leaves(d.result):
        if not is_operand(leaf) and not isinstance(leaf, Static):
            raise UnsupportedSyntax(
                f"{d.source.name} returns {describe(leaf)}",
                at=d.source.location(_last_return(d.source)),
                instead="numbers, arrays, and tuples and lists of these",
            )


def derive(d: Derived, step: Step) -> Derived:
    """One transform, core to core."""
    d = _simplified(d)
    if step.kind == "jvp":
        return _jvp(d, step)
    if step.kind == "vjp":
        return _vjp(d, step)
    return _grad(d, step)


def _simplified(d: Derived) -> Derived:
    """The function simplified, and its results again in their structure."""
    function = recalled(inline(simplify(d.function)))
    results = iter(function.results)
    result = mapped(lambda a: next(results) if is_operand(a) else a, d.result)
    return replace(d, function=function, result=result)


@dataclass(eq=False)
class _Gradient:
    """A gradient in the structure of the results, and the argument it belongs to."""

    operand: Operand
    like: Value


def _grad(d: Derived, step: Step) -> Derived:
    value, aux = _scalar_result(d, step)
    wrt = differentiated(d, step)
    is_value = step.kind == "value_and_grad"
    f = gradient(settle(d.function), wrt, None, value=is_value)
    others = d.function.results[1:]
    bars: list[Any] = f.results[(1 if is_value else 0) + len(others) :]
    grads = _per_argument(d, step, dict(zip(wrt, bars, strict=True)))
    result: Any = Structure(tuple, (value, grads)) if is_value else grads
    if step.has_aux:
        first = Structure(tuple, (value, aux))
        result = Structure(
            tuple, (first if is_value else grads, grads if is_value else aux)
        )
    return arranged(d, f, result)


def arranged(d: Derived, f: Function, result: Any) -> Derived:
    """The function with its results in the order in which their structure has them."""
    fits: dict[int, Type] = {}
    results: list[Any] = []
    for leaf in leaves(result):
        if isinstance(leaf, _Gradient):
            fits[len(results)] = leaf.like.type
            results.append(leaf.operand)
        elif is_operand(leaf):
            results.append(leaf)
    if len(results) != len(f.results) or any(
        a is not b for a, b in zip(results, f.results, strict=True)
    ):
        f = replace(f, results=results)
    result = mapped(lambda a: a.operand if isinstance(a, _Gradient) else a, result)
    return replace(d, function=f, result=result, fits=fits)


def _per_argument(d: Derived, step: Step, bars: dict[Any, Operand]) -> Any:
    """Gradients in the structure of their arguments; a tuple where argnums is one."""

    def fill(leaf: Any) -> Any:
        return _Gradient(bars[leaf], leaf) if leaf in bars else leaf

    chosen = [mapped(fill, d.arguments[k]) for k in _positions(step)]
    return (
        Structure(tuple, tuple(chosen))
        if isinstance(step.argnums, tuple)
        else chosen[0]
    )


def _positions(step: Step) -> tuple[int, ...]:
    if step.argnums is None:
        return ()
    return step.argnums if isinstance(step.argnums, tuple) else (step.argnums,)


def differentiated(d: Derived, step: Step) -> list[Value]:
    """The parameters that a gradient is taken of, each once; ints are refused."""
    wrt: dict[Value, None] = {}
    for k in _positions(step):
        if not -len(d.arguments) <= k < len(d.arguments):
            raise NotDifferentiable(
                f"argnums={step.argnums} asks for argument {k}, and {d.source.name} "
                f"was called with {len(d.arguments)}"
            )
        for leaf in leaves(d.arguments[k]):
            if isinstance(leaf, Static) and isinstance(d.arguments[k], Structure):
                continue
            if not isinstance(leaf, Value) or not leaf.type.is_inexact:
                is_number = isinstance(leaf, Linear | Value)
                raise NotDifferentiable(
                    f"{step.kind} of {d.source.name} with respect to argument {k}, "
                    f"which is {describe(leaf)}: only float and complex numbers can be "
                    f"differentiated",
                    at=d.source.location(d.source.node),
                    instead="2.0 for 2, or x.astype(float) for an array"
                    if is_number
                    else "a float in its place, or argnums without it",
                )
            wrt[leaf] = None
    return list(wrt)


def _scalar_result(d: Derived, step: Step) -> tuple[Any, Any]:
    """(value, aux): the first must be a real scalar."""
    value, aux = _with_aux(d, step)
    if not is_operand(value):
        raise _not_scalar(d, step, describe(value))
    t = type_of(value)
    if t.optional:
        _refuse_none(d, step, value)
    if t.is_array and t.dims:
        raise _not_scalar(d, step, f"an array with {len(t.dims)} axes")
    if not t.is_inexact or t.is_complex:
        raise _not_scalar(d, step, describe(value))
    return value, aux


def _with_aux(d: Derived, step: Step) -> tuple[Any, Any]:
    """The result to differentiate, and what comes out beside it."""
    if not step.has_aux:
        return d.result, Static(None)
    pair = d.result
    if not (isinstance(pair, Structure) and len(pair.items) == 2):
        raise _not_scalar(d, step, describe(pair), " has_aux needs a pair (value, aux)")
    return pair.items[0], pair.items[1]


def _refuse_none(d: Derived, step: Step, value: Any) -> None:
    """A result that may be None is a number here, or the call raises."""
    builder = Builder()
    builder.where = d.source.location(_last_return(d.source))
    text = f"{step.kind} needs one real number, and {d.source.name} returned None"
    with builder.nested(d.function.body):
        is_none = builder.let(row(operator.is_, 2), value, Const(None, NONE), type=BOOL)
        builder.add(If(is_none, [Raise(TypeError, (constant(text),))], []))


def _not_scalar(d: Derived, step: Step, what: str, more: str = "") -> NotDifferentiable:
    return NotDifferentiable(
        f"{step.kind} needs a function that returns one real number, "
        f"and {d.source.name} returns {what}.{more}",
        at=d.source.location(_last_return(d.source)),
        instead="a single float as the result, or jvp or vjp of the function as it is",
    )


def _last_return(source: Source) -> Any:
    found = [n for n in gast.walk(source.node) if isinstance(n, gast.Return)]
    return found[-1] if found else source.node


def _jvp(d: Derived, step: Step) -> Derived:
    wrt = _inexact_parameters(d)
    value, aux = _with_aux(d, step)
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


def _inexact_parameters(d: Derived) -> list[Value]:
    return [leaf for a in d.arguments for leaf in leaves(a) if _is_inexact(leaf)]


def _is_inexact(leaf: Any) -> bool:
    return isinstance(leaf, Value) and leaf.type.is_inexact


def _vjp(d: Derived, step: Step) -> Derived:
    """The halves; the forward one returns the value, then what comes beside it."""
    value, aux = _with_aux(d, step)
    seeded = [leaf for leaf in leaves(value) if is_operand(leaf)]
    beside = [leaf for leaf in leaves(aux) if is_operand(leaf)]
    function = settle(d.function)
    if step.has_aux:
        function = replace(function, results=seeded)
    split = halves(function, _inexact_parameters(d), None)
    if step.has_aux:
        results = [*seeded, *beside, *split.forward.results[len(seeded) :]]
        split.forward = replace(split.forward, results=results)
    return replace(d, split=split, result=Structure(tuple, (value, aux)))
