"""Results share memory with nothing."""

import numpy as np
import pytest

import gradwright as gw

HELD = np.array([5.0, 6.0])


def doubled(xs):
    return 2.0 * xs


def passed_on(xs):
    return xs


def tail(xs, n):
    return xs if n == 0 else tail(xs, n - 1)


def in_a_loop(xs, n):
    ys = xs
    for _ in range(n):
        ys = ys * 2.0
    return ys


PROGRAMS = {
    "the argument": (lambda xs: xs, 1),
    "a view": (lambda xs: xs[1:], 1),
    "a view of a view": (lambda xs: xs[1:][::-1], 1),
    "twice": (lambda xs: (xs, xs), 2),
    "one of two": (lambda xs: xs if xs[0] > 0.0 else xs * 2.0, 1),
    "captured": (lambda xs: HELD, 1),
    "a helper's": (lambda xs: passed_on(xs), 1),
    "a recursive helper's": (lambda xs: tail(xs, 2), 1),
    "a cell's": (lambda xs: in_a_loop(xs, 0), 1),
    "a new array and a part": (lambda xs: ((ys := xs * 2.0), ys[1:]), 1),
    "real parts": (lambda xs: (xs.real, xs), 2),
    "stretched": (lambda xs: np.broadcast_to(xs * 2.0, (2, 3)), 1),
    "a diagonal": (lambda xs: np.diagonal(np.outer(xs, xs)), 1),
    "a new diagonal": (lambda xs: np.diag(xs * 2.0), 0),
    "new": (lambda xs: xs * 2.0, 0),
    "a helper's own": (lambda xs: doubled(xs), 0),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_copied(name: str) -> None:
    f, copies = PROGRAMS[name]
    xs = np.array([1.0, 2.0, 3.0])
    value, _ = gw.vjp(f, xs)
    arrays = [xs, HELD, *(value if isinstance(value, tuple) else [value])]
    for k, a in enumerate(arrays):
        assert not any(np.shares_memory(a, b) for b in arrays[:k])
        assert a.flags.writeable
    text = gw.source(f, kind="vjp")
    forward = text[: text.index("_backward(")]
    assert forward.count(".copy()") == copies


def test_two_gradients() -> None:
    first, second = gw.grad(lambda a, b: np.sum(a + b), (0, 1))(np.ones(2), np.ones(2))
    assert not np.shares_memory(first, second)
