"""What may be switched on for a while, in a thread, or for all, for good.

`with gw.disable_jit():` holds in this thread, until the block ends;
`gw.config.update("disable_jit", True)` everywhere, from now on.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Switch:
    """One switch: its value for all, and in a thread that has set it for itself."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.everywhere = False
        self.here = threading.local()

    @property
    def on(self) -> bool:
        """Whether it is on in this thread."""
        found = getattr(self.here, "value", None)
        return self.everywhere if found is None else found

    @contextmanager
    def set(self, value: bool) -> Iterator[None]:
        """Let it be so in this thread, until the block ends."""
        before = getattr(self.here, "value", None)
        SWITCHED.blocks(1)
        self.here.value = bool(value)
        try:
            yield
        finally:
            self.here.value = before
            SWITCHED.blocks(-1)


class Switched:
    """Whether any switch may be on in any thread: a call looks at this and no more."""

    def __init__(self) -> None:
        self.any = False
        self.count = 0
        self.lock = threading.Lock()

    def blocks(self, more: int) -> None:
        """So many more blocks in which a switch is set."""
        with self.lock:
            self.count += more
            self.any = self.count > 0 or any(s.everywhere for s in ALL.values())


SWITCHED = Switched()


def _renew_lock() -> None:
    """After a fork the lock of a thread that is no more would stay closed."""
    SWITCHED.lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)

DISABLE_JIT, LOG_COMPILES, EXPLAIN_CACHE_MISSES, DEBUG_NANS = (
    Switch(name)
    for name in ("disable_jit", "log_compiles", "explain_cache_misses", "debug_nans")
)
ALL = {s.name: s for s in (DISABLE_JIT, LOG_COMPILES, EXPLAIN_CACHE_MISSES, DEBUG_NANS)}


class Config:
    """The switches for everybody: `config.update(name, value)`.

    Example:
        >>> config.update("debug_nans", True)
        >>> config.debug_nans
        True
        >>> config.update("debug_nans", False)
    """

    def update(self, name: str, value: bool) -> None:
        """Switch on or off, in all threads that have not set it for themselves.

        Args:
            name: disable_jit, log_compiles, explain_cache_misses or debug_nans.
            value: Whether it is on.

        Raises:
            AttributeError: There is no such switch.
        """
        self._named(name).everywhere = bool(value)
        SWITCHED.blocks(0)

    def __getattr__(self, name: str) -> bool:
        return self._named(name).on

    def _named(self, name: str) -> Switch:
        if name not in ALL:
            raise AttributeError(f"{name!r} is none of {', '.join(ALL)}")
        return ALL[name]

    def __repr__(self) -> str:
        return f"Config({', '.join(f'{n}={s.on}' for n, s in ALL.items())})"


config = Config()


def disable_jit(disable: bool = True) -> Any:
    """In the block, jitted functions run their emitted source, not machine code.

    So a debugger steps through them, and print shows what they do. It holds in this
    thread; `config.update("disable_jit", True)` is for all.

    Args:
        disable: False switches machine code on again, inside such a block.

    Example:
        >>> import gradwright as gw
        >>> double = gw.jit(lambda x: 2.0 * x)
        >>> with disable_jit():
        ...     double(1.5)
        3.0
    """
    return DISABLE_JIT.set(disable)


def log_compiles(log: bool = True) -> Any:
    """In the block, every rewriting and compiling of a function is logged.

    A line goes to the logger "gradwright" as a warning: the function, the kinds of its
    arguments, and the seconds of rewriting, of lowering to loops and of compiling.

    Args:
        log: False switches it off again.

    Example:
        >>> import gradwright as gw
        >>> with log_compiles():
        ...     gw.jit(lambda x: 2.0 * x)(1.5)
        3.0
    """
    return LOG_COMPILES.set(log)


def explain_cache_misses(explain: bool = True) -> Any:
    """In the block, it is logged why a call could not use what was rewritten before.

    The call is compared with the nearest one that is known: which argument is of
    another kind, dtype or rank, has an axis of length one or another layout, or is
    static and has another value.

    Args:
        explain: False switches it off again.

    Example:
        >>> import gradwright as gw
        >>> with explain_cache_misses():
        ...     gw.jit(lambda x: 2.0 * x)(1.5)
        3.0
    """
    return EXPLAIN_CACHE_MISSES.set(explain)


def debug_nans(check: bool = True) -> Any:
    """In the block, a result that is NaN raises, with the line that it is from.

    The call is run once more as emitted source, statement by statement, and the first
    NaN is blamed: in the function itself, or in the line of its derivative.

    Args:
        check: False switches it off again.

    Raises:
        FloatingPointError: In the block, at the call.

    Example:
        >>> import numpy as np
        >>> import gradwright as gw
        >>> with debug_nans():
        ...     gw.grad(lambda x: 2.0 * x)(1.5)
        2.0
    """
    return DEBUG_NANS.set(check)
