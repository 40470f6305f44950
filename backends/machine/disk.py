"""The disk: machine code that another process has compiled already.

    machine/gradwright_<digest of the module's text>_<digest of versions and processor>

The text says all that a kernel computes and nothing of where it stands in a file: a
function that moved is not compiled again, and its errors name its new lines, as sites
are made anew in each process.  A file is written whole or not at all, and one that is
damaged is compiled again; deleting any of them is always safe.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import pickle
import platform
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding as llvm
import numba
import numpy as np
from numba.core import serialize
from numba.core.compiler import CompileResult
from numba.core.registry import cpu_target

from gradwright.backends.machine import elementary
from gradwright.backends.numpy import folder

FORM = 1  # of the files, and of how modules are compiled
MOST_FILES = 4096
BETWEEN_LOOKS = 64  # files written from one look at how many there are to the next
written = itertools.count()


@cache
def surroundings() -> str:
    """A digest of all that machine code depends on but its module."""
    parts = (
        FORM,
        sys.version,
        sys.platform,
        np.__version__,
        numba.__version__,
        llvmlite.__version__,
        llvm.get_host_cpu_name(),
        llvm.get_host_cpu_features().flatten(),
        platform.libc_ver(),
        sorted(elementary.register()),
    )
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def path_of(name: str) -> Path:
    """Where the machine code of a module stands."""
    return folder().parent / "machine" / f"{name}_{surroundings()}.bin"


def load(name: str) -> Any:
    """The compile result of a module; None where there is none that is whole."""
    path = path_of(name)
    elementary.register()  # machine code names the functions of C
    try:
        digest, data = path.read_bytes().split(b"\n", 1)
        if hashlib.sha256(data).hexdigest().encode() != digest:
            raise ValueError("the file is damaged")
        parts = pickle.loads(data)
        rebuild: Any = CompileResult._rebuild
        return rebuild(cpu_target.target_context, *parts)
    except FileNotFoundError:
        return None
    except Exception:  # of another writer, or of no use: it is made anew
        with contextlib.suppress(OSError):
            path.unlink()
        return None


def save(name: str, compiled: Any) -> None:
    """Keep a compile result; where that cannot be, it is compiled the next time."""
    path = path_of(name)
    try:
        dumps: Any = serialize.dumps
        data = dumps(compiled._reduce())
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        with os.fdopen(handle, "wb") as f:
            f.write(hashlib.sha256(data).hexdigest().encode() + b"\n" + data)
        os.replace(temporary, path)
    except OSError:
        return
    _bound(path.parent)


def _bound(parent: Path) -> None:
    """Let the oldest files go once there are too many."""
    if next(written) % BETWEEN_LOOKS:
        return
    files = [p for p in parent.iterdir() if p.suffix == ".bin"]
    if len(files) > MOST_FILES:
        for old in sorted(files, key=_changed)[: len(files) // 4]:
            old.unlink(missing_ok=True)


def _changed(path: Path) -> float:
    """When a file was written; another process may have removed it by now."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0
