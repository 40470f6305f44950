"""Derivatives never change an array or a list that they are given."""

import numpy as np
import pytest
from semantics.oracle import check

import gradwright as gw


def frozen(*values: float) -> np.ndarray:
    """An array that refuses to be written."""
    a = np.array(values)
    a.flags.writeable = False
    return a


def weighted(xs, ws):
    s = 0.0
    for x, w in zip(xs, ws):
        s = s * w + x * x
    return s + np.sum(xs[1:] * ws[:-1])


def scaled(xs, factor):
    ys = xs * factor
    return ys + xs[::-1]


def test_read_only_arrays() -> None:
    check(weighted, frozen(1.0, 2.0, 3.0), frozen(0.5, -1.0, 2.0))


def test_read_only_tangents_and_cotangents() -> None:
    xs, seed = frozen(1.0, 2.0), frozen(1.0, -1.0)
    _, tangent = gw.jvp(scaled, (xs, 2.0), (seed, 0.0))
    assert tangent.tolist() == [1.0, -1.0]
    _, pull = gw.vjp(scaled, xs, 2.0)
    for _ in range(2):
        xs_bar, factor_bar = pull(seed)
        assert (xs_bar.tolist(), factor_bar) == ([1.0, -1.0], -1.0)


def test_what_is_passed_stays_as_it_was() -> None:
    xs, ws = np.array([1.0, 2.0, 3.0]), [0.5, -1.0, 2.0]
    direction = np.array([1.0, 1.0, 1.0])

    def f(xs, ws):
        s = 0.0
        for k in range(3):
            s += ws[0] * xs[k] ** 2 - ws[1] * xs[k - 1] + ws[2]
        return s

    gw.grad(f, argnums=(0, 1))(xs, ws)
    gw.jvp(f, (xs, ws), (direction, [0.0, 0.0, 0.0]))
    gw.vjp(f, xs, ws)[1](1.0)
    assert xs.tolist() == [1.0, 2.0, 3.0]
    assert ws == [0.5, -1.0, 2.0]
    assert direction.tolist() == [1.0, 1.0, 1.0]


def test_a_change_after_vjp_is_not_seen() -> None:
    """`pull` answers for the arguments as they were."""
    xs = np.array([1.0, 2.0])
    _, pull = gw.vjp(lambda xs: np.sum(xs * xs), xs)
    xs[0] = 100.0
    assert pull(1.0)[0].tolist() == [2.0, 4.0]


def test_a_rebound_parameter_is_not_a_store() -> None:
    def f(x):
        x = x * x
        x += 1.0
        return x * 3.0

    check(f, 2.0)


@pytest.mark.parametrize("kind", ["grad", "jvp", "vjp"])
def test_what_is_passed_stays_when_it_raises(kind: str) -> None:
    def f(xs):
        s = np.sum(xs) * xs[0]
        return s + xs[5]

    xs = np.array([1.0, 2.0])
    calls = {
        "grad": lambda: gw.grad(f)(xs),
        "jvp": lambda: gw.jvp(f, (xs,), (np.ones(2),)),
        "vjp": lambda: gw.vjp(f, xs),
    }
    with pytest.raises(IndexError):
        calls[kind]()
    assert xs.tolist() == [1.0, 2.0]


def moved(xs, shift):
    xs[1:] += shift * xs[:-1]
    if shift > 2.0:
        raise ValueError("too far")
    xs[0] = shift
    return np.sum(xs * xs)


@pytest.mark.parametrize("backend", ["cpu", "numpy"])
def test_a_function_that_is_only_compiled_stores_as_it_says(backend: str) -> None:
    """Also when it raises half-way."""
    f = gw.jit(moved, backend=backend)
    for shift in (0.5, 3.0):
        ours, wanted = np.arange(4.0), np.arange(4.0)
        outcomes = []
        for g, xs in ((f, ours), (moved, wanted)):
            try:
                outcomes.append(g(xs, shift))
            except ValueError as e:
                outcomes.append(str(e))
        assert outcomes[0] == outcomes[1]
        assert ours.tolist() == wanted.tolist()


@pytest.mark.parametrize("backend", ["cpu", "numpy"])
def test_donated_arrays_may_be_overwritten(backend: str) -> None:
    """Others are not, and the derivative is the same."""
    given, kept = np.arange(4.0), np.arange(4.0)
    g = gw.jit(gw.grad(moved), donate_argnums=0, backend=backend)
    found = g(given, 0.5)
    assert np.allclose(found, gw.jit(gw.grad(moved), backend=backend)(kept, 0.5))
    assert kept.tolist() == [0.0, 1.0, 2.0, 3.0]
    assert given.tolist() != kept.tolist()


def test_arrays_that_were_given_away_do_not_overlap_others() -> None:
    def f(xs, ys):
        xs[0] = 2.0
        return np.sum(xs * ys)

    g = gw.jit(gw.grad(f), donate_argnums=0)
    a = np.arange(4.0)
    with pytest.raises(gw.AliasError, match="'xs' is stored into"):
        g(a, a)
    assert a.tolist() == [0.0, 1.0, 2.0, 3.0]
