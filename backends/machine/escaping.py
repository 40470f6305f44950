"""Escaping: values that are used outside of the block that defines them.

if c:                    the second block runs only where the first one did, which
a = x * x            LLVM cannot know: `a` gets a slot
...
if c:
y = a + 1
"""

from __future__ import annotations

from typing import Any

from gradwright.backends.machine.program import is_scalar
from gradwright.transform.core import (
    Assert,
    For,
    Function,
    Statement,
    Value,
    While,
    blocks,
    defines,
    reads,
    walk,
)
from gradwright.transform.indices import Linear


def escaping(function: Function) -> set[Any]:
    """The values that are used outside of the block that defines them."""
    home: dict[Any, tuple[int, ...]] = {}
    found: set[Any] = set()

    def use(v: Any, path: tuple[int, ...]) -> None:
        own = home.get(v)
        if own is not None and path[: len(own)] != own:
            found.add(v)

    def visit(body: list[Statement], path: tuple[int, ...]) -> None:
        for s in body:
            inner = [(*path, id(b)) for b in blocks(s)]
            used = reads(s)
            if isinstance(s, While):  # its condition is read in the header
                path_of_use = inner[0]
            elif isinstance(s, Assert):
                for v in used:
                    use(v, inner[0])
                used = []
                path_of_use = path
            else:
                path_of_use = path
            for b, p in zip(blocks(s), inner, strict=True):
                if isinstance(s, For):
                    home[s.symbol] = p
                if isinstance(s, While) and b is s.body:
                    p = (*inner[0], id(b))  # the header comes before the body
                    for t in walk(s.header):
                        for v in defines(t):
                            home.setdefault(v, inner[0])
                visit(b, p)
            for v in used:
                use(v, path_of_use)
            if not isinstance(s, For):
                for v in defines(s):
                    home[v] = path

    visit(function.body, ())
    for r in function.results:
        symbols = r.symbols() if isinstance(r, Linear) else [r]
        for v in symbols:
            use(v, ())
    return {v for v in found if isinstance(v, Value) and is_scalar(v.type)}
