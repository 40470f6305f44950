"""Arrays that wait: when they are kept, how large their memory is."""

import numpy as np
import pytest
from lowered import assert_compiles, assert_differentiates, texts

X = np.array([0.7, -1.3, 2.1, 0.4])
A = np.sin(1.0 + 1.7 * np.arange(16.0)).reshape(4, 4)


def sorted_parts(x):
    """Memory of y has room for all of x."""
    s = 0.0
    for k in range(len(x)):
        y = x[k:] * 2.0
        s = s * 0.5 + np.sort(y)[0] + np.median(y)
    return s


def a_library_in_a_loop(a, n):
    s = 0.0
    for k in range(1, n):
        s = s + np.sum(np.linalg.inv(a[:k, :k] + 3.0 * np.eye(k)))
    return s


def wanted_twice(x):
    y = np.exp(x)
    return np.sum(y[1:] * y[:-1])


def wanted_once(x):
    y = np.exp(x)
    return np.sum(y[1:])


def of_length_one(x, y):
    return x * y + np.sum(x - y)


def a_part_and_all(x, a, b):
    return x[a:b] * x


def test_a_part_may_be_of_length_one() -> None:
    assert_compiles(a_part_and_all, X, 1, 2)
    assert_compiles(a_part_and_all, X, 0, 4)
    assert_compiles(a_part_and_all, X, 1, 3)


def test_a_library_gets_an_array_as_large_as_it_is() -> None:
    assert_compiles(sorted_parts, X)
    assert_compiles(a_library_in_a_loop, A, 4)
    assert_differentiates(a_library_in_a_loop, A, 4)


def test_what_is_wanted_twice_is_computed_once() -> None:
    (text,) = texts(wanted_twice, X)
    assert text.count("np.exp") == 1
    (text,) = texts(wanted_once, X)
    assert "np.empty" not in text


def test_an_axis_of_one_meets_a_longer_one() -> None:
    for n in (4, 1, 0):
        assert_compiles(of_length_one, X[:n], X[:1])
        assert_compiles(of_length_one, X[:1], X[:n])
    assert_compiles(of_length_one, X, X[:3])


def in_a_loop_and_behind_it(a, n):
    y, s = a[:, 1:], 0.0
    for _ in range(n):
        s = s + np.sum(np.sort(y, axis=1)[0])
    return s + y[0, 0] + np.sum(y)


@pytest.mark.parametrize("n", [0, 2])
def test_what_is_written_out_in_a_loop_is_not_there_behind_it(n: int) -> None:
    assert_compiles(in_a_loop_and_behind_it, A, n)
    assert_differentiates(in_a_loop_and_behind_it, A, n)
