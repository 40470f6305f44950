"""The state of a lowering: where arrays are, what their elements are, what is open.

An array value is never a thing of its own.  It has a shape, linear forms in what the
program is given, and a source: what says its element at a place.  The source is stored
memory, or it computes the element from those of others whenever it is asked; then the
value is written out, `kept`, before anything that it reads is stored into.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from gradwright.transform.build import row
from gradwright.transform.core import (
    Alloc,
    Buffer,
    Cell,
    Const,
    Function,
    If,
    Let,
    Load,
    Operand,
    Place,
    Raise,
    Statement,
    Store,
    Value,
    all_reads,
    blocks,
    defines,
    leaves,
    reads,
    stores,
    type_of,
    walk,
)
from gradwright.transform.errors import Location, UnsupportedSyntax
from gradwright.transform.indices import Dim, Linear, linear, multiply, symbol
from gradwright.transform.lowering.choice import check_stored, stretched_length
from gradwright.transform.lowering.forms import Bounds, Forms
from gradwright.transform.lowering.nests import Domain, Items, Places, Scope
from gradwright.transform.mixed import Mixed
from gradwright.transform.primitives.record import Primitive
from gradwright.transform.primitives.structural import CAST, NAMED
from gradwright.transform.types import BOOL, FLOAT, INT, TEXT, Type

Shape = tuple[Linear, ...]
At = Callable[[Scope, Places], Operand]


@dataclass(eq=False)
class Source:
    """What says the element of an array at a place.

    at: writes what computes it.  reads: the values and memory that this reads itself.
    cheap: it is as good as a load.
    """

    at: At
    reads: tuple[Any, ...] = ()
    cheap: bool = False


class NotLowered(UnsupportedSyntax):
    """What has no machine code yet."""


class Again(Exception):
    """More is known of what the program needs: it is lowered once more."""


class LengthsVary(Exception):
    """What was taken for granted of lengths does not hold.

    A compiled program raises it with the number of a name that holds arrays of more
    than one shape, or with a negative one where its arguments do not go together as
    expected.  It is lowered once more then, and takes less for granted.
    """


@dataclass(eq=False)
class Needs:
    """What an earlier round found.

    growing: tapes whose number of items is not known when they begin.  ragged: those
    whose items are of different lengths.  varying: the names, by their number, that
    hold arrays of different lengths.  shapes: of names that hold a number first.
    equal, natural and unlike: what is taken for granted of the arguments, and asked at
    the entry; nothing of that kind where it is `cautious`, as it did not hold.  inside:
    of a function that calls itself, with arrays of any length.  rows: what holds an
    item of a list of lists for a moment.  tapes: on which lists are handed over.
    """

    growing: set[Any] = field(default_factory=set)
    ragged: set[Any] = field(default_factory=set)
    cautious: bool = False
    inside: bool = False
    equal: list[tuple[Linear, Linear]] = field(default_factory=list)
    natural: list[Linear] = field(default_factory=list)
    unlike: list[tuple[Linear, Linear]] = field(default_factory=list)
    denied: set[Linear] = field(default_factory=set)
    varying: set[int] = field(default_factory=set)
    shapes: dict[int, Any] = field(default_factory=dict)
    rows: dict[Any, Any] = field(default_factory=dict)
    tapes: dict[Any, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Open:
    """A loop round this place, and the bounds of its variable, if they are known."""

    symbol: Value | None
    bounds: Bounds | None


class Lowering:
    """One function while it is lowered."""

    def __init__(
        self,
        function: Function,
        forms: Forms,
        needs: Needs,
        functions: dict[Function, Function],
    ) -> None:
        self.needs = needs
        self.functions = functions  # those that stay functions, and what they become
        self.loops: list[Open] = []
        self.function = function
        self.forms = forms
        self.shapes: dict[Any, Shape] = {}
        self.sources: dict[Value, Source] = {}
        self.stored: dict[Any, Any] = {}  # arrays that are memory, and which
        self.head: list[Statement] = []  # room that is made once
        self.items = Items()
        self.known: set[Any] = set(function.params)  # what is there at the entry
        self.where: Location | None = None
        self.adjoint = False
        self.in_loop = False
        self.waiting: dict[Value, int] = {}  # arrays not kept, and uses still to come
        self.tapes: dict[Any, Any] = {}
        self.rows_of: dict[Any, Any] = {}  # tapes of lists of lists: of rows and counts
        self.optional_of: dict[Any, Any] = {}  # of what may be None: values and flags
        self.stacks: set[Any] = set()  # tapes that stay tapes
        self.numbers: set[Any] = set()  # ints that were computed before what is open
        self.cells: dict[Place, None] = {}  # those that hold arrays, and lists
        self.fixed: dict[Cell, Any] = {}
        self.varying: dict[Cell, Any] = {}
        self.born: set[Buffer] = set()  # memory that a library call makes
        self.ours: set[Buffer] = set()  # memory of values, which takes turns
        self.exact: set[Buffer] = set()  # memory that is as large as its array
        self.parts: dict[Value, list[Value]] = {}  # of what gives several results
        self.bound: dict[Any, Cell] = {}  # flags of names that may hold nothing
        self.held: dict[Any, Cell] = {}  # what was loaded of a name, and of which
        self.careful: set[Value] = set()  # arrays whose elements may be missing
        self.truth: dict[Any, bool] = {}  # conditions that are known
        self.depth = 0  # of the blocks that are lowered
        self.ints: dict[Any, Value] = {}  # of integers of NumPy's, by which loops run
        self.spread: dict[Value, set[int]] = {}  # numbers in every element, of names
        self.flags: dict[
            Value, list[Operand]
        ] = {}  # arrays that are numbers where all hold
        self.met: dict[Any, Linear] = {}  # lengths that met, and what came of it
        self.whole: dict[Value, Any] = {}  # what stands for all of some memory
        self.lists: dict[Any, Any] = {}
        self.memory_of: dict[Any, set[Any]] = {}  # of tapes and the like
        self.uses = uses_of(function)
        self.turned: dict[Value, Value] = {}  # matrices, and what they transpose
        self.made = {s.out: s for s in walk(function.body) if isinstance(s, Let)}
        self.escapes = escaping(function)
        for p in function.params:
            if isinstance(p, Value | Buffer) and p.type.is_array:
                self.measure(p)
                self.is_memory(p, p, tuple(map(self.form, p.type.dims or ())))
                if not needs.inside:
                    self.forms.lengths |= {Dim(p, k) for k in range(p.type.rank)}

    @cached_property
    def mixed(self) -> set[Any]:
        """What has an array's type, and may be a number when the program runs."""
        return Mixed(self.function, set()).all

    def measure(self, p: Any) -> None:
        """A parameter may be as long as an array that is none, of the other half."""
        for k, n in enumerate(p.type.dims or ()):
            match list(n.terms.items()):
                case [(Dim(array=a, axis=axis), 1)] if a not in self.known:
                    own = [symbol(Dim(a, j)) for j in range(a.type.rank)]
                    shape = list(self.shapes.get(a, own))
                    if shape[axis] == own[axis]:
                        shape[axis] = symbol(Dim(p, k)) - n.offset
                    self.shapes[a] = tuple(shape)

    # ---- integers --------------------------------------------------------------

    def form(self, form: Linear) -> Linear:
        """A linear form in what there is: lengths of arrays by their shapes."""

        def of(s: Any) -> Linear:
            if isinstance(s, Dim):
                shape = self.shapes.get(s.array)
                if shape is not None and s.array not in self.function.params:
                    return shape[s.axis]
            return symbol(s)

        return self.forms.resolved(form.substitute(of))

    def operand(self, o: Any) -> Any:
        return self.form(o) if isinstance(o, Linear) else o

    def let(self, function: Any, *operands: Any, type: Type = INT) -> Any:
        """A number computed outside of all nests here, of a row of the table."""
        p = (
            function
            if isinstance(function, Primitive)
            else row(function, len(operands))
        )
        out = Value("n" if type == INT else p.name, type)
        self.add(Let(out, p, tuple(operands)))
        return symbol(out) if type == INT else out

    def as_int(self, o: Any) -> Any:
        """An integer of NumPy's as one of Python's, by which a loop may run."""
        t = type_of(o)
        if isinstance(o, Linear) or t.python or t.is_array or not t.is_number:
            return o
        dtype = np.dtype(t.dtype)
        if dtype.kind not in "iu" or dtype == np.uint64:
            return o
        form = self.let(int, o)
        (made,) = form.symbols()
        made.name, self.ints[made] = getattr(o, "name", "n"), o
        return form

    def least(self, a: Linear, b: Linear) -> Linear:
        """The smaller of two ints."""
        if self.forms.is_natural(b - a):
            return a
        return b if self.forms.is_natural(a - b) else self.let(min, a, b)

    def greatest(self, a: Linear, b: Linear) -> Linear:
        """The larger of two ints."""
        if self.forms.is_natural(a - b):
            return a
        return b if self.forms.is_natural(b - a) else self.let(max, a, b)

    def at_entry(self, n: Linear) -> Linear:
        """A length, 0 where it is negative; computed where the function begins."""
        if self.forms.is_natural(n) or not all(v in self.known for v in leaves(n)):
            return n
        out = Value("n", INT)
        self.head.append(Let(out, row(max, 2), (n, linear(0)), where=self.where))
        self.known.add(out)
        return symbol(out)

    def product(self, shape: Shape) -> Linear:
        """How many elements a shape has."""
        found = linear(1)
        for n in shape:
            known = multiply(found, n)
            found = self.let(operator.mul, found, n) if known is None else known
        return found

    def quotient(self, a: Linear, b: Linear) -> Linear:
        """How often a length goes into another; an even number of times."""
        if b.constant is not None and b.constant and _divides(b.constant, a):
            return Linear(
                {s: c // b.constant for s, c in a.terms.items()}, a.offset // b.constant
            )
        return linear(1) if a == b else self.let(operator.floordiv, a, b)

    def length(self, n: Any) -> Linear:
        """A length that is given: an int, or a form of the program's."""
        return self.form(n) if isinstance(n, Linear) else linear(int(n))

    def may_assume(self, *forms: Linear) -> bool:
        """Whether the entry can see to it that something holds of these ints."""
        if self.needs.cautious or self.needs.inside:
            return False
        return all(v in self.known for form in forms for v in leaves(form))

    def assume_natural(self, form: Linear) -> bool:
        """Take for granted that an int is not negative, where it can be asked first."""
        if self.forms.is_natural(form):
            return True
        for rest in sorted(self.forms.rests(form), key=_size):
            if rest.constant is not None or not self.may_assume(rest):
                continue
            if rest not in self.needs.denied:
                self.needs.natural.append(rest)
                self.forms.natural.append(rest)
                return True
        return False

    def assume_unlike(self, a: Linear, b: Linear) -> bool:
        """Take it for granted that two lengths differ, where it can be asked first."""
        if self.forms.differ(a, b):
            return True
        a, b = self.forms.resolved(a), self.forms.resolved(b)
        if not self.may_assume(a, b) or not (a - b).terms:
            return False
        if (a - b) in self.needs.denied:
            return False
        if (a, b) not in self.needs.unlike:
            self.needs.unlike.append((a, b))
        return True

    def assume_equal(self, a: Linear, b: Linear) -> bool:
        """Take two lengths for one, where it can be asked; all begins anew then."""
        difference = self.forms.resolved(a - b)
        if not difference.terms or not self.may_assume(a, b):
            return False
        if not any(abs(c) == 1 for c in difference.terms.values()):
            return False
        if (a - b) in self.needs.denied:
            return False
        self.needs.equal.append((a, b))
        raise Again

    # ---- statements ------------------------------------------------------------

    def add(self, s: Statement) -> None:
        """A statement behind those so far; what it overwrites is kept before."""
        self.settle(stores(s))
        s.where, s.adjoint = s.where or self.where, s.adjoint or self.adjoint
        self.items.plain(s)
        self.numbers.update(defines(s))

    def root(
        self,
        domain: Domain,
        write: Callable[[Scope, tuple[Linear, ...]], None],
        alone: bool = False,
    ) -> None:
        """Statements for each place of a domain."""
        self.items.root(domain, write, self.where, self.adjoint, alone)

    @contextmanager
    def block(self, loops: bool = False) -> Iterator[list[Statement]]:
        """What is lowered in here stands in a block of its own, given at the end."""
        outer, was_in_loop, met = self.items, self.in_loop, dict(self.met)
        waiting = {v: (n, self.sources[v]) for v, n in self.waiting.items()}
        self.items, self.in_loop = Items(), was_in_loop or loops
        self.depth += 1
        found: list[Statement] = []
        try:
            yield found
        finally:
            found += self.items.statements()
            self.depth -= 1
            self.items, self.in_loop, self.met = outer, was_in_loop, met
            for v in [v for v in self.waiting if v not in waiting]:
                del self.waiting[v]  # nobody reads it out there
            for v, (count, source) in waiting.items():
                if v in self.stored:  # since it is written out in here, for here
                    del self.stored[v]
                    self.waiting[v], self.sources[v] = count, source

    @contextmanager
    def knowing(self, facts: list[Linear]) -> Iterator[None]:
        """In here these forms are not negative."""
        before = self.forms.here
        self.forms.here = [*facts, *before]
        try:
            yield
        finally:
            self.forms.here = before

    @contextmanager
    def open_loop(self, symbol: Value | None, bounds: Bounds | None) -> Iterator[None]:
        """What is lowered in here stands in a loop."""
        self.loops.append(Open(symbol, bounds))
        if symbol is not None and bounds is not None:
            self.forms.bounds[symbol] = bounds
        try:
            yield
        finally:
            self.loops.pop()
            self.forms.bounds.pop(symbol, None)  # type: ignore[arg-type]

    @property
    def runs_once(self) -> bool:
        """Whether what it has done cannot be done once more from the beginning."""
        stores = any(isinstance(p, Buffer) for p in self.function.params)
        return stores or self.needs.inside

    def refuse(self, what: str) -> NotLowered:
        """The error for what has no lowering."""
        return NotLowered(f"{what} cannot be compiled yet", at=self.where)

    # ---- memory ----------------------------------------------------------------

    def is_memory(self, v: Any, place: Any, shape: Shape) -> None:
        """A value, or a place of the program, is this memory."""
        self.shapes[v] = shape
        self.stored[v] = place
        if isinstance(v, Value):
            self.sources[v] = Source(
                _loading(place, v.type.element, v.name), (place,), True
            )

    def room(
        self,
        name: str,
        type: Type,
        shape: Shape,
        exactly: bool = False,
        lasts: bool = False,
    ) -> Buffer:
        """Memory for an array, made where the function begins if its size is known.

        In a loop it is as large as the array can get there, unless it has to be exactly
        as large as it is.  What `lasts` is a place of the program's, which keeps what
        it holds from trip to trip.
        """
        size = tuple(self.forms.extreme(n, True) for n in shape)
        if exactly and size != shape:
            size = shape
        if size != shape:  # a loop that does not run has no greatest trip
            size = tuple(map(self.at_entry, size))
        place = Buffer(name, replace(type, dims=size), size)
        alloc = Alloc(place, blank=True)
        alloc.where = self.where
        if all(v in self.known for n in size for v in leaves(n)):
            if self.depth > 1:
                place.like = self._elsewhere(size, lasts)
                place.type = replace(type, dims=place.like)
            self.head.append(alloc)
        else:
            place.like = size = shape
            place.type = replace(type, dims=size)
            self.items.plain(alloc)
        if size == shape:
            self.exact.add(place)
        if not lasts:
            self.ours.add(place)
        return place

    def _elsewhere(self, size: Shape, lasts: bool) -> Shape:
        """Lengths that need not be natural where the function begins.

        Of a place of the program's a negative one is refused where that begins.
        """
        for n in size if lasts else ():
            if not self.forms.is_natural(n):
                text = "negative dimensions are not allowed"
                self.raise_if(operator.lt, n, linear(0), ValueError, text)
        here, self.forms.here = self.forms.here, []
        try:
            return tuple(map(self.at_entry, size))
        finally:
            self.forms.here = here

    def cell(self, name: str, type: Type, start: Operand) -> Cell:
        """A number that is added to."""
        place = Cell(name, type)
        self.add(Alloc(place))
        self.add(Store(place, start))
        return place

    def has_room_at_entry(self, shape: Shape) -> bool:
        """Whether memory for an array is made where the function begins."""
        size = tuple(self.forms.extreme(n, True) for n in shape)
        if size != shape:
            size = tuple(map(self.at_entry, size))
        return all(v in self.known for n in size for v in leaves(n))

    def backing(self, source: Any) -> Any:
        """The memory of a place of the program; a value stands for itself."""
        return self.stored.get(source, source)

    def all_backing(self, places: set[Any]) -> set[Any]:
        """The memory of places of the program."""
        found = set(places)
        for p in places:
            found.update(self.memory_of.get(p, ()))
            found.add(self.stored.get(p, p))
        return found

    def loaded(self, cell: Cell) -> Linear:
        """The int that a cell holds now."""
        out = Value(cell.name, INT)
        self.add(Load(out, cell))
        return symbol(out)

    def raise_if(
        self, compare: Any, a: Any, b: Any, kind: type[Exception], message: str
    ) -> None:
        """An exception where two ints compare so."""
        held = self.let(compare, a, b, type=BOOL)
        self.add(If(held, [Raise(kind, (Const(message, TEXT),))], []))

    # ---- arrays ----------------------------------------------------------------

    def shape_of(self, source: Any) -> Shape:
        """The shape of a value or of a place of the program."""
        return self.shapes[source]

    def granted(self, dim: Linear | None) -> Linear | None:
        """A length that the program takes for granted, where it is known here."""
        if dim is None or not all(self.is_here(v) for v in leaves(dim)):
            return None
        form = self.form(dim)
        if all(isinstance(s, Dim) for s in form.symbols()):
            return form  # the entry has looked at it
        return form if self.assume_natural(form) else None

    def is_here(self, v: Any) -> bool:
        """Whether a value was given at the entry, or counts a loop round this place."""
        return v in self.known or any(o.symbol is v for o in self.loops)

    def settled_shape(self, out: Value, found: Shape) -> Shape:
        """The shape of a result: what is taken for granted, or what was found.

        A form that would be negative stands for an array of nothing.
        """
        wanted = [self.granted(n) for n in out.type.dims or ()]
        return tuple(
            w if w is not None and self.assume_natural(w) else n
            for w, n in zip(wanted, found, strict=True)
        )

    def together(
        self, shapes: list[Shape], dims: tuple[Linear, ...] | None = None
    ) -> Shape:
        """The shape to which shapes are broadcast; checked where it may go wrong."""
        rank = max(map(len, shapes), default=0)
        full: list[Linear] = []
        for k in range(rank, 0, -1):
            met = [s[-k] for s in shapes if len(s) >= k]
            long = [n for n in met if n.constant != 1] or met[:1]
            first = long[0]
            for n in long[1:]:
                first = self._met(first, n)
            full.append(first)
        return tuple(full)

    def _met(self, n: Linear, m: Linear) -> Linear:
        """The length of an axis where two meet; where it is not known, it is asked."""
        if self.forms.are_equal(n, m):
            return n
        if n.constant == 1 or m.constant == 1:
            return m if n.constant == 1 else n
        self.assume_equal(n, m)
        key = self.form(n), self.form(m)
        if key not in self.met:
            self.met[key] = stretched_length(self, *key)
        return self.met[key]

    def is_long(self, n: Linear) -> bool:
        """Whether a length is known not to be 1, so that nothing stretches it."""
        return self.forms.differ(n, linear(1))

    def length_met(self, n: Linear, m: Linear) -> Linear:
        """The length of two axes that meet, one of which may be 1."""
        return self._met(n, m)

    def no_spread(self, operands: Iterable[Any]) -> None:
        """What is more than elementwise must see no number that stands everywhere."""
        held = [self.spread.get(o, ()) for o in operands if isinstance(o, Value)]
        numbers = {k for found in held for k in found}
        if numbers:
            self.needs.varying |= numbers
            raise Again

    def as_float(self, o: Any) -> Operand:
        """A number as a float of Python's."""
        return self.as_number(o, FLOAT)

    def as_number(self, o: Any, type: Type) -> Operand:
        """A number as another kind of number."""
        kind = type.weak() if type.python else type.weak().type
        if isinstance(o, bool | int | float | complex):
            return Const(kind(o), type)
        o = self.operand(o)
        if isinstance(o, Linear) and o.constant is not None:
            return Const(kind(o.constant), type)
        out = Value("value", type)
        self.add(Let(out, CAST, (o,), type))
        return out

    def meet(self, shape: Shape, domain: Shape) -> None:
        """What is stored into a part has its shape, but for ones."""
        for n, m in zip(shape[::-1], domain[::-1], strict=False):
            if n.constant != 1 and not self.forms.are_equal(n, m):
                self.assume_equal(n, m)
                check_stored(self, n, m)

    def stretched(self, o: Any, shape: Shape) -> At:
        """The elements of an operand at the places of a shape it is broadcast to.

        Along an axis whose length is not known to be that of the shape it may be 1: the
        place is multiplied by 0 then, and else by 1.
        """
        move = self.stretch(self.shape(o), shape)
        return lambda w, places: self.at(w, o, move(w, places))

    def stretch(
        self, own: Shape, shape: Shape
    ) -> Callable[[Scope, Places], tuple[Operand, ...]]:
        """How places of a shape are moved to those of what is broadcast to it."""
        factors: dict[int, Linear] = {}
        for k in range(1, len(own) + 1):
            n, m = own[-k], shape[-k]
            if not (self.is_long(n) or n.constant == 1 or self.forms.are_equal(n, m)):
                factors[k] = self.let(min, self.greatest(n - 1, linear(0)), linear(1))

        def move(w: Scope, places: Places) -> tuple[Operand, ...]:
            moved = list(places)
            for k, f in factors.items():
                p = moved[-k]
                moved[-k] = w.let(row(operator.mul, 2), (p, f), INT, "place")
            return tuple(moved)

        return move

    def written_out(self, v: Value) -> Value:
        """An array of its own with the elements that a value has now."""
        shape = self.shapes[v]
        place = self.room(v.name, v.type, shape)
        self.root(shape, lambda w, at: w.store(place, at, self.at(w, v, at)))
        out = Value(v.name, v.type)
        self.is_memory(out, place, shape)
        return out

    def write(self, body: list[Statement], result: Any) -> None:
        """Statements that stand for one of the program, written in its place."""
        from gradwright.transform.lowering.lower import block

        f = Function("", [], body, [result])
        self.uses.update(uses_of(f))
        self.escapes |= escaping(f)
        where, adjoint = self.where, self.adjoint
        block(self, body)
        self.where, self.adjoint = where, adjoint

    def number(self, out: Value, w: Scope, element: Operand) -> None:
        """A number of the program is what was computed in a scope."""
        for s in w.block:
            self.add(s)
        self.add(Let(out, NAMED, (element,)))

    def shape(self, o: Any) -> Shape:
        """The shape of an operand; of a number, nothing."""
        if isinstance(o, Value | Place) and o.type.is_array:
            return self.shapes[o]
        return ()

    def at(self, w: Scope, o: Operand, places: Places) -> Operand:
        """The element of an operand at a place of what it is broadcast to."""
        if isinstance(o, Linear):
            return self.form(o)
        if not (isinstance(o, Value) and o.type.is_array):
            return o
        shape = self.shapes[o]
        own = tuple(
            linear(0) if n.constant == 1 else p
            for p, n in zip(places[len(places) - len(shape) :], shape, strict=True)
        )
        key = (o, own)
        if o in self.stored:
            return self.sources[o].at(w, own)
        if key not in w.made:
            w.made[key] = self.sources[o].at(w, own)
        return w.made[key]

    def touched(self, o: Any) -> set[Any]:
        """The values and memory that an operand's elements are read from."""
        if isinstance(o, Linear):
            return set(leaves(o))
        if not isinstance(o, Value):
            return {o} if isinstance(o, Place) else set()
        source = self.sources.get(o)
        if source is None or o in self.stored:
            return {self.stored.get(o, o)}
        return {t for r in source.reads for t in self.touched(r)}

    def is_computed(
        self,
        v: Value,
        shape: Shape,
        at: At,
        reads: tuple[Any, ...],
        cheap: bool = False,
    ) -> None:
        """A value's element is computed; where it is wanted often, once for all."""
        self.shapes[v] = shape
        if not shape:  # an array of no axes is a number
            w = Scope()
            element = at(w, ())
            (self.is_number if v.type.is_array else self.number)(v, w, element)
            return
        self.sources[v] = Source(at, reads, cheap)
        if any(isinstance(r, Value) and r in self.careful for r in reads):
            self.careful.add(v)
        count = self.uses[v]
        is_idle = not count and v in self.careful and not self.adjoint
        if (count > 1 and not cheap) or v in self.escapes or is_idle:
            self.keep(v)
        else:
            self.waiting[v] = count

    def is_number(self, v: Value, w: Scope, element: Operand) -> None:
        """An array of no axes is the number that was computed in a scope."""
        for s in w.block:
            self.add(s)
        self.shapes[v] = ()
        self.sources[v] = Source(lambda w, at: element, (element,), True)

    def is_same(self, out: Value, o: Operand) -> None:
        """A value has the elements of another one."""
        shape = self.shape(o)
        cheap = (
            not isinstance(o, Value) or o not in self.sources or self.sources[o].cheap
        )
        if isinstance(o, Value) and o in self.flags:
            self.flags[out] = self.flags[o]
            self.spread[out] = self.spread.get(o, set())
        self.is_computed(out, shape, lambda w, at: self.at(w, o, at), (o,), cheap)

    def keep(self, v: Value) -> None:
        """Write out an array whose elements are computed."""
        self.waiting.pop(v, None)
        if v in self.stored:
            return
        shape, source = self.shapes[v], self.sources[v]
        place = self.room(v.name, v.type, shape)

        def write(w: Scope, places: tuple[Linear, ...]) -> None:
            element = source.at(w, places)
            w.store(place, places, element)

        self.root(shape, write)
        self.is_memory(v, place, shape)

    def settle(self, places: set[Any]) -> None:
        """Keep what waits and reads memory that is about to be stored into."""
        if places:
            for v in list(self.waiting):
                if v in self.waiting and self.touched(v) & places:
                    self.keep(v)

    def used(self, s: Statement) -> None:
        """A statement was lowered: it may have been the last to read something."""
        for v in {v for v in reads(s) if v in self.waiting}:
            self.waiting[v] -= 1
            if self.waiting[v] <= 0:
                del self.waiting[v]

    def kept(self, o: Any) -> Any:
        """The memory of an operand, written out if it was not."""
        if isinstance(o, Value) and o.type.is_array:
            self.keep(o)
            return self.stored[o]
        return o

    def whole_memory(self, o: Any) -> Any:
        """The memory of an operand for a library: exactly as large as the array."""
        if not (isinstance(o, Value) and o.type.is_array):
            return o
        place = self.kept(o)
        if place in self.exact or place in self.function.params:
            return place
        shape = self.shapes[o]
        exact = self.room(o.name, o.type, shape, exactly=True)
        self.root(shape, lambda w, at: w.store(exact, at, self.at(w, o, at)))
        return exact

    def prepare(self, s: Statement, loops: bool) -> None:
        """Before a nested block: keep what it would compute again, or spoil."""
        wanted = set(all_reads(s))
        spoilt = self.all_backing(stores(s))
        for v in list(self.waiting):
            if v in self.waiting:
                again = loops and v in wanted and not self.sources[v].cheap
                again |= v in wanted and v in self.careful
                if again or self.touched(v) & spoilt:
                    self.keep(v)


def _size(form: Linear) -> int:
    """How much there is to a form; the least says the most likely thing."""
    return sum(map(abs, form.terms.values()))


def _divides(n: int, form: Linear) -> bool:
    return all(c % n == 0 for c in (form.offset, *form.terms.values()))


def uses_of(function: Function) -> Counter[Any]:
    """How many statements and results read each value."""
    found: Counter[Any] = Counter()
    for s in walk(function.body):
        found.update({v for v in reads(s) if isinstance(v, Value)})
    for r in function.results:
        found.update(set(leaves(r)))
    return found


def escaping(function: Function) -> set[Value]:
    """The values that are read outside of the block that defines them."""
    home: dict[Any, tuple[int, ...]] = {}
    found: set[Value] = set()

    def visit(body: list[Statement], path: tuple[int, ...]) -> None:
        path = (*path, id(body))
        for s in body:
            for v in reads(s):
                if v in home and home[v] != path[: len(home[v])]:
                    found.add(v)
            home.update(dict.fromkeys(defines(s), path))
            for b in blocks(s):
                visit(b, path)

    visit(function.body, ())
    for r in function.results:
        found.update(v for v in leaves(r) if v in home and len(home[v]) > 1)
    return found


def _loading(place: Any, type: Type, name: str) -> At:
    def at(w: Scope, places: Places) -> Operand:
        return w.load(
            place, places, type, f"{name}_{''.join(_letter(p) for p in places)}"
        )

    return at


def _letter(p: Operand) -> str:
    if isinstance(p, Linear) and len(p.terms) == 1:
        (s,) = p.symbols()
        return str(s.name) if isinstance(s, Value) and len(s.name) == 1 else "k"
    return "k"
