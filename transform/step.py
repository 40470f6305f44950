"""What a user asks of a function: one transform, and its options.

    grad(f, argnums=1)   ->   f, Step("grad", 1)

It stands apart from the rewriting, so that a request can be made without it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """One transform and its options, as the user asked for it.

    static: the parameters that jit takes by value, by position.  donated: those whose
    arrays the caller gives away.  backend: what runs it.
    """

    kind: str  # grad | value_and_grad | jacfwd | jacrev | jvp | vjp | linearize | jit
    argnums: int | tuple[int, ...] | None = 0
    has_aux: bool = False
    holomorphic: bool = False
    allow_int: bool = False
    static: tuple[int, ...] = ()
    donated: tuple[int, ...] = ()
    backend: str | None = None
    fastmath: bool = False
