"""Calls of functions that call themselves, while they are lowered.

All other functions are written out where they are called.  An array is handed over as
memory; one that comes back is memory of its own, as long as it says.  A tape is shared.
"""

from __future__ import annotations

from typing import Any

from gradwright.transform.core import Buffer, Call, Place, Tape
from gradwright.transform.indices import Dim, Linear, symbol
from gradwright.transform.lowering.program import Lowering


def call(L: Lowering, s: Call) -> None:
    """A call of a function that is lowered by itself."""
    params = s.function.params
    given = [_given(L, o, p) for o, p in zip(s.operands, params, strict=True)]
    stored = {m for m, p in zip(given, params, strict=True) if isinstance(p, Buffer)}
    L.settle(stored)
    for out in s.outs:
        if isinstance(out, Place):
            raise L.refuse("a function that calls itself with a list")
    L.add(Call(s.outs, L.functions[s.function], tuple(given)))
    for out in s.outs:
        if not isinstance(out, Linear) and out.type.is_array:
            own = tuple(symbol(Dim(out, k)) for k in range(out.type.rank))
            L.is_memory(out, out, own)


def _given(L: Lowering, o: Any, p: Any) -> Any:
    """An operand as the function takes it."""
    if isinstance(p, Buffer):
        return L.backing(o)
    if isinstance(o, Tape):
        return o
    if isinstance(o, Place):
        raise L.refuse("a function that calls itself with a list")
    if isinstance(o, Linear) or not o.type.is_array:
        return L.operand(o)
    return L.kept(o)
