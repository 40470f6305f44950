"""Calls that are recognised: only those that are of the very kind."""

import collections
import gc
import threading
import weakref
from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright import shortcuts

Point = collections.namedtuple("Point", "x y")


def is_short(f: Any, *args: Any) -> bool:
    """Whether a call does not go the long way."""
    entry = f.entry
    called: list[Any] = []

    class Watched:
        def __getattr__(self, name: str) -> Any:
            return getattr(entry, name)

        def call(self, args: Any, keywords: Any) -> Any:
            called.append(args)
            return entry.call(args, keywords)

    entry.fast(Watched(), args, {})
    return not called


A = np.arange(6.0).reshape(2, 3)
KINDS = [
    2.0, 2, True, 1 + 2j, np.float64(2.0), np.float32(2.0), np.int64(3),
    np.ones(3), np.ones(1), np.ones((1, 3)), np.ones((3, 1)), A, A[:1], A.T,
    A.astype(np.float32), np.arange(3), np.ones((2, 2, 2)),
]  # fmt: skip


@pytest.mark.parametrize("backend", ["cpu", "numpy"])
def test_every_kind_after_every_other(backend: str) -> None:
    def f(x: Any) -> Any:
        return x * 2.0

    g = gw.jit(f, backend=backend)
    for _ in range(2):
        for a in KINDS:
            for _ in range(3):
                found, wanted = g(a), f(a)
                assert type(found) is type(wanted)
                assert np.array_equal(found, wanted)
                assert getattr(found, "dtype", 0) == getattr(wanted, "dtype", 0)


def test_the_second_call_is_short() -> None:
    for f, *args in (
        (gw.jit(lambda x, n: x * n), 2.0, 3),
        (gw.jit(lambda x, y: x * y), A, A),
        (gw.grad(lambda x: x * x), 2.0),
        (gw.jit(lambda p: p["a"] * p["b"][0]), {"a": 2.0, "b": (A, None)}),
        (gw.jit(lambda p: p.x * p.y), Point(1.0, 2.0)),
        (gw.jit(lambda x, n: x**n, static_argnums=1), 2.0, 3),
    ):
        f(*args)
        assert is_short(f, *args)


def test_structures_are_told_apart() -> None:
    f = gw.jit(lambda p: p)
    for _ in range(2):
        for p in (
            (1.0, 2.0), [1.0, 2.0], Point(1.0, 2.0), (1.0, 2), (1.0, 2.0, 3.0),
            {"a": 1.0, "b": 2.0}, {"b": 1.0, "a": 2.0}, {"a": 1.0}, {1: 1.0},
            {True: 1.0}, (1.0, None), (1.0, "a"), (1.0, "b"), ((1.0,), 2.0),
        ):  # fmt: skip
            for _ in range(3):
                found = f(p)
                assert found == p and type(found) is type(p)
                assert list(found) == list(p)
                assert list(map(type, found)) == list(map(type, p))


def test_static_values_are_told_apart() -> None:
    f = gw.jit(lambda x, n: x * n, static_argnums=1)
    for _ in range(3):
        for n in (1, 1.0, True, 0.0, -0.0, 2.5, 2, float("nan")):
            for _ in range(2):
                found = f(-3.0, n)
                assert np.array_equal(found, -3.0 * n, equal_nan=True)
                assert np.signbit(found) == np.signbit(-3.0 * n)


rate = 2.0


def test_what_is_captured_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    f = gw.jit(lambda x: x * rate)
    for value in (2.0, 3.0, 4, np.float32(0.5)):
        monkeypatch.setitem(globals(), "rate", value)
        for _ in range(3):
            assert f(3.0) == 3.0 * value


def test_lengths_are_looked_at() -> None:
    for backend in ("cpu", "numpy"):
        f = gw.jit(lambda x, y: np.sum(x * y), backend=backend)
        for _ in range(3):
            assert f(np.ones(3), np.ones(3)) == 3.0
            assert f(np.ones(1), np.ones(3)) == 3.0
            with pytest.raises(ValueError, match="broadcast"):
                f(np.ones(2), np.ones(3))


def test_a_function_of_new_code() -> None:
    def f(x: float) -> float:
        return 2.0 * x

    def other(x: float) -> float:
        return 5.0 * x

    g = gw.jit(f)
    assert [g(1.0), g(1.0)] == [2.0, 2.0]
    f.__code__ = other.__code__
    assert [g(1.0), g(1.0)] == [5.0, 5.0]


def test_caches_that_are_cleared() -> None:
    f = gw.jit(lambda x: 2.0 * x)
    f(1.0)
    gw.clear_caches()
    assert f.entry.fast is shortcuts.called and f.entry.last is None
    assert f(1.5) == 3.0 and is_short(f, 1.5)


def test_many_kinds_do_not_write_for_ever() -> None:
    f = gw.jit(lambda p: p[0], backend="numpy")
    for n in range(1, 40):
        f((1.0,) * n)
        f((1.0,) * n)
    assert len(f.entry.short.found) <= shortcuts.MOST
    assert f.entry.short.wait <= shortcuts.SLOWEST


def test_keywords_and_defaults_go_the_long_way() -> None:
    f = gw.jit(lambda x, n=2: x**n)
    for _ in range(3):
        assert (f(3.0), f(3.0, 3), f(x=3.0), f(3.0, n=1)) == (9.0, 27.0, 9.0, 3.0)


def test_the_source_is_that_of_the_last_call() -> None:
    f = gw.jit(lambda x: x[0] if isinstance(x, tuple) else x * 2.0)
    for _ in range(3):
        f((1.0,))
        assert "2.0" not in f.source()
        f(1.0)
        assert "2.0" in f.source()


def test_threads_that_learn_at_once() -> None:
    f = gw.jit(lambda x: x * 2, backend="numpy")
    wrong: list[Any] = []

    def work(k: int) -> None:
        for j in range(300):
            a = KINDS[(j * (k + 1)) % len(KINDS)]
            if not np.array_equal(f(a), a * 2):
                wrong.append(a)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_errors_of_the_program_have_the_users_line() -> None:
    def f(x: float) -> float:
        return 1.0 / x

    for g in (gw.jit(f), gw.jit(f, backend="numpy"), gw.value_and_grad(f)):
        g(1.0)
        for _ in range(2):
            with pytest.raises(ZeroDivisionError) as caught:
                g(0.0)
            assert "return 1.0 / x" in caught.value.__notes__[0]
            assert len(caught.value.__notes__) == 1


class Spring:
    """An object with a jitted method."""

    stiffness = 2.0

    @gw.jit
    def energy(self, x: float) -> float:
        return 0.5 * self.stiffness * x * x


def test_objects_are_let_go() -> None:
    spring = Spring()
    for _ in range(3):
        assert spring.energy(3.0) == 9.0
        assert is_short(Spring.energy, spring, 3.0)
    gone = weakref.ref(spring)
    del spring
    gc.collect()
    assert gone() is None
    assert Spring().energy(1.0) == 1.0


def test_layouts_that_follow_each_other() -> None:
    f = gw.jit(lambda A: A[0, 1] + 2.0 * A[1, 0])
    for a in (A, A.T, A[:, ::2], A[::-1], np.asfortranarray(A), A, A.T, A[:, ::2], A):
        for _ in range(3):
            assert f(a) == a[0, 1] + 2.0 * a[1, 0]
