"""A program in the course of its transforms, with the structure the user sees.

    Derived(f(x, y), result value)  -- grad -->  Derived(f_grad(x, y), result x_bar)

The transforms of `transform` know flat functions; here stand argnums, has_aux, what may
be differentiated at all, and results in the structure of their arguments.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import gast

from gradwright.transform.batch import Batched
from gradwright.transform.build import Builder, constant
from gradwright.transform.core import (
    Alloc,
    Buffer,
    Const,
    Function,
    Operand,
    Value,
)
from gradwright.transform.errors import NotDifferentiable, UnsupportedSyntax
from gradwright.transform.indices import Linear, linear
from gradwright.transform.language import parameters
from gradwright.transform.reverse import Split
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
from gradwright.transform.structure import item_name
from gradwright.transform.types import Type


@dataclass(eq=False)
class Derived:
    """A core function in the course of its transforms.

    arguments: what each argument of the user's call stands for, in order.  result: the
    structure of the results; its operands are the function's results, in order.  fits:
    by position among these, the type of the argument whose gradient stands there.
    split: the halves, once the transform is vjp.  batched: what a vmap, where that was
    the last transform, takes for granted.  whole: functions are written out where they
    are called, as machine code wants it.  compiled: it becomes machine code.
    threads: how many may share the samples.  side_by_side: samples that loop are to
    stand so.  notes: what the emitted source says at its head.  is_lifted: arrays have
    one more axis, of samples or directions, and nothing is reported.
    """

    function: Function
    arguments: list[Any]
    result: Any
    source: Source
    fits: dict[int, Type] = field(default_factory=dict)
    split: Split | None = None
    batched: Batched | None = None
    whole: bool = False
    compiled: bool = False
    threads: int = 1
    side_by_side: bool = True
    notes: tuple[str, ...] = ()
    is_lifted: bool = False

    def functions(self) -> list[Function]:
        """The function, or its two halves."""
        if self.split is not None:
            return [self.split.forward, self.split.backward]
        return [self.function]


@dataclass(eq=False)
class Gradient:
    """A gradient in the structure of the results, and the argument it belongs to."""

    operand: Operand
    like: Value | Type


def check_result(d: Derived) -> None:
    """What is neither a number, an array nor an object from outside cannot come out."""
    for leaf in leaves(d.result):
        if not is_operand(leaf) and not isinstance(leaf, Static):
            raise UnsupportedSyntax(
                f"{d.source.name} returns {describe(leaf)}",
                at=d.source.location(last_return(d.source)),
                instead="numbers, arrays, and tuples, lists and dicts of these",
            )


# ---- arguments ---------------------------------------------------------------------


def per_argument(d: Derived, step: Step, bars: dict[Any, Any]) -> Any:
    """Gradients in the structure of their arguments; a tuple where argnums is one."""
    chosen = [
        mapped(lambda leaf: bars.get(leaf, leaf), d.arguments[k])
        for k in positions(step)
    ]
    return (
        Structure(tuple, tuple(chosen))
        if isinstance(step.argnums, tuple)
        else chosen[0]
    )


def positions(step: Step) -> tuple[int, ...]:
    """The arguments that are differentiated, as a tuple."""
    if step.argnums is None:
        return ()
    return step.argnums if isinstance(step.argnums, tuple) else (step.argnums,)


def differentiated(d: Derived, step: Step) -> list[Value]:
    """The parameters that a gradient is taken of, each once; ints are refused."""
    wrt: dict[Value, None] = {}
    for k in positions(step):
        if not -len(d.arguments) <= k < len(d.arguments):
            raise NotDifferentiable(
                f"argnums={step.argnums} asks for argument {k}, and {d.source.name} "
                f"was called with {len(d.arguments)}"
            )
        for path, leaf in _named(d.arguments[k], _name_of(d, k)):
            if isinstance(leaf, Static) and isinstance(d.arguments[k], Structure):
                continue
            if (
                step.allow_int
                and isinstance(leaf, Linear | Value)
                and not is_inexact(leaf)
            ):
                continue
            if not is_inexact(leaf) or (step.holomorphic and not leaf.type.is_complex):
                raise _not_differentiable(d, step, k, path, leaf)
            wrt[leaf] = None
    return list(wrt)


def _named(a: Any, name: str) -> Iterator[tuple[str, Any]]:
    """The leaves of an argument, and how a user asks for each."""
    if isinstance(a, Structure):
        for label, item in zip(a.labels, a.items, strict=True):
            yield from _named(item, item_name(a, name, label))
    else:
        yield name, a


def _name_of(d: Derived, k: int) -> str:
    names = [p.id for p in parameters(d.source.node)]
    return names[k] if k < len(names) else f"argument {k}"


def _not_differentiable(
    d: Derived, step: Step, k: int, path: str, leaf: Any
) -> NotDifferentiable:
    """The error for an argument, or something in it, that has no derivative."""
    is_inside = isinstance(d.arguments[k], Structure)
    where = f"where {path} is" if is_inside else "which is"
    what = describe(leaf)
    words = "only float and complex numbers can be differentiated"
    instead = "a float in its place, or argnums without it"
    if isinstance(leaf, Const) and leaf.type.is_number:
        what = "static"
        words = "its value is a part of the program"
        instead = "the argument without static_argnums"
    elif is_inexact(leaf):
        words = "a holomorphic derivative is of complex numbers"
        instead = "complex numbers, or the call without holomorphic=True"
    elif isinstance(leaf, Linear | Value):
        instead = "2.0 for 2, or x.astype(float) for an array"
        if is_inside and step.kind in ("grad", "value_and_grad"):
            instead += "; or allow_int=True, for a zero beside it"
    return NotDifferentiable(
        f"{step.kind} of {d.source.name} with respect to argument {k}, "
        f"{where} {what}: {words}",
        at=d.source.location(d.source.node),
        instead=instead,
    )


def zeros_of_ints(d: Derived, step: Step, f: Function) -> dict[Any, Any]:
    """The zeros that stand beside ints and bools, of their kind."""
    zeros: dict[Any, Any] = {}
    builder = Builder()
    builder.adjoint = True
    with builder.nested(f.body):
        for k in positions(step):
            for leaf in leaves(d.arguments[k]):
                if isinstance(leaf, Linear):
                    zeros[leaf] = linear(0)
                elif isinstance(leaf, Value) and not leaf.type.is_inexact:
                    zeros[leaf] = _zero_like(builder, leaf)
    return zeros


def _zero_like(builder: Builder, leaf: Value) -> Any:
    t = leaf.type
    if t.is_array:
        zeros = Buffer(f"{leaf.name}_bar", t, leaf)
        builder.add(Alloc(zeros))
        return builder.element(zeros, (), t, zeros.name)
    zero = constant(False) if t.is_bool else linear(0)
    return zero if t.python else Gradient(zero, leaf)


def inexact_parameters(d: Derived) -> list[Value]:
    """The float and complex numbers and arrays among the arguments."""
    return [leaf for a in d.arguments for leaf in leaves(a) if is_inexact(leaf)]


def is_inexact(leaf: Any) -> bool:
    """Whether it is a float or complex number or array of the run."""
    return isinstance(leaf, Value) and leaf.type.is_inexact


# ---- results -----------------------------------------------------------------------


def with_aux(d: Derived, step: Step) -> tuple[Any, Any]:
    """The result to differentiate, and what comes out beside it."""
    if not step.has_aux:
        return d.result, Static(None)
    pair = d.result
    if not (isinstance(pair, Structure) and len(pair.items) == 2):
        raise not_scalar(d, step, describe(pair), " has_aux needs a pair (value, aux)")
    return pair.items[0], pair.items[1]


def arranged(d: Derived, f: Function, result: Any) -> Derived:
    """The function with its results in the order in which their structure has them."""
    fits: dict[int, Type] = {}
    results: list[Any] = []
    for leaf in leaves(result):
        if isinstance(leaf, Gradient):
            like = leaf.like
            fits[len(results)] = like.type if isinstance(like, Value) else like
            results.append(leaf.operand)
        elif is_operand(leaf):
            results.append(leaf)
    if len(results) != len(f.results) or any(
        a is not b for a, b in zip(results, f.results, strict=True)
    ):
        f = replace(f, results=results)
    result = mapped(lambda a: a.operand if isinstance(a, Gradient) else a, result)
    return replace(d, function=f, result=result, fits=fits)


def not_scalar(d: Derived, step: Step, what: str, more: str = "") -> NotDifferentiable:
    """The error for a result that a gradient cannot be taken of."""
    return NotDifferentiable(
        f"{step.kind} needs a function that returns one real number, "
        f"and {d.source.name} returns {what}.{more}",
        at=d.source.location(last_return(d.source)),
        instead="a single float as the result, or jvp or vjp of the function as it is",
    )


def not_holomorphic(d: Derived, step: Step, value: Any) -> NotDifferentiable:
    """The error for a real result where a complex derivative is asked for."""
    return NotDifferentiable(
        f"{step.kind} with holomorphic=True needs a function that returns complex "
        f"numbers, and {d.source.name} returns {describe(value)}",
        at=d.source.location(last_return(d.source)),
        instead="a complex result, or the call without holomorphic=True",
    )


def last_return(source: Source) -> Any:
    """The statement that an error about a result shows."""
    found = [n for n in gast.walk(source.node) if isinstance(n, gast.Return)]
    return found[-1] if found else source.node
