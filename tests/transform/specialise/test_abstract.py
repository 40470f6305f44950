"""Abstract values: structures are taken apart, captured objects found again."""

from typing import Any

import pytest

from gradwright.transform.build import constant
from gradwright.transform.core import Const, Value
from gradwright.transform.indices import linear
from gradwright.transform.specialise.abstract import (
    Path,
    Static,
    Structure,
    as_constant,
    describe,
    is_operand,
    leaves,
    mapped,
)
from gradwright.transform.types import FLOAT, NONE, TEXT

x = Value("x", FLOAT)
NESTED = Structure(tuple, (x, Structure(list, (linear(2), constant(1.5))), Static(len)))


def test_leaves_depth_first() -> None:
    assert [is_operand(leaf) for leaf in leaves(NESTED)] == [True, True, True, False]
    assert list(leaves(x)) == [x]


def test_mapped_keeps_the_structure() -> None:
    count = iter(range(9))
    found = mapped(lambda leaf: next(count), NESTED)
    assert (found.kind, found.items[0], found.items[2]) == (tuple, 0, 3)
    assert (found.items[1].kind, found.items[1].items) == (list, (1, 2))


@pytest.mark.parametrize(
    ("a", "words"),
    [
        (NESTED, "a tuple of 3"),
        (Static(None), "None"),
        (Static("text"), "str 'text'"),
        (Static(len), "builtin_function_or_method len"),
        (linear(3), "an int"),
        (x, "a value of type float"),
    ],
)
def test_described_in_words(a: Any, words: str) -> None:
    assert describe(a) == words


def test_none_and_text_as_constants() -> None:
    assert as_constant(Static(None)) == Const(None, NONE)
    assert as_constant(Static("a")) == Const("a", TEXT)
    function = Static(len)
    assert as_constant(function) is function


def test_a_path_starts_at_the_function_that_is_called() -> None:
    class Holder:
        table: tuple[Any, ...] = (1.0, {"slow": 2.0})

    other = Holder()
    other.table = (3.0, {"slow": 4.0})
    start = Path("holder", "holder", lambda f=None: f or Holder())
    slow = start.attribute("table").item(1).item("slow")
    assert (slow.read(), slow.read(other)) == (2.0, 4.0)
    assert slow.key == start.attribute("table").item(1).item("slow").key
    assert start.attribute("table").item(1).name == "table_1"
    assert slow.name == "slow"
