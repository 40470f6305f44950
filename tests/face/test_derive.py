"""One transform, core to core, with the structure of arguments and results."""

import numpy as np
import pytest

import gradwright as gw


@pytest.mark.parametrize(
    ("f", "args", "what"),
    [
        (lambda x: (x, x), (1.0,), "a tuple of 2"),
        (lambda x: x * 1j, (1.0,), "complex"),
        (lambda x: 3, (1.0,), "an int"),
        (lambda x: None, (1.0,), "None"),
        (lambda x: "text", (1.0,), "str"),
        (lambda xs: xs, (np.ones(2),), "an array with 1 axes"),
    ],
)
def test_only_one_real_number_has_a_gradient(f, args, what) -> None:
    with pytest.raises(gw.NotDifferentiable, match="returns one real number") as caught:
        gw.grad(f)(*args)
    assert what in str(caught.value)
    assert "test_derive.py" in str(caught.value)


@pytest.mark.parametrize(
    ("argument", "what"),
    [(2, "an int"), (True, "bool"), ("a", "str"), (None, "None"), (len, "len")],
)
def test_only_inexact_numbers_have_a_gradient(argument, what) -> None:
    with pytest.raises(gw.NotDifferentiable, match="argument 1, which is") as caught:
        gw.grad(lambda x, s: x, argnums=1)(1.0, argument)
    assert what in str(caught.value)


def test_ints_inside_a_structure_have_none_either() -> None:
    with pytest.raises(gw.NotDifferentiable, match="an int"):
        gw.grad(lambda pair: pair[0] * pair[1])((1, 2.0))


def test_text_inside_a_structure_is_carried_over() -> None:
    g = gw.grad(lambda p: p[0] * p[0] if p[1] == "square" else p[0])
    assert g((3.0, "square", None)) == (6.0, "square", None)
    assert g((3.0, "plain", None)) == (1.0, "plain", None)


def test_aux_in_nested_transforms() -> None:
    def f(x):
        return x * x * x, ("cube", [x])

    outer = gw.grad(lambda x: gw.grad(f, has_aux=True)(x)[0])
    assert outer(2.0) == 12.0
    twice = gw.grad(gw.grad(f, has_aux=True), has_aux=True)
    assert twice(2.0) == (12.0, ("cube", [2.0]))
    value, tangent = gw.jvp(gw.value_and_grad(f, has_aux=True), (2.0,), (1.0,))
    assert value == ((8.0, ("cube", [2.0])), 12.0)
    assert tangent[1] == 12.0
