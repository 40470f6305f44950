"""Axes: as the user writes them, spread over a structure, entry by entry of a call."""

from collections import namedtuple
from typing import Any

import pytest

from gradwright.transform.axes import BY_NAME, Axes, frozen, of_parameters, spread
from gradwright.transform.errors import ShapeError
from gradwright.transform.step import Step
from gradwright.transform.structure import Structure

Pair = namedtuple("Pair", "a b")


@pytest.mark.parametrize(
    ("axes", "text"),
    [
        (0, "0"),
        (None, "None"),
        ((0,), "(0,)"),
        ([0, None], "[0, None]"),
        ({"w": 0, "b": (None, -1)}, "{'w': 0, 'b': (None, -1)}"),
    ],
)
def test_axes_are_hashable(axes: Any, text: str) -> None:
    held = frozen(axes, "in_axes")
    assert hash(held) == hash(frozen(axes, "in_axes"))
    assert str(held) == text


@pytest.mark.parametrize("axes", ["x", (0, 1.0), True, {"a": {1}}])
def test_axes_are_ints_and_none(axes: Any) -> None:
    with pytest.raises(TypeError, match="in_axes of vmap holds ints and None"):
        frozen(axes, "in_axes")


def model() -> Structure:
    return Structure(dict, ("w", Structure(tuple, ("b", "c"))), ("w", "bias"))


@pytest.mark.parametrize(
    ("axes", "expected"),
    [
        (1, [1, 1, 1]),
        (None, [None] * 3),
        ({"bias": (0, None), "w": 2}, [2, 0, None]),
        ({"bias": [0, None], "w": 2}, [2, 0, None]),
        ({"bias": -1, "w": None}, [None, -1, -1]),
    ],
)
def test_a_prefix_stands_for_all_that_is_inside(axes: Any, expected: Any) -> None:
    assert [*spread(frozen(axes, "in_axes"), model(), "in_axes", "it")] == expected


@pytest.mark.parametrize(
    "axes", [{"w": 0}, {"w": 0, "b": 0}, (0, 0), {"w": (0,), "bias": 0}]
)
def test_another_structure_is_refused(axes: Any) -> None:
    with pytest.raises(ShapeError, match="in_axes of vmap does not have the structure"):
        [*spread(frozen(axes, "in_axes"), model(), "in_axes", "the argument p")]


def test_a_namedtuple_is_matched_by_its_own_kind() -> None:
    pair = Structure(Pair, ("x", "y"))
    assert [*spread(frozen(Pair(0, None), "in_axes"), pair, "in_axes", "p")] == [
        0,
        None,
    ]
    other = Structure(namedtuple("Other", "a b"), ("x", "y"))
    with pytest.raises(ShapeError):
        [*spread(frozen(Pair(0, None), "in_axes"), other, "in_axes", "p")]


def of(in_axes: Any, first: int = 0, **given: Any) -> Any:
    step = Step("vmap", None, in_axes=frozen(in_axes, "in_axes"), first=first)
    return of_parameters(step, given).in_axes


def test_each_parameter_has_its_entry() -> None:
    assert of((1, None), x=0, y=1, z=BY_NAME, w=None) == (1, None, 0, None)
    assert of(2, x=0, y=BY_NAME) == (2, 0)
    assert of((1, 0), 1, self=0, x=1, y=2) == (None, 1, 0)
    assert of((1, 2, 3), x=0, rest=(1, 2)) == (1, Axes(tuple, (2, 3)))
    assert of((1,), x=0, more={"a": BY_NAME, "b": None}) == (
        1,
        Axes(dict, (0, None), ("a", "b")),
    )


def test_what_is_static_is_not_mapped() -> None:
    step = Step("vmap", None)
    found = of_parameters(step, {"x": 0, "n": 1}, frozenset({"n"}))
    assert found.in_axes == (0, None)


def test_there_is_an_entry_for_each_argument_by_position() -> None:
    message = r"in_axes of vmap has 1 entries, and this call has 2 arguments"
    with pytest.raises(ShapeError, match=message):
        of((0,), x=0, y=1)


def test_other_transforms_have_no_axes() -> None:
    step = Step("grad")
    assert of_parameters(step, {"x": 0}) is step
