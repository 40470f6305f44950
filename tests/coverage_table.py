"""What programs do when they run: their decisions, and a table of what was covered.

A program is rewritten to leave a trace: statements reached, outcomes of tests and
comparisons, which side of a kink, how often each loop ran. Two runs with one trace took
one path, on which the program is smooth; and the statements reached are what the table
counts, once for each program, whatever the generator meant to write.
"""

from __future__ import annotations

import ast
import operator
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from io import StringIO
from typing import Any, NamedTuple

import numpy as np
from generator import ROWS as TABLES
from generator import called_by_templates
from generator.words import copies
from rich.console import Console
from rich.table import Table

FORMS = """
assignment, chained assignment, unpacking, nested unpacking, exchange, tuple,
augmented assignment, augmented assignment of an integer, None before a loop,
if, elif, else, conditional expression, and, or, not, chained comparison, walrus,
for-else, while-else, while True, break, continue, pass, assert, raise, f-string,
early return, return in a loop, loop in a loop, branch in a loop, loop in a branch,
helper, nested function, call of a nested function, closure, recursion,
lambda, lambda with a default,
call by position, call by default, call by keyword, call by star, star parameter,
keyword-only parameter, function as an argument, tuple returned, float returned,
captured number, captured integer, captured array, integer arithmetic,
bool as a number, number of an integer, complex number, real part, imaginary part,
conjugate method, len, shape, array display, enumerate with a start, enumerate of zip,
x[0], x[-1], x[i], x[computed], x[i][j], x[i; j], x[row], x[:; j], x[1:], x[:-1],
x[1:-1], x[::-1], x[::2], x[i:], x[:i], x[computed:], x[...], x[None],
x[places], x[mask], x[list], x[...; axis], an axis, an axis from the end, axes,
keepdims, transposed, a shape unpacked, a part of a split, a row of an array,
another name, arrays exchanged, a view named, a copy, a call for its effect
""".replace("\n", " ").split(",")
FORMS = [form.strip().replace(";", ",") for form in FORMS]
LOOPS = [
    "range", "range, step over 1", "range, step below 0", "array", "enumerate", "zip",
    "reversed", "while",
]  # fmt: skip
TRIPS = ("0", "1", "n")
ROWS = sorted(name for rows in TABLES.values() for name in rows)
OTHERS = """
    + - * / ** % // abs max min float np.sum np.max np.min np.array np.real np.imag
    np.angle np.conj np.conjugate
""".split()
OTHERS += [name for name in called_by_templates() if name not in (*ROWS, *OTHERS)]
RANKS = range(4)  # of arguments
STORED = """
    an element, a slice, a slice with a step, a slice from the end, a mask,
    places, an ellipsis, a new axis, a part of a part, a name, an argument,
    a function's argument, =, +=, -=, *=, /=, **=, %=, //=, @=, np.add.at,
    np.subtract.at, np.multiply.at, np.divide.at, out=, out= with where=, np.copyto,
    np.copyto with where=, np.put, np.putmask, np.place, np.fill_diagonal, .fill, .sort
""".replace("\n", " ").split(",")
STORED = [form.strip() for form in STORED]
LISTED = """
    append, extend, insert, insert in front, pop, pop from within, an item set,
    an item changed, a slice set, reverse, clear, +=, +, *, an item, a slice, copied,
    summed, counted, largest, a loop, a comprehension, np.array, another name, exchange,
    an argument, a function's argument, append of arrays, extend of arrays,
    insert of arrays, pop of arrays, an item set of arrays, + of arrays,
    an item of arrays, a slice of arrays, summed of arrays, a loop of arrays,
    a comprehension of arrays, np.array of arrays, np.stack of arrays,
    np.concatenate of arrays, another name of arrays, an item of lists,
    an item set in lists, append in lists, pop in lists, np.array of lists,
    a loop of lists
""".replace("\n", " ").split(",")
LISTED = [form.strip() for form in LISTED]
# Of these it is enough to be met either alone or shared.
RARE = """
    a function's argument, %=, //=, @=, **=, .fill,
    np.subtract.at, np.multiply.at, np.divide.at,
    out= with where=, np.copyto with where=, np.put, np.putmask, np.place,
    np.fill_diagonal, reverse, clear, +, *, copied, exchange, largest, a loop,
    a comprehension, np.array, another name, insert in front, counted
""".replace("\n", " ").split(",")
RARE = [form.strip() for form in RARE]
RARE += [form for form in LISTED if form.endswith((" of arrays", " lists"))]
ALIASES = ("alone", "shared")  # whether another name stands for what is stored into
MODULES = ("np", "np.linalg", "math")

SIGNS = "abs math.fabs np.abs np.absolute np.fabs np.sign np.heaviside"
SIGNS += " math.copysign np.copysign"
CHOICES = "max min np.maximum np.minimum np.fmax np.fmin"
STEPS = "floor ceil trunc rint floor_divide"
QUOTIENTS = "% math.fmod np.fmod np.mod np.remainder math.remainder"


ORDERS = "np.sort np.argsort np.argmax np.argmin np.median np.ptp np.clip np.max "
ORDERS += "np.min .clip .max .min .argmax .argmin .sort"


def by_sign(result: Any, *args: Any) -> bytes:
    real = [np.asarray(arg, float) for arg in args if not np.iscomplexobj(arg)]
    return b"".join(np.sign(arg).tobytes() for arg in real)


def by_choice(result: Any, *args: Any) -> bytes:
    return b"".join(np.equal(arg, result).tobytes() for arg in args)


def by_order(result: Any, *args: Any) -> bytes:
    """The order of all elements, and of an array's the bounds that clip it."""
    bounds = [arg for arg in args if arg is not None]
    every = np.concatenate([np.ravel(arg) for arg in bounds])
    return np.argsort(every, kind="stable").tobytes()


def by_result(result: Any, *args: Any) -> bytes:
    return np.asarray(result, float).tobytes()


def by_quotient(result: Any, a: Any, b: Any) -> bytes:
    return by_result([np.floor(np.divide(a, b)), np.rint(np.divide(a, b))])


# What tells on which side of its kinks a function is evaluated.
KINKS: dict[str, Callable[..., bytes]] = {
    **dict.fromkeys(SIGNS.split(), by_sign),
    **dict.fromkeys(CHOICES.split(), by_choice),
    **{f"{m}.{name}": by_result for m in ("math", "np") for name in STEPS.split()},
    **dict.fromkeys(QUOTIENTS.split(), by_quotient),
    "//": by_result,
    **dict.fromkeys(ORDERS.split(), by_order),
}


class Stored(NamedTuple):
    """A store that was reached: how it is written, and to whom it matters."""

    forms: tuple[str, ...]
    alias: str


class Listed(NamedTuple):
    """A use of a list that was reached: how it is written, and to whom it matters."""

    form: str
    alias: str


class Trace(list[Any]):
    """The events of a run; loops stand in it as [kind, passes so far]."""

    def decide(self, value: Any) -> Any:
        self.append(value.tobytes() if isinstance(value, np.ndarray) else bool(value))
        return value

    def start(self, kind: str) -> list[Any]:
        self.append(loop := [kind, 0])
        return loop

    def kink(
        self, name: str, function: Callable[..., Any], *args: Any, **keywords: Any
    ) -> Any:
        before = copies(args)  # which the function may change
        result = function(*args, **keywords)
        self.append(KINKS[name](result, *before))
        return result


def method(name: str) -> Callable[..., Any]:
    """A method of whatever comes first."""
    return lambda owner, *args, **keywords: getattr(owner, name)(*args, **keywords)


class Watched:
    """A program that leaves a trace when it runs."""

    def __init__(self, source: str) -> None:
        tree = ast.parse(source)
        rewrite = Rewrite(tree)
        tree = ast.fix_missing_locations(rewrite.visit(tree))
        self.forms, self.rows = rewrite.forms, rewrite.rows
        self.trace = Trace()
        self.names: dict[str, Any] = {
            "_note": self.trace.append,
            "_decide": self.trace.decide,
            "_start": self.trace.start,
            "_kink": self.trace.kink,
            "_mod": operator.mod,
            "_floordiv": operator.floordiv,
            "_method": method,
            "_stored": self.stored,
            "_listed": self.listed,
        }
        self.given: list[Any] = []
        exec(compile(tree, "<watched>", "exec"), self.names)

    def run(self, *args: Any) -> tuple[Any, list[Any]]:
        """The value of `f`, and the trace of the run."""
        self.trace.clear()
        args = copies(args)
        self.given = [arg for arg in args if isinstance(arg, np.ndarray | list)]
        for arg in args:
            if isinstance(arg, np.ndarray):
                lengths = {min(n, 2) for n in arg.shape} or {2}
                self.trace.extend(("argument", arg.ndim, n) for n in sorted(lengths))
        return self.names["f"](*args), list(self.trace)

    def stored(
        self, forms: tuple[str, ...], indices: str, name: str, scope: dict[str, Any]
    ) -> None:
        """Note a store into the array of a name, if it is one."""
        array = scope.get(name)
        if not isinstance(array, np.ndarray):
            return
        others = [value for other, value in scope.items() if other != name]
        shared = any(isinstance(a, np.ndarray) and np.shares_memory(a, array)
                     for a in others)  # fmt: skip
        found = [*forms]
        found += [kind_of_index(scope.get(index)) for index in indices.split()]
        arrays = (arg for arg in self.given if isinstance(arg, np.ndarray))
        if any(np.shares_memory(array, arg) for arg in arrays):
            found.append("an argument")
        self.trace.append(Stored(tuple(found), ALIASES[shared]))

    def listed(
        self, forms: tuple[str, ...], within: bool, name: str, scope: dict[str, Any]
    ) -> None:
        """Note uses of the list of a name, or of one that is `within` it."""
        found = scope.get(name)
        if not isinstance(found, list):
            return
        others = [value for other, value in scope.items() if other != name]
        alias = ALIASES[any(is_shared(found, value) for value in others)]
        kinds = {type(item) for item in found}
        of = (
            " of arrays"
            if np.ndarray in kinds
            else " of lists"
            if list in kinds
            else ""
        )
        of = " in lists" if within else of
        every = [form + of for form in forms]
        every += ["an argument"] * any(found is arg for arg in self.given)
        self.trace += [Listed(form, alias) for form in every]


def is_shared(found: list[Any], other: Any) -> bool:
    """Whether something is a list, or shares with it what may be changed."""
    if found is other:
        return True
    if isinstance(other, np.ndarray):
        arrays = (item for item in found if isinstance(item, np.ndarray))
        return any(np.shares_memory(item, other) for item in arrays)
    if not isinstance(other, list):
        return False
    return any(found is item for item in other) or any(item is other for item in found)


def kind_of_index(index: Any) -> str:
    """What an index that has a name is."""
    if isinstance(index, np.ndarray) and index.ndim:
        return "a mask" if index.dtype == bool else "places"
    return "an element"


def call(name: str, *args: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(args), [])


class Rewrite(ast.NodeTransformer):
    """Puts a note before each statement and a record round each decision."""

    def __init__(self, tree: ast.Module) -> None:
        self.forms: list[set[str]] = []  # of each statement
        self.rows: list[set[str]] = []
        self.around: list[ast.AST] = [tree]  # the statements round this one
        self.signatures: dict[str, ast.arguments] = {}
        self.helpers = {n.name for n in tree.body if isinstance(n, ast.FunctionDef)}
        self.captured: dict[str, str] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                self.signatures[node.name] = node.args
        for node in tree.body:
            if isinstance(node, ast.Assign):
                value = node.value
                kind = type(getattr(value, "value", None)) if value else None
                name = "integer" if kind is int else "number"
                name = "array" if isinstance(value, ast.Call) else name
                self.captured[ast.unparse(node.targets[0])] = f"captured {name}"

    def visit(self, node: ast.AST) -> Any:
        if not isinstance(node, ast.stmt):
            return super().visit(node)
        key = len(self.forms)
        parts = [n for n in ast.iter_child_nodes(node) if not isinstance(n, ast.stmt)]
        every = [n for part in parts for n in ast.walk(part)]
        self.forms.append(
            {*self.statement(node), *(f for n in every for f in self.expression(n))}
        )
        self.rows.append({row for n in (node, *every) for row in rows_of(n)})
        lines: list[ast.stmt] = [ast.Expr(call("_note", ast.Constant(key)))]
        if isinstance(node, ast.AugAssign) and isinstance(
            node.op, ast.Mod | ast.FloorDiv
        ):
            again = ast.parse(ast.unparse(node.target), mode="eval").body
            lines.append(ast.Expr(self.visit(ast.BinOp(again, node.op, node.value))))
        for update, target in [*stores_of(node), *stores_by_calls(every)]:
            lines += self.note_of_store(update, target)
        lines += self.notes_of_lists(node, every)
        if isinstance(node, ast.For | ast.While):
            lines += ast.parse(f"_loop_{key} = _start({loop_kind(node)!r})").body
        self.around.append(node)
        lines.append(super().visit(node))
        self.around.pop()
        if isinstance(node, ast.For | ast.While):
            node.body[:0] = ast.parse(f"_loop_{key}[1] += 1").body
        return lines

    def note_of_store(self, update: str, target: ast.expr) -> list[ast.stmt]:
        """A note of what is stored into, when it is reached, if that has a name."""
        forms, names = set(), set()
        root = target
        while not isinstance(root, ast.Name):
            if isinstance(root, ast.Call):
                root = root.func
                continue
            if not isinstance(root, ast.Subscript | ast.Attribute):
                return []
            if root is not target:
                forms.add("a part of a part")
            elif isinstance(root, ast.Subscript):
                for part in parts_of(root.slice):
                    if isinstance(part, ast.Name):
                        names.add(part.id)
                    forms |= set(form_of_index(part))
            root = root.value
        if root is target:
            forms.add("a name")
        if self.is_argument(root.id):
            forms.add("a function's argument")
        text = (
            f"_stored({(update, *sorted(forms))!r}, {' '.join(sorted(names))!r}, "
            f"{root.id!r}, locals())"
        )
        return ast.parse(text).body

    def is_argument(self, name: str) -> bool:
        """Whether a name is a parameter of the function here, which is not `f`."""
        functions = [n for n in self.around if isinstance(n, ast.FunctionDef)]
        if not functions or functions[-1].name == "f":
            return False
        return name in {n.arg for n in functions[-1].args.args}

    def notes_of_lists(self, node: ast.stmt, every: list[ast.AST]) -> list[ast.stmt]:
        """Notes of what is done to the lists that are named, when it is reached."""
        found: dict[tuple[str, bool], set[str]] = {}
        for n in (node, *every):
            for form, of in list_forms(n):
                within = isinstance(of, ast.Subscript)
                root = of.value if isinstance(of, ast.Subscript) else of
                if isinstance(root, ast.Name):
                    found.setdefault((root.id, within), set()).add(form)
        for (name, _), forms in found.items():
            if forms & CHANGES and self.is_argument(name):
                forms.add("a function's argument")
        notes = [
            f"_listed({tuple(sorted(forms))!r}, {within}, {name!r}, locals())"
            for (name, within), forms in found.items()
        ]
        return [ast.parse(text).body[0] for text in notes]

    # -------------------------------------------------------- decisions

    def decided(self, node: Any) -> Any:
        self.generic_visit(node)
        node.test = call("_decide", node.test)
        return node

    visit_If = visit_While = visit_IfExp = visit_Assert = decided

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        node.values = [call("_decide", value) for value in node.values]
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        return call("_decide", node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not):
            node.operand = call("_decide", node.operand)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        kinks = {ast.Mod: ("%", "_mod"), ast.FloorDiv: ("//", "_floordiv")}
        if type(node.op) not in kinks:
            return node
        sign, function = kinks[type(node.op)]
        name = ast.Name(function, ast.Load())
        return call("_kink", ast.Constant(sign), name, node.left, node.right)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = ast.unparse(node.func)
        args = node.args
        match node.func:
            case ast.Attribute(value=owner, attr=attr) if f".{attr}" in KINKS:
                if ast.unparse(owner) != "np":
                    name, args = f".{attr}", [owner, *args]
                    node.func = call("_method", ast.Constant(attr))
        if name not in KINKS:
            return node
        recorded = call("_kink", ast.Constant(name), node.func, *args)
        recorded.keywords = node.keywords
        return recorded

    # ------------------------------------------------------------ forms

    def statement(self, node: ast.stmt) -> Iterator[str]:
        """The forms of a statement itself."""
        inside = self.around[-1]
        function = next(
            (n for n in self.around[::-1] if isinstance(n, ast.FunctionDef)), None
        )
        within = self.around[self.around.index(function) :] if function else []
        in_loop = any(isinstance(n, ast.For | ast.While) for n in within)
        match node:
            case ast.Assign(targets=[target, *more], value=value):
                yield "assignment"
                if more:
                    yield "chained assignment"
                if isinstance(target, ast.Tuple):
                    yield "unpacking"
                    if isinstance(value, ast.Attribute) and value.attr == "shape":
                        yield "a shape unpacked"
                    if "split(" in ast.unparse(value):
                        yield "a part of a split"
                    if any(isinstance(t, ast.Tuple) for t in target.elts):
                        yield "nested unpacking"
                    names = {ast.unparse(t) for t in target.elts}
                    if (
                        isinstance(value, ast.Tuple)
                        and {ast.unparse(v) for v in value.elts} <= names
                    ):
                        yield "exchange"
                        if all(map(str.isupper, names)):
                            yield "arrays exchanged"
                elif isinstance(value, ast.Tuple):
                    yield "tuple"
                if isinstance(target, ast.Name):
                    yield from name_forms(value)
                if isinstance(value, ast.Constant) and value.value is None:
                    yield "None before a loop"
            case ast.Expr(value=ast.Call(func=ast.Name())):
                yield "a call for its effect"
            case ast.AugAssign(value=value):
                yield "augmented assignment"
                if isinstance(value, ast.Constant) and value.value == 1:
                    yield "augmented assignment of an integer"
            case ast.If(orelse=other):
                if isinstance(node.body[0], ast.Raise):
                    yield "raise"
                elif_ = isinstance(inside, ast.If) and node in inside.orelse
                yield "elif" if elif_ else "if"
                if other and not isinstance(other[0], ast.If):
                    yield "else"
                if in_loop:
                    yield "branch in a loop"
            case ast.For() | ast.While():
                if node.orelse:
                    yield "for-else" if isinstance(node, ast.For) else "while-else"
                if in_loop:
                    yield "loop in a loop"
                if any(isinstance(n, ast.If) for n in within):
                    yield "loop in a branch"
                if isinstance(node, ast.While) and isinstance(node.test, ast.Constant):
                    yield "while True"
                names = {
                    n.id
                    for n in ast.walk(getattr(node, "target", node))
                    if isinstance(n, ast.Name)
                }
                if any(re.fullmatch(r"(row|line|vec)\d*", name) for name in names):
                    yield "a row of an array"
            case ast.Return(value=value):
                if in_loop:
                    yield "return in a loop"
                elif inside is not function:
                    yield "early return"
                yield (
                    "tuple returned"
                    if isinstance(value, ast.Tuple)
                    else "float returned"
                )
            case ast.Break() | ast.Continue() | ast.Pass() | ast.Assert():
                yield type(node).__name__.lower()
            case ast.FunctionDef(args=args):
                yield "nested function"
                if args.vararg:
                    yield "star parameter"
                if args.kwonlyargs:
                    yield "keyword-only parameter"
                if function and names_of(node) & locals_of(function) - locals_of(node):
                    yield "closure"

    def expression(self, node: ast.AST) -> Iterator[str]:
        """The forms of an expression itself."""
        match node:
            case ast.IfExp():
                yield "conditional expression"
            case ast.BoolOp(op=op):
                yield type(op).__name__.lower()
            case ast.UnaryOp(op=ast.Not()):
                yield "not"
            case ast.Compare(ops=[_, _, *_]):
                yield "chained comparison"
            case ast.NamedExpr():
                yield "walrus"
            case ast.JoinedStr():
                yield "f-string"
            case ast.Lambda(args=args):
                yield "lambda with a default" if args.defaults else "lambda"
                functions = [n for n in self.around if isinstance(n, ast.FunctionDef)]
                outer = set().union(*(locals_of(n) for n in functions))
                if names_of(node) & outer - locals_of(node):
                    yield "closure"
            case ast.Name(id=name) if name in self.captured:
                yield self.captured[name]
            case ast.Constant(value=complex()):
                yield "complex number"
            case ast.Attribute(attr="real" | "imag" | "shape" as name):
                yield {"real": "real part", "imag": "imaginary part"}.get(name, name)
            case ast.BinOp(left=left, op=op, right=right):
                whole = isinstance(right, ast.Constant) and type(right.value) is int
                if whole and not isinstance(op, ast.Pow):
                    yield "integer arithmetic"
                if isinstance(left, ast.Compare) or ast.unparse(left) in (
                    "flag",
                    "ok",
                    "on",
                ):
                    yield "bool as a number"
            case ast.Call(func=ast.Name(id=name)) if name in self.signatures:
                yield from self.call_forms(node, self.signatures[name])
                yield "helper" if name in self.helpers else "call of a nested function"
                if any(getattr(n, "name", "") == name for n in self.around):
                    yield "recursion"
            case ast.Call(func=function, args=args):
                name = ast.unparse(function)
                if name in ("len", "float", "complex", "np.array"):
                    yield {
                        "len": "len",
                        "float": "number of an integer",
                        "complex": "complex number",
                        "np.array": "array display",
                    }[name]
                if name.endswith(".conjugate") and name != "np.conjugate":
                    yield "conjugate method"
                if name == "enumerate":
                    if len(args) + len(node.keywords) > 1:
                        yield "enumerate with a start"
                    if ast.unparse(args[0]).startswith("zip"):
                        yield "enumerate of zip"
            case ast.Subscript():
                yield from index_forms(node)
            case ast.Attribute(attr="T"):
                yield "transposed"
            case ast.keyword(arg="axis", value=ast.Tuple()):
                yield "axes"
            case ast.keyword(arg="axis", value=ast.UnaryOp()):
                yield "an axis from the end"
            case ast.keyword(arg="axis", value=ast.Constant(value=int())):
                yield "an axis"
            case ast.keyword(arg="keepdims"):
                yield "keepdims"

    def call_forms(self, node: ast.Call, signature: ast.arguments) -> Iterator[str]:
        """How a call gives its arguments."""
        star = any(isinstance(arg, ast.Starred) for arg in node.args)
        if star:
            yield "call by star"
        elif node.args:
            yield "call by position"
        if node.keywords:
            yield "call by keyword"
        given = len(node.args) + len(node.keywords) + star
        if given < len(signature.args) + len(signature.kwonlyargs):
            yield "call by default"
        for arg in node.args:
            if (
                isinstance(arg, ast.Lambda | ast.Attribute)
                or ast.unparse(arg) in self.signatures
            ):
                if ast.unparse(arg).startswith(("lambda", "math", "np")) or isinstance(
                    arg, ast.Name
                ):
                    yield "function as an argument"


SIGNS_OF_OPERATORS = {
    "Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "Pow": "**", "Mod": "%",
    "FloorDiv": "//", "MatMult": "@",
}  # fmt: skip


def name_forms(value: ast.expr) -> Iterator[str]:
    """What an array that gets a name is, as it is written."""
    match value:
        case ast.Name(id=name) if name.isupper():
            yield "another name"
        case ast.Subscript() | ast.Attribute(attr="T"):
            yield "a view named"
        case ast.Call(func=ast.Attribute(attr="copy" | "array")):
            yield "a copy"


def stores_of(node: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """How a statement stores, and into what, where it may be an array."""
    match node:
        case ast.Assign(targets=targets):
            for target in targets:
                items = target.elts if isinstance(target, ast.Tuple) else [target]
                yield from (("=", t) for t in items if isinstance(t, ast.Subscript))
        case ast.AugAssign(op=op, target=ast.Subscript() | ast.Name() as target):
            yield f"{SIGNS_OF_OPERATORS[type(op).__name__]}=", target


OUTPUTS = {"np.negative": 1, "np.subtract": 2}  # behind so many operands
TAKES_FIRST = (
    "np.copyto", "np.put", "np.putmask", "np.place", "np.fill_diagonal", "np.add.at",
    "np.subtract.at", "np.multiply.at", "np.divide.at",
)  # fmt: skip


def stores_by_calls(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
    """How calls store, and into what."""
    for n in nodes:
        if not isinstance(n, ast.Call):
            continue
        name, keywords = ast.unparse(n.func), {k.arg: k.value for k in n.keywords}
        where = " with where=" if "where" in keywords else ""
        if "out" in keywords:
            yield f"out={where}", keywords["out"]
        elif len(n.args) > OUTPUTS.get(name, 9):
            yield "out=", n.args[-1]
        elif name in TAKES_FIRST:
            yield f"{name}{where}", n.args[0]
        elif name.endswith((".fill", ".sort")) and isinstance(n.func, ast.Attribute):
            yield f".{n.func.attr}", n.func.value


CHANGES = {
    "append", "extend", "insert", "insert in front", "pop", "pop from within",
    "an item set", "an item changed", "a slice set", "reverse", "clear", "+=",
}  # fmt: skip
OF_LISTS = {
    "sum": "summed", "np.sum": "summed", "len": "counted", "max": "largest",
    "min": "largest", "list": "copied", "enumerate": "a loop", "zip": "a loop",
    "reversed": "a loop", "np.array": "np.array", "np.stack": "np.stack",
    "np.concatenate": "np.concatenate",
}  # fmt: skip


def list_forms(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """What a node itself does with a list, and the list."""
    match node:
        case ast.Call(func=ast.Attribute(value=of, attr="pop"), args=[_]):
            yield "pop from within", of
        case ast.Call(func=ast.Attribute(value=of, attr="insert"), args=[at, _]):
            yield "insert in front" if ast.unparse(at) == "0" else "insert", of
        case ast.Call(func=ast.Attribute(value=of, attr="copy")):
            yield "copied", of
        case ast.Call(func=ast.Attribute(value=of, attr=name)) if name in CHANGES:
            yield name, of
        case ast.Call(func=function, args=[of, *_]):
            if (name := ast.unparse(function)) in OF_LISTS:
                yield OF_LISTS[name], of
        case ast.Assign(targets=[ast.Tuple()], value=ast.Tuple(elts=items)):
            yield from (("exchange", of) for of in items)
        case ast.Assign(value=ast.Name() as of):
            yield "another name", of
        case ast.AugAssign(target=ast.Subscript(value=of)):
            yield "an item changed", of
        case ast.AugAssign(target=of, op=ast.Add()):
            yield "+=", of
        case ast.BinOp(left=a, op=ast.Add() | ast.Mult() as op, right=b):
            yield from ((SIGNS_OF_OPERATORS[type(op).__name__], of) for of in (a, b))
        case ast.Subscript(value=of, slice=ast.Slice(), ctx=context):
            yield "a slice" + " set" * isinstance(context, ast.Store), of
        case ast.Subscript(value=of, ctx=context):
            yield "an item" + " set" * isinstance(context, ast.Store), of
        case ast.For(iter=of):
            yield "a loop", of
        case ast.comprehension(iter=of):
            yield "a comprehension", of


def parts_of(index: ast.expr) -> list[ast.expr]:
    return index.elts if isinstance(index, ast.Tuple) else [index]


def form_of_index(part: ast.expr) -> Iterator[str]:
    """What a part of a subscript is, as it is written; not of a name."""
    match part:
        case ast.Slice(step=ast.UnaryOp()):
            yield "a slice from the end"
        case ast.Slice(step=ast.Constant()):
            yield "a slice with a step"
        case ast.Slice():
            yield "a slice"
        case ast.Constant(value=None) | ast.Attribute(attr="newaxis"):
            yield "a new axis"
        case ast.Constant(value=value) if value is ...:
            yield "an ellipsis"
        case ast.List():
            yield "places"
        case _ if any(isinstance(n, ast.Compare) for n in ast.walk(part)):
            yield "a mask"
        case ast.Call() | ast.Subscript():
            yield "places"
        case ast.Constant() | ast.UnaryOp() | ast.BinOp():
            yield "an element"


def loop_kind(node: ast.For | ast.While) -> str:
    if isinstance(node, ast.While):
        return "while"
    match node.iter:
        case ast.Call(func=ast.Name(id="range"), args=[_, _, step]):
            number = ast.literal_eval(step)
            return f"range, step {'below 0' if number < 0 else 'over 1'}"
        case ast.Call(
            func=ast.Name(id="range" | "enumerate" | "zip" | "reversed" as name)
        ):
            return name
    return "array"


def names_of(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def locals_of(node: ast.AST) -> set[str]:
    """The names that a function binds, those of functions inside it included."""
    bound = {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}
    stored = (n for n in ast.walk(node) if isinstance(n, ast.Name))
    return bound | {n.id for n in stored if isinstance(n.ctx, ast.Store)}


def rows_of(node: ast.AST) -> Iterator[str]:
    """The functions and operators that a node stands for."""
    match node:
        case ast.BinOp(op=op) | ast.AugAssign(op=op):
            yield SIGNS_OF_OPERATORS.get(type(op).__name__, "")
        case ast.Call(func=function):
            name = ast.unparse(function)
            is_method = isinstance(function, ast.Attribute)
            is_method = is_method and name.rpartition(".")[0] not in MODULES
            yield f".{function.attr}" if is_method else name


def index_forms(node: ast.Subscript) -> Iterator[str]:
    """How a subscript reads an array."""
    if isinstance(node.value, ast.Subscript):
        yield "x[i][j]"
    text = ast.unparse(node.slice)
    parts = parts_of(node.slice)
    for part in parts:
        if isinstance(part, ast.List):
            yield "x[list]"
        elif any(isinstance(n, ast.Compare) for n in ast.walk(part)):
            yield "x[mask]"
        elif ast.unparse(part) == "order" or isinstance(part, ast.Call):
            yield "x[places]"
    if len(parts) > 1 and "None" in map(ast.unparse, parts[1:]):
        yield "x[..., axis]"
    known = {"0", "-1", "1:", ":-1", "1:-1", "::-1", "::2"}
    match node.slice:
        case _ if text in known:
            yield f"x[{text}]"
        case ast.Tuple(elts=[first, *_]) if ast.unparse(first) in ("None", "..."):
            yield f"x[{ast.unparse(first)}]"
        case ast.Tuple(elts=[_, ast.Attribute()]):
            yield "x[None]"
        case ast.Tuple(elts=[ast.Slice(), _]):
            yield "x[:, j]"
        case ast.Tuple(elts=[_, ast.Slice()]):
            yield "x[row]"
        case ast.Tuple():
            yield "x[i, j]"
        case ast.Slice(lower=ast.Name()):
            yield "x[i:]"
        case ast.Slice(lower=ast.BinOp()):
            yield "x[computed:]"
        case ast.Slice(lower=None, upper=ast.Name()):
            yield "x[:i]"
        case ast.Constant(value=value) if value is ...:
            yield "x[...]"
        case ast.Name():
            yield "x[i]"
        case ast.BinOp():
            yield "x[computed]"


@dataclass
class Coverage:
    """In how many programs each form, loop and row was executed."""

    programs: int = 0
    forms: Counter[str] = field(default_factory=Counter)
    loops: Counter[str] = field(default_factory=Counter)  # "while 0": by passes
    rows: Counter[str] = field(default_factory=Counter)
    arguments: Counter[str] = field(default_factory=Counter)  # "rank 2, n": by length
    skipped: Counter[str] = field(default_factory=Counter)  # programs not judged, why
    stores: Counter[str] = field(default_factory=Counter)  # "a slice, alone"
    lists: Counter[str] = field(default_factory=Counter)  # "append, shared"

    def add(self, watched: Watched, trace: list[Any]) -> None:
        """Count a program by the trace of its run."""
        reached = {e for e in trace if type(e) is int}
        loops = {
            f"{e[0]} {min(e[1], 2)}".replace(" 2", " n")
            for e in trace
            if type(e) is list
        }
        self.programs += 1
        self.forms.update(set().union(*(watched.forms[key] for key in reached)))
        self.rows.update(set().union(*(watched.rows[key] for key in reached)))
        self.loops.update(loops)
        arguments = [e for e in trace if type(e) is tuple]
        self.arguments.update({f"rank {r}, {TRIPS[n]}" for _, r, n in arguments})
        stores = [e for e in trace if type(e) is Stored]
        self.stores.update({f"{form}, {e.alias}" for e in stores for form in e.forms})
        lists = [e for e in trace if type(e) is Listed]
        self.lists.update({f"{e.form}, {e.alias}" for e in lists})

    @classmethod
    def of(cls, record: dict[str, Any]) -> Coverage:
        """What `vars` took apart, and JSON kept."""
        programs, *counts = record.values()
        return cls(programs, *map(Counter, counts))

    def __add__(self, other: Coverage) -> Coverage:
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return Coverage(*(a + b for a, b in pairs))

    def without(self, form: str, counts: Counter[str]) -> bool:
        """Whether a form was not met; a rare one under one name or under two."""
        what, _ = form.rsplit(", ", 1)
        forms = [f"{what}, {a}" for a in ALIASES] if what in RARE else [form]
        return not any(counts[f] for f in forms)

    def missing(self) -> list[str]:
        """What no program has executed."""
        loops = [f"{kind} {trips}" for kind in LOOPS for trips in TRIPS]
        return [
            *(form for form in FORMS if not self.forms[form]),
            *(loop for loop in loops if not self.loops[loop]),
            *(row for row in (*ROWS, *OTHERS) if not self.rows[row]),
            *(shape for shape in shapes() if not self.arguments[shape]),
            *(form for form in by_alias(STORED) if self.without(form, self.stores)),
            *(form for form in by_alias(LISTED) if self.without(form, self.lists)),
        ]


def shapes() -> list[str]:
    """Arguments that are arrays, by rank and by what lengths they have."""
    of_lengths = [f"rank {r}, {n}" for r in RANKS[1:] for n in TRIPS]
    return [f"rank 0, {TRIPS[-1]}", *of_lengths]


def by_alias(forms: Sequence[str]) -> list[str]:
    """How arrays or lists are used, alone or under more than one name."""
    return [f"{form}, {alias}" for form in forms for alias in ALIASES]


def coverage_report(coverage: Coverage) -> str:
    """The tables of what was covered, as text."""
    skipped = ", ".join(f"{n} {why}" for why, n in sorted(coverage.skipped.items()))
    loops = Table("loop", *(f"{trips} passes" for trips in TRIPS), title="Loops")
    for kind in LOOPS:
        loops.add_row(
            kind, *(str(coverage.loops[f"{kind} {trips}"]) for trips in TRIPS)
        )
    console = Console(file=(text := StringIO()), width=88, markup=False)
    console.print(f"{coverage.programs} programs; not judged: {skipped or 'none'}")
    console.print(beside("Forms", FORMS, coverage.forms, 2))
    console.print(loops)
    console.print(beside("Stores", by_alias(STORED), coverage.stores, 2))
    console.print(beside("Lists", by_alias(LISTED), coverage.lists, 2))
    console.print(beside("Arrays, by length", shapes(), coverage.arguments, 2))
    console.print(beside("Rows", [*OTHERS, *ROWS], coverage.rows, 3))
    return text.getvalue()


def beside(title: str, names: list[str], counts: Counter[str], columns: int) -> Table:
    """A table of names and counts, several to a line."""
    table = Table(*("", "programs") * columns, title=title)
    height = -(-len(names) // columns)
    for at in range(height):
        some = names[at::height]
        table.add_row(*(cell for name in some for cell in (name, str(counts[name]))))
    return table
