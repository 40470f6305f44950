"""Arrays that begin as zeros, after lowering: the memory is had so.

    x_bar = np.empty(n)
    for i in range(n):              ->      x_bar = np.zeros(n)
        x_bar[i] = 0.0

What nobody touches of it then costs nothing: half of a triangle's derivative.
"""

from __future__ import annotations

from typing import Any

from gradwright.transform.core import (
    Alloc,
    At,
    Const,
    For,
    Function,
    Statement,
    Store,
    all_reads,
    stores,
    walk,
)
from gradwright.transform.deadcode import may_have_no_step
from gradwright.transform.indices import Linear, linear, symbol


def begin_as_zeros(function: Function) -> None:
    """Begin as zeros what is first of all filled with them; in place."""
    blank = {s.place: s for s in function.body if isinstance(s, Alloc) and s.blank}
    touched: set[Any] = set()
    for s in function.body:
        if isinstance(s, For):
            for t in list(walk([s])):
                if not isinstance(t, Store) or t.place not in blank:
                    continue
                if t.place not in touched and _fills(s, t) and _is_only(s, t):
                    blank[t.place].blank = False
                    _drop(s.body, t)
        if not isinstance(s, Alloc):
            touched |= set(all_reads(s)) | stores(s)
    function.body = [s for s in function.body if not _is_empty(s)]


def _fills(nest: For, s: Store) -> bool:
    """Whether a store in a nest of loops puts zero everywhere."""
    if s.accumulate or not isinstance(s.operand, Const) or s.operand.value != 0:
        return False
    if str(s.operand.value).startswith("-"):
        return False
    symbols, lengths = [], []
    block: list[Statement] = [nest]
    while len(block) == 1 and isinstance(block[0], For):
        loop = block[0]
        if loop.start != linear(0) or loop.step != linear(1):
            return False
        symbols.append(symbol(loop.symbol))
        lengths.append(loop.stop)
        block = loop.body
    if s not in block:
        return False
    at = [i.position for i in s.index if isinstance(i, At)]
    return at == symbols and tuple(lengths) == _shape(s)


def _shape(s: Store) -> tuple[Linear, ...] | None:
    like = getattr(s.place, "like", None)
    return like if isinstance(like, tuple) else None


def _is_only(nest: For, s: Store) -> bool:
    """Whether nothing else in the nest has to do with the array."""
    return not any(
        t is not s
        and not isinstance(t, For)
        and (s.place in stores(t) or s.place in set(all_reads(t)))
        for t in walk([nest])
    )


def _drop(body: list[Statement], s: Store) -> None:
    for t in body:
        if isinstance(t, For):
            _drop(t.body, s)
    body[:] = [t for t in body if t is not s and not _is_empty(t)]


def _is_empty(s: Statement) -> bool:
    if not isinstance(s, For) or may_have_no_step(s):
        return False
    return all(map(_is_empty, s.body))
