"""What is remembered between calls, and what is let go."""

import gc
import os
import threading
import time
import weakref

import numpy as np
import pytest

import gradwright as gw
from gradwright import cache
from gradwright.cache import REGISTRY


def count(g) -> int:
    return sum(map(len, g.entry.family.known.values()))


def make(gain):
    def f(x):
        return gain * x * x

    return f


def test_closures_of_one_code_share_their_specialisations() -> None:
    gains = [1.0, 2.0, 5.0]
    gradients = [gw.grad(make(k)) for k in gains]
    assert [g(2.0) for g in gradients] == [4.0 * k for k in gains]
    assert len({id(g.entry.family) for g in gradients}) == 1
    assert count(gradients[0]) == 1
    assert [gw.jvp(make(k), (2.0,), (1.0,))[1] for k in gains] == [
        4.0 * k for k in gains
    ]


def test_a_loss_written_anew_for_each_batch() -> None:
    def loss(w, batch):
        return np.sum((w - batch) * (w - batch))

    family = None
    for k in range(3):
        batch = np.full(4, float(k))
        g = gw.grad(lambda w: loss(w, batch))
        assert g(np.zeros(4)).tolist() == [-2.0 * k] * 4
        family = family or g.entry.family
        assert g.entry.family is family
    assert count(g) == 1


def test_functions_among_the_arguments() -> None:
    def apply(x, law, other):
        return law(x) + 10.0 * other(x)

    g = gw.grad(apply)
    one, two = make(1.0), make(2.0)
    assert g(1.0, one, two) == 42.0
    assert g(1.0, two, one) == 24.0
    assert count(g) == 1
    assert g(1.0, one, one) == 22.0
    assert g(1.0, two, two) == 44.0
    assert count(g) == 2  # one function twice is another program


def test_a_function_that_comes_out_is_the_one_that_was_given() -> None:
    g = gw.grad(lambda x, law: (law(x), law), has_aux=True)
    one, two = make(1.0), make(2.0)
    assert g(1.0, one) == (2.0, one)
    assert g(1.0, two) == (4.0, two)


def test_functions_and_arrays_are_let_go() -> None:
    def hold():
        weights = np.ones(1000)

        def helper(x):
            return x * x

        def f(x):
            return helper(x) * np.sum(weights)

        assert gw.grad(f)(2.0) == 4000.0
        assert gw.jvp(f, (2.0,), (1.0,))[1] == 4000.0
        gw.vjp(f, 2.0)
        return weakref.ref(f), weakref.ref(helper), weakref.ref(weights)

    dead = hold()
    gc.collect()
    assert [r() for r in dead] == [None, None, None]


def test_a_family_goes_with_its_code() -> None:
    before = len(REGISTRY.families)
    text = "def f(x):\n    return x * x\n"
    scope = registered(text, "<let go>")
    assert gw.grad(scope["f"])(3.0) == 6.0
    assert len(REGISTRY.families) == before + 1
    del scope
    gc.collect()
    assert len(REGISTRY.families) == before


def registered(text, filename):
    import linecache

    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    scope = {}
    exec(compile(text, filename, "exec"), scope)
    return scope


def test_an_argument_that_is_gone_takes_its_specialisation_along() -> None:
    class Law:
        def __call__(self, x):
            return x

    g = gw.grad(lambda x, law: x * x)
    law = Law()
    assert g(2.0, law) == 4.0
    assert count(g) == 1
    del law
    gc.collect()
    assert count(g) == 0


def test_the_number_of_specialisations_is_bounded(monkeypatch) -> None:
    gw.clear_caches()
    monkeypatch.setattr(cache, "MOST_SPECIALISATIONS", 3)
    g = gw.grad(lambda x, text: x * x)
    for text in "abcdef":
        assert g(3.0, text) == 6.0
        assert g(3.0, "a") == 6.0  # in use all the time, and so it stays
    assert count(g) <= 3
    kept = {key[1][1] for key in g.entry.family.known}
    assert "a" in kept
    assert "f" in kept


def test_what_was_captured_is_bounded_too() -> None:
    def user(law):
        return lambda x: law(x)

    g = None
    for _ in range(cache.MOST_ALIKE + 5):
        g = gw.grad(user(make(2.0)))
        assert g(1.0) == 4.0
    assert count(g) <= cache.MOST_ALIKE


def test_clear_caches() -> None:
    g = gw.grad(make(1.0))
    g(1.0)
    assert count(g)
    gw.clear_caches()
    assert not count(g)
    assert g(2.0) == 4.0


def test_two_threads_at_the_first_call(monkeypatch) -> None:
    gw.clear_caches()
    built = []
    original = cache.Family.add
    monkeypatch.setattr(cache.Family, "add", lambda *a: (built.append(1), original(*a)))
    g = gw.grad(make(3.0))
    barrier, found = threading.Barrier(4), []

    def work():
        barrier.wait()
        found.append(g(2.0))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == [12.0] * 4
    assert len(built) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_lock_that_was_held_at_a_fork() -> None:
    g = gw.grad(make(1.0))
    family = g.entry.family
    held, done = threading.Event(), threading.Event()

    def hold():
        with family.lock, REGISTRY.lock:
            held.set()
            done.wait(20)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    child = os.fork()
    if child == 0:
        os._exit(0 if g(2.0) == 4.0 else 1)
    deadline = time.monotonic() + 15
    status = None
    while time.monotonic() < deadline:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            break
        time.sleep(0.01)
    else:
        os.kill(child, 9)
        os.waitpid(child, 0)
    done.set()
    thread.join()
    assert os.waitstatus_to_exitcode(status) == 0
