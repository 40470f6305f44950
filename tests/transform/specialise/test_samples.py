"""Samples: the types of one sample, of the types of a batch."""

from typing import Any

import pytest

from gradwright.transform.errors import ShapeError
from gradwright.transform.specialise.abstract import Static, leaves
from gradwright.transform.specialise.samples import samples, without
from gradwright.transform.step import Step
from gradwright.transform.structure import Structure
from gradwright.transform.types import FLOAT, Type, array, numpy_scalar


def open_array(*lengths: int) -> Type:
    """An array whose lengths are known where they are not -1."""
    return array("float32", lengths)


def of(in_axes: tuple[Any, ...], size: int | None = None, **arguments: Any) -> Any:
    step = Step("vmap", None, in_axes=in_axes, axis_size=size)
    return samples(step, arguments)


def test_an_axis_goes() -> None:
    assert without(open_array(2, 3, 4), 1) == open_array(2, 4)
    assert without(open_array(2), 0) == numpy_scalar("float32")


def test_what_is_mapped_loses_its_axis() -> None:
    text = Static("text")
    given = Structure(tuple, (open_array(-1, 3), text, open_array(2, 5, 3)))
    found = of((-1, None), a=given, b=FLOAT)
    inside = [*leaves(found.arguments["a"])]
    assert inside == [open_array(-1), text, open_array(2, 5)]
    assert found.arguments["b"] is FLOAT
    assert found.step.axes == (1, None, 2, None)


def test_a_text_or_a_function_is_the_same_for_all() -> None:
    text = Static("text")
    found = of((0, 0), x=open_array(-1), s=text)
    assert found.arguments["s"] is text
    assert found.step.axes == (0, None)
    assert found.step.sizes == (None, None)


def test_lengths_that_are_known_are_kept() -> None:
    found = of((0, 1), x=open_array(4), y=open_array(-1, 4))
    assert found.step.sizes == (4, 4)
    assert [d.constant for d in found.lengths] == [4, 4]


@pytest.mark.parametrize(
    ("in_axes", "arguments", "message"),
    [
        (
            (1,),
            {"x": open_array(-1)},
            "maps axis 1 of the argument x, which has 1 axes",
        ),
        ((-2,), {"x": open_array(-1)}, "maps axis -2 of the argument x"),
        ((0,), {"x": FLOAT}, "maps axis 0 of the argument x, which is a number"),
        ((None,), {"x": open_array(-1)}, "maps none of the arguments"),
        (
            (0, 0),
            {"x": open_array(4), "y": open_array(5)},
            "argument x has 4 samples, and axis 0 of the argument y has 5",
        ),
    ],
)
def test_what_cannot_be_mapped(in_axes: Any, arguments: Any, message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        of(in_axes, **arguments)


def test_a_size_that_was_said() -> None:
    assert of((None,), 3, x=FLOAT).lengths == []
    with pytest.raises(ShapeError, match="x has 4 samples, and axis_size has 3"):
        of((0,), 3, x=open_array(4))
