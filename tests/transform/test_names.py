"""Names: which things share one, and which clean name goes to whom."""

import ast
import textwrap
from typing import Any

import pytest

from gradwright.transform.core import Cell, Tape, Value
from gradwright.transform.layout import shown, text_of
from gradwright.transform.names import free, settle, spell
from gradwright.transform.spelling import name_of
from gradwright.transform.types import FLOAT, Type


def thing(text: str) -> Any:
    """`x` is the user's, `x.1` a second x of the user's, `our.p` is one of ours."""
    if text.startswith("our."):
        return Value(text.split(".")[1].removesuffix("_second"), FLOAT)
    if text.startswith("tape."):
        return Tape(text.split(".")[1], Type("tape"))
    if text.startswith("cell."):
        return Cell(text.split(".")[1], FLOAT)
    return Value(text.split(".")[0], FLOAT, users=True)


class Things(ast.NodeTransformer):
    """Puts things into a tree of plain names, the same one for the same text."""

    def __init__(self) -> None:
        self.known: dict[str, Any] = {}

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._of(node.id, isinstance(node.ctx, ast.Store))

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return self._of(ast.unparse(node), isinstance(node.ctx, ast.Store))

    def _of(self, text: str, store: bool) -> ast.expr:
        if text == "range":
            return ast.Name(text)
        self.known.setdefault(text, thing(text.replace("_second", ".1")))
        return name_of(self.known[text], store)


def settled(text: str) -> str:
    """The program with its names settled; `params:` names the parameters."""
    first, _, rest = textwrap.dedent(text).strip().partition("\n")
    things = Things()
    params = [things._of(p, True).thing for p in first.split()]  # type: ignore[attr-defined]
    body = [things.visit(s) for s in ast.parse(rest).body]
    settle(body, params, {"range"})
    return "\n".join(text_of(s) for s in shown(body))


CASES = {
    "a value becomes the cell that it is stored into": (
        """
        x
        our.p = x
        cell.y = our.p
        return_ = cell.y
        """,
        "y = x\nreturn_ = y",
    ),
    "but not while the cell is needed": (
        """
        cell.y
        our.p = cell.y + 1
        use = cell.y
        cell.y = our.p
        end = cell.y + our.p + use
        """,
        "p = y + 1\nuse = y\ny = p\nend = y + p + use",
    ),
    "ours never share a name": (
        """
        x
        our.p = x
        a = our.p
        our.p_second = x
        b = our.p_second
        end = a + b
        """,
        "a = x\nb = x\nend = a + b",
    ),
    "the user's name goes to the user": (
        """
        x
        our.total = x + 1
        total = our.total * our.total
        end = total
        """,
        "total_1 = x + 1\ntotal = total_1 * total_1\nend = total",
    ),
    "two of one name share it one after the other": (
        """
        x
        our.x_bar = x + 1
        our.x_bar_second = our.x_bar + 2
        end = our.x_bar_second + 3
        """,
        "x_bar = x + 1\nx_bar = x_bar + 2\nend = x_bar + 3",
    ),
    "a parameter's name is free once it is not needed": (
        """
        x
        x_second = x + 1
        end = x_second
        """,
        "x = x + 1\nend = x",
    ),
    "and not before": (
        """
        x
        x_second = x + 1
        end = x_second + x
        """,
        "x_1 = x + 1\nend = x_1 + x",
    ),
}


@pytest.mark.parametrize(("program", "text"), CASES.values(), ids=CASES)
def test_settle(program: str, text: str) -> None:
    assert settled(program) == text


def test_what_a_loop_needs_again_keeps_its_name() -> None:
    program = """
        x
        for i in range(3):
            x_second = x + i
            use = x_second
        """
    body = textwrap.dedent(program).strip().partition("\n")[2]
    things = Things()
    x = things._of("x", True).thing  # type: ignore[attr-defined]
    (loop,) = (things.visit(s) for s in ast.parse(body).body)
    settle([loop], [x], {"range"})
    assert [text_of(s) for s in loop.body] == ["x_1 = x + i", "use = x_1"]


@pytest.mark.parametrize(
    ("name", "spelled"),
    [("x", "x"), ("a.b", "a_b"), ("<lambda>", "_lambda_"), ("1", "v1")],
)
def test_spell(name: str, spelled: str) -> None:
    assert spell(name) == spelled


def test_free() -> None:
    assert free("x", set()) == "x"
    assert free("x", {"x", "x_1"}) == "x_2"
