"""Lowering, core to core: arrays become loops over numbers, tapes become arrays.

    y = np.exp(x) * w               for i in range(len(x)):
    return np.sum(y)         ->         total += math.exp(x[i]) * w[i]

What comes out is core again, of numbers and of memory that is read and stored element
by element.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from gradwright.transform.build import row
from gradwright.transform.core import (
    Alloc,
    Assert,
    Break,
    Buffer,
    Call,
    Cell,
    For,
    Function,
    If,
    Insert,
    Let,
    List,
    Load,
    Pop,
    Push,
    Raise,
    Remove,
    Statement,
    Store,
    Take,
    Tape,
    Value,
    While,
    copied,
    is_recursive,
    program,
    type_of,
)
from gradwright.transform.errors import UnsupportedSyntax
from gradwright.transform.indices import Linear, linear
from gradwright.transform.lowering import (  # noqa: F401
    creation,
    gather,
    joining,
    products,
    reductions,
    stacks,
)
from gradwright.transform.lowering.arrays import (
    lower_let,
)
from gradwright.transform.lowering.calls import call
from gradwright.transform.lowering.cells import (
    begin_cell,
    lower_load,
    lower_store,
    refuse_number,
)
from gradwright.transform.lowering.forms import Forms
from gradwright.transform.lowering.handed import (
    Layout,
    Pair,
    as_given,
    hand_over,
    on_tape,
    take_as_own,
)
from gradwright.transform.lowering.handed import take as take_tape
from gradwright.transform.lowering.lanes import in_lanes
from gradwright.transform.lowering.lists import (
    begin_list,
    insert,
    load_list,
    remove,
    store_list,
    take,
)
from gradwright.transform.lowering.lists_on_tapes import pop_list, push_list
from gradwright.transform.lowering.nests import Scope
from gradwright.transform.lowering.optional import pop_optional, push_optional
from gradwright.transform.lowering.program import (
    Again,
    LengthsVary,
    Lowering,
    Needs,
    Shape,
)
from gradwright.transform.lowering.reuse import reuse
from gradwright.transform.lowering.tapes import (
    begin_tape,
    copy_tape,
    finish_tapes,
    pop,
    push,
)
from gradwright.transform.lowering.unused import drop_unused
from gradwright.transform.lowering.zeros import begin_as_zeros
from gradwright.transform.types import BOOL

Tapes = Mapping[Any, tuple[Layout, list[Pair]]]
NOTHING: Mapping[Any, Any] = MappingProxyType({})
MOST_DENIED = 8  # things taken for granted that did not hold, before nothing is


def lower(
    function: Function,
    equal: Iterable[tuple[Linear, Linear]] = (),
    natural: Iterable[Linear] = (),
) -> Function:
    """The function in loops.

    Args:
        function: A program of core, simplified.
        equal: Lengths of its parameters that are checked to be equal.
        natural: Forms of those that are checked never to be negative.
    """
    made = Lowered(function, tuple(equal), tuple(natural))
    if made.function is None:
        assert made.refusal is not None
        raise made.refusal
    return made.function


class Lowered:
    """A function in loops, which can be lowered once more when more is known of it.

    Where it has no lowering there is a `refusal` in the place of the function.  Tapes
    and lists that another half hands over are `given` as arrays and counts, each in its
    layout, and so are those among the results: `handed`, by their places there.
    """

    def __init__(
        self,
        source: Function,
        equal: tuple[tuple[Linear, Linear], ...] = (),
        natural: tuple[Linear, ...] = (),
        given: Mapping[int, Layout] = NOTHING,
    ) -> None:
        self.source, self.equal, self.natural = copied(source), equal, natural
        take_as_own(self.source)
        self.params = self.source.params
        self.given: dict[int, Layout] = {}
        self.handed: dict[int, Layout] = {}
        self.needs = Needs()
        self.refusal: UnsupportedSyntax | None = None
        self.function: Function | None = None
        self.take(given)

    def take(self, given: Mapping[int, Layout]) -> None:
        """Lower it for tapes that are given in these layouts, by their places."""
        self.given = {
            k: given.get(k) or Layout(p.type, is_list=isinstance(p, List))
            for k, p in enumerate(self.params)
            if isinstance(p, Tape | List)
        }
        self.source.params = []
        self.tapes: Tapes = {}
        for k, p in enumerate(self.params):
            if not isinstance(p, Tape | List):
                self.source.params.append(p)
                continue
            pairs = as_given(p, self.given[k])
            self.tapes[p] = self.given[k], pairs
            self.source.params += [v for pair in pairs for v in pair if v is not None]
        self._lower()

    def _lower(self) -> None:
        """Lower it with what is known now."""
        self.handed, self.refusal = {}, None
        try:
            self.function = self._made()
        except UnsupportedSyntax as e:
            self.function, self.refusal = None, e

    def _made(self) -> Function:
        others = {f: replace(f, body=[], results=[]) for f in program(self.source)}
        for f, made in others.items():
            if f is not self.source:
                _fill(made, _again(f, Needs(inside=True), others)[0])
        own = others[self.source]
        needs = Needs(inside=True) if is_recursive(self.source) else self.needs
        facts = self.equal, self.natural
        made, self.handed = _again(self.source, needs, others, *facts, self.tapes)
        _fill(own, made)
        return own

    def widen(self, number: int) -> None:
        """A name, by its number, holds arrays of different lengths after all."""
        if number < 0:
            needs, denied = self.needs, set(self.needs.denied)
            forms = [a - b for a, b in (*needs.equal, *needs.unlike)]
            denied.add([*forms, *needs.natural][-number - 1])
            self.needs = Needs(
                varying=needs.varying,
                denied=denied,
                cautious=len(denied) > MOST_DENIED,
            )
        else:
            self.needs.varying.add(number)
        self._lower()


def _again(
    f: Function,
    needs: Needs,
    functions: dict[Function, Function],
    equal: Iterable[tuple[Linear, Linear]] = (),
    natural: Iterable[Linear] = (),
    given: Tapes = NOTHING,
) -> tuple[Function, dict[int, Layout]]:
    """Lower a function, until all is known that it needs."""
    while True:
        forms = Forms((*equal, *needs.equal), (*natural, *needs.natural))
        try:
            return _lowered(Lowering(f, forms, needs, functions), given)
        except Again:  # with what is known now of tapes and names
            pass


def _fill(function: Function, made: Function) -> None:
    function.body, function.results = made.body, made.results


def _lowered(L: Lowering, tapes: Tapes) -> tuple[Function, dict[int, Layout]]:
    given: set[Any] = set()
    handed: dict[int, Layout] = {}
    every = dict(enumerate(L.function.results))
    places = {k: r for k, r in every.items() if isinstance(r, Tape | List)}
    words = [tape for tape, (layout, _) in tapes.items() if layout.is_words]
    L.stacks = stacks.stacks_of(L.function, words)
    with L.block() as body:
        for tape, (layout, pairs) in tapes.items():
            take_tape(L, tape, layout, pairs)
        block(L, L.function.body)
        results = [result(L, r, given) for k, r in every.items() if k not in places]
        tapes_of = {k: on_tape(L, r) for k, r in places.items()}
        finish_tapes(L)
        for k, r in places.items():
            layout, parts = hand_over(L, tapes_of[k])
            handed[k] = replace(layout, is_list=isinstance(r, List))
            results += parts
    body = [*_asked(L.needs), *L.head, *body]
    lowered = replace(L.function, body=body, results=results)
    drop_unused(lowered)
    in_lanes(lowered)
    drop_unused(lowered)
    reuse(lowered, L.ours - given)
    begin_as_zeros(lowered)
    return lowered, handed


def _asked(needs: Needs) -> list[Statement]:
    """What is taken for granted of the arguments, asked before all else."""
    found: list[Statement] = []
    number = 0
    for function, pairs in (
        (operator.ne, needs.equal),
        (operator.eq, needs.unlike),
        (operator.lt, [(form, linear(0)) for form in needs.natural]),
    ):
        for a, b in pairs:
            number -= 1
            out = Value("differs", BOOL)
            vary: list[Statement] = [Raise(LengthsVary, (linear(number),))]
            found += [Let(out, row(function, 2), (a, b)), If(out, vary, [])]
    return found


def block(L: Lowering, body: list[Statement]) -> None:
    """All statements of a block."""
    waiting: dict[int, list[gather.Part]] = {}  # by the last addition of a group
    gathered: set[int] = set()
    for k, s in enumerate(body):
        L.where, L.adjoint = s.where or L.where, s.adjoint
        if id(s) not in gathered:
            parts = gather.group(L, body, k)
            if parts:
                gathered.update(id(p.store) for p in parts)
                waiting[id(parts[-1].store)] = parts
        if id(s) in gathered:
            if id(s) in waiting:
                gather.write(L, waiting[id(s)])
        else:
            statement(L, s)
        L.used(s)
        if isinstance(s, Raise):
            break  # what follows may be of what is not there


def statement(L: Lowering, s: Statement) -> None:
    """One statement of the program."""
    match s:
        case Let():
            lower_let(L, s)
        case Load(source=List()):
            load_list(L, s)
        case Load(source=Tape()) if s.source in L.stacks:
            L.add(replace(s))
        case Load(source=Tape()):
            copy_tape(L, s)
        case Load():
            lower_load(L, s)
        case Store(place=List()):
            store_list(L, s)
        case Store():
            lower_store(L, s)
        case Alloc(place=Buffer() as place):
            begin(L, place, s.value)
        case Alloc(place=Cell() as place) if place.type.is_array:
            begin_cell(L, place)
        case Alloc(place=List() as place):
            begin_list(L, place)
        case Insert():
            insert(L, s)
        case Remove():
            remove(L, s)
        case Take():
            take(L, s)
        case Alloc(place=Tape(like=None)) if s.place in L.stacks:
            L.add(Alloc(s.place))
        case Alloc(place=Tape() as place):
            begin_tape(L, place)
        case Alloc(place=Cell()):
            L.add(Alloc(s.place))
        case Push() if s.tape in L.stacks:
            stacks.push(L, s)
        case Push(operand=List()):
            push_list(L, s)
        case Push() if s.tape in L.optional_of:
            push_optional(L, s)
        case Push():
            push(L, s)
        case Pop() if s.tape in L.stacks:
            stacks.pop(L, s)
        case Pop(out=List()):
            pop_list(L, s)
        case Pop() if s.tape in L.optional_of:
            pop_optional(L, s)
        case Pop():
            pop(L, s)
        case For():
            loop(L, s)
        case While():
            while_loop(L, s)
        case If():
            branch(L, s)
        case Break():
            L.add(Break())
        case Call():
            call(L, s)
        case Raise():
            L.add(Raise(s.exception, tuple(map(L.operand, s.operands))))
        case Assert():
            assertion(L, s)
        case _:
            raise L.refuse(type(s).__name__)


def begin(L: Lowering, place: Buffer, value: Value | None) -> None:
    """An array that is stored into; it begins as zeros, or as another one."""
    like = place.like
    shape = (
        L.shape(like)
        if isinstance(like, Value)
        else tuple(
            L.length(n) if isinstance(n, Linear | int) else L.let(int, n) for n in like
        )
    )
    fill(L, place, shape, value)


def fill(L: Lowering, place: Any, shape: Shape, value: Any) -> None:
    """Room for a place of the program, and what it holds first."""
    memory = L.stored.get(place)
    if memory is None:
        memory = L.room(place.name, place.type, shape, lasts=True)
        L.is_memory(place, memory, shape)
    L.settle({memory})
    element = place.type.element
    zero = reductions.constant(element.weak().type(0), element)

    def write(w: Scope, at: tuple[Linear, ...]) -> None:
        w.store(memory, at, zero if value is None else L.at(w, value, at))

    L.root(shape, write)


def loop(L: Lowering, s: For) -> None:
    """A loop over a range."""
    start, stop, step = (L.operand(o) for o in (s.start, s.stop, s.step))
    L.prepare(s, loops=True)
    start, stop, step = (L.as_int(o) for o in (start, stop, step))
    bounds = _bounds(start, stop, step)
    with L.open_loop(s.symbol, bounds), L.block(loops=True) as body:
        block(L, s.body)
    made = For(s.symbol, start, stop, step, body, s.backwards, samples=s.samples)
    L.where, L.adjoint = s.where or L.where, s.adjoint
    L.add(made)


def _bounds(start: Any, stop: Any, step: Any) -> tuple[Linear, Linear] | None:
    """The least and the greatest that a loop variable is, of linear forms."""
    if not all(isinstance(o, Linear) for o in (start, stop, step)):
        return None
    if not step.constant:
        return None
    return (start, stop - 1) if step.constant > 0 else (stop + 1, start)


def while_loop(L: Lowering, s: While) -> None:
    """A loop on a condition."""
    L.prepare(s, loops=True)
    with L.open_loop(None, None):
        with L.block(loops=True) as header:
            block(L, s.header)
        with L.block(loops=True) as body:
            block(L, s.body)
    L.add(While(header, L.operand(s.condition), body))


def branch(L: Lowering, s: If) -> None:
    """A branch; where its condition is known, what it chooses."""
    if s.condition in L.truth:
        block(L, s.then if L.truth[s.condition] else s.orelse)
        return
    L.prepare(s, loops=False)
    condition = L.operand(s.condition)
    holds, fails = _said(L, s.condition)
    with L.block() as then, L.knowing(holds):
        block(L, s.then)
    with L.block() as orelse, L.knowing(fails):
        block(L, s.orelse)
    L.where, L.adjoint = s.where or L.where, s.adjoint
    L.add(If(condition, then, orelse))


def _said(L: Lowering, condition: Any) -> tuple[list[Linear], list[Linear]]:
    """What a comparison of ints says is not negative: where it holds, and where not."""
    made = L.made.get(condition) if isinstance(condition, Value) else None
    if made is None or len(made.operands) != 2:
        return [], []
    a, b = made.operands
    if not (isinstance(a, Linear) and isinstance(b, Linear)):
        return [], []
    less = L.form(b) - L.form(a)
    match made.primitive.function:
        case operator.lt:
            return [less - 1], [-less]
        case operator.le:
            return [less], [-less - 1]
        case operator.gt:
            return [-less - 1], [less]
        case operator.ge:
            return [-less], [less - 1]
        case operator.eq:
            return [less, -less], []
        case operator.ne:
            return [], [less, -less]
    return [], []


def assertion(L: Lowering, s: Assert) -> None:
    """A condition, and what is computed for its message."""
    L.prepare(s, loops=False)
    with L.block() as header:
        block(L, s.header)
    message = None if s.message is None else L.operand(s.message)
    L.add(Assert(L.operand(s.condition), header, message))


def result(L: Lowering, r: Any, given: set[Any]) -> Any:
    """A result: a number, or memory of its own."""
    if not type_of(r).is_array:
        return L.operand(r)
    if r not in L.shapes:  # the program has raised by then
        nothing = (linear(0),) * r.type.rank
        L.is_memory(r, L.room(r.name, r.type, nothing), nothing)
    if not r.type.rank:
        out, w = Value(r.name, r.type), Scope()
        L.number(out, w, L.at(w, r, ()))
        return out
    refuse_number(L, r)
    memory = L.stored.get(r, L.whole.get(r))
    if not isinstance(memory, Buffer) or memory in given or memory in L.born:
        memory = L.stored[L.written_out(r)]
    given.add(memory)
    out = Value(r.name, r.type)
    L.add(Load(out, memory))
    return out
