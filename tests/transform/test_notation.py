"""Core as text: every statement has a line, every thing a name of its own."""

import textwrap

import pytest
from written import written

from gradwright.transform.build import constant
from gradwright.transform.core import (
    Assert,
    At,
    Buffer,
    Call,
    Function,
    Load,
    NewAxis,
    Span,
    Statement,
    Store,
    Value,
    Whole,
)
from gradwright.transform.indices import Dim, Linear, linear, symbol
from gradwright.transform.notation import notation
from gradwright.transform.types import FLOAT, INT, array

ALL_KINDS = """
def f(x: float, n: int):
    cell s
    store s, 0.0
    tape saved
    for k in range(0, n, 1):
        v = load s
        w = multiply v, x
        push saved, v
        add s, w
        big = gt w, 100.0
        if big:
            effect print w
            break
        else:
            raise ValueError w
    while:
        head = load s
        small = lt head, 1.0
    test small:
        add s, 1.0
    for j in reversed(range(0, n, 1)):
        back = pop saved
        add s, back
    end = load s
    return end
"""


def test_every_statement_has_its_line() -> None:
    """What is read back from the text has the same text."""
    text = textwrap.dedent(ALL_KINDS).strip()
    assert notation(written(text)) == text


n, k = Value("n", INT), Value("k", INT)
xs = Value("xs", array("float64", (symbol(n), 3)))
y = Value("y", FLOAT)
grid = Buffer("grid", xs.type, xs)
helper = Function("helper", [y], [], [y])

LINES: list[tuple[Statement, str]] = [
    (Load(y, xs, (At(symbol(k) - 1), At(linear(0)))), "y = load xs[k - 1, 0]"),
    (Load(xs, xs, (Span(None, linear(-1), None),)), "xs = load xs[:-1:]"),
    (Load(xs, xs, (Whole(), NewAxis())), "xs = load xs[..., None]"),
    (Store(grid, y, (At(symbol(k)),), accumulate=True), "add grid[k], y"),
    (Call((y,), helper, (y,)), "y = call helper y"),
    (Call((), helper, (y,)), " = call helper y"),
    (Assert(y, [], None), "assert y"),
]


@pytest.mark.parametrize(("s", "line"), LINES)
def test_line(s: Statement, line: str) -> None:
    function = Function("f", [], [s], [])
    assert notation(function).splitlines()[-2].strip() == line.strip()


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (linear(-3), "-3"),
        (symbol(n) - symbol(k) * 2 + 1, "n - 2 * k + 1"),
        (-symbol(n), "-n"),
        (symbol(Dim(xs, 1)) - 2, "xs.shape[1] - 2"),
    ],
)
def test_linear_forms(form: Linear, text: str) -> None:
    assert notation(Function("f", [], [], [form])).endswith(f"return {text}")


def test_things_of_one_name_are_told_apart() -> None:
    a, b = Value("a", FLOAT), Value("a", FLOAT)
    shown = notation(Function("f", [a, b], [], [b, a, constant(0.5)]))
    assert shown == "def f(a: float, a_1: float):\n    return a_1, a, 0.5"


def test_callees_stand_first() -> None:
    shown = notation(Function("f", [], [Call((y,), helper, (y,))], [y]))
    assert shown.startswith("def helper(y: float):\n    return y\n\ndef f():")
