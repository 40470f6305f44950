"""Kinds: the types of what lists hold, and of lists in them."""

from dataclasses import replace

import pytest
from semantics.oracle import check

import gradwright as gw
from gradwright.transform.specialise.abstract import Rows
from gradwright.transform.specialise.kinds import (
    each_type,
    in_rows,
    is_open,
    kind_at,
    kind_inside,
    list_of,
    same_kind,
)
from gradwright.transform.types import FLOAT, INT

TABLE = Rows(Rows(FLOAT))


def test_rows_are_lists_of_the_core() -> None:
    place = list_of("table", TABLE)
    assert (place.depth, place.type) == (3, FLOAT)
    assert kind_at(place) == TABLE
    assert kind_at(place, 2) == FLOAT
    assert in_rows(FLOAT, 2) == TABLE
    assert kind_inside(TABLE, 1) == Rows(FLOAT)
    assert kind_inside(FLOAT, 1) is None


def test_what_no_list_has_shown_yet_is_open() -> None:
    assert is_open(Rows(None))
    assert not is_open(TABLE)
    assert list_of("table", Rows(None)).type == FLOAT


def test_every_type_is_replaced() -> None:
    assert each_type(lambda t: INT, TABLE) == in_rows(INT, 2)
    optional = each_type(lambda t: replace(t, optional=True), Rows(FLOAT))
    assert not same_kind(optional, Rows(FLOAT))


def test_lists_of_several_lengths_are_rows() -> None:
    def f(x, n):
        table = []
        for k in range(n):
            table.append([x] if k == 0 else [x * k, 2.0])
        table.append([])
        return sum([sum(r) + len(r) for r in table])

    with pytest.raises(gw.UnsupportedSyntax, match="a list of 1 or a list of 2"):
        gw.grad(f)(0.7, 3)

    def g(x, n):
        table = [[x]]
        for k in range(n):
            table.append([x * k, 2.0])
        table.append([])
        return sum([sum(r) * len(r) for r in table])

    check(g, 0.7, 3)
