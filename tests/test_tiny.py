"""Ten checks in well under five seconds: whether anything works at all."""

import math
import subprocess
import sys

import numpy as np
import pytest

import gradwright as gw


def decay(x, rates, n=3):
    """A loop, a branch, a helper, an array: a little of everything."""
    s = x
    for k in range(n):
        s += helper(s, rates[k % len(rates)])
        if s > 4.0:
            s = math.sqrt(s)
    return s


def helper(s, rate):
    return rate * s * s


RATES = np.array([0.5, 0.25])


def test_the_gradient_agrees_with_differences() -> None:
    value, (by_x, by_rates) = gw.value_and_grad(decay, argnums=(0, 1))(1.5, RATES)
    assert value == decay(1.5, RATES)
    step = 1e-6
    slope = (decay(1.5 + step, RATES) - decay(1.5 - step, RATES)) / (2 * step)
    assert abs(by_x - slope) < 1e-7
    assert by_rates.shape == RATES.shape


def test_check_grads() -> None:
    gw.check_grads(decay, (1.5, RATES))


def test_forward_and_reverse_mode_agree() -> None:
    value, tangent = gw.jvp(decay, (1.5, RATES), (1.0, np.zeros(2)))
    again, pull = gw.vjp(decay, 1.5, RATES)
    assert value == again == decay(1.5, RATES)
    assert abs(tangent - pull(1.0)[0]) < 1e-12


def test_a_second_derivative() -> None:
    assert gw.grad(gw.grad(lambda x: x**3))(2.0) == 12.0


def test_complex_numbers() -> None:
    assert gw.grad(lambda z: abs(z * z))(3.0 + 0.0j) == 6.0


def test_a_captured_number_is_read_at_every_call() -> None:
    gain = 2.0
    g = gw.grad(lambda x: gain * x)
    assert g(1.0) == 2.0
    gain = 3.0
    assert g(1.0) == 3.0


def test_the_source_is_what_runs() -> None:
    text = gw.grad(helper).source(1.5, 0.5)
    scope: dict[str, object] = {}
    exec(text, scope)
    assert scope["helper_grad"](1.5, 0.5) == gw.grad(helper)(1.5, 0.5) == 1.5


def test_refusals_show_the_line() -> None:
    def f(x):
        with open("file"):
            return x

    with pytest.raises(gw.UnsupportedSyntax, match=r"test_tiny\.py:\d+: .*'with'"):
        gw.grad(f)(1.0)


def test_exceptions_are_the_programs_own() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        gw.grad(lambda x: 1.0 / (x - 1.0))(1.0)
    assert "test_tiny.py:" in caught.value.__notes__[0]


def test_importing_it_is_light() -> None:
    script = "import sys, gradwright; sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0
