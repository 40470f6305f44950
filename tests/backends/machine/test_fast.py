"""fastmath: what it lets LLVM do, and to what."""

from typing import Any

import numpy as np

import gradwright as gw


def squares(xs: Any) -> Any:
    total = 0.0
    for x in xs:
        total += x * x
    return total


def wave(x: Any) -> Any:
    return np.sin(x) * 2.0 - x / 3.0


XS = np.linspace(0.1, 1.0, 1000)


def test_only_arithmetic_is_flagged() -> None:
    text = gw.jit(squares, fastmath=True).lower(XS).as_text("llvm")
    assert "fadd reassoc contract nsz double" in text
    assert "fmul reassoc contract nsz double" in text
    plain = gw.jit(squares).lower(XS).as_text("llvm")
    assert "contract" not in plain
    lines = gw.jit(wave, fastmath=True).lower(XS).as_text("llvm").splitlines()
    flagged = [line for line in lines if "contract" in line]
    assert 2 <= len(flagged) <= 4  # none of those that a sine is made of


def test_a_sum_is_taken_in_parts() -> None:
    fast, plain = gw.jit(squares, fastmath=True), gw.jit(squares)
    assert plain(XS) == squares(XS)
    assert np.isclose(fast(XS), squares(XS), rtol=1e-13)
    text = fast.lower(XS).as_text("asm")
    assert "pd" in text  # in vectors


def test_it_is_another_program_and_says_so() -> None:
    fast, plain = gw.jit(squares, fastmath=True), gw.jit(squares)
    assert fast.source(XS).splitlines()[0].startswith('"""fastmath: ')
    assert plain.source(XS).splitlines()[0] == "def squares(xs):"
    outer = gw.grad(fast)
    assert outer.source(XS).startswith('"""fastmath: ')
    assert np.allclose(outer(XS), 2.0 * XS)
    with gw.disable_jit():
        assert fast(XS) == squares(XS)
