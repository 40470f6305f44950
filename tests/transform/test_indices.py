"""Linear forms are equal exactly when they are equal as numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradwright.transform.indices import (
    Dim,
    Linear,
    is_length,
    linear,
    multiply,
    symbol,
)

N, K, J = symbol("n"), symbol("k"), symbol("j")

EQUAL = [
    (N - 1 - K, -K + N - 1),
    (N + N, N * 2),
    (N - N, linear(0)),
    ((N + K) * 3 - K * 3, N * 3),
    (N * 0 + 4, linear(4)),
    (symbol(Dim("x", 0)) - 2, symbol(Dim("x", 0)) - 1 - 1),
]

DIFFERENT = [
    (N, K),
    (N, N + 1),
    (N, N * 2),
    (N, linear(0)),
    (symbol(Dim("x", 0)), symbol(Dim("x", 1))),
    (symbol(Dim("x", 0)), symbol(Dim("y", 0))),
]


@pytest.mark.parametrize(("a", "b"), EQUAL)
def test_equal(a: Linear, b: Linear) -> None:
    assert a == b
    assert hash(a) == hash(b)


@pytest.mark.parametrize(("a", "b"), DIFFERENT)
def test_different(a: Linear, b: Linear) -> None:
    assert a != b


def test_a_form_is_no_number() -> None:
    assert linear(3) != 3


@pytest.mark.parametrize(
    ("form", "constant"), [(linear(3), 3), (N - N, 0), (N, None), (N * 0 - 2, -2)]
)
def test_constant(form: Linear, constant: int | None) -> None:
    assert form.constant == constant


def test_symbols_stand_in_the_order_of_the_program() -> None:
    assert list((J + N * 2 - K + J).symbols()) == ["j", "n", "k"]


def test_substitute() -> None:
    values = {"n": K + 1, "k": linear(4)}
    assert (N * 2 - K + 3).substitute(values.__getitem__) == K * 2 + 1


def test_only_products_with_a_constant_are_linear() -> None:
    assert multiply(N + 1, linear(3)) == N * 3 + 3
    assert multiply(linear(0), N) == linear(0)
    assert multiply(N, K) is None


FORMS = st.builds(
    Linear,
    st.dictionaries(st.sampled_from("nkj"), st.integers(-3, 3)),
    st.integers(-5, 5),
)


def value(form: Linear, at: dict[str, int]) -> int:
    return form.offset + sum(c * at[s] for s, c in form.terms.items())


@given(FORMS, FORMS, st.integers(-3, 3))
def test_arithmetic_is_that_of_the_numbers(a: Linear, b: Linear, k: int) -> None:
    for at in ({"n": 7, "k": 2, "j": 5}, {"n": 0, "k": -3, "j": 11}):
        assert value(a + b, at) == value(a, at) + value(b, at)
        assert value(a - b, at) == value(a, at) - value(b, at)
        assert value(a * k, at) == value(a, at) * k
        assert value(-a, at) == -value(a, at)


def test_a_length_is_never_negative() -> None:
    n, m = symbol("n"), symbol("m")
    assert is_length(n + m + 1)
    assert is_length(n * 2)
    assert not is_length(n - 1)
    assert not is_length(n - m)
