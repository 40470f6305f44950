"""grad, value_and_grad, jvp and vjp as users write them."""

import copy
import inspect
import pickle

import numpy as np
import pytest

import gradwright as gw


def mixed(x, y, n=2):
    """Some text."""
    return x**n * y


def with_aux(x, y):
    return x * y, (x + 1.0, "label", [None, y])


def test_decorators() -> None:
    @gw.grad
    def plain(x):
        return x * x

    @gw.grad(argnums=1)
    def second(x, y):
        return x * y

    @gw.value_and_grad(has_aux=True)
    def beside(x):
        return x * x, "aux"

    assert plain(3.0) == 6.0
    assert second(3.0, 5.0) == 3.0
    assert beside(3.0) == ((9.0, "aux"), 6.0)


def test_it_says_what_it_is_of() -> None:
    g = gw.grad(mixed)
    assert g.__name__ == "mixed"
    assert g.__doc__ == "Some text."
    assert g.__wrapped__ is mixed
    assert g.__signature__ == inspect.signature(g) == inspect.signature(mixed)
    assert repr(gw.grad(g)).startswith("<grad of grad of mixed, test_transforms.py:")


def test_it_is_copied_and_pickled_as_the_function_is() -> None:
    g = gw.grad(mixed, argnums=(0, 1))
    for other in (copy.deepcopy(g), pickle.loads(pickle.dumps(g))):
        assert other(3.0, 2.0) == g(3.0, 2.0)


def test_argnums_and_argnames() -> None:
    assert gw.grad(mixed, argnums=-2)(3.0, 2.0) == 9.0
    assert gw.grad(mixed, argnums=[1, 0])(3.0, 2.0) == (9.0, 12.0)
    assert gw.grad(mixed, argnums=())(3.0, 2.0) == ()
    assert gw.grad(mixed, argnames="y")(3.0, 2.0) == 9.0
    assert gw.grad(mixed, argnames=("y", "x"))(y=2.0, x=3.0) == (9.0, 12.0)


def test_an_argument_twice() -> None:
    assert gw.grad(mixed, argnums=(0, 0))(3.0, 2.0) == (12.0, 12.0)
    first, second = gw.grad(lambda xs: np.sum(xs * xs), argnums=(0, 0))(np.ones(2))
    assert not np.shares_memory(first, second)
    assert first.tolist() == second.tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    "options",
    [
        {"argnums": 3},
        {"argnums": -4},
        {"argnums": "x"},
        {"argnums": 1.0},
        {"argnums": True},
        {"argnums": None},
        {"argnums": (0, 7)},
        {"argnums": (0, "y")},
        {"argnames": "z"},
        {"argnames": ("x", "z")},
        {"argnames": 3.0},
    ],
)
def test_arguments_that_are_not_there(options) -> None:
    with pytest.raises(gw.NotDifferentiable, match=r"mixed\(x, y, n\)"):
        gw.grad(mixed, **options)


def test_arguments_behind_a_star_are_counted_at_the_call() -> None:
    def f(x, *rest):
        return x * sum(rest)

    g = gw.grad(f, argnums=2)
    assert g(2.0, 3.0, 4.0) == 2.0
    with pytest.raises(gw.NotDifferentiable, match="asks for argument 2"):
        g(2.0, 3.0)
    assert gw.vjp(f, 2.0, 3.0, 4.0)[1](1.0) == (7.0, 2.0, 2.0)
    assert gw.jvp(f, (2.0, 3.0, 4.0), (1.0, 0.0, 1.0)) == (14.0, 9.0)


def test_what_is_no_function() -> None:
    for transform in (gw.grad, gw.value_and_grad, gw.vjp):
        with pytest.raises(TypeError, match=f"{transform.__name__} needs a function"):
            transform(3.0)
    with pytest.raises(TypeError, match="jvp needs a function"):
        gw.jvp(3.0, (1.0,), (1.0,))


def test_what_comes_out_beside_the_value() -> None:
    aux = (3.0, "label", [None, 3.0])
    assert gw.grad(with_aux, has_aux=True)(2.0, 3.0) == (3.0, aux)
    assert gw.value_and_grad(with_aux, has_aux=True)(2.0, 3.0) == ((6.0, aux), 3.0)
    assert gw.jvp(with_aux, (2.0, 3.0), (1.0, 0.0), has_aux=True) == (6.0, 3.0, aux)
    value, pull, beside = gw.vjp(with_aux, 2.0, 3.0, has_aux=True)
    assert (value, beside, pull(1.0)) == (6.0, aux, (3.0, 2.0))
    with pytest.raises(gw.NotDifferentiable, match="has_aux needs a pair"):
        gw.grad(mixed, has_aux=True)(2.0, 3.0)


def test_text_beside_numbers() -> None:
    def f(x):
        return x * x, "grows" if x > 0.0 else "falls", None, [x, 1]

    value, tangent = gw.jvp(f, (2.0,), (1.0,))
    assert value == (4.0, "grows", None, [2.0, 1])
    assert tangent == (4.0, "grows", None, [1.0, 0.0])
    value, pull = gw.vjp(f, -2.0)
    assert value == (4.0, "falls", None, [-2.0, 1])
    assert pull((1.0, None, None, [2.0, None])) == (-2.0,)


def test_tangents_go_with_their_arguments() -> None:
    assert gw.jvp(lambda n, x: x**n, (3, 2.0), (None, 1.0)) == (8.0, 12.0)
    with pytest.raises(ValueError, match="does not have the structure"):
        gw.jvp(lambda p, z: p[0] * z, ((1.0, 2.0), 3.0), (1.0, (0.0, 0.0)))
    with pytest.raises(ValueError, match="a tangent for each primal"):
        gw.jvp(mixed, (1.0, 2.0), (1.0,))
    with pytest.raises(TypeError, match="tuples or lists"):
        gw.jvp(mixed, 1.0, 1.0)


def test_a_result_that_is_none() -> None:
    def last(x, n):
        found = None
        for _ in range(n):
            found = x
        return found

    assert gw.value_and_grad(last)(2.0, 3) == (2.0, 1.0)
    with pytest.raises(TypeError, match="last returned None"):
        gw.grad(last)(2.0, 0)


def test_a_result_that_cannot_come_out() -> None:
    def f(x):
        def inner(y):
            return x * y

        return inner

    with pytest.raises(gw.GradwrightError, match="inner"):
        gw.grad(f)(2.0)
    with pytest.raises(gw.GradwrightError, match="inner"):
        gw.jvp(f, (2.0,), (1.0,))
