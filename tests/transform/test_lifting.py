"""Axes of the samples: what is lifted is what a loop over the samples gives."""

from collections.abc import Callable
from typing import Any

import numpy as np
import optree
import pytest

import gradwright as gw

rng = np.random.default_rng(3)
XS, WS = rng.normal(size=(4, 3)), rng.normal(size=(4, 3, 3))
W, V = WS[0], XS[0]


def scaled(x, w):
    return w * np.sin(x) / (1.0 + x * x)


def products(W, x):
    return W @ x, x @ W, W @ W, x @ x, np.dot(W, x), np.outer(x, W[0]), np.inner(x, x)


def reductions(W, x):
    return np.sum(W), np.mean(W, axis=0), np.max(W, axis=-1, keepdims=True), W.std()


def shapes(W, x):
    y = np.concatenate([W[0], x, W.ravel()])
    return y.reshape(3, -1), W.T, np.stack([x, W[1]], axis=1), x[:, None] + W[None, 0]


def recurrent(W, x):
    """What is carried through a loop begins as what all samples share."""
    h, s = np.zeros(3), 0.0
    for k in range(3):
        h = np.tanh(W @ h + x * k)
        s = s + np.sum(h)
    return h, s * x[0]


def chosen(W, x):
    """A branch that all samples take, and a choice of elements."""
    if len(x) > 2:
        x = np.where(x > 0.0, x, 0.1 * x)
    return np.clip(W @ x, -0.5, 0.5)


def stores(W, x):
    y = np.zeros((3, 2))
    y[:, 0] = x
    y[1:, 1] = W[0, 1:] * y[0, 0]
    y[0] += 0.5
    y[[2, 0]] *= 2.0
    return y


def looked_up(W, x):
    k = np.argmax(x)
    return W[k], np.sort(x)[::-1]


PLACES = np.array([0, 2, 2])


def places(W, x):
    """Each sample's own: some twice, some from the end, beside others and behind."""
    k, j = np.argsort(x)[PLACES], np.argmin(W[0]) - 3
    y = W.copy()
    y[j] = x[0]
    y[j, k] += 2.0
    y[:, j] *= x
    z = np.zeros(3)
    z[k] += x[k]
    return y, z, x[k], W[j, 1:], W[k, j], W[:, j], W[k][:, 1], np.eye(3)[j, k]


def systems(W, x):
    A = W @ W.T + 3.0 * np.eye(3)
    return np.linalg.solve(A, x), np.linalg.inv(A), np.linalg.det(A), np.linalg.eigh(A)


def summed(W, x):
    by_letters = np.einsum("ij,j->i", W, x)
    return by_letters, np.tensordot(W, W, axes=([0], [1])), np.cumsum(x)


def smoothed(u, c):
    """A function of its own in the emitted source, as it is called twice."""
    for k in range(len(u)):
        v = u.copy()
        v[1:-1] += c[k] * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        w = np.sin(v) * np.cos(u) + c[k]
        u = 0.5 * v + w * w / (1.0 + np.abs(w))
    return u, np.sum(u)


def twice(W, x):
    y, s = smoothed(x, W[0])
    z, t = smoothed(W[1], np.ones(3))
    y, s = smoothed(y * s, z)
    return y, s + t


TWO = [products, reductions, shapes, recurrent, chosen, stores, looked_up, systems]
TWO += [summed, twice, places]
AXES = {(0, 0): (WS, XS), (None, 0): (W, XS), (0, None): (WS, V)}
AXES |= {(2, 1): (np.moveaxis(WS, 0, 2), XS.T), (0, -1): (WS, XS.T)}


def each(f: Callable[..., Any], axes: Any, given: Any) -> list[Any]:
    pairs = [*zip(given, axes, strict=True)]
    taken = [
        [a if axis is None else np.take(a, k, axis) for a, axis in pairs]
        for k in range(len(XS))
    ]
    return [f(*one) for one in taken]


def hold(found: Any, results: list[Any]) -> None:
    leaves = optree.tree_leaves(found, namespace="gw")
    for k, leaf in enumerate(leaves):
        wanted = np.stack([optree.tree_leaves(r, namespace="gw")[k] for r in results])
        assert (leaf.shape, leaf.dtype) == (wanted.shape, wanted.dtype)
        np.testing.assert_allclose(leaf, wanted, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("axes", AXES, ids=str)
@pytest.mark.parametrize("f", TWO)
def test_values(f: Callable[..., Any], axes: Any) -> None:
    given = AXES[axes]
    before = [np.copy(a) for a in given]
    batched = gw.vmap(f, in_axes=axes, how="axis")
    hold(batched(*given), each(f, axes, given))
    hold(gw.jit(batched)(*given), each(f, axes, given))
    assert all(map(np.array_equal, given, before))


@pytest.mark.parametrize("axes", AXES, ids=str)
@pytest.mark.parametrize("f", TWO)
def test_gradients(f: Callable[..., Any], axes: Any) -> None:
    if f is systems:
        return  # phases of vectors are not determined
    g = gw.grad(lambda W, x: total(f(W, x)), argnums=(0, 1))
    given = AXES[axes]
    hold(gw.vmap(g, in_axes=axes)(*given), each(g, axes, given))


def total(results):
    if isinstance(results, tuple):
        s = 0.0
        for r in results:
            s = s + np.sum(r * r)
        return s
    return np.sum(results * results)
