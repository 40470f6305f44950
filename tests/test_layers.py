"""The order of the house: who may import whom, and where each file's test stands."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# In the order in which a program flows. A module imports only what stands earlier;
# "primitives.*" is every other module of that folder.
TRANSFORM = """
    errors step structure axes parsing source language normalise liveness stored
    definite indices types template shapes primitives.record primitives.* primitives
    following core picks notation scopes activity mixed build custom calls
    specialise rules forward dependence reverse fission batch
    lifted lifted_rows lifted_products lifting parallel
    deadcode bounds algebra simplify linear basis jacobian interface ownership trips
    begin cleared in_place
    spelling layout names outline displays iterating nesting writer emit
    lowering
""".split()
ROWS = "gradwright.transform.primitives."
# Operations of compiled code, which are tested row by row.
OF_ROWS = "operations floats arithmetic powers comparing rounding kinds".split()
WHOLE = (
    "transform.specialise",
    "transform.reverse",
    "transform.lowering",
    "backends.machine",
)  # packages with one place each
BACKENDS = "base numpy machine cuda_source cupy collectives".split()
ORDER = [
    *["gradwright.transform", *(f"gradwright.transform.{name}" for name in TRANSFORM)],
    *["gradwright.backends", *(f"gradwright.backends.{name}" for name in BACKENDS)],
]

# Each folder of the repository, and the name under which it is installed.
FOLDERS = {
    "gradwright": "gradwright",
    "transform": "gradwright.transform",
    "backends": "gradwright.backends",
}


def module_name(path: Path) -> str:
    """The name under which a file of the repository is imported."""
    folder, *inner = path.relative_to(ROOT).with_suffix("").parts
    return ".".join([FOLDERS[folder], *inner]).removesuffix(".__init__")


MODULES = {
    module_name(path): path
    for folder in FOLDERS
    for path in sorted((ROOT / folder).rglob("*.py"))
}


def is_face(name: str) -> bool:
    parts = ("gradwright.transform.", "gradwright.backends.")
    return not f"{name}.".startswith(parts)


def place(name: str) -> int:
    """Where a module stands in the order; the public face comes last."""
    if is_face(name):
        return len(ORDER)
    if name not in ORDER and name.startswith(ROWS):
        name = f"{ROWS}*"
    return ORDER.index(whole(name))


def whole(name: str) -> str:
    """The package that has one place with all its modules, or the module itself."""
    package = name.rpartition(".")[0]
    return package if package.endswith(WHOLE) else name


def imports(name: str, path: Path, known: set[str]) -> Iterator[tuple[int, str]]:
    """Every import of a file, inside functions too, as (line, full module name)."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")
                parents = parents[: len(parents) - node.level + 1]
                base = ".".join([*parents, *filter(None, [base])])
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                yield node.lineno, inner if inner in known else base


def wrong_imports(modules: dict[str, Path]) -> list[str]:
    """The imports that point the wrong way, each with its file and line."""
    wrong = []
    for name, path in modules.items():
        if is_face(name):
            continue
        for line, target in imports(name, path, {*modules, *ORDER}):
            if target.split(".")[0] in ("transform", "backends"):
                wrong.append(f"{path}:{line}: {target}: begin with gradwright.")
            elif target == "gradwright" or target.startswith("gradwright."):
                if is_face(target):
                    wrong.append(f"{path}:{line}: {name} imports the public face")
                elif target not in modules:
                    wrong.append(f"{path}:{line}: {target} does not exist")
                elif place(target) == place(name) and target.startswith(ROWS):
                    continue  # rows are written with each other
                elif place(target) >= place(name) and whole(target) != whole(name):
                    wrong.append(f"{path}:{line}: {name} stands before {target}")
    return wrong


def test_every_module_has_its_place() -> None:
    homeless = []
    for name in MODULES:
        try:
            place(name)
        except ValueError:
            homeless.append(name)
    assert not homeless, "give each a place in TRANSFORM or BACKENDS"


def test_imports_point_backwards() -> None:
    assert not wrong_imports(MODULES)


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("transform.core", "from gradwright.transform import forward"),
        ("transform.core", "from .forward import jvp"),
        ("transform.core", "from . import forward"),
        ("transform.core", "def f():\n    import gradwright.transform.forward"),
        ("transform.forward", "from gradwright.backends import base"),
        ("transform.forward", "import gradwright"),
        ("transform.forward", "from gradwright import entry"),
        ("transform.core", "from transform import errors"),
        ("transform.primitives.record", "from .linear import dot"),
        ("backends.base", "from gradwright.backends.numpy import run"),
        ("backends.numpy", "from gradwright.pipeline import run"),
    ],
)
def test_a_wrong_import_is_seen(name: str, source: str, tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(source)
    others = {f"gradwright.{other}": path for other in ("entry", "pipeline")} | {
        f"gradwright.transform.primitives.{other}": path
        for other in ("linear", "reductions")
    }
    empty = tmp_path / "empty.py"
    empty.touch()
    modules = dict.fromkeys([*ORDER, *others, "gradwright"], empty)
    assert not wrong_imports(modules)
    assert len(wrong_imports({**modules, f"gradwright.{name}": path})) == 1


def test_each_file_has_its_test() -> None:
    missing = []
    for folder in ("transform", "backends"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            inner = path.relative_to(ROOT)
            mirror = ROOT / "tests" / inner.with_name(f"test_{inner.name}")
            if inner.parts[:2] == ("transform", "primitives"):
                wanted = [mirror, ROOT / "tests" / "test_primitives.py"]
            elif inner.stem in OF_ROWS and "machine" in inner.parts:
                wanted = [mirror, mirror.with_name("test_rows.py")]
            else:
                wanted = [mirror]
            if path.name != "__init__.py" and not any(test.exists() for test in wanted):
                missing.append(f"{inner} wants {wanted[-1].relative_to(ROOT)}")
    assert not missing, "\n".join(missing)


def test_only_emit_imports_astor() -> None:
    users = [
        name
        for name, path in MODULES.items()
        if any(
            target.split(".")[0] == "astor" for _, target in imports(name, path, set())
        )
    ]
    assert set(users) <= {"gradwright.transform.layout"}


def test_no_file_is_named_for_nothing() -> None:
    folders = [*FOLDERS, "tests", "examples", "benchmarks"]
    names = {path.stem for folder in folders for path in (ROOT / folder).rglob("*.py")}
    assert not names & {"utils", "util", "misc", "helpers", "helper", "common"}


def run(program: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", program]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_importing_gradwright_imports_no_heavy_library(tmp_path: Path) -> None:
    result = run("import gradwright, sys; print(*sys.modules)", tmp_path)
    assert result.returncode == 0, result.stderr
    tops = {name.split(".")[0] for name in result.stdout.split()}
    assert not tops & {"numba", "llvmlite", "scipy", "cupy", "cuda", "mpi4py", "pytest"}


def test_a_gradient_is_asked_for_without_the_pipeline(tmp_path: Path) -> None:
    program = "from gradwright import *; import sys; grad(lambda x: x)"
    result = run(f"{program}; print(*sys.modules)", tmp_path)
    assert result.returncode == 0, result.stderr
    late = "pipeline derive transform.core transform.specialise transform.primitives"
    loaded = result.stdout.split()
    assert not {f"gradwright.{name}" for name in late.split()} & set(loaded)
    assert not {"astor", "optree", "platformdirs", "rich"} & set(loaded)


@pytest.mark.parametrize("folder", ["transform", "backends"])
def test_the_bare_name_is_refused(folder: str) -> None:
    result = run(f"import {folder}", ROOT)
    assert f"import gradwright.{folder}" in result.stderr
