"""Linearised programs: the primal once, and tangents as jvp has them."""

import math
from typing import Any

import numpy as np
import pytest

import gradwright as gw

X = np.array([0.3, -0.7, 1.1])


def looped(x, w, n=3):
    y = x
    for k in range(1, n):
        y = y * x + k * math.sin(x * w)
    return y


def waves(x):
    return np.sin(x) * x[0], np.sum(x * x)


def branching(x):
    total = 0.0
    for k in range(4):
        if x * k > 1.0:
            total += x * x * k
        else:
            total += math.cos(x)
    return total


PROGRAMS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "looped": (looped, (1.2, 0.3)),
    "waves": (waves, (X,)),
    "branching": (branching, (0.4,)),
    "a dict": (lambda d: {"p": d["a"] * d["b"], "n": None}, ({"a": 2.0, "b": X},)),
    "complex": (lambda z: z * z.conjugate() + z, (1.0 + 2.0j,)),
    "constant": (lambda x: 3.0, (2.0,)),
    "itself": (lambda x: x, (X,)),
}


def direction(a: Any, by: float) -> Any:
    if isinstance(a, dict):
        return {k: direction(a[k], by + 1.0) for k in reversed(a)}
    return a * 0.0 + by


def flat(a: Any) -> list[Any]:
    if isinstance(a, dict):
        a = tuple(a.values())
    if isinstance(a, tuple):
        return [leaf for item in a for leaf in flat(item)]
    return [] if a is None else [a]


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_agrees_with_jvp(name: str) -> None:
    f, args = PROGRAMS[name]
    value, push = gw.linearize(f, *args)
    for by in (1.0, -0.5, 1.0):  # as often as wanted
        tangents = tuple(direction(a, by) for a in args)
        wanted, dot = gw.jvp(f, args, tangents)
        for a, b in zip(flat(value), flat(wanted), strict=True):
            assert np.array_equal(a, b)
        for a, b in zip(flat(push(*tangents)), flat(dot), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)
            assert type(a) is type(b) or name == "constant"


def test_the_primal_runs_once(capsys) -> None:
    def f(x):
        print("seen")
        return x * x

    _, push = gw.linearize(f, 2.0)
    assert (push(1.0), push(2.0)) == (4.0, 8.0)
    assert capsys.readouterr().out == "seen\n"


def test_the_text() -> None:
    text = gw.source(looped, 1.2, 0.3, kind="linearize")
    forward, push = text.split("def looped_linear(")
    assert "y = y * x + k * math.sin" in forward and "\n        y = y * x" not in push
    assert push.startswith("cos_tape") or "x_dot, w_dot):" in push
    assert "bar" not in push


def test_inside_a_program() -> None:
    def f(x):
        y, push = gw.linearize(looped, x, 0.5)
        return push(1.0, 0.0) * y + push(0.0, 2.0)

    def g(x):
        y, dot = gw.jvp(looped, (x, 0.5), (1.0, 0.0))
        return dot * y + gw.jvp(looped, (x, 0.5), (0.0, 2.0))[1]

    assert f(1.2) == pytest.approx(g(1.2), rel=1e-14)
    assert gw.jvp(f, (1.2,), (1.0,))[1] == pytest.approx(gw.grad(g)(1.2), rel=1e-12)
