"""Sites: operands in words, and the exceptions that are made of them."""

import operator
from typing import Any

import numpy as np
import pytest

from gradwright.backends.machine import sites
from gradwright.transform.errors import BackendError, Location
from gradwright.transform.primitives import load_rows
from gradwright.transform.primitives.record import TABLE
from gradwright.transform.types import FLOAT, INT, of_number

load_rows()
WHERE = Location("loss.py", 7, 4, 9, "    y = 1 / x", "f")
NUMBERS: list[Any] = [
    True, -3, 2.5, 1 - 2j, np.bool(True), np.int8(-5), np.uint8(250),
    np.uint64(2**64 - 1), np.float32(0.1), np.float64(0.1), np.complex64(1 - 0.5j),
]  # fmt: skip


@pytest.mark.parametrize("x", NUMBERS, ids=repr)
def test_a_number_comes_back_from_words(x: Any) -> None:
    t = of_number(x)
    assert t is not None
    parts = [x.real, x.imag] if t.is_complex else [x]
    kind = np.dtype(type(parts[0])) if not t.python else None
    words = np.zeros(len(parts), np.int64)
    for k, part in enumerate(parts):
        held = np.array([part], kind).tobytes()
        if t.is_integer or t.is_bool:
            held = np.array([part], np.uint64 if part > 2**62 else np.int64).tobytes()
        words[k] = int.from_bytes(held[:8].ljust(8, b"\0"), "little", signed=True)
    (found,) = sites.operands((t,), words)
    assert found == x and type(found) is type(x)


def row(function: Any) -> Any:
    return TABLE.find(function, 2)


def test_a_row_raises_what_its_callable_raises() -> None:
    e = sites.of_row(row(operator.truediv), FLOAT)([1, 0])
    assert isinstance(e, ZeroDivisionError) and str(e) == "division by zero"


def test_what_raises_nothing_is_refused() -> None:
    e = sites.of_row(row(operator.pow), FLOAT)([-8.0, 1 / 3])
    assert isinstance(e, BackendError) and "complex" in str(e)
    e = sites.of_row(row(operator.pow), INT)([2, -1])
    assert isinstance(e, BackendError) and "0.5" in str(e)
    e = sites.of_row(row(operator.mul), INT)([2**62, 4])
    assert isinstance(e, OverflowError)


def test_the_users_line_is_noted_once() -> None:
    site = sites.Site(WHERE, (), sites.says(ValueError, "no"))
    assert site.raised([]).__notes__ == ["  in f, loss.py:7: y = 1 / x"]


def test_texts_are_formatted_as_python_formats_them() -> None:
    made = sites.of_user(KeyError, [("known",), 0, (("x is ", (0, 114, ">5")), 1)])
    assert made([2, np.float64(0.5)]).args == (
        "known",
        2,
        f"x is {np.float64(0.5)!r:>5}",
    )
