"""Machine code on disk: found by another process, damaged, raced for, moved."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

PROGRAM = """
import math
import gradwright as gw
from gradwright.backends.machine import build

made = []
compiled = build.compiled
build.compiled = lambda *args: (made.append(args), compiled(*args))[1]

{blank}
@gw.jit
def f(x):
    total = 0.0
    for k in range(1, 4):
        total += math.log(x) / k
    return total

print(f(2.0), len(made))
try:
    f(-1.0)
except ValueError as e:
    print(e, *e.__notes__)
"""
KERNELS = 2  # the usual one, and the careful one that finds what failed


def run(folder: Path, blank: str = "") -> list[str]:
    path = folder / "program.py"
    path.write_text(textwrap.dedent(PROGRAM).format(blank=blank))
    environment = {**os.environ, "GRADWRIGHT_CACHE_DIR": str(folder / "cache")}
    command = [sys.executable, str(path)]
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    folder = tmp_path_factory.mktemp("disk")
    return folder, run(folder)


def files(folder: Path) -> list[Path]:
    return sorted((folder / "cache" / "machine").iterdir())


def test_the_second_process_does_not_compile(filled: Any) -> None:
    folder, first = filled
    assert first[0].endswith(" 1") and run(folder)[0] == first[0][:-1] + "0"
    assert len(files(folder)) == KERNELS


def test_a_moved_function_keeps_its_code_and_names_its_new_line(filled: Any) -> None:
    folder, first = filled
    moved = run(folder, "\n\n\n")
    assert moved[0] == first[0][:-1] + "0"
    assert "program.py:15" in first[1] and "program.py:18" in moved[1]


@pytest.mark.parametrize("damage", ["cut", "changed", "empty", "other"])
def test_a_damaged_file_is_made_anew(filled: Any, damage: str) -> None:
    folder, first = filled
    run(folder)
    for path in files(folder):
        data = path.read_bytes()
        path.write_bytes(
            {
                "cut": data[: len(data) // 2],
                "changed": data[:-9] + b"#" + data[-8:],
                "empty": b"",
                "other": b"no digest\nand no code",
            }[damage]
        )
    assert run(folder)[0] == first[0]
    assert run(folder)[0] == first[0][:-1] + "0"


def test_several_processes_race(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(PROGRAM).format(blank=""))
    environment = {**os.environ, "GRADWRIGHT_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, str(path)]
    racing = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    found = {p.communicate()[0].rsplit(" ", 1)[0].splitlines()[0][:10] for p in racing}
    assert len(found) == 1 and all(p.returncode == 0 for p in racing)
    assert len(files(tmp_path)) == KERNELS
