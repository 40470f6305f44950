"""Tapes of numbers and None: values, and which of them are None."""

import math
from typing import Any

import numpy as np
import pytest
from lowered import assert_differentiates, in_python

import gradwright as gw


def now_and_then(x, n):
    y, s = None, 0.0
    for k in range(n):
        if y is not None:
            s = s + y * y
        if k % 2 == 1:
            y = math.sin(x) * k
        elif k % 3 == 0:
            y = None
        x = x * 1.1
    return s


def last_seen(x, n):
    """What is None at first, in a loop whose trips nobody knows."""
    y, s, k = None, x, 0
    while k < n:
        s = s * 0.5 if y is None else s + y * s
        y = s if s < 2.0 else None
        k = k + 1
    return s


def complex_ones(z, n):
    y, s = None, 0j
    for k in range(n):
        if y is not None:
            s = s + y * y * z
        y = z * k if k % 2 else None
        z = z * (0.5 + 0.1j)
    return abs(s) ** 2


PROGRAMS = [
    (now_and_then, 0.7), (last_seen, 0.7), (last_seen, np.float32(0.7)),
    (complex_ones, 0.7 - 0.2j),
]  # fmt: skip


@pytest.mark.filterwarnings("error::gradwright.CompileWarning")
@pytest.mark.parametrize("n", [0, 1, 2, 7])
@pytest.mark.parametrize("case", PROGRAMS, ids=lambda case: case[0].__name__)
def test_gradients(case: Any, n: int) -> None:
    f, x = case
    assert_differentiates(f, x, n)


@pytest.mark.filterwarnings("error::gradwright.CompileWarning")
@pytest.mark.parametrize("case", PROGRAMS, ids=lambda case: case[0].__name__)
def test_halves(case: Any) -> None:
    """They hand such tapes over, and numbers that may be None."""
    f, x = case
    for n in (0, 4, 7):
        value, pull = gw.vjp(gw.jit(f), x, n)
        plain, wanted = gw.vjp(f, x, n)
        assert pull.backward.is_machine_code
        seed = type(plain)(1.0)
        for _ in range(2):
            assert pull(seed)[0] == pytest.approx(wanted(seed)[0], rel=1e-6)
        assert value == pytest.approx(plain, rel=1e-6)
        handed = [r for r in pull.residuals if hasattr(r, "as_list")]
        lists = [r for r in wanted.residuals if isinstance(r, list)]
        for a, b in zip(handed, lists, strict=True):
            assert [v is None for v in a.as_list()] == [v is None for v in b]


def test_the_loops_are_read() -> None:
    with in_python() as made:
        gw.jit(gw.grad(now_and_then))(0.7, 7)
    assert "= y is None\n" in made[0].text
    assert "y_tape_is_none_top -= 1" in made[0].text
