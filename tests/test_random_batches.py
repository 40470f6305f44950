"""Random programs under vmap, against a loop over the samples: values, derivatives.

By hand, with more of them:

    GRADWRIGHT_BATCHES=500 pytest -n 2 tests/test_random_batches.py
"""

import hashlib
import linecache
import os
import warnings
from collections.abc import Callable
from copy import deepcopy
from random import Random
from typing import Any

import numpy as np
import pytest
from generator import PROFILES, Program, written

import gradwright as gw

PROGRAMS = int(os.environ.get("GRADWRIGHT_BATCHES", "3"))  # of each profile
COUNT = 3


def made(program: Program) -> Callable[..., Any]:
    """The function of a program, which has its source."""
    name = f"<batch {hashlib.md5(program.source.encode()).hexdigest()}>"
    lines = program.source.splitlines(True)
    linecache.cache[name] = len(program.source), None, lines, name
    space: dict[str, Any] = {}
    exec(compile(program.source, name, "exec"), space)
    f = space["f"]
    assert callable(f)
    return f  # type: ignore[no-any-return]


def is_mapped(a: Any) -> bool:
    return np.asarray(a).dtype.kind in "fc" and not isinstance(a, list | tuple)


def batch_of(program: Program, seed: int) -> tuple[list[Any], tuple[Any, ...]]:
    """Samples near to the arguments of a program, the first at these, and the axes."""
    rng = np.random.default_rng(seed)
    given, axes = [], []
    for a in program.given:
        if is_mapped(a):
            factors = [1.0, *(1.0 + 0.1 * rng.standard_normal(COUNT - 1))]
            parts = [np.asarray(a) * np.asarray(a).dtype.type(f) for f in factors]
            given.append(np.stack(parts))
            axes.append(0)
        else:
            given.append(a)
            axes.append(None)
    return given, tuple(axes)


def one(given: list[Any], axes: tuple[Any, ...], k: int) -> list[Any]:
    pairs = zip(given, axes, strict=True)
    return [np.array(a[k])[()] if axis == 0 else deepcopy(a) for a, axis in pairs]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("mode", ["value", "grad", "jit"])
@pytest.mark.parametrize("profile", PROFILES)
def test_random_programs(profile: str, mode: str) -> None:
    judged = 0
    for seed in range(PROGRAMS):
        program = written(Random(1000 + seed), profile)
        given, axes = batch_of(program, seed)
        if 0 not in axes or (mode == "grad" and profile == "complex"):
            continue
        f = made(program)
        g = gw.grad(f, axes.index(0)) if mode == "grad" else f
        before = deepcopy(given)
        batched = gw.vmap(g, in_axes=axes)
        if mode == "jit":
            batched = gw.jit(batched)
        failed, expected = None, []
        try:
            for k in range(COUNT):
                expected.append(g(*one(given, axes, k)))
        except gw.GradwrightError:
            continue  # no such derivative
        except Exception as e:
            failed = e
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found = batched(*given)
            except gw.GradwrightError:
                continue  # aliases, say
            except Exception as e:
                assert type(e) is type(failed), program.source
                assert f"sample {len(expected)}" in e.__notes__[-1], program.source
                continue
        assert failed is None, program.source
        assert all(map(np.array_equal, given, before)), program.source
        wanted = np.stack([np.asarray(e) for e in expected])
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        near = 1e-4 if program.is_single else 1e-9
        np.testing.assert_allclose(found, wanted, near, near, err_msg=program.source)
        judged += 1
    assert judged or (mode == "grad" and profile == "complex") or PROGRAMS == 0
