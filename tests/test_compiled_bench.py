"""The programs of the speed comparison, where ../shared stands, compiled.

Their values and gradients, as loops in plain Python and as machine code, are those of
the uncompiled programs, at small sizes.
"""

import copy
import warnings
from typing import Any

import numpy as np
import pytest
from lowered import in_both
from test_bench import loaded, names, small

import gradwright as gw
from gradwright.transform.errors import CompileWarning

TOLERANCE = 1e-11  # of sums in another order, per largest element

# Programs that have no machine code yet, and why.
NOT_YET: dict[str, str] = {}


@pytest.fixture(params=list(names()))
def workload(request: Any, monkeypatch: Any) -> Any:
    """A module of a program, with sizes for small arguments."""
    module = loaded(request.param)
    monkeypatch.setitem(module.SIZES, "small", small(module.SIZES["S"]))
    return module


def compiled(f: Any, args: Any, name: str) -> Any:
    with warnings.catch_warnings(), in_both() as made:
        warnings.simplefilter("error", CompileWarning)
        try:
            return gw.jit(f)(*args)
        except CompileWarning as why:
            assert name in NOT_YET
            assert NOT_YET[name] in str(why)
            pytest.skip(f"no machine code yet: {why}")
        except Exception as error:
            error.add_note("\n\n".join(program.text for program in made))
            raise


def assert_as(found: Any, wanted: Any) -> None:
    for a, b in zip(found, wanted, strict=True):
        assert np.shape(a) == np.shape(b)
        size = np.max(np.abs(b), initial=0.0)
        np.testing.assert_allclose(a, b, rtol=TOLERANCE, atol=TOLERANCE * size)


def test_value(workload: Any) -> None:
    args = workload.make_inputs("small")
    kept = copy.deepcopy(args)
    found = compiled(workload.fn, args, workload.__name__)
    assert_as([found], [workload.fn(*kept)])
    for arg, old in zip(args, kept, strict=True):
        np.testing.assert_array_equal(arg, old)


def test_gradient(workload: Any) -> None:
    args = workload.make_inputs("small")
    gradient = gw.value_and_grad(workload.fn, argnums=workload.ARGNUMS)
    value, parts = gradient(*args)
    found, found_parts = compiled(gradient, args, workload.__name__)
    assert_as([found, *found_parts], [value, *parts])
