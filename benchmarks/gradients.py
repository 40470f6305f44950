"""The programs of ../shared/bench: is each gradient right, and what does it cost?

    python benchmarks/gradients.py [SIZE]

Values are held against the plain function, gradients against the adjoint written by
hand where there is one, and against a central difference along a random direction.
The cost is that of the emitted source, as a multiple of the plain function's.
"""

import importlib
import pkgutil
import sys
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import gradwright as gw

BENCH = Path(__file__).resolve().parents[2] / "shared" / "bench"
STEP = 1e-6
TOLERANCES = {"hand": 1e-9, "differences": 1e-5}


def loaded():
    """Name and module of each program."""
    sys.path.insert(0, str(BENCH))  # before this folder, which has `workloads` too
    package = importlib.import_module("workloads")
    for name in sorted(m.name for m in pkgutil.iter_modules(package.__path__)):
        if not name.startswith("_"):
            yield name, importlib.import_module(f"workloads.{name}")


def by_differences(workload, args, gradients):
    """The error of the gradients along a direction, relative to the slope."""
    rng = np.random.default_rng(1)
    ahead, behind, slope = list(args), list(args), 0.0
    for k, g in zip(workload.ARGNUMS, gradients):
        v = rng.standard_normal(np.shape(args[k])) * np.abs(args[k])
        v = v if np.ndim(v) else float(v)
        ahead[k], behind[k] = args[k] + STEP * v, args[k] - STEP * v
        slope += float(np.sum(g * v))
    wanted = (workload.fn(*ahead) - workload.fn(*behind)) / (2 * STEP)
    return abs(slope - wanted) / abs(wanted)


def by_hand(workload, args, gradients):
    """The largest error, relative to the largest entry; None without an adjoint."""
    if not hasattr(workload, "hand_grad"):
        return None
    wanted = workload.hand_grad(*args)
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    return max(
        np.max(np.abs(g - w)) / np.max(np.abs(w)) for g, w in zip(gradients, wanted)
    )


def seconds(f, args, runs=3):
    times = []
    for _ in range(runs):
        start = time.process_time()
        f(*args)
        times.append(time.process_time() - start)
    return min(times)


def row(workload, size):
    """What stands in the table, and whether all of it is right."""
    args = workload.make_inputs(size)
    f, g = workload.fn, gw.value_and_grad(workload.fn, argnums=workload.ARGNUMS)
    value, gradients = g(*args)
    errors = {
        "hand": by_hand(workload, args, gradients),
        "differences": by_differences(workload, args, gradients),
    }
    right = value == f(*args) and all(
        error is None or error <= TOLERANCES[kind] for kind, error in errors.items()
    )
    shown = ["" if error is None else f"{error:.0e}" for error in errors.values()]
    plain = seconds(f, args)
    cost = f"{seconds(g, args) / plain:.1f} x"
    return [*shown, f"{plain * 1e3:.1f} ms", cost], right


def main(size="S"):
    if not BENCH.is_dir():
        print("needs ../shared, which does not stand here")
        return
    wrong = []
    headings = "error: hand", "error: differences", "function", "gradient", ""
    table = Table("program", *headings)
    for name, workload in loaded():
        if size not in workload.SIZES:
            continue
        shown, right = row(workload, size)
        table.add_row(name, *shown, "[green]right" if right else "[red]wrong")
        wrong += [] if right else [name]
    Console().print(table)
    if wrong:
        sys.exit(f"wrong: {', '.join(wrong)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
