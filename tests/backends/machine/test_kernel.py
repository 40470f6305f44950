"""The kernel: which arrays the driver gives, and which are workspace."""

from loop_core import buffer, doubled, growing, triangle, whole

from gradwright.backends.machine.kernel import given, origin, translated, workspace
from gradwright.transform.core import Alloc, Function, If, Value
from gradwright.transform.indices import symbol
from gradwright.transform.types import BOOL, INT


def test_results_of_known_size_are_given() -> None:
    f = doubled()
    (out,) = given(f).values()
    assert origin(f, f.results[0]) is out and not workspace(f)


def test_what_grows_is_not() -> None:
    assert not given(growing()) and not workspace(growing())
    assert not workspace(triangle())


def test_what_a_branch_needs_is_not_made_ahead() -> None:
    n, test = Value("n", INT), Value("test", BOOL)
    a, b = buffer("a", symbol(n)), buffer("b", symbol(n))
    f = Function("f", [n, test], [Alloc(a), If(test, [Alloc(b)], [])], [])
    assert workspace(f) == [a]


def test_a_buffer_that_begins_twice_is_not_given() -> None:
    n = Value("n", INT)
    a = buffer("a", symbol(n))
    load, v = whole(a)
    assert given(Function("f", [n], [Alloc(a), load], [v]))
    assert not given(Function("f", [n], [Alloc(a), Alloc(a), load], [v]))


def test_every_buffer_has_a_scope_of_its_own() -> None:
    text = str(translated(doubled(), ("C",)).module)
    assert text.count("!alias.scope") >= 2 and text.count("!noalias") >= 2
