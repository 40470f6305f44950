"""Outline: long statements taken apart, and what must not be."""

import ast
from typing import Any

import pytest

from gradwright.transform.core import (
    Call,
    Cell,
    Function,
    Let,
    Pop,
    Statement,
    Tape,
    Value,
)
from gradwright.transform.layout import WIDTH, head_of
from gradwright.transform.outline import held, if_statement, is_chain, outline, put_back
from gradwright.transform.primitives.structural import NAMED
from gradwright.transform.spelling import name_of
from gradwright.transform.types import FLOAT, Type

LET = Let(Value("v", FLOAT), NAMED, ())


def marked(text: str, s: Statement = LET, **names: str) -> list[ast.stmt]:
    """The statement, whose parts of these texts are values of these names."""
    body = ast.parse(text).body
    for node in list(ast.walk(body[0])):
        for name, part in names.items():
            if isinstance(node, ast.expr) and ast.unparse(node) == part:
                held(node, Value(name, FLOAT), s)
    return body


def outlined(body: list[ast.stmt]) -> list[str]:
    """The block after outlining, until nothing is too long or can be named."""
    while True:
        long = [(body, s, len(head_of(s))) for s in body if len(head_of(s)) > WIDTH]
        if not outline(long, set()):
            return [head_of(s) for s in body]


A = " * ".join(f"a_long_name_{k}" for k in range(4))
B = " * ".join(f"another_name_{k}" for k in range(4))


def test_the_widest_part_that_fits_is_named() -> None:
    body = marked(f"x = {A} + {B}", product=A)
    assert outlined(body) == [f"product = {A}", f"x = product + {B}"]


def test_a_cotangent_s_name_is_worth_more() -> None:
    body = marked(f"x = f({A}) + g({B})", a_bar=A, product=B)
    assert outlined(body)[0] == f"a_bar = {A}"


def test_a_name_that_proves_needless_goes() -> None:
    body = marked(f"x = f({A}) + g({B})", a_bar=A, product=B)
    assert len(outlined(body)) == 2
    body[1].value.right = ast.Name("b")  # type: ignore[attr-defined]
    assert put_back(body)
    assert [head_of(s) for s in body] == [f"x = f({A}) + b"]
    assert not put_back(body)


def test_what_is_put_back_has_its_brackets() -> None:
    body = marked(f"x = ({A}).real + g({B})", a_bar=A, product=B)
    assert len(outlined(body)) == 2
    body[1].value.right = ast.Name("b")  # type: ignore[attr-defined]
    assert put_back(body)
    assert [head_of(s) for s in body] == [f"x = ({A}).real + b"]


def test_a_name_that_is_needed_stays() -> None:
    body = marked(f"x = f({A}) + g({B})", a_bar=A, product=B)
    outlined(body)
    assert not put_back(body) and len(body) == 2


def test_what_stands_elsewhere_too_is_not_to_be_repeated() -> None:
    body = marked(f"x = {A} + {B}")
    part: Any = body[0].value.left  # type: ignore[attr-defined]
    v = Value("product", FLOAT)
    held(part, v, LET, repeated=True)
    named: set[Value] = set()
    assert outline([(body, body[0], len(head_of(body[0])))], named)
    assert named == {v} and len(body) == 1


def test_in_a_branch_nothing_can_be_named() -> None:
    body = marked(f"return_ = [({A} if c else {B})]", product=A)
    assert len(outlined(body)) == 1


def test_a_conditional_expression_becomes_statements() -> None:
    body = marked(f"x = {A} if c else {B}")
    names: list[Any] = [n for n in ast.walk(body[0]) if isinstance(n, ast.Name)]
    for n in names:
        n.thing = Value(n.id, FLOAT)
    body[0].targets = [name_of(Value("x", FLOAT), True)]  # type: ignore[attr-defined]
    outlined(body)
    assert (
        ast.unparse(ast.fix_missing_locations(body[0]))
        == f"if c:\n    x = {A}\nelse:\n    x = {B}"
    )


@pytest.mark.parametrize("kind", ["pop", "call"])
def test_what_acts_stays_in_its_place(kind: str) -> None:
    s: Statement = Pop(Value("v", FLOAT), Tape("t", Type("tape")))
    if kind == "call":
        s = Call((), Function("f", [], [], []), ())
    body = marked(f"x = f({A}) + g({B})", s, first=f"f({A})", second=f"g({B})")
    assert len(outlined(body)) == 1


def test_chains() -> None:
    tree = ast.parse("a if b else c if d else e", mode="eval").body
    assert is_chain(tree)
    assert not is_chain(ast.parse("a if b else c", mode="eval").body)
    made = if_statement(Cell("x", FLOAT), tree)
    assert (
        ast.unparse(ast.fix_missing_locations(made))
        == "if b:\n    x = a\nelse:\n    x = c if d else e"
    )
