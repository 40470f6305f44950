"""The wheel: every module is in it, and it differentiates where no source tree is."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("gradwright", "transform", "backends")


def run(*command: str | Path, cwd: Path, **variables: str) -> str:
    """What a command prints; its failure is the test's, with all that it printed."""
    result = subprocess.run(
        [sys.executable, *command],
        cwd=cwd,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy so that no stale build folder gets into it."""
    copy = tmp_path_factory.mktemp("copy")
    for folder in FOLDERS:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / folder, copy / folder, ignore=ignored)
    for name in ("setup.cfg", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    offline = ["--no-deps", "--no-index", "--no-build-isolation"]
    run("-m", "pip", "wheel", "--quiet", *offline, "-w", "wheels", ".", cwd=copy)
    (path,) = (copy / "wheels").glob("*.whl")
    return path


def test_the_wheel_holds_every_module(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    held = {name for name in names if ".dist-info/" not in name}
    sources = {
        path.relative_to(ROOT).as_posix()
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*.py")
    }
    inner = ("transform/", "backends/")
    wanted = {f"gradwright/{s}" if s.startswith(inner) else s for s in sources}
    assert held == wanted | {"gradwright/py.typed"}


def test_an_installed_wheel_differentiates(wheel: Path, tmp_path: Path) -> None:
    site, elsewhere = tmp_path / "site", tmp_path / "elsewhere"
    elsewhere.mkdir()
    options = ["--quiet", "--no-deps", "--no-index", "--target", site]
    run("-m", "pip", "install", *options, wheel, cwd=elsewhere)
    program = elsewhere / "cube.py"
    program.write_text(
        "import gradwright as gw\n\n\n"
        "def cube(x):\n    return x * x * x\n\n\n"
        "print(gw.__file__)\n"
        "print(gw.grad(cube)(2.0))\n"
    )
    printed = run(program, cwd=elsewhere, PYTHONPATH=str(site))
    assert printed.split("\n")[:2] == [str(site / "gradwright" / "__init__.py"), "12.0"]
