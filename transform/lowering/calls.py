"""Calls of functions that call themselves, while they are lowered: of numbers.

All other functions are written out where they are called.
"""

from __future__ import annotations

from gradwright.transform.core import Call, Place
from gradwright.transform.indices import Linear
from gradwright.transform.lowering.program import Lowering


def call(L: Lowering, s: Call) -> None:
    """A call of a function that is lowered by itself."""
    for o in (*s.operands, *s.outs):
        if isinstance(o, Place):
            raise L.refuse("a function that calls itself with a list")
        if not isinstance(o, Linear) and o.type.is_array:
            raise L.refuse("a function of arrays that calls itself")
    lowered = L.functions[s.function]
    L.add(Call(s.outs, lowered, tuple(map(L.operand, s.operands))))
