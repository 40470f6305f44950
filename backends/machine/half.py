"""Halves: NumPy's float16, in memory and in registers.

    in memory      16 bits: a sign, 5 of the exponent, 10 of the fraction
    in registers   a float, always one that a half can be

NumPy computes with halves as with floats and rounds the result, and so does compiled
code.  All is done here in bits and without a branch: LLVM's own halves are calls of a
library where the processor has none, and these are vectorised everywhere.
"""

from __future__ import annotations

import math
from typing import Any

from llvmlite import ir

SHORT, BITS, LONG = ir.IntType(16), ir.IntType(32), ir.IntType(64)
FLOAT, DOUBLE = ir.FloatType(), ir.DoubleType()
FRACTION = 10  # bits
NORMAL = 2.0**-14  # the least half that has all bits of its fraction
END = 2.0**16  # what is rounded to this or beyond is infinite

# The same of a float: where its fraction lies against that of a half, what both count
# their exponents from, and the bits of `NORMAL` and of infinity.
SHIFT = 23 - FRACTION
BIAS = (127 - 15) << 23
NORMAL_BITS = (127 - 14) << 23
INFINITE_BITS = 0xFF << 23

# What `fastmath` never reorders.
_add, _subtract, _multiply = ir.IRBuilder.fadd, ir.IRBuilder.fsub, ir.IRBuilder.fmul


def rounded(b: Any, x: Any) -> Any:
    """The half next to a float or double, of two the even one; of the kind of x.

    A number so much larger that its last bit is one of the half's is added and taken
    away again.
    """
    kind = x.type
    bits, fraction = (BITS, 23) if kind == FLOAT else (LONG, 52)
    sign = 1 << (bits.width - 1)
    exponent = (sign - 1) >> fraction << fraction
    held = b.bitcast(x, bits)
    size = b.bitcast(b.and_(held, bits(sign - 1)), kind)
    size = b.select(b.fcmp_ordered(">", size, kind(END)), kind(END), size)
    power = b.bitcast(b.and_(b.bitcast(size, bits), bits(exponent)), kind)
    is_small = b.fcmp_ordered("<", power, kind(NORMAL))
    power = b.select(is_small, kind(NORMAL), power)
    large = _multiply(b, power, kind(2.0 ** (fraction - FRACTION)))
    size = _subtract(b, _add(b, size, large), large)
    is_over = b.fcmp_ordered(">=", size, kind(END))
    size = b.select(is_over, kind(math.inf), size)
    return b.bitcast(b.or_(b.bitcast(size, bits), b.and_(held, bits(sign))), kind)


def loaded(b: Any, held: Any) -> Any:
    """The float that 16 bits of memory are."""
    wide = b.zext(held, BITS)
    size = b.shl(b.and_(wide, BITS(0x7FFF)), BITS(SHIFT))
    found = b.add(size, BITS(BIAS))
    # a small one has no leading bit: it gets that of NORMAL, which is taken away again
    above = b.bitcast(b.add(size, BITS(NORMAL_BITS)), FLOAT)
    small = b.bitcast(_subtract(b, above, FLOAT(NORMAL)), BITS)
    is_small = b.icmp_unsigned("<", size, BITS(NORMAL_BITS - BIAS))
    found = b.select(is_small, small, found)
    is_number = b.icmp_unsigned("<", size, BITS(INFINITE_BITS - 2 * BIAS))
    found = b.select(is_number, found, b.add(size, BITS(2 * BIAS)))
    sign = b.shl(b.and_(wide, BITS(0x8000)), BITS(16))
    return b.bitcast(b.or_(found, sign), FLOAT)


def stored(b: Any, x: Any) -> Any:
    """The 16 bits of memory of a float that is a half."""
    held = b.bitcast(x, BITS)
    size = b.and_(held, BITS(0x7FFFFFFF))
    found = b.sub(size, BITS(BIAS))
    above = _add(b, b.bitcast(size, FLOAT), FLOAT(NORMAL))
    small = b.sub(b.bitcast(above, BITS), BITS(NORMAL_BITS))
    is_small = b.icmp_unsigned("<", size, BITS(NORMAL_BITS))
    found = b.select(is_small, small, found)
    is_number = b.icmp_unsigned("<", size, BITS(INFINITE_BITS))
    found = b.select(is_number, found, b.sub(size, BITS(2 * BIAS)))
    sign = b.and_(b.lshr(held, BITS(16)), BITS(0x8000))
    return b.trunc(b.or_(b.lshr(found, BITS(SHIFT)), sign), SHORT)
