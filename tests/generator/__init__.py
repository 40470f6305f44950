"""Hypothesis writes whole programs: a module with a function `f`, and its arguments.

    >>> program = hypothesis.find(programs("loops"), lambda p: "while" in p.source)
    >>> print(program.source)

What is drawn is the program itself, one small choice at a time and the simplest first,
so hypothesis shrinks a failing program to the few lines that matter.

Programs are numerically tame, because their derivatives are held against differences.
A name keeps its kind for life: "float" and "complex" lie within a radius of 3, "sum"
and "total" are what loops add to. Each template below maps such values to such a value,
hardly enlarging differences, and moves the argument of a function into its domain.
"""

from __future__ import annotations

import warnings
from random import Random
from typing import Any

import numpy as np
from hypothesis import strategies as st

from generator.arrays import ArrayWriter, called_by_templates
from generator.lists import ListWriter
from generator.stores import StoreWriter
from generator.words import ROWS, Profile, Program
from generator.writer import Writer

__all__ = [
    "PROFILES", "ROWS", "Program", "called_by_templates", "programs", "written",
]  # fmt: skip

PROFILES = {
    "branches": Profile(
        statements="branch branch branch leave",
        numbers="choice either truth",
        kinds="float int bool",
        args="float",
        helpers=1,
    ),
    "loops": Profile(
        statements="counted counted until until over augment escape escape escape",
        numbers="whole element",
        kinds="float float int array",
        args="float array",
        helpers=1,
    ),
    "functions": Profile(
        statements="inner bind results_of pair",
        numbers="called called",
        kinds="float float bool array",
        args="float",
        helpers=3,
    ),
    "vectors": Profile(
        statements="over over counted",
        numbers="element element reduced reduced",
        kinds="float array array int",
        args="array array matrix float",
        helpers=2,
    ),
    "arrays": Profile(
        statements=f"{'array_assign ' * 12} {'over_rows ' * 4} taken_apart",
        numbers=f"{'made_number ' * 14}",
        kinds="float float int",
        args="",
        helpers=2,
    ),
    "stores": Profile(
        statements=f"{'store ' * 30} {'store_whole ' * 8} {'view ' * 12} "
        f"{'alias ' * 5} {'array_assign ' * 4} {'copied ' * 4} {'exchange ' * 5} "
        f"{'stencil ' * 8} {'buffered ' * 5} {'call_for_effect ' * 12} "
        f"{'store_by_call ' * 24} {'name_of_output ' * 4} "
        f"{'view_of_call ' * 4} over_rows over_rows inner inner",
        numbers=f"{'made_number ' * 10} element element",
        kinds="float float int",
        args="",
        helpers=2,
    ),
    "lists": Profile(
        statements=f"{'list_begun ' * 14} {'list_changed ' * 60} {'list_loop ' * 24} "
        f"{'popped ' * 8} {'list_alias ' * 14} {'list_exchange ' * 4} "
        f"{'list_named_array ' * 8} {'call_for_effect ' * 12} {'list_of_call ' * 4} "
        f"{'array_assign ' * 3} {'store ' * 6} over_rows inner inner branch branch",
        numbers=f"{'list_number ' * 18} made_number made_number made_number",
        kinds="float float int",
        args="",
        helpers=2,
    ),
    "complex": Profile(
        statements="assign augment",
        numbers="part part part",
        kinds="complex complex float",
        args="complex float",
        helpers=2,
    ),
}


WRITERS = {"arrays": ArrayWriter, "stores": StoreWriter, "lists": ListWriter}


def programs(name: str) -> st.SearchStrategy[Program]:
    """The programs of a profile.

    They are drawn through `randoms`, because of what it leaves out: hypothesis follows
    each example with five in which it repeats a part that a strategy has drawn, and
    so would try few programs many times.
    """
    return st.randoms().map(lambda random: written(random, name))


def written(random: Random, name: str) -> Program:
    """One program of a profile, drawn again where NumPy refuses it."""
    writer = WRITERS.get(name)
    if writer is None:
        return Writer(random, PROFILES[name]).program()
    while not runs(program := writer(random, PROFILES[name]).program()):
        pass
    return program


def runs(program: Program) -> bool:
    """Whether NumPy runs a program, without a warning."""
    space: dict[str, Any] = {}
    try:
        with np.errstate(all="raise", under="ignore"), warnings.catch_warnings():
            warnings.simplefilter("error")
            exec(program.source, space)
            return bool(np.isfinite(space["f"](*program.given)))
    except (ArithmeticError, IndexError, TypeError, ValueError, Warning):
        return False
