"""What an import takes along, and what a gradient stores."""

import os
import subprocess
import sys
import time

import pytest

import gradwright as gw

HEAVY = "numba", "scipy", "cupy", "mpi4py"


@pytest.mark.parametrize(
    "more", ["", "; print(gw.grad(f)(2.0))"], ids=["import", "grad"]
)
def test_an_import_takes_nothing_heavy_along(more: str, tmp_path) -> None:
    """Nor does a gradient that needs none of it."""
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, gradwright as gw\n"
        "def f(x):\n"
        "    return x * x\n"
        f"pass{more}\n"
        f"print([m for m in {HEAVY!r} if m in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, env=os.environ
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"


def linear(x, n):
    s = 0.0
    for k in range(n):
        s = s * 0.5 + x * k
    return s


def overwritten(x, n):
    s = x
    for _ in range(n):
        s = s * s * 0.5
    return s


def test_only_what_is_needed_and_overwritten_is_stored() -> None:
    """A program that is linear in what it overwrites stores nothing of it."""
    assert "append" not in gw.grad(linear).source(2.0, 3)
    text = gw.grad(overwritten).source(2.0, 3)
    assert text.count(".append(") == 1
    assert text.count(".pop()") == 1


def test_forward_mode_stores_nothing() -> None:
    assert "append" not in gw.source(overwritten, 2.0, 3, kind="jvp")
    assert "append" in gw.source(overwritten, 2.0, 3, kind="vjp")


def repeated(x, n):
    for _ in range(n):
        x = x * x * 0.5
    return x


def test_memory_analysis_says_how_much_is_stored() -> None:
    compiled = gw.jit(gw.grad(repeated)).lower(2.0, 10).compile()
    assert compiled.memory_analysis()["tape"] == 8 * 10
    compiled = gw.jit(gw.grad(linear)).lower(2.0, 10).compile()
    assert compiled.memory_analysis()["tape"] == 0


def test_a_cached_call_costs_little() -> None:
    """About a microsecond; what is asked here is what a busy machine gives."""
    f = gw.jit(lambda x, y: x * y)
    f(2.0, 3.0)
    times = []
    for _ in range(20):
        start = time.perf_counter()
        for _ in range(1000):
            f(2.0, 3.0)
        times.append(time.perf_counter() - start)
    assert min(times) / 1000 < 5e-6
