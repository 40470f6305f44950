"""Rounding to digits: as NumPy does it in every precision, and as Python does it."""

import linecache
import random
from typing import Any

import numpy as np
import pytest

import gradwright as gw

MIDDLES = [0.5, 1.5, 2.5, 2.675, 1.005, 0.125, 0.375, 0.05, 9.995, 15.0, 25.0, 1250.0]
EDGES = [
    0.0, 5e-324, 1e-5, 2.0**51 + 0.5, 2.0**52 + 0.5, 530719130257923.06, 1e16, 1e22,
    4.8629332084499554e19, 1e300, float("inf"), float("nan"),
]  # fmt: skip
FLOATS = [np.float64, np.float32, np.float16, np.complex128, np.complex64]


def made(digits: int) -> Any:
    """Round and np.round to so many digits, which are known."""
    text = (
        f"def by_python(x):\n    return round(x, {digits})\n"
        f"def by_numpy(x):\n    return np.round(x, decimals={digits})\n"
    )
    filename = f"<rounding to {digits}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    space: dict[str, Any] = {"np": np, "__name__": "rounding"}
    exec(compile(text, filename, "exec"), space)
    return space["by_python"], space["by_numpy"]


def numbers() -> list[float]:
    draw = random.Random(1)
    sizes = [draw.uniform(-1, 1) * 10.0 ** draw.randint(-8, 20) for _ in range(1_000)]
    steps = (draw.choice([0.0, 5e-4, -5e-4]) for _ in range(1_000))
    near = [round(draw.uniform(-100, 100), 3) + step for step in steps]
    return [*MIDDLES, *EDGES, *(-x for x in (*MIDDLES, *EDGES)), *sizes, *near]


@pytest.mark.filterwarnings("error::gradwright.CompileWarning")
@pytest.mark.parametrize("digits", [1, 2, 3, 15, 22, -1, -2, -15])
def test_as_python_rounds(digits: int) -> None:
    f, _ = made(digits)
    compiled = gw.jit(f)
    for x in numbers():
        assert repr(compiled(x)) == repr(f(x)), (x, digits)
    assert compiled(np.float64(2.675)) == f(np.float64(2.675))


@pytest.mark.filterwarnings("error::gradwright.CompileWarning")
@pytest.mark.parametrize("digits", [1, 3, -1, -3])
@pytest.mark.parametrize("kind", FLOATS, ids=[t.__name__ for t in FLOATS])
def test_as_numpy_rounds(kind: Any, digits: int) -> None:
    _, f = made(digits)
    with np.errstate(all="ignore"):
        x = np.array(numbers()).astype(kind)
        if issubclass(kind, np.complexfloating):
            x = x + 1j * x[::-1]
        found, wanted = gw.jit(f)(x), f(x)
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


def test_ints_stay() -> None:
    f, g = made(2)
    assert gw.jit(f)(7) == 7
    np.testing.assert_array_equal(gw.jit(g)(np.arange(3)), np.arange(3))
