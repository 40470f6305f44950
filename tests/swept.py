"""The two sweeps of a core program written as text, as text again."""

import textwrap
from typing import Any

from written import written

from gradwright.transform.activity import carries
from gradwright.transform.build import constant
from gradwright.transform.core import Function, Statement, Tape
from gradwright.transform.notation import notation
from gradwright.transform.reverse.halves import Splits
from gradwright.transform.reverse.sweep import Sweep


def swept(program: str | Function) -> Sweep:
    """The sweeps of the gradient of the first result, in every inexact parameter."""
    f = written(program) if isinstance(program, str) else program
    wrt = [p for p in f.params if carries(p) and not isinstance(p, Tape)]
    seeds = [constant(1.0), *(None for _ in f.results[1:])]
    return Sweep(f, wrt, seeds, Splits(None))


def forward_of(program: str | Function) -> str:
    """The forward sweep."""
    sweep = swept(program)
    return "\n".join(_lines(sweep.function, sweep.forward, []))


def reverse_of(program: str | Function) -> str:
    """The reverse sweep, and the cotangents that it returns."""
    sweep = swept(program)
    f = sweep.function
    whole = _lines(f, [*sweep.forward, *sweep.reverse], sweep.bars)
    return "\n".join(whole[len(_lines(f, sweep.forward, [])) :])


def _lines(f: Function, body: list[Statement], results: list[Any]) -> list[str]:
    shown = notation(Function(f.name, f.params, body, results)).splitlines()
    lines = textwrap.dedent("\n".join(shown[1:])).splitlines()
    return lines if results else lines[:-1]  # without the return


def text(shown: str) -> str:
    """What a test shows, without the test's own indentation."""
    return textwrap.dedent(shown).strip()
