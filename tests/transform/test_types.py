"""Types of results are those that Python and NumPy give; joins are written down."""

import numpy as np
import pytest

from gradwright.transform.indices import Linear, linear, symbol
from gradwright.transform.types import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    MIXED,
    NONE,
    TEXT,
    VARYING,
    Type,
    array,
    broadcast,
    join,
    numpy_scalar,
    of_number,
    promote,
)

SINGLE, DOUBLE = numpy_scalar("float32"), numpy_scalar("float64")
N = symbol("n")

NUMBERS = [
    True, 2, 0.5, 1j,
    np.bool_(True), np.int8(1), np.int64(2), np.float32(0.5), np.float64(0.5),
    np.complex64(1), np.complex128(1),
]  # fmt: skip


def known(number: object) -> Type:
    found = of_number(number)
    assert found is not None
    return found


@pytest.mark.parametrize("a", NUMBERS)
@pytest.mark.parametrize("b", [n for n in NUMBERS if isinstance(n, np.generic)])
def test_promotion_is_that_of_arrays(a: object, b: np.generic) -> None:
    product = a * np.ones(1, b.dtype)  # type: ignore[operator]
    assert promote(known(a), known(b)) == numpy_scalar(product.dtype)


@pytest.mark.parametrize(
    ("operands", "result"),
    [
        ((INT, FLOAT), FLOAT),
        ((FLOAT, COMPLEX), COMPLEX),
        ((FLOAT, SINGLE), SINGLE),
        ((DOUBLE, SINGLE), DOUBLE),
        ((COMPLEX, SINGLE), numpy_scalar("complex64")),
        ((INT, numpy_scalar("int8")), numpy_scalar("int8")),
        ((numpy_scalar("int64"), SINGLE), DOUBLE),
        ((BOOL, INT), INT),
    ],
)
def test_promote(operands: tuple[Type, ...], result: Type) -> None:
    assert promote(*operands) == result
    assert promote(*reversed(operands)) == result


@pytest.mark.parametrize("number", NUMBERS)
def test_of_number(number: object) -> None:
    found = known(number)
    assert found.python == (type(number) in (bool, int, float, complex))
    assert found.is_complex == isinstance(number, complex | np.complexfloating)
    assert found.is_bool == isinstance(number, bool | np.bool_)
    assert found.is_inexact == isinstance(number, float | complex | np.inexact)


@pytest.mark.parametrize(
    "other", [None, [1.0], np.zeros(2), np.datetime64(0, "s"), max]
)
def test_no_number(other: object) -> None:
    assert of_number(other) is None


JOINS = [
    (FLOAT, FLOAT, FLOAT),
    (INT, FLOAT, FLOAT),
    (BOOL, INT, INT),
    (FLOAT, SINGLE, SINGLE),
    (FLOAT, numpy_scalar("int64"), DOUBLE),
    (NONE, FLOAT, Type("float", python=True, optional=True)),
    (INT, Type("float", python=True, optional=True),
     Type("float", python=True, optional=True)),
    (array("float64", (N,)), array("float64", (N,)), array("float64", (N,))),
    (array("float64", (N, 2)), array("float64", (N + 1, 2)),
     array("float64", (VARYING, 2))),
    (FLOAT, array("float64", (N, 2)), array("float64", (MIXED, MIXED))),
    (array("float64", (MIXED,)), array("float64", (N,)), array("float64", (MIXED,))),
    (array("float64", (VARYING,)), array("float64", (MIXED,)),
     array("float64", (MIXED,))),
]  # fmt: skip

NO_JOINS = [
    (FLOAT, TEXT),
    (NONE, array("float64", (N,))),
    (TEXT, array("float64", (N,))),
    (array("float64", (N,)), array("float32", (N,))),
    (array("float64", (N,)), array("float64", (N, N))),
]


@pytest.mark.parametrize(("a", "b", "joined"), JOINS)
def test_join(a: Type, b: Type, joined: Type) -> None:
    assert join(a, b) == joined
    assert join(b, a) == joined


@pytest.mark.parametrize(("a", "b"), NO_JOINS)
def test_no_join(a: Type, b: Type) -> None:
    assert join(a, b) is None
    assert join(b, a) is None


@pytest.mark.parametrize(
    ("dims", "result"),
    [
        (((N,), (1,)), (N,)),
        (((1, N), (3, 1)), (linear(3), N)),
        (((N,), (2, N)), (linear(2), N)),
        (((N,), None), (N,)),
        (((1,), (1,)), (linear(1),)),
        ((None, None), None),
        (((), None), ()),
    ],
)
def test_broadcast(
    dims: tuple[tuple[int, ...] | None, ...], result: tuple[Linear, ...] | None
) -> None:
    types = [FLOAT if d is None else array("float64", d) for d in dims]
    assert broadcast(*types) == result


@pytest.mark.parametrize(
    ("t", "text"),
    [
        (FLOAT, "float"),
        (SINGLE, "np.float32"),
        (array("int64", (N, 2)), "array of int64 with 2 axes"),
        (Type("float", python=True, optional=True), "float or None"),
    ],
)
def test_types_are_named_in_messages(t: Type, text: str) -> None:
    assert str(t) == text
