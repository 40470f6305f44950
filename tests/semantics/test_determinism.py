"""The same call gives the same bits."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from semantics.oracle import same

import gradwright as gw


def energy(xs, gain):
    s = 0.0
    for k, x in enumerate(xs):
        s += np.sin(x * gain) / (k + 1.0) + np.sum(xs * x) * 1e-3
    return s


XS = np.random.default_rng(7).normal(size=301)


def derivatives() -> tuple[object, ...]:
    """Everything that is derived from `energy`."""
    pair = gw.value_and_grad(energy, argnums=(0, 1))(XS, 0.7)
    return (
        *pair,
        gw.jvp(energy, (XS, 0.7), (XS, 1.0)),
        gw.vjp(energy, XS, 0.7)[1](1.0),
    )


def test_the_same_bits_at_every_call() -> None:
    first = derivatives()
    for _ in range(3):
        same(derivatives(), first)


SCRIPT = """
import sys
sys.path[:0] = sys.argv[1:2]
from semantics import test_determinism
value, (xs, gain), (_, tangent), pulled = test_determinism.derivatives()
print(value.hex(), gain.hex(), float(tangent).hex(), xs.tobytes().hex())
"""


def test_the_same_bits_in_another_process(tmp_path: Path) -> None:
    outputs = []
    for threads in ("1", "2"):
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": threads,
            "OPENBLAS_NUM_THREADS": threads,
            "GRADWRIGHT_CACHE_DIR": str(tmp_path / threads),
        }
        tests = str(Path(__file__).parents[1])
        command = [sys.executable, "-c", SCRIPT, tests]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1]
    value, (xs, gain), (_, tangent), _ = derivatives()
    mine = (value.hex(), gain.hex(), float(tangent).hex(), xs.tobytes().hex())
    assert outputs[0].split() == list(mine)
