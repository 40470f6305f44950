"""Products of matrices by BLAS: SciPy's own, called at its address.

    C = A.T @ B        dgemm of rows: as BLAS has columns, C.T = B.T @ A

Where SciPy is not there, or a matrix does not lie row by row or column by column, NumPy
multiplies.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import TYPE_CHECKING, Any

import llvmlite.binding as llvm
from llvmlite import ir

from gradwright.backends.machine import elementary
from gradwright.backends.machine.arrays import COLUMNS, STRIDED, Array
from gradwright.backends.machine.scalars import (
    BYTE,
    DOUBLE,
    FLOAT,
    POINTER,
    WORD,
    Register,
)
from gradwright.transform.core import Library

if TYPE_CHECKING:
    from gradwright.backends.machine.body import Body

LETTERS = {"float64": "d", "float32": "s", "complex128": "z", "complex64": "c"}
SHORT = ir.IntType(32)


@cache
def register() -> frozenset[str]:
    """Make SciPy's matrix products known to LLVM; those that are there."""
    try:
        from scipy.linalg import cython_blas
    except ImportError:
        return frozenset()
    found = set()
    name_of = ctypes.pythonapi.PyCapsule_GetName
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype = ctypes.c_void_p
    pointer_of.argtypes = [ctypes.py_object, ctypes.c_char_p]
    table: Any = cython_blas.__pyx_capi__
    for letter in LETTERS.values():
        for name in (f"{letter}gemm", f"{letter}gemv"):
            capsule = table[name]
            address = pointer_of(capsule, name_of(capsule))
            llvm.add_symbol(elementary.PREFIX + name, address)
        found.add(letter)
    return frozenset(found)


def write(body: Body, s: Library) -> bool:
    """The instructions of a product of matrices; False where there are none."""
    (out,), (left, right) = s.outs, s.operands
    a, b, c = (body.array(o) for o in (left, right, out))
    if len(c.dims) == 1:
        return _of_vector(body, a, b, c, s.attribute)
    letter = LETTERS.get(c.dtype.name)
    if letter not in register() or any(x.dtype != c.dtype for x in (a, b)):
        return False
    if any(x.layout == STRIDED for x in (a, b)):
        return False
    turned_a, turned_b = s.attribute
    n, m = c.dims
    k = a.dims[0] if turned_a else a.dims[1]
    kind = ir.FunctionType(ir.VoidType(), [POINTER] * 13)
    name = f"{elementary.PREFIX}{letter}gemm"
    function = body.b.module.globals.get(name) or ir.Function(body.b.module, kind, name)
    one, zero = (_number(body, letter, x) for x in (1.0, 0.0))
    given = [
        _letter(body, turned_b != (b.layout == COLUMNS)),
        _letter(body, turned_a != (a.layout == COLUMNS)),
        _short(body, m),
        _short(body, n),
        _short(body, k),
        one,
        b.data,
        _leading(body, b),
        a.data,
        _leading(body, a),
        zero,
        c.data,
        _leading(body, c),
    ]
    body.b.call(function, given)
    return True


def _of_vector(
    body: Body, a: Array, b: Array, c: Array, turned: tuple[bool, bool]
) -> bool:
    """A matrix and a vector, in either order."""
    matrix, vector = (a, b) if len(a.dims) == 2 else (b, a)
    letter = LETTERS.get(c.dtype.name)
    if letter not in register() or any(x.dtype != c.dtype for x in (a, b)):
        return False
    if STRIDED in (matrix.layout, vector.layout):
        return False
    # What BLAS reads by columns is turned, and a vector on the left turns it once more.
    is_turned = turned[0] if matrix is a else not turned[1]
    by_columns = matrix.layout == COLUMNS
    rows, columns = matrix.dims[::-1] if not by_columns else matrix.dims
    kind = ir.FunctionType(ir.VoidType(), [POINTER] * 11)
    name = f"{elementary.PREFIX}{letter}gemv"
    function = body.b.module.globals.get(name) or ir.Function(body.b.module, kind, name)
    one, zero = (_number(body, letter, x) for x in (1.0, 0.0))
    step = _slot(body, SHORT, SHORT(1))
    given = [
        _letter(body, is_turned == by_columns),
        _short(body, rows),
        _short(body, columns),
        one,
        matrix.data,
        _leading(body, matrix),
        vector.data,
        step,
        zero,
        c.data,
        step,
    ]
    body.b.call(function, given)
    return True


def _slot(body: Body, kind: Any, x: Register) -> Register:
    """The address of a number: BLAS is given addresses only."""
    slot = body.slot(kind)
    body.b.store(x, slot)
    return body.b.inttoptr(body.b.ptrtoint(slot, WORD), POINTER)


def _letter(body: Body, turned: bool) -> Register:
    return _slot(body, BYTE, BYTE(ord("T" if turned else "N")))


def _short(body: Body, x: Register) -> Register:
    return _slot(body, SHORT, body.b.trunc(x, SHORT))


def _leading(body: Body, a: Array) -> Register:
    """How far apart rows, or columns, lie; at least one element."""
    b = body.b
    length = a.dims[0] if a.layout == COLUMNS else a.dims[1]
    some = b.select(b.icmp_signed("<", length, WORD(1)), WORD(1), length)
    return _short(body, some)


def _number(body: Body, letter: str, x: float) -> Register:
    part = FLOAT if letter in "sc" else DOUBLE
    if letter in "sd":
        return _slot(body, part, part(x))
    pair = ir.LiteralStructType([part, part])
    return _slot(body, pair, ir.Constant(pair, [part(x), part(0.0)]))
