"""The transform that says how a function runs: jit.

It changes nothing of what is computed; it is remembered like any other transform, and
stands inside and around them.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Sequence
from typing import Any

from gradwright.positions import must_be_callable, options_of_jit
from gradwright.transform.errors import BackendError
from gradwright.transform.step import Step
from gradwright.transforms import Transformed

BACKENDS = "cpu", "numpy"


def jit(
    fun: Callable[..., Any] | None = None,
    *,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    donate_argnums: int | Sequence[int] = (),
    backend: str | None = None,
    fastmath: bool = False,
    parallel: bool | int = False,
) -> Any:
    """The function itself, compiled to machine code at the first call.

    It may stand inside or outside of other transforms: `grad(jit(f))` and
    `jit(grad(f))` both compile the gradient.

    Args:
        fun: A function of numbers, loops and arrays, or a method of any kind; left
            out, `jit(...)` is a decorator.
        static_argnums: Arguments that are known when the function is rewritten: they
            become part of the program, and another value is another program. Values
            count by type and content: 1, 1.0 and True are three, 0.0 and -0.0 two.
        static_argnames: The same by name.
        donate_argnums: Arguments whose arrays the caller gives away, and must not use
            again. A derivative copies an array that the function stores into; such a
            one it stores into without a copy.
        backend: "cpu" for machine code, as without it; "numpy" to run the emitted
            source as it stands.
        fastmath: Arithmetic may be reordered and contracted, and need not tell 0.0
            from -0.0. The head of the source says so.
        parallel: Threads share the samples of a vmap: True for as many as there are
            processors, or a number. The results are the same bits for any number.
            What is no loop over samples runs in one thread.

    Returns:
        A function of the same arguments, with the same results and the same errors.
        Python's ints have 64 bits, and raise OverflowError beyond.

    Raises:
        ValueError: `parallel` is a number below 1.
        BackendError: There is no such backend; at the call, Numba is not installed.
        TypeError: The function has no such parameters; at the call, a static argument
            has no hash, or is an array.

    Example:
        >>> @jit
        ... def harmonic(n):
        ...     total = 0.0
        ...     for k in range(1, n + 1):
        ...         total += 1.0 / k
        ...     return total
        >>> harmonic(3)
        1.8333333333333333
        >>> @jit(static_argnames="order")
        ... def norm(x, y, order):
        ...     return abs(x) + abs(y) if order == 1 else (x * x + y * y) ** 0.5
        >>> norm(3.0, 4.0, order=1), norm(3.0, 4.0, order=2)
        (7.0, 5.0)
    """
    if fun is None:
        return lambda f: jit(
            f,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
            donate_argnums=donate_argnums,
            backend=backend,
            fastmath=fastmath,
            parallel=parallel,
        )
    must_be_callable("jit", fun)
    if backend is not None and backend not in BACKENDS:
        raise BackendError(
            f"jit has no backend {backend!r}", instead="backend='cpu' or 'numpy'"
        )
    found = options_of_jit(
        fun,
        static_argnums=static_argnums,
        static_argnames=static_argnames,
        donate_argnums=donate_argnums,
    )
    static = {*found["static_argnums"], *found["static_argnames"]}
    donated = {*found["donate_argnums"]}
    if static & donated:
        raise TypeError("an argument of jit is static or donated, and not both")
    step = Step(
        "jit",
        None,
        static=tuple(sorted(static)),
        donated=tuple(sorted(donated)),
        backend=backend,
        fastmath=bool(fastmath),
        threads=_threads(parallel),
    )
    return Transformed(fun, step)


def _threads(parallel: bool | int) -> int:
    """How many threads are asked for."""
    if parallel is False:
        return 1
    if parallel is True:
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1
    count = operator.index(parallel)
    if count < 1:
        raise ValueError(f"parallel={count} of jit is no number of threads")
    return count


vars(jit)["__gradwright_kind__"] = "jit"
