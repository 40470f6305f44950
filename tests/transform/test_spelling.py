"""Spelling: trees of Python from literals, operators and conditions."""

import ast
import math
from typing import Any

import pytest

from gradwright.transform.layout import text_of
from gradwright.transform.spelling import (
    Spelling,
    bool_op,
    counting,
    negated,
    negative,
    number,
    operation,
    product,
    sum_of,
    unsigned,
)


def parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2, "2"),
        (-2, "-2"),
        (True, "True"),
        (-0.0, "-0.0"),
        (1j, "1.0j"),
        (-1j, "-1.0j"),
        (complex(0.0, -1.0), "0.0 - 1.0j"),
        (0.5 - 1j, "0.5 - 1.0j"),
        (-0.5 + 2j, "-0.5 + 2.0j"),
    ],
)
def test_number(value: Any, text: str) -> None:
    assert text_of(number(value)) == text
    assert repr(eval(text)) == repr(value)


@pytest.mark.parametrize(
    ("test", "text"),
    [
        ("a == b", "a != b"),
        ("a != b", "a == b"),
        ("a is None", "a is not None"),
        ("a in b", "a not in b"),
        ("not a", "a"),
        ("a < b", "not a < b"),  # the two differ where one is not a number
        ("a == b == c", "not a == b == c"),
        ("a and b", "not (a and b)"),
    ],
)
def test_negated(test: str, text: str) -> None:
    assert text_of(negated(parsed(test))) == text


@pytest.mark.parametrize(
    ("left", "right", "text"),
    [
        ("2.0", "x * y", "2.0 * x * y"),
        ("a", "b * (c / d)", "a * b * (c / d)"),
        ("a", "b / c", "a * b / c"),
        ("a", "b + c", "a * (b + c)"),
        ("a + b", "c", "(a + b) * c"),
    ],
)
def test_product(left: str, right: str, text: str) -> None:
    assert text_of(product(parsed(left), parsed(right))) == text


@pytest.mark.parametrize(
    ("tree", "text"),
    [("a * b", "-a * b"), ("a / b * c", "-a / b * c"), ("a + b", "-(a + b)")],
)
def test_negative(tree: str, text: str) -> None:
    assert text_of(negative(parsed(tree))) == text
    again = unsigned(parsed(text))
    assert again is not None
    assert text_of(again) == tree


def test_a_truth_has_no_sign() -> None:
    tree = parsed("a * b * c")
    tree.left.left.is_truth = True
    assert text_of(negative(tree)) == "-(a * b * c)"


@pytest.mark.parametrize("tree", ["a", "a * -b", "a - b", "-a + b"])
def test_no_sign_to_take_away(tree: str) -> None:
    assert unsigned(parsed(tree)) is None


@pytest.mark.parametrize(
    ("terms", "offset", "text"),
    [
        ([("n", 1), ("i", -1)], -1, "n - i - 1"),
        ([("i", -1), ("n", 2)], 0, "2 * n - i"),
        ([("i", -1)], 3, "-i + 3"),
        ([], -4, "-4"),
    ],
)
def test_sum(terms: list[tuple[str, int]], offset: int, text: str) -> None:
    assert text_of(sum_of([(parsed(t), c) for t, c in terms], offset)) == text


@pytest.mark.parametrize(
    ("bounds", "text"),
    [
        ("0, n, 1", "range(n)"),
        ("1, n, 1", "range(1, n)"),
        ("n, 0, -1", "range(n, 0, -1)"),
    ],
)
def test_counting(bounds: str, text: str) -> None:
    assert text_of(counting(*map(parsed, bounds.split(", ")))) == text


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        ("a < 1", "1 < b", "a < 1 < b"),
        ("a < b", "b < c", "a < b < c"),
        ("a < f(b)", "f(b) < c", "a < f(b) and f(b) < c"),
        ("a", "b and c", "a and b and c"),
        ("a", "b or c", "a and (b or c)"),
    ],
)
def test_and(first: str, second: str, text: str) -> None:
    assert text_of(bool_op(ast.And(), parsed(first), parsed(second))) == text


def test_not_not_is_not_the_same() -> None:
    assert text_of(operation("not", [parsed("not a")])) == "not not a"


def test_imports_are_gathered() -> None:
    imports: dict[str, None] = {}
    spelling = Spelling(imports)
    assert (
        text_of(spelling.call("np.linalg.norm", [parsed("x")])) == "np.linalg.norm(x)"
    )
    assert text_of(spelling.dotted("math.inf", negative=True)) == "-math.inf"
    assert list(imports) == ["import numpy as np", "import math"]
    assert math.inf > 0
