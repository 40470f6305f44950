"""Structures put together and taken apart."""

import numpy as np
import pytest

import gradwright as gw
from gradwright.results import assembler, gradient_like, matched, outline
from gradwright.transform.core import Value
from gradwright.transform.specialise.abstract import Static, Structure
from gradwright.transform.types import FLOAT, array, numpy_scalar


def leaf(type_=FLOAT):
    return Value("v", type_)


def test_a_single_result_comes_as_it_is() -> None:
    assert assembler(leaf(), {})(2.0) == 2.0
    pair = Structure(tuple, (leaf(), leaf()))
    out = (1.0, 2.0)
    assert assembler(pair, {})(out) is out


def test_static_parts_are_put_back_where_they_were() -> None:
    inner = Structure(list, (Static("text"), leaf(), Static(len)))
    template = Structure(tuple, (Static(None), inner, leaf()))
    assert assembler(template, {})((1.0, 2.0)) == (None, ["text", 1.0, len], 2.0)
    assert assembler(Structure(tuple, (leaf(),)), {})(3.0) == (3.0,)
    assert assembler(Structure(tuple, ()), {})(None) == ()
    assert assembler(Static("text"), {})(None) == "text"


def test_gradients_are_of_their_arguments_kind() -> None:
    assert type(assembler(leaf(), {0: FLOAT})(np.float64(2.0))) is float
    single = assembler(leaf(), {0: numpy_scalar("float32")})(2.0)
    assert type(single) is np.float32
    whole = assembler(leaf(), {0: array("float64", ())})(np.float64(2.0))
    assert isinstance(whole, np.ndarray)
    assert whole.shape == ()
    xs = np.ones(3)
    assert assembler(leaf(), {0: array("float64", (3,))})(xs) is xs


def test_a_complex_gradient_of_a_real_number_is_refused() -> None:
    with pytest.raises(gw.NotDifferentiable, match="came out complex"):
        gw.grad(lambda x: x**0.5)(-2.0)


def test_tangents_have_the_structure_of_their_primals() -> None:
    like = (2, [1.0, np.ones(2)], "text")
    found = [*matched(like, (None, [3, np.zeros(2)], 7), "tangent")]
    assert found[0] == 3.0
    assert type(found[0]) is float
    assert found[1].tolist() == [0.0, 0.0]
    for wrong in [(0, 1.0, ""), (0, [1.0], ""), (0, [1.0, "no"], "")]:
        with pytest.raises(ValueError, match="does not have the structure"):
            [*matched(like, wrong, "tangent")]
    with pytest.raises(ValueError, match=r"shape \(3,\) for a value of shape \(2,\)"):
        [*matched(like, (0, [1.0, np.ones(3)], ""), "tangent")]
    with pytest.raises(ValueError, match="a complex tangent for a real value"):
        [*matched(1.0, 1j, "tangent")]


def test_gradients_of_what_has_none_are_zeros_of_its_kind() -> None:
    argument = (2, "text", None, 1.5, np.array([1, 2]))
    found = gradient_like(argument, iter([np.float64(3.0)]))
    assert found[:4] == (0, "text", None, 3.0)
    assert type(found[3]) is float
    assert found[4].tolist() == [0, 0]


def test_an_outline_holds_no_memory_of_the_value() -> None:
    xs = np.ones((3, 2), np.float32)
    drawn = outline((xs, [1.0, "text"]))
    assert drawn[0].shape == (3, 2)
    assert drawn[0].dtype == np.float32
    assert not np.shares_memory(drawn[0], xs)
    assert drawn[1] == [1.0, "text"]
