"""What may be differentiated, and results in the structure of their arguments."""

from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import gradwright as gw

Point = namedtuple("Point", "x y")
MIXED = {"b": 3.0, "n": 2, "on": True, "of": np.int32(4), "at": np.array([1, 2])}


def mixed(p):
    return p["b"] ** p["n"] if p["on"] else p["b"]


def test_ints_inside_a_structure_are_refused_by_path() -> None:
    cases: list[tuple[Any, Any, str]] = [
        (lambda p: p["b"], {"b": 2.0, "n": (1.0, [3])}, 'p["n"][1][0] is an int'),
        (lambda q: q.x * q.y, Point(2.0, 3), "q.y is an int"),
        (lambda p: p[0], (2.0, np.arange(2)), "p[1] is a value of type array of int64"),
        (lambda p: p[0], [2.0, True], "p[1] is a value of type bool"),
    ]
    for f, argument, words in cases:
        with pytest.raises(gw.NotDifferentiable) as caught:
            gw.grad(f)(argument)
        assert f"where {words}" in str(caught.value)
        assert "allow_int=True" in str(caught.value)


def test_allow_int() -> None:
    value, gradient = gw.value_and_grad(mixed, allow_int=True)(MIXED)
    assert value == 9.0
    assert list(gradient) == list(MIXED)
    assert [gradient["b"], gradient["n"], gradient["on"]] == [6.0, 0, False]
    for name, item in MIXED.items():
        assert type(gradient[name]) is type(item)
    assert gradient["at"].dtype == MIXED["at"].dtype and not gradient["at"].any()
    assert gw.grad(lambda x, n: x**n, argnums=(0, 1), allow_int=True)(3.0, 2) == (
        6.0,
        0,
    )
    with pytest.raises(gw.NotDifferentiable, match="argument 0, which is str"):
        gw.grad(lambda x: 1.0, allow_int=True)("text")


def test_allow_int_inside_a_program() -> None:
    def f(x):
        g = gw.grad(lambda p: p[0] ** p[1], allow_int=True)((x, 3))
        return g[0] + g[1]

    assert gw.grad(f)(2.0) == 12.0


def test_text_none_and_functions_are_carried_over() -> None:
    p = {"f": abs, "x": 2.0, "n": None, "s": "text", "inner": Point(np.ones(2), "y")}
    g = gw.grad(lambda p: p["x"] * np.sum(p["inner"].x ** 2))(p)
    assert g["f"] is abs and g["n"] is None and g["s"] == "text"
    assert g["x"] == 2.0
    assert type(g["inner"]) is Point and g["inner"].y == "y"
    assert g["inner"].x.tolist() == [4.0, 4.0]


# ---- holomorphic -------------------------------------------------------------------


def cube(z):
    return z**3 + 2.0j * z


def test_holomorphic() -> None:
    z = 1.5 - 0.5j
    wanted = 3 * z**2 + 2.0j
    assert gw.grad(cube, holomorphic=True)(z) == pytest.approx(wanted)
    value, gradient = gw.value_and_grad(cube, holomorphic=True)(z)
    assert (value, gradient) == (cube(z), pytest.approx(wanted))
    for transform in (gw.jacfwd, gw.jacrev):
        assert transform(cube, holomorphic=True)(z) == pytest.approx(wanted)
        zs = np.array([z, 2.0 * z])
        wide = transform(cube, holomorphic=True)(zs)
        np.testing.assert_allclose(wide, np.diag(3 * zs**2 + 2.0j), atol=1e-14)
    assert gw.hessian(cube, holomorphic=True)(z) == pytest.approx(6 * z)
    assert gw.grad(gw.grad(cube, holomorphic=True), holomorphic=True)(z) == 6 * z


@pytest.mark.parametrize("transform", [gw.grad, gw.jacfwd, gw.jacrev])
def test_what_is_not_holomorphic(transform: Any) -> None:
    with pytest.raises(gw.NotDifferentiable, match="is of complex numbers"):
        transform(lambda x: x * 1j, holomorphic=True)(2.0)
    with pytest.raises(gw.NotDifferentiable, match="that returns complex numbers"):
        transform(lambda z: z.real, holomorphic=True)(2.0j)
    if transform is not gw.jacfwd:
        with pytest.raises(gw.NotDifferentiable, match="real number"):
            transform(cube)(2.0j)


def test_a_complex_result_by_columns_of_a_real_argument() -> None:
    assert gw.jacfwd(lambda x: x * x * 1j)(2.0) == 4j
