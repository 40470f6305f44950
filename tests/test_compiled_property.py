"""Programs that hypothesis writes, compiled: the same as they are uncompiled.

Each is called, differentiated in reverse and pushed forward; its loops run as plain
Python, and those of every sixth one as machine code too. `make test` takes 300 of them,
always the same; more, and other ones each time, by hand:

    GRADWRIGHT_COMPILED=5000 pytest tests/test_compiled_property.py

Sums are made in another order, and functions are those of C, so that a result may be
off by roundings, which a program of this size enlarges a little. It is held within
1e-12, in single precision 1e-5, of one plus the value and all parts of the gradient:
the sum of the absolute terms that a step of size one adds up.
"""

import copy
import os
import random
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import optree
import pytest
from generator import PROFILES, Program, written
from lowered import in_both, in_python
from test_property import module_of, refusals, toward

import gradwright as gw
from gradwright import CompileWarning

PROGRAMS = int(os.environ.get("GRADWRIGHT_COMPILED", "300"))
MACHINE = 6  # each so many is compiled
PARTS = 2  # of each profile
TOLERANCE, TOLERANCE_OF_SINGLES = 1e-12, 1e-5

# The share of results that may have no machine code, by profile.
MAY_BE_REFUSED = {"branches": 0.05, "complex": 0.05}
OTHERS_MAY_BE_REFUSED = 0.2


class Refused(Exception):
    """What is not compiled, and why."""


def results(program: Program, f: Any, compiled: bool) -> Iterator[tuple[str, Any]]:
    """What a program gives, its gradient, and what it gives when pushed forward."""
    every = (*program.args, *program.options)
    argnums = tuple(range(len(program.args)))
    mine = copy.deepcopy(every)  # a compiled function changes them as itself does
    own = gw.jit(f) if compiled else f
    yield "value", lambda: (own(*mine), *optree.tree_leaves(mine))
    gradient = gw.grad(f, argnums)
    gradient = gw.jit(gradient) if compiled else gradient
    yield "gradient", lambda: gradient(*every)
    yield "tangent", lambda: gw.jvp(own, program.args, toward(program.args))


def check(program: Program, machine: bool) -> Iterator[str]:
    """Compare each result; why there is no machine code, where there is none."""
    with module_of(program) as f, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = {what: run() for what, run in results(program, f, False)}
        size = 1.0 + sum(
            float(np.sum(np.abs(part)))
            for part in (wanted["value"][0], *wanted["gradient"])
        )
        tolerance = TOLERANCE_OF_SINGLES if program.is_single else TOLERANCE
        warnings.simplefilter("error", CompileWarning)
        for what, run in results(program, f, True):
            with (in_both if machine else in_python)() as made:
                try:
                    found = run()
                except CompileWarning as why:
                    yield in_short(why)
                    found = ignoring(run)
                except Exception as error:
                    error.add_note(shown(program, what, made))
                    raise
            for a, b in zip(found, wanted[what], strict=True):
                is_alike = kind(a) == kind(b) and np.shape(a) == np.shape(b)
                off = np.max(np.abs(np.subtract(a, b, dtype=complex)), initial=0.0)
                assert is_alike and off <= tolerance * size, (
                    f"{what}: {a!r} and {b!r} differ by {off:.1e}\n"
                    f"{shown(program, what, made)}"
                )


def ignoring(run: Any) -> Any:
    """What comes where something has no machine code."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        return run()


def kind(a: Any) -> Any:
    """What sort of value it is: branches may give NumPy's numbers and Python's."""
    return type(a) is np.ndarray, np.asarray(a).dtype


def shown(program: Program, what: str, made: list[Any]) -> str:
    """A program, and the loops that are made of it."""
    return "\n\n".join([f"{what} of\n{program!r}", *(p.text for p in made)])


def in_short(error: Any) -> str:
    """The reason of a refusal, without names and numbers."""
    line = str(error).partition("\n")[0].rpartition(": ")[2]
    return re.sub(r"'\w+'|\S*\d\S*", "#", line)[:80]


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("profile", PROFILES)
def test_compiled_programs(profile: str, part: int) -> None:
    count = -(-PROGRAMS // (PARTS * len(PROFILES)))
    start = part if PROGRAMS == 300 else random.randrange(2**32)
    refused: Counter[str] = Counter()
    judged = 0
    for at in range(count):
        program = written(random.Random(f"{start} {at}"), profile)
        try:
            reasons = list(check(program, at % MACHINE == 0))
        except refusals(gw):  # uncompiled, too
            continue
        judged += 3
        refused.update(reasons)
    for reason, times in refused.most_common():
        print(f"{profile}: {times} of {judged} without machine code: {reason}")
    most = MAY_BE_REFUSED.get(profile, OTHERS_MAY_BE_REFUSED) * judged
    assert sum(refused.values()) <= most, f"{dict(refused)} of {judged}"
