"""The NumPy backend: emitted source, written to a file once and run as it stands.

Enters: a `Module` of `emit`.  Leaves: its main function, whose code object names a
real file, so that tracebacks, pdb and `inspect` show the derivative's own lines.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gradwright.transform.emit import Late, Module

MOST_FILES = 4096
BETWEEN_LOOKS = 64  # files written from one look at how many there are to the next
written = itertools.count()


def folder() -> Path:
    """Where emitted modules stand: GRADWRIGHT_CACHE_DIR, or the user's cache folder."""
    chosen = os.environ.get("GRADWRIGHT_CACHE_DIR")
    if not chosen:
        import platformdirs

        chosen = platformdirs.user_cache_dir("gradwright")
    return Path(chosen) / "source"


def write(module: Module | Late) -> Path:
    """The file of a module; named by its text, never rewritten or seen half-written."""
    import hashlib

    digest = hashlib.sha256(module.text.encode()).hexdigest()[:16]
    path = folder() / f"{module.name}_{digest}.py"
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    import tempfile

    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    with os.fdopen(handle, "w", encoding="utf-8") as f:
        f.write(module.text)
    os.replace(name, path)
    _bound(path.parent)
    return path


def _bound(parent: Path) -> None:
    """Let the oldest files go once there are too many."""
    if next(written) % BETWEEN_LOOKS:
        return
    with os.scandir(parent) as entries:
        files = [e.path for e in entries if e.name.endswith(".py")]
    if len(files) <= MOST_FILES:
        return
    for old in sorted(files, key=_changed)[: len(files) // 4]:
        Path(old).unlink(missing_ok=True)


def _changed(path: str) -> float:
    """When a file was written; another process may have removed it by now."""
    try:
        return os.stat(path).st_mtime
    except FileNotFoundError:
        return 0.0


def load(module: Module | Late) -> Callable[..., Any]:
    """The main function of an emitted module."""
    path = write(module)
    namespace: dict[str, Any] = {"__name__": f"gradwright.emitted.{module.name}"}
    exec(compile(module.text, str(path), "exec"), namespace)
    function = namespace[module.name]
    assert callable(function)
    return function  # type: ignore[no-any-return]
