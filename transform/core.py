"""The core language: small, typed, flat; what every transform takes and returns.

Three kinds of thing.  **Values** are assigned once and immutable.  **Places** are
mutable storage: a `Cell` holds a name that a runtime loop or branch reassigns, a
`Buffer` is an array that is stored into element by element, a `List` a list of the
user's, a `Tape` one of ours, used as a stack.  **Linear forms** are the integers that
steer (see `indices`).  There are no phis and no aliases: all mutation is a `Store`, an
`Insert` or `Remove`, a `Push` or a `Pop`.

    for k in range(n):                For(k, 0, n, 1, [
        x = x * x            ->           Let(x_1, load, [x]), Let(v, mul, [x_1, x_1]),
                                          Store(x, v)])
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from gradwright.transform.errors import Location
from gradwright.transform.indices import Dim, Linear
from gradwright.transform.primitives.record import Primitive
from gradwright.transform.types import INT, Type

_serial = itertools.count()


class _Named:
    """Something with a name that is only a wish: `names` settles the spelling.

    `of` is what it is another making of, or a part of; the two may share a name.
    """

    of: Any = None

    def __init__(self, name: str, type: Type) -> None:
        self.name = name
        self.type = type
        self.serial = next(_serial)

    def __repr__(self) -> str:
        return f"{self.name}%{self.serial}"


class Value(_Named):
    """Assigned once.  `users` marks a name of the user's own program.

    A `loose` one has lengths that only the run knows, as operands of it may have had
    length 1 and been stretched.
    """

    loose = False

    def __init__(self, name: str, type: Type, users: bool = False) -> None:
        super().__init__(name, type)
        self.users = users


class Place(_Named):
    """Mutable storage.

    `counts`: it holds how many items of an array there are.
    """

    counts = False

    def content(self) -> Value:
        """A value for what it holds at some time, under its name."""
        value = Value(self.name, self.type)
        value.of = self
        return value


class Cell(Place):
    """A name that is reassigned at run time; holds a scalar or a whole array.

    A `choice` cell is the result of a conditional expression, an `and` or an `or`.
    """

    def __init__(self, name: str, type: Type, choice: bool = False) -> None:
        super().__init__(name, type)
        self.choice = choice


class Buffer(Place):
    """An array that this program owns and stores into by index; starts as zeros.

    `like` is the value whose shape it takes, or that shape itself.  `is_tape`: it holds
    what a reverse sweep needs again.
    """

    is_tape = False

    def __init__(
        self, name: str, type: Type, like: Value | tuple[Operand, ...]
    ) -> None:
        super().__init__(name, type)
        self.like = like


class Tape(Place):
    """A list of scalars, arrays or tapes, used as a stack.

    One that is `like` another begins with a zero for each of that one's items.
    """

    like: Tape | None = None


class List(Place):
    """A list of numbers, or of arrays, whose items have the type.

    With a `length` it begins with as many zeros, which stand for arrays, too.  One that
    is `gathered` is what a comprehension makes; `users` marks a name of the user's own.
    Where the `depth` is more than one, the items are lists of one depth less.
    """

    length: Operand | None = None
    gathered = False
    users = False

    def __init__(self, name: str, type: Type, depth: int = 1) -> None:
        super().__init__(name, type)
        self.depth = depth

    def is_item(self, index: Index) -> bool:
        """Whether an index names one number or array, not a list."""
        return sum(isinstance(i, At) for i in index) == self.depth


@dataclass(frozen=True)
class Const:
    """A literal, or a constant of a library (`text` is how it is spelled)."""

    value: Any
    type: Type
    text: str | None = None

    def __eq__(self, other: object) -> bool:  # 0.0 and -0.0, 1 and True differ
        return isinstance(other, Const) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))


Operand = Value | Linear | Const


def type_of(operand: Operand | Place) -> Type:
    """The type of any operand or place; a linear form is a Python int."""
    return INT if isinstance(operand, Linear) else operand.type


# ---- index items: what stands between the brackets of a load or a store ------------


@dataclass(frozen=True)
class At:
    """One element along an axis."""

    position: Operand


@dataclass(frozen=True)
class Span:
    """A slice along an axis, with Python's own reading of its bounds."""

    lower: Operand | None = None
    upper: Operand | None = None
    step: Operand | None = None


@dataclass(frozen=True)
class Pick:
    """The elements at an array of places, or where a mask holds.

    `distinct`: no place comes twice.
    """

    places: Operand
    distinct: bool = False


@dataclass(frozen=True)
class NewAxis:
    """An axis of length one that indexing adds."""


@dataclass(frozen=True)
class Whole:
    """An ellipsis: every axis not named otherwise."""


@dataclass(frozen=True)
class Length:
    """How many items a list has: what stands behind a list alone."""


@dataclass(frozen=True)
class View:
    """A view of what the items before it name; the items behind it index that view.

    It is primitive(part, *operands), of a type with open lengths; without a primitive
    the part itself, of which a part is taken: `u[::-1][1:]`.
    """

    type: Type
    primitive: Primitive | None = None
    operands: tuple[Operand, ...] = ()
    attribute: Any = None


Index = tuple[At | Span | Pick | NewAxis | Whole | View | Length, ...]


# ---- statements --------------------------------------------------------------------


@dataclass(eq=False, kw_only=True)
class Statement:
    """`where` is the user's statement that this one comes from.

    `adjoint` marks a statement of a derivative's own, which is printed with the user's
    line above it.
    """

    where: Location | None = None
    adjoint: bool = False


@dataclass(eq=False)
class Let(Statement):
    """out = primitive(*operands); `attribute` holds what is static."""

    out: Value
    primitive: Primitive
    operands: tuple[Operand, ...]
    attribute: Any = None
    quiet: bool = False  # its floating-point warnings are the derivative's own
    safe: bool = False  # may be dropped: what it could raise is raised elsewhere
    loose: bool = False  # an operand may have length 1, and is stretched then


@dataclass(eq=False)
class Load(Statement):
    """out = source[index]: a snapshot of a place, or a part of an array value.

    Of a tape it is another tape with the same content.  Of a list it is an item, the
    length, an array of all items, or another list of some.  Where tapes hold tapes or
    lists a copy is `deep`: those that have that in common are made together, and share
    what the originals share.
    """

    out: Any  # a value, a tape or a list
    source: Place | Value
    index: Index = ()
    safe: bool = False  # known to be in bounds
    unsure: bool = False  # the cell may hold nothing: Python raises then
    deep: object = None


@dataclass(eq=False)
class Alloc(Statement):
    """A place begins; a buffer as zeros, a tape empty or as zeros, a cell unbound.

    A buffer may begin as an array that nobody else has, just before it is written.
    """

    place: Place
    value: Value | None = None
    blank: bool = False  # its elements are stored before they are read


@dataclass(eq=False)
class Store(Statement):
    """place[index] = operand, or += where `accumulate`.

    An addition that is `first` adds to zeros, and is written as a plain assignment.
    What is `loose` may have length 1 along axes along which the part is longer.
    Additions that are `unordered` may be made in any order.  One that `rebinds` stands
    for a name that gets another array, whose memory this is from here on.
    """

    place: Place
    operand: Operand
    index: Index = ()
    accumulate: bool = False
    first: bool = False
    loose: bool = False
    safe: bool = False  # known to be in bounds
    unordered: bool = False
    rebinds: bool = False


@dataclass(eq=False)
class Resize(Statement):
    """The first axis of a buffer gets another length; what it held stays."""

    place: Buffer
    length: Operand


@dataclass(eq=False)
class Exchange(Statement):
    """places = sources: arrays change places.  It is made last, to be written."""

    places: tuple[Buffer, ...]
    sources: tuple[Buffer, ...]


@dataclass(eq=False)
class Insert(Statement):
    """place.insert(position, operand), or append(operand) without a position.

    A list that is inserted is not changed later by its own name.  With a `path`, it is
    an item of the place that changes.
    """

    place: List
    operand: Operand | List
    position: Operand | None = None
    path: Index = ()


@dataclass(eq=False)
class Remove(Statement):
    """out = place.pop(position), or of the last item without a position.

    With a `path`, it is an item of the place that changes.
    """

    out: Value | List
    place: List
    position: Operand | None = None
    path: Index = ()


@dataclass(eq=False)
class Take(Statement):
    """place = source: the list goes by another name, and no more by its own."""

    place: List
    source: List


@dataclass(eq=False)
class Push(Statement):
    """tape.append(operand); a tape may hold tapes, or lists that are not used again.

    What is popped is of the type `item`, where that is given: a number may stand for an
    array of equal elements.
    """

    tape: Tape
    operand: Operand | Tape | List
    item: Type | None = None

    @property
    def popped(self) -> Type:
        """The type of what is popped."""
        return self.item or type_of(self.operand)


@dataclass(eq=False)
class AddUp(Statement):
    """To each item of the tape, that of the operand is added; the two are as long.

    Of `labels` the items are joined: see `following`.
    """

    tape: Tape
    operand: Tape
    labels: bool = False


@dataclass(eq=False)
class Pop(Statement):
    """out = tape.pop()."""

    out: Value | Tape | List
    tape: Tape


@dataclass(eq=False)
class For(Statement):
    """for symbol in range(start, stop, step), or in its reverse where `backwards`.

    Two loops with one `pair` run the same iterations: the second one repeats all that
    the first one computes, and raises what it raises.  One over `samples` is a vmap's.
    """

    symbol: Value
    start: Operand
    stop: Operand
    step: Operand
    body: list[Statement]
    backwards: bool = False
    pair: object = None
    samples: bool = False


@dataclass(eq=False)
class While(Statement):
    """while condition, which `header` computes before every test."""

    header: list[Statement]
    condition: Operand
    body: list[Statement]


@dataclass(eq=False)
class If(Statement):
    """if condition: then, else: orelse."""

    condition: Operand
    then: list[Statement]
    orelse: list[Statement]


@dataclass(eq=False)
class Break(Statement):
    """Leaves the innermost loop; always in tail position of its body."""


@dataclass(eq=False)
class Library(Statement):
    """outs = primitive(*operands): a function of NumPy on whole arrays.

    What is an array stands in memory, and is stored into that of a buffer.
    """

    outs: tuple[Value | Buffer, ...]
    primitive: Primitive
    operands: tuple[Operand | Buffer, ...]
    attribute: Any = None


@dataclass(eq=False)
class Effect(Statement):
    """A call for its effect: print, a warning ... `attribute` is the callable."""

    function: Any
    operands: tuple[Operand, ...]
    keywords: tuple[tuple[str, Operand], ...] = ()


@dataclass(eq=False)
class Raise(Statement):
    """raise exception(*operands)."""

    exception: type[BaseException]
    operands: tuple[Operand, ...]


@dataclass(eq=False)
class Assert(Statement):
    """assert condition, message: the header computes the message only on failure."""

    condition: Operand
    header: list[Statement]
    message: Operand | None


@dataclass(eq=False)
class Call(Statement):
    """outs = function(*operands)."""

    outs: tuple[Value | Tape | List, ...]
    function: Function
    operands: tuple[Operand | Tape | List, ...]


@dataclass(eq=False)
class Function:
    """A program: parameters, a body, results.

    `hidden` maps the parameters that are captured numbers and arrays to the path by
    which the entry reads them at every call; they come last.
    """

    name: str
    params: list[Value | Tape | List]
    body: list[Statement]
    results: list[Operand | Tape | List]
    hidden: dict[Value, Any] = field(default_factory=dict)
    filename: str = ""
    commented: bool = False  # adjoint statements are printed with the user's line
    custom: Any = None  # the derivatives that the user wrote
    batching: Any = None  # the rule that the user wrote for all samples of a vmap
    passes_on: bool = False  # it is written where it is called, in the end


# ---- walking -----------------------------------------------------------------------


def blocks(s: Statement) -> tuple[list[Statement], ...]:
    """The blocks nested directly in a statement, in program order."""
    match s:
        case For():
            return (s.body,)
        case While():
            return (s.header, s.body)
        case If():
            return (s.then, s.orelse)
        case Assert():
            return (s.header,)
    return ()


HOLDERS = (For, While, If, Assert)


def walk(block: Iterable[Statement]) -> Iterator[Statement]:
    """Every statement, nested ones after the one that holds them."""
    for s in block:
        yield s
        if isinstance(s, HOLDERS):
            for b in blocks(s):
                yield from walk(b)


def leaves(operand: Any) -> Iterator[Any]:
    """The values and places that an operand reads."""
    match operand:
        case Value() | Place():
            yield operand
        case Linear():
            for s in operand.symbols():
                yield s.array if isinstance(s, Dim) else s


def _operands(s: Statement) -> Iterator[Any]:
    match s:
        case Let() | Raise() | Call() | Library():
            yield from s.operands
        case Load():
            yield s.source
            yield from index_operands(s.index)
        case Store():
            yield s.operand
            yield from index_operands(s.index)
            if s.accumulate or s.index:
                yield s.place
        case Resize():
            yield s.length
            yield s.place
        case Insert() | Remove():
            if isinstance(s, Insert):
                yield s.operand
            if s.position is not None:
                yield s.position
            yield from index_operands(s.path)
            yield s.place
        case Take():
            yield s.source
        case Exchange():
            yield from s.sources
        case Push() | AddUp():
            yield s.operand
            yield s.tape
        case Pop():
            yield s.tape
        case For():
            yield from (s.start, s.stop, s.step)
        case If():
            yield s.condition
        case Effect():
            yield from s.operands
            yield from (v for _, v in s.keywords)
        case While() | Assert():
            yield s.condition
            if isinstance(s, Assert) and s.message is not None:
                yield s.message
        case Alloc(value=Value() as value):
            yield value
        case Alloc(place=Buffer(like=tuple(shape))):
            yield from shape
        case Alloc(place=List() as place):
            yield place.length
        case Alloc(place=Buffer() | Tape() as place) if place.like is not None:
            yield place.like


def index_operands(index: Index) -> Iterator[Operand]:
    """The operands inside an index."""
    for item in index:
        match item:
            case At():
                yield item.position
            case Pick():
                yield item.places
            case Span():
                yield from (
                    b for b in (item.lower, item.upper, item.step) if b is not None
                )
            case View():
                yield from item.operands


def steps(index: Index) -> Iterator[tuple[Index, View | None]]:
    """The index taken apart: some items, and the view that is taken of what they name.

    The last step has no view, and may have no items.
    """
    items: list[Any] = []
    for item in index:
        if isinstance(item, View):
            yield tuple(items), item
            items = []
        else:
            items.append(item)
    yield tuple(items), None


def parted(index: Index) -> tuple[Index, Index]:
    """The index of the last view, and the items that index that."""
    (*_, (items, _)) = steps(index)
    return index[: len(index) - len(items)], items


def mapped_index(index: Index, function: Callable[[Any], Any]) -> Index:
    """The index with other operands."""

    def item(i: Any) -> Any:
        match i:
            case At():
                return At(function(i.position))
            case Pick():
                return Pick(function(i.places), i.distinct)
            case Span():
                bounds = (i.lower, i.upper, i.step)
                return Span(*(None if b is None else function(b) for b in bounds))
            case View():
                return replace(i, operands=tuple(map(function, i.operands)))
        return i

    return tuple(map(item, index))


def reads(s: Statement) -> list[Any]:
    """The values and places read by this statement itself, not by nested ones."""
    found: list[Any] = []
    for operand in taken(s):
        if isinstance(operand, _Named):
            found.append(operand)
        elif isinstance(operand, Linear):
            found.extend(leaves(operand))
    return found


def taken(s: Statement) -> Iterable[Any]:
    """The operands of this statement itself, linear forms as they are."""
    return s.operands if isinstance(s, Let) else _operands(s)


def all_reads(s: Statement) -> Iterator[Any]:
    """The values and places read by this statement and the ones nested in it."""
    for inner in walk([s]):
        yield from reads(inner)


def defines(s: Statement) -> tuple[Any, ...]:
    """The values that this statement itself assigns."""
    match s:
        case Let() | Load() | Pop() | Remove():
            return (s.out,)
        case Call():
            return s.outs
        case Library():
            return tuple(o for o in s.outs if isinstance(o, Value))
        case For():
            return (s.symbol,)
    return ()


def stores(s: Statement) -> set[Place]:
    """The places changed by this statement, nested ones included."""
    changed: set[Place] = set()
    for inner in walk([s]):
        match inner:
            case Store() | Alloc() | Insert() | Remove() | Resize():
                changed.add(inner.place)
            case Take():
                changed |= {inner.place, inner.source}
            case Exchange():
                changed.update(inner.places)
            case Library():
                changed.update(o for o in inner.outs if isinstance(o, Buffer))
            case Push() | Pop() | AddUp():
                changed.add(inner.tape)
    return changed


def callees(function: Function) -> Iterator[Function]:
    """The functions that this one calls itself."""
    for s in walk(function.body):
        if isinstance(s, Call):
            yield s.function


def program(function: Function) -> list[Function]:
    """The function and all it calls, callees before callers, each once."""
    order: list[Function] = []
    seen: set[int] = set()

    def visit(f: Function) -> None:
        if id(f) not in seen:
            seen.add(id(f))
            for g in callees(f):
                visit(g)
            order.append(f)

    visit(function)
    return order


def is_recursive(function: Function) -> bool:
    """Whether a call of it may lead to another call of it."""
    return any(function in program(g) for g in callees(function))


def holds_tapes(function: Function) -> bool:
    """Whether a tape of a program may hold other tapes, or lists."""
    return any(
        isinstance(s, Push) and isinstance(s.operand, Tape | List)
        for f in program(function)
        for s in walk(f.body)
    )


# ---- rewriting ---------------------------------------------------------------------


class Substitution:
    """Replaces operands and places all through a block, building new statements.

    `lengths` has what stands for single lengths.
    """

    def __init__(
        self, mapping: dict[Any, Any], lengths: dict[Dim, Linear] | None = None
    ) -> None:
        self.mapping = mapping
        self.lengths = lengths or {}

    def operand(self, o: Any) -> Any:
        if isinstance(o, Linear):
            return o.substitute(self._symbol)
        return self.mapping.get(o, o) if isinstance(o, Value | Place) else o

    def type(self, t: Type) -> Type:
        """The same type, whose dims may be lengths of other arrays."""
        if t.items is not None:
            return replace(t, items=tuple(map(self.type, t.items)))
        if t.dims is None:
            return t
        return replace(t, dims=tuple(map(self.operand, t.dims)))

    def rename_lengths(self, block: list[Statement]) -> None:
        """A length of what was replaced is that of what stands for it; in place."""
        for s in walk(block):
            for v in (*defines(s), *([s.place] if isinstance(s, Alloc) else [])):
                v.type = self.type(v.type)

    def _symbol(self, s: Any) -> Linear:
        if isinstance(s, Dim):
            if s in self.lengths:
                return self.lengths[s]
            new = self.mapping.get(s.array)
            array = new if isinstance(new, _Named) else s.array
            return Linear({Dim(array, s.axis): 1})
        new = self.mapping.get(s, s)
        return new if isinstance(new, Linear) else Linear({new: 1})

    def _shape(self, like: Any) -> Any:
        if isinstance(like, tuple):
            return tuple(map(self.operand, like))
        new = self.operand(like)
        return new if isinstance(new, Value) else like

    def index(self, index: Index) -> Index:
        return mapped_index(index, self.operand)

    def block(self, block: list[Statement]) -> list[Statement]:
        return [self.statement(s) for s in block]

    def statement(self, s: Statement) -> Statement:
        o = self.operand
        match s:
            case Let() | Raise():
                out = {"out": o(s.out)} if isinstance(s, Let) else {}
                return replace(s, operands=tuple(map(o, s.operands)), **out)
            case Load():
                return replace(
                    s, out=o(s.out), source=o(s.source), index=self.index(s.index)
                )
            case Alloc():
                place = o(s.place)
                if isinstance(place, Buffer):
                    place.like = self._shape(place.like)
                if isinstance(place, Tape) and place.like is not None:
                    place.like = o(place.like)
                if isinstance(place, List):
                    place.length = o(place.length)
                value = None if s.value is None else o(s.value)
                return replace(s, place=place, value=value)
            case Store():
                return replace(
                    s,
                    place=o(s.place),
                    operand=o(s.operand),
                    index=self.index(s.index),
                )
            case Resize():
                return replace(s, place=o(s.place), length=o(s.length))
            case Insert():
                return replace(
                    s,
                    place=o(s.place),
                    operand=o(s.operand),
                    position=o(s.position),
                    path=self.index(s.path),
                )
            case Remove():
                return replace(
                    s,
                    place=o(s.place),
                    out=o(s.out),
                    position=o(s.position),
                    path=self.index(s.path),
                )
            case Take():
                return replace(s, place=o(s.place), source=o(s.source))
            case Push() | AddUp():
                return replace(s, tape=o(s.tape), operand=o(s.operand))
            case Pop():
                return replace(s, tape=o(s.tape), out=o(s.out))
            case For():
                return replace(
                    s,
                    symbol=o(s.symbol),
                    start=o(s.start),
                    stop=o(s.stop),
                    step=o(s.step),
                    body=self.block(s.body),
                )
            case While():
                header, body = self.block(s.header), self.block(s.body)
                return replace(s, header=header, condition=o(s.condition), body=body)
            case If():
                then, orelse = self.block(s.then), self.block(s.orelse)
                return replace(s, condition=o(s.condition), then=then, orelse=orelse)
            case Effect():
                keywords = tuple((k, o(v)) for k, v in s.keywords)
                return replace(s, operands=tuple(map(o, s.operands)), keywords=keywords)
            case Assert():
                message = None if s.message is None else o(s.message)
                header = self.block(s.header)
                return replace(
                    s, condition=o(s.condition), header=header, message=message
                )
            case Call():
                outs = tuple(map(o, s.outs))
                return replace(s, outs=outs, operands=tuple(map(o, s.operands)))
            case Library():
                outs = tuple(map(o, s.outs))
                return replace(s, outs=outs, operands=tuple(map(o, s.operands)))
        return s


def fresh(
    block: list[Statement],
    given: dict[Any, Any] | None = None,
    lengths: dict[Dim, Linear] | None = None,
) -> Substitution:
    """Puts values and places of its own for all that a copy of a block defines.

    And what is `given` for what the block does not define; in dims of types, too.
    """
    found = Substitution(dict(given or {}), lengths)
    for s in walk(block):
        for v in (*defines(s), *([s.place] if isinstance(s, Alloc) else [])):
            found.mapping[v] = new = twin(v)
            new.type = found.type(v.type)
    return found


def clone(block: list[Statement]) -> list[Statement]:
    """The same block with values and places of its own for all that it defines."""
    return fresh(block).block(block)


def twin(thing: Any) -> Any:
    """Another value or place of the same name and type."""
    new = object.__new__(type(thing))
    new.__dict__.update(thing.__dict__)
    new.serial = next(_serial)
    return new


def copied(function: Function) -> Function:
    """The program as it is now, in statements of its own."""
    copies = {f: replace(f) for f in program(function)}
    for f, made in copies.items():
        own = fresh(f.body)
        made.body = own.block(f.body)
        made.results = [own.operand(r) for r in f.results]
        for s in walk(made.body):
            if isinstance(s, Call):
                s.function = copies[s.function]
    return copies[function]
