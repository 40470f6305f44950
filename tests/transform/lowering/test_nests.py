"""Fusion of loop nests: what stands in one nest, and what must not."""

import math
from typing import Any

import numpy as np
import pytest
from lowered import assert_compiles, assert_differentiates, texts

X = np.array([0.7, -1.3, 2.1, 0.4])
A = np.sin(1.0 + 1.7 * np.arange(12.0)).reshape(3, 4)


def producer_and_consumer(x):
    y = np.exp(x)
    return np.sum(y * x)


def two_results(x):
    return np.exp(x) + 1.0, np.exp(x) * 2.0


def stored_where_it_is_read(x):
    y = x * 2.0
    y[:] = y * y + 1.0
    z = y - x
    y[:] = z * 3.0
    return y + z


def read_one_further(x):
    y = x * 2.0
    y[1:] += y[:-1]
    return y


def read_one_behind(x):
    y = x * 2.0
    y[:-1] *= y[1:]
    return y


def stored_one_further(x):
    """Both nests go over one domain; each reads what the other stores, shifted."""
    y, z = np.zeros(len(x)), np.zeros(len(x))
    y[1:] = x[:-1] * 2.0
    z[1:] = y[:-1] + 1.0
    return y + z


def stored_one_behind(x):
    y, z = np.zeros(len(x)), np.zeros(len(x))
    y[:-1] = x[:-1] * 2.0
    z[:-1] = y[1:] + 1.0
    return y + z


def waits_for_a_store(x):
    y = x.copy()
    z = y + 1.0
    y[0] = 9.0
    return z * 3.0 + y[0]


def backwards_in_itself(x):
    y = x.copy()
    y[::-1] = y * 2.0
    return y


def a_row_that_is_summed_before(x):
    s = np.sum(x, axis=0)
    return x * s


def a_column_that_is_summed_before(x):
    return x / np.sum(np.exp(x), axis=1, keepdims=True)


def summed_and_summed_again(x):
    rows = np.zeros(x.shape[1])
    for k in range(2):
        rows += np.sum(x, axis=0) * (k + 1.0)
    return rows + np.sum(x, axis=0)


def an_element_between(x):
    y = x * 2.0
    first = y[0]
    y[0] = 7.0
    return y + first


def a_number_of_the_sum(x):
    y = np.exp(x - np.max(x))
    return y / np.sum(y)


def places_of_an_array(x):
    y = x * 2.0
    y[np.array([0, 2])] = y[np.array([2, 0])]
    return y + x


def twice_at_one_place(x):
    y = np.zeros(3)
    for k in range(2):
        y[np.array([1, 1, k])] = x[:3] * (k + 1.0)
    return y


def a_branch_between(x):
    y = x * 2.0
    if x[0] > 0.0:
        y[1:] = y[:-1]
    return y * 3.0


def diagonal_of_itself(a):
    b = a[:, :3] * 1.0
    b[:] = b.T + b
    return b


ONE_AXIS = [
    producer_and_consumer,
    two_results,
    stored_where_it_is_read,
    read_one_further,
    read_one_behind,
    stored_one_further,
    stored_one_behind,
    waits_for_a_store,
    backwards_in_itself,
    an_element_between,
    a_number_of_the_sum,
    places_of_an_array,
    twice_at_one_place,
    a_branch_between,
]
TWO_AXES = [
    a_row_that_is_summed_before,
    a_column_that_is_summed_before,
    summed_and_summed_again,
    diagonal_of_itself,
]


@pytest.mark.parametrize("f", ONE_AXIS)
def test_one_axis(f: Any) -> None:
    assert_compiles(f, X)


@pytest.mark.parametrize("f", TWO_AXES)
def test_two_axes(f: Any) -> None:
    assert_compiles(f, A)


@pytest.mark.parametrize("f", [*ONE_AXIS[2:10], *TWO_AXES])
def test_gradients(f: Any) -> None:
    def weighed(x):
        y = f(x)
        return np.sum(np.sin(y) * np.cos(0.3 * y))

    assert_differentiates(weighed, X if f in ONE_AXIS else A)


def test_what_computes_and_what_reads_stand_in_one_nest() -> None:
    (text,) = texts(producer_and_consumer, X)
    assert text.count("for ") == 1
    assert "np.empty" not in text


def test_a_shifted_store_stands_in_a_nest_of_its_own() -> None:
    (text,) = texts(stored_one_further, X)
    assert text.count("for ") >= 3


def test_the_same_is_computed_once() -> None:
    (text,) = texts(two_results, X)
    assert text.count("np.exp") == 1


def rooted(x, k):
    s = 0.0
    for v in x:
        s += math.sqrt(v)
    return s * x[k]


def used_up(x, y):
    """What is asked of its cotangent holds behind the loop alone."""
    u = np.array([x, 2 * x, 0.9 * y])
    while len(u) > 0:
        u = u[1:]
    for _ in np.sin(u):
        y /= 2.5 + math.sin(-y)
        if True:
            return 0.9 * (y % 1.5)
    return 1.5 * y + np.sum(u)


@pytest.mark.parametrize("first", [1.0, -1.0])
@pytest.mark.parametrize("k", [0, 9])
def test_what_raises_first_raises(first: float, k: int) -> None:
    assert_compiles(rooted, np.array([4.0, first]), k)


def test_a_place_is_asked_for_behind_what_may_say_otherwise() -> None:
    assert_differentiates(used_up, 0.031, 1.242, argnums=(0, 1))
