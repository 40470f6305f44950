"""Elementary functions written out in instructions: how near they are."""

from typing import Any

import numpy as np
import pytest
from over_arrays import over_arrays, samples, ulps

from gradwright.backends.machine.series import WRITTEN, has_better


@pytest.mark.parametrize("function", list(WRITTEN))
def test_what_is_written_out_is_exact_to_one_and_a_half_units(function: Any) -> None:
    if not has_better(function.__name__):
        pytest.skip("the functions of the library are as good here")
    x = samples(function.__name__, "float64")
    found = over_arrays(function, "float64").run((x,), {})
    assert ulps(found, function(x.astype(np.longdouble)), "float64") <= 1.5


@pytest.mark.parametrize("function", [np.expm1, np.tanh])
def test_where_parts_cancel(function: Any) -> None:
    """About the half multiples of log(2), where another power of two is taken."""
    steps = np.arange(-8, 9)[:, None] * np.log(2.0) / 4.0
    x = (steps + np.linspace(-1e-3, 1e-3, 101)).ravel()
    x = np.concatenate([x, np.geomspace(1e-320, 1e-10, 400)])
    found = over_arrays(function, "float64").run((x,), {})
    assert ulps(found, function(x.astype(np.longdouble)), "float64") <= 2.0


def test_far_angles() -> None:
    x = np.array([1e9, 2e9, 1e15, -1e22, 123456789.0] * 8)
    for function in (np.sin, np.cos):
        found = over_arrays(function, "float64").run((x,), {})
        np.testing.assert_allclose(found, function(x), rtol=4e-16)
