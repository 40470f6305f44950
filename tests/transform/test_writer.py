"""Writing: statements of the core as one reads them in Python."""

import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from written import written

import gradwright as gw
from gradwright.transform.emit import emit

CASES = {
    "if and else": (
        """
        def f(x: float, c: bool):
            cell s
            if c:
                store s, x
            else:
                store s, 1.0
            end = load s
            return end
        """,
        """
        def f(x, c):
            if c:
                s = x
            else:
                s = 1.0
            return s
        """,
    ),
    "only else": (
        """
        def f(x: float, c: bool):
            cell s
            store s, x
            if c:
            else:
                store s, 1.0
            end = load s
            return end
        """,
        """
        def f(x, c):
            s = x
            if not c:
                s = 1.0
            return s
        """,
    ),
    "a loop with a break": (
        """
        def f(x: float, n: int):
            cell s
            store s, x
            for k in range(1, n, 2):
                v = load s
                big = gt v, 9.0
                if big:
                    break
                w = multiply v, 2.0
                store s, w
            end = load s
            return end
        """,
        """
        def f(x, n):
            s = x
            for _ in range(1, n, 2):
                if s > 9.0:
                    break
                s *= 2.0
            return s
        """,
    ),
    "minus": (
        """
        def f(x: float, n: int):
            cell s
            store s, x
            for k in range(0, n, 1):
                p = multiply x, x
                m = negative p
                add s, m
            end = load s
            return end
        """,
        """
        def f(x, n):
            s = x
            for _ in range(n):
                s -= x * x
            return s
        """,
    ),
}


@pytest.mark.parametrize(("program", "text"), CASES.values(), ids=CASES)
def test_writing(program: str, text: str) -> None:
    assert emit(written(program)).text == textwrap.dedent(text).lstrip("\n")


# ---- what a user's program becomes -------------------------------------------------


def items(xs: Any) -> Any:
    total = 0.0
    for x in xs:
        total += x * x
    return total


def pairs(xs: Any, ws: Any) -> Any:
    total = 0.0
    for k, (x, w) in enumerate(zip(xs, ws, strict=True)):
        total += x * w * k
    return total


def either(x: float, y: float) -> float:
    return x if x > 1.0 or y > x else y


def asserted(x: float) -> float:
    assert x > 0.0, "too small"
    return x * x


def told(x: float) -> float:
    if x < 0.0:
        raise ValueError(f"{x} is negative")
    return x * x


XS = np.array([1.0, 2.0])


@pytest.mark.parametrize(
    ("f", "arguments", "line"),
    [
        (items, (XS,), "for x in xs:"),
        (either, (2.0, 1.0), "if x > 1.0 or y > x"),
        (asserted, (2.0,), 'assert x > 0.0, "too small"'),
        (told, (2.0,), 'raise ValueError(f"{x} is negative")'),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_lines_of_the_user(f: Callable[..., Any], arguments: Any, line: str) -> None:
    text = str(gw.grad(f).source(*arguments)) + str(
        gw.value_and_grad(f).source(*arguments)
    )
    assert line in text


def test_a_sum_is_not_written_into_an_argument() -> None:
    """s_bar = xs; s_bar += 1.0 would change the caller's array."""

    def f(x, xs, n):
        total, s = 0.0, xs * x
        for _ in range(n):
            total += np.sum(s)
            for _ in range(2):
                total += np.sum(s * xs)
                s = 3.0 + xs
        return total

    xs = np.array([0.7, 1.1])
    gradient = gw.grad(f)(0.5, xs, 2)
    assert xs.tolist() == [0.7, 1.1]
    assert gradient == pytest.approx(f(1.5, xs, 2) - f(0.5, xs, 2))


def test_what_is_indexed_stays_under_errstate() -> None:
    def f(x: Any) -> Any:
        return np.sum(x.std(axis=0, keepdims=True)[[0]])

    x = np.ones((1, 3))  # whose spread is 0, by which the derivative divides
    with np.errstate(all="raise"):
        assert gw.jvp(f, (x,), (x,)) == (0.0, 0.0)
        np.testing.assert_array_equal(gw.grad(f)(x), 0.0 * x)
