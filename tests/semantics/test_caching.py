"""One specialisation per kinds of arguments; lengths and values do not make another."""

import gc
import math
import weakref
from typing import Any

import numpy as np
import pytest
from semantics.inside import entries, file_of

import gradwright as gw


@pytest.fixture(autouse=True)
def fresh() -> None:
    """Each test counts its own specialisations."""
    gw.clear_caches()


def total(xs, scale, n):
    s = 0.0
    for k in range(n):
        for x in xs:
            s += x * x * scale + k
    return s


def test_lengths_and_values() -> None:
    g = gw.grad(total)
    for length in (2, 3, 50, 0):
        for scale, n in ((1.0, 1), (2.0, 3), (-1.0, 0), (math.nan, 2)):
            g(np.ones(length), scale, n)
    assert entries(g) == 1


def test_a_dim_of_one() -> None:
    """It broadcasts, and so it is another program."""
    g = gw.grad(lambda xs, ys: np.sum(xs * ys))
    g(np.ones(3), np.ones(3))
    assert entries(g) == 1
    assert g(np.ones(1), np.ones(3)).tolist() == [3.0]
    assert entries(g) == 2
    assert g(np.ones(3), np.ones(1)).tolist() == [1.0, 1.0, 1.0]
    assert g(np.ones(1), np.ones(1)).tolist() == [1.0]
    assert entries(g) == 4
    g(np.ones(7), np.ones(7))
    assert entries(g) == 4


@pytest.mark.parametrize(
    "args",
    [
        (np.float64(1.0),),
        (np.float32(1.0),),
        (1.0 + 0.0j,),
        (np.ones(3),),
        (np.ones(3, np.float32),),
        (np.ones((3, 3)),),
        ((1.0, 2.0),),
        ([1.0, 2.0],),
        ((1.0, 2.0, 3.0),),
        ((1.0, (2.0,)),),
    ],
    ids=lambda args: repr(args[0]).replace("\n", ""),
)
def test_kinds_of_arguments(args: tuple[Any, ...]) -> None:
    g = gw.grad(lambda x, y: y, argnums=1)
    assert g(1.0, 2.0) == 1.0
    assert entries(g) == 1
    assert g(*args, 2.0) == 1.0
    assert entries(g) == 2
    assert g(*args, 5.0) == 1.0
    assert entries(g) == 2


def test_numbers_that_are_equal_are_not_of_one_kind() -> None:
    """1 == 1.0 == True and 0.0 == -0.0, and they do not mean the same."""
    g = gw.grad(lambda x, k: x * (3.0 if isinstance(k, bool) else k / 2))
    assert [g(1.0, k) for k in (1, 1.0, True, 1)] == [0.5, 0.5, 3.0, 0.5]
    g = gw.grad(lambda x, zero: math.copysign(x, zero))
    assert [g(1.0, z) for z in (0.0, -0.0, 0.0)] == [1.0, -1.0, 1.0]


def test_strings_and_functions_are_static() -> None:
    def f(x, law, mode):
        return law(x) if mode == "plain" else 10.0 * law(x)

    g = gw.grad(f)
    assert g(2.0, lambda x: x * x, "plain") == 4.0
    assert g(2.0, lambda x: x * x * x, "plain") == 12.0
    assert g(2.0, lambda x: x * x, "scaled") == 40.0
    assert g(2.0, math.exp, "scaled") == 10.0 * math.exp(2.0)


def test_the_identity_of_closures_does_not_matter() -> None:
    """A helper made anew at every call is one program, with another number in it."""

    def make(gain):
        return lambda x: gain * x * x

    def f(x, law):
        return law(x) + 1.0

    g = gw.grad(f)
    laws = [make(k) for k in (1.0, 2.0, 3.0)]
    assert [g(1.0, law) for law in laws] == [2.0, 4.0, 6.0]
    assert entries(g) == 1


def test_a_number_that_is_needed_as_a_constant() -> None:
    g = gw.grad(lambda x, k: (x, x * x, x**3)[k])
    assert [g(2.0, k) for k in (0, 1, 2, -1)] == [1.0, 4.0, 12.0, 12.0]
    assert entries(g) == 4
    assert g(3.0, 1) == 6.0
    assert entries(g) == 4
    g = gw.grad(lambda pair: (pair[1], pair[1] ** 2)[pair[0]])
    with pytest.raises(gw.NotDifferentiable):
        g((1, 2.0))
    value, pull = gw.vjp(lambda pair: (pair[1], pair[1] ** 2)[pair[0]], (1, 3.0))
    assert (value, pull(1.0)) == (9.0, ((0, 6.0),))


def test_caches_hold_no_arrays() -> None:
    class Watched(np.ndarray):
        """An array that can be referred to weakly."""

    def f(xs, law):
        return np.sum(law(xs))

    g = gw.grad(f)
    xs = np.ones(1000)
    watch = weakref.ref(xs)
    g(xs, lambda xs: xs * 2.0)
    value, pull = gw.vjp(f, xs, np.abs)
    del xs, value, pull
    gc.collect()
    assert watch() is None


def test_caches_let_go_of_functions() -> None:
    def make():
        def f(x):
            return x * x

        return f

    f = make()
    watch = weakref.ref(f)
    g = gw.grad(f)
    g(2.0)
    gw.jvp(f, (2.0,), (1.0,))
    gw.vjp(f, 2.0)[1](1.0)
    del f, g
    gc.collect()
    assert watch() is None


def test_caches_are_bounded() -> None:
    """A gradient of a new lambda at every turn does not pile up."""
    before = len([o for o in gc.get_objects() if type(o).__name__ == "Specialisation"])
    for k in range(30):
        gw.grad(lambda x, k=k: x * k)(1.0)
        gw.vjp(lambda x, k=k: x * k, 1.0)
    gc.collect()
    after = len([o for o in gc.get_objects() if type(o).__name__ == "Specialisation"])
    assert after <= before + 2


def test_clear_caches() -> None:
    g = gw.grad(total)
    wanted = g(np.ones(3), 1.0, 2)
    gw.clear_caches()
    assert entries(g) == 0
    assert g(np.ones(3), 1.0, 2).tolist() == wanted.tolist()


def test_a_gradient_of_one_function_at_every_call() -> None:
    """`gw.grad(f)(x)` in a loop finds what was written before."""
    gw.grad(total)(np.ones(3), 1.0, 2)
    first = gw.grad(total)
    first(np.ones(3), 1.0, 2)
    path = file_of(first)
    second = gw.grad(total)
    second(np.ones(5), 1.0, 2)
    assert file_of(second) == path
