"""Emit: core to readable source, NumPy only; the one module that knows astor.

    Let(product, mul, [w, y]); Let(v, tanh, [product]); Store(y, v)  ->  y = math.tanh(w * y)

Values used once are nested into what uses them, where nothing between changes what
they read.  The user's names are kept: two things may bear one name when their lives do
not overlap.  Over each block of a derivative stands the user's line.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import math
import re
from dataclasses import dataclass, field
from typing import Any

import astor
from astor.source_repr import split_lines

from gradwright.transform.core import (
    Alloc,
    Assert,
    At,
    Break,
    Buffer,
    Call,
    Cell,
    Const,
    Effect,
    For,
    Function,
    If,
    Let,
    Load,
    NewAxis,
    Operand,
    Place,
    Pop,
    Push,
    Raise,
    Span,
    Statement,
    Store,
    Tape,
    Value,
    While,
    Whole,
    blocks,
    leaves,
    program,
    reads,
    stores,
)
from gradwright.transform.errors import Location
from gradwright.transform.indices import Dim, Linear
from gradwright.transform.primitives.record import Primitive
from gradwright.transform.primitives.structural import (
    CAST,
    COPY,
    DISPLAY,
    FORMAT,
    NAMED,
    SPREAD,
    SUM_TO,
)
from gradwright.transform.simplify import may_raise
from gradwright.transform.types import Type

WIDTH = 88
WIDEST_NESTED = 64  # characters of an expression that is still nested into another
BINARY = {
    "+": ast.Add, "-": ast.Sub, "*": ast.Mult, "/": ast.Div, "//": ast.FloorDiv,
    "%": ast.Mod, "**": ast.Pow, "&": ast.BitAnd, "|": ast.BitOr, "^": ast.BitXor,
    "<<": ast.LShift, ">>": ast.RShift,
}  # fmt: skip
UNARY = {"-": ast.USub, "+": ast.UAdd, "~": ast.Invert, "not": ast.Not}
COMPARE = {
    "<": ast.Lt, "<=": ast.LtE, ">": ast.Gt, ">=": ast.GtE, "==": ast.Eq, "!=": ast.NotEq,
    "is": ast.Is, "is not": ast.IsNot,
}  # fmt: skip
CALLS = Place("calls", Type("None"))  # what a call waiting for its use is taken to read
MODULES = {"np": "import numpy as np", "math": "import math", "cmath": "import cmath"}


@dataclass(frozen=True)
class Module:
    """An emitted module: its text, its main function, and the user's line of each line."""

    text: str
    name: str
    lines: dict[int, Location]

    def __str__(self) -> str:
        return self.text


def emit(function: Function, header: str = "") -> Module:
    """The source of a function and of all that it calls, callees first."""
    functions = program(function)
    names = _function_names(functions)
    taken = set(names.values()) | set(MODULES) | set(keyword.kwlist) | set(dir(builtins))
    parts: list[str] = []
    locations: list[dict[int, Location]] = []
    imports: dict[str, None] = {}
    for f in functions:
        tree = _FunctionEmitter(f, names, imports).tree(taken)
        text, where = _print(tree, f.commented)
        parts.append(text)
        locations.append(where)
    head = [f'"""{header}"""\n'] if header else []
    if imports:
        head.append("\n".join(sorted(imports)) + "\n")
    text, lines = "", {}
    for part in head:
        text += part + "\n"
    for part, where in zip(parts, locations, strict=True):
        text += "\n" if text else ""
        offset = text.count("\n")
        lines.update({offset + n: location for n, location in where.items()})
        text += part + "\n"
    return Module(text.rstrip("\n") + "\n", names[id(function)], lines)


def _function_names(functions: list[Function]) -> dict[int, str]:
    names: dict[int, str] = {}
    for f in reversed(functions):
        names[id(f)] = _free(re.sub(r"\W", "_", f.name), set(names.values()))
    return names


def _free(base: str, taken: set[str]) -> str:
    name, k = base, 1
    while name in taken:
        name, k = f"{base}_{k}", k + 1
    return name


# ---- expressions that wait for their use -------------------------------------------


@dataclass(eq=False)
class _Waiting:
    """An expression not written yet, and the places it reads."""

    tree: ast.expr
    places: set[Place]
    width: int
    quiet: bool = False


class Name(ast.Name):
    """A name not settled yet: of a value or place."""

    thing: Any


def _name(thing: Any, store: bool = False) -> Name:
    node = Name(id=thing.name, ctx=ast.Store() if store else ast.Load())
    node.thing = thing
    return node


@dataclass(eq=False)
class _Use:
    """How often a value is read, and whether only by statements of its own block."""

    count: int = 0
    blocks: set[int] = field(default_factory=set)
    readers: list[Statement] = field(default_factory=list)


class _FunctionEmitter:
    """One function as a tree of Python, its names settled last."""

    def __init__(
        self, function: Function, names: dict[int, str], imports: dict[str, None]
    ) -> None:
        self.function = function
        self.names = names
        self.imports = imports
        self.uses: dict[Any, _Use] = {}
        self.left: dict[Any, int] = {}
        self.waiting: dict[Value, _Waiting] = {}
        self.chosen: dict[Cell, _Waiting] = {}
        self.stored_choice: dict[Cell, int] = {}
        self._count(function.body)
        for r in function.results:
            for v in leaves(r):
                use = self.uses.setdefault(v, _Use())
                use.count += 1
                use.blocks.add(id(function.body))
        self.left = {v: use.count for v, use in self.uses.items()}

    def _count(self, body: list[Statement]) -> None:
        for s in body:
            home = id(body)
            for v in reads(s):
                use = self.uses.setdefault(v, _Use())
                use.count += 1
                use.blocks.add(id(s.header) if isinstance(s, While | Assert) else home)
                use.readers.append(s)
            if isinstance(s, Store) and isinstance(s.place, Cell):
                self.stored_choice[s.place] = self.stored_choice.get(s.place, 0) + 1
            for b in blocks(s):
                self._count(b)

    def tree(self, taken: set[str]) -> ast.FunctionDef:
        f = self.function
        body = self.block(f.body, results=True)
        params = [_name(p) for p in f.params]
        _coalesce(body, set(f.params))
        _settle_names(body, f.params, taken)
        _drop_copies(body)
        hidden = [p for p in f.params if p in f.hidden]
        plain = [n for n, p in zip(params, f.params, strict=True) if p not in f.hidden]
        for n, p in zip(params, f.params, strict=True):
            n.id = p.settled  # type: ignore[union-attr]
        keywords = [ast.arg(p.settled) for p in hidden]  # type: ignore[attr-defined]
        arguments = ast.arguments(
            posonlyargs=[],
            args=[ast.arg(n.id) for n in plain],
            kwonlyargs=keywords,
            kw_defaults=[None] * len(keywords),
            defaults=[],
        )
        return ast.FunctionDef(
            name=self.names[id(f)],
            args=arguments,
            body=body or [ast.Pass()],
            decorator_list=[],
        )

    # ---- operands --------------------------------------------------------------

    def operand(self, o: Operand | Tape) -> _Waiting:
        """The expression of an operand; a waiting value is used up."""
        match o:
            case Linear():
                return self._linear(o)
            case Const():
                return self._const(o)
            case Value() if o in self.waiting:
                self.left[o] -= 1
                w = self.waiting[o]
                if self.left[o] <= 0:
                    del self.waiting[o]
                return w
        self.left[o] = self.left.get(o, 1) - 1
        return _Waiting(_name(o), {o} if isinstance(o, Place) else set(), len(o.name))

    def _const(self, o: Const) -> _Waiting:
        if o.text is not None:
            return _Waiting(self._dotted(o.text.lstrip("-"), o.text.startswith("-")), set(), 8)
        if isinstance(o.value, float) and not math.isfinite(o.value):
            text = "nan" if math.isnan(o.value) else "inf"
            return _Waiting(self._dotted(f"math.{text}", o.value < 0), set(), 8)
        return _Waiting(_number(o.value), set(), len(repr(o.value)))

    def _dotted(self, text: str, negative: bool = False) -> ast.expr:
        head = text.split(".", maxsplit=1)[0]
        if head in MODULES:
            self.imports.setdefault(MODULES[head])
        tree: ast.expr = ast.parse(text, mode="eval").body
        return ast.UnaryOp(ast.USub(), tree) if negative else tree

    def _linear(self, form: Linear) -> _Waiting:
        """`n - i - 1`: positive terms first, in the program's order."""
        terms = sorted(form.terms.items(), key=lambda term: term[1] < 0)
        tree: ast.expr | None = None
        places: set[Place] = set()
        width = 0
        for s, c in terms:
            w = self._dim(s) if isinstance(s, Dim) else self.operand(s)
            places |= w.places
            width += w.width + 3
            term = w.tree
            if abs(c) != 1:
                term = ast.BinOp(ast.Constant(abs(c)), ast.Mult(), term)
                width += 4
            if tree is None:
                tree = ast.UnaryOp(ast.USub(), term) if c < 0 else term
            else:
                tree = ast.BinOp(tree, ast.Sub() if c < 0 else ast.Add(), term)
        if tree is None:
            return _Waiting(_number(form.offset), set(), len(str(form.offset)))
        if form.offset:
            sign = ast.Sub() if form.offset < 0 else ast.Add()
            tree = ast.BinOp(tree, sign, ast.Constant(abs(form.offset)))
            width += 4
        return _Waiting(tree, places, width)

    def _dim(self, dim: Dim) -> _Waiting:
        w = self.operand(dim.array)
        if dim.axis == 0:
            tree: ast.expr = ast.Call(ast.Name("len"), [w.tree], [])
        else:
            shape = ast.Attribute(w.tree, "shape")
            tree = ast.Subscript(shape, ast.Constant(dim.axis))
        return _Waiting(tree, w.places, w.width + 5)

    def _all(self, operands: Any) -> tuple[list[ast.expr], set[Place], int, bool]:
        found = [self.operand(o) for o in operands]
        places = set().union(*(w.places for w in found)) if found else set()
        quiet = any(w.quiet for w in found)
        return [w.tree for w in found], places, sum(w.width + 3 for w in found), quiet

    # ---- primitives ------------------------------------------------------------

    def _let_tree(self, s: Let) -> _Waiting:
        trees, places, width, quiet = self._all(s.operands)
        tree = self._primitive(s.primitive, trees, s)
        width += len(s.primitive.spelling) if not s.primitive.is_operator else 1
        return _Waiting(tree, places, width, quiet or s.quiet)

    def _primitive(self, p: Primitive, trees: list[ast.expr], s: Let) -> ast.expr:
        spelling = p.spelling
        if p is NAMED:
            return trees[0]
        if p is FORMAT:
            return _f_string(s.attribute, trees)
        if p is DISPLAY:
            return self._display(trees, s)
        if p is CAST:
            return self._cast(trees[0], s.attribute)
        if p is COPY:
            return ast.Call(ast.Attribute(trees[0], "copy"), [], [])
        if p is SPREAD:
            return self._call("np.full_like", [trees[1], trees[0]])
        if p is SUM_TO:
            return self._sum_to(trees[0], *s.attribute)
        if spelling in ("np.real", "np.imag"):
            return ast.Attribute(trees[0], spelling[3:])
        if p.is_operator:
            return _operator(spelling, trees)
        return self._call(spelling, trees)

    def _call(self, name: str, arguments: list[ast.expr], **keywords: ast.expr) -> ast.Call:
        named = [ast.keyword(k, v) for k, v in keywords.items()]
        return ast.Call(self._dotted(name), arguments, named)

    def _display(self, trees: list[ast.expr], s: Let) -> ast.expr:
        items = iter(trees)

        def nest(shape: tuple[int, ...]) -> ast.expr:
            if not shape:
                return next(items)
            return ast.List([nest(shape[1:]) for _ in range(shape[0])])

        return self._call("np.array", [nest(s.attribute)])

    def _cast(self, tree: ast.expr, wanted: Type) -> ast.expr:
        if wanted.python:
            return ast.Call(ast.Name(wanted.dtype), [tree], [])
        if wanted.is_array:
            dtype = self._dotted(f"np.{wanted.dtype}")
            return ast.Call(ast.Attribute(tree, "astype"), [dtype], [])
        return self._call(f"np.{wanted.dtype}", [tree])

    def _sum_to(self, tree: ast.expr, lead: int, kept: tuple[int, ...]) -> ast.expr:
        if lead:
            axes = _axes(tuple(range(lead)))
            tree = self._call("np.sum", [tree], axis=axes)
        if kept:
            tree = self._call(
                "np.sum", [tree], axis=_axes(kept), keepdims=ast.Constant(True)
            )
        return tree

    def _index(self, index: Any, shown: list[ast.expr], places: set[Place]) -> ast.expr:
        def one(o: Any) -> ast.expr | None:
            if o is None:
                return None
            w = self.operand(o)
            places.update(w.places)
            return w.tree

        for item in index:
            match item:
                case At():
                    shown.append(one(item.position))  # type: ignore[arg-type]
                case Span():
                    shown.append(ast.Slice(*map(one, (item.lower, item.upper, item.step))))
                case NewAxis():
                    shown.append(ast.Constant(None))
                case Whole():
                    shown.append(ast.Constant(...))
        return shown[0] if len(shown) == 1 else ast.Tuple(shown)

    # ---- blocks ----------------------------------------------------------------

    def block(
        self, body: list[Statement], results: bool = False, skip: int = 0
    ) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for s in body[skip:]:
            self.statement(s, out, body)
        if results:
            self._return(out)
        return out

    def _return(self, out: list[ast.stmt]) -> None:
        found = [self.operand(r) for r in self.function.results]
        trees = [w.tree for w in found]
        if not trees:
            return
        value = trees[0] if len(trees) == 1 else ast.Tuple(trees)
        self._write(out, ast.Return(value), None, any(w.quiet for w in found))

    def _write(
        self, out: list[ast.stmt], node: ast.stmt, s: Statement | None, quiet: bool = False
    ) -> None:
        """Add a statement; one whose warnings are our own goes under errstate."""
        node.where = s.where if s is not None else None  # type: ignore[attr-defined]
        node.adjoint = s.adjoint if s is not None else False  # type: ignore[attr-defined]
        if not quiet:
            out.append(node)
            return
        if out and isinstance(out[-1], ast.With):
            out[-1].body.append(node)
            return
        ignored = {k: ast.Constant("ignore") for k in ("divide", "invalid", "over")}
        state = ast.withitem(self._call("np.errstate", [], **ignored))
        with_ = ast.With([state], [node])
        with_.where = node.where  # type: ignore[attr-defined]
        with_.adjoint = node.adjoint  # type: ignore[attr-defined]
        out.append(with_)

    def _flush(self, changed: set[Place], out: list[ast.stmt], s: Statement) -> None:
        """Write what waits and reads places that are about to change."""
        for v in [v for v, w in self.waiting.items() if w.places & changed]:
            w = self.waiting.pop(v)
            self._write(out, ast.Assign([_name(v, True)], w.tree), s, w.quiet)

    def _settle(
        self, v: Any, w: _Waiting, out: list[ast.stmt], s: Statement, body: list[Statement]
    ) -> None:
        """A new value: written now, or kept waiting for its only use."""
        count = self.left.get(v, 0)
        if count == 0:
            if isinstance(s, Call) or may_raise(s):  # type: ignore[arg-type]
                self._write(out, ast.Expr(w.tree), s, w.quiet)
            return
        if count == 1 and self._nests(v, w, body):
            self.waiting[v] = w
        else:
            self._write(out, ast.Assign([_name(v, True)], w.tree), s, w.quiet)

    def _nests(self, v: Value, w: _Waiting, body: list[Statement]) -> bool:
        use = self.uses[v]
        if use.blocks != {id(body)}:
            return False
        reader = use.readers[0] if use.readers else None
        if isinstance(reader, Store) and not reader.index and isinstance(reader.place, Cell):
            return True
        if getattr(v, "users", False):
            return False
        return w.width <= WIDEST_NESTED

    def statement(self, s: Statement, out: list[ast.stmt], body: list[Statement]) -> None:
        match s:
            case Let():
                self._settle(s.out, self._let_tree(s), out, s, body)
            case Load():
                self._load(s, out, body)
            case Alloc():
                self._alloc(s, out)
            case Store():
                self._store(s, out)
            case Push():
                self._flush({CALLS}, out, s)
                w = self.operand(s.operand)
                push = ast.Attribute(self._place(s.tape), "append")
                self._flush({s.tape}, out, s)
                self._write(out, ast.Expr(ast.Call(push, [w.tree], [])), s)
            case Pop():
                self._flush({s.tape, CALLS}, out, s)
                pop = ast.Call(ast.Attribute(self._place(s.tape), "pop"), [], [])
                if self.left.get(s.out, 0) == 0:
                    self._write(out, ast.Expr(pop), s)
                else:
                    w = _Waiting(pop, {s.tape}, len(s.tape.name) + 6)
                    self._settle(s.out, w, out, s, body)
            case If():
                self._if(s, out)
            case For():
                self._for(s, out)
            case While():
                self._while(s, out)
            case Break():
                self._write(out, ast.Break(), s)
            case Call():
                self._call_statement(s, out, body)
            case Effect():
                self._flush({CALLS}, out, s)
                trees, *_ = self._all(s.operands)
                keywords = [ast.keyword(k, self.operand(v).tree) for k, v in s.keywords]
                function = ast.Name(s.function.__name__)
                self._write(out, ast.Expr(ast.Call(function, trees, keywords)), s)
            case Raise():
                trees, *_ = self._all(s.operands)
                made = ast.Call(self._exception(s.exception), trees, [])
                self._write(out, ast.Raise(exc=made), s)
            case Assert():
                self._assert(s, out)

    def _place(self, p: Place) -> ast.expr:
        return _name(p)

    def _exception(self, cls: type[BaseException]) -> ast.expr:
        if cls.__module__ != "builtins":
            self.imports.setdefault(f"from {cls.__module__} import {cls.__qualname__}")
        return ast.Name(cls.__qualname__)

    def _load(self, s: Load, out: list[ast.stmt], body: list[Statement]) -> None:
        source = s.source
        if isinstance(source, Cell):
            if source in self.chosen:
                self._settle(s.out, self.chosen.pop(source), out, s, body)
            elif self.left.get(s.out, 0) == 0:
                if may_raise(s):
                    self._write(out, ast.Expr(_name(source)), s)
            else:
                self.waiting[s.out] = _Waiting(_name(source), {source}, len(source.name))
            return
        w = self.operand(source) if isinstance(source, Value) else None
        places = set(w.places) if w else {source}
        tree: ast.expr = w.tree if w else _name(source)
        width = (w.width if w else len(source.name)) + 4
        if s.index:
            tree = ast.Subscript(tree, self._index(s.index, [], places))
        elif not s.index:
            self.waiting[s.out] = _Waiting(tree, places, width)
            return
        self._settle(s.out, _Waiting(tree, places, width), out, s, body)

    def _alloc(self, s: Alloc, out: list[ast.stmt]) -> None:
        match s.place:
            case Buffer():
                like = self.operand(s.place.like).tree
                tree = self._call("np.zeros_like", [like])
                self._write(out, ast.Assign([_name(s.place, True)], tree), s)
            case Tape():
                self._write(out, ast.Assign([_name(s.place, True)], ast.List([])), s)

    def _store(self, s: Store, out: list[ast.stmt]) -> None:
        w = self.operand(s.operand)
        places: set[Place] = set()
        target: ast.expr = _name(s.place, True)
        if s.index:
            target = ast.Subscript(_name(s.place), self._index(s.index, [], places))
        self._flush({s.place}, out, s)
        if not s.accumulate:
            self._write(out, ast.Assign([target], w.tree), s, w.quiet)
            return
        tree, op = w.tree, ast.Add()
        if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
            tree, op = tree.operand, ast.Sub()  # type: ignore[assignment]
        self._write(out, ast.AugAssign(target, op, tree), s, w.quiet)

    def _if(self, s: If, out: list[ast.stmt]) -> None:
        self._flush(_changed(s), out, s)
        condition = self.operand(s.condition)
        then, orelse = self.block(s.then), self.block(s.orelse)
        cell = _only_choice(s)
        if cell is not None and _is_assignment(then) and _is_assignment(orelse):
            self._choose(cell, condition, then[0], orelse[0])
            return
        if not then and not orelse:
            return
        test = condition.tree
        if not then:
            test, then, orelse = _negated(test), orelse, []
        rest: list[ast.stmt] = []
        if isinstance(then[-1], ast.Break) and orelse:
            orelse, rest = [], orelse
        self._write(out, ast.If(test, then, orelse), s)
        out.extend(rest)

    def _choose(
        self, cell: Cell, condition: _Waiting, then: ast.stmt, orelse: ast.stmt
    ) -> None:
        """A conditional expression, an `and` or an `or`."""
        assert isinstance(then, ast.Assign) and isinstance(orelse, ast.Assign)
        test = condition.tree
        if ast.dump(orelse.value) == ast.dump(test):
            tree: ast.expr = _bool_op(ast.And(), test, then.value)
        elif ast.dump(then.value) == ast.dump(test):
            tree = _bool_op(ast.Or(), test, orelse.value)
        else:
            tree = ast.IfExp(test, then.value, orelse.value)
        width = len(ast.unparse(tree))
        self.chosen[cell] = _Waiting(tree, _places_in(tree), width)

    def _for(self, s: For, out: list[ast.stmt]) -> None:
        bounds = [self.operand(o) for o in (s.start, s.stop, s.step)]
        self._flush(_changed(s), out, s)
        iterated = _iterated(s)
        if any(self.left.get(load.out, 0) for load in iterated) and _is_whole(s, iterated) and not (set(stores(s)) & set(leaves(s.stop))):
            self._iterate(s, iterated, out)
            return
        start, stop, step = (w.tree for w in bounds)
        arguments = [start, stop, step]
        if s.step == Linear({}, 1):
            arguments.pop()
            if s.start == Linear({}, 0):
                arguments.pop(0)
        counting: ast.expr = ast.Call(ast.Name("range"), arguments, [])
        if s.backwards:
            counting = ast.Call(ast.Name("reversed"), [counting], [])
        inner = self.block(s.body)
        if inner:
            self._write(out, ast.For(_name(s.symbol, True), counting, inner, []), s)

    def _iterate(self, s: For, loads: list[Load], out: list[ast.stmt]) -> None:
        """`for x in xs`, `for i, x in enumerate(xs)`, `for x, w in zip(xs, ws)`."""
        for load in loads:
            self.left[s.symbol] -= 1
        used = [load for load in loads if self.left.get(load.out, 0)]
        names = [_name(load.out, True) for load in used]
        found = {load: self.operand(load.source).tree for load in loads}
        arrays = [found[load] for load in used]
        target: ast.expr = names[0] if len(names) == 1 else ast.Tuple(names)
        items = arrays[0] if len(arrays) == 1 else ast.Call(ast.Name("zip"), arrays, [])
        if self.left.get(s.symbol, 0) > 0:
            target = ast.Tuple([_name(s.symbol, True), target])
            items = ast.Call(ast.Name("enumerate"), [items], [])
        inner = self.block(s.body, skip=len(loads))
        if inner:
            self._write(out, ast.For(target, items, inner, []), s)

    def _while(self, s: While, out: list[ast.stmt]) -> None:
        self._flush(_changed(s), out, s)
        header: list[ast.stmt] = []
        for h in s.header:
            self.statement(h, header, s.header)
        test = self.operand(s.condition).tree
        inner = self.block(s.body)
        if header:
            leave = ast.If(_negated(test), [ast.Break()], [])
            inner, test = [*header, leave, *inner], ast.Constant(True)
        self._write(out, ast.While(test, inner or [ast.Pass()], []), s)

    def _assert(self, s: Assert, out: list[ast.stmt]) -> None:
        test = self.operand(s.condition).tree
        header: list[ast.stmt] = []
        for h in s.header:
            self.statement(h, header, s.header)
        message = self.operand(s.message).tree if s.message is not None else None
        if header:
            made = ast.Call(ast.Name("AssertionError"), [message] if message else [], [])
            body = [*header, ast.Raise(exc=made)]
            self._write(out, ast.If(_negated(test), body, []), s)
        else:
            self._write(out, ast.Assert(test, message), s)

    def _call_statement(
        self, s: Call, out: list[ast.stmt], body: list[Statement]
    ) -> None:
        self._flush({CALLS}, out, s)
        trees, *_ = self._all(s.operands)
        named = [p for p in s.function.params if p in s.function.hidden]
        assert not named
        call = ast.Call(ast.Name(self.names[id(s.function)]), trees, [])
        outs = [o for o in s.outs]
        if not outs:
            self._write(out, ast.Expr(call), s)
            return
        if len(outs) == 1 and isinstance(outs[0], Value):
            self._settle(outs[0], _Waiting(call, {CALLS}, 30), out, s, body)
            return
        targets: list[ast.expr] = [_name(o, True) for o in outs]
        target = targets[0] if len(targets) == 1 else ast.Tuple(targets)
        self._write(out, ast.Assign([target], call), s)


# ---- small trees -------------------------------------------------------------------


def _number(value: Any) -> ast.expr:
    if isinstance(value, complex):
        size = ast.Constant(complex(0.0, abs(value.imag)))
        negative = math.copysign(1, value.imag) < 0
        if value.real:
            sign = ast.Sub() if negative else ast.Add()
            return ast.BinOp(_number(value.real), sign, size)
        return ast.UnaryOp(ast.USub(), size) if negative else size
    if isinstance(value, int | float) and not isinstance(value, bool):
        if value < 0 or (value == 0 and math.copysign(1, value) < 0):
            return ast.UnaryOp(ast.USub(), ast.Constant(-value))
    return ast.Constant(value)


def _axes(axes: tuple[int, ...]) -> ast.expr:
    if len(axes) == 1:
        return ast.Constant(axes[0])
    return ast.Tuple([ast.Constant(k) for k in axes])


def _operator(spelling: str, trees: list[ast.expr]) -> ast.expr:
    if len(trees) == 1:
        return ast.UnaryOp(UNARY[spelling](), trees[0])
    left, right = trees
    if spelling in COMPARE:
        return ast.Compare(left, [COMPARE[spelling]()], [right])
    return ast.BinOp(left, BINARY[spelling](), right)


def _negated(test: ast.expr) -> ast.expr:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    return ast.UnaryOp(ast.Not(), test)


def _bool_op(op: ast.boolop, first: ast.expr, second: ast.expr) -> ast.expr:
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


def _f_string(parts: tuple[Any, ...], trees: list[ast.expr]) -> ast.expr:
    values: list[ast.expr] = []
    for part in parts:
        if isinstance(part, str):
            values.append(ast.Constant(part))
        else:
            k, conversion, spec = part
            shown = ast.JoinedStr([ast.Constant(spec)]) if spec else None
            values.append(ast.FormattedValue(trees[k], conversion, shown))
    return ast.JoinedStr(values)


def _places_in(tree: ast.expr) -> set[Place]:
    return {
        n.thing
        for n in ast.walk(tree)
        if isinstance(n, Name) and isinstance(n.thing, Place)
    }


def _changed(s: Statement) -> set[Place]:
    return stores(s) | {CALLS}


def _is_assignment(block: list[ast.stmt]) -> bool:
    return len(block) == 1 and isinstance(block[0], ast.Assign)


def _only_choice(s: If) -> Cell | None:
    """The choice cell that both branches end by storing, and nothing else does."""
    ends = [b[-1] for b in (s.then, s.orelse) if b]
    if len(ends) != 2 or not all(isinstance(e, Store) for e in ends):
        return None
    cell = ends[0].place  # type: ignore[attr-defined]
    same = cell is ends[1].place  # type: ignore[attr-defined]
    return cell if same and isinstance(cell, Cell) and cell.choice else None


def _iterated(s: For) -> list[Load]:
    """The loads `x = xs[i]` that begin a loop over items."""
    found: list[Load] = []
    if s.start != Linear({}, 0) or s.step != Linear({}, 1) or s.backwards:
        return found
    for t in s.body:
        if not (isinstance(t, Load) and t.safe and isinstance(t.source, Value)):
            break
        if t.index != (At(Linear({s.symbol: 1})),):
            break
        found.append(t)
    return found


def _is_whole(s: For, loads: list[Load]) -> bool:
    """Whether the loop runs over all of each array."""
    return all(
        isinstance(load.source, Value) and (load.source.type.dims or (None,))[0] == s.stop
        for load in loads
    )


# ---- names -------------------------------------------------------------------------


@dataclass(eq=False)
class _Life:
    """Where a thing is written and read, by statement number; and the loops around."""

    thing: Any
    accesses: list[tuple[int, bool, tuple[tuple[int, int], ...]]] = field(default_factory=list)

    def interval(self, last: int) -> tuple[int, int]:
        if getattr(self.thing, "maybe_unbound", False):
            return -1, last
        low = min(a[0] for a in self.accesses)
        high = max(a[0] for a in self.accesses)
        changed = True
        while changed:
            changed = False
            for _, _, loops in self.accesses:
                for start, end in loops:
                    if (low < start or high > end) and (start < low or end > high):
                        low, high, changed = min(low, start), max(high, end), True
        return low, high


def _lives(body: list[ast.stmt]) -> tuple[dict[Any, _Life], int]:
    """Every thing's accesses, in the order of the text."""
    lives: dict[Any, _Life] = {}
    position = 0

    def note(node: ast.AST | None, at: int, loops: tuple[Any, ...]) -> None:
        if node is None:
            return
        for n in ast.walk(node):
            if isinstance(n, Name):
                written = isinstance(n.ctx, ast.Store)
                lives.setdefault(n.thing, _Life(n.thing)).accesses.append((at, written, loops))

    def visit(block: list[ast.stmt], loops: tuple[Any, ...]) -> None:
        nonlocal position
        for s in block:
            position += 1
            at = position
            s.position = at  # type: ignore[attr-defined]
            match s:
                case ast.For() | ast.While():
                    end = at + _length([s])
                    inner = (*loops, (at, end))
                    if isinstance(s, ast.For):
                        note(s.iter, at, loops)
                        note(s.target, at, inner)
                        note(s.target, end, inner)
                    else:
                        note(s.test, at, inner)
                    visit(s.body, inner)
                case ast.If():
                    note(s.test, at, loops)
                    visit(s.body, loops)
                    visit(s.orelse, loops)
                case ast.With():
                    visit(s.body, loops)
                case _:
                    note(s, at, loops)

    visit(body, ())
    return lives, position + 1


def _length(block: list[ast.stmt]) -> int:
    total = 0
    for s in block:
        total += 1
        for inner in (getattr(s, "body", []), getattr(s, "orelse", [])):
            total += _length(inner)
    return total


def _coalesce(body: list[ast.stmt], params: set[Any]) -> None:
    """`v = e` ... `x = v`: v is written as x from the start, where x is free by then."""
    while True:
        lives, last = _lives(body)
        found = _find_copy(body, lives, last, params)
        if found is None:
            return
        v, cell = found
        for s in body:
            for n in ast.walk(s):
                if isinstance(n, Name) and n.thing is v:
                    n.thing, n.id = cell, cell.name
        _remove_copy(body, cell)


def _find_copy(
    body: list[ast.stmt], lives: dict[Any, _Life], last: int, params: set[Any]
) -> tuple[Any, Any] | None:
    for block in _blocks(body):
        written = {
            s.targets[0].thing: s
            for s in block
            if isinstance(s, ast.Assign) and isinstance(s.targets[0], Name)
        }
        for s in block:
            match s:
                case ast.Assign(targets=[Name(thing=Cell() as cell)], value=Name(thing=v)):
                    pass
                case _:
                    continue
            if not isinstance(v, Value) or v in params or v not in written or v is cell:
                continue
            if _may_share(v, cell, written[v], s, lives, last):
                return v, cell
    return None


def _may_share(
    v: Any, cell: Any, begin: Any, copy: Any, lives: dict[Any, _Life], last: int
) -> bool:
    low, high = lives[v].interval(last)
    if sum(w for _, w, _ in lives[v].accesses) != 1 or low < begin.position:
        return False
    for at, is_written, _ in lives[cell].accesses:
        if at == copy.position and is_written:
            continue
        if begin.position < at <= high and is_written:
            return False
        if begin.position < at <= copy.position:
            return False
    return True


def _blocks(body: list[ast.stmt]) -> list[list[ast.stmt]]:
    found = [body]
    for s in body:
        for inner in (getattr(s, "body", []), getattr(s, "orelse", [])):
            if inner:
                found += _blocks(inner)
    return found


def _remove_copy(body: list[ast.stmt], cell: Any) -> None:
    for block in _blocks(body):
        for s in block:
            match s:
                case ast.Assign(targets=[Name(thing=a)], value=Name(thing=b)):
                    if a is b is cell:
                        block.remove(s)
                        return


def _settle_names(body: list[ast.stmt], params: list[Any], taken: set[str]) -> None:
    """Give every thing a name; one name for several whose lives do not overlap."""
    lives, last = _lives(body)
    used: dict[str, list[tuple[int, int]]] = {}
    for p in params:
        p.settled = _free(_spell(p.name), taken | set(used))
        low, high = lives[p].interval(last) if p in lives else (0, 0)
        used[p.settled] = [(-1, high)]
    things = sorted((t for t in lives if t not in params), key=_rank)
    for t in things:
        low, high = lives[t].interval(last)
        base = name = _spell(t.name)
        k = 1
        while name in taken or any(low < e and s < high for s, e in used.get(name, [])):
            name, k = f"{base}_{k}", k + 1
        t.settled = name
        used.setdefault(name, []).append((low, high))
    for s in body:
        for n in ast.walk(s):
            if isinstance(n, Name):
                n.id = n.thing.settled


def _rank(t: Any) -> tuple[bool, int]:
    """The user's own names come first, then the order in which things were made."""
    users = t.users if isinstance(t, Value) else isinstance(t, Cell) and not t.choice
    return (not users, t.serial)


def _spell(name: str) -> str:
    spelled = re.sub(r"\W", "_", name)
    return spelled if spelled and not spelled[0].isdigit() else f"v{spelled}"


def _drop_copies(body: list[ast.stmt]) -> None:
    """`x = x` says nothing, once names are settled; nor does a branch without anything."""
    kept: list[ast.stmt] = []
    for s in body:
        for inner in (getattr(s, "body", []), getattr(s, "orelse", [])):
            _drop_copies(inner)
        if isinstance(s, ast.If) and not s.body:
            if not s.orelse:
                continue
            s.test, s.body, s.orelse = _negated(s.test), s.orelse, []
        elif isinstance(s, ast.For | ast.While) and not s.body:
            s.body.append(ast.Pass())
        if not _is_idle(s):
            kept.append(s)
    body[:] = kept


def _is_idle(s: ast.stmt) -> bool:
    return (
        isinstance(s, ast.Assign)
        and isinstance(s.targets[0], ast.Name)
        and isinstance(s.value, ast.Name)
        and s.targets[0].id == s.value.id
    )


# ---- printing ----------------------------------------------------------------------

MARK = re.compile(r"^(\s*)[\"']+@@(\d+)[\"']+$")


def _print(tree: ast.FunctionDef, commented: bool) -> tuple[str, dict[int, Location]]:
    """The text of a function with its comments, and the user's location of each line."""
    notes = _Notes()
    notes.mark(tree.body, commented and _has_forward(tree.body))
    ast.fix_missing_locations(tree)
    text = astor.to_source(tree, pretty_source=_joined)
    lines: list[str] = []
    locations: dict[int, Location] = {}
    where: Location | None = None
    for line in text.rstrip("\n").split("\n"):
        mark = MARK.match(line)
        if mark is None:
            lines.append(line)
            if where is not None:
                locations[len(lines)] = where
            continue
        where, comment = notes.entries[int(mark[2])]
        if commented and comment is not None:
            lines.append(f"{mark[1]}# {comment}")
    return "\n".join(lines), locations


def _joined(source: list[str]) -> str:
    return "".join(split_lines(source, WIDTH))


def _has_forward(body: list[ast.stmt]) -> bool:
    kinds = {bool(getattr(s, "adjoint", False)) for s in body if not isinstance(s, ast.Return)}
    return len(kinds) == 2


class _Notes:
    """The user's location and the comment that stand before each statement."""

    def __init__(self) -> None:
        self.entries: list[tuple[Location | None, str | None]] = []
        self.last: Location | None = None

    def mark(self, body: list[ast.stmt], sections: bool = False) -> None:
        """Put a marker before every statement."""
        marked: list[ast.stmt] = []
        if sections:
            marked.append(self._entry(None, "forward sweep"))
        in_reverse = False
        for s in body:
            if sections and getattr(s, "adjoint", False) and not in_reverse:
                marked.append(self._entry(None, "reverse sweep"))
                in_reverse = True
            where = getattr(s, "where", None)
            marked.append(self._entry(where, self._comment(s, where)))
            marked.append(s)
            self._inside(s)
        body[:] = marked

    def _entry(self, where: Location | None, comment: str | None) -> ast.stmt:
        self.entries.append((where, comment))
        return ast.Expr(ast.Constant(f"@@{len(self.entries) - 1}"))

    def _comment(self, s: ast.stmt, where: Location | None) -> str | None:
        if isinstance(s, ast.For | ast.While | ast.If | ast.Return) or where is None:
            return None
        if not getattr(s, "adjoint", False) or _same_line(where, self.last):
            return None
        self.last = where
        return f"{where}  {where.text.strip()}"

    def _inside(self, s: ast.stmt) -> None:
        orelse = getattr(s, "orelse", [])
        if getattr(s, "body", []):
            self.mark(s.body)  # type: ignore[attr-defined]
        if len(orelse) == 1 and isinstance(orelse[0], ast.If):
            self._inside(orelse[0])  # it is printed as elif
        elif orelse:
            self.mark(orelse)


def _same_line(a: Location, b: Location | None) -> bool:
    return b is not None and (a.filename, a.line) == (b.filename, b.line)



def unparse(tree: ast.AST) -> str:
    """The text of any tree, long lines split."""
    return str(astor.to_source(tree, pretty_source=_joined))
