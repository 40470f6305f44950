"""Scalars: registers of each kind, bounds, conversions."""

import pytest

from gradwright.backends.machine.scalars import (
    Refused,
    dtype_of,
    number,
    register_types,
)
from gradwright.transform.types import COMPLEX, FLOAT, INT, TEXT, Type, numpy_scalar


def test_registers() -> None:
    assert [str(t) for t in register_types(COMPLEX)] == ["double", "double"]
    assert [str(t) for t in register_types(Type("float64", optional=True))] == [
        "double",
        "i1",
    ]
    assert [str(t) for t in register_types(numpy_scalar("uint8"))] == ["i8"]


@pytest.mark.parametrize("t", [TEXT, numpy_scalar("g")])
def test_what_has_no_register(t: Type) -> None:
    if t.dtype == "float64":
        pytest.skip("long double is double here")
    with pytest.raises(Refused):
        dtype_of(t)


def test_an_int_knows_its_bounds() -> None:
    x = number(7, INT)
    assert (x.low, x.high) == (7, 7)
    with pytest.raises(Refused):
        number(2**63, INT)
    assert number(2**63, numpy_scalar("uint64")).part.constant == 2**63
    assert number(0.5, FLOAT).part.constant == 0.5
