"""The examples and the notebooks run to their end, and show what they promise."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = sorted((ROOT / "examples").glob("*.py"))
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))

# What each script's output has to hold, in this order.
PROMISES = {
    "antenna.py": ["step 6", "reflected 0.0e+00", "known"],
    "demo.py": [
        "while y > 0.0:", "def landing_grad", "central difference", "simulations", "◎",
    ],
    "planet.py": ["step 5", "period", "4.23"],
    "trajectory.py": [],
}  # fmt: skip


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda p: p.name)
def test_example(script: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"}
    run = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        capture_output=True,
        encoding="utf-8",
        env=environment,
        cwd=tmp_path,
    )
    assert run.returncode == 0, run.stderr
    position = 0
    for words in PROMISES[script.name]:
        position = run.stdout.find(words, position)
        assert position >= 0, f"{words!r} is missing in:\n{run.stdout}"


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.name)
def test_notebook(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Run the cells in this process, each in a file of its own, as a kernel does."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for k, text in enumerate(cells(path)):
        file = tmp_path / f"cell_{k}.py"
        file.write_text(text, encoding="utf-8")
        exec(compile(text, str(file), "exec"), names)
    assert "_grad(" in capsys.readouterr().out


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.name)
def test_notebook_is_stored_without_outputs(path: Path) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


def cells(path: Path) -> list[str]:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    return ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]


def test_notebook_in_a_kernel(tmp_path: Path) -> None:
    """The same in a real kernel, where there is one: its cells are no files."""
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    for path in NOTEBOOKS:
        notebook = nbformat.read(path, as_version=4)
        nbclient.NotebookClient(notebook, timeout=60).execute(cwd=tmp_path)
