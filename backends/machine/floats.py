"""Floats: what LLVM itself does to one part of a number."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from llvmlite import ir

from gradwright.backends.machine.scalars import Register, intrinsic


def _floats(name: str) -> Callable[..., Register]:
    """An intrinsic of LLVM on floats."""

    def made(b: Any, *parts: Register) -> Register:
        kind = "f32" if parts[0].type == ir.FloatType() else "f64"
        return intrinsic(b, f"llvm.{name}.{kind}", parts[0].type, *parts)

    return made


fabs, floor, ceil, trunc, rint, sqrt, copysign = map(
    _floats, ["fabs", "floor", "ceil", "trunc", "roundeven", "sqrt", "copysign"]
)


def is_nan(b: Any, x: Register) -> Register:
    """Whether it is no number."""
    return b.fcmp_unordered("uno", x, x)


def is_infinite(b: Any, x: Register) -> Register:
    """Whether it is infinite, of either sign."""
    return b.fcmp_ordered("==", fabs(b, x), x.type(math.inf))


def is_finite(b: Any, x: Register) -> Register:
    """Whether it is neither NaN nor infinite."""
    return b.fcmp_ordered("<", fabs(b, x), x.type(math.inf))
