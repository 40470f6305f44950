"""Core programs written as text, in the notation in which `stages` shows them.

    def f(x: float, n: int):
        cell s
        store s, 0.0
        for k in range(0, n, 1):
            y = multiply x, 2.0
            add s, y
        end = load s
        return end

Names are declared by the header, by `cell` and `tape`, and by the statements that
define them.  A line that ends in `# user` is one of the user's own program; the others
are the derivative's.  Floats only, beside ints in the header and in bounds.
"""

import ast
import re
import textwrap
from typing import Any

from gradwright.transform.build import constant
from gradwright.transform.core import (
    Alloc,
    At,
    Break,
    Cell,
    Effect,
    For,
    Function,
    If,
    Let,
    Load,
    Pop,
    Push,
    Raise,
    Statement,
    Store,
    Tape,
    Value,
    While,
    type_of,
)
from gradwright.transform.indices import symbol
from gradwright.transform.primitives import load_rows
from gradwright.transform.primitives.record import TABLE, Primitive
from gradwright.transform.types import BOOL, FLOAT, INT, array

TYPES = {"float": FLOAT, "int": INT, "bool": BOOL, "array": array("float64", (7,))}


def written(text: str) -> Function:
    """The function that the text says."""
    load_rows()
    return _Reader(textwrap.dedent(text).strip().splitlines()).function()


def indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


class _Reader:
    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.names: dict[str, Any] = {}

    def function(self) -> Function:
        head = re.fullmatch(r"def (\w+)\((.*)\):", self.lines.pop(0))
        assert head is not None
        params = []
        for name, kind in re.findall(r"(\w+): (\w+)", head[2]):
            made = Tape(name, FLOAT) if kind == "tape" else Value(name, TYPES[kind])
            self.names[name] = made
            params.append(made)
        body = self.block(4)
        results = self.lines.pop(0).split("return ")[1]
        return Function(head[1], params, body, self.operands(results))

    def block(self, depth: int) -> list[Statement]:
        found: list[Statement] = []
        while self.lines and indentation(self.lines[0]) == depth:
            line, _, mark = self.lines[0].strip().partition("  # ")
            if line.startswith("return"):
                break
            self.lines.pop(0)
            s = self.statement(line, depth)
            s.adjoint = mark != "user"
            found.append(s)
        return found

    def statement(self, line: str, depth: int) -> Statement:
        word, _, rest = line.partition(" ")
        match word:
            case "break":
                return Break()
            case "cell" | "tape":
                made = self.names[rest] = (Cell if word == "cell" else Tape)(
                    rest, FLOAT
                )
                return Alloc(made)
            case "store" | "add":
                place, operand = self.operands(rest)
                return Store(place, operand, accumulate=word == "add")
            case "push":
                return Push(*self.operands(rest))
            case "raise":
                return Raise(ValueError, self.behind("ValueError", rest))
            case "effect":
                return Effect(print, self.behind("print", rest))
            case "if":
                return self.branch(rest, depth)
            case "while:":
                header = self.block(depth + 4)
                tested = (
                    self.lines.pop(0).strip().removeprefix("test ").removesuffix(":")
                )
                return While(header, self.names[tested], self.block(depth + 4))
            case "for":
                return self.loop(rest, depth)
        name, _, right = line.partition(" = ")
        return self.definition(name, right)

    def branch(self, rest: str, depth: int) -> If:
        then = self.block(depth + 4)
        orelse: list[Statement] = []
        if self.lines and self.lines[0] == " " * depth + "else:":
            self.lines.pop(0)
            orelse = self.block(depth + 4)
        return If(self.names[rest.removesuffix(":")], then, orelse)

    def loop(self, rest: str, depth: int) -> For:
        found = re.fullmatch(r"(\w+) in (?:reversed\()?range\((.*?)\)\)?:", rest)
        assert found is not None, rest
        symbol_ = self.names[found[1]] = Value(found[1], INT)
        bounds = self.operands(found[2])
        return For(symbol_, *bounds, self.block(depth + 4), "reversed" in rest)

    def definition(self, name: str, right: str) -> Statement:
        word, _, rest = right.partition(" ")
        if word in ("load", "pop"):
            source, _, index = rest.rstrip("]").partition("[")
            out = self.names[name] = Value(name, FLOAT)
            found = self.names[source]
            if word == "pop":
                return Pop(out, found)
            return Load(out, found, (At(self.operand(index)),) if index else ())
        operands = tuple(self.operands(rest))
        p = row(word, len(operands))
        self.names[name] = Value(name, p.type_rule(*map(type_of, operands)))
        return Let(self.names[name], p, operands)

    def operands(self, text: str) -> list[Any]:
        return [self.operand(part) for part in text.split(", ") if part]

    def behind(self, word: str, text: str) -> tuple[Any, ...]:
        """The operands behind the one callable that stands here."""
        assert text.startswith(word), text
        return tuple(self.operands(text.removeprefix(word).strip()))

    def operand(self, text: str) -> Any:
        if text not in self.names:
            return constant(ast.literal_eval(text))
        found = self.names[text]
        is_int = isinstance(found, Value) and found.type == INT
        return symbol(found) if is_int else found


def row(name: str, arity: int) -> Primitive:
    """The first row of this name: the operator, or the function of math."""
    rows = [
        p for (_, n), p in TABLE.rows.items() if p.name == name and n in (arity, None)
    ]
    assert rows, f"no row is called {name}"
    return next((p for p in rows if p.is_operator), rows[0])
