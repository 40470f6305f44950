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


# ---- all samples -------------------------------------------------------------------


@gw.custom_vmap
def scaled(x, y):
    return x * y, y + 1.0


@scaled.def_vmap
def all_scaled(axis_size, in_batched, x, y):
    if all(in_batched):
        assert len(x) == len(y) == axis_size
    return (2.0 * x * y, y + 1.0), (True, in_batched[1])


@gw.custom_vmap
def squared(x):
    return x * x


@squared.def_vmap
def all_squared(axis_size, in_batched, x):
    return 1.0 * x * x, in_batched[0]


@gw.custom_vmap
def applied(a, x):
    return a @ x


@applied.def_vmap
def all_applied(axis_size, in_batched, a, x):
    if in_batched == [False, True]:
        return x @ a.T, True
    if in_batched == [True, False]:
        return np.einsum("nij,j->ni", a, x), True
    return np.einsum("nij,nj->ni", a, x), True


def poly(x):
    y = math.sin(x)
    for k in range(2):
        y = squared(y) * x + k
    return y


def poly_as_it_is(x):
    y = math.sin(x)
    for k in range(2):
        y = y * y * x + k
    return y


def test_the_rule_is_called_once_for_all_samples() -> None:
    assert scaled(3.0, 2.0) == (6.0, 3.0)
    twice, more = gw.vmap(scaled)(X, X + 1.0)
    np.testing.assert_allclose(twice, 2.0 * X * (X + 1.0))
    np.testing.assert_allclose(more, X + 2.0)
    text = gw.vmap(squared).source(X)
    assert "all_squared(x_batch)" in text and text.count("for ") == 1


def test_what_is_the_same_for_all_samples() -> None:
    twice, more = gw.vmap(scaled, (0, None), (0, None))(X, 2.0)
    assert more == 3.0 and twice.tolist() == (4.0 * X).tolist()
    twice, more = gw.vmap(scaled, (None, 0))(2.0, X)
    np.testing.assert_allclose([twice, more], [4.0 * X, X + 1.0])
    with pytest.raises(gw.ShapeError, match="depends on the sample"):
        gw.vmap(scaled, (None, 0), (0, None))(2.0, X)
    f = gw.vmap(lambda x: scaled(2.0, 3.0)[0] + scaled(x, 2.0)[1] * x)
    np.testing.assert_allclose(f(X), 6.0 + 3.0 * X)  # the first is the function itself


@pytest.mark.parametrize("backend", ["numpy", None])
def test_all_samples_and_derivatives(backend: str | None) -> None:
    def jit(f: Any) -> Any:
        return gw.jit(f, backend=backend)

    def total(x):
        return np.sum(gw.vmap(poly)(x) ** 2)

    each = np.array([poly_as_it_is(x) for x in X.tolist()])
    slopes = np.array([gw.grad(poly_as_it_is)(x) for x in X.tolist()])
    bends = np.array([gw.hessian(poly_as_it_is)(x) for x in X.tolist()])
    near = np.testing.assert_allclose
    near(jit(gw.vmap(poly))(X), each)
    near(gw.vmap(jit(poly))(X), each)
    near(jit(gw.vmap(gw.grad(poly)))(X), slopes)
    near(jit(gw.vmap(gw.hessian(poly)))(X), bends)
    near(jit(gw.grad(total))(X), 2.0 * each * slopes)
    near(jit(gw.jacrev(gw.vmap(poly)))(X), np.diag(slopes), atol=1e-12)
    near(jit(gw.jacfwd(gw.vmap(poly)))(X), np.diag(slopes), atol=1e-12)
    near(gw.jvp(gw.vmap(poly), (X,), (np.ones(3),))[1], slopes)
    near(gw.vjp(gw.vmap(poly), X)[1](np.ones(3))[0], slopes)
    gw.check_grads(total, (X,), order=2)


def test_a_derivative_round_all_samples_is_that_of_the_rule() -> None:
    def total(x, y):
        return np.sum(gw.vmap(scaled)(x, y)[0])

    assert gw.grad(total)(X, X).tolist() == (2.0 * X).tolist()
    slope = gw.vmap(gw.grad(lambda x, y: scaled(x, y)[0]))
    assert slope(X, X).tolist() == X.tolist()  # and here that of the function


def test_samples_of_samples() -> None:
    table = np.stack([X, X + 1.0])
    expected = [[poly_as_it_is(x) for x in row] for row in table.tolist()]
    np.testing.assert_allclose(gw.vmap(gw.vmap(poly))(table), expected)
    np.testing.assert_allclose(gw.jit(gw.vmap(gw.vmap(poly)))(table), expected)

    def sliced(table):
        return gw.vmap(gw.vmap(poly), 1, 1)(table)

    np.testing.assert_allclose(gw.jit(sliced)(table), expected)


@pytest.mark.parametrize("axes", [(None, 0), (None, 1), (0, None), (2, 0), (0, 0)])
def test_arrays_come_with_the_samples_in_front(axes: Any) -> None:
    one, many = np.arange(6.0).reshape(2, 3), np.arange(24.0).reshape(4, 2, 3)
    x, xs = np.array([1.0, -1.0, 0.5]), np.sin(np.arange(12.0)).reshape(4, 3)
    a = one if axes[0] is None else np.moveaxis(many, 0, axes[0])
    v = x if axes[1] is None else np.moveaxis(xs, 0, axes[1])
    expected = np.stack(
        [
            (one if axes[0] is None else many[k]) @ (x if axes[1] is None else xs[k])
            for k in range(4)
        ]
    )
    batched = gw.vmap(applied, axes)
    np.testing.assert_allclose(batched(a, v), expected)
    np.testing.assert_allclose(gw.jit(batched)(a, v), expected)
    gw.check_grads(lambda a, v: np.sum(batched(a, v) ** 2), (a, v))


def test_a_rule_that_captures_and_calls_collectives() -> None:
    weight = 3.0

    @gw.custom_vmap
    def f(x):
        return x

    @f.def_vmap
    def _(axis_size, in_batched, x):
        return weight * x + gw.lax.psum(x, "rows"), True

    table = np.arange(6.0).reshape(2, 3)
    found = gw.vmap(gw.vmap(f), axis_name="rows")(table)
    np.testing.assert_allclose(found, 3.0 * table + np.sum(table, axis=0))
    slope = gw.jacrev(lambda x: gw.vmap(gw.vmap(f), axis_name="rows")(x))(table)
    assert np.sum(slope[0, 0]) == 4.0 + 1.0


def test_ints_none_and_stars() -> None:
    @gw.custom_vmap
    def f(*xs):
        return {"sum": xs[0] + xs[1], "none": None}

    @f.def_vmap
    def _(axis_size, in_batched, *xs):
        assert in_batched == [True, False]
        return {"sum": xs[0] + 10 * xs[1], "none": None}, {"sum": True, "none": None}

    found = gw.vmap(f, (0, None))(np.arange(3), 2)
    assert found["sum"].tolist() == [20, 21, 22] and found["sum"].dtype == np.int64
    assert gw.vmap(lambda n: f(n, 1)["sum"] + n)(np.arange(2)).tolist() == [10, 12]


def test_lengths_that_a_rule_gives() -> None:
    @gw.custom_vmap
    def f(x):
        return 2.0 * x

    f.def_vmap(lambda n, batched, x: (2.0 * x[x > 0.0], True))
    with pytest.raises(ValueError, match="returns arrays of other lengths"):
        gw.vmap(f)(X)
    assert gw.vmap(f)(X * X).tolist() == (2.0 * X * X).tolist()


def made_of_both() -> Any:
    @gw.custom_vmap
    def inner(x, w):
        return math.sin(x) * w

    inner.def_vmap(lambda n, batched, x, w: (np.sin(x) * w, True))

    @gw.custom_vjp
    def f(x, w):
        return inner(x, w)

    def fwd(x, w):
        return f(x, w), (x, w)

    def bwd(kept, g):
        return 5.0 * g * kept[1], 7.0 * g

    f.defvjp(fwd, bwd)
    return f


def test_derivatives_of_the_users_round_a_rule_for_all_samples() -> None:
    f = made_of_both()

    def total(x, w):
        return np.sum(gw.vmap(f, (0, None))(x, w) * X)

    assert gw.vmap(f, (0, None))(X, 2.0).tolist() == (np.sin(X) * 2.0).tolist()
    for g in (gw.grad(total, (0, 1)), gw.jit(gw.grad(total, (0, 1)))):
        x_bar, w_bar = g(X, 2.0)
        np.testing.assert_allclose(x_bar, 10.0 * X)
        assert w_bar == pytest.approx(7.0 * np.sum(X))  # the sum over samples
    each = gw.vmap(gw.grad(f, (0, 1)), (0, None))(X, 2.0)
    assert [a.tolist() for a in each] == [[10.0] * 3, [7.0] * 3]
    x_bar = gw.grad(lambda x: np.sum(gw.vmap(gw.vmap(f, (0, None)), (0, 0))(x, X)))
    np.testing.assert_allclose(x_bar(np.ones((3, 2))), 5.0 * np.stack([X, X], 1))


def test_a_jvp_of_the_users_round_a_collective() -> None:
    @gw.custom_jvp
    def share(x):
        return x / gw.lax.psum(x, "i")

    @share.defjvp
    def share_jvp(primals, tangents):
        (x,), (x_dot,) = primals, tangents
        return share(x), 3.0 * x_dot + gw.lax.psum(x_dot, "i")

    f = gw.vmap(share, axis_name="i")
    x = np.array([1.0, 2.0, 5.0])
    np.testing.assert_allclose(f(x), x / 8.0)
    value, tangent = gw.jvp(f, (x,), (x,))
    np.testing.assert_allclose([value, tangent], [x / 8.0, 3.0 * x + 8.0])
    np.testing.assert_allclose(gw.jacrev(f)(x), 3.0 * np.eye(3) + 1.0)


def test_a_collective_of_the_outer_axis_under_a_vmap_without_a_name() -> None:
    table = np.arange(1.0, 7.0).reshape(2, 3)
    f = gw.vmap(gw.vmap(lambda x: x / gw.lax.psum(x, "i")), axis_name="i")
    np.testing.assert_allclose(f(table), table / np.sum(table, axis=0))
