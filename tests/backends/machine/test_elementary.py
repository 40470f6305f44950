"""Elementary functions inside loops: how near they are, and at special values."""

import math
from typing import Any

import numpy as np
import pytest
from loop_core import array_of, loop, whole

from gradwright.backends import machine
from gradwright.backends.machine import build, elementary
from gradwright.transform.core import (
    Alloc,
    At,
    Buffer,
    Function,
    Let,
    Load,
    Statement,
    Store,
    Value,
)
from gradwright.transform.indices import Dim, Linear, symbol
from gradwright.transform.primitives import load_rows
from gradwright.transform.primitives.record import TABLE

load_rows()

RANGES = {
    "exp": (-700, 700), "exp2": (-1000, 1000), "expm1": (-30, 300), "log": (1e-5, 1e5),
    "log2": (1e-5, 1e5), "log10": (1e-5, 1e5), "log1p": (-0.999, 1e4),
    "cbrt": (-1e3, 1e3), "sin": (-1e4, 1e4), "cos": (-1e4, 1e4), "tan": (-1e3, 1e3),
    "arcsin": (-1, 1), "arccos": (-1, 1), "arctan": (-50, 50), "sinh": (-30, 30),
    "cosh": (-30, 30), "tanh": (-5, 5), "arcsinh": (-1e3, 1e3), "arccosh": (1, 1e3),
    "arctanh": (-0.999, 0.999),
}  # fmt: skip
# Units in the last place: two, but where libmvec is less exact; glibc promises four.
MOST = {
    ("tan", "float64"): 3.5,
    ("arcsin", "float64"): 3.0,
    ("arctan2", "float64"): 3.0,
}
MOST_SINGLE = 4.0


def over_arrays(function: Any, dtype: str, arity: int = 1) -> Any:
    """A kernel that does one thing to each element of arrays."""
    p = TABLE.find(function, arity)
    assert p is not None
    xs = [array_of(f"x{k}", 1, dtype) for k in range(arity)]
    out = Buffer("out", xs[0].type, xs[0])

    def body(i: Linear) -> list[Statement]:
        at = (At(i),)
        given = tuple(Value("x", x.type.element) for x in xs)
        loads = [Load(v, x, at, safe=True) for v, x in zip(given, xs, strict=True)]
        y = Value("y", p.type_rule(*(v.type for v in given)))
        return [*loads, Let(y, p, given), Store(out, y, at, safe=True)]

    load, result = whole(out)
    block: list[Statement] = [
        Alloc(out, blank=True),
        loop(symbol(Dim(xs[0], 0)), body),
        load,
    ]
    return machine.compile(Function("over", list(xs), block, [result]))


def ulps(found: Any, wanted: Any, dtype: str) -> float:
    """The largest difference in units of the last place."""
    unit = np.spacing(np.abs(wanted).astype(dtype)).astype(np.longdouble)
    return float(np.max(np.abs(found.astype(np.longdouble) - wanted) / unit))


def samples(name: str, dtype: str) -> Any:
    low, high = RANGES[name]
    if dtype == "float32":
        low, high = max(low, -80), min(high, 80) if name != "arccosh" else high
    rng = np.random.default_rng(7)
    x = rng.uniform(low, high, 20_000)
    if low < 0:
        x[:5000] *= 10.0 ** rng.uniform(-9, 0, 5000)
    return np.clip(
        x.astype(dtype), np.dtype(dtype).type(low), np.dtype(dtype).type(high)
    )


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
    written_out = elementary.has_better(function.__name__) and "vfmadd" in assembly
    assert written_out or any(form in assembly for form in forms)


def test_far_angles() -> None:
    x = np.array([1e9, 2e9, 1e15, -1e22, 123456789.0] * 8)
    for function in (np.sin, np.cos):
        found = over_arrays(function, "float64").run((x,), {})
        np.testing.assert_allclose(found, function(x), rtol=4e-16)
