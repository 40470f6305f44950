"""Fast arithmetic: what LLVM may do to floats where the user asked for `fastmath`.

    x * y + z        ->   one fused instruction
    a + b + c + d    ->   in any order

Only the user's own operators are made so: an elementary function written out in
instructions relies on their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir

FLAGS = ("reassoc", "contract", "nsz")
OPERATORS = ("+", "-", "*", "/")


def _flagged(name: str) -> Callable[..., Any]:
    """A method of a builder, with flags while `fast` is set."""
    plain = getattr(ir.IRBuilder, name)

    def made(self: Any, *operands: Any, flags: Any = (), **options: Any) -> Any:
        if self.fast:
            flags = tuple(dict.fromkeys((*flags, *FLAGS)))
        return plain(self, *operands, flags=flags, **options)

    return made


class Builder(ir.IRBuilder):
    """A builder of instructions; those on floats are fast while `fast` is set."""

    fast = False
    fadd, fsub, fmul, fdiv = map(_flagged, ("fadd", "fsub", "fmul", "fdiv"))

    @contextmanager
    def where(self, is_fast: bool) -> Iterator[None]:
        """Whether what is built in the block is fast."""
        before, self.fast = self.fast, is_fast
        try:
            yield
        finally:
            self.fast = before
