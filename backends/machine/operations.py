"""Operations: what each row of the table is on scalars, by the kinds of its operands.

    operator.add of ints       llvm.sadd.with.overflow, and OverflowError
    np.add of int64            add
    operator.truediv of float  fcmp oeq %b, 0.0, and ZeroDivisionError; fdiv

Python's numbers raise where Python raises, NumPy's never do.  An operation only says
*that* it fails: the driver then calls the row's own callable on the operands, which
raises what Python raises, word by word.  A row whose column `scalar` names a function
of C, or gives a formula over other rows, needs nothing here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradwright.backends.machine.floats import (
    is_finite,
    is_nan,
)
from gradwright.backends.machine.scalars import (
    BIT,
    LEAST,
    SINGLE,
    WORD,
    Register,
    Scalar,
    convert,
    dtype_of,
    is_half,
    truth,
)
from gradwright.transform.types import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    Type,
    numpy_scalar,
    promote,
)


@dataclass
class Work:
    """Where an operation is written: the builder, and what it needs of its place.

    fail_if: leaves the kernel where a bit is set.  formula: the result of a formula on
    operands; what fails in it fails here.
    """

    b: Any
    fail_if: Callable[[Register], None]
    formula: Callable[[Callable[..., Any], tuple[Scalar, ...]], Scalar]


EXACT = 2**53  # up to here every int is a double

Operation = Callable[[Work, Type, tuple[Scalar, ...]], Scalar]
OPERATIONS: dict[Any, Operation] = {}


def operation(*functions: Any) -> Callable[[Operation], Operation]:
    """Enter an operation for callables of the table."""

    def enter(made: Operation) -> Operation:
        for f in functions:
            OPERATIONS[f] = made
        return made

    return enter


def loop(ufunc: np.ufunc, operands: tuple[Scalar, ...]) -> tuple[Type, ...]:
    """The kinds with which NumPy computes: of the operands, then of the result."""
    weak = [
        np.dtype(bool) if x.type.python and x.type.dtype == "bool" else x.type.weak()
        for x in operands
    ]
    found = ufunc.resolve_dtypes((*weak, *[None] * ufunc.nout))
    return tuple(numpy_scalar(d) for d in found)


def taken(w: Work, ufunc: np.ufunc, operands: tuple[Scalar, ...]) -> list[Scalar]:
    """The operands as a ufunc takes them."""
    kinds = loop(ufunc, operands)
    return [as_kind(w, x, t) for x, t in zip(operands, kinds, strict=False)]


def fitted(w: Work, ufunc: np.ufunc, operands: tuple[Scalar, ...]) -> list[Scalar]:
    """The operands as a ufunc computes with them: with halves as with floats.

    A result is rounded where it becomes a half again.
    """
    single = numpy_scalar(SINGLE)
    return [
        convert(w.b, x, single) if is_half(x.type) else x
        for x in taken(w, ufunc, operands)
    ]


def as_kind(w: Work, x: Scalar, t: Type) -> Scalar:
    """An operand as a kind of NumPy's; a Python int must fit into it."""
    target = dtype_of(t)
    if x.type == INT and target.kind in "iu":
        info = np.iinfo(target)
        if x.low < info.min:
            w.fail_if(w.b.icmp_signed("<", x.part, WORD(max(int(info.min), LEAST))))
        if x.high > info.max:
            w.fail_if(w.b.icmp_signed(">", x.part, WORD(int(info.max))))
    return convert(w.b, x, t)


def as_python(w: Work, operands: tuple[Scalar, ...]) -> list[Scalar]:
    """Python's operands as one kind of Python's; bools count as ints."""
    kinds = [python_kind(x.type) for x in operands]
    common = promote(*kinds)
    common = INT if common == BOOL else common
    return [convert(w.b, x, common) for x in operands]


def python_kind(t: Type) -> Type:
    """np.float64 and np.complex128 are floats and complex numbers of Python's, too."""
    if t.python:
        return t
    return {"b": BOOL, "i": INT, "u": INT, "f": FLOAT, "c": COMPLEX}[dtype_of(t).kind]


# ---- parts ---------------------------------------------------------------------------


def plain(name: str) -> Callable[..., Register]:
    """An instruction of LLVM on parts."""
    return lambda b, *parts: getattr(b, name)(*parts)


def each(w: Work, t: Type, f: Callable[..., Register], *operands: Scalar) -> Scalar:
    """An operation done on each part alone."""
    columns = zip(*(x.parts for x in operands), strict=True)
    return Scalar(t, tuple(f(w.b, *parts) for parts in columns))


def is_zero(b: Any, x: Scalar) -> Register:
    """Whether it is zero, in all its parts."""
    return b.not_(truth(b, x))


def check_domain(w: Work, operands: tuple[Scalar, ...], result: Scalar) -> None:
    """Python's functions raise where finite numbers give infinity, or numbers NaN.

    Source: math_1 and math_2 of CPython's mathmodule.c.
    """
    b = w.b
    given = [p for x in operands for p in x.parts]
    bad = BIT(0)
    for part in result.parts:
        bad = b.or_(bad, b.not_(is_finite(b, part)))
    fine = BIT(0)
    for p in given:
        fine = b.or_(fine, is_nan(b, p))
    all_finite = BIT(1)
    for p in given:
        all_finite = b.and_(all_finite, is_finite(b, p))
    no_number = BIT(0)
    for part in result.parts:
        no_number = b.or_(no_number, is_nan(b, part))
    wrong = b.and_(b.not_(fine), b.or_(all_finite, no_number))
    w.fail_if(b.and_(bad, wrong))
