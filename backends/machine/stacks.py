"""Stacks: tapes whose items are of several kinds, in words behind one another.

    tape.append(x)        data[top] = x; top += 1

Address, top and room stand on the frame of the function that begins the tape, which
hands their address to those that it calls.  The words come from malloc, and are freed
on every way out of that function.  A number takes a word for each of its registers; a
tape on a tape its words, and how many they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llvmlite import ir

from gradwright.backends.machine import elementary
from gradwright.backends.machine.arrays import ROWS
from gradwright.backends.machine.program import element_of
from gradwright.backends.machine.scalars import (
    BIT,
    DOUBLE,
    FLOAT,
    POINTER,
    WORD,
    Refused,
    Register,
    convert,
    of_registers,
    register_types,
    registers,
)
from gradwright.transform.core import (
    Alloc,
    Function,
    Load,
    Pop,
    Push,
    Tape,
    Value,
    type_of,
    walk,
)

if TYPE_CHECKING:
    from gradwright.backends.machine.body import Body

ADDRESS, TOP, ROOM = range(3)
FIRST_ROOM = 64  # words
STACKS, WORDS = "stacks", "words of stacks"  # what never overlaps an array


class Stacks:
    """The stacks of one function: its own, and those that it is given."""

    def __init__(self, body: Body) -> None:
        self.body = body
        self.own: dict[Tape, Register] = {}
        self.given: dict[Tape, Register] = {}

    def of(self, tape: Any) -> Register:
        """Where a stack's own words stand; it is empty when its function begins."""
        found = self.given.get(tape) or self.own.get(tape)
        if found is None:
            head = ir.IRBuilder(self.body.head)
            found = self.own[tape] = head.alloca(WORD, 3)
            for k in (ADDRESS, TOP, ROOM):
                head.store(WORD(0), head.gep(found, [WORD(k)], source_etype=WORD))
        return found

    def begin(self, tape: Any) -> None:
        """A tape begins anew."""
        self._set(self.of(tape), TOP, WORD(0))

    def free(self) -> None:
        """On the way out: give the memory of its own back."""
        for stack in self.own.values():
            self.body.memory.free_at(self._get(stack, ADDRESS, POINTER))

    # ---- items -----------------------------------------------------------------

    def push(self, s: Push) -> None:
        """A number, or a tape."""
        stack = self.of(s.tape)
        if isinstance(s.operand, Tape):
            inner = self.of(s.operand)
            count = self._get(inner, TOP)
            self._append(stack, self._word(inner, WORD(0)), count)
            self._append_word(stack, count)
            return
        x = convert(self.body.b, self.body.operand(s.operand), element_of(s.popped))
        for part in registers(x):
            self._append_word(stack, part)

    def pop(self, s: Pop) -> None:
        """What was pushed last."""
        stack = self.of(s.tape)
        if isinstance(s.out, Tape):
            count = self._take(stack, WORD)
            inner = self.of(s.out)
            self._set(inner, TOP, WORD(0))
            left = self.body.b.sub(self._get(stack, TOP), count)
            self._set(stack, TOP, left)
            self._append(inner, self._word(stack, left), count)
            return
        kinds = register_types(element_of(type_of(s.out)))
        parts = [self._take(stack, k) for k in reversed(kinds)]
        x = of_registers(element_of(s.out.type), tuple(reversed(parts)))
        self.body.set(s.out, x)

    def load(self, s: Load) -> None:
        """Another tape with the same items, or one of the words of an array; or these.

        The words are an array while one half of a split hands them to the other.
        """
        if isinstance(s.out, Value):
            source = self.of(s.source)
            memory, count = self.body.memory, self._get(source, TOP)
            data = self._get(source, ADDRESS, POINTER)
            memory.make(s.out, data, count)
            return
        out = self.of(s.out)
        self._set(out, TOP, WORD(0))
        if isinstance(s.source, Tape):
            source = self.of(s.source)
            data, count = self._word(source, WORD(0)), self._get(source, TOP)
        else:
            words = self.body.array(s.source)
            if words.layout != ROWS:
                raise Refused("words of a stack that lie apart")
            data, (count,) = words.data, words.dims
        self._append(out, data, count)

    # ---- words -----------------------------------------------------------------

    def _append(self, stack: Register, words: Register, count: Register) -> None:
        """So many words that stand elsewhere."""
        self._make_room(stack, count)
        to = self._word(stack, self._get(stack, TOP))
        self.body.memory.copy(to, words, self.body.b.mul(count, WORD(8)))
        self._move(stack, count)

    def _append_word(self, stack: Register, part: Register) -> None:
        """A register, as wide as a word."""
        b = self.body.b
        if isinstance(part.type, ir.IntType) and part.type != WORD:
            part = b.zext(part, WORD)
        elif part.type == FLOAT:
            part = b.fpext(part, DOUBLE)
        self._make_room(stack, WORD(1))
        place = self._word(stack, self._get(stack, TOP))
        self.body.scopes.mark(b.store(part, place), WORDS)
        self._move(stack, WORD(1))

    def _take(self, stack: Register, kind: Any) -> Register:
        """The last word, as a register of this kind."""
        b = self.body.b
        self._move(stack, WORD(-1))
        place = self._word(stack, self._get(stack, TOP))
        is_int = isinstance(kind, ir.IntType)
        part = b.load(place, typ=WORD if is_int else DOUBLE)
        self.body.scopes.mark(part, WORDS)
        if part.type == kind:
            return part
        return b.trunc(part, kind) if is_int else b.fptrunc(part, kind)

    def _make_room(self, stack: Register, count: Register) -> None:
        """Room for so many words more."""
        b = self.body.b
        wanted = b.add(self._get(stack, TOP), count)
        lacks = b.icmp_unsigned(">", wanted, self._get(stack, ROOM))
        with self.body.rarely(lacks):
            has_grown = b.call(grown(b.module), [stack, wanted])
            with self.body.rarely(b.not_(has_grown)):
                self.body.memory.give_up()

    def _move(self, stack: Register, count: Register) -> None:
        self._set(stack, TOP, self.body.b.add(self._get(stack, TOP), count))

    def _word(self, stack: Register, k: Register) -> Register:
        address = self._get(stack, ADDRESS, POINTER)
        return self.body.b.gep(address, [k], source_etype=WORD)

    def _get(self, stack: Register, k: int, kind: Any = WORD) -> Register:
        b = self.body.b
        found = b.load(b.gep(stack, [WORD(k)], source_etype=WORD), typ=kind)
        self.body.scopes.mark(found, STACKS)
        return found

    def _set(self, stack: Register, k: int, x: Register) -> None:
        b = self.body.b
        stored = b.store(x, b.gep(stack, [WORD(k)], source_etype=WORD))
        self.body.scopes.mark(stored, STACKS)


def has_any(function: Function) -> bool:
    """Whether a function has to do with tapes."""
    body = list(walk(function.body))
    begun = [s.place for s in body if isinstance(s, Alloc)]
    made = [s.out for s in body if isinstance(s, Load)]
    return any(isinstance(p, Tape) for p in (*function.params, *begun, *made))


def grown(module: Any) -> Any:
    """The function that gives a stack room for at least so many words: if it could."""
    name = "grown"
    found = module.globals.get(name)
    if found is not None:
        return found
    elementary.register()
    made = ir.Function(module, ir.FunctionType(BIT, [POINTER, WORD]), name)
    made.linkage = "internal"
    stack, wanted = made.args
    b = ir.IRBuilder(made.append_basic_block())
    address, room = (
        b.gep(stack, [WORD(k)], source_etype=WORD) for k in (ADDRESS, ROOM)
    )
    more = b.mul(b.load(room, typ=WORD), WORD(2))
    for least in (WORD(FIRST_ROOM), wanted):
        more = b.select(b.icmp_unsigned(">", least, more), least, more)
    realloc = elementary.declared(
        module, f"{elementary.PREFIX}realloc", POINTER, [POINTER, WORD]
    )
    data = b.call(realloc, [b.load(address, typ=POINTER), b.mul(more, WORD(8))])
    has_grown = b.icmp_unsigned("!=", data, ir.Constant(POINTER, None))
    with b.if_then(has_grown):
        b.store(data, address)
        b.store(more, room)
    b.ret(has_grown)
    return made
