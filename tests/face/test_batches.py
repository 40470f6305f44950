"""vmap in programs: sums over samples, options, errors; see test_compositions, too."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import gradwright as gw

Function = Callable[..., Any]


# ---- programs ----------------------------------------------------------------------


def cubic(x):
    return 2.0 * x**3 - 5.0 * x + 1.0


def flux(u):
    if u < 0.8:
        return -u * u
    y = math.exp(-u)
    if u > 2.0:
        y += 0.5 * u
    return y + 1.0


def halved(x):
    n, total = 0, 0.0
    while x > 0.2:
        total += x * x
        x = 0.5 * x - 0.01 * n
        n += 1
        if n > 30:
            break
    return total + x


def looped(x):
    y = x
    for k in range(1, 4):
        y = y * x + k * math.sin(x)
        if y > 50.0:
            y = y / 2.0
    return y


def stored(x):
    out = np.zeros(3)
    for i in range(3):
        out[i] = x * (i + 1.0)
        if i > 0 and out[i] > out[i - 1]:
            out[i] -= out[i - 1] * x
    out[1:] += out[:-1]
    return np.sum(out * out)


def listed(x):
    total, ys = 0.0, []
    for k in range(3):
        ys.append(x * k + x * x)
    for y in ys:
        total += y * y
    return total


def helper(x, a):
    for _ in range(2):
        x = a * math.sin(x)
    return x


def called(x):
    return helper(x, 2.0) + helper(x, 3.0) * x


def inner_gradient(x):
    return x * gw.grad(lambda y: y**3 * x)(x)


def inner_batch(x):
    return np.sum(gw.vmap(lambda c: math.sin(c * x))(np.array([1.0, 2.0])))


def row(x):
    return np.sum(np.sin(x) * x[0])


def changed(x):
    x[0] = x[1] * x[0]
    return np.sum(x**3)


def searched(x):
    best = None
    for v in x:
        if best is None or v * v > best:
            best = v * v
    return best


OF_NUMBERS = [cubic, flux, halved, looped, stored, called, inner_gradient, inner_batch]
OF_ARRAYS = [row, changed, searched]
PROGRAMS = [*OF_NUMBERS, listed, *OF_ARRAYS]


def batch_of(f: Function, depth: int) -> Any:
    """Samples of samples, so many times, for a program."""
    shape = (3, 2, 2)[:depth] + ((2,) if f in OF_ARRAYS else ())
    return 0.45 + 0.21 * np.arange(math.prod(shape)).reshape(shape)


def test_the_gradient_of_a_sum_over_samples() -> None:
    for f in PROGRAMS:
        x = batch_of(f, 1)

        def total(x: Any, f: Function = f) -> Any:
            return np.sum(gw.vmap(f)(x) ** 2)

        each = [gw.value_and_grad(f)(np.array(s)[()]) for s in x]
        expected = np.stack([2.0 * v * g for v, g in each])
        assert_allclose(gw.grad(total)(x), expected, rtol=1e-10)
        assert_allclose(gw.jit(gw.grad(total))(x), expected, rtol=1e-10)


def test_inside_of_a_program() -> None:
    def f(table, w):
        one = gw.vmap(lambda x, c: c * np.tanh(w @ x), in_axes=(0, None))
        scaled = one(table, w[0])
        return scaled, gw.vmap(gw.grad(lambda x: np.sum(x**3)))(table)

    table, w = np.arange(6.0).reshape(3, 2) * 0.1, np.array([0.5, -0.3])
    scaled, cubes = gw.jit(f, backend="numpy")(table, w)
    assert_allclose(scaled, w[0] * np.tanh(table @ w))
    assert_allclose(cubes, 3.0 * table**2)
    gw.check_grads(lambda t, w: np.sum(f(t, w)[0]), (table, w), order=2)


def test_options_inside_of_a_program() -> None:
    def f(p, x):
        g = gw.vmap(
            lambda p, x, s=0.0: {"y": p["w"] * x + p["b"] + s},
            in_axes=({"w": 0, "b": None}, 1),
            out_axes={"y": -1},
        )
        return g(p, x, s=p["w"])["y"]

    p, x = {"w": np.array([1.0, 2.0, 3.0]), "b": 0.5}, np.arange(6.0).reshape(2, 3)
    assert_allclose(gw.jit(f, backend="numpy")(p, x), p["w"] * x + 0.5 + p["w"])


def test_samples_inside_of_a_program_are_as_many() -> None:
    def known(xs, ys):
        return gw.vmap(lambda a, b: a * b)(xs, ys[1:])

    def masked(xs):
        return gw.vmap(lambda a, b: a * b)(xs, xs[xs > 1.0])

    xs = np.array([1.0, 2.0, 3.0])
    jitted = gw.jit(known, backend="numpy")
    assert jitted(xs[:2], xs).tolist() == [2.0, 6.0]
    with pytest.raises(gw.ShapeError, match="a has 3 samples, and axis 0 of the"):
        jitted(xs, xs)
    jitted = gw.jit(masked, backend="numpy")
    assert jitted(xs[1:]).tolist() == [4.0, 9.0]
    with pytest.raises(ValueError, match="vmap needs mapped axes of one size"):
        jitted(xs)


def test_samples_that_share_memory_with_what_is_stored_into() -> None:
    def f(a, b):
        a[0] = 5.0
        return np.sum(a) + np.sum(b)

    xs = np.arange(6.0).reshape(2, 3)
    for call in (
        lambda xs: gw.vmap(f)(xs, xs),
        gw.jit(lambda xs: gw.vmap(f)(xs, xs), backend="numpy"),
        gw.jit(lambda xs: gw.vmap(f, (0, None))(xs, xs[0]), backend="numpy"),
    ):
        with pytest.raises(
            gw.AliasError, match="'a' is stored into, and shares memory"
        ):
            call(xs)
    apart = gw.jit(lambda xs, ys: gw.vmap(f)(xs, ys), backend="numpy")
    assert apart(xs, xs.copy()).tolist() == [11.0, 26.0]


@pytest.mark.parametrize(
    ("program", "error", "message"),
    [
        (lambda x: gw.vmap(lambda a: a, 1)(x), gw.ShapeError, "maps axis 1 of the"),
        (lambda x: gw.vmap(lambda a: a, (0, 0))(x), gw.ShapeError, "has 2 entries"),
        (lambda x: gw.vmap(lambda a: a, "a")(x), gw.UnsupportedSyntax, "holds ints"),
        (lambda x: gw.vmap(lambda a: a, 0, 2)(x), gw.ShapeError, "along axis 2"),
    ],
)
def test_errors_inside_of_a_program(program: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message) as e:
        gw.jit(program, backend="numpy")(np.ones(3))
    assert "test_batches.py" in str(e.value)


def test_a_failure_behind_a_report_is_not_run_again(capsys: Any) -> None:
    """The inner samples have an axis; a loop over them would print once more."""

    def f(As: Any) -> Any:
        print("once")
        return gw.vmap(lambda A: np.linalg.inv(A))(As)

    with pytest.raises(np.linalg.LinAlgError):
        gw.vmap(f)(np.zeros((2, 3, 2, 2)))
    assert capsys.readouterr().out == "once\n"
