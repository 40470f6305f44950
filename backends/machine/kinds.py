"""Kinds: numbers as others, and taken apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gradwright.backends.machine.operations import (
    OPERATIONS,
    Work,
    as_kind,
    operation,
)
from gradwright.backends.machine.scalars import (
    BIT,
    Refused,
    Register,
    Scalar,
    convert,
    number,
    truth_value,
)
from gradwright.transform.primitives.structural import CAST, CONJUGATE, NAMED, STOPPED
from gradwright.transform.types import (
    COMPLEX,
    Type,
)


@operation(NAMED, STOPPED)
def itself(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    """The number itself."""
    return operands[0]


@operation(CAST)
def cast(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    """The number as another kind."""
    (x,) = operands
    if x.type.is_complex and not out.is_complex:
        raise Refused("a complex number as a real one")
    return as_kind(w, x, out) if not out.python else convert(w.b, x, out)


@operation(
    float, np.float64, np.float32, np.float16, complex, np.complex128, np.complex64,
    np.int8, np.int16, np.int32, np.int64,
)  # fmt: skip
def as_number(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    """The number as the kind that is called, or a complex one of two."""
    if len(operands) == 2:
        x, y = (convert(w.b, v, COMPLEX) for v in operands)
        return Scalar(
            out,
            (
                w.b.fsub(x.parts[0], y.parts[1]),
                w.b.fadd(x.parts[1], y.parts[0]),
            ),
        )
    return cast(w, out, operands)


@operation(np.conjugate, CONJUGATE)
def conjugate(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    """The complex conjugate."""
    (x,) = operands
    if len(x.parts) == 1:
        return x
    return Scalar(x.type, (x.parts[0], w.b.fneg(x.parts[1])))


@operation(np.real)
def real(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    """The real part."""
    (x,) = operands
    return replace(x, type=out, parts=x.parts[:1]) if len(x.parts) == 2 else x


@operation(np.imag)
def imag(w: Work, out: Type, operands: tuple[Scalar, ...]) -> Scalar:
    """The imaginary part."""
    (x,) = operands
    if len(x.parts) == 2:
        return replace(x, type=out, parts=x.parts[1:])
    return number(0, out)


def _has_no_imaginary_part(w: Work, x: Scalar) -> Register:
    if len(x.parts) == 1:
        return BIT(1)
    return w.b.fcmp_ordered("==", x.parts[1], x.parts[1].type(0.0))


OPERATIONS[np.isreal] = lambda w, out, given: truth_value(
    _has_no_imaginary_part(w, given[0]), out
)
OPERATIONS[np.iscomplex] = lambda w, out, given: truth_value(
    w.b.not_(_has_no_imaginary_part(w, given[0])), out
)


OPERATIONS[np.isrealobj] = lambda w, out, given: truth_value(
    BIT(len(given[0].parts) == 1), out
)
OPERATIONS[np.iscomplexobj] = lambda w, out, given: truth_value(
    BIT(len(given[0].parts) == 2), out
)
OPERATIONS[np.isscalar] = lambda w, out, given: truth_value(BIT(1), out)
