"""The programs of the speed comparison, where ../shared stands, at small sizes.

Their loops are differentiated as they stand there. A gradient is held against the
adjoint written by hand where there is one, and always against differences; forward mode
against the gradient, and both modes over it against its differences.
"""

import copy
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import gradwright as gw

BENCH = Path(__file__).resolve().parents[2] / "shared" / "bench"
LONGEST = 7  # of every length and number of steps
STEP = 1e-6


def names() -> Iterator[Any]:
    if not BENCH.is_dir():
        yield pytest.param(None, marks=pytest.mark.skip("needs ../shared"), id="bench")
        return
    for path in sorted((BENCH / "workloads").glob("[!_]*.py")):
        yield path.stem


def loaded(name: str) -> ModuleType:
    sys.path.insert(0, str(BENCH))
    try:
        return importlib.import_module(f"workloads.{name}")
    finally:
        sys.path.remove(str(BENCH))


def small(size: Any) -> Any:
    """The same parameters of a size, none above the longest."""
    if isinstance(size, dict):
        return {name: small(n) for name, n in size.items()}
    return tuple(map(small, size)) if isinstance(size, tuple) else min(size, LONGEST)


@pytest.fixture(params=list(names()))
def workload(request: Any, monkeypatch: Any) -> ModuleType:
    """A module of a program, with sizes for small arguments."""
    module = loaded(request.param)
    monkeypatch.setitem(module.SIZES, "small", small(module.SIZES["S"]))
    return module


def toward(arg: Any, rng: np.random.Generator) -> Any:
    """A direction for an argument, which keeps its zeros."""
    v = rng.standard_normal(np.shape(arg)) * np.abs(arg)
    return v if np.ndim(arg) else float(v)


def directions(workload: ModuleType, args: Any, count: int) -> list[Any]:
    """Directions for the arguments that a program is differentiated by."""
    rng = np.random.default_rng(1)
    return [[toward(args[k], rng) for k in workload.ARGNUMS] for _ in range(count)]


def moved(workload: ModuleType, args: Any, dots: Any, step: float) -> list[Any]:
    there = list(args)
    for k, dot in zip(workload.ARGNUMS, dots, strict=True):
        there[k] = args[k] + step * dot
    return there


def along(gradients: Any, dots: Any) -> float:
    return sum(float(np.sum(g * v)) for g, v in zip(gradients, dots, strict=True))


def of_every_argument(workload: ModuleType, args: Any, dots: Any) -> tuple[Any, ...]:
    """The direction, with zeros for the arguments that stay."""
    every = [0.0 * a if np.asarray(a).dtype.kind == "f" else 0 for a in args]
    for k, dot in zip(workload.ARGNUMS, dots, strict=True):
        every[k] = dot
    return tuple(every)


def test_the_derivatives_of_a_program(workload: Any) -> None:
    f, args, argnums = workload.fn, workload.make_inputs("small"), workload.ARGNUMS
    kept = copy.deepcopy(args)
    expected = f(*args)
    value, gradients = gw.value_and_grad(f, argnums=argnums)(*args)
    assert value == expected
    if hasattr(workload, "hand_grad"):
        by_hand = workload.hand_grad(*args)
        by_hand = by_hand if isinstance(by_hand, tuple) else (by_hand,)
        for ours, wanted in zip(gradients, by_hand, strict=True):
            size = np.max(np.abs(wanted), initial=0.0)
            np.testing.assert_allclose(ours, wanted, rtol=1e-9, atol=1e-12 * size)

    for dots in directions(workload, args, 3):
        slope = along(gradients, dots)
        size = along(map(np.abs, gradients), map(np.abs, dots))
        ahead, behind = (f(*moved(workload, args, dots, s)) for s in (STEP, -STEP))
        assert abs((ahead - behind) / (2 * STEP) - slope) <= 1e-6 * size
        value, dot = gw.jvp(f, args, of_every_argument(workload, args, dots))
        assert value == expected
        assert abs(dot - slope) <= 1e-10 * size
    for arg, old in zip(args, kept, strict=True):
        np.testing.assert_array_equal(arg, old)


def test_the_derivative_of_a_gradient(workload: Any) -> None:
    args, argnums = workload.make_inputs("small"), workload.ARGNUMS
    gradient = gw.grad(workload.fn, argnums=argnums)
    (dots,) = directions(workload, args, 1)
    _, forward = gw.jvp(gradient, args, of_every_argument(workload, args, dots))
    _, pull = gw.vjp(gradient, *args)
    bars = pull(tuple(dots))
    ahead, behind = (
        gradient(*moved(workload, args, dots, step)) for step in (STEP, -STEP)
    )
    for k, dot, a, b in zip(argnums, forward, ahead, behind, strict=True):
        slope = (a - b) / (2 * STEP)
        size = np.max(np.abs(slope), initial=0.0) + np.max(np.abs(a), initial=0.0)
        np.testing.assert_allclose(dot, slope, atol=1e-7 * size)
        np.testing.assert_allclose(bars[k], dot, atol=1e-10 * size)
