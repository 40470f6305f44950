"""A compiled function stores into the caller's arrays; a derivative does not."""

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
