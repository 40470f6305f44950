"""Functions that call themselves, in machine code; those that cannot be."""

import warnings

import numpy as np
import pytest
from lowered import in_both

import gradwright as gw
from gradwright.transform.errors import CompileWarning


def power(x, n):
    if n == 0:
        return 1.0
    return x * power(x, n - 1)


def halves(a):
    if len(a) < 2:
        return np.sum(a)
    m = len(a) // 2
    return halves(a[:m]) + 2.0 * halves(a[m:])


def test_a_function_of_numbers() -> None:
    with warnings.catch_warnings(), in_both():
        warnings.simplefilter("error")
        assert gw.jit(power)(1.5, 7) == power(1.5, 7)


def test_its_derivative_runs_as_emitted_source() -> None:
    with pytest.warns(CompileWarning, match="calls itself"):
        assert gw.jit(gw.grad(power))(1.5, 3) == pytest.approx(3 * 1.5**2)


def test_a_function_of_arrays_runs_as_emitted_source() -> None:
    with pytest.warns(CompileWarning, match="calls itself"):
        assert gw.jit(halves)(np.arange(5.0)) == halves(np.arange(5.0))
