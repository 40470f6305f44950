"""A compiled function stores into the caller's arrays; a derivative does not."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradwright as gw


def doubled(x: Any) -> Any:
    for k in range(1, len(x)):
        x[k] = 2.0 * x[k - 1]
    return np.sum(x)


def checked(x: Any, bad: bool) -> float:
    x[0] = 5.0
    if bad:
        raise ValueError("no")
    x[...] = 1.0
    return 0.0


def only_stores(x: Any) -> None:
    x[0] = 7.0


def grown(x: Any, n: int) -> Any:
    y = 1.0 * x[:2]
    for k in range(n):
        x[0] += 1.0
        y = np.concatenate([y, y])[: k + 3]
    return np.sum(y)


@pytest.mark.parametrize("backend", [None, "numpy"])
@pytest.mark.parametrize("step", [1, 2, -1])
def test_the_callers_array_changes(backend: Any, step: int) -> None:
    mine, theirs = np.ones(8)[::step], np.ones(8)[::step]
    found = gw.jit(doubled, backend=backend)(mine)
    assert found == doubled(theirs)
    np.testing.assert_array_equal(mine, theirs)


def test_what_was_stored_before_an_exception_stays() -> None:
    x = np.zeros(3)
    with pytest.raises(ValueError, match="no"):
        gw.jit(checked)(x, True)
    np.testing.assert_array_equal(x, [5.0, 0.0, 0.0])
    assert gw.jit(checked)(x, False) == 0.0
    np.testing.assert_array_equal(x, np.ones(3))


def test_a_store_that_nobody_reads_is_made() -> None:
    x = np.zeros(2)
    assert gw.jit(only_stores)(x) is None
    np.testing.assert_array_equal(x, [7.0, 0.0])


def test_a_name_of_varying_length_beside_it() -> None:
    mine, theirs = np.arange(6.0), np.arange(6.0)
    assert gw.jit(grown)(mine, 4) == grown(theirs, 4)
    np.testing.assert_array_equal(mine, theirs)


def test_a_read_only_array_is_refused_as_numpy_does() -> None:
    x = np.ones(3)
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        gw.jit(doubled)(x)


def test_a_gradient_leaves_it_as_it_is() -> None:
    x = np.ones(3)
    np.testing.assert_array_equal(gw.jit(gw.grad(doubled))(x), [7.0, 0.0, 0.0])
    np.testing.assert_array_equal(x, np.ones(3))


# ---- names that get another array -------------------------------------------------


def stored_before(x: Any, n: int) -> Any:
    x[0] = 3.0
    for k in range(n):
        x = 0.5 * x + k
    return x


def stored_before_a_branch(x: Any, n: int) -> Any:
    x[1:] += x[0]
    if n > 1:
        x = 2.0 * x
        return np.sum(x)
    return n


def stored_within(x: Any, n: int) -> Any:
    for k in range(n):
        x[k] = 5.0
        x = 0.5 * x
    return np.sum(x)


def stored_behind(x: Any, n: int) -> Any:
    if n > 1:
        x = 0.5 * x
    x[0] = 3.0
    return np.sum(x)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
@pytest.mark.parametrize("backend", ["cpu", "numpy"])
@pytest.mark.parametrize("f", [stored_before, stored_before_a_branch])
def test_a_name_gets_another_array_later(f: Any, n: int, backend: str) -> None:
    mine, theirs = np.arange(4.0), np.arange(4.0)
    np.testing.assert_array_equal(gw.jit(f, backend=backend)(mine, n), f(theirs, n))
    np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
@pytest.mark.parametrize("f", [stored_within, stored_behind])
def test_only_the_run_knows_whose_array_it_is(f: Any, n: int) -> None:
    mine, theirs = np.arange(4.0), np.arange(4.0)
    gw.clear_caches()  # it is said once
    with pytest.warns(gw.CompileWarning, match="the caller's 'x' is known only when"):
        found = gw.jit(f)(mine, n)
    assert found == f(theirs, n)
    np.testing.assert_array_equal(mine, theirs)
    assert gw.jit(f, backend="numpy")(mine, n) == f(theirs, n)
    np.testing.assert_array_equal(mine, theirs)


def test_until_then_it_is_the_callers() -> None:
    text = gw.jit(stored_before).source(np.ones(3), 2)
    assert "x[0] = 3.0" in text and "x_1 = x.copy()" in text


# ---- given away ------------------------------------------------------------------


def first(x: Any) -> Any:
    x[0] = 2.0
    return np.sum(x * x)


def both(x: Any, y: Any) -> Any:
    x[0] = y[0] * y[0]
    y[1:] *= x[1:]
    return np.sum(x * y)


def seen_before(x: Any) -> Any:
    square = np.sum(x * x * x)
    x[0] = 2.0
    return square * x[1]


def moved_along(x: Any, n: int) -> Any:
    for _ in range(n):
        x[1:] = x[1:] * x[:-1]
    return np.sum(x)


PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (first, (np.array([1.0, 3.0]),)),
    (both, (np.array([1.0, 3.0]), np.array([2.0, 5.0]))),
    (seen_before, (np.array([1.0, 3.0]),)),
    (moved_along, (np.array([1.0, 0.5, 2.0]), 3)),
]


@pytest.mark.parametrize(("f", "args"), PROGRAMS)
@pytest.mark.parametrize("backend", ["cpu", "numpy"])
def test_the_derivative_is_the_same(f: Any, args: Any, backend: str) -> None:
    which = tuple(k for k, a in enumerate(args) if isinstance(a, np.ndarray))
    wanted = gw.value_and_grad(f, argnums=which)(*args)
    given = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    g = gw.value_and_grad(f, argnums=which)
    value, gradients = gw.jit(g, donate_argnums=which, backend=backend)(*given)
    assert value == pytest.approx(wanted[0])
    for a, b in zip(gradients, wanted[1], strict=True):
        assert np.allclose(a, b)


def test_a_store_is_made_where_the_array_stands() -> None:
    x = np.array([1.0, 3.0])
    text = gw.jit(gw.grad(first), donate_argnums=0).source(x)
    assert "copy" not in text and "x[0] = 2.0" in text
    assert "copy" in gw.jit(gw.grad(first)).source(x)
    assert "copy" not in gw.jit(first).source(x)


def test_only_what_is_given_away() -> None:
    x, y = np.array([1.0, 3.0]), np.array([2.0, 5.0])
    gw.jit(gw.grad(both, argnums=(0, 1)), donate_argnums=1)(x, y)
    assert x.tolist() == [1.0, 3.0]
    assert y.tolist() != [2.0, 5.0]


@pytest.mark.parametrize("rewrite", [gw.jit, lambda f: gw.value_and_grad(f)])
def test_what_is_taken_at_one_place_is_a_copy(rewrite: Any) -> None:
    """Of which a basic index gives a view."""

    def f(a: Any) -> Any:
        x = np.take(a, 0, axis=-1)
        a *= 2.0
        return np.sum(x * x) + np.take(x, 1)

    a = np.arange(1.0, 5.0).reshape(2, 2)
    found = rewrite(f)(a.copy())
    assert np.ravel(found[0] if isinstance(found, tuple) else found)[0] == 13.0
    np.testing.assert_array_equal(gw.grad(f)(a), [[2.0, 0.0], [7.0, 0.0]])
