"""Attributes and methods of arrays and numbers are what they are in NumPy."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradwright as gw

X = np.array([0.7, -1.3, 2.1, 0.4])
M = np.arange(12.0).reshape(3, 4) / 7.0 - 0.5
Z = np.array([0.3 + 1.2j, -0.7 - 0.4j])

OF_ARRAYS: list[Callable[..., Any]] = [
    lambda x, m, z: m.T,
    lambda x, m, z: m.mT,
    lambda x, m, z: m.sum(axis=0),
    lambda x, m, z: m.mean(axis=-1, keepdims=True),
    lambda x, m, z: m.std(ddof=1),
    lambda x, m, z: m.reshape(2, -1),
    lambda x, m, z: m.reshape((4, 3)),
    lambda x, m, z: m.transpose(1, 0),
    lambda x, m, z: m.transpose(),
    lambda x, m, z: m.ravel(),
    lambda x, m, z: m.flatten(),
    lambda x, m, z: x.repeat(2),
    lambda x, m, z: m.swapaxes(0, 1),
    lambda x, m, z: m.take([1, 1, 4]),
    lambda x, m, z: m.diagonal(),
    lambda x, m, z: m.trace(),
    lambda x, m, z: m.max(axis=1),
    lambda x, m, z: x.clip(-1.0, 1.0),
    lambda x, m, z: x.copy(),
    lambda x, m, z: x.astype(np.float32),
    lambda x, m, z: x.astype(int) * x,
    lambda x, m, z: x.astype(complex) * 1j,
    lambda x, m, z: x[m.argmax(axis=1)],
    lambda x, m, z: x[x.argsort()],
    lambda x, m, z: z.real * z.imag,
    lambda x, m, z: z.conj(),
    lambda x, m, z: m.size * x + m.ndim + m.shape[1],
    lambda x, m, z: x * (1.0 if m.dtype == np.float64 else 2.0),
    lambda x, m, z: np.array([x, 2.0 * x]) * np.array(1.5),
    lambda x, m, z: np.array([x[0], 1], dtype=np.float32),
    lambda x, m, z: np.shape(m)[0] * x + np.ndim(m) + np.size(m) + np.size(m, 1),
    lambda x, m, z: x.sum().item() * x,
]


@pytest.mark.parametrize("f", OF_ARRAYS, ids=range(len(OF_ARRAYS)))
def test_a_method(f: Callable[..., Any]) -> None:
    args = (X, M, Z)
    value, pull = gw.vjp(f, *args)
    expected = f(*args)
    assert type(value) is type(expected)
    assert np.asarray(value).dtype == np.asarray(expected).dtype
    np.testing.assert_array_equal(value, expected)
    tangents = (0.3 * X, np.cos(M), Z * 1j)
    _, tangent = gw.jvp(f, args, tangents)
    bar = (
        np.cos(np.arange(np.size(value)))
        .reshape(np.shape(value))
        .astype(np.asarray(value).dtype)
    )
    bars = pull(bar if np.ndim(bar) else bar[()])
    left = sum(np.sum(b * t) for b, t in zip(bars, tangents, strict=True))
    single = np.asarray(value).dtype == np.float32
    np.testing.assert_allclose(
        np.real(left), np.real(np.sum(bar * tangent)), rtol=1e-6 if single else 1e-12
    )


def test_conjugates_are_of_the_kind_that_the_program_gives() -> None:
    """np.conjugate makes NumPy's number of Python's; the method does not."""

    def f(z: complex, n: int) -> Any:
        w: Any = z
        if n > 3:
            w = np.square(z)
        return np.conjugate(w), w.conjugate()

    for n in (1, 5):
        value, _ = gw.vjp(f, 0.4 + 0.3j, n)
        assert [type(v) for v in value] == [type(v) for v in f(0.4 + 0.3j, n)]
