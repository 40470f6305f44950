"""What gradwright costs: each figure beside its budget.

    python benchmarks/costs.py

Rewriting is the median over fresh functions; what happens once in a process is the best
of several fresh processes, and a call the best of several calls, since a busy machine
only adds.  All time is processor time.
"""

import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from workloads import glider
from workloads.loops import LOOPS

import gradwright as gw

GLIDER = Path(glider.__file__).read_text(encoding="utf-8")
HEAD, BODY = GLIDER.split("\n\n\n")
ARGUMENTS = (20.0, 0.1, 0.02, 3)

IMPORT = """
import time
start = time.process_time()
import gradwright
print(time.process_time() - start)
"""

FIRST_USE = """
import sys, time
import gradwright as gw
sys.path.insert(0, {folder!r})
import long_file
start = time.process_time()
gw.grad(long_file.{name})(20.0, 0.1, 0.02, 3)
print(time.process_time() - start)
"""


def copies(path, count):
    """A module of so many functions of thirty lines, each under its own name."""
    functions = [BODY.replace("height_lost", f"height_lost_{k}") for k in range(count)]
    path.write_text("\n\n\n".join([HEAD, *functions]), encoding="utf-8")
    return path


def rewriting(folder):
    """Seconds from the source of a function of thirty lines to its gradient."""
    path = copies(folder / "fresh_functions.py", 12)
    spec = importlib.util.spec_from_file_location("fresh_functions", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    times = []
    for k in range(12):
        g = gw.grad(getattr(module, f"height_lost_{k}"))
        start = time.process_time()
        g.source(*ARGUMENTS)
        times.append(time.process_time() - start)
    return statistics.median(times[1:])  # the first one parses the file


def cached_call():
    """Seconds that a cached call takes above its emitted source."""

    def energy(x, v, stiffness):
        return 0.5 * stiffness * x * x + 0.5 * v * v

    g = gw.grad(energy)
    g(1.0, 2.0, 3.0)
    scope = {}
    exec(g.source(), scope)
    emitted = scope["energy_grad"]
    return best(lambda: repeat(g)) / 10_000 - best(lambda: repeat(emitted)) / 10_000


def numbers(a, b, c, d, e):
    return a * b + c * d - e


def elements(a, b, c, d, e):
    return a[0] * b[0] + c[0] * d[0] - e[0]


def compiled_call(function, argument):
    """Seconds that a cached call of machine code takes above what it runs itself."""
    f = gw.jit(function)
    args = (argument,) * 5
    f(*args)
    machine = f.entry.last.forward.machine

    def calls():
        for _ in range(10_000):
            f(*args)

    def runs():
        for _ in range(10_000):
            machine.run(args, {})

    return (best(calls) - best(runs)) / 10_000


def repeat(f):
    for _ in range(10_000):
        f(1.0, 2.0, 3.0)


def first_use(folder):
    """Seconds of a first gradient in a file of a thousand lines, in a new process."""
    path = copies(folder / "long_file.py", 30)
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert 950 < lines < 1050, lines
    text = FIRST_USE.format(folder=str(folder), name="height_lost_13")
    return fresh_process(text, folder)


def importing(folder):
    """Seconds of `import gradwright` in a new process."""
    return fresh_process(IMPORT, folder)


def fresh_process(text, folder, runs=9):
    """The least that a program prints, each time in a process and a cache anew."""
    found = []
    for k in range(runs):
        environment = {
            **os.environ,
            "GRADWRIGHT_CACHE_DIR": str(folder / f"cache{k}"),
            "PYTHONPYCACHEPREFIX": str(folder / "bytecode"),  # the first run writes it
            "PYTHONDONTWRITEBYTECODE": "",
            "OPENBLAS_NUM_THREADS": "1",  # more would wait, and count as work
        }
        command = [sys.executable, "-c", text]
        run = subprocess.run(
            command, env=environment, check=True, capture_output=True, text=True
        )
        found.append(float(run.stdout))
    return min(found)


def best(f, runs=7):
    times = []
    for _ in range(runs):
        start = time.process_time()
        f()
        times.append(time.process_time() - start)
    return min(times)


def against_hand(name):
    """Time of the gradient, as a multiple of the gradient written by hand."""
    f, by_hand, args = LOOPS[name]
    g = gw.grad(f)
    ours, wanted = g(*args), by_hand(*args)
    assert abs(ours - wanted) <= 1e-9 * max(1.0, abs(wanted)), (name, ours, wanted)
    # Turn and turn about, so that a busy moment of the machine meets both.
    times, wanted_times = [], []
    for _ in range(9):
        times.append(best(lambda: g(*args), 1))
        wanted_times.append(best(lambda: by_hand(*args), 1))
    return min(times) / min(wanted_times)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["GRADWRIGHT_CACHE_DIR"] = str(folder / "cache")
        rows = [
            ("rewriting 30 lines", rewriting(folder) * 1e3, 50.0, "ms"),
            ("a cached call, above its source", cached_call() * 1e6, 10.0, "us"),
            (
                "a compiled call of 5 floats, above its kernel",
                compiled_call(numbers, 2.0) * 1e6,
                2.0,
                "us",
            ),
            (
                "a compiled call of 5 arrays, above its kernel",
                compiled_call(elements, np.ones(3)) * 1e6,
                2.0,
                "us",
            ),
            ("first use, in 1,000 lines", first_use(folder) * 1e3, 120.0, "ms"),
            ("import gradwright", importing(folder) * 1e3, 150.0, "ms"),
        ]
        rows += [
            (f"gradient / by hand: {n}", against_hand(n), 1.15, "x") for n in LOOPS
        ]
    table = Table("what", "measured", "budget", "")
    for column in table.columns[1:3]:
        column.justify = "right"
    for what, measured, budget, unit in rows:
        verdict = "[green]within" if measured <= budget else "[red]over"
        table.add_row(what, f"{measured:.2f} {unit}", f"{budget:g} {unit}", verdict)
    Console().print(table)


if __name__ == "__main__":
    main()
