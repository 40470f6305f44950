"""Formulas: plain Python as core, of the operands' kinds, made once."""

from gradwright.backends.machine.formulas import core_of
from gradwright.transform.core import type_of
from gradwright.transform.primitives import load_rows
from gradwright.transform.primitives.arithmetic import divisor_of_three
from gradwright.transform.types import INT, numpy_scalar

load_rows()


def test_a_formula_is_made_once_for_each_kind() -> None:
    found = core_of(divisor_of_three, (INT, INT, INT))
    assert core_of(divisor_of_three, (INT, INT, INT)) is found
    kind = numpy_scalar("int64")
    other = core_of(divisor_of_three, (kind, kind, kind))
    assert other is not found and type_of(other.results[0]).dtype == "int64"


def test_operands_left_out_are_the_defaults() -> None:
    assert len(core_of(divisor_of_three, (INT,)).params) == 1
