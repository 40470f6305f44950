"""What lies outside of the language has its name and its advice; names are Python's."""

import ast
import symtable
import textwrap

import gast
import pytest

from gradwright.transform.language import REFUSALS, local_names, parameters, refusal

SAID = [
    ("with a:\n    pass", "a 'with' block"),
    ("try:\n    pass\nexcept E:\n    pass", "a 'try' statement"),
    ("match x:\n    case 1:\n        pass", "a 'match' statement"),
    ("class A:\n    pass", "a class defined inside a function"),
    ("del x", "'del' of a name"),
    ("import math", "an import inside a function"),
    ("from math import pi", "an import inside a function"),
]


@pytest.mark.parametrize(("text", "message"), SAID)
def test_refusals_are_named(text: str, message: str) -> None:
    said, instead = refusal(gast.parse(text).body[0])
    assert said == f"gradwright does not rewrite {message}"
    assert instead


def test_unknown_syntax_is_named_too() -> None:
    assert refusal(gast.parse("(yield)").body[0])[0].endswith("'Expr' syntax")


def test_every_refusal_is_of_a_node() -> None:
    """A misspelt key would never be found."""
    newer = {"Interpolation"}  # Python 3.14
    known = {name for module in (ast, gast) for name in dir(module)}
    assert set(REFUSALS) - newer <= known


NAMES = [
    "def f(a, /, b, *c, d=1, **e): return a",
    "def f(x):\n    y = z = x\n    w.v[0] = y",
    "def f(x):\n    for k, (i, *j) in x:\n        pass\n    else:\n        t = 1",
    "def f(x):\n    if (n := x) > 1:\n        n += 1",
    "def f(x):\n    def g(h):\n        k = h\n    return g",
    "def f(x):\n    class g:\n        k = 1\n    return g",
    "def f(x):\n    return [k for k in x], lambda m: m",
    "def f(x):\n    global g\n    g = 1\n    h: int = 2",
]


@pytest.mark.parametrize("text", NAMES)
def test_local_names_are_those_of_python(text: str) -> None:
    node = gast.parse(textwrap.dedent(text)).body[0]
    (table,) = symtable.symtable(text, "f.py", "exec").get_children()
    # A comprehension's own names are locals of f since Python 3.12 (PEP 709).
    own = {"k"} if "for k in x]" in text else set()
    assert (
        local_names(node)
        == {s.get_name() for s in table.get_symbols() if s.is_local()} - own
    )


def test_parameters_stand_in_order() -> None:
    node = gast.parse("def f(a, /, b, *c, d=1, **e): pass").body[0]
    assert [p.id for p in parameters(node)] == ["a", "b", "d", "c", "e"]
