"""Rules: only what one partial needs is quoted, from operands that are asked for."""

import textwrap
from typing import Any

import numpy as np
import pytest

from gradwright.transform.build import Builder, row
from gradwright.transform.core import Const, Function, Value
from gradwright.transform.notation import notation
from gradwright.transform.primitives import load_rows
from gradwright.transform.primitives.record import Primitive
from gradwright.transform.rules import Access, Rules, read_rule, real_part
from gradwright.transform.template import Hole, Template
from gradwright.transform.types import COMPLEX, FLOAT, Type, array

load_rows()
ARRAY = array("float64", (7,))


def not_asked(position: int) -> Any:
    raise AssertionError(position)


NOT_ASKED = Access(not_asked, not_asked)


def shaped(x, axis, y_bar):
    """Only the shape of x is read, the values of y_bar."""
    n = x.shape[axis]
    return y_bar * n, x * x.ndim


def test_what_is_read_of_a_shape_needs_no_value() -> None:
    first, second = read_rule(shaped).elements
    assert first.needed == {"x", "axis", "y_bar"}
    assert first.valued == {"axis", "y_bar"}
    assert second.valued == {"x"}


def test_a_rule_by_name() -> None:
    builder = Builder(folds=True)
    x, y_bar = Value("x", ARRAY), Value("y_bar", ARRAY)
    template = Template((("x", Hole(0)), ("axis", 0)))
    access = Access(not_asked, lambda position: x)
    scaled = Rules(builder).signed(
        shaped, 0, template, access, {"y_bar": lambda: y_bar}
    )
    (product,) = builder.block
    assert product.operands == (Const(7.0, FLOAT), y_bar)
    assert product.out is scaled


def ratio(a, b, y):
    """Two partials that share a statement, and one that does not need it."""
    scale = b * b
    unused = a + scale
    smaller = y / scale
    return 1.0 / b, -smaller, unused


def guarded(a, b):
    """A choice by the operand; a quotient may warn where it is not chosen."""
    return b / a if a > 0.0 else 0.5


def primitive(rule: Any) -> Primitive:
    return Primitive("made", "made", None, "elementwise", lambda *t: t[0], rule)


@pytest.mark.parametrize(("k", "needs"), [(0, {"b"}), (1, {"b", "y"}), (2, {"a", "b"})])
def test_a_partial_needs_only_its_own_slice(k: int, needs: set[str]) -> None:
    assert read_rule(ratio).elements[k].needed == needs


def quoted(
    rule: Any, k: int, a: Type = FLOAT, b: Type = FLOAT
) -> tuple[str, list[Any]]:
    """A partial as core, and the positions of the operands that were asked for."""
    builder, asked = Builder(folds=True), []
    operands, y = [Value("u", a), Value("v", b)], Value("y", FLOAT)

    def operand(position: int) -> Value:
        asked.append(position)
        return operands[position]

    def result() -> Value:
        asked.append("y")
        return y

    by = Rules(builder).partial(primitive(rule), k, operand, result)
    f = Function("f", [*operands, y], builder.block, [by])
    return notation(f), asked


def dedent(text: str) -> str:
    return textwrap.dedent(text).strip()


def test_a_partial_as_core() -> None:
    text, asked = quoted(ratio, 1)
    assert asked == [1, "y"]
    assert text == dedent(
        """
        def f(u: float, v: float, y: float):
            scale = multiply v, v
            smaller = divide y, scale
            difference = negative smaller
            return difference
        """
    )


def test_a_partial_that_needs_less() -> None:
    text, asked = quoted(ratio, 0)
    assert asked == [1]
    assert "multiply" not in text and "divide 1.0, v" in text


def test_a_choice_by_a_number_is_a_branch() -> None:
    """And it is called by what the partial is taken by."""
    text, _ = quoted(guarded, 0)
    assert text == dedent(
        """
        def f(u: float, v: float, y: float):
            u_is_positive = gt u, 0.0
            cell by_u
            if u_is_positive:
                quotient = divide v, u
                store by_u, quotient
            else:
                store by_u, 0.5
            by_u_1 = load by_u
            return by_u_1
        """
    )


def test_a_choice_by_elements_is_taken_quietly() -> None:
    builder = Builder(folds=True)
    u, v = Value("u", ARRAY), Value("v", ARRAY)
    Rules(builder).partial(primitive(guarded), 0, lambda k: (u, v)[k], lambda: u)
    assert [(s.primitive.name, s.quiet) for s in builder.block] == [
        ("gt", False),
        ("divide", True),
        ("where", False),
    ]
    assert not builder.quiet


def test_a_rule_keeps_the_line_of_the_user() -> None:
    builder = Builder(folds=True)
    builder.where = where = object()
    u = Value("u", FLOAT)
    Rules(builder).partial(primitive(ratio), 1, lambda k: u, lambda: u)
    assert {s.where for s in builder.block} == {where}


SPELLED = [
    (np.sin, FLOAT, "math.cos"),
    (np.sin, array("float64", (3,)), "np.cos"),
    (np.exp, FLOAT, None),
]


@pytest.mark.parametrize(("function", "type", "spelling"), SPELLED)
def test_numbers_of_python_take_pythons_functions(
    function: Any, type: Type, spelling: str | None
) -> None:
    builder = Builder(folds=True)
    u, y = Value("u", type), Value("y", type)
    by = Rules(builder).partial(row(function, 1), 0, lambda k: u, lambda: y)
    if spelling is None:
        assert by is y and not builder.block
    else:
        assert builder.block[-1].primitive.spelling == spelling


def test_a_transpose() -> None:
    builder = Builder(folds=True)
    z_bar = Value("z_bar", COMPLEX)
    conjugate = row(np.conjugate, 1)
    assert conjugate.rule is not None
    template = conjugate.template(None)
    extra = {"y_bar": lambda: z_bar}
    Rules(builder).signed(conjugate.rule, 0, template, NOT_ASKED, extra)
    assert [s.primitive.spelling for s in builder.block] == ["np.conjugate"]


@pytest.mark.parametrize(("type", "count"), [(COMPLEX, 1), (FLOAT, 0), (ARRAY, 0)])
def test_the_real_part(type: Type, count: int) -> None:
    builder = Builder(folds=True)
    real_part(builder, Value("z", type))
    assert len(builder.block) == count
