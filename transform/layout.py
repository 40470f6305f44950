"""Layout: a tree of statements to lines of 88 columns; the one module with astor.

    x_bar = f(first, second)      ->      x_bar = f(
                                              first,
                                              second,
                                          )

astor spells each statement on one line, and what is longer than a line is broken as
black does: at the commas of one pair of brackets, or else at the operators of one
rank.  Over the statements of a derivative stands the user's line.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import astor

from gradwright.transform.errors import Location
from gradwright.transform.spelling import negated

WIDTH = 88
INDENT = 4
CLOSING = {"(": ")", "[": "]", "{": "}"}
# What a line may be broken at, the loosest first; " if " and " else " belong together.
OPERATORS = (
    (" if ", " else "), (" or ",), (" and ",),
    (" in ", " is ", " == ", " != ", " < ", " <= ", " > ", " >= "),
    (" | ",), (" ^ ",), (" & ",), (" << ", " >> "),
    (" + ", " - "), (" * ", " / ", " // ", " % ", " @ "), (" ** ",),
)  # fmt: skip
KEYWORD = re.compile(
    r"(?:def|with|return|assert|raise|if|elif|while) (?=\S)|for .*? in (?=\S)"
)
ASSIGNMENT = re.compile(r" (?:[-+*/%&|^]|//|\*\*|<<|>>)?= ")
# black writes no blanks where both operands are simple
POWER = re.compile(r"(?<![\w.)\]])([A-Za-z_][\w.]*|[\d.]+) \*\* (-?[\w.]+)(?![\w.(\[])")
HEAD = re.compile(r"-?(?:not )?[\w.]*$")


# ---- one statement -----------------------------------------------------------------


def text_of(node: ast.AST) -> str:
    """The text of an expression, of a simple statement or of a compound one's head."""
    if isinstance(node, ast.expr):
        text = unbroken(ast.Expr(node)).strip("\n")
        node.__dict__.pop("_pp", None)  # astor's note of where it stood
    else:
        text = unbroken(node).strip("\n")
    return POWER.sub(r"\1**\2", text) if "**" in text and '"' not in text else text


def unbroken(node: ast.AST) -> str:
    """The text of a tree, each statement on one line."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.ListComp):  # what astor would put into parentheses
            inner.elt._pp = astor.op_util.Precedence.Comma  # type: ignore[attr-defined]
    text: str = astor.to_source(node, pretty_string=_quoted, pretty_source="".join)
    return text


def _quoted(text: str, *_: Any) -> str:
    """A string in double quotes, unless it holds some."""
    shown = repr(text)
    return shown if shown[0] == '"' or '"' in text else f'"{shown[1:-1]}"'


def head_of(s: ast.stmt) -> str:
    """The first line of a statement, however long."""
    match s:
        case ast.If():
            test = s.test if shown(s.body) or not shown(s.orelse) else negated(s.test)
            return text_of(ast.If(test, [], []))
        case ast.While():
            return text_of(ast.While(s.test, [], []))
        case ast.For():
            return text_of(ast.For(s.target, s.iter, [], []))
        case ast.With():
            return text_of(ast.With(s.items, []))
        case ast.FunctionDef():
            return text_of(ast.FunctionDef(s.name, s.args, [], []))
    return text_of(s)


def unparse(tree: ast.AST) -> str:
    """The text of any tree, long lines broken."""
    lines = unbroken(tree).split("\n")
    return "\n".join(piece for line in lines for piece in broken(line))


# ---- a function --------------------------------------------------------------------


@dataclass(eq=False)
class Printed:
    """The lines of a function, where each comes from, and what is too long for one.

    long: the block, the statement and its number of columns.  samples: the first and
    the last line of each loop over samples, and the name of their number.
    """

    lines: list[str] = field(default_factory=list)
    locations: dict[int, Location] = field(default_factory=dict)
    long: list[tuple[list[ast.stmt], ast.stmt, int]] = field(default_factory=list)
    samples: list[tuple[int, int, str]] = field(default_factory=list)


def printed(tree: ast.FunctionDef, commented: bool) -> Printed:
    """A function with its comments."""
    printer = _Printer(commented)
    printer.add(head_of(tree), 0, None)
    printer.block(tree.body, 1, commented and _has_forward(tree.body))
    return printer.out


def _has_forward(body: list[ast.stmt]) -> bool:
    """Whether the derivative's own statements follow others."""
    ours = [
        bool(getattr(s, "adjoint", False))
        for s in shown(body)
        if not isinstance(s, ast.Return)
    ]
    return any(ours) and not ours[0]


class _Printer:
    """Writes statements; `last` is the user's line of the last comment."""

    def __init__(self, commented: bool) -> None:
        self.commented = commented
        self.out = Printed()
        self.last: tuple[str, int] | None = None

    def add(self, text: str, depth: int, where: Location | None) -> None:
        for line in broken(" " * (INDENT * depth) + text):
            self.out.lines.append(line)
            if where is not None:
                self.out.locations[len(self.out.lines)] = where

    def comment(self, text: str, depth: int) -> None:
        line = " " * (INDENT * depth) + "# " + text
        if len(line) > WIDTH:
            line = line[: WIDTH - 4].rstrip() + " ..."
        self.out.lines.append(line)

    def block(self, body: list[ast.stmt], depth: int, sections: bool = False) -> None:
        if sections:
            self.comment("forward sweep", depth)
        for s in shown(body):
            if sections and getattr(s, "adjoint", False):
                self.comment("reverse sweep", depth)
                sections = False
            self.statement(s, body, depth)

    def statement(
        self, s: ast.stmt, body: list[ast.stmt], depth: int, otherwise: bool = False
    ) -> None:
        where: Location | None = getattr(s, "where", None)
        if self.commented and _is_explained(s, where):
            assert where is not None
            if self.last != (where.filename, where.line):
                self.last = where.filename, where.line
                self.comment(f"{where}  {where.text.strip()}", depth)
        text = ("el" if otherwise else "") + head_of(_augmented(s))
        if INDENT * depth + len(text) > WIDTH:
            self.out.long.append((body, s, INDENT * depth + len(text)))
        self.add(text, depth, where)
        if not isinstance(s, ast.If | ast.For | ast.While | ast.With):
            return
        orelse = s.orelse if isinstance(s, ast.If) else []
        if not shown(s.body):
            self.block(orelse if shown(orelse) else [ast.Pass()], depth + 1)
            return
        first = len(self.out.lines)
        self.block(s.body, depth + 1)
        if (sample := getattr(s, "sample", None)) is not None:
            self.out.samples.append((first, len(self.out.lines), sample.id))
        if len(shown(orelse)) == 1 and isinstance(shown(orelse)[0], ast.If):
            self.statement(shown(orelse)[0], orelse, depth, otherwise=True)
        elif shown(orelse):
            self.out.lines.append(" " * (INDENT * depth) + "else:")
            self.block(orelse, depth + 1)


def shown(body: list[ast.stmt]) -> list[ast.stmt]:
    """A block without what says nothing once names are settled, such as `x = x`."""
    return [s for s in body if not _is_idle(s)]


def _is_idle(s: ast.stmt) -> bool:
    match s:
        case ast.Assign(targets=[ast.Name(id=a)], value=ast.Name(id=b)):
            return a == b
        case ast.If(test=ast.Name()):
            return not shown(s.body) and not shown(s.orelse)
    return False


def _is_explained(s: ast.stmt, where: Location | None) -> bool:
    if where is None or isinstance(s, ast.For | ast.While | ast.If | ast.Return):
        return False
    return bool(getattr(s, "adjoint", False))


def _augmented(s: ast.stmt) -> ast.stmt:
    """`x = x + e` as `x += e`, where x is a number."""
    match s:
        case ast.Assign(targets=[ast.Name() as x], value=ast.BinOp() as value):
            pass
        case _:
            return s
    first, terms = value.left, [(value.op, value.right)]
    while getattr(value, "ours", False) and isinstance(first, ast.BinOp):
        terms.insert(0, (first.op, first.right))
        value, first = first, first.left
    if not isinstance(first, ast.Name) or first.id != x.id or x.thing.type.is_array:  # type: ignore[attr-defined]
        return s
    if len(terms) == 1 and isinstance(value.op, ast.Add | ast.Sub | ast.Mult | ast.Div):
        return ast.AugAssign(x, value.op, value.right)
    if not getattr(value, "ours", False) or not all(
        isinstance(op, ast.Add | ast.Sub) for op, _ in terms
    ):
        return s
    (sign, rest), *others = terms
    for op, term in others:  # x - a - b is x -= a + b
        is_added = isinstance(op, ast.Add) == isinstance(sign, ast.Add)
        rest = ast.BinOp(rest, ast.Add() if is_added else ast.Sub(), term)
    return ast.AugAssign(x, sign, rest)


# ---- long lines --------------------------------------------------------------------


def broken(line: str) -> list[str]:
    """A line, as several where it is longer than 88 columns."""
    if len(line) <= WIDTH:
        return [line]
    indent = line[: len(line) - len(line.lstrip())]
    text = line[len(indent) :]
    if text.startswith("#"):
        return [line]
    start = _value_starts(text)
    target, value = text[:start], text[start:]
    if target.endswith("= ") and len(indent) + len(target) > WIDTH - 20:
        names, sign, _ = target.rsplit(" ", 2)
        first = [f"{indent}(", *_inside(names, indent)]
        return [*first, *_wrapped(f"{indent}) {sign} ", value, indent)]
    return _wrapped(indent + target, value, indent)


def _wrapped(start: str, value: str, indent: str) -> list[str]:
    """The end of a statement, broken inside its last brackets or inside new ones."""
    if len(start) + len(value) <= WIDTH:
        return [start + value]
    end = ""
    if value.endswith(":"):
        value, end = value[:-1], ":"
    found = _last_bracket(value)
    if found is not None and HEAD.match(value[: found[0]]):
        head, body, tail = (
            value[: found[0] + 1],
            value[found[0] + 1 : found[1]],
            value[found[1] :],
        )
    else:
        head, body, tail = "(", value, ")"
    return [start + head, *_inside(body, indent), indent + tail + end]


def _value_starts(text: str) -> int:
    """Where the part of a statement begins that may be put into parentheses."""
    if (keyword := KEYWORD.match(text)) is not None:
        return keyword.end()
    depth = _depths(text)
    for sign in ASSIGNMENT.finditer(text):
        if depth[sign.start()] == 0:
            return sign.end()
    return 0


def _inside(body: str, indent: str) -> list[str]:
    """What stands in brackets, on lines of its own."""
    inner = indent + " " * INDENT
    if len(inner) + len(body) <= WIDTH:
        return [inner + body]
    parts = _split(body, (" for ",))  # of a comprehension, which has no items
    if len(parts) > 1:
        return [piece for part in parts for piece in _item(inner + part)]
    items = _split(body, (", ",))
    if len(items) > 1 or body.endswith(","):
        return [
            piece for item in items for piece in _item(inner + item.rstrip(",") + ",")
        ]
    for operators in OPERATORS:
        items = _split(body, operators)
        if len(items) > 1:
            return [piece for item in items for piece in _item(inner + item)]
    return _item(inner + body)


def _item(line: str) -> list[str]:
    """One of several items; a long one is broken at its last brackets."""
    found = _last_bracket(line) if len(line) > WIDTH else None
    if found is None or found[1] - found[0] < INDENT:
        return [line]
    indent = line[: len(line) - len(line.lstrip())]
    first, last = found
    return [
        line[: first + 1],
        *_inside(line[first + 1 : last], indent),
        indent + line[last:],
    ]


def _split(body: str, operators: tuple[str, ...]) -> list[str]:
    """The parts between operators outside brackets, each with its operator in front."""
    depth = _depths(body)
    pattern = re.compile(
        "|".join(map(re.escape, sorted(operators, key=len, reverse=True)))
    )
    cuts = [m for m in pattern.finditer(body) if depth[m.start()] == 0]
    starts = [0, *(m.end() if operators == (", ",) else m.start() + 1 for m in cuts)]
    ends = [*(m.start() for m in cuts), len(body)]
    return [body[a:b].strip() for a, b in zip(starts, ends, strict=True)]


def _last_bracket(text: str) -> tuple[int, int] | None:
    """The last pair of outermost brackets, where nothing but `,` or `.x` follows."""
    pairs = [p for p in _pairs(text) if p[2] == 0]
    if not pairs or re.search(r"[^\w.,]", text[pairs[-1][1] + 1 :]):
        return None
    return pairs[-1][0], pairs[-1][1]


def _pairs(text: str) -> list[tuple[int, int, int]]:
    """Opening, closing and depth of each pair of brackets, in order of the closing."""
    found, stack = [], []
    for k, c in _outside_strings(text):
        if c in CLOSING:
            stack.append(k)
        elif c in ")]}":
            found.append((stack.pop(), k, len(stack)))
    return found


def _depths(text: str) -> list[int]:
    """How many brackets, or quotes, are open before each character."""
    depths, depth = [1] * len(text), 0
    for k, c in _outside_strings(text):
        depths[k] = depth
        depth += (c in CLOSING) - (c in ")]}")
    return depths


def _outside_strings(text: str) -> Iterator[tuple[int, str]]:
    quote, k = "", 0
    while k < len(text):
        c = text[k]
        if quote:
            if c == "\\":
                k += 1
            elif c == quote:
                quote = ""
        elif c in "\"'":
            quote = c
        else:
            yield k, c
        k += 1
