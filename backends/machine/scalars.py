"""Scalars: the core's numbers in registers and in memory, and what they become.

    np.float64   double          bool, np.bool   i1, in memory i8
    int          i64             complex         two doubles, side by side
    np.float16   float, in memory i16

A Python int is an i64 with the bounds that are known of it, so that only what may
overflow is checked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from llvmlite import ir

from gradwright.backends.machine import half
from gradwright.transform.types import BOOL, INT, Type, numpy_scalar

BIT, BYTE, WORD = ir.IntType(1), ir.IntType(8), ir.IntType(64)
FLOAT, DOUBLE = ir.FloatType(), ir.DoubleType()
POINTER = ir.PointerType()
HALF, SINGLE = np.dtype(np.float16), np.dtype(np.float32)
LEAST, MOST = -(2**63), 2**63 - 1
OF_PYTHON = {
    "bool": "bool",
    "int": "int64",
    "float": "float64",
    "complex": "complex128",
}

Register = Any  # an `ir.Value`; llvmlite has no types


class Refused(Exception):
    """What compiled code cannot do rightly, and what to write instead."""

    def __init__(self, message: str, instead: str | None = None) -> None:
        super().__init__(message)
        self.message, self.instead = message, instead


@dataclass(frozen=True)
class Scalar:
    """A number in registers: one part, or real and imaginary part.

    An int lies between `low` and `high`; `absent` tells where it is None instead.
    """

    type: Type
    parts: tuple[Register, ...]
    low: int = LEAST
    high: int = MOST
    absent: Register | None = None

    @property
    def part(self) -> Register:
        (only,) = self.parts
        return only


def dtype_of(t: Type) -> np.dtype[Any]:
    """The dtype of a number's memory."""
    if not t.is_number:
        raise Refused(f"a value of the kind {t}")
    dtype = np.dtype(OF_PYTHON[t.dtype] if t.python else t.dtype)
    if dtype.char in "gG":
        raise Refused(f"numbers of {dtype}", "float64")
    return dtype


def is_half(t: Type) -> bool:
    """Whether it is NumPy's float16, or None."""
    return t.dtype == HALF.name


def part_type(dtype: np.dtype[Any]) -> Any:
    """The register of one part of a number."""
    if dtype.kind == "b":
        return BIT
    if dtype.kind in "iu":
        return ir.IntType(8 * dtype.itemsize)
    is_double = dtype.itemsize == (16 if dtype.kind == "c" else 8)
    return DOUBLE if is_double else FLOAT


def register_types(t: Type) -> tuple[Any, ...]:
    """The registers of a number; the last one of an optional number is `absent`."""
    dtype = dtype_of(replace(t, optional=False))
    found = (part_type(dtype),) * (2 if dtype.kind == "c" else 1)
    return (*found, BIT) if t.optional else found


def registers(x: Scalar) -> tuple[Register, ...]:
    """All registers of a number, `absent` last where the type is optional."""
    return (*x.parts, x.absent) if x.type.optional else x.parts


def of_registers(t: Type, found: tuple[Register, ...]) -> Scalar:
    """The number of a type in these registers."""
    if t.optional:
        return Scalar(t, found[:-1], absent=found[-1])
    return Scalar(t, found)


def memory_type(dtype: np.dtype[Any]) -> Any:
    """One part of a number in memory."""
    if dtype == HALF:
        return half.SHORT
    return BYTE if dtype.kind == "b" else part_type(dtype)


def number(value: Any, t: Type) -> Scalar:
    """A number that is known."""
    if value is None and t.dtype == "None":
        return Scalar(t, (), absent=BIT(1))
    if value is None:
        parts = tuple(p(0) for p in register_types(t)[:-1])
        return Scalar(t, parts, absent=BIT(1))
    dtype = dtype_of(t)
    if dtype.kind == "c":
        part = part_type(dtype)
        return Scalar(t, (_float(part, value.real), _float(part, value.imag)))
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            value = np.float64(value).astype(dtype).item()
        return Scalar(t, (_float(part_type(dtype), value),))
    value = int(value)
    if not LEAST <= value <= 2**64 - 1 or (t.python and value > MOST):
        raise Refused(f"the int {value}, of more than 64 bits")
    register = part_type(dtype)(value)
    return Scalar(t, (register,), value, value) if t.python else Scalar(t, (register,))


def _float(part: Any, value: float) -> Register:
    """A constant; llvmlite writes NaN and infinities by their bits, too."""
    return part(float(value))


def word(x: Any, low: int = LEAST, high: int = MOST) -> Scalar:
    """A Python int in a register."""
    return Scalar(INT, (x,), low, high)


# ---- conversions -------------------------------------------------------------------


def is_signed(dtype: np.dtype[Any]) -> bool:
    """Whether it is an int with a sign."""
    return dtype.kind == "i"


def intrinsic(b: Any, name: str, result: Any, *arguments: Any) -> Register:
    """The result of an intrinsic of LLVM."""
    module = b.module
    found = module.globals.get(name)
    if found is None:
        kinds = [a.type for a in arguments]
        found = ir.Function(module, ir.FunctionType(result, kinds), name)
    return b.call(found, arguments)


def truth(b: Any, x: Scalar) -> Register:
    """Whether Python takes a number for true."""
    found = _nonzero(b, x.parts[0])
    if len(x.parts) == 2:
        found = b.or_(found, _nonzero(b, x.parts[1]))
    if x.absent is not None:
        found = b.and_(found, b.not_(x.absent))
    return found


def _nonzero(b: Any, part: Register) -> Register:
    if part.type == BIT:
        return part
    if isinstance(part.type, ir.IntType):
        return b.icmp_signed("!=", part, part.type(0))
    return b.fcmp_unordered("!=", part, part.type(0.0))


def convert(b: Any, x: Scalar, to: Type) -> Scalar:
    """A number as one of another kind, as C casts it.

    A part is lost where the other kind has none for it; what is too large wraps.
    """
    if x.type == to and (x.absent is not None or not to.optional):
        return x
    if to.optional:
        absent = x.absent if x.absent is not None else BIT(0)
        if x.type.dtype == "None":
            return number(None, to)
        inner = convert(b, replace(x, absent=None), replace(to, optional=False))
        return Scalar(to, inner.parts, inner.low, inner.high, absent)
    source, target = dtype_of(replace(x.type, optional=False)), dtype_of(to)
    if target.kind == "b":
        return Scalar(to, (truth(b, x),), 0, 1)
    if target.kind == "c":
        parts = tuple(_part(b, p, source, target) for p in x.parts)
        zero = part_type(target)(0.0)
        return Scalar(to, parts if len(parts) == 2 else (parts[0], zero))
    part = _part(b, x.parts[0], source, target)
    if target.kind in "iu" and source.kind in "biu":
        low, high = (0, 1) if source.kind == "b" else (x.low, x.high)
        if not x.type.python and source.kind != "b":
            info = np.iinfo(source)
            low, high = int(info.min), min(int(info.max), MOST)
        return Scalar(to, (part,), low, high) if to == INT else Scalar(to, (part,))
    return Scalar(to, (part,))


def _part(b: Any, part: Register, source: Any, target: Any) -> Register:
    into = part_type(target)
    if target == HALF and not np.can_cast(source, HALF):
        wide = part if source.kind in "fc" else _part(b, part, source, SINGLE)
        return _part(b, half.rounded(b, wide), source, SINGLE)
    if part.type == into:
        return part
    if source.kind == "b":
        is_int = isinstance(into, ir.IntType)
        return b.zext(part, into) if is_int else b.uitofp(part, into)
    if source.kind in "iu":
        if isinstance(into, ir.IntType):
            if into.width < part.type.width:
                return b.trunc(part, into)
            return b.sext(part, into) if is_signed(source) else b.zext(part, into)
        make = b.sitofp if is_signed(source) else b.uitofp
        return make(part, into)
    if isinstance(into, ir.IntType):
        sign = "s" if is_signed(target) else "u"
        kind = "f32" if part.type == FLOAT else "f64"
        name = f"llvm.fpto{sign}i.sat.i{into.width}.{kind}"
        return intrinsic(b, name, into, part)
    return b.fpext(part, into) if into == DOUBLE else b.fptrunc(part, into)


def as_element(b: Any, x: Scalar) -> tuple[Register, ...]:
    """The parts of a number as they stand in memory."""
    if is_half(x.type):
        return (half.stored(b, x.part),)
    return tuple(b.zext(p, BYTE) if p.type == BIT else p for p in x.parts)


def as_words(b: Any, x: Scalar) -> tuple[Register, ...]:
    """The same, ints as wide as a word, and last whether an optional one is None."""
    parts = as_element(b, x)
    if x.type.optional:
        parts = (*parts, x.absent)
    return tuple(_as_word(b, p) for p in parts)


def _as_word(b: Any, part: Register) -> Register:
    if isinstance(part.type, ir.IntType) and part.type != WORD:
        part = (b.zext if part.type == BIT else b.sext)(part, WORD)
    return part


def from_element(b: Any, t: Type, parts: tuple[Register, ...]) -> Scalar:
    """A number from what stands in memory."""
    if is_half(t):
        return Scalar(t, (half.loaded(b, parts[0]),))
    if dtype_of(t).kind == "b":
        return Scalar(t, (b.icmp_unsigned("!=", parts[0], BYTE(0)),), 0, 1)
    return Scalar(t, parts)


def truth_value(bit: Register, t: Type = BOOL) -> Scalar:
    """A bit as Python's or NumPy's bool."""
    return Scalar(t, (bit,), 0, 1)


def numpy_kind(dtype: Any) -> Type:
    """NumPy's scalar of a dtype, which compiled code must have."""
    t = numpy_scalar(dtype)
    dtype_of(t)
    return t
