"""Functions of the program: one for each kind of arguments, and none too many."""

from typing import Any

import numpy as np
import pytest
from semantics.oracle import check

import gradwright as gw

XS = np.linspace(0.2, 0.8, 5)


def looped(t: Any, n: int) -> Any:
    """Too long to be written out where it is called: it has a loop."""
    for k in range(n):
        t = np.sin(t) * 1.1 + k
    return t


def functions(text: str) -> list[str]:
    return [line.split("(")[0][4:] for line in text.split("\n") if line[:4] == "def "]


def test_one_for_each_kind() -> None:
    def same(x: Any, xs: Any) -> Any:
        return looped(x, 2) + looped(2.0 * x, 3)

    def other(x: Any, xs: Any) -> Any:
        return looped(x, 2) + np.sum(looped(xs, 2)) + looped(x * x, 1)

    count = lambda f: len(functions(gw.stages(gw.grad(f), 0.3, XS)["specialise"]))  # noqa: E731
    assert (count(same), count(other)) == (2, 3)
    gw.check_grads(other, (0.3, XS), order=2)


def test_arrays_of_known_lengths_have_their_own() -> None:
    """A helper that is handed lengths 1 and 3 stretches the one and not the other."""

    def scaled(a: Any, b: Any, n: int) -> Any:
        s = 0.0
        for _ in range(n):
            s += np.sum(a * b)
        return s

    def f(x: Any) -> Any:
        return scaled(np.ones(3) * x, x, 2) + scaled(np.ones((1,)) * x[0], x, 1)

    gw.check_grads(f, (XS[:3],), order=2)


def test_a_recursion_that_never_ends_is_refused() -> None:
    def f(x: Any) -> Any:
        return f(x + 1.0)

    with pytest.raises(gw.UnsupportedSyntax, match="never comes to an end"):
        gw.grad(f)(1.0)


def test_lengths_of_a_call_are_checked_at_the_entry() -> None:
    """What a function takes for granted of its arguments is asked of the caller's."""

    def tail(a: Any, b: Any, n: int) -> Any:
        for _ in range(n):
            a = a * 1.5
        return np.sum((a[1:] + b) ** 2)

    def f(x: Any, y: Any) -> Any:
        return tail(2.0 * x, y, 1)

    for n, m in ((5, 4), (2, 4), (5, 1)):
        gw.check_grads(f, (np.linspace(0.1, 0.9, n), np.linspace(1.0, 2.0, m)))


def test_a_function_that_changes_a_list_around_it_is_written_in_place() -> None:
    def f(x):
        values = list(0.5 * x)
        for _ in range(2):
            parts = [x, x * 2.0]
        for _ in range(2):

            def inner(y, *rest):
                values.insert(1, np.sum(np.concatenate(parts)) * y)
                values.append(values[0])

        inner(x[0], *(x[1], 0.5))
        inner(2.0)
        return sum(values)

    check(f, np.array([0.7, -1.3]))
