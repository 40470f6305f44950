"""Derivatives of the user's own: in both modes, in loops, batches and machine code."""

import math
from typing import Any

import numpy as np
import pytest

import gradwright as gw

X = np.array([0.5, -1.0, 2.0])


@gw.custom_jvp
def product(x, y):
    return x * y


@product.defjvp
def product_jvp(primals, tangents):
    x, y = primals
    x_dot, y_dot = tangents
    return product(x, y), 10.0 * x_dot * y + 100.0 * x * y_dot


@gw.custom_vjp
def square(x):
    return x * x


def square_fwd(x):
    return square(x), (x, 7.0)


def square_bwd(kept, g):
    return (kept[0] * kept[1] * g,)


square.defvjp(square_fwd, square_bwd)


@gw.custom_vjp
def norm(p, scale):
    return {"n": scale * np.sqrt(np.sum(p["x"] ** 2)), "sum": np.sum(p["x"])}


def norm_fwd(p, scale):
    n = np.sqrt(np.sum(p["x"] ** 2))
    return {"n": scale * n, "sum": np.sum(p["x"])}, (p["x"], n, scale)


def norm_bwd(kept, g):
    x, n, scale = kept
    safe = x / n if n > 0.0 else 0.0 * x
    return {"x": g["n"] * scale * safe + g["sum"]}, None


norm.defvjp(norm_fwd, norm_bwd)


@gw.custom_jvp(nondiff_argnums=(0, 1))
def power(f, n, x):
    return f(x) ** n


@power.defjvp
def power_jvp(f, n, primals, tangents):
    return power(f, n, primals[0]), 5.0 * n * tangents[0] * f(primals[0])


def looped(x):
    for _ in range(3):
        x = product(x, 0.5)
    return x


def test_called_it_is_the_function() -> None:
    assert product(2.0, 3.0) == 6.0 and square(3.0) == 9.0
    assert gw.jit(product)(2.0, 3.0) == 6.0
    assert gw.jit(lambda x: square(x) + 1.0, backend="numpy")(3.0) == 10.0


def test_a_rule_for_tangents() -> None:
    assert gw.jvp(product, (2.0, 3.0), (1.0, 0.0)) == (6.0, 30.0)
    assert gw.jvp(lambda x: product(x, x * x), (2.0,), (1.0,)) == (8.0, 840.0)
    assert gw.grad(product, (0, 1))(2.0, 3.0) == (30.0, 200.0)
    assert gw.grad(lambda x: product(x, x * x))(2.0) == 840.0
    assert gw.jvp(looped, (1.0,), (1.0,)) == (0.125, 125.0)
    assert gw.grad(looped)(1.0) == 125.0
    value, pull = gw.vjp(product, 2.0, 3.0)
    assert (value, pull(2.0)) == (6.0, (60.0, 400.0))


def test_rules_for_cotangents() -> None:
    assert gw.grad(square)(3.0) == 21.0
    expected = 2.0 * 7.0 * math.sin(1.0) * math.cos(1.0)
    found = gw.grad(lambda x: 2.0 * square(math.sin(x)))(1.0)
    assert found == pytest.approx(expected)
    assert gw.value_and_grad(square)(3.0) == (9.0, 21.0)
    assert gw.grad(gw.grad(square))(3.0) == 7.0


def test_structures_and_none() -> None:
    def total(x, scale):
        found = norm({"x": x}, scale)
        return found["n"] + 2.0 * found["sum"]

    by_x, by_scale = gw.grad(total, (0, 1))(X, 3.0)
    expected = 3.0 * X / np.sqrt(np.sum(X**2)) + 2.0
    assert by_x == pytest.approx(expected) and by_scale == 0.0
    assert gw.grad(total)(np.zeros(3), 3.0).tolist() == [2.0] * 3


def test_arguments_that_are_not_differentiated() -> None:
    def f(x):
        return power(math.sin, 2, x)

    assert f(0.5) == math.sin(0.5) ** 2
    assert gw.grad(f)(0.5) == pytest.approx(10.0 * math.sin(0.5))
    assert gw.jvp(f, (0.5,), (2.0,))[1] == pytest.approx(20.0 * math.sin(0.5))


def test_both_rules_on_one_function() -> None:
    @gw.custom_jvp
    def f(x):
        return x * x

    f.defjvp(lambda primals, tangents: (primals[0] ** 2, 3.0 * tangents[0]))
    f.defvjp(lambda x: (x * x, None), lambda kept, g: (5.0 * g,))
    assert gw.jvp(f, (2.0,), (1.0,)) == (4.0, 3.0)
    assert gw.grad(f)(2.0) == 5.0


def test_another_rule_is_seen() -> None:
    @gw.custom_jvp
    def f(x):
        return x * x

    def loss(x):
        return f(x)

    f.defjvp(lambda primals, tangents: (primals[0] ** 2, 3.0 * tangents[0]))
    g = gw.grad(loss)
    assert g(2.0) == 3.0
    f.defjvp(lambda primals, tangents: (primals[0] ** 2, 4.0 * tangents[0]))
    assert g(2.0) == 4.0


@pytest.mark.parametrize("jit", [lambda f: f, gw.jit])
def test_in_batches(jit: Any) -> None:
    assert jit(gw.vmap(gw.grad(square)))(X).tolist() == (7.0 * X).tolist()
    total = gw.grad(lambda x: np.sum(gw.vmap(square)(x)))
    assert jit(total)(X).tolist() == (7.0 * X).tolist()
    total = gw.grad(lambda x: np.sum(gw.vmap(looped)(x)))
    assert jit(total)(X).tolist() == [125.0] * 3
    assert jit(gw.grad(looped))(1.0) == 125.0
    assert jit(gw.jacfwd(gw.vmap(looped)))(X).tolist() == (125.0 * np.eye(3)).tolist()


def test_what_a_rule_captures() -> None:
    scale = 3.0

    @gw.custom_vjp
    def f(x):
        return x * x

    f.defvjp(lambda x: (x * x, x), lambda x, g: (scale * x * g,))
    assert gw.grad(f)(2.0) == 6.0

    def outer(w):
        @gw.custom_vjp
        def inner(x):
            return x * w

        return inner

    assert gw.jit(outer(2.0), backend="numpy")(3.0) == 6.0


def test_what_is_not_differentiated() -> None:
    @gw.custom_jvp
    def bare(x):
        return x * x

    with pytest.raises(gw.NotDifferentiable, match="and there is no rule yet"):
        gw.grad(bare)(2.0)
    f = gw.custom_jvp(lambda x, w: x * w, nondiff_argnums=(1,))

    @f.defjvp
    def f_jvp(w, primals, tangents):
        return primals[0] * w, tangents[0] * w

    assert gw.grad(f)(2.0, 3.0) == 3.0
    with pytest.raises(gw.NotDifferentiable, match="of inner names 'w'"):
        gw.grad(f, 1)(2.0, 3.0)


def test_forward_mode_needs_a_rule_for_tangents() -> None:
    with pytest.raises(gw.NotDifferentiable, match="square has a custom vjp") as e:
        gw.jvp(square, (1.0,), (1.0,))
    assert "square.defjvp(...) as well" in str(e.value)


def test_the_rule_is_written_where_it_is_used() -> None:
    source = gw.grad(lambda x: product(x, x * x)).source(2.0)
    assert source == "def function_grad(x):\n    return 210.0 * x * x\n"
