"""The map, on one page: from a user's function to the source that runs.

    user function -> source -> normalise -> specialise -> forward | reverse
                  -> simplify -> emit -> backend

`build` takes a transformed function and the kinds of its arguments through all of it.
Transforms nest: the innermost is applied first, and a transform that the program
itself calls goes through `apply`, on the program's own core.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from gradwright.transform import source as sources
from gradwright.transform.core import Function, Value, settle, type_of
from gradwright.transform.emit import Module, emit
from gradwright.transform.errors import NotDifferentiable, UnsupportedSyntax
from gradwright.transform.forward import tangents
from gradwright.transform.reverse import Split, gradient, halves
from gradwright.transform.simplify import own_results, simplify
from gradwright.transform.source import Source
from gradwright.transform.specialise import Specialised, specialise
from gradwright.transform.specialise.abstract import (
    Static,
    Structure,
    describe,
    is_operand,
    leaves,
    mapped,
)
from gradwright.transform.specialise.nested import Step


@dataclass(eq=False)
class Derived:
    """A core function in the course of its transforms.

    arguments: what each argument of the user's call stands for, in order.  result: the
    structure of the results.  split: the halves, once the transform is vjp.
    """

    function: Function
    arguments: list[Any]
    result: Any
    source: Source
    split: Split | None = None

    def functions(self) -> list[Function]:
        """The function, or its two halves."""
        if self.split is not None:
            return [self.split.forward, self.split.backward]
        return [self.function]


@dataclass(eq=False)
class Built:
    """What the entry needs to run a specialisation."""

    derived: Derived
    specialised: Specialised
    module: Module
    backward: Module | None = None


def steps_of(target: Any) -> tuple[Any, list[Step]]:
    """The user's function under nested transforms, and the transforms, innermost first."""
    steps: list[Step] = []
    while hasattr(target, "__gradwright__"):
        steps.insert(0, target.__gradwright__)
        target = target.__wrapped__
    return target, steps


def plain_function(target: Any) -> tuple[types.FunctionType, tuple[Any, ...], dict[str, Any]]:
    """The function with source behind a callable, and the arguments bound to it."""
    if isinstance(target, functools.partial):
        function, args, keywords = plain_function(target.func)
        return function, (*args, *target.args), {**keywords, **target.keywords}
    if isinstance(target, types.MethodType):
        function, args, keywords = plain_function(target.__func__)
        return function, (*args, target.__self__), keywords
    if isinstance(target, functools._lru_cache_wrapper):
        return plain_function(target.__wrapped__)
    if type(target).__module__.startswith("numba.") and hasattr(target, "py_func"):
        return plain_function(target.py_func)
    return target, (), {}


def build(target: Any, source: Source, arguments: dict[str, Any]) -> Built:
    """Take a transformed function through the whole pipeline.

    `arguments` maps the parameters of the user's function to `Type`, `Static` or a
    `Structure` of those.
    """
    _, steps = steps_of(target)
    specialised = specialise(source, arguments, apply)
    derived = Derived(
        specialised.function, call_arguments(specialised, source), specialised.result, source
    )
    for step in steps:
        derived = derive(derived, step)
    for f in derived.functions():
        simplify(f)
        own_results(f)
    return Built(derived, specialised, *emit_derived(derived))


def emit_derived(d: Derived) -> tuple[Module, ...]:
    """The emitted module, or the two of a split."""
    return tuple(emit(f) for f in d.functions())


def call_arguments(specialised: Specialised, source: Source) -> list[Any]:
    """The arguments as a call gives them: those behind a star one by one."""
    star = source.node.args.vararg
    found: list[Any] = []
    for name, a in specialised.arguments.items():
        if star is not None and name == star.id:
            found.extend(a.items)
        else:
            found.append(a)
    return found


def derive(d: Derived, step: Step) -> Derived:
    """One transform, core to core."""
    if step.kind == "jvp":
        return _jvp(d)
    if step.kind == "vjp":
        return _vjp(d)
    return _grad(d, step)


def _grad(d: Derived, step: Step) -> Derived:
    value, aux = _scalar_result(d, step)
    wrt = differentiated(d, step)
    is_value = step.kind == "value_and_grad"
    f = gradient(d.function, wrt, None, value=is_value)
    others = d.function.results[1:]
    gradients = iter(f.results[(1 if is_value else 0) + len(others) :])
    grads = _per_argument(d, step, gradients)
    result: Any = Structure(tuple, (value, grads)) if is_value else grads
    if step.has_aux:
        first = Structure(tuple, (value, aux))
        result = Structure(tuple, (first if is_value else grads, grads if is_value else aux))
    return replace(d, function=f, result=result)


def _per_argument(d: Derived, step: Step, gradients: Any) -> Any:
    """Gradients in the structure of their arguments; a tuple where argnums is one."""

    def fill(leaf: Any) -> Any:
        return next(gradients) if is_operand(leaf) else leaf

    chosen = [mapped(fill, d.arguments[k]) for k in _positions(step)]
    return Structure(tuple, tuple(chosen)) if isinstance(step.argnums, tuple) else chosen[0]


def _positions(step: Step) -> tuple[int, ...]:
    if step.argnums is None:
        return ()
    return step.argnums if isinstance(step.argnums, tuple) else (step.argnums,)


def differentiated(d: Derived, step: Step) -> list[Value]:
    """The parameters that a gradient is taken of; ints and bools are refused."""
    wrt: list[Value] = []
    for k in _positions(step):
        if not -len(d.arguments) <= k < len(d.arguments):
            raise ValueError(
                f"argnums={step.argnums} asks for argument {k} of "
                f"{len(d.arguments)} of {d.source.name}"
            )
        for leaf in leaves(d.arguments[k]):
            if isinstance(leaf, Static) and isinstance(d.arguments[k], Structure):
                continue
            if not isinstance(leaf, Value) or not leaf.type.is_inexact:
                raise NotDifferentiable(
                    f"{step.kind} of {d.source.name} with respect to argument {k}, "
                    f"which is {describe(leaf)}: only float and complex numbers can be "
                    f"differentiated",
                    at=d.source.location(d.source.node),
                    instead="2.0 for 2, or x.astype(float) for an array",
                )
            wrt.append(leaf)
    return wrt


def _scalar_result(d: Derived, step: Step) -> tuple[Any, Any]:
    """(value, aux): the first must be a real scalar."""
    value, aux = d.result, None
    if step.has_aux:
        pair = d.result
        if not (isinstance(pair, Structure) and len(pair.items) == 2):
            raise _not_scalar(d, step, describe(pair), " has_aux needs a pair (value, aux)")
        value, aux = pair.items
    if not is_operand(value):
        raise _not_scalar(d, step, describe(value))
    t = type_of(value)
    if t.is_array and t.dims:
        raise _not_scalar(d, step, f"an array with {len(t.dims)} axes")
    if not t.is_inexact or t.is_complex:
        raise _not_scalar(d, step, describe(value))
    return value, aux


def _not_scalar(d: Derived, step: Step, what: str, more: str = "") -> NotDifferentiable:
    return NotDifferentiable(
        f"{step.kind} needs a function that returns one real number, "
        f"and {d.source.name} returns {what}.{more}",
        at=d.source.location(_last_return(d.source)),
        instead="a single float as the result, or jvp or vjp of the function as it is",
    )


def _last_return(source: Source) -> Any:
    import gast

    found = [n for n in gast.walk(source.node) if isinstance(n, gast.Return)]
    return found[-1] if found else source.node


def _jvp(d: Derived) -> Derived:
    wrt = [leaf for a in d.arguments for leaf in leaves(a) if _is_inexact(leaf)]
    f, dots, results = tangents(settle(d.function), wrt)
    dot_of = dict(zip(wrt, dots, strict=True))
    given = [mapped(lambda leaf: dot_of.get(leaf, Static(None)), a) for a in d.arguments]
    out = iter(results[len(d.function.results) :])
    tangent = mapped(lambda leaf: next(out) if is_operand(leaf) else leaf, d.result)
    arguments = [Structure(tuple, tuple(d.arguments)), Structure(tuple, tuple(given))]
    return replace(
        d, function=f, arguments=arguments, result=Structure(tuple, (d.result, tangent))
    )


def _is_inexact(leaf: Any) -> bool:
    return isinstance(leaf, Value) and leaf.type.is_inexact


def _vjp(d: Derived) -> Derived:
    wrt = [leaf for a in d.arguments for leaf in leaves(a) if _is_inexact(leaf)]
    return replace(d, split=halves(settle(d.function), wrt, None))


def apply(
    function: Function,
    arguments: list[Any],
    result: Any,
    steps: tuple[Step, ...],
    source: Source,
) -> tuple[Function, Any]:
    """Transforms that the program itself calls: its function, and its results."""
    d = Derived(function, arguments, result, source)
    for step in steps:
        d = derive(d, step)
    return d.function, d.result
