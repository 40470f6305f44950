"""The NumPy backend: emitted modules are real files, written once and whole."""

import inspect
import os
import threading
import time
import traceback
from pathlib import Path

import platformdirs
import pytest

from gradwright.backends import numpy as backend
from gradwright.transform.emit import Module

TEXT = "import math\n\n\ndef f_grad(x):\n    return math.sqrt(x)\n"


def module(text: str = TEXT, name: str = "f_grad") -> Module:
    return Module(text=text, name=name, lines={})


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GRADWRIGHT_CACHE_DIR", str(tmp_path))
    return tmp_path


def test_the_users_folder_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GRADWRIGHT_CACHE_DIR")
    assert backend.folder().parent == Path(platformdirs.user_cache_dir("gradwright"))


def test_the_function_runs_and_has_its_source(cache: Path) -> None:
    f = backend.load(module())
    assert f(9.0) == 3.0
    assert inspect.getsource(f) == TEXT.split("\n\n\n")[1]
    assert Path(inspect.getfile(f)).parent == backend.folder()


def test_tracebacks_show_its_lines(cache: Path) -> None:
    with pytest.raises(ValueError, match="domain") as caught:
        backend.load(module())(-1.0)
    assert "return math.sqrt(x)" in "".join(traceback.format_tb(caught.tb))


def test_equal_text_is_one_file_and_is_not_rewritten(cache: Path) -> None:
    path = backend.write(module())
    os.utime(path, (1.0, 1.0))
    assert backend.write(module()) == path
    assert path.stat().st_mtime == 1.0
    assert backend.write(module(TEXT + "\n")) != path


def test_a_file_is_never_seen_half_written(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It gets its name when all of it stands there."""
    seen = []
    replace = os.replace

    def watched(old: str, new: Path) -> None:
        seen.append((new.exists(), Path(old).read_text("utf-8")))
        replace(old, new)

    monkeypatch.setattr(os, "replace", watched)
    path = backend.write(module())
    assert seen == [(False, TEXT)]
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_many_may_write_the_same_at_once(cache: Path) -> None:
    start = threading.Barrier(8)
    found = []

    def run() -> None:
        start.wait()
        found.append(backend.load(module())(4.0))

    threads = [threading.Thread(target=run) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == [2.0] * 8
    assert len(list(backend.folder().iterdir())) == 1


def test_the_oldest_files_go(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "MOST_FILES", 8)
    monkeypatch.setattr(backend, "BETWEEN_LOOKS", 1)
    paths = []
    for k in range(9):
        paths.append(backend.write(module(f"{TEXT}# {k}\n")))
        os.utime(paths[-1], (time.time() - 100 + k,) * 2)
    paths.append(backend.write(module(f"{TEXT}# 9\n")))
    left = [k for k, p in enumerate(paths) if p.exists()]
    assert left[-1] == 9
    assert left == list(range(left[0], 10))
    assert 4 <= len(left) <= 8


def test_what_was_deleted_is_written_again(cache: Path) -> None:
    path = backend.write(module())
    path.unlink()
    assert backend.write(module()).read_text("utf-8") == TEXT
