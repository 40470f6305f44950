"""Writing: each core statement as a tree of Python, control flow as one reads it.

For(k, 0, n, 1, [Load(x, xs, [k]), ...])      ->      for x in xs: ...
"""

from __future__ import annotations

import ast
import operator
from dataclasses import replace
from typing import Any

import numpy as np

from gradwright.transform.core import (
    AddUp,
    Alloc,
    Assert,
    At,
    Break,
    Buffer,
    Call,
    Cell,
    Effect,
    Exchange,
    For,
    If,
    Insert,
    Length,
    Let,
    Library,
    List,
    Load,
    Pick,
    Place,
    Pop,
    Push,
    Raise,
    Remove,
    Resize,
    Statement,
    Store,
    Take,
    Tape,
    Value,
    While,
    Whole,
    leaves,
    stores,
    type_of,
    walk,
)
from gradwright.transform.deadcode import may_divide_by_zero, may_raise
from gradwright.transform.displays import with_displays
from gradwright.transform.errors import Location
from gradwright.transform.indices import Dim, Linear
from gradwright.transform.iterating import with_items
from gradwright.transform.names import places_in
from gradwright.transform.nesting import (
    CALLS,
    FAILING,
    Nesting,
    Waiting,
    only_choice,
    short_branch,
)
from gradwright.transform.outline import if_statement, is_chain, note
from gradwright.transform.picks import may_repeat
from gradwright.transform.primitives.structural import ITEM
from gradwright.transform.spelling import (
    Name,
    again,
    are_same,
    bool_op,
    copied,
    counting,
    name_of,
    negated,
    negative,
    product,
    unsigned,
    without_colons,
)

# Calls whose result lies in memory row by row, whatever they are given.
IN_ROWS = ("array", "copy", "eye", "full", "identity", "ones", "zeros")


class Writer(Nesting):
    """One function as a tree of Python, its names not settled yet."""

    def body(self) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for s in self.function.body:
            self.statement(s, out, self.function.body)
            if isinstance(s, Raise):
                return with_displays(out)
        found = [self.operand(r) for r in self.function.results]
        out[:] = with_displays(out)
        with_items(out)
        if found:
            trees = [w.tree for w in found]
            value = trees[0] if len(trees) == 1 else ast.Tuple(trees)
            self._write(out, ast.Return(value), None, any(w.quiet for w in found))
            for node in (out[-1], *getattr(out[-1], "body", [])[-1:]):  # under errstate
                node.where = self._returned(value)
            _return_at_once(out)
        return out

    def _returned(self, value: ast.expr) -> Location | None:
        """The user's line of what may raise in the returned value, the last one."""
        lines = [getattr(n, "raises", None) for n in ast.walk(value)]
        found = [where for where in lines if where is not None]
        found = found or [
            s.where for s in walk(self.function.body) if s.where is not None
        ]
        return max(found, key=lambda where: where.line, default=None)

    def block(self, body: list[Statement], skip: int = 0) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        before = set(self.waiting)
        for s in body[skip:]:
            self.statement(s, out, body)
        if body:
            self._leave(before, out, body[-1])
        return with_displays(out)

    # ---- each statement --------------------------------------------------------

    def statement(
        self, s: Statement, out: list[ast.stmt], body: list[Statement]
    ) -> None:
        match s:
            case Let():
                self.root(s)
                self._let(s, out, body)
            case Load():
                self.root(s)
                self._load(s, out, body)
            case Alloc():
                self._alloc(s, out)
            case Store():
                self._store(s, out)
            case Resize():
                self._resize(s, out)
            case Exchange():
                self._flush(set(s.places), out, s)
                pairs = zip(s.places, s.sources, strict=True)
                targets, values = zip(
                    *((name_of(a, True), name_of(b)) for a, b in pairs), strict=True
                )
                exchanged = ast.Assign([ast.Tuple([*targets])], ast.Tuple([*values]))
                self._write(out, exchanged, s)
            case AddUp():
                self._add_up(s, out)
            case Insert():
                self._insert(s, out)
            case Remove():
                self._remove(s, out, body)
            case Take():
                source = self.operand(s.source).tree
                self._flush({s.place, s.source}, out, s)
                self._write(out, ast.Assign([name_of(s.place, True)], source), s)
            case Push():
                self._flush({CALLS}, out, s)
                w = self.operand(s.operand)
                push = ast.Attribute(name_of(s.tape), "append")
                self._flush({s.tape}, out, s)
                kept = copied(w.tree) if s.operand in self.rooted else w.tree
                self._write(out, ast.Expr(ast.Call(push, [kept], [])), s)
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
            case Library():
                self._library(s, out)
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
        if s.out in self.unpacked:
            return
        found = [self.operand(o) for o in s.operands]
        places = set().union(*(w.places for w in found)) if found else set()
        if may_divide_by_zero(s):
            places.add(FAILING)
        quiet = s.quiet or any(w.quiet for w in found)
        trees = [w.tree for w in found]
        for o, tree in zip(s.operands, trees, strict=True):
            if type_of(o).dtype == "bool":
                tree.is_truth = True  # type: ignore[attr-defined]
        if s.adjoint and s.primitive.spelling == "*" and not s.out.type.is_array:
            tree = product(*trees)
        elif s.adjoint and s.out.type.python and s.primitive.function is operator.neg:
            tree = negative(trees[0])
        else:
            tree = self.spelling.primitive(s, trees)
        if s.primitive.raises:
            tree.raises = s.where  # type: ignore[attr-defined]
        tree.ours = s.adjoint  # type: ignore[attr-defined]
        if s.out.type.items is not None and self._unpacked(s, tree, quiet, out, body):
            return
        width = sum(w.width + 3 for w in found) + len(s.primitive.spelling)
        self._settle(s.out, Waiting(tree, places, width, quiet), out, s, body)

    def _unpacked(
        self,
        s: Let,
        tree: ast.expr,
        quiet: bool,
        out: list[ast.stmt],
        body: list[Statement],
    ) -> bool:
        """`w, v = np.linalg.eigh(a)`, where more than one of the items is used."""
        if s.out in self.rooted:
            return False
        items = {
            t.attribute: t.out
            for t in body
            if isinstance(t, Let) and t.primitive is ITEM and t.operands == (s.out,)
        }
        used = {k for k, v in items.items() if self.left.get(v, 0)}
        if len(used) < 2 or len(items) != self.left.get(s.out, 0):
            return False
        targets: list[ast.expr] = [
            name_of(items[k], True) if k in used else ast.Name("_", ast.Store())
            for k in range(len(s.out.type.items or ()))
        ]
        self.unpacked.update(items.values())
        self._write(out, ast.Assign([ast.Tuple(targets)], tree), s, quiet)
        return True

    def _load(self, s: Load, out: list[ast.stmt], body: list[Statement]) -> None:
        source = s.source
        if isinstance(source, Cell):
            if source in self.chosen:
                self._settle(s.out, self.chosen.pop(source), out, s, body)
            elif self.left.get(s.out, 0) == 0:
                if may_raise(s):
                    self._write(out, ast.Expr(name_of(source)), s)
            else:
                places: set[Place] = {source, FAILING} if s.unsure else {source}
                w = Waiting(name_of(source), places, len(source.name))
                if self.stays(s.out, w, body):
                    self._assign(s.out, w, out, s)
                else:
                    self.waiting[s.out] = w
            return
        if s.deep:
            self._copy_deeply(s, out, body)
            return
        if isinstance(source, List):
            self._read_list(s, source, out, body)
            return
        if isinstance(s.out, Tape):
            tree: ast.expr = ast.Call(ast.Attribute(name_of(source), "copy"), [], [])
            self._settle(s.out, Waiting(tree, {source}, 20), out, s, body)  # type: ignore[arg-type]
            return
        w = self.operand(source)  # type: ignore[arg-type]
        places = set(w.places)
        if not s.index or (s.index == (Whole(),) and isinstance(source, Buffer)):
            self.waiting[s.out] = Waiting(w.tree, places, w.width, w.quiet)
            return
        is_number = not s.out.type.is_array
        ends_open = is_number and s.index[-1] == Whole()
        tree = self._item(w.tree, s.index[:-1] if ends_open else s.index, places)
        if is_number and not isinstance(tree, ast.Subscript):
            tree = ast.Subscript(tree, ast.Tuple([]))  # the element, and no view of it
        item = Waiting(tree, places, w.width + 8, w.quiet)
        self._settle(s.out, item, out, s, body)

    def _copy_deeply(self, s: Load, out: list[ast.stmt], body: list[Statement]) -> None:
        """`a, b = copy.deepcopy((a_1, b_1))`: they share what the originals share."""
        every = [t for t in body if isinstance(t, Load) and t.deep is s.deep]
        if s is not every[0]:
            return  # it is written with the first
        for source in (t.source for t in every):
            if isinstance(source, List):
                self.settle_pops(source, out, s)
        targets: list[ast.expr] = [name_of(t.out, True) for t in every]
        sources: list[ast.expr] = [name_of(t.source) for t in every]
        if len(every) == 1:
            tree = self.spelling.call("copy.deepcopy", sources)
            self._write(out, ast.Assign(targets, tree), s)
            return
        tree = self.spelling.call("copy.deepcopy", [ast.Tuple(sources)])
        self._write(out, ast.Assign([ast.Tuple(targets)], tree), s)

    def _read_list(
        self, s: Load, source: List, out: list[ast.stmt], body: list[Statement]
    ) -> None:
        """`xs[k]`, `len(xs)`, `np.array(xs)`, and `ys = xs[1:]`."""
        self.settle_pops(source, out, s)
        places: set[Place] = {source}
        path = tuple(i for i in s.index if i != Length())
        tree = self._of_list(source, path, places)
        if Length() in s.index:
            tree = ast.Call(ast.Name("len"), [tree], [])
            if not path:
                self.lengths[s.out] = source
        elif isinstance(s.out, Value) and not source.is_item(path):
            tree = self.spelling.call("np.array", [tree])
        elif isinstance(s.out, List) and not path:
            tree = ast.Call(ast.Attribute(tree, "copy"), [], [])
        if isinstance(s.out, List):
            self._write(out, ast.Assign([name_of(s.out, True)], tree), s)
        else:
            item = Waiting(tree, places, len(source.name) + 8)
            self._settle(s.out, item, out, s, body)

    def _insert(self, s: Insert, out: list[ast.stmt]) -> None:
        """`xs.append(x)`, `xs.insert(0, x)`."""
        w = self.operand(s.operand)
        given = [w.tree]
        if isinstance(s.operand, Value) and self.changes_later(s):
            given = [copied(w.tree)]
        method = "append"
        if s.position is not None:
            method, given = "insert", [*self._trees([s.position]), *given]
        self._flush({s.place}, out, s)
        owner = self._of_list(s.place, s.path, set())
        call = ast.Call(ast.Attribute(owner, method), given, [])
        self._write(out, ast.Expr(call), s, w.quiet)

    def _remove(self, s: Remove, out: list[ast.stmt], body: list[Statement]) -> None:
        """`x = xs.pop()`, `xs.pop(k)`."""
        given = [] if s.position is None else self._trees([s.position])
        self._flush({s.place, CALLS}, out, s)
        owner = self._of_list(s.place, s.path, set())
        pop = ast.Call(ast.Attribute(owner, "pop"), given, [])
        if self.left.get(s.out, 0) == 0:
            self._write(out, ast.Expr(pop), s)
            return
        mark = self.popping.setdefault(s.place, Place("popping", s.place.type))
        w = Waiting(pop, {s.place, mark}, len(s.place.name) + 6)
        self._settle_popped(s.out, w, out, s, body)

    def _settle_popped(
        self,
        v: Any,
        w: Waiting,
        out: list[ast.stmt],
        s: Pop | Remove,
        body: list[Statement],
    ) -> None:
        """A list that is popped has a name, unless it only goes by another one next."""
        if isinstance(v, List) and not all(
            isinstance(r, Take) for r in self.uses[v].readers
        ):
            self._assign(v, w, out, s)
        else:
            self._settle(v, w, out, s, body)

    def _pop(self, s: Pop, out: list[ast.stmt], body: list[Statement]) -> None:
        self._flush({s.tape, CALLS}, out, s)
        pop = ast.Call(ast.Attribute(name_of(s.tape), "pop"), [], [])
        if self.left.get(s.out, 0) == 0:
            self._write(out, ast.Expr(pop), s)
        else:
            w = Waiting(pop, {s.tape}, len(s.tape.name) + 6)
            self._settle_popped(s.out, w, out, s, body)

    def _add_up(self, s: AddUp, out: list[ast.stmt]) -> None:
        """`total_tape = [a + b for a, b in zip(total_tape, tape)]`."""
        self._flush({s.tape, CALLS}, out, s)
        pair = ast.Tuple([ast.Name("a", ast.Store()), ast.Name("b", ast.Store())])
        both = ast.Call(ast.Name("zip"), [name_of(s.tape), name_of(s.operand)], [])
        added = ast.BinOp(ast.Name("a"), ast.Add(), ast.Name("b"))
        tree: ast.expr = ast.ListComp(added, [ast.comprehension(pair, both, [], 0)])
        if s.labels:
            tree = self.spelling.call("following.each", both.args)
        self._write(out, ast.Assign([name_of(s.tape, True)], tree), s)

    def _alloc(self, s: Alloc, out: list[ast.stmt]) -> None:
        in_rows = s.place in self.in_rows
        if s.value is not None:
            w = self.operand(s.value)
            tree = self._laid_out(w.tree) if in_rows else w.tree
            self._write(out, ast.Assign([name_of(s.place, True)], tree), s, w.quiet)
            return
        match s.place:
            case Buffer(like=tuple(shape)):
                lengths: list[ast.expr] = self._trees(shape)
                given: list[ast.expr] = [ast.Tuple(lengths)]
                if len(lengths) == 1:
                    given = lengths
                dtype = np.dtype(s.place.type.dtype)
                if dtype != np.float64:
                    given.append(self.spelling.argument(dtype))
                begun = "np.empty" if s.blank else "np.zeros"
                tree = self.spelling.call(begun, given)
            case Buffer():
                like = s.place.like
                given = [self.operand(like).tree]  # type: ignore[arg-type]
                if type_of(like).dtype != s.place.type.dtype:  # type: ignore[arg-type]
                    given.append(self.spelling.argument(np.dtype(s.place.type.dtype)))
                order = {"order": ast.Constant("C")} if in_rows else {}
                tree = self.spelling.call("np.zeros_like", given, **order)
            case Tape(like=Tape() as like):
                length = ast.Call(ast.Name("len"), [self.operand(like).tree], [])
                tree = ast.BinOp(ast.List([ast.Constant(0.0)]), ast.Mult(), length)
            case List(length=length) as place if length is not None:
                zero = ast.Constant(0j if place.type.is_complex else 0.0)
                if not place.type.is_inexact:
                    zero = ast.Constant(0)
                (n,) = self._trees([length])
                tree = ast.BinOp(ast.List([zero]), ast.Mult(), n)
            case Tape() | List():
                tree = ast.List([])
            case _:
                return
        self._write(out, ast.Assign([name_of(s.place, True)], tree), s)

    def _resize(self, s: Resize, out: list[ast.stmt]) -> None:
        """`x_tape = np.resize(x_tape, n)`."""
        (length,) = self._trees([s.length])
        self._flush({s.place}, out, s)
        if s.place.type.rank > 1:
            shape = ast.Attribute(name_of(s.place), "shape")
            rest = ast.Subscript(shape, ast.Slice(lower=ast.Constant(1)))
            length = ast.Tuple([length, ast.Starred(rest)])
        resized = self.spelling.call("np.resize", [name_of(s.place), length])
        self._write(out, ast.Assign([name_of(s.place, True)], resized), s)

    def _laid_out(self, tree: ast.expr) -> ast.expr:
        """An array that lies in memory row by row."""
        match tree:
            case ast.Call(func=ast.Attribute(attr=name)) if name in IN_ROWS:
                return tree
        return self.spelling.call("np.ascontiguousarray", [tree])

    def _store(self, s: Store, out: list[ast.stmt]) -> None:
        if s.accumulate and may_repeat(s.index):
            self._add_at(s, out)
            return
        if isinstance(s.place, List) and s.accumulate:  # the item is read first
            self.settle_pops(s.place, out, s)
        w = self.operand(s.operand)
        if isinstance(s.place, Cell | List) and self.changes_later(s):
            w = replace(w, tree=copied(w.tree))
        if self._reads_its_own(s) and not isinstance(w.tree, ast.Name):
            w = replace(w, tree=copied(w.tree))
        if s.place in self.in_rows and not s.index and not s.accumulate:
            w = replace(w, tree=self._laid_out(w.tree))
        target: ast.Name | ast.Subscript = name_of(s.place, True)
        if isinstance(s.place, List):
            target = self._of_list(s.place, s.index, set())  # type: ignore[assignment]
        elif s.index:
            target = self._item(name_of(s.place), s.index, set())
            if not isinstance(target, ast.Subscript):  # a view: all of it
                target = ast.Subscript(target, ast.Constant(...))
        self._flush({s.place}, out, s)
        if changed := _changed_in_place(s, target, w.tree):
            self._write(out, changed, s, w.quiet)
            return
        if not s.accumulate or s.first:
            self._write(out, ast.Assign([target], w.tree), s, w.quiet)
            return
        is_negative = s.adjoint or isinstance(w.tree, ast.UnaryOp)
        bare = unsigned(w.tree) if is_negative else None
        op, tree = (ast.Add(), w.tree) if bare is None else (ast.Sub(), bare)
        if isinstance(s.place, Cell | List) and s.place.type.is_array:
            # What the cell holds may be another's: an argument, an array on a tape.
            held: ast.expr = name_of(s.place)
            if isinstance(target, ast.Subscript):
                held = ast.Subscript(again(target.value), again(target.slice))
            total = ast.BinOp(held, op, tree)
            self._write(out, ast.Assign([target], total), s, w.quiet)
            return
        self._write(out, ast.AugAssign(target, op, tree), s, w.quiet)

    def _reads_its_own(self, s: Store) -> bool:
        """Whether NumPy reads what it stores: parts of an array, under a mask of it."""
        is_masked = any(
            isinstance(i, Pick) and type_of(i.places).is_bool for i in s.index
        )
        return is_masked and self.rooted.get(s.operand) is s.place  # type: ignore[arg-type]

    def _add_at(self, s: Store, out: list[ast.stmt]) -> None:
        """Where an index may come twice, both additions count."""
        w = self.operand(s.operand)
        item = self._item(name_of(s.place), s.index, set())
        self._flush({s.place}, out, s)
        places = without_colons(item.slice)
        call = self.spelling.call("np.add.at", [item.value, places, w.tree])
        self._write(out, ast.Expr(call), s, w.quiet)

    def _if(self, s: If, out: list[ast.stmt]) -> None:
        test = self.operand(s.condition).tree
        self._flush(self._changed(s), out, s)
        cell, short = only_choice(s), short_branch(s)
        again: list[ast.stmt] = (
            [ast.Assign([name_of(cell, True)], test)] if short else []
        )
        then, orelse = (
            again if b is short else self.block(b) for b in (s.then, s.orelse)
        )
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
        short = short_branch(s)
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
        places = places_in(tree)
        if any(isinstance(t, Call) for t in walk([s])):
            places |= {CALLS}
        self.chosen[cell] = Waiting(tree, places, 3 * 20)

    def _for(self, s: For, out: list[ast.stmt]) -> None:
        start, stop, step = self._trees((s.start, s.stop, s.step))
        self._flush(self._changed(s), out, s)
        iterated = _iterated(s)
        if (
            iterated
            and all(self._is_whole(s, load.source) for load in iterated)
            and not (stores(s) & set(leaves(s.stop)))
        ):
            self._iterate(s, iterated, out)
            return
        items: ast.expr = counting(start, stop, step)
        target: ast.expr = name_of(s.symbol, True)
        if s.adjoint and not self.left.get(s.symbol, 0):
            target = ast.Name("_", ast.Store())
        elif s.backwards:
            items = ast.Call(ast.Name("reversed"), [items], [])
        inner = self.block(s.body)
        if inner and (tape := _counting(s)) and not self.left.get(s.symbol, 0):
            self._write(out, ast.While(name_of(tape), inner, []), s)
        elif inner:
            self._write(out, _numbered(ast.For(target, items, inner, []), s), s)
        elif not s.body:  # kept for its range, which may raise
            self._write(out, ast.Expr(counting(start, stop, step)), s)

    def _is_whole(self, s: For, source: object) -> bool:
        """Whether the loop runs over all of an array or a list."""
        if isinstance(source, List):
            return any(
                xs is source and s.stop == Linear({n: 1})
                for n, xs in self.lengths.items()
            )
        assert isinstance(source, Value)
        return (source.type.dims or (None,))[0] == s.stop

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
            self._write(out, _numbered(ast.For(target, items, inner, []), s), s)

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
            made = ast.Call(
                ast.Name("AssertionError"), [message] if message else [], []
            )
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
        found = [self.operand(o) for o in s.operands]
        assert not any(p in s.function.hidden for p in s.function.params)
        call = ast.Call(
            ast.Name(self.names[id(s.function)]), [w.tree for w in found], []
        )
        quiet = any(w.quiet for w in found)
        if not s.outs:
            self._write(out, ast.Expr(call), s, quiet)
            return
        if len(s.outs) == 1 and isinstance(s.outs[0], Value):
            places = {CALLS}.union(*(w.places for w in found))
            self._settle(s.outs[0], Waiting(call, places, 30, quiet), out, s, body)
            return
        targets: list[ast.expr] = [name_of(o, True) for o in s.outs]
        target = targets[0] if len(targets) == 1 else ast.Tuple(targets)
        self._write(out, ast.Assign([target], call), s, quiet)

    def _library(self, s: Library, out: list[ast.stmt]) -> None:
        """`x[...] = np.linalg.solve(A, b)`."""
        found = [self.operand(o) for o in s.operands]  # type: ignore[arg-type]
        made = Let(Value("", s.outs[0].type), s.primitive, s.operands, s.attribute)  # type: ignore[arg-type]
        tree = self.spelling.primitive(made, [w.tree for w in found])
        self._flush({o for o in s.outs if isinstance(o, Buffer)}, out, s)
        targets: list[ast.expr] = [
            ast.Subscript(name_of(o), ast.Constant(...))
            if isinstance(o, Buffer) and not is_born(o)
            else name_of(o, True)
            for o in s.outs
        ]
        target = targets[0] if len(targets) == 1 else ast.Tuple(targets)
        self._write(out, ast.Assign([target], tree), s)


def is_born(place: Buffer) -> bool:
    """Whether memory is what a library gives: its lengths are its own."""
    assert isinstance(place.like, tuple)
    return any(
        isinstance(s, Dim) and s.array is place
        for n in place.like
        if isinstance(n, Linear)
        for s in n.symbols()
    )


def _return_at_once(out: list[ast.stmt]) -> None:
    """`a, b = f(x); return a, b` as `return f(x)`."""
    match out[-2:]:
        case [
            ast.Assign(targets=[ast.Tuple(given)], value=ast.Call() as call),
            ast.Return(value=ast.Tuple(returned)) as last,
        ] if [getattr(n, "thing", n) for n in given] == [
            getattr(n, "thing", None) for n in returned
        ]:
            last.value = call
            last.where = out[-2].where  # type: ignore[attr-defined]
            del out[-2]


def _changed_in_place(
    s: Store, target: ast.expr, tree: ast.expr
) -> ast.AugAssign | None:
    """`y[k] *= v` for `y[k] = y[k] * v`, where NumPy casts in both ways."""
    if s.accumulate or not isinstance(target, ast.Subscript):
        return None
    if isinstance(s.place, List) and s.place.type.is_array:
        return None  # another item, another name may be the same array
    if not isinstance(tree, ast.BinOp) or isinstance(tree.op, ast.MatMult):
        return None
    part = target.value if s.index == (Whole(),) else target
    if not isinstance(part, ast.Name | ast.Subscript):
        return None
    if not _fits(s) or not are_same(part, tree.left):
        return None
    return ast.AugAssign(part, tree.op, tree.right)


def _fits(s: Store) -> bool:
    """Whether an array takes what is stored without losing a part of it."""
    t = type_of(s.operand)
    own = np.dtype(s.place.type.dtype)
    return t.is_number and (
        t.python or bool(np.can_cast(t.weak(), own, casting="same_kind"))
    )


def _is_assignment(block: list[ast.stmt]) -> bool:
    return len(block) == 1 and isinstance(block[0], ast.Assign)


def _counting(s: For) -> Tape | None:
    """The tape that each trip of a loop pops, to its end."""
    dims = [d for d in leaves(s.stop) if isinstance(d, Tape)]
    return dims[0] if dims else None


def _numbered(made: ast.For, s: For) -> ast.For:
    """A loop over samples knows the name of their number, if it has one."""
    first = made.target.elts[0] if isinstance(made.target, ast.Tuple) else made.target
    if s.samples and isinstance(first, Name) and first.thing is s.symbol:
        made.sample = first  # type: ignore[attr-defined]
    return made


def _iterated(s: For) -> list[Load]:
    """The loads `x = xs[i]` that begin a loop over items."""
    found: list[Load] = []
    if s.start != Linear({}, 0) or s.step != Linear({}, 1) or s.backwards:
        return found
    for t in s.body:
        if not (isinstance(t, Load) and t.safe and isinstance(t.source, Value | List)):
            break
        if isinstance(t.source, List) and not t.source.is_item(t.index):
            break
        if t.index != (At(Linear({s.symbol: 1})),):
            break
        found.append(t)
    return found
