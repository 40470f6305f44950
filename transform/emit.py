"""Emit: core to readable source, NumPy only.

    Let(product, mul, [w, y]); Let(v, tanh, [product]); Store(y, v)  ->  y = math.tanh(w * y)

Values used once are nested into what uses them, where nothing between changes what
they read.  `names` then settles what things are called, `layout` prints, and what does
not fit on its line is taken apart again by `outline`.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import operator
from dataclasses import dataclass, field
from typing import Any

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
    walk,
)
from gradwright.transform.deadcode import may_raise
from gradwright.transform.errors import Location
from gradwright.transform.indices import Dim, Linear
from gradwright.transform.layout import Printed, printed
from gradwright.transform.names import free, places_in, settle, spell
from gradwright.transform.outline import held, if_statement, is_chain, note, outline
from gradwright.transform.spelling import (
    MODULES,
    Spelling,
    bool_op,
    counting,
    name_of,
    negated,
    negative,
    product,
    sum_of,
    unsigned,
)
from gradwright.transform.types import Type

WIDEST_WAITING = 300  # characters, roughly, of an expression that still waits
ROUNDS = 8  # of taking long lines apart
CALLS = Place("calls", Type("None"))  # what a call waiting for its use is taken to read


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
    imports: dict[str, None] = {}
    parts = [_printed(f, names, imports, taken) for f in functions]
    head = [f'"""{header}"""'] if header else []
    if imports:
        head += ["", *sorted(imports)] if head else sorted(imports)
    lines, locations = list(head), dict[int, Location]()
    for part in parts:
        lines += ["", ""] if lines else []
        locations.update({len(lines) + n: where for n, where in part.locations.items()})
        lines += part.lines
    return Module("\n".join(lines) + "\n", names[id(function)], locations)


def _function_names(functions: list[Function]) -> dict[int, str]:
    names: dict[int, str] = {}
    for f in reversed(functions):
        names[id(f)] = free(spell(f.name), set(names.values()))
    return names


def _printed(
    f: Function, names: dict[int, str], imports: dict[str, None], taken: set[str]
) -> Printed:
    """One function, named and laid out; what is too long is taken apart, and again."""
    body = _FunctionEmitter(f, names, imports).body()
    for last in [*[False] * ROUNDS, True]:
        settled = settle(body, f.params, taken)
        for p in f.params:
            p.settled = settled[p]  # type: ignore[union-attr]
        tree = _definition(f, names[id(f)], settled, body)
        text = printed(tree, f.commented)
        if last or not outline(text.long):
            break
    return text


def _definition(
    f: Function, name: str, settled: dict[Any, str], body: list[ast.stmt]
) -> ast.FunctionDef:
    hidden = [ast.arg(settled[p]) for p in f.params if p in f.hidden]
    arguments = ast.arguments(
        posonlyargs=[],
        args=[ast.arg(settled[p]) for p in f.params if p not in f.hidden],
        kwonlyargs=hidden,
        kw_defaults=[None] * len(hidden),
        defaults=[],
    )
    return ast.FunctionDef(name=name, args=arguments, body=body, decorator_list=[])


# ---- statements --------------------------------------------------------------------


@dataclass(eq=False)
class _Waiting:
    """An expression not written yet, and the places it reads."""

    tree: ast.expr
    places: set[Place]
    width: int
    quiet: bool = False


@dataclass(eq=False)
class _Use:
    """How often a value is read, in which blocks, and by which statements."""

    count: int = 0
    blocks: set[int] = field(default_factory=set)


class _FunctionEmitter:
    """One function as a tree of Python, its names settled last."""

    def __init__(
        self, function: Function, names: dict[int, str], imports: dict[str, None]
    ) -> None:
        self.function = function
        self.names = names
        self.spelling = Spelling(imports)
        self.uses: dict[Any, _Use] = {}
        self.waiting: dict[Value, _Waiting] = {}
        self.chosen: dict[Cell, _Waiting] = {}
        self.changed: dict[Statement, set[Place]] = {}
        self.branch_of: dict[int, int] = {}
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
                inside = isinstance(s, While) or (
                    isinstance(s, Assert) and v not in set(leaves(s.condition))
                )
                use.blocks.add(id(s.header) if inside else home)  # type: ignore[union-attr]
            short = _short(s)
            for b in blocks(s):
                if isinstance(s, If):
                    self.branch_of[id(b)] = home
                if b is not short:
                    self._count(b)

    def body(self) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for s in self.function.body:
            self.statement(s, out, self.function.body)
        found = [self.operand(r) for r in self.function.results]
        if found:
            trees = [w.tree for w in found]
            value = trees[0] if len(trees) == 1 else ast.Tuple(trees)
            self._write(out, ast.Return(value), None, any(w.quiet for w in found))
            for node in (out[-1], *getattr(out[-1], "body", [])[-1:]):  # under errstate
                node.where = self._returned(value)
            _return_at_once(out)
        return out

    def _returned(self, value: ast.expr) -> Location | None:
        """The user's line of what may raise in the returned value, the last of several."""
        lines = [getattr(n, "raises", None) for n in ast.walk(value)]
        found = [where for where in lines if where is not None]
        found = found or [s.where for s in walk(self.function.body) if s.where is not None]
        return max(found, key=lambda where: where.line, default=None)

    def block(self, body: list[Statement], skip: int = 0) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        before = set(self.waiting)
        for s in body[skip:]:
            self.statement(s, out, body)
        if body:
            self._leave(before, out, body[-1])
        return out

    def _leave(self, before: set[Any], out: list[ast.stmt], last: Statement) -> None:
        """Write what still waits at the end of a nested block, if a place may change."""
        for v in [v for v, w in self.waiting.items() if v not in before and w.places]:
            if self.left.get(v, 0) > 0:
                made: list[ast.stmt] = []
                self._assign(v, self.waiting.pop(v), made, last)
                at = len(out) - 1 if isinstance(last, Break) and out else len(out)
                out[at:at] = made

    # ---- operands --------------------------------------------------------------

    def operand(self, o: Operand | Tape) -> _Waiting:
        """The expression of an operand; a waiting value is used up."""
        match o:
            case Linear():
                return self._linear(o)
            case Const():
                return _Waiting(self.spelling.constant(o), set(), 8)
            case Value() | Tape() if o in self.waiting:
                self.left[o] -= 1
                w = self.waiting[o]
                if self.left[o] <= 0:
                    del self.waiting[o]
                return w
        self.left[o] = self.left.get(o, 1) - 1
        return _Waiting(name_of(o), {o} if isinstance(o, Place) else set(), len(o.name))

    def _linear(self, form: Linear) -> _Waiting:
        terms: list[tuple[ast.expr, int]] = []
        places: set[Place] = set()
        width = 8
        for s, c in form.terms.items():
            w = self._dim(s) if isinstance(s, Dim) else self.operand(s)
            places |= w.places
            width += w.width + 3
            terms.append((w.tree, c))
        return _Waiting(sum_of(terms, form.offset), places, width)

    def _dim(self, dim: Dim) -> _Waiting:
        w = self.operand(dim.array)
        if dim.axis == 0:
            tree: ast.expr = ast.Call(ast.Name("len"), [w.tree], [])
        else:
            shape = ast.Attribute(w.tree, "shape")
            tree = ast.Subscript(shape, ast.Constant(dim.axis))
        return _Waiting(tree, w.places, w.width + 5)

    def _trees(self, operands: Any) -> list[ast.expr]:
        return [self.operand(o).tree for o in operands]

    def _index(self, index: Any, places: set[Place]) -> ast.expr:
        def one(o: Any) -> Any:
            if o is None:
                return None
            w = self.operand(o)
            places.update(w.places)
            return w.tree

        shown: list[ast.expr] = []
        for item in index:
            match item:
                case At():
                    shown.append(one(item.position))
                case Span():
                    shown.append(ast.Slice(*map(one, (item.lower, item.upper, item.step))))
                case NewAxis():
                    shown.append(ast.Constant(None))
                case Whole():
                    shown.append(ast.Constant(...))
        return shown[0] if len(shown) == 1 else ast.Tuple(shown)

    # ---- writing ---------------------------------------------------------------

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
        ignored: dict[str, ast.expr] = {
            k: ast.Constant("ignore") for k in ("divide", "invalid", "over")
        }
        state = ast.withitem(self.spelling.call("np.errstate", [], **ignored))
        with_ = ast.With([state], [node])
        with_.where = node.where  # type: ignore[attr-defined]
        with_.adjoint = node.adjoint  # type: ignore[attr-defined]
        out.append(with_)

    def _assign(self, v: Any, w: _Waiting, out: list[ast.stmt], s: Statement) -> None:
        self._write(out, ast.Assign([name_of(v, True)], w.tree), s, w.quiet)

    def _flush(self, changed: set[Place], out: list[ast.stmt], s: Statement) -> None:
        """Write what waits and reads places that are about to change."""
        for v in [v for v, w in self.waiting.items() if w.places & changed]:
            self._assign(v, self.waiting.pop(v), out, s)

    def _changed(self, s: Statement) -> set[Place]:
        if s not in self.changed:
            self.changed[s] = stores(s) | {CALLS}
        return self.changed[s]

    def _settle(
        self, v: Any, w: _Waiting, out: list[ast.stmt], s: Statement, body: list[Statement]
    ) -> None:
        """A new value: written now, or kept waiting for its only use."""
        count = self.left.get(v, 0)
        if count == 0:
            if isinstance(s, Call) or may_raise(s):  # type: ignore[arg-type]
                self._write(out, ast.Expr(w.tree), s, w.quiet)
        elif count == 1 and self._nests(v, w, s, body):
            held(w.tree, v, s)
            self.waiting[v] = w
        else:
            self._assign(v, w, out, s)

    def _nests(self, v: Value, w: _Waiting, s: Statement, body: list[Statement]) -> bool:
        """Whether a value may be written where it is used, in this block or a branch."""
        if isinstance(v, Value) and v.users or w.width > WIDEST_WAITING:
            return False
        used = self.uses[v].blocks
        if used == {id(body)}:
            return True
        if not isinstance(s, Let | Load) or may_raise(s) or len(used) != 1:
            return False
        if any(isinstance(p, Tape) or p is CALLS for p in w.places):
            return False
        (home,) = used
        while home in self.branch_of and home != id(body):
            home = self.branch_of[home]
        return home == id(body)

    # ---- each statement --------------------------------------------------------

    def statement(self, s: Statement, out: list[ast.stmt], body: list[Statement]) -> None:
        match s:
            case Let():
                self._let(s, out, body)
            case Load():
                self._load(s, out, body)
            case Alloc():
                self._alloc(s, out)
            case Store():
                self._store(s, out)
            case Push():
                self._flush({CALLS}, out, s)
                w = self.operand(s.operand)
                push = ast.Attribute(name_of(s.tape), "append")
                self._flush({s.tape}, out, s)
                self._write(out, ast.Expr(ast.Call(push, [w.tree], [])), s)
            case Pop():
                self._pop(s, out, body)
            case If():
                self._if(s, out)
            case For():
                self._for(s, out)
            case While():
                self._while(s, out)
            case Break():
                self._write(out, ast.Break(), s)
            case Call():
                self._call(s, out, body)
            case Effect():
                self._effect(s, out)
            case Raise():
                made = ast.Call(
                    self.spelling.exception(s.exception), self._trees(s.operands), []
                )
                self._write(out, ast.Raise(exc=made), s)
            case Assert():
                self._assert(s, out)

    def _let(self, s: Let, out: list[ast.stmt], body: list[Statement]) -> None:
        found = [self.operand(o) for o in s.operands]
        places = set().union(*(w.places for w in found)) if found else set()
        quiet = s.quiet or any(w.quiet for w in found)
        trees = [w.tree for w in found]
        if s.adjoint and s.primitive.spelling == "*" and not s.out.type.is_array:
            tree = product(*trees)
        elif s.adjoint and s.out.type.python and s.primitive.function is operator.neg:
            tree = negative(trees[0])
        else:
            tree = self.spelling.primitive(s, trees)
        if s.primitive.raises:
            tree.raises = s.where  # type: ignore[attr-defined]
        tree.ours = s.adjoint  # type: ignore[attr-defined]
        width = sum(w.width + 3 for w in found) + len(s.primitive.spelling)
        self._settle(s.out, _Waiting(tree, places, width, quiet), out, s, body)

    def _load(self, s: Load, out: list[ast.stmt], body: list[Statement]) -> None:
        source = s.source
        if isinstance(source, Cell):
            if source in self.chosen:
                self._settle(s.out, self.chosen.pop(source), out, s, body)
            elif self.left.get(s.out, 0) == 0:
                if may_raise(s):
                    self._write(out, ast.Expr(name_of(source)), s)
            else:
                w = _Waiting(name_of(source), {source}, len(source.name))
                self.waiting[s.out] = w
            return
        w = self.operand(source)
        places = set(w.places)
        if not s.index:
            self.waiting[s.out] = _Waiting(w.tree, places, w.width)
            return
        tree = ast.Subscript(w.tree, self._index(s.index, places))
        self._settle(s.out, _Waiting(tree, places, w.width + 8), out, s, body)

    def _pop(self, s: Pop, out: list[ast.stmt], body: list[Statement]) -> None:
        self._flush({s.tape, CALLS}, out, s)
        pop = ast.Call(ast.Attribute(name_of(s.tape), "pop"), [], [])
        if self.left.get(s.out, 0) == 0:
            self._write(out, ast.Expr(pop), s)
        else:
            w = _Waiting(pop, {s.tape}, len(s.tape.name) + 6)
            self._settle(s.out, w, out, s, body)

    def _alloc(self, s: Alloc, out: list[ast.stmt]) -> None:
        match s.place:
            case Buffer():
                like = self.operand(s.place.like).tree
                tree: ast.expr = self.spelling.call("np.zeros_like", [like])
            case Tape():
                tree = ast.List([])
            case _:
                return
        self._write(out, ast.Assign([name_of(s.place, True)], tree), s)

    def _store(self, s: Store, out: list[ast.stmt]) -> None:
        w = self.operand(s.operand)
        target: ast.expr = name_of(s.place, True)
        if s.index:
            target = ast.Subscript(name_of(s.place), self._index(s.index, set()))
        self._flush({s.place}, out, s)
        if not s.accumulate:
            self._write(out, ast.Assign([target], w.tree), s, w.quiet)
            return
        is_negative = s.adjoint or isinstance(w.tree, ast.UnaryOp)
        bare = unsigned(w.tree) if is_negative else None
        op, tree = (ast.Add(), w.tree) if bare is None else (ast.Sub(), bare)
        self._write(out, ast.AugAssign(target, op, tree), s, w.quiet)

    def _if(self, s: If, out: list[ast.stmt]) -> None:
        test = self.operand(s.condition).tree
        self._flush(self._changed(s), out, s)
        cell, short = _only_choice(s), _short(s)
        again: list[ast.stmt] = [ast.Assign([name_of(cell, True)], test)] if short else []
        then, orelse = (again if b is short else self.block(b) for b in (s.then, s.orelse))
        if cell is not None and _is_assignment(then) and _is_assignment(orelse):
            self._choose(cell, s, ast.If(test, then, orelse), out)
            return
        if short is not None and not isinstance(test, ast.Name):
            self._write(out, ast.Assign([name_of(s.condition, True)], test), s)
            test = again[0].value = name_of(s.condition)  # type: ignore[attr-defined]
        if not then and not orelse:
            return
        if not then:
            test, then, orelse = negated(test), orelse, []
        rest: list[ast.stmt] = []
        if isinstance(then[-1], ast.Break) and orelse:
            orelse, rest = [], orelse
        self._write(out, ast.If(test, then, orelse), s)
        out.extend(rest)

    def _choose(self, cell: Cell, s: If, node: ast.If, out: list[ast.stmt]) -> None:
        """A conditional expression; a chain of them becomes statements."""
        (then,), (orelse,) = node.body, node.orelse
        assert isinstance(then, ast.Assign) and isinstance(orelse, ast.Assign)
        short = _short(s)
        if short is None:
            tree: ast.expr = ast.IfExp(node.test, then.value, orelse.value)
        elif short is s.orelse:
            tree = bool_op(ast.And(), node.test, then.value)
        else:
            tree = bool_op(ast.Or(), node.test, orelse.value)
        if is_chain(tree):
            made = if_statement(cell, tree)
            self._write(out, made, s)
            note(made, made)
            return
        self.chosen[cell] = _Waiting(tree, places_in(tree), 3 * 20)

    def _for(self, s: For, out: list[ast.stmt]) -> None:
        start, stop, step = self._trees((s.start, s.stop, s.step))
        self._flush(self._changed(s), out, s)
        iterated = _iterated(s)
        if iterated and _is_whole(s, iterated) and not (stores(s) & set(leaves(s.stop))):
            self._iterate(s, iterated, out)
            return
        items: ast.expr = counting(start, stop, step)
        target: ast.expr = name_of(s.symbol, True)
        if s.adjoint and not self.left.get(s.symbol, 0):
            target = ast.Name("_", ast.Store())
        elif s.backwards:
            items = ast.Call(ast.Name("reversed"), [items], [])
        inner = self.block(s.body)
        if inner:
            self._write(out, ast.For(target, items, inner, []), s)

    def _iterate(self, s: For, loads: list[Load], out: list[ast.stmt]) -> None:
        """`for x in xs`, `for i, x in enumerate(xs)`, `for x, w in zip(xs, ws)`."""
        self.left[s.symbol] -= len(loads)
        iterated = {load: self.operand(load.source).tree for load in loads}  # type: ignore[arg-type]
        used = [load for load in loads if self.left.get(load.out, 0)]
        if not used:
            used = loads[:1]
        names: list[ast.expr] = [name_of(load.out, True) for load in used]
        arrays = [iterated[load] for load in used]
        target: ast.expr = names[0] if len(names) == 1 else ast.Tuple(names)
        items = arrays[0] if len(arrays) == 1 else ast.Call(ast.Name("zip"), arrays, [])
        if self.left.get(s.symbol, 0) > 0:
            target = ast.Tuple([name_of(s.symbol, True), target])
            items = ast.Call(ast.Name("enumerate"), [items], [])
        inner = self.block(s.body, skip=len(loads))
        if inner:
            self._write(out, ast.For(target, items, inner, []), s)

    def _header(self, header: list[Statement]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for h in header:
            self.statement(h, out, header)
        return out

    def _while(self, s: While, out: list[ast.stmt]) -> None:
        self._flush(self._changed(s), out, s)
        header = self._header(s.header)
        test = self.operand(s.condition).tree
        inner = self.block(s.body)
        if header:
            leave = ast.If(negated(test), [ast.Break()], [])
            inner, test = [*header, leave, *inner], ast.Constant(True)
        self._write(out, ast.While(test, inner or [ast.Pass()], []), s)

    def _assert(self, s: Assert, out: list[ast.stmt]) -> None:
        test = self.operand(s.condition).tree
        header = self._header(s.header)
        message = self.operand(s.message).tree if s.message is not None else None
        if header:
            made = ast.Call(ast.Name("AssertionError"), [message] if message else [], [])
            body = [*header, ast.Raise(exc=made)]
            self._write(out, ast.If(negated(test), body, []), s)
        else:
            self._write(out, ast.Assert(test, message), s)

    def _effect(self, s: Effect, out: list[ast.stmt]) -> None:
        self._flush({CALLS}, out, s)
        trees = self._trees(s.operands)
        keywords = [ast.keyword(k, self.operand(v).tree) for k, v in s.keywords]
        function = ast.Name(s.function.__name__)
        self._write(out, ast.Expr(ast.Call(function, trees, keywords)), s)

    def _call(self, s: Call, out: list[ast.stmt], body: list[Statement]) -> None:
        self._flush({CALLS}, out, s)
        trees = self._trees(s.operands)
        assert not any(p in s.function.hidden for p in s.function.params)
        call = ast.Call(ast.Name(self.names[id(s.function)]), trees, [])
        if not s.outs:
            self._write(out, ast.Expr(call), s)
            return
        if len(s.outs) == 1 and isinstance(s.outs[0], Value):
            self._settle(s.outs[0], _Waiting(call, {CALLS}, 30), out, s, body)
            return
        targets: list[ast.expr] = [name_of(o, True) for o in s.outs]
        target = targets[0] if len(targets) == 1 else ast.Tuple(targets)
        self._write(out, ast.Assign([target], call), s)


def _return_at_once(out: list[ast.stmt]) -> None:
    """`a, b = f(x); return a, b` as `return f(x)`."""
    match out[-2:]:
        case [
            ast.Assign(targets=[ast.Tuple(given)], value=ast.Call() as call),
            ast.Return(value=ast.Tuple(returned)) as last,
        ] if [n.thing for n in given] == [getattr(n, "thing", None) for n in returned]:  # type: ignore[attr-defined]
            last.value = call
            last.where = out[-2].where  # type: ignore[attr-defined]
            del out[-2]


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


def _short(s: Statement) -> list[Statement] | None:
    """The branch of an `and` or an `or` that only stores the condition itself."""
    if not isinstance(s, If) or not isinstance(s.condition, Value):
        return None
    cell = _only_choice(s)
    for b in (s.then, s.orelse):
        if cell is not None and len(b) == 1 and b[0].operand is s.condition:  # type: ignore[attr-defined]
            return b
    return None


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
