"""Plain tuples, lists, dicts and namedtuples: taken apart and put together again."""

from collections import OrderedDict, namedtuple
from typing import Any, NamedTuple

import pytest

from gradwright.transform.structure import (
    Structure,
    is_namedtuple,
    item_name,
    put_together,
    structure_of,
)

Point = namedtuple("Point", "x y")


class Named(NamedTuple):
    x: float
    y: float = 2.0


class Nearer(Named):
    """A class derived from a namedtuple is one."""


@pytest.mark.parametrize(
    "thing",
    [(), (1, 2), [1], {}, {"b": 1, "a": 2}, {2: 1, (0, 1): 3}, Point(1, 2), Nearer(1)],
    ids=repr,
)
def test_there_and_back(thing: Any) -> None:
    held = structure_of(thing)
    assert held is not None
    again = put_together(held.kind, held.items, held.keys)
    assert type(again) is type(thing)
    assert again == thing
    assert list(again) == list(thing)  # a dict's keys in their order


@pytest.mark.parametrize("thing", [1.0, "text", None, {1}, OrderedDict(a=1), range(2)])
def test_what_is_none(thing: Any) -> None:
    assert structure_of(thing) is None


def test_namedtuples() -> None:
    assert is_namedtuple(Point) and is_namedtuple(Nearer)
    assert not is_namedtuple(tuple) and not is_namedtuple(dict)


def form(thing: Any) -> Any:
    held = structure_of(thing)
    assert held is not None
    return held.form


def test_forms() -> None:
    assert form({"a": 1, "b": 2}) == form({"a": 3, "b": 4})
    assert form({"a": 1, "b": 2}) != form({"b": 2, "a": 1})
    assert form({1: 0}) != form({True: 0}) != form({1.0: 0})
    assert form((1, 2)) != form([1, 2]) != form((1,))
    assert form(Point(1, 2)) != form((1, 2))


def test_plain_sequences() -> None:
    assert Structure(list, (1,)).sequence is list
    assert Structure(Point, (1, 2)).sequence is tuple
    assert Structure(dict, (1,), ("a",)).sequence is None


def test_labels_and_names() -> None:
    cases = {
        'p["W"]': ({"W": 1}, "W"),
        "p['a b']": ({"a b": 1}, "a b"),
        "p[3]": ({3: 1}, 3),
        "p[0]": ([1], 0),
        "p.x": (Point(1, 2), "x"),
    }
    for name, (thing, label) in cases.items():
        held = structure_of(thing)
        assert held is not None and label in list(held.labels)
        assert item_name(held, "p", label) == name
