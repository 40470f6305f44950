"""What is said of rewriting and compiling, and why."""

import logging
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import gradwright as gw

Say = Callable[..., list[str]]


class Pair(NamedTuple):
    x: Any
    y: Any


@pytest.fixture
def said(caplog: pytest.LogCaptureFixture) -> Say:
    """What a call logs."""
    gw.clear_caches()

    def call(f: Any, *args: Any, **keywords: Any) -> list[str]:
        caplog.clear()
        with caplog.at_level(logging.WARNING, "gradwright"):
            f(*args, **keywords)
        return [record.getMessage() for record in caplog.records]

    return call


def scaled(x: Any, n: Any) -> Any:
    return x * n


def test_a_line_for_a_compilation(said: Say) -> None:
    f = gw.jit(gw.grad(scaled))
    with gw.log_compiles():
        (line,) = said(f, 1.0, 2)
        assert said(f, 5.0, 3) == []
    number = r"\d+\.\d{3} s"
    assert re.fullmatch(
        rf"jit of grad of scaled\(x: float, n: int\): rewriting {number}, "
        rf"lowering {number}, compiling {number}",
        line,
    )
    with gw.log_compiles():
        (line,) = said(gw.grad(scaled), 1.0, 2)
    assert re.fullmatch(
        rf"grad of scaled\(x: float, n: int\): rewriting {number}", line
    )
    assert said(f, np.float32(1.0), 2) == []  # it is off again


def test_a_line_for_another_layout(said: Say) -> None:
    f = gw.jit(lambda A: A[0, 1] + A[1, 0])
    A = np.arange(6.0).reshape(2, 3)
    f(A)
    with gw.explain_cache_misses():
        (line,) = said(f, np.asfortranarray(A))
        assert "another layout of its arrays (A column by column)" in line
        (line,) = said(f, A[:, ::2])
        assert "(A strided)" in line
        assert said(f, A) == []


CHANGES = [
    ((1.0, 2), "it was not called before"),
    ((1.0, 3), "n was static 2, and is static 3"),
    ((1.0, 3.0), "n was static 2, and is static 3.0"),
    ((1.0, -0.0), "n was static 3.0, and is static -0.0"),
    ((1.0, True), "n was static 2, and is static True"),
    ((1.0, "a"), "n was static 2, and is static 'a'"),
    ((1.0, (1, 2.0)), "n was static 2, and is static tuple(1, 2.0)"),
    ((1, 2), "x was float, and is int"),
    ((np.float32(1.0), 2), "x was float, and is float32"),
    ((np.ones(3), 2), "x was float, and is an array of float64 with one axis"),
    (
        (np.ones((3, 3)), 2),
        "x was an array of float64 with one axis, "
        "and is an array of float64 with 2 axes",
    ),
    (
        (np.ones((3, 1)), 2),
        "x was an array of float64 with 2 axes, "
        "and is an array of float64 with 2 axes, axis 1 of length one",
    ),
    (
        (np.ones(3, np.float32), 2),
        "x was an array of float64 with one axis, "
        "and is an array of float32 with one axis",
    ),
]


def test_why_a_call_is_rewritten(said: Say) -> None:
    def f(x: Any, n: Any) -> Any:
        return x

    g = gw.jit(f, static_argnames="n", backend="numpy")
    with gw.explain_cache_misses():
        for args, why in CHANGES:
            assert said(g, *args) == [f"jit of f is rewritten: {why}"]
        assert said(g, 2.0, 2) == []


def test_why_of_structures(said: Say) -> None:
    def f(p: Any) -> Any:
        return p

    g = gw.jit(f, backend="numpy")
    with gw.explain_cache_misses():
        said(g, {"a": 1.0, "b": (2.0, None)})
        (line,) = said(g, {"a": 1.0, "b": (2, None)})
        assert line.endswith("p['b'][0] was float, and is int")
        (line,) = said(g, {"b": (2, None), "a": 1.0})
        assert "and is {'b': tuple(int, None), 'a': float}" in line
        (line,) = said(g, Pair(1.0, "text"))
        assert "is Pair(float, 'text')" in line


rate = 2.0


def test_why_of_what_is_captured(said: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x: float) -> float:
        return x * rate

    g = gw.grad(f)
    g(1.0)
    monkeypatch.setitem(globals(), "rate", 2)
    with gw.explain_cache_misses():
        (line,) = said(g, 1.0)
    assert line.endswith("what it has captured is of another kind, or another object")


def test_why_of_lengths(said: Say) -> None:
    def f(x: Any, y: Any) -> Any:
        return np.sum(x + y)

    g = gw.grad(f)
    g(np.ones(3), np.ones(3))
    with gw.explain_cache_misses(), pytest.raises(ValueError, match="broadcast"):
        said(g, np.ones(3), np.ones(4))
