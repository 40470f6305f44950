"""What shares memory in a program: no array is read that a store has changed since.

    B[0], B[1] = B[1], B[0]     the second row is read from the first by then
    for v in y: y[3] += v       the items are those of now, not those of the beginning

In the core a value never changes, in NumPy a view does.  A name for a part of an array
is read anew wherever it is used (see `regions`); any other array that is read behind a
store into its memory would hold two different things, and is refused.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

from gradwright.transform.core import (
    Alloc,
    Buffer,
    Call,
    Cell,
    For,
    Function,
    Insert,
    Length,
    Let,
    List,
    Load,
    Pick,
    Remove,
    Statement,
    Store,
    Take,
    Value,
    While,
    blocks,
    reads,
)
from gradwright.transform.errors import AliasError
from gradwright.transform.primitives.structural import makes_anew

MEMORY = (Value, Cell, Buffer, List)


def refuse_old_views(function: Function, own: Container[Value]) -> set[int]:
    """Refuse to read what shares memory with an array that was stored into since.

    Args:
        function: A function of the program.
        own: Results of calls that share memory with nothing.

    Returns:
        Which results share memory with no parameter and with no other result.
    """
    memory = _Memory(own)
    memory.run(function.body)
    for r in function.results:
        memory.read(r, function.body[-1] if function.body else None)
    roots = [
        memory.of(r) if isinstance(r, Value) else frozenset() for r in function.results
    ]
    given = frozenset(function.params)
    return {
        k
        for k, own in enumerate(roots)
        if not own & given and not any(own & o for o in (*roots[:k], *roots[k + 1 :]))
    }


class _Memory:
    """Whose memory each array may share, and which have changed behind the core."""

    def __init__(self, own: Container[Value]) -> None:
        self.own = own
        self.roots: dict[Any, frozenset[Any]] = {}
        self.stale: dict[Any, Buffer] = {}

    def of(self, v: Any) -> frozenset[Any]:
        return self.roots.get(v, frozenset([v]))

    def read(self, v: Any, s: Statement | None) -> None:
        """Refuse a value that is out of date."""
        place = self.stale.get(v) if isinstance(v, Value | Cell | List) else None
        if place is not None and isinstance(v, List):
            if isinstance(s, Load) and s.index == (Length(),):
                return
            raise AliasError(
                f"'{v.name}' holds an array that shares memory with '{place.name}', "
                f"and '{place.name}' was stored into before it is read here",
                at=s.where if s is not None else None,
                instead=f"{v.name}.append({place.name}.copy())",
            )
        if place is not None:
            raise AliasError(
                f"an array that shares memory with '{place.name}' is read here, "
                f"and '{place.name}' was stored into in between",
                at=s.where if s is not None else None,
                instead="np.copy(...) of it",
            )

    def run(self, block: Iterable[Statement]) -> None:
        for s in block:
            self._step(s)

    def _step(self, s: Statement) -> None:
        for v in reads(s):
            if not isinstance(v, Cell | List) or isinstance(s, Load | Remove):
                self.read(v, s)
        match s:
            case Let():
                is_new = makes_anew(s.primitive)
                self._define(s.out, () if is_new else s.operands)
            case Load(source=List() as place) if isinstance(s.out, List):
                self._define(s.out, (place,))
            case Load() if not isinstance(s.out, Value):
                pass
            case Insert(place=place) | Store(place=List() as place):
                self._add(place, s.operand)
            case Take():
                self._define(s.place, (s.source,))
            case Remove():
                shares = s.out.type.is_array or isinstance(s.out, List)
                self._define(s.out, (s.place,) if shares else ())
            case Load():
                picked = any(isinstance(i, Pick) for i in s.index)
                whole = isinstance(s.source, List) and not s.source.is_item(s.index)
                is_new = picked or whole or not s.out.type.is_array
                self._define(s.out, () if is_new else (s.source,))
            case Call():
                arrays = [o for o in s.operands if _is_array(o)]
                for out in s.outs:
                    self._define(out, () if out in self.own else arrays)
            case Alloc(place=Buffer() as place):  # that of a trip before is another
                for v, roots in self.roots.items():
                    self.roots[v] = roots - {place}
            case Store(place=Cell() as cell):
                self._define(cell, () if s.accumulate else (s.operand,))
            case Store(place=Buffer() as place, operand=Value() as first) if (
                not s.index and not s.accumulate
            ):
                own = self.of(first)  # the array that the place begins with is its own
                for v in [*self.roots, *own, first]:
                    if self.of(v) & own:
                        self.roots[v] = self.of(v) | {place}
            case Store(place=Buffer() as place):
                held = (v for v in self.roots if place in self.roots[v])
                self.stale |= dict.fromkeys(held, place)
            case _:
                self._nested(s)

    def _nested(self, s: Statement) -> None:
        """Blocks: any of them may run, those of a loop again."""
        for _ in range(2 if isinstance(s, For | While) else 1):
            before, ends = (self.roots, self.stale), []
            for block in blocks(s):
                if not isinstance(s, While):
                    self.roots, self.stale = dict(before[0]), dict(before[1])
                self.run(block)
                ends.append((self.roots, self.stale))
            self.roots, self.stale = dict(before[0]), dict(before[1])
            for roots, stale in ends:
                for v in roots:
                    self.roots[v] = self.of(v) | roots[v]
                self.stale |= stale

    def _add(self, place: List, o: Any) -> None:
        """A list shares memory with each array or list that is put into it."""
        if _is_array(o) or isinstance(o, List):
            self.roots[place] = self.of(place) | self.of(o)

    def _define(self, out: Any, sources: Iterable[Any]) -> None:
        """What is assigned anew, from what it shares memory with."""
        self.stale.pop(out, None)
        shared = [self.of(o) for o in sources if isinstance(o, MEMORY)]
        self.roots[out] = frozenset([out]).union(*shared)


def _is_array(o: Any) -> bool:
    return isinstance(o, Value) and o.type.is_array
