"""Jacobians of programs: their structure, their kinds, what they refuse."""

from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import gradwright as gw

Point = namedtuple("Point", "x y")
X = np.array([0.5, 2.0])
BOTH = [gw.jacfwd, gw.jacrev]


def polar(r, t):
    return {"radial": r * r * np.cos(t), "shear": np.array([r * t, 1.0 / r])}


@pytest.mark.parametrize("transform", BOTH)
def test_structures_inside_structures(transform: Any) -> None:
    jac = transform(polar, argnums=(1, 0))(2.0, 0.5)
    assert list(jac) == ["radial", "shear"]
    assert type(jac["radial"]) is tuple and len(jac["radial"]) == 2
    assert jac["radial"][1] == pytest.approx(4.0 * np.cos(0.5))
    assert jac["shear"][0].tolist() == [2.0, 0.0]

    def f(p, scale):
        return [Point(p.x * scale["a"], None), p.y * p.y]

    jac = transform(f, argnums=(0, 1))(Point(2.0, X), {"b": 1.0, "a": 3.0})
    (first, second) = jac
    by_p, by_scale = first.x
    assert type(first) is Point and first.y is None
    assert (by_p.x, by_p.y.tolist()) == (3.0, [0.0, 0.0])
    assert by_scale == {"b": 0.0, "a": 2.0} and list(by_scale) == ["b", "a"]
    assert second[0].x.tolist() == [0.0, 0.0]
    assert second[0].y.tolist() == [[1.0, 0.0], [0.0, 4.0]]


@pytest.mark.parametrize("transform", BOTH)
def test_shapes(transform: Any) -> None:
    table = np.arange(6.0).reshape(2, 3)
    assert transform(lambda t: t * t)(table).shape == (2, 3, 2, 3)
    assert transform(lambda t: np.sum(t, axis=0))(table).shape == (3, 2, 3)
    assert transform(lambda t: np.sum(t))(table).shape == (2, 3)
    assert transform(lambda x: x * table)(2.0).tolist() == table.tolist()
    assert transform(lambda x: x * x)(np.ones((2, 1))).shape == (2, 1, 2, 1)
    assert transform(lambda x: x * x)(np.ones((0, 2))).shape == (0, 2, 0, 2)
    constant = transform(lambda x: np.ones(3))(X)
    assert constant.tolist() == [[0.0, 0.0]] * 3


@pytest.mark.parametrize("transform", BOTH)
def test_kinds(transform: Any) -> None:
    assert type(transform(lambda x: x * x)(2.0)) is float
    assert transform(lambda x: x * x)(X.astype(np.float32)).dtype == np.float32
    assert type(transform(lambda x: x * x)(np.float32(2.0))) is np.float32
    assert type(transform(lambda x: x * x)(np.array(2.0))) is np.ndarray


@pytest.mark.parametrize("transform", [*BOTH, gw.hessian])
def test_the_ways_to_ask(transform: Any) -> None:
    def f(x, y):
        return x * x * y, {"seen": x}

    by_name, aux = transform(f, argnames=("x",), has_aux=True)(3.0, 2.0)
    by_number, _ = transform(f, 0, True)(3.0, 2.0)
    assert aux == {"seen": 3.0}
    wanted = 4.0 if transform is gw.hessian else 12.0
    assert by_name == (((wanted,),) if transform is gw.hessian else (wanted,))
    assert by_number == wanted
    assert transform(argnums=1)(lambda x, y: x * y)(3.0, 2.0) in (3.0, 0.0)
    assert "f_jacrev(" in gw.jacobian(f, has_aux=True).source(3.0, 2.0)


def test_hessians_of_structures() -> None:
    h = gw.hessian(lambda p: p["a"] * np.sum(p["x"] ** 2))({"a": 2.0, "x": X})
    assert h["a"]["a"] == 0.0
    assert h["a"]["x"].tolist() == h["x"]["a"].tolist() == (2.0 * X).tolist()
    assert h["x"]["x"].tolist() == [[4.0, 0.0], [0.0, 4.0]]


def test_hvp_is_a_column_of_the_hessian() -> None:
    def f(x):
        return np.sum(x**3) + x[0] * x[1]

    gradient, product = gw.hvp(f, (X,), (np.array([1.0, 0.0]),))
    assert gradient.tolist() == gw.grad(f)(X).tolist()
    np.testing.assert_allclose(product, gw.hessian(f)(X)[:, 0])
    several = gw.hvp(lambda x, p: x * p["a"] ** 2, [3.0, {"a": 2.0}], [1.0, {"a": 1.0}])
    assert several == ((4.0, {"a": 12.0}), (4.0, {"a": 10.0}))
    with pytest.raises(gw.NotDifferentiable, match="tuples or lists"):
        gw.hvp(f, X, X)


def test_inside_programs() -> None:
    def newton(x):
        def energy(z):
            return np.sum(z**4) + z[0] * z[1]

        h = gw.hessian(energy)(x)
        g = gw.jacrev(energy, argnames="z")(x)
        return np.sum(h * g)

    gw.check_grads(newton, (X,), order=2)

    def product(x):
        g, h = gw.hvp(lambda z, w: np.sum(z**3) * w, (x, 2.0), (x, 1.0))
        return np.sum(g[0] * h[0]) + h[1]

    gw.check_grads(product, (X,), order=2)


@pytest.mark.parametrize("transform", BOTH)
def test_only_floats_have_one(transform: Any) -> None:
    for f in (lambda x: 3, lambda x: x > 1.0, lambda x: (x, {"n": 2})):
        with pytest.raises(gw.NotDifferentiable, match="returns real numbers"):
            transform(f)(2.0)
    with pytest.raises(gw.NotDifferentiable, match="which is an int"):
        transform(lambda x: x)(2)


def test_a_print_happens_once_or_not_at_all(capsys) -> None:
    def f(x):
        print("seen", x[0])
        return x * x

    assert np.diag(gw.jacrev(f)(X)).tolist() == (2.0 * X).tolist()
    assert capsys.readouterr().out == "seen 0.5\n"
    for transform in (gw.jacfwd, gw.hessian):
        with pytest.raises(gw.EffectError, match=r"print\(\) would happen as often"):
            transform(f)(X)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("transform", BOTH)
def test_exceptions_are_the_programs_own(transform: Any) -> None:
    def f(x):
        for k in range(2):
            x = x * (1.0 / (k + x[0]))
        if x[1] < 0.0:
            raise ValueError("below")
        return x

    with pytest.raises(ValueError, match="below"):
        transform(f)(np.array([1.0, -2.0]))
    with pytest.raises(IndexError) as caught:
        transform(f)(X[:1])
    assert "test_jacobians.py" in caught.value.__notes__[0]
    assert transform(f)(X).shape == (2, 2)


# ---- stop_gradient -----------------------------------------------------------------


def test_stop_gradient() -> None:
    def f(x):
        return gw.stop_gradient(x * x) * x

    assert gw.grad(f)(3.0) == 9.0
    assert gw.grad(gw.grad(f))(3.0) == 0.0
    assert gw.jvp(f, (3.0,), (1.0,)) == (27.0, 9.0)
    assert gw.jacfwd(f)(3.0) == gw.jacrev(f)(3.0) == gw.linearize(f, 3.0)[1](1.0) == 9.0
    assert "stop" not in gw.grad(f).source(3.0)


def test_stop_gradient_of_structures() -> None:
    def f(p):
        q = gw.stop_gradient(p)
        return p["a"] * q["a"] + np.sum(q["x"].y) * len(q)

    p = {"a": 3.0, "x": Point(None, X)}
    g = gw.grad(f)(p)
    assert g["a"] == 3.0 and g["x"].x is None and g["x"].y.tolist() == [0.0, 0.0]
    assert gw.stop_gradient(p) is p
    kept = gw.grad(lambda x: (np.sum(x), gw.stop_gradient(x)), has_aux=True)(X)[1]
    assert kept is not X and kept.tolist() == X.tolist()
    assert not np.may_share_memory(kept, X)
