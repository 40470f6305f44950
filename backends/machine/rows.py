"""Rows: from a row of the table to its operation; functions of C, and formulas."""

from __future__ import annotations

import math

import numpy as np
from llvmlite import ir

from gradwright.backends.machine import (
    arithmetic,
    comparing,
    elementary,
    kinds,
    powers,
    rounding,
    series,
)
from gradwright.backends.machine.operations import (
    OPERATIONS,
    Operation,
    Work,
    check_domain,
    fitted,
    python_kind,
)
from gradwright.backends.machine.scalars import (
    DOUBLE,
    WORD,
    Refused,
    Scalar,
    convert,
    intrinsic,
)
from gradwright.transform.primitives.record import UFUNCS, Primitive
from gradwright.transform.primitives.structural import STOPPED
from gradwright.transform.types import (
    COMPLEX,
    FLOAT,
    INT,
    Type,
)

INT_OF_C, SINGLE = ir.IntType(32), ir.FloatType()
OVERFLOWING = "exp", "exp2", "expm1", "sinh", "cosh"
MODULES = arithmetic, comparing, kinds, powers, rounding  # each enters its own


def find(p: Primitive) -> Operation | None:
    """The operation of a row's callable; None where there is none."""
    if p.kind == "structural" or p is STOPPED:
        return OPERATIONS.get(p)
    if isinstance(p.scalar, str) and p.function not in OPERATIONS:
        return _of_c(p)
    if p.scalar is not None and p.function not in OPERATIONS:
        return _of_formula(p)
    # operators and builtins compute as their ufuncs do, by the rules of the kinds
    return OPERATIONS.get(p.function) or OPERATIONS.get(UFUNCS.get(p.function))


def _of_c(p: Primitive) -> Operation:
    """A row that is one function of C."""
    name = p.scalar
    assert isinstance(name, str)

    def made(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
        if name == "ldexp":
            return _scaled(w, p, operands)
        if isinstance(p.function, np.ufunc):
            given = fitted(w, p.function, operands)
        else:
            kind = COMPLEX if out.is_complex or _is_of_complex(p) else FLOAT
            given = [convert(w.b, x, kind) for x in operands]
        if len(given[0].parts) == 2:
            return _of_complex(w, p, given)
        parts = [x.part for x in given]
        written = series.WRITTEN.get(p.function)
        if written and parts[0].type == DOUBLE and series.has_better(name):
            return Scalar(given[0].type, (written(w.b, *parts),))
        found = Scalar(given[0].type, (elementary.call(w.b, name, *parts),))
        if p.raises or (found.type.python and name in OVERFLOWING):
            check_domain(w, tuple(given), found)
        return found

    return made


def _scaled(w: Work, p: Primitive, operands: tuple[Scalar, ...]) -> Scalar:
    """The product x * 2**n: by a function that takes an int, as no other does."""
    b, ufunc = w.b, isinstance(p.function, np.ufunc)
    x = fitted(w, np.ldexp, operands)[0] if ufunc else convert(b, operands[0], FLOAT)
    n = convert(b, operands[1], INT).part
    few, many = WORD(-4096), WORD(4096)  # beyond these nothing changes any more
    n = b.select(b.icmp_signed("<", n, few), few, n)
    n = b.trunc(b.select(b.icmp_signed(">", n, many), many, n), INT_OF_C)
    name = f"llvm.ldexp.{'f32' if x.part.type == SINGLE else 'f64'}.i32"
    found = Scalar(x.type, (intrinsic(b, name, x.part.type, x.part, n),))
    if not ufunc:
        check_domain(w, (x,), found)
    return found


def _is_of_complex(p: Primitive) -> bool:
    return getattr(p.function, "__module__", "") == "cmath"


def _of_complex(w: Work, p: Primitive, given: list[Scalar]) -> Scalar:
    assert isinstance(p.scalar, str)
    scale = {"log2": math.log(2.0), "log10": math.log(10.0)}.get(p.scalar)
    name = f"c{p.scalar}" if scale is None else "clog"
    if name not in elementary.COMPLEX:
        raise Refused(f"{p.spelling} of complex numbers")
    wide = [convert(w.b, x, COMPLEX) for x in given]
    parts = elementary.call_complex(w.b, name, [x.parts for x in wide])
    if scale is not None:
        real, imag = (w.b.fdiv(part, DOUBLE(scale)) for part in parts)
        parts = real, imag
    found = Scalar(COMPLEX, parts)
    if given[0].type.python:
        check_domain(w, tuple(wide), found)
    return convert(w.b, found, given[0].type)


def _of_formula(p: Primitive) -> Operation:
    """A row that is a formula over other rows."""
    formula = p.scalar
    assert callable(formula)

    def made(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
        given: tuple[Scalar, ...] = operands
        if isinstance(p.function, np.ufunc):
            given = tuple(fitted(w, p.function, operands))
        elif not p.spelling.startswith("np."):  # of Python's numbers, and raises as it
            kinds = (
                COMPLEX if _is_of_complex(p) and out.is_complex else python_kind(x.type)
                for x in operands
            )
            if p.spelling == "cmath.rect":
                kinds = (FLOAT for _ in operands)
            given = tuple(
                convert(w.b, x, t) for x, t in zip(operands, kinds, strict=True)
            )
        return w.formula(formula, given)

    return made
