"""Views: where each element of what is turned, reshaped and stretched stands."""

from typing import Any

import numpy as np
import pytest
from lowered import assert_compiles, texts

import gradwright as gw

A = np.sin(1.0 + 1.7 * np.arange(24.0)).reshape(2, 3, 4)
LAYOUTS = [
    np.ascontiguousarray,
    np.asfortranarray,
    lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    lambda x: x[..., ::-1].copy()[..., ::-1],
    lambda x: np.broadcast_to(x, x.shape),
]


def turned(a):
    return (
        a.T + 0.0,
        np.transpose(a, (2, 0, 1)) + 0.0,
        np.swapaxes(a, 0, -1) + 0.0,
        np.moveaxis(a, 0, 2) + 0.0,
        np.moveaxis(a, (0, 1), (-1, 0)) + 0.0,
        np.flip(a) + 0.0,
        np.flip(a, 1) + 0.0,
        np.flip(a, (0, 2)) + 0.0,
    )


def reshaped(a):
    return (
        a.ravel() * 1.0,
        a.reshape(-1, 2) * 1.0,
        a.reshape(4, 6).T * 1.0,
        a.reshape(2, 12) * 1.0,
        a.reshape(2, 3, 2, 2)[:, ::2] * 1.0,
        a[:, None].reshape(-1, 1, 4) * 1.0,
        a.T.reshape(6, 4) * 1.0,
    )


def of_ones(a):
    b = a[:1, :, :1]
    return (
        np.squeeze(b, 0) * 1.0,
        np.squeeze(b, (0, 2)) * 1.0,
        np.squeeze(b, -1) * 1.0,
        np.expand_dims(a, 0) * 1.0,
        np.expand_dims(a, (0, -1)) * 1.0,
        np.broadcast_to(b, (5, 3, 2)) * 1.0,
        b.reshape(3) * 1.0,
    )


def diagonals(a):
    m = a[0]
    return (
        np.diagonal(m) * 1.0,
        np.diagonal(m, 1) * 1.0,
        np.diagonal(m, -2) * 1.0,
        np.diagonal(m, 9) * 1.0,
        np.diagonal(a) * 1.0,
    )


@pytest.mark.parametrize("f", [turned, reshaped, of_ones, diagonals])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_values(f: Any, layout: Any) -> None:
    assert_compiles(f, layout(A))


def with_length(a, n, m):
    return a.reshape(n, -1) * 2.0, a.reshape((m, 3, -1)) * 2.0


@pytest.mark.parametrize(("n", "m"), [(2, 4), (3, 1), (24, 8)])
def test_lengths_that_only_the_run_knows(n: int, m: int) -> None:
    assert_compiles(with_length, A, n, m)


def stretched_by_the_run(a, n):
    b = a[0, a[0, :, 0] > 0.0]
    return np.broadcast_to(b, (n, 3, 4)) * 1.0, np.broadcast_to(b[:, :1], (3, n)) * 2.0


@pytest.mark.parametrize("signs", [(1, -1, -1), (1, 1, 1)])
def test_what_only_the_run_knows_to_be_stretched(signs: tuple[int, ...]) -> None:
    assert_compiles(stretched_by_the_run, np.abs(A) * np.reshape(signs, (3, 1)), 4)


def test_what_does_not_fit_the_shape_it_is_stretched_to() -> None:
    f, compiled = stretched_by_the_run, gw.jit(stretched_by_the_run)
    for run in (f, compiled):
        with pytest.raises(ValueError, match="broadcast"):
            run(np.abs(A) * np.reshape((1, 1, -1), (3, 1)), 4)


def stored_through(a):
    b = a.copy()
    b.T[0] = 1.0
    np.transpose(b, (1, 0, 2))[2, :, 1] += 3.0
    b[0].T[1:, 0] *= 4.0
    return b


def test_stores_through_views() -> None:
    assert_compiles(stored_through, A)
    assert_compiles(stored_through, A.reshape(3, 2, 4)[:, :, :2].repeat(2, 1)[:, :3])


def test_a_view_is_no_array_of_its_own() -> None:
    (text,) = texts(lambda a: np.sum(a.T * 2.0, axis=0), A)
    assert text.count("np.empty") + text.count("np.zeros") == 1
