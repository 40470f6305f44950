"""What a user asks of a function: one transform, and its options.

    grad(f, argnums=1)   ->   f, Step("grad", 1)

It stands apart from the rewriting, so that a request can be made without it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Step:
    """One transform and its options, as the user asked for it.

    static: the parameters that jit takes by value, by position.  donated: those whose
    arrays the caller gives away.  backend: what runs it.  sparse: the Jacobian is put
    together at the call, of sweeps of its own.

    Of vmap, in_axes and out_axes are as `axes.frozen` gives them; first: the position
    of the argument that in_axes begins with.  Once the arguments are known, axes has
    the axis of each number or array in them, and sizes its length where that is known.
    """

    kind: str  # grad | jacfwd | ... | vjp | linearize | pattern | jit | vmap
    argnums: int | tuple[int, ...] | None = 0
    has_aux: bool = False
    holomorphic: bool = False
    allow_int: bool = False
    static: tuple[int, ...] = ()
    donated: tuple[int, ...] = ()
    backend: str | None = None
    fastmath: bool = False
    threads: int = 1
    in_axes: Any = 0
    out_axes: Any = 0
    axis_name: Any = None
    axis_size: int | None = None
    how: str | None = None
    first: int = 0
    axes: tuple[int | None, ...] = ()
    sizes: tuple[int | None, ...] = ()
    sparse: bool = False
