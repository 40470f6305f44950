"""Reverse mode, core to core: a forward sweep, then the adjoint of every statement.

    y = tanh(w * y)        ->     push(y_tape, y); y = tanh(w * y)         forward sweep
                                  y_bar = w * (y_bar * (1 - y * y))        reverse sweep
                                  y = pop(y_tape)

What the adjoint statements need is found while they are written.  In this order: a
literal or a parameter; a value of the outermost block, which is still there; a cell
read again, where it still holds what it held; a cheap operation done again; else the
value is pushed on a tape.  A store saves what it overwrites only if it may run after a
read that is repeated so; the sweep is written again until that set stops growing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gradwright.transform.build import constant
from gradwright.transform.core import Function, Operand, Tape, Value
from gradwright.transform.reverse.halves import Split, Splits, halved, outer_seeds
from gradwright.transform.reverse.sweep import Sweep

__all__ = ["Split", "gradient", "halves"]


def gradient(
    function: Function, wrt: list[Value], program: Any, value: bool = False
) -> Function:
    """Grad or value_and_grad: the first result is the scalar to differentiate.

    Results: the value (where asked for), the other results (has_aux), the gradients.
    """
    (first, *others) = function.results
    seeds: list[Operand | Tape | None] = [constant(1.0), *(None for _ in others)]
    sweep = Sweep(function, wrt, seeds, Splits(program))
    name = f"{function.name}_{'value_and_grad' if value else 'grad'}"
    results = [*([first] if value else []), *others, *sweep.bars]
    body = [*sweep.forward, *sweep.reverse]
    return replace(function, name=name, body=body, results=results, commented=True)


def halves(function: Function, wrt: list[Value], program: Any) -> Split:
    """vjp: the forward half and the backward half, which may be called again."""
    bars, seeds = outer_seeds(function)
    sweep = Sweep(function, wrt, seeds, Splits(program))
    split = halved(function, sweep, bars)
    split.forward.name = f"{function.name}_forward"
    return split
