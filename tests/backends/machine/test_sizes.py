"""Sizes that are known before a kernel runs, as Python."""

import operator

import pytest
from loop_core import array_of, let

from gradwright.backends.machine.sizes import Sizes, text
from gradwright.transform.core import Function, Value
from gradwright.transform.indices import Dim, linear, symbol
from gradwright.transform.types import INT

n, m = Value("n", INT), Value("m", INT)
x = array_of("x", 2)
half = let(operator.floordiv, symbol(n), linear(2))
area = let(operator.mul, symbol(n), symbol(m))
late = let(operator.floordiv, symbol(n), symbol(m))
F = Function("f", [n, m, x], [half, area, late], [])
KNOWN = [
    (linear(3), "3"),
    (symbol(n), "(1 * n + 0)"),
    (symbol(Dim(x, 1)) * 2 - 1, "(2 * x.shape[1] + -1)"),
    (symbol(half.out) + 1, "(1 * ((1 * n + 0) // 2) + 1)"),
    (symbol(area.out), "(1 * ((1 * n + 0) * (1 * m + 0)) + 0)"),
]


@pytest.mark.parametrize(("form", "wanted"), KNOWN, ids=lambda v: str(v))
def test_known(form: object, wanted: str) -> None:
    size = Sizes(F).of(form)
    assert size is not None
    assert text(size, ["n", "m", "x"]) == wanted


@pytest.mark.parametrize("form", [symbol(late.out), symbol(Value("k", INT))])
def test_unknown(form: object) -> None:
    assert Sizes(F).of(form) is None
