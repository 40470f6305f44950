"""Spelling: how operations, literals and indices are written as trees of Python.

    mul, [w, y]   ->   w * y            sum over axis 0 of x   ->   np.sum(x, axis=0)

Nothing here knows of statements; `emit` decides what becomes one.
"""

from __future__ import annotations

import ast
import copy
import math
from dataclasses import replace
from typing import Any

import numpy as np

from gradwright.transform.core import Const, Let, type_of
from gradwright.transform.primitives.record import Primitive
from gradwright.transform.primitives.structural import (
    CAST,
    CONJUGATE,
    COPY,
    DISPLAY,
    ELEMENTS,
    FORMAT,
    IS_ONE,
    ITEM,
    NAMED,
    PRODUCT,
    SPREAD,
    STOPPED,
    SUM_TO,
    WITHIN,
)
from gradwright.transform.types import Type

BINARY = {
    "+": ast.Add, "-": ast.Sub, "*": ast.Mult, "/": ast.Div, "//": ast.FloorDiv,
    "%": ast.Mod, "**": ast.Pow, "&": ast.BitAnd, "|": ast.BitOr, "^": ast.BitXor,
    "<<": ast.LShift, ">>": ast.RShift, "@": ast.MatMult,
}  # fmt: skip
UNARY = {"-": ast.USub, "+": ast.UAdd, "~": ast.Invert, "not": ast.Not}
COMPARE = {
    "<": ast.Lt, "<=": ast.LtE, ">": ast.Gt, ">=": ast.GtE,
    "==": ast.Eq, "!=": ast.NotEq, "is": ast.Is, "is not": ast.IsNot,
}  # fmt: skip
OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
MODULES = {
    "np": "import numpy as np", "math": "import math", "cmath": "import cmath",
    "copy": "import copy", "following": "from gradwright.transform import following",
}  # fmt: skip


class Name(ast.Name):
    """A name not settled yet: of a value or a place."""

    thing: Any


def name_of(thing: Any, store: bool = False) -> Name:
    """A node that stands for a thing."""
    node = Name(id=thing.name, ctx=ast.Store() if store else ast.Load())
    node.thing = thing
    return node


def again(tree: Any) -> Any:
    """The same expression, in nodes of its own."""
    new = copy.copy(tree)
    for key, child in ast.iter_fields(tree):
        if isinstance(child, ast.AST):
            setattr(new, key, again(child))
        elif isinstance(child, list):
            setattr(new, key, [again(c) for c in child])
    return new


def are_same(a: ast.expr, b: ast.expr) -> bool:
    """Whether two expressions are of the same things."""
    things = [[n.thing for n in _names(tree)] for tree in (a, b)]
    return things[0] == things[1] and ast.dump(a) == ast.dump(b)


def _names(tree: ast.expr) -> list[Name]:
    return [n for n in ast.walk(tree) if isinstance(n, Name)]


class Spelling:
    """Writes expressions; `imports` gathers the modules they name."""

    def __init__(self, imports: dict[str, None]) -> None:
        self.imports = imports

    def dotted(self, text: str, negative: bool = False) -> ast.expr:
        """`np.sum`, and the import that it needs."""
        head, *others = text.split(".")
        if head in MODULES:
            self.imports.setdefault(MODULES[head])
        tree: ast.expr = ast.Name(head)
        for name in others:
            tree = ast.Attribute(tree, name)
        return ast.UnaryOp(ast.USub(), tree) if negative else tree

    def call(
        self, name: str, arguments: list[ast.expr], **keywords: ast.expr
    ) -> ast.Call:
        named = [ast.keyword(k, v) for k, v in keywords.items()]
        return ast.Call(self.dotted(name), arguments, named)

    def constant(self, o: Const) -> ast.expr:
        if o.text is not None:
            return self.dotted(o.text.lstrip("-"), o.text.startswith("-"))
        if isinstance(o.value, np.generic):
            kind = replace(o, value=o.value.item(), type=replace(o.type, python=True))
            return self.call(f"np.{o.value.dtype.name}", [self.constant(kind)])
        if isinstance(o.value, int | float | complex) and not o.type.python:
            plain = np.asarray(o.value).item()
            kind = replace(o, value=plain, type=replace(o.type, python=True))
            return self.call(f"np.{o.type.dtype}", [self.constant(kind)])
        if isinstance(o.value, float) and not math.isfinite(o.value):
            text = "nan" if math.isnan(o.value) else "inf"
            return self.dotted(f"math.{text}", o.value < 0)
        return number(o.value)

    def exception(self, cls: type[BaseException]) -> ast.expr:
        if cls.__module__ != "builtins":
            self.imports.setdefault(f"from {cls.__module__} import {cls.__qualname__}")
        return ast.Name(cls.__qualname__)

    def primitive(self, s: Let, trees: list[ast.expr]) -> ast.expr:
        """An operation on operands."""
        p: Primitive = s.primitive
        if p in (NAMED, STOPPED):
            return trees[0]
        if p is FORMAT:
            return f_string(s.attribute, trees)
        if p is DISPLAY:
            return self._display(trees, s.attribute)
        if p is CAST:
            return self._cast(trees[0], s.attribute)
        if p is PRODUCT:
            a, b = (
                ast.Attribute(t, "T") if turned else t
                for t, turned in zip(trees, s.attribute, strict=True)
            )
            return ast.BinOp(a, ast.MatMult(), b)
        if p is WITHIN:
            places = ast.Call(ast.Name("range"), [trees[1]], [])
            return ast.Subscript(places, trees[0])
        if p is IS_ONE:
            return self._is_one(trees[0], s.attribute)
        if p is COPY:
            return ast.Call(ast.Attribute(trees[0], "copy"), [], [])
        if p is SPREAD:
            return self.call("np.full_like", [trees[1], trees[0], *self._another(s)])
        if p is SUM_TO:
            if s.attribute is None:
                return self._sum_where_number(*trees)
            return self._sum_to(trees[0], *s.attribute)
        if p.spelling in ("np.real", "np.imag"):
            return ast.Attribute(trees[0], p.spelling[3:])
        if p is CONJUGATE or (s.adjoint and _is_kept(s)):
            return ast.Call(ast.Attribute(trees[0], "conjugate"), [], [])
        if p is ITEM:
            return ast.Subscript(trees[0], ast.Constant(s.attribute))
        if p is ELEMENTS:
            return self._of_elements(s, trees)
        if p.is_operator:
            return operation(p.spelling, trees)
        if p.signature is not None:
            return self._signed(s, trees)
        if s.attribute is not None and p.spelling.startswith("following."):
            trees = [*trees, self.argument(s.attribute)]
        return self.call(p.spelling, trees)

    def _of_elements(self, s: Let, trees: list[ast.expr]) -> ast.expr:
        """`following.elements(y, np.roll, following.of(x_dot), 1)`."""
        p, template, labels, factors = s.attribute
        *given, y = trees
        made = dict.fromkeys(labels, "of") | dict.fromkeys(factors, "factor")
        for k, name in made.items():
            given[k] = self.call(f"following.{name}", [given[k]])
        positional, keywords = p.arranged(template.filled(lambda k: given[k]))
        spelling = "np.matmul" if p.is_operator else p.spelling
        return self.call(
            "following.elements",
            [y, self.dotted(spelling), *map(self.argument, positional)],
            **{name: self.argument(a) for name, a in keywords.items()},
        )

    def _another(self, s: Let) -> list[ast.expr]:
        """The dtype of what is spread, where the array that it is like has another."""
        like, made = type_of(s.operands[1]), s.out.type
        if like.is_inexact and like.is_complex <= made.is_complex:
            return []
        return [self.argument(np.dtype(made.dtype))]

    def _signed(self, s: Let, trees: list[ast.expr]) -> ast.expr:
        """A call with arguments by name; a few that have a sign of their own."""
        p = s.primitive
        arguments = p.template(s.attribute).filled(lambda k: trees[k])
        positional, keywords = p.arranged(arguments)
        is_number = bool(s.operands) and type_of(s.operands[0]).python
        if p.spelling == "np.expand_dims" and not is_number:
            axis = arguments["axis"]
            axes = axis if isinstance(axis, tuple) else (axis,)
            return _with_axes(trees[0], axes, s.out.type.rank)
        is_array = bool(s.operands) and type_of(s.operands[0]).is_array
        if p.spelling == "np.transpose" and is_array and not keywords:
            return ast.Attribute(trees[0], "T")
        return self.call(
            p.spelling,
            [self.argument(a) for a in positional],
            **{name: self.argument(a) for name, a in keywords.items()},
        )

    def argument(self, a: Any) -> ast.expr:
        """An argument: an expression, a literal, a dtype, or a sequence of them."""
        if isinstance(a, ast.expr):
            return a
        if isinstance(a, tuple):
            return ast.Tuple([self.argument(i) for i in a])
        if isinstance(a, list):
            return ast.List([self.argument(i) for i in a])
        if isinstance(a, np.dtype):
            return self.dotted(f"np.{a.name}")
        if isinstance(a, type):
            own = a.__module__ == "builtins"
            return ast.Name(a.__name__) if own else self.dotted(f"np.{a.__name__}")
        if isinstance(a, int | float) and not isinstance(a, bool):
            return number(a)
        return ast.Constant(a)

    def _display(self, trees: list[ast.expr], shape: tuple[int, ...]) -> ast.expr:
        items = iter(trees)

        def nest(shape: tuple[int, ...]) -> ast.expr:
            if not shape:
                return next(items)
            return ast.List([nest(shape[1:]) for _ in range(shape[0])])

        return self.call("np.array", [nest(shape)])

    def _cast(self, tree: ast.expr, wanted: Type) -> ast.expr:
        if wanted.python:
            return ast.Call(ast.Name(wanted.dtype), [tree], [])
        if wanted.is_array:
            dtype = self.dotted(f"np.{wanted.dtype}")
            return ast.Call(ast.Attribute(tree, "astype"), [dtype], [])
        return self.call(f"np.{wanted.dtype}", [tree])

    def _sum_where_number(self, tree: ast.expr, primal: ast.expr) -> ast.expr:
        """np.sum(c, axis=() if np.ndim(x) else None): () sums over no axis."""
        axis = ast.IfExp(
            self.call("np.ndim", [primal]), ast.Tuple([]), ast.Constant(None)
        )
        return self.call("np.sum", [tree], axis=axis)

    def _is_one(self, tree: ast.expr, k: int) -> ast.expr:
        """np.shape(x)[k:k+1] == (1,), which is false of a number."""
        lower = ast.Constant(k) if k else None
        axis = ast.Slice(lower, ast.Constant(k + 1), None)
        found = ast.Subscript(self.call("np.shape", [tree]), axis)
        return ast.Compare(found, [ast.Eq()], [ast.Tuple([ast.Constant(1)])])

    def _sum_to(self, tree: ast.expr, lead: int, kept: tuple[int, ...]) -> ast.expr:
        if lead:
            tree = self.call("np.sum", [tree], axis=_axes(tuple(range(lead))))
        if kept:
            keepdims = ast.Constant(True)
            tree = self.call("np.sum", [tree], axis=_axes(kept), keepdims=keepdims)
        return tree


def _with_axes(tree: ast.expr, axes: tuple[int, ...], rank: int) -> ast.expr:
    """`x[:, None]`: axes of length one more, where the result has `rank` axes."""
    new = {k % rank for k in axes}
    items: list[ast.expr] = [
        ast.Constant(None) if k in new else ast.Slice() for k in range(max(new) + 1)
    ]
    before = len(items) - len(new)
    if before > 1 and max(new) == rank - 1 and len(new) == 1:
        items = [ast.Constant(...), ast.Constant(None)]
    return ast.Subscript(tree, items[0] if len(items) == 1 else ast.Tuple(items))


def copied(tree: ast.expr) -> ast.expr:
    """An array of its own with the same elements."""
    return ast.Call(ast.Attribute(tree, "copy"), [], [])


def each_copied(tree: ast.expr) -> ast.expr:
    """Arrays of their own with the same elements as each of several."""
    part = ast.comprehension(ast.Name("part", ast.Store()), tree, [], 0)
    return ast.ListComp(copied(ast.Name("part")), [part])


def without_colons(index: ast.expr) -> ast.expr:
    """An index outside of brackets: `(slice(None), k)` for `:, k`."""

    def part(tree: ast.expr) -> ast.expr:
        if not isinstance(tree, ast.Slice):
            return tree
        bounds = [tree.lower, tree.upper, tree.step]
        while len(bounds) > 2 and bounds[-1] is None:
            bounds.pop()
        if bounds[0] is None and len(bounds) == 2:
            bounds.pop(0)
        return ast.Call(
            ast.Name("slice"), [b or ast.Constant(None) for b in bounds], []
        )

    if isinstance(index, ast.Tuple):
        return ast.Tuple([part(tree) for tree in index.elts])
    return part(index)


def without_array(tree: ast.expr) -> ast.expr:
    """`x[[0, 2]]`, not `x[np.array([0, 2])]`."""
    match tree:
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id="np"), attr="array"),
            args=[ast.List(elts=[_, *_]) as items],
        ):
            return items
    return tree


def _axes(axes: tuple[int, ...]) -> ast.expr:
    if len(axes) == 1:
        return ast.Constant(axes[0])
    return ast.Tuple([ast.Constant(k) for k in axes])


# ---- numbers and operators ---------------------------------------------------------


def number(value: Any) -> ast.expr:
    """A literal; the sign of a number stands before it."""
    if isinstance(value, complex):
        imaginary = ast.Constant(complex(0.0, abs(value.imag)))
        negative = math.copysign(1.0, value.imag) < 0
        if value.real == 0 and math.copysign(1.0, value.real) > 0 and not negative:
            return imaginary
        if value.real == 0 and negative and math.copysign(1.0, value.real) < 0:
            return ast.UnaryOp(ast.USub(), imaginary)
        sign = ast.Sub() if negative else ast.Add()
        return ast.BinOp(number(value.real), sign, imaginary)
    is_real = isinstance(value, int | float) and not isinstance(value, bool)
    if is_real and (value < 0 or (value == 0 and math.copysign(1, value) < 0)):
        return ast.UnaryOp(ast.USub(), ast.Constant(-value))
    return ast.Constant(value)


def sum_of(terms: list[tuple[ast.expr, int]], offset: int) -> ast.expr:
    """`n - 2 * i - 1`: positive terms first, in the program's order."""
    tree: ast.expr | None = None
    for term, c in sorted(terms, key=lambda t: t[1] < 0):
        if abs(c) != 1:
            term = ast.BinOp(ast.Constant(abs(c)), ast.Mult(), term)
        if tree is None:
            tree = ast.UnaryOp(ast.USub(), term) if c < 0 else term
        else:
            tree = ast.BinOp(tree, ast.Sub() if c < 0 else ast.Add(), term)
    if tree is None:
        return number(offset)
    if offset:
        sign = ast.Sub() if offset < 0 else ast.Add()
        tree = ast.BinOp(tree, sign, ast.Constant(abs(offset)))
    return tree


def operation(spelling: str, trees: list[ast.expr]) -> ast.expr:
    """An operator on one or two operands."""
    if spelling == "not" and isinstance(trees[0], ast.Compare):
        return negated(trees[0])
    if len(trees) == 1:
        return ast.UnaryOp(UNARY[spelling](), trees[0])
    left, right = trees
    if spelling in COMPARE:
        return ast.Compare(left, [COMPARE[spelling]()], [right])
    return ast.BinOp(left, BINARY[spelling](), right)


def negated(test: ast.expr) -> ast.expr:
    """`not test`, said without `not` where that is the same."""
    match test:
        case ast.UnaryOp(op=ast.Not()):
            return test.operand
        case ast.Compare(ops=[op]) if type(op) in OPPOSITE:
            return ast.Compare(test.left, [OPPOSITE[type(op)]()], test.comparators)
    return ast.UnaryOp(ast.Not(), test)


def counting(start: ast.expr, stop: ast.expr, step: ast.expr) -> ast.Call:
    """A range without the arguments that say nothing."""
    arguments = [start, stop, step]
    if isinstance(step, ast.Constant) and step.value == 1:
        arguments.pop()
        if isinstance(start, ast.Constant) and start.value == 0:
            arguments.pop(0)
    return ast.Call(ast.Name("range"), arguments, [])


def product(left: ast.expr, right: ast.expr) -> ast.expr:
    """`a * (b * c)` as `a * b * c`: for numbers of the derivative's own."""
    if not isinstance(right, ast.BinOp) or not isinstance(right.op, ast.Mult | ast.Div):
        return ast.BinOp(left, ast.Mult(), right)
    return ast.BinOp(product(left, right.left), right.op, right.right)


def negative(tree: ast.expr) -> ast.expr:
    """`-(a * b)` as `-a * b`, unless a is a truth, which has no sign."""
    first = tree
    while isinstance(first, ast.BinOp) and isinstance(first.op, ast.Mult | ast.Div):
        first = first.left
    if first is tree or hasattr(first, "is_truth"):
        return ast.UnaryOp(ast.USub(), tree)
    assert isinstance(tree, ast.BinOp)
    return ast.BinOp(negative(tree.left), tree.op, tree.right)


def unsigned(tree: ast.expr) -> ast.expr | None:
    """The expression without the minus at its front; None where there is none."""
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        return tree.operand
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Mult | ast.Div):
        left = unsigned(tree.left)
        return None if left is None else ast.BinOp(left, tree.op, tree.right)
    return None


# ---- conditions --------------------------------------------------------------------


def bool_op(op: ast.boolop, first: ast.expr, second: ast.expr) -> ast.expr:
    """`first and second` or `first or second`."""
    values = [first]
    if isinstance(second, ast.BoolOp) and type(second.op) is type(op):
        values += second.values
    else:
        values.append(second)
    chained = _chained(values) if isinstance(op, ast.And) else None
    return chained or ast.BoolOp(op, values)


def _chained(values: list[ast.expr]) -> ast.expr | None:
    """`a < b and b < c` is `a < b < c`, where b is a name or a literal."""
    if not all(isinstance(v, ast.Compare) for v in values):
        return None
    first, *others = values
    assert isinstance(first, ast.Compare)
    left, ops, right = first.left, list(first.ops), list(first.comparators)
    for v in others:
        assert isinstance(v, ast.Compare)
        shared = isinstance(v.left, ast.Name | ast.Constant)
        if not shared or ast.dump(v.left) != ast.dump(right[-1]):
            return None
        if isinstance(v.left, Name) and v.left.thing is not right[-1].thing:  # type: ignore[attr-defined]
            return None
        ops += v.ops
        right += v.comparators
    return ast.Compare(left, ops, right)


def f_string(parts: tuple[Any, ...], trees: list[ast.expr]) -> ast.expr:
    """Text, and operands by (which, conversion, format)."""
    values: list[ast.expr] = []
    for part in parts:
        if isinstance(part, str):
            values.append(ast.Constant(part))
        else:
            k, conversion, spec = part
            shown = ast.JoinedStr([ast.Constant(spec)]) if spec else None
            values.append(ast.FormattedValue(trees[k], conversion, shown))
    return ast.JoinedStr(values)


def _is_kept(s: Let) -> bool:
    """Whether it conjugates a number to one of its own kind, as the method does."""
    if s.primitive.spelling not in ("np.conjugate", "np.conj"):
        return False
    given, out = type_of(s.operands[0]), s.out.type
    return not out.is_array and given.python == out.python
