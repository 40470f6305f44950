"""Python's builtins and NumPy's questions about shapes are answered at once."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradwright as gw

XS = np.array([0.7, -1.3, 2.1])
M = np.arange(6.0).reshape(2, 3)

KNOWN: list[Callable[[Any], Any]] = [
    lambda xs: len(xs) * xs[0] + len((1, 2)),
    lambda xs: sum([k * x for k, x in enumerate((xs[0], xs[1]), 1)]),
    lambda xs: sum([a * b for a, b in zip((xs[0], xs[1]), (2.0, 3.0), strict=False)]),
    lambda xs: sum([*reversed((xs[0], xs[1], xs[2]))][:2]),
    lambda xs: sum([xs[k] for k in range(2, -1, -2)]),
    lambda xs: sorted([2, 0, 1])[0] + xs[0],
    lambda xs: max(xs[0], xs[1], 2) * min(3, 4) + max((xs[2], xs[0])),
    lambda xs: max(xs[0], xs[1], xs[2], key=lambda x: -x * x) * xs[1],
    lambda xs: min([xs[0], xs[1]], key=abs) + max((xs[0], xs[2]), key=None),
    lambda xs: min([(xs[0], xs[1]), (xs[1], xs[2])], key=lambda p: p[1])[0],
    lambda xs: xs[max(range(3), key=lambda k: xs[k] * math.sin(xs[k]))],
    lambda xs: max(xs[0], xs[0] + 0.0, xs[1], key=lambda x: x > 0) * xs[1],
    lambda xs: xs[0] if isinstance(xs, np.ndarray) else xs[1],
    lambda xs: xs[0] if isinstance(xs[0], float) else xs[1],
    lambda xs: xs[slice(1, None)][0] * dict(a=xs[0])["a"],
    lambda xs: np.ndim(xs) * xs[0] + np.ndim(2.0),
    lambda xs: np.shape(M)[1] * xs[0] + np.size(xs) + np.size(M, 0),
    lambda xs: np.sum(np.asarray([xs[0], 1], dtype=np.float32)),
    lambda xs: np.copy(xs)[1] + np.astype(xs, np.float32)[0],
    lambda xs: tuple(list((xs[0], xs[1])))[1],
]


@pytest.mark.parametrize("f", KNOWN, ids=range(len(KNOWN)))
def test_a_builtin(f: Callable[[Any], Any]) -> None:
    value, pull = gw.vjp(f, XS)
    expected = f(XS)
    assert type(value) is type(expected)
    assert value == expected
    _, tangent = gw.jvp(f, (XS,), (np.cos(XS),))
    pulled = pull(type(value)(1.0))[0] @ np.cos(XS)
    assert pulled == pytest.approx(float(tangent), rel=1e-6)  # some are of float32


def test_zip_of_tuples_may_be_strict() -> None:
    def f(x: float, n: int) -> float:
        pairs = zip((x, 2.0), (3.0, x, 1.0)[:n], strict=True)
        return sum(a * b for a, b in pairs)

    assert gw.grad(lambda x: f(x, 2))(5.0) == 3.0 + 2.0
    for n in (1, 3):
        with pytest.raises(ValueError, match="argument 2 is") as expected:
            f(5.0, n)
        with pytest.raises(ValueError, match="argument 2 is") as caught:
            gw.grad(lambda x, n=n: f(x, n))(5.0)
        assert str(caught.value) == str(expected.value)


def test_keys_of_values_whose_number_may_vary_are_refused() -> None:
    def f(xs):
        return xs[max(range(len(xs)), key=lambda k: xs[k])]

    with pytest.raises(gw.UnsupportedSyntax, match="key= of a range, whose length"):
        gw.grad(f)(XS)


@pytest.mark.parametrize("f", [lambda x: max([], key=abs), lambda x: min(())])
def test_the_largest_of_nothing(f: Callable[[Any], Any]) -> None:
    with pytest.raises(ValueError, match="empty") as ours:
        gw.grad(f)(XS)
    with pytest.raises(ValueError, match="empty") as pythons:
        f(XS)
    assert str(ours.value) == str(pythons.value)
