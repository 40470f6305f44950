"""Shapes: kinds, ranks and dims of results are those of NumPy's own examples."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright.transform.indices import Linear, symbol
from gradwright.transform.shapes import example, infer
from gradwright.transform.types import FLOAT, INT, VARYING, Type, array, numpy_scalar

N, M, K = map(symbol, "nmk")
MATRIX = array(float, (N, M))
VECTOR = array(float, (K,))
ROW = array("float32", (1, M))


@pytest.mark.parametrize(
    ("run", "operands", "dtype", "dims"),
    [
        (lambda o: np.concatenate([o[0], o[0]]), [VECTOR], "float64", (K * 2,)),
        (lambda o: np.sum(o[0], axis=1), [MATRIX], "float64", (N,)),
        (lambda o: np.sum(o[0], axis=0, keepdims=True), [MATRIX], "float64", (1, M)),
        (lambda o: np.diff(o[0], n=2), [VECTOR], "float64", (K - 2,)),
        (lambda o: np.transpose(o[0]), [ROW], "float32", (M, 1)),
        (lambda o: o[0] * o[1], [MATRIX, ROW], "float64", (N, M)),
        (lambda o: np.arange(o[0]), [N * 2 + 1], "int64", (N * 2 + 1,)),
        (lambda o: np.zeros((o[0], 3)), [N - 1], "float64", (N - 1, 3)),
        (lambda o: np.repeat(o[0], 3), [VECTOR], "float64", (K * 3,)),
        (lambda o: np.outer(o[0], o[1]), [VECTOR, VECTOR], "float64", (K, K)),
    ],
)
def test_an_array(
    run: Callable[[list[Any]], Any], operands: Any, dtype: str, dims: Any
) -> None:
    assert infer(run, operands) == array(dtype, dims)


def test_a_length_that_is_not_linear_is_open() -> None:
    half = infer(lambda o: np.fft.rfft(o[0]), [VECTOR])
    assert half == array(complex, (VARYING,))
    assert infer(lambda o: np.ravel(o[0]), [MATRIX]).dims == (VARYING,)
    square = array(float, (N, N))
    assert infer(lambda o: np.ravel(o[0]), [square]).dims == (VARYING,)


def test_a_length_that_the_elements_decide_is_open() -> None:
    assert infer(lambda o: np.unique(o[0]), [VECTOR], ragged=True).dims == (VARYING,)


def test_numbers() -> None:
    assert infer(lambda o: np.sum(o[0]), [MATRIX]) == numpy_scalar(float)
    assert infer(lambda o: len(o[0]), [VECTOR]) == INT
    assert infer(lambda o: float(o[0]), [FLOAT]) == FLOAT


def test_several_results_keep_their_structure() -> None:
    found = infer(lambda o: np.linalg.eigh(o[0]), [MATRIX], [(N, M)])
    assert type(found).__name__ == "EighResult"
    assert found.eigenvectors == array(float, found.eigenvalues.dims * 2)
    parts = infer(lambda o: np.split(o[0], [2]), [VECTOR])
    assert parts == [array(float, (2,)), array(float, (K - 2,))]


def test_dims_that_meet_are_equal() -> None:
    def product(o: list[Any]) -> Any:
        return o[0] @ o[1]

    with pytest.raises(ValueError, match="matmul"):
        infer(product, [MATRIX, VECTOR])
    assert infer(product, [MATRIX, VECTOR], [(M, K)]) == array(float, (N,))
    assert infer(product, [MATRIX, VECTOR], [(M + 1, K + 1)]) == array(float, (N,))


def test_an_axis_that_is_cut_evenly() -> None:
    parts = infer(lambda o: np.split(o[0], 3), [array(float, (K,))])
    assert [p.rank for p in parts] == [1, 1, 1]
    with pytest.raises(ValueError, match="equal division"):
        infer(lambda o: np.split(o[0], 3), [array(float, (Linear({}, 4),))])


def test_what_numpy_refuses_is_refused() -> None:
    with pytest.raises(ValueError, match="axis 2 is out of bounds"):
        infer(lambda o: np.sum(o[0], axis=2), [MATRIX])


@pytest.mark.parametrize("t", [MATRIX, VECTOR, ROW, FLOAT, numpy_scalar("complex64")])
def test_examples_are_of_their_type(t: Type) -> None:
    made = example(t, (3, 3)[: t.rank])
    assert np.ndim(made) == t.rank
    assert np.asarray(made).dtype == t.weak()
    if t.rank == 2:
        np.linalg.cholesky(made)


def windows(signal, kernel):
    """Each window is as long as `out`: k is less than the length of the kernel."""
    n = len(signal) - len(kernel) + 1
    out = np.zeros(n)
    for k in range(len(kernel)):
        out = out + kernel[k] * signal[k : k + n]
    return np.sum(out**2)


def differences_of(x):
    return np.sum(np.diff(np.abs(x)) * 2.0)


def test_a_window_that_moves_with_a_loop_has_a_known_length() -> None:
    text = gw.grad(windows).source(np.ones(5), np.ones(3))
    assert "== 1" not in text
    assert gw.grad(windows)(np.ones(2), np.ones(2)).tolist() == [4.0, 4.0]
    with pytest.raises(ValueError, match="negative dimensions"):
        gw.grad(windows)(np.ones(1), np.ones(4))


def test_a_length_that_would_be_negative() -> None:
    assert gw.grad(differences_of)(np.ones(0)).tolist() == []
    assert gw.grad(differences_of)(np.ones(1)).tolist() == [0.0]


def test_dims_that_meet_with_a_factor() -> None:
    operands = [array(float, (N * 2 - M,)), array(float, (M,))]
    meets = [(N * 2 - M, M)]
    found = infer(lambda o: np.tensordot(o[0], o[1], 1), operands, meets)
    assert found == array(float, ())


def test_a_difference_of_lengths_is_a_length() -> None:
    operands = [array(float, (N - M,))]
    assert infer(lambda o: np.max(o[0]), operands) == numpy_scalar(float)
    assert infer(lambda o: np.sort(o[0]), operands) == array(float, (N - M,))
