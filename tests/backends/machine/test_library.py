"""Functions of NumPy called from inside of a kernel."""

from typing import Any

import numpy as np
import pytest

import gradwright as gw


def solved(a: Any, b: Any) -> Any:
    return np.sum(np.linalg.solve(a, b))


def spectrum(x: Any) -> Any:
    return np.abs(np.fft.rfft(x))


def in_a_loop(x: Any, n: int) -> Any:
    total = 0.0
    for k in range(1, n):
        total += np.sort(x[:k])[0]
    return total


def decomposed(a: Any) -> Any:
    w, v = np.linalg.eigh(a + a.T)
    return w, v @ np.diag(w) @ v.T


def test_numbers_come_back() -> None:
    a, b = np.array([[3.0, 1.0], [1.0, 2.0]]), np.array([1.0, 4.0])
    for lay in (np.ascontiguousarray, np.asfortranarray):
        assert gw.jit(solved)(lay(a), b) == pytest.approx(solved(a, b))


@pytest.mark.parametrize("n", [1, 2, 7, 8])
def test_an_array_whose_length_the_call_decides(n: int) -> None:
    x = np.random.default_rng(n).normal(size=n)
    found = gw.jit(spectrum)(x)
    np.testing.assert_allclose(found, spectrum(x), rtol=1e-12)
    x[...] = 0.0  # what came out is no memory of a later call
    gw.jit(spectrum)(x)
    assert found[0] != 0.0


def test_parts_of_an_array_in_a_loop() -> None:
    x = np.random.default_rng(1).normal(size=9)
    assert gw.jit(in_a_loop)(x, 9) == in_a_loop(x, 9)


def test_several_results() -> None:
    a = np.random.default_rng(2).normal(size=(4, 4))
    for found, wanted in zip(gw.jit(decomposed)(a), decomposed(a), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


def test_what_it_raises_has_the_users_line() -> None:
    with pytest.raises(np.linalg.LinAlgError) as caught:
        gw.jit(solved)(np.zeros((2, 2)), np.ones(2))
    assert any("test_library.py" in note for note in caught.value.__notes__)
