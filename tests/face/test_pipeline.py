"""The whole way from a function to its emitted source."""

import subprocess
import sys

from gradwright.arguments import pattern_of
from gradwright.pipeline import build, derived_of
from gradwright.transform import source as sources
from gradwright.transform.step import Step
from gradwright.transform.types import FLOAT

GRAD = Step("grad")


def energy(x, gain):
    return gain * x * x


def test_build() -> None:
    built = build([GRAD], sources.read(energy), {"x": FLOAT, "gain": FLOAT})
    assert built.module.name == "energy_grad"
    scope = {}
    exec(built.module.text, scope)
    assert scope["energy_grad"](3.0, 2.0) == 12.0
    assert built.backward is None
    halves = build(
        [Step("vjp", None)], sources.read(energy), {"x": FLOAT, "gain": FLOAT}
    )
    assert halves.backward is not None


def test_the_watcher_sees_every_transform() -> None:
    seen = []
    arguments = {n: pattern_of(1.0, n) for n in ("x", "gain")}
    derived_of(
        [GRAD, Step("jvp", None)],
        sources.read(energy),
        arguments,
        lambda title, derived: seen.append((title, derived.function.name)),
    )
    assert seen == [
        ("specialise", "energy"),
        ("grad", "energy_grad"),
        ("jvp", "energy_grad_jvp"),
    ]


def test_importing_leaves_out_what_a_call_does_not_need() -> None:
    program = "import gradwright, sys; print(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    heavy = {"optree", "rich", "platformdirs", "scipy", "numba", "cupy", "mpi4py"}
    assert not heavy & {name.split(".")[0] for name in run.stdout.split()}
