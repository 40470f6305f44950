"""Values that are used where their definition does not stand above."""

import operator

from loop_core import let

from gradwright.backends.machine.escaping import escaping
from gradwright.transform.core import Function, If, Let, Value
from gradwright.transform.indices import symbol
from gradwright.transform.types import BOOL, INT

c, n = Value("c", BOOL), Value("n", INT)


def square() -> Let:
    return let(operator.mul, symbol(n), symbol(n))


def test_what_a_later_branch_uses_escapes() -> None:
    first = square()
    later = let(operator.add, symbol(first.out), symbol(n))
    f = Function("f", [c, n], [If(c, [first], []), If(c, [later], [])], [])
    assert escaping(f) == {first.out}


def test_what_is_used_below_does_not() -> None:
    first = square()
    later = let(operator.add, symbol(first.out), symbol(n))
    f = Function("f", [c, n], [first, If(c, [later], [])], [symbol(first.out)])
    assert not escaping(f)


def test_a_result_of_a_branch_escapes() -> None:
    first = square()
    f = Function("f", [c, n], [If(c, [first], [])], [symbol(first.out)])
    assert escaping(f) == {first.out}
