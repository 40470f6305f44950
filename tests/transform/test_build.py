"""The builder: what is folded, what is shared, and what is left as it was written."""

import math
import operator
from collections.abc import Callable
from typing import Any

import pytest

from gradwright.transform.build import Builder, constant, convert, row
from gradwright.transform.core import Cell, Const, Function, Operand, Value
from gradwright.transform.errors import MissingRule
from gradwright.transform.indices import linear, symbol
from gradwright.transform.notation import notation
from gradwright.transform.primitives import load_rows
from gradwright.transform.types import COMPLEX, FLOAT, INT, array, numpy_scalar

load_rows()

X, Y = Value("x", FLOAT), Value("y", FLOAT)
Z = Value("z", COMPLEX)
K = Value("k", INT)
XS = Value("xs", array("float64", (symbol(K),)))
ONE, TWO, ZERO = constant(1.0), constant(2.0), constant(0.0)


def shown(write: Callable[[Builder], Operand], folds: bool = True) -> str:
    """The statements that were written, and the result, on one line."""
    b = Builder(folds=folds)
    result = write(b)
    text = notation(Function("f", [X, Y, Z, K, XS], b.block, [result]))
    return "; ".join(line.strip() for line in text.splitlines()[1:])


def binary(name: str, a: Operand, c: Operand) -> Callable[[Builder], Operand]:
    return lambda b: b.operator(getattr(operator, name), a, c)


FOLDED = {
    "literals": (binary("mul", TWO, constant(3.0)), "return 6.0"),
    "times one": (binary("mul", X, ONE), "return x"),
    "one times": (binary("mul", ONE, X), "return x"),
    "times zero": (binary("mul", X, ZERO), "return 0.0"),
    "plus zero": (binary("add", X, ZERO), "return x"),
    "zero plus": (binary("add", ZERO, X), "return x"),
    "minus zero": (binary("sub", X, ZERO), "return x"),
    "over one": (binary("truediv", X, ONE), "return x"),
    "to the one": (binary("pow", X, ONE), "return x"),
    "to the zero": (binary("pow", X, ZERO), "return 1.0"),
}

KEPT = {
    "a division by zero raises when it runs": (
        binary("truediv", ONE, ZERO),
        "quotient = divide 1.0, 0.0; return quotient",
    ),
    "zero minus": (
        binary("sub", ZERO, X),
        "difference = subtract 0.0, x; return difference",
    ),
    "zeros of an array's shape": (
        binary("mul", XS, ZERO),
        "product = multiply 0.0, xs; return product",
    ),
    "twice an array": (
        binary("mul", XS, TWO),
        "product = multiply 2.0, xs; return product",
    ),
    "an int times a float is a float": (
        binary("mul", symbol(K), ONE),
        "product = multiply 1.0, k; return product",
    ),
    "a float plus a complex zero is complex": (
        binary("add", X, constant(0j)),
        "total = add x, 0j; return total",
    ),
}


@pytest.mark.parametrize(("write", "text"), FOLDED.values(), ids=FOLDED)
def test_folded(write: Callable[[Builder], Operand], text: str) -> None:
    assert shown(write) == text


@pytest.mark.parametrize(("write", "text"), KEPT.values(), ids=KEPT)
def test_kept(write: Callable[[Builder], Operand], text: str) -> None:
    assert shown(write) == text


@pytest.mark.parametrize("write", [w for w, _ in FOLDED.values()], ids=FOLDED)
def test_the_users_own_arithmetic_is_never_folded(write: Any) -> None:
    assert shown(write, folds=False) != shown(write)


# The result of a negation is called a difference.
SIGNS = {
    "adding a negated term": (
        lambda b: b.add_up(X, b.negate(Y)),
        "difference = negative y; difference_1 = subtract x, y; return difference_1",
    ),
    "twice the same": (
        lambda b: b.add_up(X, X),
        "product = multiply 2.0, x; return product",
    ),
    "minus minus": (
        lambda b: b.negate(b.negate(X)),
        "difference = negative x; return x",
    ),
    "times minus one": (
        lambda b: b.multiply(X, constant(-1.0)),
        "difference = negative x; return difference",
    ),
    "a product of two negated": (
        lambda b: b.multiply(b.negate(X), b.negate(Y)),
        "difference = negative x; difference_1 = negative y; "
        "product = multiply x, y; return product",
    ),
    "times a reciprocal": (
        lambda b: b.multiply(b.operator(operator.truediv, ONE, X), Y),
        "quotient = divide 1.0, x; quotient_1 = divide y, x; return quotient_1",
    ),
}


@pytest.mark.parametrize(("write", "text"), SIGNS.values(), ids=SIGNS)
def test_signs(write: Callable[[Builder], Operand], text: str) -> None:
    assert shown(write) == text


# ---- sharing -----------------------------------------------------------------------


def test_a_derivative_computes_a_thing_once() -> None:
    def write(b: Builder) -> Operand:
        first = b.operator(operator.mul, X, Y)
        assert b.operator(operator.mul, X, Y) is first
        return first

    assert shown(write).count("multiply") == 1


def test_what_a_branch_computed_is_not_known_after_it() -> None:
    b = Builder(folds=True)
    cell = Cell("c", FLOAT)
    with b.nested([]) as branch:
        inside = b.operator(operator.mul, X, Y), b.load(cell)
    outside = b.operator(operator.mul, X, Y), b.load(cell)
    assert len(branch) == len(b.block) == 2
    assert not set(inside) & set(outside)


def test_a_store_ends_what_was_loaded() -> None:
    b = Builder()
    cell = Cell("c", FLOAT)
    before = b.load(cell)
    assert b.load(cell) is before
    b.store(cell, X)
    after = b.load(cell)
    assert after is not before
    b.forget({cell})
    assert b.load(cell) is not after


# ---- literals ----------------------------------------------------------------------


def test_a_python_int_is_a_linear_form() -> None:
    assert constant(3) == linear(3)
    assert constant(True) == Const(True, constant(True).type)  # type: ignore[union-attr]
    assert constant(math.inf, "math.inf").text == "math.inf"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("type_", "result"),
    [
        (FLOAT, constant(3.0)),
        (COMPLEX, constant(3 + 0j)),
        (numpy_scalar("float32"), constant(3.0)),
        (INT, linear(3)),
    ],
)
def test_an_integer_literal_is_written_as_what_is_wanted(
    type_: Any, result: Any
) -> None:
    assert convert(linear(3), type_) == result


def test_only_literals_are_converted() -> None:
    assert convert(symbol(K), FLOAT) == symbol(K)
    assert convert(X, COMPLEX) is X


def test_the_engine_asks_for_rows_that_exist() -> None:
    assert row(operator.add, 2).function is operator.add
    with pytest.raises(MissingRule, match="no row"):
        row(open, 2)
