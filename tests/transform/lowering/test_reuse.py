"""Arrays that take turns in memory, and those that may not."""

import numpy as np
from lowered import assert_differentiates, texts

import gradwright as gw

A = np.sin(1.0 + 1.7 * np.arange(9.0)).reshape(3, 3)


def chain(a):
    b = a @ a
    c = b @ a
    d = c @ a
    return np.sum(d @ a)


def needed_twice(a):
    b = a @ a
    c = b @ a
    return np.sum(c @ b)


def round_and_round(a, n):
    for _ in range(n):
        b = np.tanh(a @ a)
        a = b @ a + b
    return np.sum(a * a)


def in_a_branch(a, up):
    b = a @ a
    if up:
        c = b @ a
        d = c @ b
    else:
        d = b @ b
    return np.sum(d + b)


def test_values_and_derivatives() -> None:
    assert_differentiates(chain, A)
    assert_differentiates(needed_twice, A)
    assert_differentiates(round_and_round, A, 3)
    assert_differentiates(in_a_branch, A, True)
    assert_differentiates(in_a_branch, A, False)


def test_three_products_take_two_arrays() -> None:
    (text,) = texts(gw.jit(chain), A)
    assert text.count("np.empty(") == 2, text
    (text,) = texts(gw.jit(needed_twice), A)
    assert text.count("np.empty(") == 3, text
