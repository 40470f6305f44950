"""The two sweeps of a function: every statement forward, then every adjoint backward.

The sweeps are written again until nothing more is asked for: which reads are repeated
decides what stores must save, and that decides what can be read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gradwright.transform.activity import active, carries
from gradwright.transform.build import Builder
from gradwright.transform.core import (
    AddUp,
    Alloc,
    Call,
    Cell,
    For,
    Function,
    If,
    Insert,
    Let,
    List,
    Load,
    Operand,
    Place,
    Pop,
    Push,
    Remove,
    Statement,
    Store,
    Take,
    Tape,
    Value,
    While,
    all_reads,
    blocks,
    defines,
    stores,
    walk,
)
from gradwright.transform.mixed import Mixed
from gradwright.transform.primitives.structural import ITEM
from gradwright.transform.reverse.calls import reverse_call
from gradwright.transform.reverse.control import reverse_compound
from gradwright.transform.reverse.cotangents import (
    bar_of_place,
    begin_bar,
    begin_place_bar,
    outer_bars,
    result_bar,
)
from gradwright.transform.reverse.lists import (
    begin_list_bar,
    reverse_insert,
    reverse_remove,
    reverse_take,
    with_lengths,
)
from gradwright.transform.reverse.placeholders import with_placeholders
from gradwright.transform.reverse.primals import put_back
from gradwright.transform.reverse.state import Block, break_last
from gradwright.transform.reverse.statements import (
    reverse_add_up,
    reverse_let,
    reverse_load,
    reverse_pop,
    reverse_push,
    reverse_store,
)
from gradwright.transform.rules import Rules, flows_into_choices
from gradwright.transform.types import INT, Type

if TYPE_CHECKING:
    from gradwright.transform.reverse.halves import Splits


Changes = Store | Insert | Remove | Take


class Sweep:
    """The forward and the reverse sweep of one function."""

    def __init__(
        self,
        function: Function,
        wrt: list[Value],
        seeds: list[Operand | Tape | None],
        splits: Splits,
        tape: Tape | None = None,
        chosen: Iterable[Any] = (),
    ) -> None:
        self.function = function
        self.tape = tape  # on which a recursive function leaves its residuals
        self.wrt = wrt
        self.seeds = seeds
        self.splits = splits
        seeded = {
            r for r, s in zip(function.results, seeds, strict=True) if s is not None
        }
        self.tape_bars = {
            p: Tape(f"{p.name}_bar", p.type)
            for p in function.params
            if isinstance(p, Tape)
        }
        tapes = set(self.tape_bars)
        self.active = active(
            function, {v for v in wrt if carries(v)} | tapes, seeded | tapes
        )
        self.mixed = Mixed(function, self.active)
        self._number()
        self.items: dict[Value, dict[int, Value]] = {}
        for s in walk(function.body):
            if isinstance(s, Let) and s.primitive is ITEM:
                (whole,) = s.operands
                self.items.setdefault(whole, {})[s.attribute] = s.out  # type: ignore[arg-type]
        every = list(walk(function.body))
        self.shared = {
            s.source for s in every if isinstance(s, Load) and isinstance(s.out, Tape)
        }
        self.added = {s.operand for s in every if isinstance(s, AddUp)}
        self.repeated: dict[Place, set[Statement]] = {}
        self.pushed: set[Any] = set()
        self.saved: dict[Statement, Value] = {}
        self.kinds: dict[Any, Type] = {}
        self.chosen = {*chosen, *flows_into_choices(function, self.active)}
        self.counters: dict[Statement, Cell] = {}
        self.counted: dict[Cell, Value] = {}
        self.counter = Value("i", INT)  # of loops over cotangents
        self.naturals: set[Value] = set()  # symbols of loops that are never negative
        self.list_lengths: dict[Any, Value | List] = {}
        self.kept: dict[Statement, List] = {}  # what stands for a list on a tape
        self.residuals: dict[tuple[Call, Function], list[Any]] = {}
        self.call_tapes: dict[Any, Tape] = {}
        while True:
            before = self._found()
            self._generate()
            if before == self._found():
                break

    def _found(self) -> Any:
        """What a round of generation may add to: reads, pushes, kinds of cotangents."""
        repeated = sum(map(len, self.repeated.values()))
        return repeated, len(self.pushed), dict(self.kinds), len(self.chosen)

    def _number(self) -> None:
        """Where every statement stands: its rank, its loops, its branches."""
        self.rank: dict[Statement, int] = {}
        self.loops: dict[Statement, tuple[Statement, ...]] = {}
        self.branches: dict[Statement, dict[Statement, int]] = {}
        self.alloc: dict[Place, Statement] = {}
        self.independent: set[Statement] = set()
        self.stores_of: dict[Place, list[Store]] = {}
        self.resized: dict[Place, list[Statement]] = {}  # what makes a list longer

        def visit(
            block: list[Statement],
            loops: tuple[Statement, ...],
            branches: dict[Any, int],
        ) -> None:
            for s in block:
                self.rank[s] = len(self.rank)
                self.loops[s] = loops
                self.branches[s] = branches
                if isinstance(s, Alloc):
                    self.alloc[s.place] = s
                elif isinstance(s, Load | Pop | Remove) and isinstance(s.out, List):
                    self.alloc[s.out] = s
                if isinstance(s, Insert | Remove | Take):
                    for place in stores(s):
                        self.resized.setdefault(place, []).append(s)
                if isinstance(s, Store):
                    self.stores_of.setdefault(s.place, []).append(s)
                inner = (*loops, s) if isinstance(s, For | While) else loops
                for k, b in enumerate(blocks(s)):
                    visit(
                        b, inner, {**branches, s: k} if isinstance(s, If) else branches
                    )

        visit(self.function.body, (), {})

    def may_follow(self, a: Statement, b: Statement) -> bool:
        """Whether `a` may run after `b` on the same place."""
        place = a.place if isinstance(a, Changes) else None
        local = self.loops[self.alloc[place]] if place in self.alloc else ()
        common = set(self.loops[a]) & set(self.loops[b]) - set(local) - self.independent
        if common:
            return True
        exclusive = any(
            self.branches[a].get(i, k) != k for i, k in self.branches[b].items()
        )
        return self.rank[a] > self.rank[b] and not exclusive

    def _generate(self) -> None:
        self.builder = Builder(folds=True)
        self.builder.adjoint = True
        self.placeholders: set[Cell] = set()
        self.masked: set[Value] = set()
        self.rules = Rules(self.builder)
        self.tapes: dict[Any, Tape] = {}
        self.begun: dict[Tape, tuple[Block, int, Statement]] = {}
        self.block: Block = Block([], None, True)
        root = Block(self.function.body, None, True)
        self.root = root
        root.bars.update(self.tape_bars)
        for r, seed in zip(self.function.results, self.seeds, strict=True):
            if isinstance(seed, Tape):
                root.bars[r] = seed
            elif seed is not None and r in self.active:
                root.contributions.setdefault(r, []).append(seed)
        with self.inside(root):
            indexed = {
                s.source
                for s in walk(root.body)
                if isinstance(s, Load) and s.index and s.out in self.active
            }
            for p in self.function.params:
                if isinstance(p, Value) and p in self.active and p in indexed:
                    begin_bar(self, root, p)
            self.forward = with_placeholders(self.run(root), self.placeholders)
            self.bars = [result_bar(self, v) for v in self.wrt]
        self.reverse = root.reverse

    @contextmanager
    def inside(self, block: Block) -> Iterator[None]:
        """Write into a block's reverse, with what is known there."""
        b, outer = self.builder, self.block
        saved = b.block, b.known, b.made
        outer.known, outer.made = b.known, b.made
        self.block, b.block, b.known, b.made = (
            block,
            block.reverse,
            block.known,
            block.made,
        )
        try:
            yield
        finally:
            block.known, block.made = b.known, b.made
            self.block = outer
            b.block, b.known, b.made = saved

    def nested(
        self,
        body: list[Statement],
        top: bool,
        is_loop: bool,
        given: dict[Any, Any] | None = None,
        last_trip: Operand | None = None,
        is_home: bool = False,
    ) -> tuple[list[Statement], list[Statement]]:
        """The forward and reverse sweeps of a nested block."""
        parent = self.block
        block = Block(body, parent, top, last_trip=last_trip, is_home=is_home)
        block.made = dict(self.builder.made)
        block.known = {} if is_loop else dict(self.builder.known)
        block.provided.update(given or {})
        with self.inside(block):
            forward = self.run(block)
        return forward, block.reverse

    def run(self, block: Block) -> list[Statement]:
        b = self.builder
        replaced: dict[int, Statement] = {}
        for s in block.body:
            match s:
                case (
                    Alloc(place=List() as p)
                    | Load(out=List() as p)
                    | Pop(out=List() as p)
                ):
                    if p in self.active and p not in block.bars:
                        begin_list_bar(self, block, p)
                case Remove(out=List() as p):
                    if s.place in self.active and p not in block.bars:
                        begin_list_bar(self, block, p)
                case Alloc(place=p) if p in self.active and p not in block.bars:
                    if p not in self.added:
                        begin_place_bar(self, block, p)
                case Load(out=Tape()) | Pop(out=Tape()) | Call():
                    for o in defines(s):
                        if (
                            isinstance(o, Tape)
                            and o in self.active
                            and o not in block.bars
                        ):
                            b.add(Alloc(bar_of_place(self, block, o)))
        for k in range(len(block.body) - 1, -1, -1):
            s = block.body[k]
            block.at = k
            b.where = s.where
            match s:
                case Let() | Load():
                    if (
                        reverse_let(self, s)
                        if isinstance(s, Let)
                        else reverse_load(self, s)
                    ):
                        replaced[k] = replace(s, safe=True)
                case Store():
                    reverse_store(self, block, k, s)
                case Push():
                    reverse_push(self, s)
                case AddUp():
                    reverse_add_up(self, s)
                case Insert():
                    reverse_insert(self, block, k, s)
                case Remove():
                    reverse_remove(self, block, k, s)
                case Take():
                    reverse_take(self, block, k, s)
                case Pop():
                    reverse_pop(self, s)
                case For() | While() | If():
                    put_back(self, block, set(all_reads(s)) | stores(s))
                    outer_bars(self, block, s)
                    replaced[k] = reverse_compound(self, block, k, s)
                case Call():
                    replaced[k] = reverse_call(self, block, k, s)
        put_back(self, block, set(block.undo))
        forward: list[Statement] = []
        for k, s in enumerate(block.body):
            forward += block.before.get(k, [])
            forward.append(replaced.get(k, s))
            forward += block.after.get(k, [])
        return with_lengths(break_last(forward), block.last)
