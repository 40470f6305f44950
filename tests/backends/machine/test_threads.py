"""Threads that share the samples of a vmap: the same bits, errors, and processes."""

import itertools
import math
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import optree
import pytest

import gradwright as gw
from gradwright.backends.machine import threads

rng = np.random.default_rng(11)
XS, NS = rng.uniform(0.1, 1.4, 1000), rng.integers(0, 9, 1000)


def iterated(x: Any, n: int) -> Any:
    s = 0.0
    for _ in range(n):
        x = np.sin(x) + 0.1
        s += x * x
    return s


def rooted(x: Any, n: int) -> Any:
    """What raises, and so is a loop of one sample after another."""
    return math.sqrt(x) * n


def rows(x: Any, n: int) -> Any:
    """Arrays of each sample's own, and a result that is one."""
    y = np.zeros(4)
    y[0] = x
    for k in range(1, 4):
        y[k] = y[k - 1] * x + n
    return y, y[3]


def elementwise(x: Any, n: int) -> Any:
    return np.exp(-x) * n


PROGRAMS: list[Callable[..., Any]] = [iterated, rooted, rows, elementwise]


def shared(f: Any, count: Any) -> Any:
    return gw.jit(gw.vmap(f), parallel=count)


def runs_in_threads(f: Any, *args: Any) -> bool:
    """Whether the machine code of a call is shared out."""
    kernel = f.lower(*args)._found.forward.machine.usual
    return kernel.sharing is not None


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 200, 1000])
@pytest.mark.parametrize("f", PROGRAMS)
def test_the_same_bits_for_any_number_of_threads(f: Any, size: int) -> None:
    xs, ns = XS[:size], NS[:size]
    wanted = optree.tree_leaves(gw.jit(gw.vmap(f, how="loop"))(xs, ns))
    for count in (1, 2, 3, 8, True):
        found = optree.tree_leaves(shared(f, count)(xs, ns))
        for a, b in zip(found, wanted, strict=True):
            assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("f", PROGRAMS)
def test_samples_are_shared_out(f: Any) -> None:
    g = shared(f, 2)
    g(XS, NS)
    assert runs_in_threads(g, XS, NS)


def test_a_gradient_is_shared_out() -> None:
    g = shared(gw.grad(iterated), 2)
    wanted = gw.jit(gw.vmap(gw.grad(iterated), how="loop"))(XS, NS)
    assert g(XS, NS).tobytes() == wanted.tobytes()
    assert runs_in_threads(g, XS, NS)


def test_what_is_no_loop_over_samples_runs_in_one_thread() -> None:
    def total(xs: Any, ns: Any) -> Any:
        return np.sum(gw.vmap(iterated)(xs, ns))

    f = gw.jit(total, parallel=2)
    assert f(XS, NS) == pytest.approx(np.sum(gw.vmap(iterated)(XS, NS)))
    assert not runs_in_threads(f, XS, NS)


def test_the_first_sample_that_fails() -> None:
    xs = XS.copy()
    xs[[300, 900]] = -1.0
    f = shared(rooted, 4)
    for _ in range(2):
        with pytest.raises(ValueError, match="math domain error") as e:
            f(xs, NS)
        assert e.value.__notes__[-1] == "  in sample 300 of vmap"
    assert f(XS, NS).tolist() == [rooted(x, n) for x, n in zip(XS, NS, strict=True)]


def test_several_threads_of_python() -> None:
    f = shared(iterated, 2)
    wanted = f(XS, NS).tobytes()
    start = threading.Barrier(4)

    def call(_: int) -> list[bytes]:
        start.wait()
        return [f(XS, NS).tobytes() for _ in range(20)]

    with ThreadPoolExecutor(4) as pool:
        found = [r for many in pool.map(call, range(4)) for r in many]
    assert set(found) == {wanted}


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_after_a_fork() -> None:
    f = shared(iterated, 2)
    wanted = f(XS, NS)
    child = os.fork()
    if not child:
        try:
            os._exit(0 if f(XS, NS).tobytes() == wanted.tobytes() else 1)
        finally:
            os._exit(2)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert f(XS, NS).tobytes() == wanted.tobytes()


@pytest.mark.parametrize("count", [0, -2])
def test_no_number_of_threads(count: int) -> None:
    with pytest.raises(ValueError, match=f"parallel={count} of jit is no number"):
        gw.jit(iterated, parallel=count)
    with pytest.raises(TypeError):
        gw.jit(iterated, parallel=1.5)  # type: ignore[arg-type]


@pytest.mark.parametrize("samples", [1, 64, 65, 1000, 4096])
@pytest.mark.parametrize("count", [1, 2, 7])
def test_shares_are_whole_blocks(samples: int, count: int) -> None:
    found = threads.shares(samples, count)
    assert len(found) <= min(count, -(-samples // threads.BLOCK))
    assert found[0][0] == 0 and found[-1][1] == threads.EVERY
    for (_, end), (first, _) in itertools.pairwise(found):
        assert end == first and first % threads.BLOCK == 0
