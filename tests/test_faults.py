"""Planted faults: each test of the table fails once its fault is in the package.

A copy of the package, laid out as it is installed, gets one wrong change; the one test
that must see it runs on the copy.
"""

import configparser
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from faults import FAULTS, Fault

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent

# Loaded by pytest before any test: nothing else than the copy may be imported.
GUARD = """
from pathlib import Path
import gradwright.backends, gradwright.transform
for package in gradwright, gradwright.backends, gradwright.transform:
    assert Path(package.__file__).is_relative_to(Path(__file__).parent), package
"""


def lay_out(folder: Path) -> None:
    """Copy the packages to their places, as setup.cfg maps them."""
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    for line in config["options"]["package_dir"].strip().splitlines():
        name, _, source = line.partition("=")
        target = folder / name.strip().replace(".", "/")
        target.mkdir(parents=True)
        for path in (ROOT / source.strip()).glob("*.py"):
            shutil.copy2(path, target)
        compiled = ROOT / source.strip() / "__pycache__"
        if compiled.is_dir():
            shutil.copytree(compiled, target / "__pycache__", dirs_exist_ok=True)
    (folder / "only_the_copy.py").write_text(GUARD, encoding="utf-8")


def run(folder: Path, *tests: str) -> "subprocess.CompletedProcess[str]":
    """Run tests on the package in a folder; without hypothesis, in half the time."""
    options = ["-q", "--no-header", "--tb=short", "--rootdir", str(ROOT)]
    options += ["--noconftest", "-p", "only_the_copy"]
    for plugin in ("cacheprovider", "xdist", "hypothesispytest"):
        options += ["-p", f"no:{plugin}"]
    where = [str(TESTS / test) for test in tests]
    return subprocess.run(
        [sys.executable, "-P", "-m", "pytest", *options, *where],
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        timeout=600,  # for all of them, on a busy machine
    )


def environment(folder: Path) -> dict[str, str]:
    """The environment, for the copy, without what pytest itself has put there."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    own = {"PYTHONPATH": str(folder), "GRADWRIGHT_CACHE_DIR": str(folder / "cache")}
    return kept | own


def plant(fault: Fault, folder: Path) -> None:
    """Make the wrong change, whose old text stands in one place only."""
    part = folder / "gradwright" / fault.part
    module = part.with_suffix(".py")
    paths = [module] if module.exists() else sorted(part.rglob("*.py"))
    found = [p for p in paths if fault.old in p.read_text(encoding="utf-8")]
    times = sum(p.read_text(encoding="utf-8").count(fault.old) for p in found)
    assert times == 1, (
        f"{fault.part} has the text of the fault {fault.name!r} {times} times, not once"
    )
    (path,) = found
    text = path.read_text(encoding="utf-8").replace(fault.old, fault.new)
    path.write_text(text, encoding="utf-8")
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        compiled.unlink()


@pytest.fixture(scope="session")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The package as it is."""
    folder = tmp_path_factory.mktemp("sound")
    lay_out(folder)
    yield folder
    shutil.rmtree(folder)


def test_the_sound_package_passes(sound: Path) -> None:
    """Every test of the table, without any fault."""
    result = run(sound, *dict.fromkeys(fault.killer for fault in FAULTS))
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("fault", FAULTS, ids=[fault.name for fault in FAULTS])
def test_fault(fault: Fault, sound: Path, tmp_path: Path) -> None:
    """The test runs and fails; an error before it is no kill."""
    folder = tmp_path / "faulty"
    shutil.copytree(sound, folder)
    plant(fault, folder)
    result = run(folder, fault.killer)
    shutil.rmtree(folder)
    output = result.stdout + result.stderr
    assert result.returncode != 0, f"no test kills the fault {fault.name!r}"
    assert result.returncode == 1, output


def test_the_table_has_no_fault_twice() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 30
    assert len({(fault.part, fault.old, fault.new) for fault in FAULTS}) == len(FAULTS)
