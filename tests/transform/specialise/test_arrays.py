"""Calls of array primitives: arguments by name, kinds and errors as NumPy's."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from semantics.oracle import check

import gradwright as gw

X = np.array([0.7, -1.3, 2.1, 0.4])
M = np.arange(12.0).reshape(3, 4) / 7.0


@pytest.mark.parametrize(
    ("f", "text"),
    [
        (lambda x: np.sum(x, 0), "np.sum(x, axis=0)"),
        (lambda x: np.sum(x, axis=None), "np.sum(x)"),
        (lambda x: np.sum(x, keepdims=True), "np.sum(x, keepdims=True)"),
        (lambda x: np.concatenate([x, x[:1]]), "np.concatenate([x, x[:1]])"),
        (lambda x: np.reshape(x, (-1, 2)), "np.reshape(x, (-1, 2))"),
        (lambda x: np.zeros((len(x), 2)) + x[0], "np.zeros((len(x), 2))"),
        (lambda x: np.zeros(2, dtype=np.float32) * x[0], "dtype=np.float32"),
        (lambda x: np.pad(x, (1, 2), constant_values=x[0]), "constant_values=x[0]"),
        (lambda x: np.transpose(x[None]), "x[None].T"),
        (lambda x: np.linspace(x[0], 2.0, 5), "np.linspace(x[0], 2.0, num=5)"),
    ],
)
def test_a_call_reads_as_it_was_written(f: Callable[[Any], Any], text: str) -> None:
    _, _pull = gw.vjp(f, X)
    forward = gw.transforms.transformed(f, "jvp").source(X)
    assert text in forward, forward


def test_lengths_that_the_program_computes() -> None:
    def f(x: Any, n: int) -> Any:
        steps = np.arange(n + 1)
        return np.sum(np.roll(x, n)[0] * steps) + np.sum(np.full(2 * n, x[1]))

    g = gw.grad(f)
    for n in (0, 1, 3):
        gw.check_grads(f, (X, n), order=2)
        assert g(X, n).shape == X.shape
    assert len(g.entry.family.known) == 1


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(x, axis=1),
        lambda x: np.concatenate([x, M]),
        lambda x: np.reshape(x, (3, 3)),
        lambda x: np.stack([x, x[:2]]),
        lambda x: np.sum(),
        lambda x: np.transpose(M, (0, 0)),
        lambda x: np.split(x, 3),
        lambda x: np.stack([]),
    ],
    ids=range(8),
)
def test_what_numpy_raises_is_raised(f: Callable[[Any], Any]) -> None:
    with pytest.raises(Exception) as expected:
        f(X)
    with pytest.raises(expected.type) as caught:
        gw.vjp(f, X)
    assert not isinstance(caught.value, gw.GradwrightError)


def test_several_results_are_unpacked_in_one_statement() -> None:
    def f(x: Any) -> Any:
        left, right = np.split(x, [1])
        return np.sum(left) * np.sum(right**2)

    gw.check_grads(f, (X,), order=2)
    assert "left, right = np.split(x, [1])" in gw.grad(f).source(X)


def test_one_of_several_results_is_an_item() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.split(x, 2)[1] ** 2)

    gw.check_grads(f, (X,), order=2)
    assert "np.split(x, 2)[1]" in gw.grad(f).source(X)


def test_lengths_that_follow_from_floats() -> None:
    """A literal says how many there are; of a float of the run nobody knows before."""

    def f(x: Any, stop: float) -> Any:
        first = np.arange(4.0) * x[0]
        return np.sum((first + x) ** 2) + np.sum(x[1] * np.arange(0.5, stop) + x[2])

    for stop in (0.2, 1.0, 3.7):
        gw.check_grads(lambda x, stop=stop: f(x, stop), (X,), order=2)
        gw.check_grads(f, (X, stop))


def test_a_length_that_must_be_one() -> None:
    """Only then do these fit; for another length NumPy's error comes at the call."""

    def f(x: Any, m: Any) -> Any:
        return np.sum((m[:, :1] @ m[:, 1:].T) * x)

    g = gw.grad(f)
    gw.check_grads(f, (X[:2], np.ones((2, 2))), order=2)
    with pytest.raises(ValueError, match="matmul"):
        g(X[:2], np.ones((2, 4)))
    gw.check_grads(f, (X[:2], np.ones((2, 2))))


def test_a_recursion_over_arrays() -> None:
    """Two functions that call each other, with lengths that both take for granted."""

    def even(x: Any, y: Any, n: int) -> Any:
        return x * y if n == 0 else odd(x[1:-1], y[:-2], n - 1)

    def odd(x: Any, y: Any, n: int) -> Any:
        return x - y if n == 0 else even(x + y, y, n - 1) * x

    def f(x: Any, n: int) -> Any:
        return np.sum(even(x, 2.0 * x, n))

    x = np.linspace(0.1, 0.9, 9)
    for n in (0, 1, 2):
        gw.check_grads(f, (x, n), order=2)


STRETCHED = [
    lambda x: np.sum(np.broadcast_to(np.diff(x), (3,)) ** 2),
    lambda x: np.sum(np.broadcast_to(x[1:], (2, 3)) ** 2),
    lambda x: np.sum(np.broadcast_to(np.diff(x)[:, None], (3, 2)) ** 3),
    lambda x: np.sum(np.broadcast_to(x[x > 1.0], (3, 3)) * LINE),
]
LINE = np.array([0.5, -1.0, 2.0])


@pytest.mark.parametrize("f", STRETCHED)
@pytest.mark.parametrize("n", [2, 4])
def test_what_broadcast_to_stretches_by_its_length_alone(
    f: Callable[[Any], Any], n: int
) -> None:
    check(f, np.array([0.7, 1.2, 2.1, 1.6])[:n])


@pytest.mark.parametrize("n", [3, np.int64(3), np.int32(3), np.uint8(3)])
@pytest.mark.parametrize("rewrite", [gw.grad, lambda f: gw.jit(gw.grad(f))])
def test_integers_of_numpy_are_sizes(rewrite: Any, n: Any) -> None:
    def f(x: Any, n: Any) -> Any:
        y = np.zeros(n + 1)
        y[0] = x
        z = np.sum(np.ones((n, 2)) * x) + np.sum(np.full(n, x * x))
        return y[0] * y[n - 3] + z + np.sum(np.reshape(np.ones(6), (n, -1))[:, 0] * x)

    assert rewrite(f)(0.5, n) == 2 * 0.5 + 6 + 3 * 2 * 0.5 + 3


def test_arrays_of_integers_are_no_sizes() -> None:
    def f(x: Any, order: Any) -> Any:
        return np.sum(np.full_like(order, 0.5, dtype=np.float64) * x)

    assert gw.grad(f)(np.ones(2), np.array([1, 1])).tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("f", "words"),
    [
        (lambda x: np.sum(np.pad(x, 2, mode="mean")), "mode='mean' of np.pad"),
        (
            lambda x: np.quantile(x, 0.3, method="hazen"),
            "method='hazen' of np.quantile",
        ),
        (lambda x: np.sum(np.quantile(x, x[:2])), "an array for q= of np.quantile"),
    ],
)
def test_what_a_rule_does_not_know_is_refused(
    f: Callable[[Any], Any], words: str
) -> None:
    with pytest.raises(gw.UnsupportedSyntax, match=words):
        gw.grad(f)(X)


def test_pythons_complex_numbers_take_numpys_floats_for_their_own() -> None:
    def f(x):
        s = np.sum(x)
        return 1j * s, s * 1j, np.multiply(1j, s), 1j + s, 1j - s, 1j / s, 2j**s

    found = gw.jvp(f, (X,), (X,))[0]
    assert [type(a) for a in found] == [type(a) for a in f(X)]

    def g(a, b):
        return np.sum(np.imag(0.3 * np.einsum("i,i", b, a))) + np.sum(a).real

    gw.check_grads(g, (X[:1] + 1j, X))


def test_integers_of_pythons_among_what_is_joined() -> None:
    def f(x: Any) -> Any:
        k = math.floor(x)
        return np.sum(np.stack([k, x, 2]) ** 2) + np.sum(np.hstack([k, x])) + k * x

    check(f, 1.3)
