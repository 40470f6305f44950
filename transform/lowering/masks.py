"""The places at which a mask holds, one array of places for each of its axes."""

from __future__ import annotations

from typing import Any

from gradwright.transform.core import Buffer, If, Load, Value
from gradwright.transform.indices import Linear, linear, symbol
from gradwright.transform.lowering.nests import Scope
from gradwright.transform.lowering.program import Lowering
from gradwright.transform.types import INT, Type


def places_of(L: Lowering, mask: Any) -> tuple[list[Buffer], Linear]:
    """Where a mask holds, row by row, and how often."""
    shape = L.shape(mask)
    size = L.product(shape)
    places = [L.room("places", Type("int64", dims=(size,)), (size,)) for _ in shape]
    count = L.cell("count", INT, linear(0))

    def write(w: Scope, at: tuple[Linear, ...]) -> None:
        held = Scope(w)
        k = held.load(count, (), INT, "count")
        for place, position in zip(places, at, strict=True):
            held.store(place, (k,), position)
        held.store(count, (), linear(1), accumulate=True)
        w.forget({count})
        w.add(If(L.at(w, mask, at), held.block, []))

    L.root(shape, write, alone=True)
    out = Value("count", INT)
    L.add(Load(out, count))
    return places, symbol(out)
