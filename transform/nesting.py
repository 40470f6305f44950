"""Nesting: which values are written where they are used, not under a name.

    Let(product, mul, [w, y]); Let(v, tanh, [product])      ->      math.tanh(w * y)

A value that is used once waits, and its expression stands where the value is read,
unless a place that it reads changes before.  So does one that is used twice, where it
is short and outside of loops: `sin(0.5 * a)` and `cos(0.5 * a)` need no name for half
of a.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gradwright.transform.core import (
    Alloc,
    Assert,
    At,
    Break,
    Buffer,
    Call,
    Cell,
    Const,
    Exchange,
    For,
    Function,
    If,
    Insert,
    Let,
    List,
    Load,
    NewAxis,
    Operand,
    Pick,
    Place,
    Span,
    Statement,
    Store,
    Tape,
    Value,
    View,
    While,
    Whole,
    all_reads,
    blocks,
    defines,
    leaves,
    reads,
    steps,
    stores,
    walk,
)
from gradwright.transform.deadcode import may_raise
from gradwright.transform.indices import Dim, Linear
from gradwright.transform.names import NOUNS, SUFFIX, is_users, names_in
from gradwright.transform.outline import held
from gradwright.transform.picks import is_places
from gradwright.transform.primitives.structural import makes_anew
from gradwright.transform.spelling import (
    Name,
    Spelling,
    again,
    copied,
    each_copied,
    name_of,
    sum_of,
    without_array,
)
from gradwright.transform.types import Type

WIDEST_WAITING = 300  # characters, roughly, of an expression that still waits
MOST_REPEATED = 2  # operations of an expression that is written twice
FAILING = Place("failing", Type("None"))  # what may raise is taken to read it
CALLS = Place("calls", Type("None"))  # what a call waiting for its use is taken to read


@dataclass(eq=False)
class Waiting:
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
    readers: set[Any] = field(default_factory=set)


class Nesting:
    """What waits for its use while the statements of a function are written."""

    def __init__(
        self,
        function: Function,
        names: dict[int, str],
        imports: dict[str, None],
        named: set[Value],
    ) -> None:
        self.function = function
        self.named = named  # values that get a name however short they are
        self.names = names
        self.spelling = Spelling(imports)
        self.uses: dict[Any, _Use] = {}
        self.waiting: dict[Value, Waiting] = {}
        self.popping: dict[List, Place] = {}  # what a waiting pop is taken to read
        self.in_rows = _in_rows(function)
        self.lengths: dict[Any, List] = {}  # numbers that are a list's length now
        self.chosen: dict[Cell, Waiting] = {}
        self.rooted: dict[Value, Place] = {}  # arrays, and whose memory they share
        self.unpacked: set[Value] = set()  # items that a tuple's statement assigned
        self.changed: dict[Statement, set[Place]] = {}
        self.branch_of: dict[int, int] = {}
        self.bound: dict[str, set[Any]] = {}
        for p in function.params:
            self.bound.setdefault(p.name, set()).add(p)
        self.once: set[int] = set()  # blocks outside of loops
        self._count(function.body, True)
        for r in function.results:
            for v in leaves(r):
                use = self.uses.setdefault(v, _Use())
                use.count += 1
                use.readers.add(function)
                use.blocks.add(id(function.body))
        self.left = {v: use.count for v, use in self.uses.items()}

    def _count(self, body: list[Statement], once: bool) -> None:
        if once:
            self.once.add(id(body))
        for s in body:
            home = id(body)
            for v in reads(s):
                use = self.uses.setdefault(v, _Use())
                use.count += 1
                use.readers.add(s)
                inside = isinstance(s, While | Assert) and (
                    isinstance(s, While) or v not in set(leaves(s.condition))
                )
                use.blocks.add(id(s.header) if inside else home)  # type: ignore[attr-defined]
            for t in (*defines(s), *([s.place] if isinstance(s, Store) else [])):
                self.bound.setdefault(t.name, set()).add(t)
            short = short_branch(s)
            for b in blocks(s):
                if isinstance(s, If):
                    self.branch_of[id(b)] = home
                if b is not short:
                    self._count(b, once and not isinstance(s, For | While))

    # ---- operands --------------------------------------------------------------

    def operand(self, o: Operand | Tape | List) -> Waiting:
        """The expression of an operand; a waiting value is used up."""
        match o:
            case Linear():
                return self._linear(o)
            case Const():
                return Waiting(self.spelling.constant(o), set(), 8)
            case Value() | Tape() | List() if o in self.waiting:
                self.left[o] -= 1
                w = self.waiting[o]
                if self.left[o] <= 0:
                    del self.waiting[o]
                    return w
                return replace(w, tree=again(w.tree))
        self.left[o] = self.left.get(o, 1) - 1
        place = o if isinstance(o, Place) else self.rooted.get(o)
        return Waiting(name_of(o), set() if place is None else {place}, len(o.name))

    def _linear(self, form: Linear) -> Waiting:
        terms: list[tuple[ast.expr, int]] = []
        places: set[Place] = set()
        width = 8
        for s, c in form.terms.items():
            w = self._dim(s) if isinstance(s, Dim) else self.operand(s)
            places |= w.places
            width += w.width + 3
            terms.append((w.tree, c))
        return Waiting(sum_of(terms, form.offset), places, width)

    def _dim(self, dim: Dim) -> Waiting:
        w = self.operand(dim.array)
        if dim.axis == 0:
            tree: ast.expr = ast.Call(ast.Name("len"), [w.tree], [])
        else:
            shape = ast.Attribute(w.tree, "shape")
            tree = ast.Subscript(shape, ast.Constant(dim.axis))
        return Waiting(tree, w.places, w.width + 5)

    def _trees(self, operands: Any) -> list[ast.expr]:
        return [self.operand(o).tree for o in operands]

    def _item(self, tree: ast.expr, index: Any, places: set[Place]) -> Any:
        """A part of an array, or of a view of it."""
        for items, view in steps(index):
            if items:
                tree = ast.Subscript(tree, self._index(items, places))
            if view is not None and view.primitive is not None:
                found = [self.operand(o) for o in view.operands]
                places.update(*(w.places for w in found))
                out = Value("view", view.type)
                operands = (out, *view.operands)
                let = Let(out, view.primitive, operands, view.attribute)
                tree = self.spelling.primitive(let, [tree, *(w.tree for w in found)])
        return tree

    def _of_list(self, xs: List, path: Any, places: set[Place]) -> ast.expr:
        """An item of a list, of a list in it, and so on."""
        tree: ast.expr = name_of(xs)
        for item in path:
            tree = ast.Subscript(tree, self._index((item,), places))
        return tree

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
                    shown.append(
                        ast.Slice(*map(one, (item.lower, item.upper, item.step)))
                    )
                case Pick():
                    shown.append(without_array(one(item.places)))
                case NewAxis():
                    shown.append(ast.Constant(None))
                case Whole():
                    shown.append(ast.Constant(...))
        return shown[0] if len(shown) == 1 else ast.Tuple(shown)

    # ---- writing ---------------------------------------------------------------

    def _write(
        self,
        out: list[ast.stmt],
        node: ast.stmt,
        s: Statement | None,
        quiet: bool = False,
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

    def _assign(
        self,
        v: Any,
        w: Waiting,
        out: list[ast.stmt],
        s: Statement,
        body: list[Statement] | None = None,
    ) -> None:
        """Give a value a name; a part of an array that changes meanwhile is copied."""
        if v in self.rooted and (body is None or self._outlives(v, s, body)):
            several = v.type.items is not None
            tree = each_copied(w.tree) if several else copied(w.tree)
            w = Waiting(tree, w.places, w.width + 7, w.quiet)
            del self.rooted[v]  # it has memory of its own now
        self._write(out, ast.Assign([name_of(v, True)], w.tree), s, w.quiet)

    def _flush(self, changed: set[Place], out: list[ast.stmt], s: Statement) -> None:
        """Write what waits and reads places that are about to change."""
        for v in [v for v, w in self.waiting.items() if w.places & changed]:
            self._assign(v, self.waiting.pop(v), out, s)
        for v in [v for v, xs in self.lengths.items() if xs in changed]:
            del self.lengths[v]

    def settle_pops(self, place: List, out: list[ast.stmt], s: Statement) -> None:
        """Write the pops of a list that wait: it is read now, as they leave it."""
        if place in self.popping:
            self._flush({self.popping[place]}, out, s)

    def _leave(self, before: set[Any], out: list[ast.stmt], last: Statement) -> None:
        """Write what still waits at the end of a block, if a place may change."""
        for v in [v for v, w in self.waiting.items() if v not in before and w.places]:
            if self.left.get(v, 0) > 0:
                made: list[ast.stmt] = []
                self._assign(v, self.waiting.pop(v), made, last)
                at = len(out) - 1 if isinstance(last, Break) and out else len(out)
                out[at:at] = made

    def _changed(self, s: Statement) -> set[Place]:
        if s not in self.changed:
            read = self.popping.keys() & set(all_reads(s))
            marks = {self.popping[xs] for xs in read}
            self.changed[s] = stores(s) | {CALLS} | marks
        return self.changed[s]

    def _settle(
        self,
        v: Any,
        w: Waiting,
        out: list[ast.stmt],
        s: Statement,
        body: list[Statement],
    ) -> None:
        """A new value: written now, or kept waiting for its only use."""
        count = self.left.get(v, 0)
        if count == 0:
            acts = any(p is CALLS or isinstance(p, Tape) for p in w.places)
            if isinstance(s, Call) or acts or may_raise(s):  # type: ignore[arg-type]
                self._write(out, ast.Expr(w.tree), s, w.quiet)
        elif count == 1 and self._nests(v, w, s, body):
            held(w.tree, v, s)
            self.waiting[v] = w
        elif self._repeats(v, w, s, body):
            held(w.tree, v, s, repeated=True)
            self.waiting[v] = w
        else:
            self._assign(v, w, out, s, body)

    def root(self, s: Let | Load) -> None:
        """Note whose memory an array is a part of, or several arrays are parts of."""
        several = s.out.type.items is not None
        is_place = isinstance(s.out, Tape | List)
        if is_place or not (s.out.type.is_array or several):
            return
        if isinstance(s, Load):
            picked = any(isinstance(i, Pick) for i in s.index)
            if isinstance(s.source, Buffer) and not picked:
                self.rooted[s.out] = s.source
            elif s.source in self.rooted and not picked:
                self.rooted[s.out] = self.rooted[s.source]
        elif not makes_anew(s.primitive):
            (x, *_) = s.operands
            if x in self.rooted:
                self.rooted[s.out] = self.rooted[x]  # type: ignore[index]

    def _outlives(self, v: Value, s: Statement, body: list[Statement]) -> bool:
        """Whether the array that a value is of may change before its last use."""
        place = self.rooted[v]
        if self.uses[v].blocks != {id(body)}:
            return True
        k = next(k for k, t in enumerate(body) if t is s)
        readers = [j for j in range(k + 1, len(body)) if v in set(all_reads(body[j]))]
        last = readers[-1] if readers else k
        if any(v in set(leaves(r)) for r in self.function.results):
            last = len(body)
        between = body[k + 1 : last]
        if last < len(body) and blocks(body[last]):
            between.append(body[last])
        return any(place in stores(t) for t in between)

    def changes_later(self, s: Store | Insert) -> bool:
        """Whether the array of which a variable gets a part changes behind that."""
        place = self.rooted.get(s.operand)  # type: ignore[arg-type]
        return place is not None and _follows(self.function.body, s, place)

    def stays(self, v: Value, w: Waiting, body: list[Statement]) -> bool:
        """Whether what may raise would move into another block."""
        return FAILING in w.places and self.uses[v].blocks != {id(body)}

    def _nests(self, v: Value, w: Waiting, s: Statement, body: list[Statement]) -> bool:
        """Whether a value may stand where it is used, in this block or a branch."""
        if (isinstance(v, Value) and v.users) or w.width > WIDEST_WAITING:
            return False
        used = self.uses[v].blocks
        if used == {id(body)}:
            return True
        if not isinstance(s, Let | Load) or may_raise(s):
            return False
        if any(isinstance(p, Tape) or p is CALLS for p in w.places):
            return False
        if self.stays(v, w, body):
            return False
        return all(self._is_within(home, body) for home in used)

    def _is_within(self, home: int, body: list[Statement]) -> bool:
        """Whether a block is this one, or a branch inside it."""
        while home in self.branch_of and home != id(body):
            home = self.branch_of[home]
        return home == id(body)

    def _repeats(self, v: Any, w: Waiting, s: Statement, body: list[Statement]) -> bool:
        """Whether a value may as well be computed twice, and stand where it is used.

        Not in a loop, not where a name would have to be kept for it, and no cotangent
        or tangent of what has a name, which is a quantity with a meaning.
        """
        use = self.uses[v]
        if is_turned(s, w.tree):
            return self._nests(v, w, s, body) and not any(
                map(self._is_rebound, names_in(w.tree))
            )
        if is_places(s):
            return use.blocks == {id(body)} and self._keeps(v, w, s, body)
        if len(use.readers) != use.count or use.count > MOST_REPEATED + 1:
            return False
        if not isinstance(s, Let) or not w.places <= {FAILING}:
            return False
        if v.users or v in self.named or w.quiet or v.type.is_array:
            return False
        stem = SUFFIX.sub("", v.name)
        if id(body) not in self.once or (stem != v.name and stem not in NOUNS):
            return False
        return (
            self._nests(v, w, s, body)
            and is_short(w.tree, use.count)
            and not any(map(self._is_rebound, names_in(w.tree)))
        )

    def _keeps(self, v: Any, w: Waiting, s: Statement, body: list[Statement]) -> bool:
        """Whether the names of an expression stand for the same up to its last use."""
        names = {n.thing.name for n in names_in(w.tree)}
        k = next(k for k, t in enumerate(body) if t is s)
        last = max(j for j, t in enumerate(body) if v in set(all_reads(t)))
        between = body[k + 1 : last]
        return not any(self._binds(t) & names for t in walk(between))

    def _binds(self, s: Statement) -> set[str]:
        bound = (*defines(s), *([s.place] if isinstance(s, Store) else []))
        return {t.name for t in bound}

    def _is_rebound(self, n: Name) -> bool:
        """Whether a name of the user's stands for something else at times."""
        return is_users(n.thing) and len(self.bound[n.thing.name]) > 1


def is_turned(s: Statement, tree: ast.expr) -> bool:
    """Whether it is `x.T`, which costs nothing and reads best where it is used."""
    is_name = isinstance(tree, ast.Attribute) and isinstance(tree.value, ast.Name)
    return is_name and isinstance(s, Let) and s.primitive.function is np.transpose


def is_short(tree: ast.expr, times: int) -> bool:
    """Whether an expression is a constant, or a few operations on names.

    What is to stand there three times is one operation on names of the user's.
    """
    operations = 0
    for node in ast.walk(tree):
        match node:
            case ast.Call() | ast.BinOp(op=ast.Pow()) if names_in(node):
                return False
            case ast.BinOp() | ast.UnaryOp() | ast.Compare():
                operations += 1
            case ast.IfExp() | ast.BoolOp() | ast.Subscript():
                return False
    if times > MOST_REPEATED:
        return operations <= 1 and all(is_users(n.thing) for n in names_in(tree))
    return operations <= MOST_REPEATED


def only_choice(s: If) -> Cell | None:
    """The choice cell that both branches end by storing, and nothing else does."""
    ends = [b[-1] for b in (s.then, s.orelse) if b]
    if len(ends) != 2 or not all(isinstance(e, Store) for e in ends):
        return None
    cell = ends[0].place  # type: ignore[attr-defined]
    same = cell is ends[1].place  # type: ignore[attr-defined]
    return cell if same and isinstance(cell, Cell) and cell.choice else None


def short_branch(s: Statement) -> list[Statement] | None:
    """The branch of an `and` or an `or` that only stores the condition itself."""
    if not isinstance(s, If) or not isinstance(s.condition, Value):
        return None
    cell = only_choice(s)
    for b in (s.then, s.orelse):
        if cell is not None and len(b) == 1 and b[0].operand is s.condition:  # type: ignore[attr-defined]
            return b
    return None


def _follows(body: list[Statement], s: Statement, place: Place) -> bool:
    """Whether a place may be stored into after a statement of the block, or within."""
    for k, t in enumerate(body):
        if t is s:
            return any(place in stores(u) for u in body[k + 1 :])
        inner = next((b for b in blocks(t) if any(u is s for u in walk(b))), None)
        if inner is None:
            continue
        if any(place in stores(u) for u in body[k + 1 :]):
            return True
        if isinstance(t, For | While) and place in stores(t):  # in the next trip
            begun = any(isinstance(u, Alloc) and u.place is place for u in walk([t]))
            if not begun:
                return True
        return _follows(inner, s, place)
    return False


def _in_rows(function: Function) -> set[Any]:
    """The arrays whose elements are named row by row: `y.reshape(-1)[3]`."""
    found: set[Any] = set()
    for s in walk(function.body):
        place = getattr(s, "source", None) or getattr(s, "place", None)
        if isinstance(place, Buffer) and place.type.rank > 1:
            index = getattr(s, "index", ())
            views = (i.primitive for i in index if isinstance(i, View))
            if any(p is not None and p.through == "rows" for p in views):
                found.add(place)
    trades = [s for s in walk(function.body) if isinstance(s, Exchange)]
    size = -1
    while size != (size := len(found)):
        for s in trades:
            if found & set(s.places):
                found |= set(s.places)
    return found
