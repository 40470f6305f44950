"""What nobody reads is dropped; what the caller sees, or what may raise, is not."""

from typing import Any

import numpy as np
import pytest
from lowered import assert_compiles, texts

X = np.array([0.7, -1.3, 2.1, 0.4])


def only_a_length(x):
    y = np.sort(x)
    return len(y) * 2.0


def an_order_that_is_no_longer_asked_for(x):
    places = np.argsort(x[:1])
    return x[:1][places]


def stored_and_not_read(x):
    y = x * 2.0
    y[1:] = 3.0
    return x[0]


def seen_by_the_caller(x):
    x[1:][::2] *= 0.5


def a_loop_without_a_step(x, n):
    for _ in range(0, 4, n):
        pass
    return x


def a_place_that_misses(x, k):
    x[k]
    return x + 1.0


def test_a_store_into_nothing_that_is_read_goes() -> None:
    (text,) = texts(stored_and_not_read, X)
    assert "for " not in text


@pytest.mark.parametrize("n", [4, 1])
@pytest.mark.parametrize(
    "f", [only_a_length, an_order_that_is_no_longer_asked_for, stored_and_not_read]
)
def test_values(f: Any, n: int) -> None:
    assert_compiles(f, X[:n])


def test_a_store_into_an_argument_stays() -> None:
    assert_compiles(seen_by_the_caller, X.copy())


@pytest.mark.parametrize("n", [1, 0])
def test_a_step_of_zero_raises_all_the_same(n: int) -> None:
    assert_compiles(a_loop_without_a_step, 1.0, n)


@pytest.mark.parametrize("k", [0, -4, 4])
def test_an_unused_element_raises_where_it_is_missing(k: int) -> None:
    assert_compiles(a_place_that_misses, X, k)
