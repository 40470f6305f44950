"""Bounds: what the numbers of a program cannot be, so that no guard asks for it.

    root = sqrt(1.0 + x * x)          root is at least 1: `root != 0` is true

A value lies between its bounds or is NaN, and a comparison is known only where NaN
gives it the same answer.  Rounding keeps an order, so the bounds are exact.
"""

from __future__ import annotations

import math
import operator
from typing import Any

from gradwright.transform.build import literal
from gradwright.transform.core import Operand, Value
from gradwright.transform.primitives.record import Primitive
from gradwright.transform.primitives.structural import NAMED

Interval = tuple[float, float]
Operands = tuple[Operand, ...]
ANY: Interval = (-math.inf, math.inf)
POSITIVE: Interval = (0.0, math.inf)

AT_LEAST_ZERO = (abs, math.fabs, math.exp, math.exp2, math.hypot, math.dist)


class Bounds:
    """The bounds of the values seen so far; of each, its statement comes first."""

    def __init__(self) -> None:
        self.known: dict[Value, Interval] = {}

    def of(self, o: Any) -> Interval:
        c = literal(o)
        if c is not None:
            return c, c
        return self.known.get(o, ANY) if isinstance(o, Value) else ANY

    def note(self, out: Value, p: Primitive, operands: Operands) -> None:
        """What the operands of an operation say of its result."""
        if out.type.python and not out.type.is_complex:
            found = self._result(p, operands)
            if found != ANY and not any(map(math.isnan, found)):
                self.known[out] = found

    def _result(self, p: Primitive, operands: Operands) -> Interval:
        f = p.function
        given = [self.of(o) for o in operands]
        match given:
            case [(low, high)] if p is NAMED or f is float:
                return low, high
            case [(low, high)] if f is operator.neg:
                return -high, -low
            case [(low, _)] if f is math.sqrt:
                return math.sqrt(max(low, 0.0)), math.inf
            case [(a, b), (c, d)] if f is operator.add:
                return a + c, b + d
            case [(a, b), (c, d)] if f is operator.sub:
                return a - d, b - c
            case [(a, b), (c, d)] if f in (max, min):
                # Of NaN and another one it may be the other; a literal is not NaN.
                literals = [x for x, y in given if x == y]
                low = literals[0] if f is max and literals else min(a, c)
                high = literals[0] if f is min and literals else max(b, d)
                return low, high
            case [(a, _), (c, _)] if f in (operator.mul, operator.truediv):
                is_square = f is operator.mul and operands[0] == operands[1]
                return POSITIVE if is_square or min(a, c) >= 0 else ANY
            case [(a, _), (c, d)] if f is operator.pow:
                is_even = c == d and c % 2 == 0
                return POSITIVE if is_even or a >= 0 else ANY
        return POSITIVE if f in AT_LEAST_ZERO else ANY

    def truth(self, p: Primitive, operands: Operands) -> bool | None:
        """Whether a comparison is always true, or never; None where it is open."""
        if len(operands) != 2:
            return None
        f = p.function
        (a, b), (c, d) = map(self.of, operands)
        never = {
            operator.lt: a >= d,
            operator.le: a > d,
            operator.gt: b <= c,
            operator.ge: b < c,
            operator.eq: a > d or b < c,
        }
        if f is operator.ne and never[operator.eq]:
            return True
        return False if never.get(f) else None
