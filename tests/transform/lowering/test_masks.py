"""Masks: the places where they hold, of every rank, in loops and derivatives."""

import numpy as np
import pytest
from lowered import assert_compiles, assert_differentiates, texts

A = np.sin(1.0 + 1.7 * np.arange(12.0)).reshape(3, 4)


def picked(a, limit):
    return a[a > limit] * 2.0, np.nonzero(a > limit), np.argwhere(a > limit)


def summed(a, limit):
    s = 0.0
    for k in range(3):
        s = s + np.sum(a[k][a[k] > limit] ** 2) * (k + 1.0)
    return s + np.sum(np.where(a > limit, a, -a) ** 3)


def stored(a, limit):
    b = a * 1.0
    b[a > limit] *= 3.0
    b[b < -0.5] = 0.25
    return np.sum(b * b)


@pytest.mark.parametrize("limit", [-2.0, 0.0, 0.9, 2.0])
def test_values_and_gradients(limit: float) -> None:
    for f in (picked, summed, stored):
        assert_compiles(f, A, limit)
    for f in (summed, stored):
        assert_differentiates(f, A, limit)


def test_there_is_room_for_every_place() -> None:
    (text,) = texts(lambda x: np.sum(x[x > 0.0] ** 2), A[0])
    assert "places = np.empty(len(x), np.int64)" in text
