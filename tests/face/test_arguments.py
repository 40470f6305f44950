"""Kinds of arguments: what a specialisation is chosen by."""

from collections import OrderedDict, namedtuple

import numpy as np
import pytest

import gradwright as gw
from gradwright.arguments import (
    flat,
    functions_in,
    ints_in,
    kind_of,
    objects,
    pattern_of,
    sharing,
)

Point = namedtuple("Point", "x y")


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (1, 1.0),
        (1, True),
        (1.0, np.float64(1.0)),
        (np.float32(1.0), np.float64(1.0)),
        (np.ones(3), np.ones(3, np.float32)),
        (np.ones(3), np.ones((3, 1))),
        (np.ones(3), np.ones(1)),
        ((1.0, 2.0), [1.0, 2.0]),
        ((1.0,), (1.0, 2.0)),
        ((1.0, (2.0,)), (1.0, [2.0])),
        ("a", "b"),
        (None, "None"),
        (kind_of, flat),
    ],
)
def test_other_kinds(a: object, b: object) -> None:
    assert kind_of(a) != kind_of(b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (1, 2),
        (0.0, -0.0),
        (np.ones(3), np.zeros(7)),
        (np.ones((1, 5)), np.ones((1, 9))),
        ((1.0, [2]), (3.0, [4])),
        ("ab", "a" + "b"),
    ],
)
def test_the_same_kind(a: object, b: object) -> None:
    assert kind_of(a) == kind_of(b)
    assert hash(kind_of(a)) == hash(kind_of(b))


def test_numbers_and_objects_inside() -> None:
    xs = np.ones(2)
    argument = (1.0, ["text", 2, (xs, None)], kind_of)
    assert [*flat(argument)] == [1.0, 2, xs]
    assert ints_in((True, 2, 3.0, [4])) == (2, 4)
    assert [*objects(argument)] == [kind_of.__code__]
    assert [*functions_in(argument)] == [kind_of]


def test_what_cannot_be_an_argument_is_refused_by_name() -> None:
    with pytest.raises(gw.NotDifferentiable, match=r'argument table\["a"\] is a set'):
        pattern_of({"a": {1.0}}, "table")
    with pytest.raises(gw.NotDifferentiable, match="is a OrderedDict"):
        pattern_of([OrderedDict(a=1.0)], "table")


def test_kinds_of_structures() -> None:
    assert kind_of({"a": 1.0, "b": 2}) == kind_of({"a": 3.0, "b": 4})
    assert kind_of({"a": 1.0, "b": 2}) != kind_of({"b": 2, "a": 1.0})
    assert kind_of({1: 0.0}) != kind_of({True: 0.0}) != kind_of({1.0: 0.0})
    assert kind_of({"a": 1.0}) != kind_of({"a": np.float64(1.0)})
    assert kind_of(Point(1.0, 2.0)) == kind_of(Point(3.0, 4.0))
    assert kind_of(Point(1.0, 2.0)) != kind_of((1.0, 2.0)) != kind_of([1.0, 2.0])
    assert list(flat({"b": 1.0, "a": [Point(2, "x")]})) == [1.0, 2]
    assert list(functions_in({"f": len, "g": kind_of})) == [kind_of]


def test_closures_of_one_code_are_of_one_kind() -> None:
    def make(gain):
        return lambda x: gain * x

    first, second = make(1.0), make(2.0)
    assert kind_of(first) == kind_of(second)
    assert sharing((first, second, first)) == (0, 1, 0)
