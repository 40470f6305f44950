"""Samples side by side, after lowering: the loop over them becomes the innermost one.

    for i in range(n):                  for first in range(0, n, 64):
        x = a[i]                            count = min(64, n - first)
        for t in range(m[i]):               for lane in range(count):
            x = x * x + b[i]                    x[lane] = a[first + lane]
        y[i] = x               ->           most = max(m[first + lane] of all lanes)
                                            for trip in range(most):
                                                for lane in range(count):
                                                    if trip < m[first + lane]:
                                                        x[lane] = ...

No sample knows of another, so that each statement may be made for a block of samples
before the next one.  A number of a sample becomes one of an array, a lane for each
sample, and what is between two loops one loop over the lanes, which processors make
several of at once.  Samples that go different ways, or as far as others, sit out what
they have no part in.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from gradwright.transform.build import row
from gradwright.transform.core import (
    Alloc,
    Assert,
    At,
    Break,
    Buffer,
    Call,
    Cell,
    Const,
    For,
    Function,
    If,
    Let,
    Library,
    Load,
    Operand,
    Place,
    Raise,
    Resize,
    Statement,
    Store,
    Substitution,
    Value,
    While,
    blocks,
    defines,
    leaves,
    reads,
    walk,
)
from gradwright.transform.deadcode import may_raise
from gradwright.transform.indices import Linear, linear, symbol
from gradwright.transform.lowering.differences import Differences, grows
from gradwright.transform.types import BOOL, INT, Type

LANES = 64  # samples of a block
LANES_OF_ARRAYS = 16  # where each has arrays, which may be long: caches are short


class NotInLanes(Exception):
    """A loop over samples that stays as it is."""


def in_lanes(function: Function) -> None:
    """Make loops over samples loops over blocks of them, where that pays; in place."""
    function.body = _block(function, function.body)


def are_apart(function: Function) -> bool:
    """Whether samples that loop are gone through one after another, after all."""
    loops = (s for s in walk(function.body) if isinstance(s, For) and s.samples)
    return any(s.step == linear(1) and _pays(s) for s in loops)


def _block(function: Function, body: list[Statement]) -> list[Statement]:
    made: list[Statement] = []
    for s in body:
        if isinstance(s, For) and s.samples and _pays(s):
            try:
                made += _Lanes(function, s).written
            except NotInLanes:
                made.append(s)
        else:
            for b in blocks(s):
                b[:] = _block(function, b)
            made.append(s)
    return made


def _pays(loop: For) -> bool:
    """Whether there are samples that loop; one without loops is as good as it is."""
    is_one = isinstance(loop.stop, Linear) and loop.stop.constant == 1
    return not is_one and any(isinstance(s, For | While) for s in walk(loop.body))


@dataclass(frozen=True)
class Taken:
    """Which lanes take part: those of a flag, or those that are not done at a trip."""

    place: Buffer
    trip: Linear | None = None


class _Lanes:
    """The loop over the blocks of samples while it is written.

    own: memory that is a sample's own.  written: what stands in the place of the loop.
    """

    def __init__(self, function: Function, loop: For) -> None:
        if loop.start != linear(0) or loop.step != linear(1) or loop.backwards:
            raise NotInLanes
        if not isinstance(loop.stop, Linear):
            raise NotInLanes
        self.loop = loop
        self.own = _of_a_sample(function, loop)
        self.width = LANES_OF_ARRAYS if any(map(_may_be_long, self.own)) else LANES
        self.first, self.count = Value("first", INT), Value("count", INT)
        self.lane = Value("lane", INT)
        place = symbol(self.first) + symbol(self.lane)
        self.changes = Substitution({loop.symbol: place})
        self.begun: list[Statement] = []
        self.lanes: dict[Any, Buffer] = {}  # of the names of a sample
        self.bounds: dict[Any, Cell] = {}  # how long a tape may be in any lane
        self.loops: list[For] = []  # those over lanes
        self.trips: list[tuple[For | While, Buffer | None]] = []
        self.out: list[Statement] = []
        self.run: list[Statement] = []
        self.taken: Taken | None = None
        self.growing = {s.place for s in walk(loop.body) if isinstance(s, Resize)}
        self._check()
        stored = {s.place for s in walk(loop.body) if isinstance(s, Store)}
        self.differ = Differences(loop.symbol, self.own, stored - _cells(loop.body))
        self.differ.look(loop.body)
        for s in function.body:
            if isinstance(s, Alloc) and s.place in self.own:
                self.begun.append(self._with_lanes(s))
        body = self.block(loop.body, None)
        self._hand_on(body)
        size = loop.stop
        count = Let(
            self.count, row(min, 2), (linear(self.width), size - symbol(self.first))
        )
        made = For(self.first, linear(0), size, linear(self.width), [count, *body])
        self.written = [*self.begun, replace(made, where=loop.where, samples=True)]

    def _check(self) -> None:
        """Refuse what is not made lane by lane."""
        inside = {s.place for s in walk(self.loop.body) if isinstance(s, Alloc)}
        for s in walk(self.loop.body):
            match s:
                case Let() | Break() | If() | While() | Resize() | Raise() | Assert():
                    pass
                case For():
                    if not (isinstance(s.step, Linear) and s.step.constant):
                        raise NotInLanes
                case Load():
                    if s.unsure or s.out.type.is_array or isinstance(s.out, Place):
                        raise NotInLanes
                case Alloc():
                    if s.value is not None or not isinstance(s.place, Buffer | Cell):
                        raise NotInLanes
                case Store(place=Cell() as place):
                    if place not in inside:
                        raise NotInLanes
                case Store():
                    is_row = any(
                        self.loop.symbol in leaves(i.position)
                        for i in s.index
                        if isinstance(i, At)
                    )
                    if s.place not in self.own and not is_row:
                        raise NotInLanes
                case _:
                    raise NotInLanes

    # ---- memory ----------------------------------------------------------------

    def _lane_of(self, name: str, type: Type, counts: bool = False) -> Buffer:
        """An array of a number for each lane."""
        if type.optional or not type.is_number:
            raise NotInLanes
        dims = (linear(self.width),)
        made = Buffer(name, Type(type.dtype, type.python, dims), dims)
        made.counts = counts
        self.begun.append(Alloc(made, blank=True))
        return made

    def _cell(self, name: str, type: Type) -> Cell:
        made = Cell(name, type)
        self.begun.append(Alloc(made))
        return made

    def _at(self) -> tuple[At, ...]:
        return (At(symbol(self.lane)),)

    def _of(self, place: Any) -> Buffer:
        """The lanes of a name."""
        if place not in self.lanes:
            self.lanes[place] = self._lane_of(place.name, place.type, place.counts)
        return self.lanes[place]

    def _with_lanes(self, s: Alloc) -> Alloc:
        """Memory of a sample begins: with an axis for the lanes behind its own."""
        place = s.place
        assert isinstance(place, Buffer)
        if not isinstance(place.like, tuple) or s.value is not None:
            raise NotInLanes
        dims = tuple(
            self._most(n) if self.differ.differs(n) else self.changes.operand(n)
            for n in place.like
        )
        full: tuple[Any, ...] = (*dims, linear(self.width))
        t = place.type
        made = Buffer(place.name, Type(t.dtype, t.python, full), full)
        made.is_tape = place.is_tape
        self.changes.mapping[place] = made
        return replace(s, place=made)

    # ---- statements ------------------------------------------------------------

    def block(self, body: list[Statement], taken: Taken | None) -> list[Statement]:
        """A block for all lanes, or for those that are taken."""
        before = self.out, self.run, self.taken
        self.out, self.run, self.taken = [], [], taken
        for s in body:
            self.statement(s)
        self.flush()
        made = self.out
        self.out, self.run, self.taken = before
        return made

    def flush(self) -> None:
        """A loop over the lanes of what is waiting for one."""
        if self.run:
            self._loop_over(self._where_taken(self.run))
            self.run = []

    def _loop_over(self, body: list[Statement]) -> None:
        lane = Value("lane", INT)
        lane.of = self.lane
        own = Substitution({self.lane: lane})
        made = For(lane, linear(0), symbol(self.count), linear(1), own.block(body))
        made.where, made.adjoint = body[0].where, body[0].adjoint
        self.loops.append(made)
        self.out.append(made)

    def _where_taken(self, body: list[Statement]) -> list[Statement]:
        """Statements that only some lanes make."""
        t = self.taken
        if t is None:
            return body
        if t.trip is None:
            flag = Value(t.place.name, BOOL)
            return [Load(flag, t.place, self._at(), safe=True), If(flag, body, [])]
        trips, more = Value(t.place.name, INT), Value("more", BOOL)
        return [
            Load(trips, t.place, self._at(), safe=True),
            Let(more, row(operator.lt, 2), (t.trip, symbol(trips))),
            If(more, body, []),
        ]

    def statement(self, s: Statement) -> None:
        """A statement of a sample, for all of them."""
        match s:
            case If() if grows(s):
                self._grow(s)
            case If() if id(s) in self.differ.ways and self._is_simple(s):
                self._add(s)
            case Assert() if not self._is_simple(s):
                raise NotInLanes
            case If() if id(s) in self.differ.ways:
                self._branch(s)
            case If():
                self.flush()
                then = self.block(s.then, self.taken)
                orelse = self.block(s.orelse, self.taken)
                condition = self.changes.operand(s.condition)
                self.out.append(If(condition, then, orelse))
            case For() if id(s) in self.differ.ways:
                self._for(s)
            case While() if id(s) in self.differ.ways:
                self._while(s)
            case For():
                self.flush()
                o = self.changes.operand
                bounds = {"start": o(s.start), "stop": o(s.stop), "step": o(s.step)}
                self.trips.append((s, None))
                body = self.block(s.body, self.taken)
                self.trips.pop()
                self.out.append(replace(s, body=body, **bounds))
            case While():
                self.flush()
                self.trips.append((s, None))
                header = self.block(s.header, self.taken)
                condition = self.changes.operand(s.condition)
                body = self.block(s.body, self.taken)
                self.trips.pop()
                self.out.append(While(header, condition, body))
            case Break() if self.trips[-1][1] is None:
                self.flush()
                self.out.append(Break())
            case Alloc(place=Buffer() as place):
                self.out.append(self._with_lanes(s))
                if place in self.growing:
                    bound = self.bounds[place] = self._cell("bound", INT)
                    self.out.append(Store(bound, linear(0)))
            case Alloc():
                if s.place not in self.differ.values:
                    self.out.append(s)
            case _ if self._is_alike(s):
                self.out.append(self.changes.statement(s))
            case _:
                self._add(s)

    def _add(self, s: Statement) -> None:
        """A statement of each lane; what may raise has a loop of its own.

        Nothing that may be left in its midst is made of several lanes at once.
        """
        raises = any(map(_raises, walk([s])))
        if raises:
            self.flush()
        self.run.append(self._in_lane(s))
        if raises:
            self.flush()

    def _is_alike(self, s: Statement) -> bool:
        """Whether a statement is made once for all lanes."""
        match s:
            case Let() | Load():
                return s.out not in self.differ.values
            case Store(place=Cell() as place):
                return place not in self.differ.values
        return False

    def _is_simple(self, s: If | Assert) -> bool:
        """Whether what is in a branch is of numbers alone, and made lane by lane."""
        return not any(
            isinstance(t, For | While | Resize)
            or (isinstance(t, Alloc) and isinstance(t.place, Buffer))
            for t in walk([s])
        )

    def _in_lane(self, s: Statement) -> Statement:
        """A statement as it is made for one lane."""
        index = self.changes.index
        match s:
            case Load(source=Cell() as source) if source in self.differ.values:
                return replace(s, source=self._of(source), index=self._at(), safe=True)
            case Load():
                at = self._at() if s.source in self.own else ()
                source = self.changes.operand(s.source)
                return replace(s, source=source, index=(*index(s.index), *at))
            case Store(place=Cell() as place):
                operand = self.changes.operand(s.operand)
                return replace(
                    s,
                    place=self._of(place),
                    operand=operand,
                    index=self._at(),
                    safe=True,
                )
            case Store():
                at = self._at() if s.place in self.own else ()
                return replace(
                    s,
                    place=self.changes.operand(s.place),
                    operand=self.changes.operand(s.operand),
                    index=(*index(s.index), *at),
                )
            case If():
                then, orelse = (
                    [self._in_lane(t) for t in b if not isinstance(t, Alloc)]
                    for b in blocks(s)
                )
                return replace(
                    s,
                    condition=self.changes.operand(s.condition),
                    then=then,
                    orelse=orelse,
                )
            case Assert():
                return replace(
                    s,
                    condition=self.changes.operand(s.condition),
                    header=[self._in_lane(t) for t in s.header],
                    message=self.changes.operand(s.message),
                )
            case Break():
                return self._leave()
        return self.changes.statement(s)

    def _leave(self) -> Statement:
        """A lane is done with the innermost loop."""
        loop, place = self.trips[-1]
        assert place is not None
        done: Operand = linear(0) if isinstance(loop, For) else Const(False, BOOL)
        return Store(place, done, self._at(), safe=True)

    # ---- ways that samples take differently --------------------------------------

    def _branch(self, s: If) -> None:
        """A branch with loops in it: each side for those that take it."""
        condition = self.changes.operand(s.condition)
        for b, is_then in ((s.then, True), (s.orelse, False)):
            if not b:
                continue
            flag = self._lane_of("taken", BOOL)
            holds = condition
            made: list[Statement] = []
            if not is_then:
                holds = Value("other", BOOL)
                made.append(Let(holds, row(operator.not_, 1), (condition,)))
            made.append(Store(flag, holds, self._at(), safe=True))
            none = Store(flag, Const(False, BOOL), self._at(), safe=True)
            self._note(made, none)
            self.out += self.block(b, Taken(flag))

    def _for(self, s: For) -> None:
        """A loop that goes on as long as some lane has trips left."""
        trips = self._lane_of("trips", INT)
        step = s.step.constant  # type: ignore[union-attr]
        assert step is not None
        made: list[Statement] = []
        start, stop = (self._int(o, made) for o in (s.start, s.stop))
        count = stop - start if step > 0 else start - stop
        if abs(step) != 1:
            whole = Value("trips", INT)
            operands = (count + (abs(step) - 1), linear(abs(step)))
            made.append(Let(whole, row(operator.floordiv, 2), operands))
            count = symbol(whole)
        most = self._cell("most", INT)
        made.append(Store(trips, count, self._at(), safe=True))
        made += self._larger(most, count)
        self.out.append(Store(most, linear(0)))
        self._note(made, Store(trips, linear(0), self._at(), safe=True))
        stop_all, trip = Value("most", INT), Value("trip", INT)
        self.out.append(Load(stop_all, most))
        self.changes.mapping[s.symbol] = start + symbol(trip) * step
        self.trips.append((s, trips))
        body = self.block(s.body, Taken(trips, symbol(trip)))
        self.trips.pop()
        if id(s) in self.differ.left:
            body = self._unless_all_left(trips, trip, body)
        loop = For(trip, linear(0), symbol(stop_all), linear(1), body, s.backwards)
        self.out.append(replace(loop, where=s.where, adjoint=s.adjoint))

    def _unless_all_left(
        self, trips: Buffer, trip: Value, body: list[Statement]
    ) -> list[Statement]:
        """The body of a loop that is left when no lane goes on."""
        going, goes = self._cell("going", BOOL), Value("going", BOOL)
        before, self.out = self.out, [Store(going, Const(False, BOOL))]
        taken, self.taken = self.taken, Taken(trips, symbol(trip))
        self._loop_over(self._where_taken([Store(going, Const(True, BOOL))]))
        self.out += [Load(goes, going), If(goes, body, [Break()])]
        made, self.out, self.taken = self.out, before, taken
        return made

    def _while(self, s: While) -> None:
        """A loop that goes on as long as some lane's condition holds."""
        live = self._lane_of("live", BOOL)
        going, goes = self._cell("going", BOOL), Value("going", BOOL)
        set_ = Store(live, Const(True, BOOL), self._at(), safe=True)
        self._note([set_], Store(live, Const(False, BOOL), self._at(), safe=True))
        self.trips.append((s, live))
        header = self.block(s.header, Taken(live))
        condition = self.changes.operand(s.condition)
        before, self.out = self.out, header
        taken, self.taken = self.taken, Taken(live)
        self.out.append(Store(going, Const(False, BOOL)))
        holds = Store(live, condition, self._at(), safe=True)
        on: list[Statement] = [Store(going, Const(True, BOOL))]
        self._loop_over(self._where_taken([holds, If(condition, on, [])]))
        self.out.append(Load(goes, going))
        header, self.out, self.taken = self.out, before, taken
        body = self.block(s.body, Taken(live))
        self.trips.pop()
        self.out.append(replace(s, header=header, condition=goes, body=body))

    def _note(self, made: list[Statement], otherwise: Store | None = None) -> None:
        """What each lane that takes part notes for what comes, the others otherwise."""
        if self.taken is None:
            self.run += made
            self.flush()
            return
        self.flush()
        rest = [] if otherwise is None else [otherwise]
        self._loop_over([*rest, *self._where_taken(made)])

    def _int(self, o: Operand, made: list[Statement]) -> Linear:
        """A bound of a loop as a linear form."""
        o = self.changes.operand(o)
        if isinstance(o, Linear):
            return o
        whole = Value(getattr(o, "name", "n"), INT)
        made.append(Let(whole, row(int, 1), (o,)))
        return symbol(whole)

    def _larger(self, most: Cell, count: Linear) -> list[Statement]:
        """The largest of all lanes so far."""
        so_far, more = Value(most.name, INT), Value("more", BOOL)
        return [
            Load(so_far, most),
            Let(more, row(operator.gt, 2), (count, symbol(so_far))),
            If(more, [Store(most, count)], []),
        ]

    def _most(self, n: Operand) -> Linear:
        """The largest that a number is in any lane, and not less than 0."""
        most, found = self._cell("most", INT), Value("most", INT)
        self.out.append(Store(most, linear(0)))
        made: list[Statement] = []
        form = self._int(n, made)
        self._note([*made, *self._larger(most, form)])
        self.out.append(Load(found, most))
        return symbol(found)

    def _grow(self, s: If) -> None:
        """More room where some lane needs it.

        Each time that is asked, a counter goes up by as much, and no lane can hold
        more; only when that is beyond the room, all lanes are looked at.
        """
        resize = next(t for t in s.then if isinstance(t, Resize))
        wanted, room = self._asked(s)
        if not self.differ.differs(wanted):
            self.flush()
            self.out.append(self.changes.statement(s))
            return
        if room.place in self.differ.values or list(wanted.terms.values()) != [1]:
            raise NotInLanes
        bound = self.bounds[resize.place]
        self.flush()
        before, now, has = Value("bound", INT), Value("bound", INT), Value("room", INT)
        full, lacks = Value("full", BOOL), Value("lacks", BOOL)
        taller, more = Value("bound", INT), Value("room", INT)
        outer, self.out = self.out, [Store(bound, linear(0))]
        self._loop_over(self._where_taken(self._larger(bound, wanted)))
        place = self.changes.operand(resize.place)
        self.out += [
            Load(taller, bound),
            Let(lacks, row(operator.gt, 2), (symbol(taller), symbol(has))),
            If(
                lacks,
                [
                    Let(more, row(max, 2), (symbol(has) * 2, symbol(taller))),
                    Resize(place, symbol(more)),
                    Store(room.place, symbol(more)),
                ],
                [],
            ),
        ]
        found, self.out = self.out, outer
        self.out += [
            Load(before, bound),
            Store(bound, symbol(before) + wanted.offset),
            Load(now, bound),
            Load(has, room.place),
            Let(full, row(operator.gt, 2), (symbol(now), symbol(has))),
            If(full, found, []),
        ]

    def _asked(self, s: If) -> tuple[Linear, Store]:
        """How much room is wanted, and the name that holds how much there is."""
        larger = next((t for t in s.then if isinstance(t, Let)), None)
        room = next((t for t in s.then if isinstance(t, Store)), None)
        if larger is None or room is None or not isinstance(larger.operands[1], Linear):
            raise NotInLanes
        return self.changes.operand(larger.operands[1]), room

    # ---- from one loop over lanes to another ---------------------------------------

    def _hand_on(self, body: list[Statement]) -> None:
        """What one loop over lanes makes and another one reads goes through memory."""
        home: dict[Any, For] = {}
        counts: set[Any] = set()
        for loop in self.loops:
            for s in walk(loop.body):
                home.update(dict.fromkeys(defines(s), loop))
                if isinstance(s, Load) and isinstance(s.source, Place):
                    counts.update([s.out] if s.source.counts else [])
        kept: dict[Any, Buffer] = {}
        for loop in self.loops:
            read = {v for s in walk(loop.body) for v in reads(s)}
            wanted = [v for v in home if v in read and home[v] is not loop]
            mapping: dict[Any, Any] = {}
            first: list[Statement] = []
            at = (At(symbol(loop.symbol)),)
            for v in wanted:
                if v not in kept:
                    kept[v] = self._lane_of(v.name, v.type, v in counts)
                now = Value(v.name, v.type)
                now.of = v.of
                mapping[v] = now
                first.append(Load(now, kept[v], at, safe=True))
            if mapping:
                loop.body = [*first, *Substitution(mapping).block(loop.body)]
        if any(v in home for s in _between(body, self.loops) for v in reads(s)):
            raise NotInLanes  # what is one for all depends on a lane
        for v, place in kept.items():
            at = (At(symbol(home[v].symbol)),)
            _insert(home[v].body, v, Store(place, v, at, safe=True))


def _raises(s: Statement) -> bool:
    if isinstance(s, Let | Load):
        return may_raise(s)
    return isinstance(s, Raise | Assert)


def _between(body: list[Statement], loops: list[For]) -> Iterator[Statement]:
    """The statements of a block that are in no loop over lanes."""
    for s in body:
        if not any(s is loop for loop in loops):
            yield s
            for b in blocks(s):
                yield from _between(b, loops)


def _insert(body: list[Statement], v: Any, s: Statement) -> bool:
    """Put a statement right behind the one that makes a value."""
    for k, t in enumerate(body):
        if v in defines(t):
            body.insert(k + 1, s)
            return True
        if any(_insert(b, v, s) for b in blocks(t)):
            return True
    return False


def _cells(body: list[Statement]) -> set[Any]:
    stored = (s.place for s in walk(body) if isinstance(s, Store))
    return {place for place in stored if isinstance(place, Cell)}


def _may_be_long(place: Buffer) -> bool:
    """Whether an array of a sample's is of any length; a tape is read in order."""
    dims = place.like if isinstance(place.like, tuple) else ()
    is_known = all(isinstance(n, Linear) and n.constant is not None for n in dims)
    return not (place.is_tape or is_known)


def _of_a_sample(function: Function, loop: For) -> set[Any]:
    """The memory that nothing but the loop has to do with."""
    inside = {
        p
        for s in walk(loop.body)
        for p in (*reads(s), getattr(s, "place", None))
        if isinstance(p, Buffer)
    }
    outside: set[Any] = {v for r in function.results for v in leaves(r)}
    for s in _besides(function.body, loop):
        outside.update(reads(s))
        if isinstance(s, Store | Resize):
            outside.add(s.place)
        elif isinstance(s, Library | Call):
            outside.update(s.outs)
    return inside - outside


def _besides(body: list[Statement], loop: For) -> Iterator[Statement]:
    for s in body:
        if s is not loop:
            yield s
            for b in blocks(s):
                yield from _besides(b, loop)
