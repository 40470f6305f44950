"""Threads: the samples of a loop shared out, each thread with a frame of its own.

    for first in range(0, n, 64): ...    ->    one thread  from 0      to 5056
                                               another one from 5056   to n

Where the shares begin says nothing of what a sample gives: the blocks are the same, and
no sample knows of another.  So there are the same bits for any number of threads.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeGuard

from gradwright.transform.core import (
    Alloc,
    Call,
    Cell,
    For,
    Function,
    Library,
    Load,
    Pop,
    Push,
    Resize,
    Statement,
    Store,
    reads,
    walk,
)

BLOCK = 64  # samples, which a share has a multiple of
EVERY = 2**62  # beyond the last sample

_held: tuple[int, ThreadPoolExecutor] | None = None  # how many threads, and they
_lock = threading.Lock()


def _forget() -> None:
    """A child process has none of its parent's threads."""
    global _held, _lock
    _held, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


# ---- which loop ----------------------------------------------------------------------


def shared_out(function: Function) -> For | None:
    """The loop over samples that threads may share, if there is one.

    All else is made by each of them: it must not store into what they share, nor read
    what the loop has stored.
    """
    loops = [s for s in function.body if isinstance(s, For) and s.samples]
    if len(loops) != 1:
        return None
    (loop,) = loops
    others = [s for s in function.body if s is not loop]
    inside = list(walk(loop.body))
    begun = {s.place for s in (*function.body, *inside) if isinstance(s, Alloc)}
    stored = {s.place for s in inside if isinstance(s, Store)}
    names = {s.out for s in others if _is_result(s) and s.source in stored}
    read = {p for s in walk(others) if not _is_result(s) for p in reads(s)}
    is_apart = stored <= begun and not (stored | names) & read
    calls = any(isinstance(s, Call | Library | Push | Pop) for s in inside)
    return loop if is_apart and not calls and all(map(_repeats, walk(others))) else None


def _is_result(s: Statement) -> TypeGuard[Load]:
    """Whether a statement gives a whole array another name, to return it."""
    return isinstance(s, Load) and s.out.type.is_array


def _repeats(s: Statement) -> bool:
    """Whether each thread may make a statement for itself."""
    if isinstance(s, Store):
        return isinstance(s.place, Cell)
    return not isinstance(s, Resize | Call | Library | Push | Pop)


# ---- shares --------------------------------------------------------------------------


def shares(samples: int, threads: int) -> list[tuple[int, int]]:
    """Where each thread begins and ends; fewer of them where there is little to do.

    Example:
        >>> shares(300, 2)
        [(0, 192), (192, 4611686018427387904)]
        >>> shares(64, 8)
        [(0, 4611686018427387904)]
    """
    blocks = -(-samples // BLOCK)
    count = max(1, min(threads, blocks))
    ends = [BLOCK * (-(-blocks * k // count)) for k in range(count)] + [EVERY]
    return list(itertools.pairwise(ends))


def in_threads(work: Callable[[Any], None], items: list[Any]) -> None:
    """Work on all items at once; what the first of them raises is raised."""
    if len(items) == 1:
        work(items[0])
        return
    running = [_pool(len(items)).submit(work, item) for item in items[1:]]
    failed: list[BaseException] = []
    try:
        work(items[0])
    except BaseException as e:  # the others still run, on these very arrays
        failed.append(e)
    failed += [e for e in (r.exception() for r in running) if e is not None]
    if failed:
        raise failed[0]


def _pool(threads: int) -> ThreadPoolExecutor:
    """The threads of this process; they stay, and more are added when asked for."""
    global _held
    with _lock:
        if _held is None or _held[0] < threads:
            _held = threads, ThreadPoolExecutor(threads, "gradwright")
        return _held[1]


def without_lock(compiled: Any) -> Callable[[int], int]:
    """The kernel as C calls it, while other threads of Python go on."""
    library, symbol = compiled.library, compiled.fndesc.llvm_func_name
    address = library.get_pointer_to_function(symbol)
    given = ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64
    call: Any = ctypes.CFUNCTYPE(ctypes.c_int32, *given)(address)

    def kernel(frame: int) -> int:
        status, raised = ctypes.c_int64(), ctypes.c_void_p()
        call(ctypes.addressof(status), ctypes.addressof(raised), frame)
        return status.value

    return kernel


def joined(frames: Iterable[Any], give: Callable[[Any], None]) -> None:
    """Frames wait for the next call again, of all samples."""
    for frame in frames:
        frame.share(0, EVERY)
        give(frame)
