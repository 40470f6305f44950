"""What is known of ints: bounds of loop variables, equal lengths, what differs."""

from gradwright.transform.core import Value
from gradwright.transform.indices import Dim, linear, symbol
from gradwright.transform.lowering.forms import Forms
from gradwright.transform.types import FLOAT, INT

X, Y = Value("x", FLOAT), Value("y", FLOAT)
N, M = symbol(Dim(X, 0)), symbol(Dim(Y, 0))
ROW, COLUMN = Value("i", INT), Value("j", INT)


def test_lengths_are_never_negative() -> None:
    forms = Forms()
    assert forms.is_natural(N)
    assert forms.is_natural(N + M * 2)
    assert not forms.is_natural(N - 1)
    assert not forms.is_natural(N - M)
    assert not forms.is_natural(symbol(ROW))


def test_what_is_checked_at_the_entry_is_known() -> None:
    forms = Forms(equal=[(N, M)], natural=[N - 2])
    assert forms.are_equal(N, M)
    assert forms.is_natural(M - 2)
    assert not forms.is_natural(M - 3)


def test_places_in_loops() -> None:
    forms = Forms()
    forms.bounds[ROW] = (linear(1), N - 2)
    forms.bounds[COLUMN] = (symbol(ROW), N - 1)
    assert forms.is_within(symbol(ROW) - 1, N)
    assert forms.is_within(symbol(ROW) + 1, N)
    assert not forms.is_within(symbol(ROW) + 2, N)
    assert forms.is_within(symbol(COLUMN) - 1, N)
    assert forms.is_natural(symbol(COLUMN) - symbol(ROW))


def test_the_least_and_the_greatest() -> None:
    forms = Forms()
    forms.bounds[ROW] = (linear(0), N - 1)
    assert forms.extreme(N - symbol(ROW), True) == N
    assert forms.extreme(N - symbol(ROW), False) == linear(1)


def test_a_length_of_an_argument_that_is_a_symbol_is_not_one() -> None:
    forms = Forms()
    forms.lengths.add(Dim(X, 0))
    assert forms.differ(N, linear(1))
    assert not forms.differ(N, linear(0))
    assert not forms.differ(M, linear(1))
    assert forms.differ(N, N + 1)
