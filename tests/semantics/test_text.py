"""The emitted text: the same for the same program, in a file that is never changed."""

import ast
import importlib.util
import os
import subprocess
import sys
import traceback
from pathlib import Path

import numpy as np
import pytest
from semantics.inside import emitted, file_of
from semantics.oracle import same

import gradwright as gw


def decay(x, n, rates):
    """A program with a loop, a branch, a helper and an array."""
    s = 0.0
    for k in range(n):
        s += helper(x, rates[k]) * k
        if s > 10.0:
            s = s * 0.5
    return s


def helper(x, rate):
    return x * x * rate


ARGUMENTS = 2.0, 3, np.array([1.0, 2.0, 3.0])


def test_the_text_is_what_runs() -> None:
    g = gw.value_and_grad(decay)
    value, gradient = g(*ARGUMENTS)
    text = g.source(*ARGUMENTS)
    assert file_of(g).read_text() == text
    scope: dict[str, object] = {}
    exec(compile(text, "a copy", "exec"), scope)  # it stands alone
    (name,) = [n for n in scope if n.startswith("decay")]
    same(scope[name](*ARGUMENTS), (value, gradient))


def test_it_imports_nothing_but_numpy_and_math() -> None:
    for g in (gw.grad(decay), gw.grad(decay, argnums=2), gw.value_and_grad(decay)):
        tree = ast.parse(g.source(*ARGUMENTS))
        imported = {
            alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.Import)
            for alias in node.names
        }
        assert imported <= {"numpy", "math", "cmath"}
        assert not any(isinstance(node, ast.ImportFrom) for node in ast.walk(tree))


def test_the_same_text_for_the_same_program() -> None:
    first = gw.grad(decay).source(*ARGUMENTS)
    gw.grad(lambda x: helper(x, 2.0)).source(1.0)  # others do not matter
    second = gw.grad(decay).source(5.0, 100, np.ones(7))
    assert first == second


SCRIPT = """
import sys
sys.path[:0] = sys.argv[1:2]
import numpy as np
import gradwright as gw
from semantics import test_text
print(gw.grad(test_text.decay).source(*test_text.ARGUMENTS))
print(gw.vjp(test_text.decay, *test_text.ARGUMENTS)[1].source())
"""


def test_the_same_text_in_two_processes(tmp_path: Path) -> None:
    texts = []
    for seed in ("1", "2"):
        environment = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "GRADWRIGHT_CACHE_DIR": str(tmp_path / seed),
        }
        tests = str(Path(__file__).parents[1])
        command = [sys.executable, "-c", SCRIPT, tests]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        texts.append(done.stdout)
    assert texts[0] == texts[1]
    assert texts[0].startswith(gw.grad(decay).source(*ARGUMENTS))


def test_the_file_is_written_once() -> None:
    g = gw.grad(decay)
    g(*ARGUMENTS)
    path = file_of(g)
    before = path.stat().st_mtime_ns, path.stat().st_ino
    again = gw.grad(decay)
    again(*ARGUMENTS)
    assert file_of(again) == path
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == before


def test_a_text_of_its_own_for_each_kind_of_arguments() -> None:
    g = gw.grad(decay)
    g(*ARGUMENTS)
    first = file_of(g)
    text = first.read_text()
    g(np.float32(2.0), 3, ARGUMENTS[2])
    assert first.read_text() == text


def test_tracebacks_show_the_emitted_line() -> None:
    def f(x):
        y = x * 2.0
        return 1.0 / (y - 4.0)

    with pytest.raises(ZeroDivisionError) as caught:
        gw.grad(f)(2.0)
    shown = "".join(traceback.format_exception(caught.value))
    frame = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert Path(frame.filename).exists()
    assert frame.line and frame.line in Path(frame.filename).read_text()
    assert "test_text.py:" in shown and "return 1.0 / (y - 4.0)" in shown


def test_it_can_be_imported_and_edited_as_ordinary_python(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(gw.grad(decay).source(*ARGUMENTS).replace("10.0", "1e9"))
    spec = importlib.util.spec_from_file_location("mine", path)
    mine = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(mine)
    (name,) = [n for n in vars(mine) if n.startswith("decay")]
    value = vars(mine)[name](*ARGUMENTS)
    assert value == 2 * 2.0 * (2.0 + 2 * 3.0)


def test_it_has_derivatives_of_its_own() -> None:
    """It has a source, like any other function."""
    g = gw.grad(helper)
    assert g(3.0, 2.0) == 12.0
    of_g = emitted(g)
    assert gw.grad(of_g)(3.0, 2.0) == 4.0
    assert gw.grad(of_g, argnums=1)(3.0, 2.0) == 6.0


def test_source_without_arguments_is_that_of_the_last_call() -> None:
    g = gw.grad(lambda x, n: x**n)
    with pytest.raises(ValueError, match="has not been called yet"):
        g.source()
    g(2.0, 3)
    assert g.source() == g.source(5.0, 4)
    g(np.float32(2.0), 3)
    assert g.source() == g.source(np.float32(5.0), 4)
