"""Arrays: where their elements lie, by layout, and what their memory never overlaps.

    A[i, j], row by row       data + (i * n + j)
    A[i, j], column by column data + (j * m + i)
    A[i, j], strided          data + i * stride_0 + j * stride_1, in bytes

Every buffer has an alias scope of its own, and what is never stored into has one
together: so LLVM knows that a store changes no other array.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import ir

from gradwright.backends.machine.scalars import (
    BYTE,
    WORD,
    Register,
    Scalar,
    as_element,
    dtype_of,
    from_element,
    memory_type,
)
from gradwright.transform.types import Type

ROWS, COLUMNS, STRIDED = "C", "F", "S"
LONGEST = 2**48  # no axis of compiled code is longer, so that sums of lengths fit

# Of NumPy's array objects, where each field lies, in bytes.
DATA, RANK, DIMS, STRIDES, DTYPE, FLAGS = 16, 24, 32, 40, 56, 64
C_CONTIGUOUS, F_CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x2, 0x100, 0x400


def layout_of(a: np.ndarray[Any, Any]) -> str:
    """How an array lies in memory."""
    flags = a.flags
    if flags.aligned and flags.c_contiguous:
        return ROWS
    return COLUMNS if flags.aligned and flags.f_contiguous else STRIDED


@dataclass
class Array:
    """An array in a kernel: its first element, its lengths, and how they lie.

    scope: of the buffer that it is; None where it is never stored into.
    """

    type: Type
    data: Register
    dims: tuple[Register, ...]
    layout: str = ROWS
    strides: tuple[Register, ...] = ()
    scope: Any = None

    @property
    def dtype(self) -> np.dtype[Any]:
        return dtype_of(self.type.element)


class Scopes:
    """The alias scopes of one function."""

    def __init__(self, module: Any, name: str, owned: list[Any]) -> None:
        self.module = module
        domain = module.add_metadata([f"memory of {name}"])
        every = [None, *owned]
        self.scopes = {
            key: module.add_metadata([f"array {k} of {name}", domain])
            for k, key in enumerate(every)
        }
        self.lists: dict[Any, tuple[Any, Any]] = {}

    def mark(self, instruction: Any, key: Any) -> None:
        """Tell of a load or store which arrays it does not touch."""
        if len(self.scopes) == 1:
            return
        found = self.lists.get(key)
        if found is None:
            others = [s for k, s in self.scopes.items() if k is not key]
            found = self.lists[key] = (
                self.module.add_metadata([self.scopes[key]]),
                self.module.add_metadata(others),
            )
        instruction.set_metadata("alias.scope", found[0])
        instruction.set_metadata("noalias", found[1])


def element(b: Any, a: Array, places: list[Register]) -> Register:
    """The address of an element; the places are in bounds and not negative."""
    if a.layout == STRIDED:
        offset: Register = WORD(0)
        for place, stride in zip(places, a.strides, strict=True):
            offset = b.add(offset, b.mul(place, stride, flags=["nsw"]), flags=["nsw"])
        return b.gep(a.data, [offset], source_etype=BYTE, inbounds=True)
    order = list(zip(places, a.dims, strict=True))
    if a.layout == COLUMNS:
        order.reverse()
    offset = WORD(0)
    for k, (place, length) in enumerate(order):
        if k:
            offset = b.mul(offset, length, flags=["nsw"])
            place = b.add(offset, place, flags=["nsw"])
        offset = place
    part = memory_type(a.dtype)
    if a.type.is_complex:
        part = ir.ArrayType(part, 2)
    return b.gep(a.data, [offset], source_etype=part, inbounds=True)


def load(b: Any, scopes: Scopes, a: Array, places: list[Register]) -> Scalar:
    """An element as a number."""
    t = a.type.element
    parts = []
    for part in _parts(b, a, element(b, a, places)):
        found = b.load(part, typ=memory_type(a.dtype), align=_alignment(a))
        scopes.mark(found, a.scope)
        parts.append(found)
    return from_element(b, t, tuple(parts))


def store(b: Any, scopes: Scopes, a: Array, places: list[Register], x: Scalar) -> None:
    """An element gets a number of its own kind."""
    address = element(b, a, places)
    for part, value in zip(_parts(b, a, address), as_element(b, x), strict=True):
        scopes.mark(b.store(value, part, align=_alignment(a)), a.scope)


def _parts(b: Any, a: Array, address: Register) -> list[Register]:
    if not a.type.is_complex:
        return [address]
    second = b.gep(address, [WORD(1)], source_etype=memory_type(a.dtype), inbounds=True)
    return [address, second]


def _alignment(a: Array) -> int:
    if a.layout == STRIDED:
        return 1
    return a.dtype.itemsize // (2 if a.type.is_complex else 1)


# ---- NumPy's own objects -----------------------------------------------------------


def field(b: Any, base: Register, offset: int, kind: Any) -> Register:
    """A field of an array object."""
    place = b.gep(base, [WORD(offset)], source_etype=BYTE, inbounds=True)
    return b.load(place, typ=kind)


def words_at(b: Any, base: Register, count: int) -> tuple[Register, ...]:
    """The first words behind an address."""
    return tuple(
        b.load(b.gep(base, [WORD(k)], source_etype=WORD, inbounds=True), typ=WORD)
        for k in range(count)
    )
