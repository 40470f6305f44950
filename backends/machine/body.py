"""Bodies: each statement of a function in loop core as LLVM's instructions.

    For(i, 0, n, 1, [...])        ->   a loop with its test at the end
    Load(x, A, [i, j])            ->   a load, after a test where it may miss
    Store(s, v)  of a cell        ->   a store to a slot, which becomes a register

Everything that fails goes to one exit, with the number of its site.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from llvmlite import ir

from gradwright.backends.machine import (
    arithmetic,
    arrays,
    calling,
    control,
    fast,
    library,
    operations,
    rows,
    sites,
    stacks,
)
from gradwright.backends.machine.arrays import Array, Scopes
from gradwright.backends.machine.control import RARE
from gradwright.backends.machine.escaping import escaping
from gradwright.backends.machine.memory import Memory
from gradwright.backends.machine.program import (
    DEEPEST,
    DEPTH,
    END,
    FIRST,
    NOTED,
    Instance,
    Program,
    element_of,
    is_scalar,
)
from gradwright.backends.machine.scalars import (
    BIT,
    WORD,
    Refused,
    Register,
    Scalar,
    as_words,
    convert,
    dtype_of,
    is_half,
    number,
    of_registers,
    register_types,
    registers,
    word,
)
from gradwright.backends.machine.sites import Error, Site
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
    If,
    Index,
    Let,
    Library,
    Load,
    Pop,
    Push,
    Raise,
    Resize,
    Statement,
    Store,
    Tape,
    Value,
    While,
    Whole,
    is_recursive,
    type_of,
    walk,
)
from gradwright.transform.errors import Location, UnsupportedSyntax
from gradwright.transform.indices import Dim, Linear
from gradwright.transform.primitives.record import TABLE
from gradwright.transform.primitives.structural import FORMAT, WITHIN
from gradwright.transform.types import INT, Type

ANY_ORDER = ("reassoc", "nsz")


class Body:
    """One instance of a function under way."""

    def __init__(self, program: Program, instance: Instance) -> None:
        self.program, self.instance = program, instance
        self.function = instance.function
        self.llvm = instance.llvm
        self.head = self.llvm.append_basic_block("slots")
        self.b: Any = fast.Builder(self.llvm.append_basic_block("body"))
        self.exit = self.llvm.append_basic_block("exit")
        self.status = self.slot(WORD)
        self.b.store(WORD(0), self.status)
        self.noted = self.slot(BIT)  # whether something failed that waits
        self.b.store(BIT(0), self.noted)
        self.frame = self.llvm.args[0]
        self.is_recursive = is_recursive(self.function)
        self.values: dict[Any, Scalar] = {}
        self.arrays: dict[Any, Array] = {}
        self.texts: dict[Any, Let] = {}
        self.cells: dict[Cell, tuple[Register, ...]] = {}
        self.bound: dict[Cell, Register] = {}
        self.escaping = {v: self.slots_of(v.type) for v in escaping(self.function)}
        self.unsure = {
            s.source
            for s in walk(self.function.body)
            if isinstance(s, Load) and s.unsure
        }
        self.leave: list[Any] = []  # where a `break` goes, innermost last
        self.where: Location | None = None
        owned: list[Any] = [
            s.place for s in walk(self.function.body) if isinstance(s, Alloc)
        ]
        owned = [p for p in dict.fromkeys(owned) if isinstance(p, Buffer)]
        owned += [p for p in self.function.params if isinstance(p, Buffer)]
        for s in walk(self.function.body):
            if isinstance(s, Call):
                owned += [o for o in s.outs if o.type.is_array]
            if isinstance(s, Load) and isinstance(s.source, Tape):
                owned.append(s.out)
            if isinstance(s, Library):
                owned += [o for o in s.outs if o not in owned and isinstance(o, Buffer)]
        name = f"{self.llvm.name} of {len(program.instances)}"
        if stacks.has_any(self.function):
            owned += [stacks.STACKS, stacks.WORDS]
        self.scopes = Scopes(program.module, name, owned)
        self.memory = Memory(self)
        self.stacks = stacks.Stacks(self)
        self.zeroed: set[Any] = set()  # arrays that are zeros when the kernel begins
        self.handed: set[Any] = set()  # arrays that belong to the caller by now

    # ---- the whole -------------------------------------------------------------

    def build(self) -> None:
        """Write the body, and what follows it."""
        try:
            self.begin()
            if self.is_recursive:
                self.descend(1)
            self.block(self.function.body)
            if not self.b.block.is_terminated:
                if not self.program.careful:
                    with self.rarely(self.b.load(self.noted, typ=BIT)):
                        self.b.branch(self.exit)
                self.returning()
                self.end()
                self.b.branch(self.exit)
            self.b.position_at_end(self.exit)
            self.memory.free()
            self.stacks.free()
            if self.is_recursive:
                self.descend(-1)
            status = self.b.load(self.status, typ=WORD)
            if not self.program.careful:
                noted = self.b.load(self.noted, typ=BIT)
                status = self.b.select(noted, WORD(NOTED), status)
            self.b.ret(status)
            self.b.position_at_end(self.head)
            self.b.branch(self.llvm.blocks[1])
        except Refused as e:
            raise UnsupportedSyntax(
                f"jit cannot compile {e.message}", at=self.where, instead=e.instead
            ) from None

    def descend(self, step: int) -> None:
        """One call more, or less, is open; too many are Python's RecursionError."""
        b = self.b
        place = b.gep(self.frame, [WORD(DEPTH)], source_etype=WORD)
        depth = b.add(b.load(place, typ=WORD), WORD(step))
        b.store(depth, place)
        if step > 0:
            deepest = b.gep(self.frame, [WORD(DEEPEST)], source_etype=WORD)
            is_deep = b.icmp_signed(">", depth, b.load(deepest, typ=WORD))
            error = sites.says(RecursionError, "maximum recursion depth exceeded")
            self.fail_if(is_deep, error, ())

    def begin(self) -> None:
        """Take the parameters from the registers of a call."""
        rest = iter(self.llvm.args[1:])
        for p, layout in zip(self.function.params, self.instance.layouts, strict=True):
            if isinstance(p, Tape):
                self.stacks.given[p] = next(rest)
            elif is_scalar(p.type):
                t = element_of(p.type)
                found = tuple(next(rest) for _ in register_types(t))
                self.set(p, of_registers(t, found))
            else:
                data = next(rest)
                dims = tuple(next(rest) for _ in range(p.type.rank))
                assert layout is not None
                strides: tuple[Register, ...] = ()
                if layout == arrays.STRIDED:
                    strides = tuple(next(rest) for _ in range(p.type.rank))
                scope = p if isinstance(p, Buffer) else None
                self.arrays[p] = Array(p.type, data, dims, layout, strides, scope)
        self.results = list(rest)

    def returning(self) -> None:
        """What fails in a result has the last line of the user's that is there."""
        lines = [s.where for s in walk(self.function.body) if s.where is not None]
        self.where = max(lines, key=lambda where: where.line, default=None)

    def end(self) -> None:
        """Store the results where the caller wants them."""
        rest = iter(self.results)
        for r in self.function.results:
            if is_scalar(type_of(r)):
                x = convert(self.b, self.operand(r), element_of(type_of(r)))
                for part in registers(x):
                    self.b.store(part, next(rest))
            else:
                self.memory.hand_over(r, next(rest))

    # ---- registers and slots ---------------------------------------------------

    def slot(self, kind: Any) -> Register:
        """Memory for one register, for the time of a call."""
        b = ir.IRBuilder(self.head)
        return b.alloca(kind)

    def slots_of(self, t: Type) -> tuple[Register, ...]:
        """Memory for the registers of a number; none for a text."""
        if not is_scalar(t) or not t.is_number:
            return ()
        return tuple(self.slot(k) for k in register_types(element_of(t)))

    def set(self, v: Any, x: Scalar) -> None:
        """A value is this number from here on."""
        slots = self.escaping.get(v)
        if slots:
            x = convert(self.b, x, element_of(v.type))
            for part, place in zip(registers(x), slots, strict=True):
                self.b.store(part, place)
        else:
            self.values[v] = x

    def read(self, v: Any) -> Scalar:
        """The number that a value is."""
        slots = self.escaping.get(v)
        if slots:
            t = element_of(v.type)
            kinds = register_types(t)
            found = (self.b.load(p, typ=k) for p, k in zip(slots, kinds, strict=True))
            return of_registers(t, tuple(found))
        if v not in self.values:
            raise Refused(f"the {v.type} '{v.name}' here")
        return self.values[v]

    def operand(self, o: Any) -> Scalar:
        """An operand as a number."""
        match o:
            case Linear():
                return self.linear(o)
            case Const():
                return number(o.value, o.type)
            case Value():
                return self.read(o)
        raise Refused("a list or an array here")

    def linear(self, form: Linear) -> Scalar:
        """An int; what may leave 64 bits is checked."""
        w = self.work(sites.too_large, ())
        found: Scalar | None = None
        for s, c in form.terms.items():
            if isinstance(s, Dim):
                term = word(self.array(s.array).dims[s.axis], 0, arrays.LONGEST)
            else:
                term = convert(self.b, self.read(s), INT)
            if found is not None and c == -1:
                found = arithmetic.subtract_ints(w, found, term)
                continue
            if c != 1:
                term = arithmetic.multiply_ints(w, term, word(WORD(c), c, c))
            found = term if found is None else arithmetic.add_ints(w, found, term)
        c = form.offset
        if found is None:
            return number(c, INT)
        if c:
            found = arithmetic.add_ints(w, found, word(WORD(c), c, c))
        return found

    def array(self, a: Any) -> Array:
        """The array that a value or a buffer is here."""
        found = self.arrays.get(a)
        if found is None:
            found = self.memory.current(a)
        return found

    def share_of(self, start: Scalar, stop: Scalar) -> tuple[Scalar, Scalar]:
        """The part of a loop that is this thread's."""
        b = self.b
        first, end = (
            b.load(b.gep(self.frame, [WORD(at)], source_etype=WORD), typ=WORD)
            for at in (FIRST, END)
        )
        is_later = b.icmp_signed(">", first, start.part)
        is_sooner = b.icmp_signed("<", end, stop.part)
        first = b.select(is_later, first, start.part)
        end = b.select(is_sooner, end, stop.part)
        return word(first, 0, stop.high), word(end, 0, stop.high)

    # ---- failures --------------------------------------------------------------

    def fail(self, error: Error, given: tuple[Scalar, ...]) -> None:
        """Leave the kernel: what follows here is not reached."""
        kinds = tuple(x.type for x in given)
        where = self.where
        site = Site(where, kinds, sites.at(where, error))
        self.program.frame.fails_with(kinds)
        at = self.program.frame.failure
        for x in given:
            at = self.to_words(at, x)
        self.b.store(WORD(self.program.site(site)), self.status)
        self.b.branch(self.exit)

    def to_words(self, at: int, x: Scalar) -> int:
        """A number into words of the frame: where the next ones stand."""
        for part in as_words(self.b, x):
            place = self.b.gep(self.frame, [WORD(at)], source_etype=WORD)
            self.b.store(part, place)
            at += 1
        return at

    def fail_if(self, bit: Register, error: Error, given: tuple[Scalar, ...]) -> None:
        """Leave the kernel where a bit is set."""
        if isinstance(bit, ir.Constant) and not bit.constant:
            return
        with self.rarely(bit):
            self.fail(error, given)

    def note(self, bit: Register) -> None:
        """Remember that something failed and go on: a careful kernel will tell what."""
        if isinstance(bit, ir.Constant) and not bit.constant:
            return
        before = self.b.load(self.noted, typ=BIT)
        self.b.store(self.b.or_(before, bit), self.noted)

    @contextmanager
    def rarely(self, bit: Register) -> Iterator[None]:
        """A block for what hardly ever happens."""
        b = self.b
        bad, good = self.llvm.append_basic_block(), self.llvm.append_basic_block()
        b.cbranch(bit, bad, good).set_weights(RARE)
        b.position_at_end(bad)
        yield
        if not b.block.is_terminated:
            b.branch(good)
        b.position_at_end(good)

    def work(
        self, error: Error, given: tuple[Scalar, ...], waits: bool = False
    ) -> operations.Work:
        """What an operation needs that fails with this error.

        One that `waits` only makes a float: where it fails, what follows may as well be
        computed of that, and no loop has to leave in its midst.
        """

        def fail_if(bit: Register) -> None:
            if waits and not self.program.careful:
                self.note(bit)
            else:
                self.fail_if(bit, error, given)

        def formula(f: Any, operands: tuple[Scalar, ...]) -> Scalar:
            return calling.formula(self, f, operands, fail_if)

        return operations.Work(self.b, fail_if, formula)

    # ---- statements ------------------------------------------------------------

    def block(self, body: list[Statement]) -> None:
        for s in body:
            if self.b.block.is_terminated:
                return
            self.where = s.where or self.where
            self.statement(s)

    def statement(self, s: Statement) -> None:
        match s:
            case Let():
                self._let(s)
            case Load(source=Tape()) | Load(out=Tape()):
                self.stacks.load(s)
            case Load():
                self._load(s)
            case Store():
                self._store(s)
            case Alloc(place=Tape(like=None)):
                self.stacks.begin(s.place)
            case Alloc():
                self._alloc(s)
            case Resize():
                self.memory.resize(s)
            case Push():
                self.stacks.push(s)
            case Pop():
                self.stacks.pop(s)
            case For():
                control.loop_over(self, s)
            case While():
                control.loop_while(self, s)
            case If():
                control.branch(self, s)
            case Break():
                self.b.branch(self.leave[-1])
            case Raise():
                control.raised(self, s.exception, s.operands)
            case Assert():
                control.asserted(self, s)
            case Call():
                calling.call(self, s)
            case Library():
                library.write(self, s)
            case _:
                raise Refused(f"{_described(s)} yet")

    def _let(self, s: Let) -> None:
        if s.primitive is FORMAT:
            self.texts[s.out] = s
            return
        if s.primitive is WITHIN:
            self.set(s.out, self.within(s))
            return
        made = rows.find(s.primitive)
        if made is None or not is_scalar(s.out.type):
            raise Refused(
                f"{s.primitive.spelling} of arrays yet"
                if not is_scalar(s.out.type)
                or (made is None and any(type_of(o).is_array for o in s.operands))
                else s.primitive.spelling
            )
        given = tuple(self.operand(o) for o in s.operands)
        error = sites.of_row(s.primitive, s.out.type)
        w = self.work(error, given, _makes_float(s))
        if s.primitive.kind != "structural" and not _asks_for_none(s):
            given = self.present(given, error)
        is_fast = self.program.fastmath and s.primitive.spelling in fast.OPERATORS
        with self.b.where(is_fast):
            found = made(w, element_of(s.out.type), given)
        self.set(s.out, convert(self.b, found, element_of(s.out.type)))

    def within(self, s: Let) -> Scalar:
        """A place on an axis, counted from its start, which is there."""
        position, length = (convert(self.b, self.operand(o), INT) for o in s.operands)
        place = self.placed(position, length.part, s.attribute)
        return word(place, 0, arrays.LONGEST)

    def placed(self, x: Scalar, length: Register, axis: int | str) -> Register:
        """A place as Python reads it: a negative one counts from the end."""
        b, place = self.b, x.part
        if x.low < 0:
            below = b.icmp_signed("<", place, WORD(0))
            place = b.select(below, b.add(place, length), place)
        missed = b.icmp_unsigned(">=", place, length)
        if isinstance(axis, str):  # of a list: what Python says
            self.fail_if(missed, sites.says(IndexError, axis), ())
        else:
            self.fail_if(missed, sites.out_of_bounds(axis), (x, word(length)))
        return place

    def present(self, given: tuple[Scalar, ...], error: Error) -> tuple[Scalar, ...]:
        """The operands, none of which may be None here."""
        found = []
        for x in given:
            if x.absent is not None:
                self.fail_if(x.absent, error, given)
                x = Scalar(replace(x.type, optional=False), x.parts)
            found.append(x)
        return tuple(found)

    def _load(self, s: Load) -> None:
        source = s.source
        if isinstance(source, Cell):
            if not is_scalar(source.type):
                raise Refused("an array that is bound anew in a loop or branch yet")
            if s.unsure:
                bound = self.b.load(self.bound_slot(source), typ=BIT)
                self.fail_if(self.b.not_(bound), sites.unbound(source.name), ())
            t = element_of(source.type)
            kinds = register_types(t)
            found = tuple(
                self.b.load(p, typ=k)
                for p, k in zip(self.cell(source), kinds, strict=True)
            )
            x = convert(self.b, of_registers(t, found), element_of(s.out.type))
            self.set(s.out, _counted(source, x))
            return
        is_place = isinstance(source, Buffer)
        if is_scalar(type_of(source)) and not is_place:  # an array of no axes
            self.set(s.out, convert(self.b, self.operand(source), s.out.type.element))
            return
        if not is_scalar(s.out.type) and s.index in ((), (Whole(),)):
            self.memory.alias(s)
            return
        a = self.array(source)
        places = self.places(a, s.index, s.safe)
        x = arrays.load(self.b, self.scopes, a, places)
        x = convert(self.b, x, s.out.type.element)
        self.set(s.out, _counted(source, x))

    def places(self, a: Array, index: Index, safe: bool) -> list[Register]:
        """An index as places that are there; with Python's reading, unless `safe`."""
        index = tuple(i for i in index if not isinstance(i, Whole))
        if len(index) != a.type.rank or not all(isinstance(i, At) for i in index):
            raise Refused("slices and parts of arrays yet")
        b, found = self.b, []
        for axis, item in enumerate(index):
            assert isinstance(item, At)
            x = self.operand(item.position)
            if dtype_of(x.type).kind not in "iu":
                raise Refused(f"an index of the kind {x.type}")
            x = convert(b, x, INT)
            length = a.dims[axis]
            found.append(x.part if safe else self.placed(x, length, axis))
        return found

    def _store(self, s: Store) -> None:
        place = s.place
        if isinstance(place, Cell):
            self._store_in_cell(place, s)
            return
        if not isinstance(place, Buffer):
            raise Refused("a store into a list yet")
        a = self.array(place)
        t = a.type.element
        x = self.operand(s.operand)
        places = self.places(a, s.index, s.safe)
        if s.accumulate:
            held = arrays.load(self.b, self.scopes, a, places)
            x = self.sum(_counted(place, held), x, s.unordered)
        if x.type.is_complex and not t.is_complex:
            raise Refused("a complex number stored into a real array")
        error = sites.says(OverflowError, f"Python integer out of bounds for {a.dtype}")
        x = operations.as_kind(self.work(error, ()), x, t)
        arrays.store(self.b, self.scopes, a, places, x)

    def _store_in_cell(self, place: Cell, s: Store) -> None:
        if not is_scalar(place.type):
            raise Refused("an array that is bound anew in a loop or branch yet")
        x = self.operand(s.operand)
        t, slots = element_of(place.type), self.cell(place)
        if s.accumulate:
            kinds = register_types(t)
            held = tuple(
                self.b.load(p, typ=k) for p, k in zip(slots, kinds, strict=True)
            )
            x = self.sum(_counted(place, of_registers(t, held)), x, s.unordered)
        x = convert(self.b, x, t)
        for part, slot in zip(registers(x), slots, strict=True):
            self.b.store(part, slot)
        if place in self.unsure:
            self.b.store(BIT(1), self.bound_slot(place))

    def sum(self, held: Scalar, x: Scalar, unordered: bool) -> Scalar:
        """What `+=` makes of what is held; where any order will do, LLVM may choose."""
        dtype = dtype_of(held.type)
        plain = dtype == dtype_of(x.type) and not held.type.optional
        plain = plain and not is_half(x.type)  # which is rounded at each step
        if unordered and dtype.kind in "fc" and plain:
            parts = zip(held.parts, x.parts, strict=True)
            added = tuple(self.b.fadd(p, q, flags=ANY_ORDER) for p, q in parts)
            return Scalar(replace(held.type, optional=False), added)
        p = TABLE.rows[operator.add, 2]
        out = p.type_rule(held.type, x.type)
        error = sites.of_row(p, out)
        given = self.present((held, x), error)
        made = rows.find(p)
        assert made is not None
        with self.b.where(self.program.fastmath):
            return made(self.work(error, given), out, given)

    def cell(self, place: Cell) -> tuple[Register, ...]:
        if place not in self.cells:
            self.cells[place] = self.slots_of(place.type)
        return self.cells[place]

    def bound_slot(self, place: Cell) -> Register:
        """Whether a cell holds anything."""
        if place not in self.bound:
            self.bound[place] = self.slot(BIT)
        return self.bound[place]

    def _alloc(self, s: Alloc) -> None:
        if isinstance(s.place, Cell):
            if s.place in self.unsure:
                self.b.store(BIT(0), self.bound_slot(s.place))
        elif isinstance(s.place, Buffer) and s.value is None:
            self.memory.alloc(s)
        else:
            raise Refused("lists yet" if s.value is None else "arrays as a whole yet")


def _counted(place: Any, x: Scalar) -> Scalar:
    """What a place holds, with the bounds of what counts items."""
    if not getattr(place, "counts", False):
        return x
    return word(x.part, 0, arrays.LONGEST)


def _makes_float(s: Let) -> bool:
    """Whether an operation makes a float or a complex number and nothing else."""
    return s.out.type.is_inexact and not s.out.type.optional


def _asks_for_none(s: Let) -> bool:
    import operator

    return s.primitive.function in (
        operator.is_,
        operator.is_not,
        operator.not_,
        bool,
    )


def _described(s: Statement) -> str:
    return {
        "Effect": "print and other calls for their effect",
        "Insert": "lists",
        "Remove": "lists",
        "Take": "lists",
        "AddUp": "lists",
        "Exchange": "arrays that change places",
    }.get(type(s).__name__, type(s).__name__)
