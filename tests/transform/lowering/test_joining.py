"""Arrays put together, cut and moved about."""

from typing import Any

import numpy as np
import pytest
from lowered import assert_compiles, assert_differentiates

A = np.sin(1.0 + 1.7 * np.arange(12.0)).reshape(3, 4)
V = np.array([0.7, -1.3, 2.1, 0.4])


def joined(a, v):
    return (
        np.concatenate([a, a * 2.0]), np.concatenate([a, a[:, :1]], axis=1),
        np.stack([v, v * 2.0]),
        np.stack([v, v], axis=1), np.concatenate([a[:0], a[1:]], axis=0),
        np.vstack([v, a]), np.hstack([a, a]), np.append(v, 1.0),
    )  # fmt: skip


def moved_about(a, v):
    return (
        np.roll(v, 1), np.roll(v, -7), np.roll(a, 2), np.roll(a, (1, -1), (0, 1)),
        np.tile(v, 2), np.tile(a, (2, 1, 3)), np.repeat(v, 3), np.repeat(a, 2, axis=1),
        np.repeat(a, 0, axis=0), np.pad(a, 1), np.pad(v, (2, 1), constant_values=5.0),
        np.pad(a, ((0, 1), (2, 0))),
    )  # fmt: skip


def halves(a, v):
    return (
        np.tril(a), np.triu(a, 1), np.tril(a, -1), np.tri(3, 4), np.diag(v),
        np.diag(v, -2), np.diag(a), np.diag(a, 2), np.diag(a, -7),
    )  # fmt: skip


def parted(a, v):
    return (
        *np.split(v, 2), *np.split(v, [1, 9]), *np.array_split(a, 2, axis=1),
        *np.array_split(v, 3), *np.meshgrid(v, v[:2]), *np.ix_([0, 2], [1, 3, 0]),
        *np.meshgrid(v, v, indexing="ij"),
    )  # fmt: skip


def running(a, v):
    return (
        np.cumsum(v), np.cumprod(v), np.cumsum(a), np.cumsum(a, axis=0),
        np.cumprod(a, axis=-1), np.cumsum(v[:0]),
    )  # fmt: skip


EVERY = [joined, moved_about, halves, parted, running]


@pytest.mark.parametrize("f", EVERY)
def test_values(f: Any) -> None:
    assert_compiles(f, A, V)


@pytest.mark.parametrize("f", EVERY)
def test_gradients(f: Any) -> None:
    def weighed(a, v):
        s = 0.0
        for k, part in enumerate(f(a, v)):
            s = s + np.sum(np.sin(part * (0.3 + 0.1 * k)))
        return s

    assert_differentiates(weighed, A, V, argnums=(0, 1))
