"""Lists of arrays of different lengths, and of lengths that only the run knows."""

from typing import Any

import numpy as np
import pytest
from lowered import assert_compiles, assert_differentiates

import gradwright as gw

X = np.array([0.7, -1.3, 2.1, 0.4])


def of_parts(x, n):
    parts = [x[k:] * 2.0 for k in range(n)]
    s = 0.0
    for part in parts:
        s += np.sum(part * part)
    return s


def of_one_length(x, n):
    rows = []
    for k in range(n):
        rows.append(np.concatenate((x[k:], x[:k])))
    a = np.stack(rows)
    return np.sum(a[0] * a[-1]) + np.sum(np.array(rows)[:, 1] ** 2)


def shorter(x, n):
    steps = [x]
    for _ in range(n):
        steps.append(steps[-1][:-1] * steps[-1][1:])
    return np.sum(steps[-1]) + np.sum(steps[0] ** 2)


def taken_out(x, n):
    parts = []
    for k in range(n):
        parts.append(np.sin(x[k:]))
    s = 0.0
    while parts:
        last = parts.pop()
        s = s * 0.5 + np.sum(last * last)
        if len(parts) > 1:
            first = parts.pop(0)
            parts.append(first[1:] * s)
    return s


def between(x, n):
    parts = []
    for k in range(n):
        parts.insert(0, np.sin(x[k:]))
        parts.insert(1, x[: k + 1] * parts[0][0])
    s = 0.0
    for part in parts:
        s = s * 0.5 + np.sum(part * part)
    return s


def stored(x, n):
    """Items become longer, and shorter, and one is read as it was before."""
    parts = [x[k:] * 1.0 for k in range(n)]
    s = 0.0
    for k in range(n):
        before = parts[k]
        parts[k] = np.concatenate((parts[k], parts[k - 1])) * x[0]
        parts[k - 1] = parts[k][1:] * 2.0
        s = s + np.sum(before) * np.sum(parts[k])
    for part in parts:
        s = s * 0.5 + np.sum(part * part)
    return s


def copied(x, n):
    parts = [x[k:] * 1.0 for k in range(n + 1)]
    some = parts[1:]
    others = some[::-1]
    parts[0] = others[0] * x[0]
    return np.sum(some[0] * x[1]) + np.sum(others[0] ** 2) + np.sum(parts[0] ** 3)


def renamed(x, n):
    rows = [x[1:]]
    for k in range(n):
        new = [rows[0][:1] * x[k]]
        for row in rows:
            new.append(np.concatenate((row, row[:k])) * np.sum(row))
        rows = new
    s = 0.0
    for row in rows:
        s += np.sum(row * row)
    return s


def of_matrices(x, n):
    parts = []
    for k in range(n):
        parts.append(np.outer(x[k:], x[: k + 1]))
    s = 0.0
    for m in parts:
        s = s * 0.3 + np.sum(m @ m.T) + m[-1, 0]
    return s


def of_places(x, n):
    places = [np.arange(k + 1) for k in range(n)]
    s = 0.0
    for some in places:
        s += np.sum(x[some] ** 2)
    return s


def begun_in_a_loop(x, n):
    s, k = 1.0, 0
    while k < n:
        parts = [x[j:] * s for j in range(k + 1)]
        parts.pop()
        parts.append(x[:k])
        s = s * 0.1 + np.sum(parts[-1]) + np.sum(parts[0] ** 2)
        k += 1
    return s


def as_an_array(x, n):
    parts = []
    for k in range(n):
        parts.append(x[k : len(x) - n + 1])
    return np.sum(np.array(parts) ** 2)


PROGRAMS = [
    of_parts,
    of_one_length,
    shorter,
    taken_out,
    between,
    stored,
    copied,
    renamed,
    of_matrices,
    of_places,
    begun_in_a_loop,
]


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("n", [1, 3])
def test_values_and_cotangents(f: Any, n: int) -> None:
    assert_compiles(f, X, n)
    assert_differentiates(f, X, n)


@pytest.mark.parametrize("f", PROGRAMS)
def test_second_derivatives(f: Any) -> None:
    assert_compiles(gw.hessian(f), X, 3)


def test_what_makes_no_array_raises_as_the_source() -> None:
    f = gw.jit(as_an_array)
    assert f(X, 1) == as_an_array(X, 1)
    with pytest.warns(gw.CompileWarning), pytest.raises(ValueError, match="inhomog"):
        f(X, 2)
    assert f(X, 1) == as_an_array(X, 1)


def test_a_zero_that_stands_for_an_array() -> None:
    assert_compiles(gw.jacrev(gw.grad(copied)), X, 3)
