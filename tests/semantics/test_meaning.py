"""The derivative of the path that the program takes; transforms nest in any order."""

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from semantics.oracle import check, near

import gradwright as gw


def two_laws(x):
    return x * x if x > 1.0 else 3.0 * x


def growing(x):
    trips = 0
    while x < 100.0:
        x = x * x + 0.5 if x < 10.0 else 3.0 * x + 1.0
        trips += 1
    return x + 0.1 * trips


def first_above(xs, level):
    for k, x in enumerate(xs):
        if x > level:
            return x * x * (k + 1)
    return level**3


def scaled(x, times):
    if times == 0:
        return x
    return 0.4 * scaled(x, times - 1)


def mixed_in(x, y):
    if x > 0.2:
        y = scaled(x, 2)
    else:
        for s in np.array([0.05, 0.9 * x]):
            x = 0.6 * x - 0.4 * scaled(s, 0)
    return scaled(x, 2) * y


@pytest.mark.parametrize(("x", "slope"), [(2.0, 4.0), (0.5, 3.0), (1.0, 3.0)])
def test_the_branch_that_is_taken(x: float, slope: float) -> None:
    value, pull = gw.vjp(two_laws, x)
    assert gw.grad(two_laws)(x) == slope
    assert gw.jvp(two_laws, (x,), (1.0,)) == (two_laws(x), slope)
    assert (value, pull(1.0)) == (two_laws(x), (slope,))


@pytest.mark.parametrize("x", [-0.4, 0.7])
def test_a_call_sees_the_cotangent_of_its_time(x: float) -> None:
    gw.check_grads(mixed_in, (x, 0.5))


@pytest.mark.parametrize("x", [1.5, 2.0, 9.0, 40.0, 200.0])
def test_the_trips_that_are_made(x: float) -> None:
    check(growing, x)


@pytest.mark.parametrize("level", [0.5, 2.5, 9.0])
def test_the_return_that_is_reached(level: float) -> None:
    check(first_above, np.array([1.0, 2.0, 3.0]), level)


# ---- nesting -------------------------------------------------------------------------


def fourth(x):
    y = 1.0
    for _ in range(4):
        y *= x
    return y


DERIVATIVES = {
    "grad": lambda f: gw.grad(f),
    "value_and_grad": lambda f: lambda x: gw.value_and_grad(f)(x)[1],
    "jvp": lambda f: lambda x: gw.jvp(f, (x,), (1.0,))[1],
    "vjp": lambda f: lambda x: gw.vjp(f, x)[1](1.0)[0],
    "jacfwd": lambda f: gw.jacfwd(f),
    "jacrev": lambda f: gw.jacrev(f),
    "linearize": lambda f: lambda x: gw.linearize(f, x)[1](1.0),
}
TWICE = list(itertools.product(DERIVATIVES, repeat=2))
THRICE = [("grad",) * 3, ("jvp",) * 3, ("vjp",) * 3]
THRICE += list(itertools.permutations(("grad", "jvp", "vjp")))


@pytest.mark.parametrize("kinds", TWICE + THRICE, ids="-".join)
def test_nesting(kinds: tuple[str, ...]) -> None:
    """The innermost first: x**4 has the derivatives 4 x**3, 12 x**2 and 24 x."""
    f: Callable[..., float] = fourth
    for kind in kinds:
        f = DERIVATIVES[kind](f)
    near(f(1.5), {2: 12 * 1.5**2, 3: 24 * 1.5}[len(kinds)], 1e-12, str(kinds))


def test_a_gradient_inside_a_program() -> None:
    def newton(x):
        for _ in range(3):
            x = x - gw.grad(fourth)(x) / gw.grad(gw.grad(fourth))(x)
        return x

    check(newton, 1.5, exact=False)
    near(gw.grad(newton)(1.5), (2.0 / 3.0) ** 3, 1e-12, "three steps")


def test_the_inner_variable_is_not_the_outer() -> None:
    """Two functions of one program, each with its own derivative."""

    def outer(x):
        return x * gw.grad(lambda y: x + y)(1.0)

    assert gw.grad(outer)(2.0) == 1.0


def test_a_gradient_of_a_closure() -> None:
    def outer(x):
        return gw.grad(lambda y: x * x * y * y)(3.0)

    assert outer(2.0) == 24.0
    assert gw.grad(outer)(2.0) == 24.0


@pytest.mark.parametrize("transform", [gw.jacfwd, gw.jacrev])
def test_the_jacobian_is_that_of_the_path(transform: Callable[..., Callable]) -> None:
    def f(x):
        y = x * x if x[0] > 1.0 else 3.0 * x
        for k in range(len(x)):
            y = y * x[k] if x[k] > 0.0 else y
        return y

    for x in (np.array([2.0, -1.0]), np.array([0.5, 1.5]), np.array([-1.0, -2.0])):
        found = transform(f)(x)
        for k in range(2):
            h = np.zeros(2)
            h[k] = 1e-6
            slope = (f(x + h) - f(x - h)) / 2e-6
            np.testing.assert_allclose(found[:, k], slope, rtol=1e-7, atol=1e-8)


def test_the_hessian_is_that_of_the_path() -> None:
    assert gw.hessian(fourth)(1.5) == 12 * 1.5**2
    assert gw.hessian(lambda x: growing(x) * x)(2.0) == pytest.approx(
        gw.grad(gw.grad(lambda x: growing(x) * x))(2.0), rel=1e-12
    )


# ---- the ways to ask -----------------------------------------------------------------


def mixed(x, y, z=2.0):
    return x * y**2 + math.sin(z) * x


def test_argnums_and_argnames() -> None:
    dx, dy, dz = 9.0 + math.sin(1.0), 12.0, 2.0 * math.cos(1.0)
    args = (2.0, 3.0, 1.0)
    for argnums, wanted in [(0, dx), (1, dy), (-1, dz), ((1, 0), (dy, dx)), ((), ())]:
        assert gw.grad(mixed, argnums=argnums)(*args) == wanted
        value, gradient = gw.value_and_grad(mixed, argnums=argnums)(*args)
        assert (value, gradient) == (mixed(*args), wanted)
    assert gw.grad(mixed, argnames="y")(*args) == dy
    assert gw.grad(mixed, argnames=("z", "x"))(*args) == (dz, dx)


def test_an_argument_that_is_asked_for_twice() -> None:
    assert gw.grad(mixed, argnums=(1, 1))(2.0, 3.0, 1.0) == (12.0, 12.0)


def test_keywords_and_defaults() -> None:
    dy = gw.grad(mixed, argnums=1)
    assert dy(2.0, 3.0) == dy(x=2.0, y=3.0) == dy(y=3.0, x=2.0, z=5.0) == 12.0
    assert gw.grad(mixed, argnums=2)(2.0, 3.0) == 2.0 * math.cos(2.0)
    assert gw.jvp(mixed, (2.0, 3.0), (0.0, 1.0)) == (mixed(2.0, 3.0), 12.0)
    _, pull = gw.vjp(mixed, 2.0, 3.0)
    assert len(pull(1.0)) == 2 and pull(1.0)[1] == 12.0


def test_decorators() -> None:
    @gw.grad
    def slope(x):
        return x**3

    @gw.value_and_grad(argnums=1)
    def both(x, y):
        return x * y * y

    assert slope(2.0) == 12.0
    assert both(3.0, 2.0) == (12.0, 12.0)
    assert slope.__name__ == "slope"


def test_auxiliary_results() -> None:
    def f(x, y):
        return x * y, (x + 1.0, "label")

    assert gw.grad(f, has_aux=True)(2.0, 3.0) == (3.0, (3.0, "label"))
    wanted = ((6.0, (3.0, "label")), 3.0)
    assert gw.value_and_grad(f, has_aux=True)(2.0, 3.0) == wanted


@pytest.mark.parametrize("backend", ["cpu", "numpy"])
def test_jit_computes_what_the_function_computes(backend: str) -> None:
    for f, *args in (
        (two_laws, 2.0),
        (two_laws, 0.5),
        (growing, 1.5),
        (first_above, np.array([0.5, 1.5, 2.5]), 1.0),
        (first_above, np.array([0.5]), np.float64(1.0)),
    ):
        found, wanted = gw.jit(f, backend=backend)(*args), f(*args)
        assert (found, type(found)) == (wanted, type(wanted))
        assert gw.jit(gw.grad(f), backend=backend)(*args) is not None


@pytest.mark.parametrize("f", [two_laws, growing, math.sin, gw.grad(growing)])
def test_vmap_is_the_stack_of_the_results(f: Callable[[float], float]) -> None:
    xs = np.array([0.5, 1.5, 20.0])
    batch = gw.vmap(f)(xs)
    np.testing.assert_allclose(batch, np.stack([f(x) for x in xs]), rtol=1e-15)
    assert batch.dtype == xs.dtype
