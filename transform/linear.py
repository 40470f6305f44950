"""Linearised programs, core to core: the primal once, then tangents as often as wanted.

    f_linear_forward(x) -> y, residuals          f_linear(residuals, x_dot) -> y_dot

The function that pulls cotangents back is linear in them.  Its transpose, which its own
reverse sweep is, pushes tangents forward; and whatever that needs of the primal, and of
the pull, is a residual of the first half.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gradwright.transform.core import (
    Function,
    Substitution,
    Tape,
    Value,
    fresh,
    type_of,
)
from gradwright.transform.reverse import Split, halves
from gradwright.transform.scopes import settle
from gradwright.transform.simplify import simplify


def linear_halves(function: Function, wrt: list[Value], program: Any) -> Split:
    """The halves of a function whose second one takes tangents of `wrt`.

    That one returns a tangent for each inexact result.
    """
    pulled, bars, outputs = _pulled(function, wrt, program)
    split = halves(pulled, bars, program)
    count = len(pulled.results)
    seeded = [r for r in outputs if not isinstance(r, Tape) and type_of(r).is_inexact]
    # Whatever is linear in the cotangents does not depend on them: the results are as
    # good, where a shape is asked for.
    stand_in = Substitution(dict(zip(bars, seeded, strict=True)))
    residuals, handed, needed = list(split.residuals), split.forward.results[count:], []
    for k in split.needed:
        p = pulled.params[k]
        if p in bars:
            residuals.append(p)
            handed.append(p)
        else:
            needed.append(function.params.index(p))
    forward = replace(
        function,
        name=f"{function.name}_linear_forward",
        body=stand_in.block(split.forward.body),
        results=[*outputs, *map(stand_in.operand, handed)],
    )
    dots = split.backward.params[len(split.residuals) + len(split.needed) :]
    for v in fresh(split.backward.body).mapping:
        v.name = v.name.replace("_bar_bar", "_dot")
    for v, x in zip(dots, wrt, strict=True):
        v.name = f"{x.name}_dot"
    backward = replace(
        split.backward,
        name=f"{function.name}_linear",
        params=[*residuals, *(function.params[k] for k in needed), *dots],
    )
    return Split(forward, backward, residuals, needed, recursive=False)


def _pulled(
    function: Function, wrt: list[Value], program: Any
) -> tuple[Function, list[Any], list[Any]]:
    """One function from arguments and results' cotangents to the arguments' own.

    And those cotangents, and the results themselves as they stand in it.
    """
    split = halves(function, wrt, program)
    handed = split.forward.results[len(function.results) :]
    backward = split.backward
    bars = backward.params[len(split.residuals) + len(split.needed) :]
    residuals = dict(zip(split.residuals, handed, strict=True))
    given = fresh(backward.body, residuals)  # the two halves may share cells
    plain = [p for p in function.params if p not in function.hidden]
    hidden = [p for p in function.params if p in function.hidden]
    pulled = replace(
        function,
        params=[*plain, *bars, *hidden],
        body=[*split.forward.body, *given.block(backward.body)],
        results=[*map(given.operand, backward.results), *function.results],
    )
    settle(simplify(pulled))
    count = len(backward.results)
    outputs, pulled.results = pulled.results[count:], pulled.results[:count]
    return pulled, bars, outputs
