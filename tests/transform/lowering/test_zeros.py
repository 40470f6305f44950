"""Arrays that begin as zeros are had so, where nothing else comes first."""

import numpy as np
from lowered import assert_compiles, texts

import gradwright as gw

X = np.array([0.7, -1.3, 2.1, 0.4])


def stored_in_part(x):
    y = np.zeros_like(x)
    y[1:-1] = x[2:] - x[:-2]
    return y


def begun_anew(x, n):
    total = np.zeros_like(x)
    for k in range(n):
        y = np.zeros_like(x)
        y[k] = x[k]
        total += y
    return total


def ones_first(x):
    y = np.ones_like(x)
    y[...] = 0.0
    y[0] = x[0]
    return y


def test_values() -> None:
    for n in (2, 4):
        assert_compiles(stored_in_part, X[:n])
    assert_compiles(begun_anew, X, 3)
    assert_compiles(ones_first, X)


def test_no_loop_fills_an_array_with_zeros() -> None:
    (text,) = texts(gw.jit(stored_in_part), X)
    assert "np.zeros(" in text
    assert "0.0" not in text


def test_a_loop_that_begins_an_array_anew_fills_it() -> None:
    (text,) = texts(gw.jit(begun_anew), X, 3)
    assert "0.0" in text
