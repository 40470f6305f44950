"""Elementary functions over arrays, in machine code, and how exact they are."""

from typing import Any

import numpy as np
from loop_core import array_of, loop, whole

from gradwright.backends import machine
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
