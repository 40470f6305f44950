"""Types follow NumPy 2; only floats and complex numbers can be differentiated."""

import math
from typing import Any

import numpy as np
import pytest
from semantics.oracle import check, like, near, same

import gradwright as gw

F16, F32, F64 = np.float16(1.5), np.float32(1.5), np.float64(1.5)
A32, A64 = np.array([0.5, 1.5], np.float32), np.array([0.5, 1.5])
C64 = np.complex64(1.5 + 0.5j)

# Python's numbers are weak, NumPy's are not: the type of the value says so.
PROMOTIONS = {
    "float times float": (lambda x: x * 2.5, 1.5),
    "float times int": (lambda x: x * 3, 1.5),
    "float times bool": (lambda x: x * True, 1.5),
    "float32 times float": (lambda x: x * 2.5, F32),
    "float32 times int": (lambda x: 3 * x, F32),
    "float32 times float64": (lambda x: x * np.float64(2.5), F32),
    "float32 times np.sin of a float": (lambda x: x * np.sin(1.0), F32),
    "float32 times math.sin of a float": (lambda x: x * math.sin(1.0), F32),
    "float32 times int64": (lambda x: x * np.int64(3), F32),
    "float32 times int8": (lambda x: x * np.int8(3), F32),
    "float16 times float": (lambda x: x * 2.5, F16),
    "np.float16 of float32": (lambda x: np.float16(x) * 2.0, F32),
    "float16 times float32": (lambda x: x * np.float32(2.0), F16),
    "math.sin of float32": (lambda x: math.sin(x), F32),
    "np.sin of float32": (lambda x: np.sin(x), F32),
    "np.sin of float": (lambda x: np.sin(x), 1.5),
    "abs of float32": (lambda x: abs(x), F32),
    "float of float32": (lambda x: float(x) * 2.0, F32),
    "power of float32": (lambda x: x**2, F32),
    "power of float32 by float": (lambda x: x**2.5, F32),
    "float divided by int": (lambda x: x / 2, F64),
    "max of float and int": (lambda x: max(x, 1), 1.5),
    "max of float32 and float": (lambda x: max(x, 1.0), F32),
    "maximum of float32 and float": (lambda x: np.maximum(x, 1.0), F32),
    "sum of float32": (lambda a: np.sum(a), A32),
    "mean of float32": (lambda a: a.mean(), A32),
    "an element of float32": (lambda a: a[0] * 2.0, A32),
    "an element of float32 and float64": (lambda a: a[0] * np.float64(2.0), A32),
    "an array times float32": (lambda a: np.sum(a * F32), A64),
    "a display": (lambda x: np.sum(np.array([x, 1])), F32),
    "the real part of complex64": (lambda z: (z * z).real, C64),
    "the size of complex64": (lambda z: abs(z), C64),
    "the real part of complex": (lambda x: ((x + 2j) * (x - 1j)).real, 1.5),
    "the imaginary part of complex": (lambda x: ((x + 2j) * (x - 1j)).imag, F64),
}


@pytest.mark.parametrize("name", PROMOTIONS)
def test_promotion(name: str) -> None:
    f, x = PROMOTIONS[name]
    value, gradient = gw.value_and_grad(f)(x)
    same(value, f(x))
    like(gradient, x)
    ones = np.ones_like(x) if isinstance(x, np.ndarray) else type(x)(1.0)
    value, tangent = gw.jvp(f, (x,), (ones,))
    same(value, f(x))
    # The tangent is of the value's type, as a value moved a little would be.
    assert type(tangent) is type(value)
    near(tangent, np.sum(gradient).real, 1e-3, "jvp and gradient")


def test_sums_in_a_loop_keep_the_type_they_take_on() -> None:
    def f(xs):
        s = 0.0
        for x in xs:
            s += x * x
        return s

    for xs, kind in ((A32, np.float32), (A64, np.float64)):
        value, gradient = gw.value_and_grad(f)(xs)
        assert type(value) is kind
        same(value, f(xs))
        like(gradient, xs)


def test_float_where_branches_give_int_and_float() -> None:
    def f(x):
        return 2 if x > 1.0 else x * x

    def g(x):
        if x > 1.0:
            y = 2
        else:
            y = x * x
        return y

    for function in (f, g):
        value, gradient = gw.value_and_grad(function)(3.0)
        assert (type(value), value, gradient) == (float, 2.0, 0.0)
        assert gw.grad(function)(0.5) == 1.0


def test_ints_and_bools_stay_what_they_are() -> None:
    def f(x, n, flag):
        k = n // 2 + flag
        return x * k, (k, flag, n > 3, k / 2, n**2, -n)

    gradient, aux = gw.grad(f, has_aux=True)(2.0, 5, True)
    assert gradient == 3.0
    same(aux, f(2.0, 5, True)[1])
    gradient, aux = gw.grad(f, has_aux=True)(2.0, np.int32(5), np.True_)
    same(aux, f(2.0, np.int32(5), np.True_)[1])


# ---- what cannot be differentiated ---------------------------------------------------


@pytest.mark.parametrize(
    "x",
    [2, True, np.int64(2), np.uint8(2), np.bool_(True), np.array([1, 2]), (2, 3)],
    ids=repr,
)
def test_integers_cannot_be_differentiated(x: Any) -> None:
    def f(x, y):
        return y * 2.0

    with pytest.raises(gw.NotDifferentiable, match="only float and complex numbers"):
        gw.grad(f)(x, 1.0)
    assert gw.grad(f, argnums=1)(x, 1.0) == 2.0
    # Forward and reverse mode take them along: they have no derivative.
    assert gw.jvp(f, (x, 1.0), (x, 1.0)) == (2.0, 2.0)
    zero, bar = gw.vjp(f, x, 1.0)[1](1.0)
    assert bar == 2.0
    assert not np.any(zero)


def test_an_integer_inside_a_structure() -> None:
    def f(pair):
        return pair[0] ** pair[1]

    with pytest.raises(gw.NotDifferentiable, match="only float and complex numbers"):
        gw.grad(f)((2.0, 3))


@pytest.mark.parametrize(
    "result",
    [
        lambda x: 3,
        lambda x: x > 1.0,
        lambda x: x * 1j,
        lambda x: (x, x),
        lambda x: "text",
        lambda x: None,
        lambda x: np.array([x, x]),
        lambda x: math.floor(x),
    ],
)
@pytest.mark.parametrize("transform", [gw.grad, gw.value_and_grad])
def test_a_gradient_needs_one_real_number(transform, result) -> None:
    with pytest.raises(gw.NotDifferentiable, match="one real number"):
        transform(result)(1.5)


@pytest.mark.parametrize("text", ["text", None, math.sin])
def test_text_and_none_cannot_be_differentiated(text: Any) -> None:
    with pytest.raises(gw.NotDifferentiable):
        gw.grad(lambda x, note: x, argnums=1)(1.0, text)
    assert gw.grad(lambda x, note: x)(1.0, text) == 1.0


# ---- complex numbers -----------------------------------------------------------------


def test_complex_gradients_follow_jax() -> None:
    """df/dx - i df/dy for f(x + i y): that of |z|**2 is 2 conj(z)."""
    z = 1.5 - 0.5j
    assert gw.grad(lambda z: z.real * z.real + z.imag * z.imag)(z) == 2 * z.conjugate()
    assert gw.grad(lambda z: z.real)(z) == 1.0
    assert gw.grad(lambda z: z.imag)(z) == -1.0j
    assert gw.grad(lambda z: (z * z).real)(z) == 2 * z  # f' of a holomorphic f
    assert gw.grad(lambda z: (z * z).imag)(z) == -2j * z
    check(lambda z: abs(z) ** 3 + (z**3).imag, z)


def test_the_gradient_of_a_real_argument_is_real() -> None:
    def response(omega, damping):
        return abs(1.0 / (1.0 - omega**2 + 2j * damping * omega))

    gradients = check(response, 0.7, 0.2)
    assert [type(g) for g in gradients] == [float, float]
    mixed = check(lambda x, z: (x * z * z).imag, 0.7, 1.0 + 2.0j)
    assert [type(g) for g in mixed] == [float, complex]


@pytest.mark.filterwarnings("error")
def test_a_real_number_beside_a_complex_array_has_a_real_gradient() -> None:
    def remainder(field, x):
        return np.sum(field * 2.0 - x).real

    field = np.array([1.0 - 2.0j, 0.5j])
    field_bar, x_bar = gw.grad(remainder, argnums=(0, 1))(field, 1.5)
    same((field_bar, x_bar), (np.array([2.0 + 0j, 2.0 + 0j]), -2.0))


def test_complex_tangents_and_cotangents() -> None:
    z, dz = 1.5 - 0.5j, 0.25 + 1.0j
    assert gw.jvp(lambda z: z * z, (z,), (dz,)) == (z * z, 2 * z * dz)
    assert gw.jvp(lambda x: x * 1j, (2.0,), (1.0,)) == (2j, 1j)
    assert gw.vjp(lambda z: z * z, z)[1](dz) == (2 * z * dz,)
    assert gw.vjp(lambda x: x * 1j, 2.0)[1](1.0 - 3.0j) == (3.0,)


def test_a_real_result_of_complex_steps() -> None:
    def f(x):
        z = 0.1 + 0.2j
        for _ in range(3):
            z = z * z + x
        return z.real * z.imag

    check(f, 0.3)


def test_a_real_power_that_turns_complex() -> None:
    """Python answers with a complex number: there is no real gradient."""
    with pytest.raises((gw.NotDifferentiable, ValueError, TypeError)):
        gw.grad(lambda x: x**0.5)(-2.0)
    with pytest.raises((gw.NotDifferentiable, ValueError, TypeError)):
        gw.value_and_grad(lambda x, p: x**p, argnums=(0, 1))(-2.0, 1.5)
    check(lambda x, p: x**p, 2.0, 1.5)
    assert gw.grad(lambda x, p: x**p)(-2.0, 3.0) == 12.0
