"""Rules that users wrote themselves, as the transforms take them.

    f, with f.defjvp(rule)      ->   Call f_jvp(x, x_dot), which calls the rule
    f, with f.defvjp(fwd, bwd)  ->   Call f_forward(x) -> y, residuals
                                     Call f_backward(residuals, y_bar) -> x_bar

    f, with f.def_vmap(rule)    ->   Call rule(size, x_batch) -> y_batch

A function of the program has them as `custom`, and the last as `batching`; whoever
differentiates a call of it asks here in the place of its body.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gradwright.transform.build import constant, own_value, row
from gradwright.transform.core import (
    Call,
    Function,
    Let,
    List,
    Operand,
    Statement,
    Tape,
    Value,
    type_of,
)
from gradwright.transform.errors import (
    Location,
    NotDifferentiable,
    UnsupportedSyntax,
)
from gradwright.transform.indices import Linear
from gradwright.transform.types import INT


@dataclass(eq=False)
class Rule:
    """A rule as a function: which operands it takes, and where its results stand.

    given: for each operand what it is: a parameter's position, ("dot", position),
    ("residual", k) or ("bar", k).  outs: the rule's results, in the order in which they
    are asked for; None is zero.  equal: lengths that it takes to be so, of its
    parameters.
    """

    function: Function
    given: list[Any]
    outs: list[Operand | None]
    equal: list[tuple[Linear, Linear]] = field(default_factory=list)


@dataclass(eq=False)
class Custom:
    """The rules of one function; the first `count` parameters are its arguments.

    jvp: gives every result, and then the tangent of every result.  fwd: every result,
    and then the residuals.  bwd: a cotangent for every argument.
    """

    name: str
    count: int
    where: Location | None = None
    jvp: Rule | None = None
    fwd: Rule | None = None
    bwd: Rule | None = None
    fixed: frozenset[int] = frozenset()  # the parameters that are not differentiated
    batched: dict[Any, Function] = field(default_factory=dict)  # for all samples


@dataclass(eq=False)
class Batching:
    """The rule of one function for all samples; the first `count` are its arguments.

    key: of the function and the kinds of this call.  rules: by which of the arguments
    differ from sample to sample, the rule for these; None where there is none at all.
    batched: beside each of these, which of its results differ.
    """

    name: str
    count: int
    where: Location | None = None
    key: Any = None
    rules: dict[tuple[bool, ...], Rule] | None = None
    batched: dict[tuple[bool, ...], list[bool]] = field(default_factory=dict)


class Wanted(Exception):
    """A rule for all samples is needed: specialise again, with it."""

    def __init__(self, key: Any) -> None:
        self.key = key


def has_rules(f: Function) -> bool:
    """Whether a transform does not look into it: the user says what it gives."""
    return f.custom is not None or f.batching is not None


def call_of(
    rule: Rule, operand: Callable[[Any], Any]
) -> tuple[list[Statement], list[Any]]:
    """A call of a rule, and its results; zero where it gives none."""
    outs: list[Value] = []
    for r in rule.function.results:
        outs.append(own_value(getattr(r, "name", "value"), type_of(r)))
    found = dict(zip(map(id, rule.function.results), outs, strict=True))
    operands = tuple(map(operand, rule.given))
    results: list[Any] = [
        None if r is None else as_operand(found[id(r)]) for r in rule.outs
    ]
    return [Call(tuple(outs), rule.function, operands)], results


def as_operand(v: Value) -> Operand:
    """A value as it stands in a statement."""
    return Linear({v: 1}) if v.type == INT else v


def zero_of(v: Any, body: list[Statement]) -> Operand:
    """A zero of the kind of a value."""
    t = type_of(v)
    if not t.dims:
        return constant(0j if t.is_complex else 0.0 if t.is_inexact else 0)
    out = Value(f"{v.name}_zero", t)
    body.append(Let(out, row(np.zeros_like, 1), (v,)))
    return out


def params_of(f: Function) -> tuple[list[Any], list[Any]]:
    """Parameters like those of a function, and operands that stand for them."""
    params = [own_value(p.name, p.type) for p in f.params]
    for p in params:
        p.users = True
    return params, list(map(as_operand, params))


def check_given(f: Function, given: tuple[bool, ...]) -> Custom:
    """Refuse a derivative with respect to what a rule only captures."""
    custom: Custom = f.custom
    if custom.jvp is None and custom.fwd is None:
        raise NotDifferentiable(
            f"{custom.name} is to have a custom derivative, and there is no rule yet",
            at=custom.where,
            instead=f"{custom.name}.defjvp(...) or {custom.name}.defvjp(...)",
        )
    for k, (p, is_given) in enumerate(zip(f.params, given, strict=True)):
        if is_given and k in custom.fixed:
            raise NotDifferentiable(
                f"nondiff_argnums of {custom.name} names '{p.name}', with respect to "
                f"which a derivative is taken",
                at=custom.where,
                instead="stop_gradient of it, or nondiff_argnums without it",
            )
        if is_given and k >= custom.count:
            raise NotDifferentiable(
                f"the custom derivative of {custom.name} captures '{p.name}', and "
                f"gives no derivative with respect to it",
                at=custom.where,
                instead=f"{p.name} as an argument of {custom.name}",
            )
    return custom


def jvp_form(f: Function, given: tuple[bool, ...]) -> Function:
    """The function with tangents for these of its parameters, by its own rule."""
    custom = check_given(f, given)
    if custom.jvp is None:
        raise NotDifferentiable(
            f"{custom.name} has a custom vjp, which forward mode cannot use",
            at=custom.where,
            instead=f"reverse mode; or {custom.name}.defjvp(...) as well",
        )
    params, operands = params_of(f)
    dots = {
        k: own_value(f"{p.name}_dot", p.type)
        for k, (p, g) in enumerate(zip(params, given, strict=True))
        if g
    }
    body: list[Statement] = []

    def operand(place: Any) -> Any:
        if isinstance(place, tuple):
            k = place[1]
            return dots[k] if k in dots else zero_of(params[k], body)
        return operands[place]

    lines, results = call_of(custom.jvp, operand)
    count = len(f.results)
    values, tangents = results[:count], results[count:]
    body += lines
    ends = [
        zero_of(v, body) if t is None else t
        for v, t in zip(values, tangents, strict=True)
    ]
    return replace(
        f,
        name=f"{f.name}_jvp",
        params=[*params, *dots.values()],
        body=body,
        results=[*values, *ends],
        custom=None,
        passes_on=True,
    )


def vjp_halves(
    f: Function, given: tuple[bool, ...]
) -> tuple[Function, Function, list[Any]]:
    """The forward and the backward half by its own rules, and the residuals."""
    custom = check_given(f, given)
    assert custom.fwd is not None and custom.bwd is not None
    params, operands = params_of(f)
    body, results = call_of(custom.fwd, lambda k: operands[k])
    count = len(f.results)
    forward = replace(
        f,
        name=f"{f.name}_forward",
        params=params,
        body=body,
        results=results,
        custom=None,
        passes_on=True,
    )
    residuals = [
        own_value(getattr(r, "name", "residual"), type_of(r)) for r in results[count:]
    ]
    # What the rule captures goes on to the backward half as it is.
    extra = params[custom.count :]
    forward.results = [*results, *operands[custom.count :]]
    extras = [own_value(p.name, p.type) for p in extra]
    bars = {
        k: own_value(f"{getattr(r, 'name', 'value')}_bar", type_of(r))
        for k, r in enumerate(f.results)
        if type_of(r).is_inexact
    }
    likes: dict[int, Any] = {}

    def operand(place: Any) -> Any:
        if isinstance(place, tuple):
            kind, k = place
            return as_operand(residuals[k]) if kind == "residual" else bars[k]
        if place >= custom.count:
            return as_operand(extras[place - custom.count])
        return as_operand(
            likes.setdefault(place, own_value(params[place].name, params[place].type))
        )

    lines, found = call_of(custom.bwd, operand)
    backward_body: list[Statement] = list(lines)
    outs = []
    for k, is_given in enumerate(given):
        if not is_given:
            continue
        bar = found[k]
        if bar is None:
            like = likes.setdefault(k, own_value(params[k].name, params[k].type))
            bar = zero_of(like, backward_body)
        outs.append(bar)
    handed = [operands[k] for k in likes]
    forward.results = [*forward.results, *handed]
    backward = Function(
        f"{f.name}_backward",
        [*residuals, *extras, *likes.values(), *bars.values()],
        backward_body,
        outs,
        filename=f.filename,
        passes_on=True,
    )
    return forward, backward, [*residuals, *extras, *likes.values()]


def halves_of_jvp(
    f: Function,
    given: tuple[bool, ...],
    plain: Callable[[Function, tuple[bool, ...]], Any],
) -> tuple[Function, Function, list[Any]]:
    """The two halves of a function that has a rule for tangents only.

    What that makes of tangents is linear, and its reverse, which `plain` writes, is
    that of the function: in the forward half the tangents are zero.
    """
    form = jvp_form(f, given)
    count, width = len(f.results), len(f.params)
    dots = form.params[width:]
    split = plain(form, (*[False] * width, *[True] * len(dots)))
    params, operands = params_of(f)
    body: list[Statement] = []
    moved = [k for k, g in enumerate(given) if g]
    ends = [zero_of(params[k], body) for k in moved]
    outs = [_like(r) for r in split.forward.results]
    body.append(Call(tuple(outs), split.forward, (*operands, *ends)))
    handed = outs[len(form.results) :]
    every = [*operands, *ends]
    needed = [every[k] for k in split.needed]
    results = [as_operand(v) for v in outs[:count]]
    forward = replace(
        f,
        name=f"{f.name}_forward",
        params=params,
        body=body,
        results=[*results, *handed, *needed],
        custom=None,
        passes_on=True,
    )
    residuals = [_like(r) for r in handed]
    kept = [own_value(getattr(v, "name", "value"), type_of(v)) for v in needed]
    backward_body: list[Statement] = []
    bars = [
        own_value(f"{getattr(r, 'name', 'value')}_bar", type_of(r))
        for r in f.results
        if type_of(r).is_inexact
    ]
    waiting = iter(bars)
    seeds: list[Any] = []
    for k, r in enumerate(form.results):
        t = type_of(r)
        if not t.is_inexact:
            continue
        of_value = type_of(f.results[k % count])
        if k < count or not of_value.is_inexact:
            like = next(b for b in bars if b.type.rank == t.rank) if t.dims else r
            seeds.append(zero_of(like, backward_body))
        else:
            seeds.append(next(waiting))
    found = [own_value("bar", type_of(params[k])) for k in moved]
    given_back = (*residuals, *map(as_operand, kept), *seeds)
    backward_body.append(Call(tuple(found), split.backward, given_back))
    backward = Function(
        f"{f.name}_backward",
        [*residuals, *kept, *bars],
        backward_body,
        [*found],
        filename=f.filename,
        passes_on=True,
    )
    return forward, backward, [*residuals, *kept]


# ---- all samples -------------------------------------------------------------------


def rule_for(f: Function, differ: tuple[bool, ...]) -> tuple[Rule, list[bool]]:
    """The rule of a function whose arguments differ so, and which results do.

    Raises:
        Wanted: It has not been specialised for these.
    """
    batching: Batching = f.batching
    name, count = batching.name, batching.count
    if batching.rules is None:
        raise UnsupportedSyntax(
            f"{name} is to have a rule for vmap, and there is none yet",
            at=batching.where,
            instead=f"{name}.def_vmap(...)",
        )
    assert not any(differ[count:])  # what is captured stands outside of the program
    wanted = differ[:count]
    if wanted not in batching.rules:
        raise Wanted((batching.key, wanted))
    return batching.rules[wanted], batching.batched[wanted]


def _like(r: Any) -> Any:
    """A value, tape or list like a result."""
    if isinstance(r, Tape | List):
        return type(r)(r.name, r.type)
    return own_value(getattr(r, "name", "value"), type_of(r))
