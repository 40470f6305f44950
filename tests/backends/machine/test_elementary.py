"""Elementary functions inside loops: how near they are, and at special values."""

import math
from typing import Any

import numpy as np
import pytest
from over_arrays import RANGES, over_arrays, samples, ulps

from gradwright.backends.machine import build, elementary
from gradwright.backends.machine.series import WRITTEN, has_better

# Units in the last place: two, but where libmvec is less exact; glibc promises four.
MOST = {
    ("tan", "float64"): 3.5,
    ("arcsin", "float64"): 3.0,
    ("arctan2", "float64"): 3.0,
}
MOST_SINGLE = 4.0


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", list(RANGES))
def test_functions_are_exact_to_a_few_units(name: str, dtype: str) -> None:
    x = samples(name, dtype)
    found = over_arrays(getattr(np, name), dtype).run((x,), {})
    wanted = getattr(np, name)(x.astype(np.longdouble))
    most = MOST.get((name, dtype), 2.0) if dtype == "float64" else MOST_SINGLE
    assert ulps(found, wanted, dtype) <= most


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", list(RANGES))
def test_special_values_are_as_numpys(name: str, dtype: str) -> None:
    info = np.finfo(dtype)
    values = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 2.0, -2.0]
    values += [info.smallest_subnormal, info.max, -info.max, 710.5, -746.5, 89.0, 1e5]
    x = np.array(values * 4, dtype)
    with np.errstate(all="ignore"):
        wanted = getattr(np, name)(x)
        found = over_arrays(getattr(np, name), dtype).run((x,), {})
    np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))
    np.testing.assert_array_equal(np.isinf(found), np.isinf(wanted))
    numbers = ~np.isnan(wanted)
    signs = np.signbit(found)[numbers], np.signbit(wanted)[numbers]
    np.testing.assert_array_equal(*signs)
    finite = np.isfinite(wanted)
    off = np.abs(found[finite] - wanted[finite])
    assert np.all(off <= 4 * np.spacing(np.abs(wanted[finite])))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ["arctan2", "hypot", "power"])
def test_functions_of_two(name: str, dtype: str) -> None:
    rng = np.random.default_rng(8)
    a = rng.uniform(0.1 if name == "power" else -9, 9, 20_000).astype(dtype)
    b = rng.uniform(-9, 9, 20_000).astype(dtype)
    found = over_arrays(getattr(np, name), dtype, 2).run((a, b), {})
    wanted = getattr(np, name)(a.astype(np.longdouble), b.astype(np.longdouble))
    most = MOST.get((name, dtype), 2.0) if dtype == "float64" else MOST_SINGLE
    assert ulps(found, wanted, dtype) <= most
    edges = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 2.0]
    a, b = (np.array(x, dtype) for x in zip(*[(p, q) for p in edges for q in edges]))
    with np.errstate(all="ignore"):
        wanted = getattr(np, name)(a, b)
        found = over_arrays(getattr(np, name), dtype, 2).run((a, b), {})
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    np.testing.assert_array_equal(
        np.signbit(found)[~np.isnan(wanted)], np.signbit(wanted)[~np.isnan(wanted)]
    )


@pytest.mark.parametrize("function", [np.exp, np.sin, np.log, np.tanh])
def test_loops_over_them_are_vectors(function: Any) -> None:
    if not elementary.vector_names("exp", 1):
        pytest.skip("neither libmvec nor libsvml is here")
    made = over_arrays(function, "float64").usual
    assembly = build.compiled(made.text, made.name).library.get_asm_str()
    forms = elementary.vector_names(function.__name__, 1).values()
    is_better = function in WRITTEN and has_better(function.__name__)
    written_out = is_better and "vfmadd" in assembly
    assert written_out or any(form in assembly for form in forms)
