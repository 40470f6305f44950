"""Transformed functions from several threads and processes; pickles and copies."""

import copy
import multiprocessing
import os
import pickle
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from semantics.inside import entries

import gradwright as gw

THREADS = 8


def chain(x, n):
    s = x
    for k in range(n):
        s = s * 0.9 + helper(x, k)
        if s > 100.0:
            break
    return s


def helper(x, k):
    return x * x / (k + 1.0)


def slope(x, n):
    """The derivative of `chain` by hand."""
    s, s_dot = x, 1.0
    for k in range(n):
        s, s_dot = s * 0.9 + x * x / (k + 1.0), s_dot * 0.9 + 2.0 * x / (k + 1.0)
        if s > 100.0:
            break
    return s_dot


def at_once(work: Callable[[int], Any]) -> list[Any]:
    """Run it in several threads that start together."""
    barrier = threading.Barrier(THREADS)

    def start(k: int) -> Any:
        barrier.wait(timeout=60)
        return work(k)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(start, range(THREADS)))


def test_one_function_called_at_once() -> None:
    g = gw.grad(chain)

    def work(k: int) -> list[float]:
        return [g(1.0 + 0.1 * k, n) for n in range(20)]

    for k, got in enumerate(at_once(work)):
        wanted = [slope(1.0 + 0.1 * k, n) for n in range(20)]
        assert np.allclose(got, wanted, rtol=1e-13)
    assert entries(g) == 1


def test_kinds_of_arguments_met_at_once() -> None:
    g = gw.grad(chain)
    kinds = [float, np.float64, np.float32, complex] * 2

    def f(z, n):
        return abs(chain(z.real, n))

    h = gw.grad(f)

    def work(k: int) -> Any:
        kind = kinds[k]
        return (h if kind is complex else g)(kind(1.5), 5)

    for k, got in enumerate(at_once(work)):
        assert type(got) is kinds[k]
        assert np.isclose(got, slope(1.5, 5), rtol=1e-6)


def test_made_and_called_at_once() -> None:
    def work(k: int) -> Any:
        law = [lambda x: x * x, lambda x: x**3][k % 2]
        _, pull = gw.vjp(law, 2.0)
        return gw.grad(law)(2.0), gw.jvp(law, (2.0,), (1.0,))[1], pull(1.0)[0]

    for k, got in enumerate(at_once(work)):
        assert got == ((4.0,) * 3, (12.0,) * 3)[k % 2]


def test_one_pull_called_at_once() -> None:
    _, pull = gw.vjp(chain, 1.5, 9)
    wanted = slope(1.5, 9)
    for k, got in enumerate(at_once(lambda k: [pull(k + 1.0)[0] for _ in range(50)])):
        assert np.allclose(got, wanted * (k + 1.0), rtol=1e-13)


def test_exceptions_of_threads_are_their_own() -> None:
    def f(x):
        return 1.0 / (x - 2.0)

    g = gw.grad(f)

    def work(k: int) -> Any:
        try:
            return g(float(k))
        except ZeroDivisionError as error:
            return error.__notes__

    results = at_once(work)
    assert len(results[2]) == 1 and "test_threads.py:" in results[2][0]
    for k in (0, 1, 3, 4):
        assert results[k] == -1.0 / (k - 2.0) ** 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of fork with threads
def test_after_fork() -> None:
    g = gw.grad(chain)
    before = g(1.5, 3)
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(
        target=lambda: queue.put([g(1.5, 3), g(np.float32(1.5), 3)])
    )
    child.start()
    child.join(60)
    assert child.exitcode == 0
    same, single = queue.get()
    assert same == before
    assert type(single) is np.float32


# ---- pickles and copies --------------------------------------------------------------


@pytest.mark.parametrize(
    "again",
    [copy.copy, copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g))],
    ids=["copy", "deepcopy", "pickle"],
)
def test_pickles_and_copies(again) -> None:
    for g in (
        gw.grad(chain),
        gw.value_and_grad(chain, argnums=(0,)),
        gw.grad(gw.grad(chain)),
        gw.grad(chain, argnames="x"),
    ):
        wanted = g(1.5, 4)
        other = again(g)
        assert type(other) is type(g)
        assert other(1.5, 4) == wanted
        assert repr(other) == repr(g)


def test_pickling_works_where_it_works_for_the_function() -> None:
    g = gw.grad(lambda x: x * x)
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(g)
    assert copy.deepcopy(g)(3.0) == 6.0


def test_a_transformed_function_inside_an_object() -> None:
    model = {"slope": gw.grad(chain), "rate": 2.0}
    other = copy.deepcopy(model)
    assert other["slope"](1.5, 2) == model["slope"](1.5, 2)
    assert pickle.loads(pickle.dumps(model))["slope"](1.5, 2) == other["slope"](1.5, 2)
