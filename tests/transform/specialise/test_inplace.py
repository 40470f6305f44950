"""Functions that change an array: value, derivatives and errors are those of NumPy."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from semantics.oracle import check, differences, near

import gradwright as gw

X = np.array([0.7, -0.35, 1.2, 0.51])
CELLS = np.array([0, 2, 2, 1])


def copied(x):
    y, z = np.zeros(4), np.empty(4)
    np.copyto(y, x * x)
    np.copyto(y, 2.0 * x, where=x > 0.6)
    np.copyto(y, x[0], where=y < 0.0)
    np.copyto(z, 3.0)
    np.copyto(z[1:], x[:-1] * y[0], casting="same_kind")
    table = np.zeros((3, 4))
    np.copyto(table, x)
    np.copyto(table, y * z, where=np.array([[True], [False], [True]]))
    return np.sum(y**2 * x) + np.sum(z * y) + np.sum(table**3)


def outputs(x):
    y, z = x * 1.0, np.empty(4)
    np.add(y, x, out=z)
    np.multiply(z[1:], x[:-1], out=z[1:])
    np.subtract(1.0, y, z)
    w = np.sin(z, out=np.empty_like(z))
    w[0] *= y[1]
    u = np.exp(w, out=(y,))
    u[2] += x[0]
    np.negative(2.0, out=z[:2])
    return np.sum(y * y * x) + np.sum(z**2) + np.sum(w)


def outputs_under_a_mask(x):
    y = x * 0.5
    np.log(x, out=y, where=x > 0)
    np.divide(1.0, x, y, where=x > 1)
    table = np.outer(x, x)
    np.sqrt(table, out=table, where=table > 0.1)
    np.multiply(x, 3.0, out=table, where=np.array([[True], [False], [False], [True]]))
    np.add(x, y, out=y, where=True)
    return np.sum(y**2) + np.sum(table * x)


def outputs_of_functions(x):
    a = np.outer(x, x)
    b, c = np.zeros((4, 4)), np.zeros(4)
    np.dot(a, a, out=b)
    a.cumsum(axis=1, out=a)
    np.matmul(a, x, out=c)
    np.sum(a, axis=0, out=b[2])
    np.dot(b, x, b[1])
    np.clip(x, 0.0, 1.0, out=b[3])
    x.clip(0.1, out=c[:])
    return np.sum(b * a) + np.sum(c * x)


def sorted_in_place(x):
    y, a = x * x[::-1] + x, np.outer(x, np.cos(x))
    y.sort()
    a.sort(axis=0)
    a[1].sort()
    a[2:, 1:].sort()
    a[0] = np.arange(4.0) * y
    a.sort()
    return np.sum(y**2 * np.arange(4.0)) + np.sum(a**2 * x)


def filled(x):
    y, a = x * x, np.outer(x, x)
    y[1:3].fill(x[0])
    a[1].fill(2.0)
    np.fill_diagonal(a, x[1] ** 2)
    wide, long = np.ones((2, 3)), np.ones((3, 2))
    np.fill_diagonal(wide, x[2])
    np.fill_diagonal(long, x[3])
    return np.sum(y * x) + np.sum(a**2) + np.sum(wide**2) + np.sum(long**3)


def put_somewhere(x, cells):
    y = x * x
    np.put(y, cells, x * 2.0)
    np.put(y, [1, -1], x[0])
    y.put(cells[:2], x[:2])
    np.place(y, y > 1.0, x[1])
    np.putmask(y, x < 0, x[2] ** 2)
    return np.sum(y**2 * np.arange(1.0, 5.0))


def at_places(x, cells):
    g = np.zeros(3)
    np.add.at(g, cells, x**2)
    np.subtract.at(g, cells, x[0])
    g += 1.5
    np.multiply.at(g, cells, x)
    np.maximum.at(g, cells, x * 0.3)
    np.divide.at(g, [1, 0], x[:2])
    np.negative.at(g, [0, 1])
    np.add.at(g, (cells,), 1.0)
    h = np.ones((3, 4))
    np.add.at(h, (slice(None), cells), x)
    np.multiply.at(h, cells, x)
    np.multiply.at(h, (cells, np.array([3, 3, 1, 0])), np.sin(x))
    np.minimum.at(h, (0, cells), x * x)
    np.power.at(h, 1, 2.0)
    np.add.at(h[1:], np.array([0, 0]), x)
    return np.sum(g**3) + np.sum(h**2 * np.arange(12.0).reshape(3, 4))


def at_places_of_what_is_stretched(x, cells):
    y = np.outer(x, x) + 2.0
    np.multiply.at(y, [0, 0, 1], y[:1])
    np.divide.at(y, [2, 1, 2], 2.0 + x)
    np.multiply.at(y, [3, 3], x[:1])
    np.maximum.at(y, cells, y[1:2] * 0.5)
    np.multiply.at(y, (cells, [1]), x[1])
    return np.sum(y * y)


def at_places_of_what_the_run_stretches(x, cells):
    y = x * x + 2.0
    np.multiply.at(y, [0, -1, 0], x[x > 1.0])
    np.divide.at(y, cells, 2.0 + x[::4][:, None].squeeze(-1))
    np.copyto(y, x[x > 1.0], where=y > 2.3)
    np.multiply(y, x[x > 1.0], out=y, where=y > 1.3)
    return np.sum(y * y * np.arange(1.0, 5.0))


def in_loops(x, cells):
    g = np.ones(3)
    for k in range(3):
        np.add.at(g, cells, x * g[k])
        np.multiply.at(g, cells[k:], g[k] * 0.7)
        y = x * g[0]
        np.exp(y, out=y, where=y < 2.0)
        y.sort()
        if y[1] > 0.1:
            y.fill(g[1])
        g[k] += y[0] * y[3]
    return np.sum(g * g)


PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (copied, (X,)),
    (outputs, (X,)),
    (outputs_under_a_mask, (X,)),
    (outputs_of_functions, (X,)),
    (sorted_in_place, (X,)),
    (filled, (X,)),
    (put_somewhere, (X, CELLS)),
    (at_places_of_what_is_stretched, (X, CELLS)),
    (at_places_of_what_the_run_stretches, (X, CELLS)),
    (at_places, (X, CELLS)),
    (in_loops, (X, CELLS)),
]
NAMES = [f.__name__ for f, _ in PROGRAMS]


@pytest.mark.parametrize(("f", "args"), PROGRAMS, ids=NAMES)
def test_against_differences(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    kept = args[0].copy()
    check(f, *args)
    assert np.array_equal(args[0], kept)


@pytest.mark.parametrize(("f", "args"), PROGRAMS, ids=NAMES)
def test_second_order(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    def along(x):
        return np.sum(gw.grad(f)(x, *args[1:]) * x)

    gradient = gw.grad(along)(args[0])
    slope = differences(along, (args[0],), (np.ones_like(args[0]),))
    near(np.sum(gradient), slope, 1e-5, "second order and differences")


@pytest.mark.parametrize("f", [np.add, np.subtract, np.multiply, np.divide])
@pytest.mark.parametrize("places", [CELLS % 3, np.array([2, 1]), 0])
def test_numbers_of_python_are_not_weak_at_places(f: Any, places: Any) -> None:
    def changed(y, v):
        y = y * 1
        f.at(y, places, v)
        return y

    y = np.sin(np.arange(1.0, 4.0)).astype(np.float32)
    for v in (0.36, 0.1, 3, np.float32(0.36)):
        value = gw.jvp(lambda y, v=v: changed(y, v), (y,), (y,))[0]
        assert value.dtype == np.float32
        assert value.tobytes() == changed(y, v).tobytes()


def test_what_a_mask_leaves_out_does_not_warn() -> None:
    def f(x):
        y = np.zeros(4)
        np.log(x, out=y, where=x > 0)
        np.sqrt(x - 1.2, out=y, where=x > 1.3)
        return np.sum(y)

    x = np.array([0.0, -1.0, 2.0, 1.2])
    with np.errstate(all="raise"):
        slope = 0.5 / np.sqrt(0.8)
        np.testing.assert_allclose(gw.grad(f)(x), [0.0, 0.0, slope, 1.0 / 1.2])


def test_the_result_is_the_array_that_was_given() -> None:
    def f(x):
        y = x * 1.0
        z = np.add(y, 1.0, out=y)
        z[0] = 5.0
        return y[0] * y[1]

    assert gw.value_and_grad(f)(X)[0] == f(X) == 5.0 * (X[1] + 1.0)
    assert gw.grad(f)(X).tolist() == [0.0, 5.0, 0.0, 0.0]


def test_functions_without_a_result_give_none() -> None:
    def f(x):
        y = x * 1.0
        found = [y.fill(0.5), np.copyto(y, x), np.add.at(y, [0], 1.0), y.sort()]
        return np.sum(y * y) if all(v is None for v in found) else 0.0

    check(f, X)


def test_an_argument_is_copied_before_a_call_changes_it() -> None:
    def f(x):
        np.multiply(x, x, out=x)
        x.sort()
        np.add.at(x, [0, 0], 1.0)
        return np.sum(x**2 * np.arange(1.0, 5.0))

    def fresh(x):
        return f(x.copy())

    kept = X.copy()
    assert "= x.copy()" in gw.grad(f).source(X)
    assert np.array_equal(gw.grad(f)(X), gw.grad(fresh)(X))
    assert np.array_equal(X, kept)


CAPTURED = np.ones(4)


def test_a_captured_array_is_not_changed() -> None:
    for f in (
        lambda x: np.copyto(CAPTURED, x),
        lambda x: CAPTURED.fill(x[0]),
        lambda x: np.add(x, 1.0, out=CAPTURED),
        lambda x: np.add.at(CAPTURED, [0], x[0]),
    ):
        with pytest.raises(gw.EffectError, match="CAPTURED, which the function"):
            gw.grad(f)(X)


REFUSED = {
    "where= without out= leaves": lambda x: np.sum(np.log(x, where=x > 0)),
    "np.put into more than one axis": lambda x: np.put(np.outer(x, x), [1], 2.0),
    "values that it repeats": lambda x: np.put(x * 1.0, [1, 2, 3], x[:2]),
    "np.putmask and np.place of an array": lambda x: np.place(x * 1.0, x > 0, x[:2]),
    "more than two axes, or of an array": lambda x: np.fill_diagonal(np.outer(x, x), x),
    "out= is an array of int64": lambda x: np.dot(x, np.eye(4), out=np.arange(4)),
    "np.multiply.at of more than": lambda x: np.multiply.at(
        x * 1.0, np.array([[0, 1], [1, 0]]), 2.0
    ),
    "casting= of np.copyto": lambda x: np.copyto(x * 1.0, 1j, casting="unsafe"),
    "a mask of truth values": lambda x: np.copyto(x * 1.0, x, where=x),
    "there is no rule for": lambda x: np.put_along_axis(x * 1.0, CELLS, x, 0),
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_is_refused_is_named(words: str) -> None:
    with pytest.raises(gw.GradwrightError, match=words):
        gw.grad(REFUSED[words])(X)


def into_whole_numbers(x):
    np.copyto(np.arange(4), x)
    return x[0]


def one_into_whole_numbers(x):
    np.copyto(np.arange(4), x[0] * 2.0)
    return x[0]


def an_operator(x):
    y = np.arange(4)
    y *= 2.5
    return x[0] * y[0]


def a_sum_into_a_part(x):
    y = np.arange(4)
    y[1:] += 0.5
    return x[0] * y[0]


def at_an_array_of_places(x):
    y = np.arange(4)
    y[[0, 0]] *= 1.5
    return x[0] * y[0]


def a_ufunc(x):
    y = np.arange(4)
    np.add(x, 1.0, out=y)
    return x[0] * y[0]


def a_result_with_other_axes(x):
    y = np.zeros(4)
    np.dot(np.outer(x, x), np.outer(x, x), out=y)
    return y[0]


def too_many_arguments(x):
    y = x * 1.0
    y.fill(1.0, 2.0)
    return y[0]


@pytest.mark.parametrize(
    "f",
    [
        into_whole_numbers,
        one_into_whole_numbers,
        an_operator,
        a_sum_into_a_part,
        at_an_array_of_places,
        a_ufunc,
        a_result_with_other_axes,
        too_many_arguments,
    ],
)
def test_what_numpy_raises(f: Callable[..., Any]) -> None:
    with pytest.raises((TypeError, ValueError)) as numpys:
        f(X)
    with pytest.raises((TypeError, ValueError)) as ours:
        gw.grad(f)(X)
    kind = TypeError if isinstance(numpys.value, TypeError) else ValueError
    assert isinstance(ours.value, kind)
    if "Cannot cast" in str(numpys.value):
        assert str(ours.value) == str(numpys.value)


def onto_itself(x):
    y = x * x
    np.copyto(y, y, where=y >= x[:, None])
    np.copyto(y, y)
    return np.sum(y * x)


def test_an_array_that_is_copied_onto_itself() -> None:
    """NumPy looks at no mask then, whatever its shape."""
    np.testing.assert_allclose(gw.grad(onto_itself)(X), 3.0 * X * X)


def test_arrays_of_indices_that_may_be_stretched_at_places_are_refused() -> None:
    def f(x, i, j):
        y = np.outer(x, x)
        np.multiply.at(y, (i[i >= 0], j), 2.0)
        return np.sum(y)

    with pytest.raises(gw.UnsupportedSyntax, match="may not be equally long"):
        gw.grad(f)(X, np.array([-1, 1, -1]), np.array([0, 0, 1]))
