"""Bounds: which comparisons are known, and that the bounds hold at extreme points."""

import itertools
import math
import operator
from typing import Any

import pytest

from gradwright.transform.bounds import Bounds
from gradwright.transform.build import constant, row
from gradwright.transform.core import Operand, Value
from gradwright.transform.primitives import load_rows
from gradwright.transform.types import FLOAT

load_rows()

EXTREME = (-math.inf, -1e308, -1.0, -5e-324, -0.0, 0.0, 5e-324, 0.5, 2.0, math.inf)
POINTS = (*EXTREME, math.nan)
COMPARISONS = (
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
)  # fmt: skip

# Programs on x and y, a line each: the operation, and its operands.
PROGRAMS: dict[str, list[tuple[Any, ...]]] = {
    "one and a square": [
        (operator.mul, "x", "x"), (operator.add, 1.0, 0), (math.sqrt, 1),
    ],
    "an even power": [(operator.pow, "x", 2.0), (operator.add, 0, 0.25)],
    "an absolute value": [(abs, "x"), (operator.neg, 0)],
    "an exponential": [(math.exp, "x"), (operator.mul, 0, 0), (math.sqrt, 1)],
    "held between two": [(max, "x", 0.0), (min, 0, 1.0), (operator.sub, 1.0, 1)],
    "held, the literal first": [(max, 0.0, "x"), (min, 1.0, 0), (operator.sub, 1.0, 1)],
    "the larger of two squares": [
        (operator.mul, "x", "x"), (operator.add, 2.0, 0), (abs, "y"), (max, 1, 2),
    ],
    "a lesser literal": [
        (operator.mul, "x", "x"), (operator.add, 5.0, 0), (max, 1.0, 1),
    ],
    "a hypotenuse": [(math.hypot, "x", "y"), (operator.truediv, 0, 3.0)],
}  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_what_is_known_is_so(program: list[tuple[Any, ...]]) -> None:
    bounds = Bounds()
    values: dict[Any, Operand] = {n: Value(n, FLOAT) for n in ("x", "y")}
    for k, (f, *operands) in enumerate(program):
        values[k] = out = Value(f"v{k}", FLOAT)
        given = tuple(
            values.get(o, constant(o)) if is_name(o) else constant(o) for o in operands
        )
        bounds.note(out, row(f, len(given)), given)
    last = values[len(program) - 1]
    for compare, c in itertools.product(COMPARISONS, (-1.0, 0.0, 0.5, 1.0)):
        known = bounds.truth(row(compare, 2), (last, constant(c)))
        if known is not None:
            for x, y in itertools.product(POINTS, POINTS):
                found = value_at(program, {"x": x, "y": y})
                assert found is None or compare(found, c) is known, (compare, c, x, y)


def is_name(o: Any) -> bool:
    return isinstance(o, str) or type(o) is int


def value_at(program: list[tuple[Any, ...]], values: dict[Any, float]) -> float | None:
    """What the program computes; None where it raises."""
    for k, (f, *operands) in enumerate(program):
        try:
            values[k] = f(*(values[o] if is_name(o) else o for o in operands))
        except (ArithmeticError, ValueError):
            return None
    return values[len(program) - 1]


def test_guards_that_are_known() -> None:
    bounds = Bounds()
    x, square, total, root = (Value(n, FLOAT) for n in ("x", "square", "total", "root"))
    bounds.note(square, row(operator.pow, 2), (x, constant(2)))
    bounds.note(total, row(operator.add, 2), (constant(1.0), square))
    bounds.note(root, row(math.sqrt, 1), (total,))
    zero = constant(0)
    assert bounds.truth(row(operator.ne, 2), (root, zero)) is True
    assert bounds.truth(row(operator.lt, 2), (square, zero)) is False
    assert bounds.truth(row(operator.ne, 2), (square, zero)) is None
    assert bounds.truth(row(operator.ge, 2), (square, zero)) is None  # not of NaN
