"""Every row that takes arrays, compiled: as loops in Python and as machine code.

The samples are those of the table, so that a new row is tested by being there. What
comes out is held against NumPy called on the same operands.
"""

import re
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from lowered import assert_alike, in_both, in_python
from test_array_primitives import (
    LAYOUTS,
    ROWS,
    SHORT,
    Program,
    all_kinds,
    in_single,
    over_rows,
    plainly,
    programs,
    resized,
    runs,
)

import gradwright as gw
from gradwright.transform.errors import CompileWarning
from gradwright.transform.lowering import lower
from gradwright.transform.lowering.arrays import RULES
from gradwright.transform.lowering.views import VIEWS
from gradwright.transform.primitives.record import TABLE, Primitive

# Rows that are calls of NumPy on whole arrays, which stand in memory.
LIBRARY = """
    np.argsort np.sort np.searchsorted np.median np.quantile np.argmax np.argmin np.ptp
    np.interp np.kron np.cross np.convolve np.correlate np.indices
    np.fft.fft np.fft.ifft np.fft.rfft np.fft.irfft np.fft.fftn np.fft.ifftn
    np.fft.fft2 np.fft.ifft2 np.fft.rfftn np.fft.rfft2 np.fft.irfftn np.fft.irfft2
    np.fft.fftshift np.fft.ifftshift np.fft.fftfreq np.fft.rfftfreq
    np.linalg.multi_dot np.linalg.solve np.linalg.inv np.linalg.pinv np.linalg.det
    np.linalg.slogdet np.linalg.cholesky np.linalg.eigh np.linalg.eigvalsh
    np.linalg.svd np.linalg.qr np.linalg.norm
""".split()

MOST = 16  # samples of a row in one program of machine code
LENGTHS = 2  # the samples of a row that are tried with other lengths


def test_every_row_is_lowered() -> None:
    """By a rule, as a view, in loops of its own; or it is a call, and is named so."""
    assert lower.lower
    known = {*RULES, *VIEWS, *TABLE.loops}
    rows = [p for p in ROWS if p.kind != "composition"]
    calls = [p.spelling for p in rows if p.function not in known]
    assert sorted(calls) == sorted(LIBRARY)


def compiled(program: Program, runner: Any) -> Any:
    """What the compiled call gives; all of it has machine code."""
    with warnings.catch_warnings(), runner() as made:
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", CompileWarning)
        try:
            return gw.jit(program.function())(*program.inputs)
        except Exception as error:
            error.add_note("\n\n".join([program.call, *(p.text for p in made)]))
            raise


def assert_as_numpy(program: Program, runner: Any = in_python) -> None:
    assert_alike(compiled(program, runner), plainly(program), program.call)


def in_dtypes(p: Primitive) -> Iterator[Program]:
    """The samples, with complex numbers, and all that in single and half precision."""
    for program in all_kinds(p):
        yield program
        if any(np.asarray(x).dtype.name in SHORT for x in program.operands):
            yield program.of(in_single)
        halves = program.of(in_half)
        if any(np.asarray(x).dtype == np.float16 for x in halves.operands):
            if runs(halves):  # linear algebra takes none
                yield halves


def in_half(x: Any) -> Any:
    """Doubles as halves."""
    x = np.asarray(x)
    return (x.astype(np.float16) if x.dtype == np.float64 else x)[()]


@over_rows(ROWS)
def test_values_in_loops(p: Primitive) -> None:
    for program in in_dtypes(p):
        assert_as_numpy(program)


# NumPy counts nothing in int64, whatever the type of its weights.
TYPE_BY_LENGTH = {"np.bincount"}


@over_rows(ROWS)
def test_values_of_lengths_0_and_1(p: Primitive) -> None:
    for sample in programs(p)[:LENGTHS]:
        for program in resized(sample):
            if any(x is None for x in program.operands) or not runs(program):
                continue
            if p.spelling in TYPE_BY_LENGTH and not all(map(np.size, program.operands)):
                continue
            assert_as_numpy(program)


@over_rows([p for p in ROWS if p.samples])
def test_operands_of_every_layout(p: Primitive) -> None:
    """Of one machine code, and of that for the way in which they lie."""
    program = programs(p)[0]
    if not any(np.ndim(x) for x in program.operands):
        return
    for change in LAYOUTS.values():
        other = program.of(lambda x, change=change: change(x) if np.ndim(x) else x)
        assert_as_numpy(other)


def together(p: Primitive, kinds: list[Program]) -> Program:
    """All samples in one program, which is compiled once."""
    calls, operands = [], []
    for program in kinds:
        first = len(operands)
        calls.append(
            re.sub(r"\bx(\d+)\b", lambda m: f"x{int(m[1]) + first}", program.call)
        )
        operands += program.operands
    return Program(p, f"({', '.join(calls)},)", operands)


@over_rows(ROWS)
def test_values_in_machine_code(p: Primitive) -> None:
    kinds = [q for q in in_dtypes(p) if compiles(q)][:MOST]
    if not kinds:
        return
    program = together(p, kinds)
    for change in (lambda x: x, LAYOUTS["backwards"]):
        other = program.of(lambda x, change=change: change(x) if np.ndim(x) else x)
        assert_as_numpy(other, in_both)


def compiles(program: Program) -> bool:
    """Whether a call is none of those that have no machine code yet."""
    if program.p.spelling in ("np.max", "np.min", "np.amax", "np.amin"):
        return not any(np.iscomplexobj(x) for x in program.operands)
    return program.p.spelling != "np.vecdot" or "axis" not in program.call
