"""Tapes that stay tapes: of several kinds of items, shared by functions."""

import math
import resource

import numpy as np
import pytest
from lowered import assert_compiles, assert_differentiates, texts

import gradwright as gw
from gradwright import CompileWarning

X = np.array([0.7, -0.3, 0.9, 0.4, 1.1])


def tree(x):
    """A sum over halves, whose lengths are one in the end."""
    if len(x) == 1:
        return x[0] * x[0]
    m = len(x) // 2
    return tree(x[:m]) + math.sin(tree(x[m:]))


def swept(A, k):
    if k == 0:
        return A
    return swept(0.5 * (A + A.T) @ A, k - 1)


def nested(x, n):
    """Tapes on the tape: of numbers, and of arrays of different lengths."""
    if n == 0:
        return np.sum(x)
    s = 0.0
    for k in range(n):
        for j in range(k):
            s = math.sin(s) * j + x[0]
        y = np.sin(x[: k + 1] + s)
        s = s * np.sum(y * y) + nested(y, n - 1)
    return s


def written_out(x):
    """A call that ends at once, whose tape nobody shares."""

    def again(q, k):
        if k < 1:
            return q / 2.0 * (q >= q and True)
        return 0.4 * again(0.3 * k, k - 1) + 1.5 / (1.0 + q**2)

    return math.sin(again(x, 1)) + 0.5 * again(x, 1)


@pytest.mark.parametrize("n", [0, 1, 2, 4])
def test_tapes_on_a_tape(n: int) -> None:
    assert_differentiates(nested, X, n)


def test_a_tape_of_several_kinds_that_nobody_shares() -> None:
    assert_differentiates(written_out, 0.7)


@pytest.mark.parametrize("n", [0, 1, 3])
def test_a_jacobian_copies_the_tape(n: int) -> None:
    A = np.sin(np.arange(9.0)).reshape(3, 3)
    assert_compiles(gw.jacrev(swept), A, n)


def test_an_array_is_pushed_by_elements_and_popped_in_reverse() -> None:
    text = "\n".join(texts(gw.grad(tree), X))
    for lines in (
        "for i in range(length):\n        tape.append(x_part[i])",
        "    tape.append(length)\n",
        "    n = tape.pop()\n    x_part = np.empty(n)\n",
        "for i in reversed(range(n)):\n        x_part[i] = tape.pop()\n",
    ):
        assert lines in text, text


def test_a_tape_that_grows_does_not_leak() -> None:
    def failing(x, n):
        if n == 0:
            if x[0] < 2.0:
                raise ValueError("too small")
            return x[1]
        return np.sum(np.sin(x)) * failing(1.1 * x, n - 1)

    made = gw.jit(gw.grad(failing))

    def run(times: int) -> int:
        for k in range(times):
            x = np.full(100, 0.5 + k % 2)
            if k % 2:
                made(x, 5)
            else:
                with pytest.raises(ValueError, match="too small"):
                    made(x, 5)
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = run(1_000)
    assert run(10_000) - before < 1_000  # KiB; what leaked would be forty times that


@pytest.mark.parametrize("split", [gw.vjp, gw.linearize])
def test_halves_that_share_such_a_tape(split) -> None:
    value, half = split(gw.jit(tree), X)
    given = 1.0 if split is gw.vjp else np.cos(X)
    plain, wanted = split(tree, X)
    assert half.backward.is_machine_code
    for _ in range(2):
        np.testing.assert_allclose(half(given), wanted(given), rtol=1e-14)
    assert value == plain


def test_what_may_be_a_number_first_runs_as_emitted_source() -> None:
    def added(x, n):
        if n == 0:
            return np.sum(x)
        s = 0.0
        for k in range(n):
            s = s + x * k
        return added(np.sin(s + x), n - 1) * np.sum(s)

    with pytest.warns(CompileWarning, match="may be a number or an array"):
        found = gw.jit(gw.grad(added))(X, 2)
    np.testing.assert_array_equal(found, gw.grad(added)(X, 2))
