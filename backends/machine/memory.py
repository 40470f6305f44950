"""Memory: where the arrays of a function's own stand, and for how long.

known when the kernel is entered   workspace or a result, which the driver gives
known later, or resized            from malloc; freed on every way out, or handed
                                   over to the caller as a result
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from llvmlite import ir

from gradwright.backends.machine import elementary, sites
from gradwright.backends.machine.arrays import ROWS, Array
from gradwright.backends.machine.program import NO_MEMORY
from gradwright.backends.machine.scalars import (
    BIT,
    BYTE,
    POINTER,
    WORD,
    Refused,
    Register,
    Scalar,
    convert,
    word,
)
from gradwright.transform.core import (
    Alloc,
    Buffer,
    Call,
    Load,
    Resize,
    Statement,
    all_reads,
    blocks,
    stores,
)
from gradwright.transform.types import INT

if TYPE_CHECKING:
    from gradwright.backends.machine.body import Body


@dataclass
class Heap:
    """Slots of an array from malloc: its address, its bytes, its lengths."""

    data: Register
    capacity: Register
    dims: tuple[Register, ...]


class Memory:
    """The arrays of one function.

    fixed: those that stand where the driver gave them room.
    """

    def __init__(self, body: Body) -> None:
        self.body = body
        self.fixed: dict[Any, Array] = {}
        self.heap: dict[Any, Heap] = {}
        self.borrowed: dict[Any, Heap] = {}  # arrays that libraries made
        self.same: dict[Any, Any] = {}  # a value that is an array under another name

    def source(self, a: Any) -> Any:
        """The array that a value is another name of."""
        while a in self.same:
            a = self.same[a]
        return a

    def current(self, a: Any) -> Array:
        """An array as it stands now."""
        a = self.source(a)
        if a in self.body.arrays:
            return self.body.arrays[a]
        if a in self.fixed:
            return self.fixed[a]
        found = self.heap.get(a) or self.borrowed.get(a)
        if found is None:
            raise Refused(f"the array '{a.name}' as a whole yet")
        b = self.body.b
        dims = tuple(b.load(d, typ=WORD) for d in found.dims)
        return Array(a.type, b.load(found.data, typ=POINTER), dims, ROWS, (), a)

    def slots(self, a: Any) -> Heap:
        """The slots of an array from malloc; empty when the function is entered."""
        found = self.heap.get(a)
        if found is None:
            slot = self.body.slot
            dims = tuple(slot(WORD) for _ in range(a.type.rank))
            found = self.heap[a] = Heap(slot(POINTER), slot(WORD), dims)
            head = ir.IRBuilder(self.body.head)
            head.store(ir.Constant(POINTER, None), found.data)
            head.store(WORD(0), found.capacity)
        return found

    # ---- beginning, growing ----------------------------------------------------

    def shape(self, place: Buffer) -> list[Scalar]:
        """The lengths of a buffer that begins."""
        body = self.body
        if isinstance(place.like, tuple):
            given = [convert(body.b, body.operand(o), INT) for o in place.like]
            error = sites.says(ValueError, "negative dimensions are not allowed")
            for x in given:
                if x.low < 0:
                    is_less = body.b.icmp_signed("<", x.part, WORD(0))
                    body.fail_if(is_less, error, ())
            return given
        return [word(d, 0) for d in body.array(place.like).dims]

    def alloc(self, s: Alloc) -> None:
        """A buffer begins anew: as zeros, unless it is `blank`."""
        place = s.place
        assert isinstance(place, Buffer)
        dims = tuple(x.part for x in self.shape(place))
        if place in self.fixed:
            a = self.fixed[place]
            if not (s.blank or place in self.body.zeroed):
                self.clear(a, self.bytes(a.dims, a))
            return
        b, slots = self.body.b, self.slots(place)
        size = self.bytes(dims, Array(place.type, None, dims))
        lacks = b.icmp_unsigned(">", size, b.load(slots.capacity, typ=WORD))
        with self.body.rarely(lacks):
            self.release(slots)
            b.store(self.malloc(size), slots.data)
            b.store(size, slots.capacity)
        for d, slot in zip(dims, slots.dims, strict=True):
            b.store(d, slot)
        if not s.blank:
            self.clear(self.current(place), size)

    def resize(self, s: Resize) -> None:
        """The first axis gets another length; what it held is kept."""
        if s.place in self.body.arrays:
            raise Refused("an array of the caller's that is resized")
        b, slots = self.body.b, self.slots(s.place)
        old = self.current(s.place)
        length = convert(b, self.body.operand(s.length), INT).part
        new = replace(old, dims=(length, *old.dims[1:]))
        size = self.bytes(new.dims, new)
        capacity = b.load(slots.capacity, typ=WORD)
        with self.body.rarely(b.icmp_unsigned(">", size, capacity)):
            twice = b.mul(capacity, WORD(2))
            more = b.select(b.icmp_unsigned(">", twice, size), twice, size)
            data = self.malloc(more)
            self.copy(data, old.data, self.bytes(old.dims, old))
            self.release(slots)
            b.store(data, slots.data)
            b.store(more, slots.capacity)
        b.store(length, slots.dims[0])

    def bytes(self, dims: tuple[Register, ...], a: Array) -> Register:
        """How many bytes an array takes; more than there can be fails."""
        b, size = self.body.b, WORD(a.dtype.itemsize)
        for d in dims:
            checked = b.umul_with_overflow(size, d)
            with self.body.rarely(b.extract_value(checked, 1)):
                self.give_up()
            size = b.extract_value(checked, 0)
        return size

    def give_up(self) -> None:
        """Leave the kernel: there is no such memory."""
        self.body.b.store(WORD(NO_MEMORY), self.body.status)
        self.body.b.branch(self.body.exit)

    def malloc(self, size: Register) -> Register:
        b = self.body.b
        elementary.register()
        name = f"{elementary.PREFIX}malloc"
        function = elementary.declared(b.module, name, POINTER, [WORD])
        some = b.select(b.icmp_unsigned(">", size, WORD(64)), size, WORD(64))
        data = b.call(function, [some])
        is_none = b.icmp_unsigned("==", data, ir.Constant(POINTER, None))
        with self.body.rarely(is_none):
            self.give_up()
        return data

    def release(self, slots: Heap) -> None:
        """Give an array from malloc back; its slots are empty then."""
        self.free_at(self.body.b.load(slots.data, typ=POINTER))
        self.empty(slots)

    def free_at(self, data: Register) -> None:
        b = self.body.b
        name = f"{elementary.PREFIX}free"
        elementary.register()
        function = elementary.declared(b.module, name, ir.VoidType(), [POINTER])
        b.call(function, [data])

    def empty(self, slots: Heap) -> None:
        b = self.body.b
        b.store(ir.Constant(POINTER, None), slots.data)
        b.store(WORD(0), slots.capacity)

    def free(self) -> None:
        """On the way out: give back all that is still held."""
        for slots in self.heap.values():
            self.release(slots)

    def clear(self, a: Array, size: Register) -> None:
        """All elements become zero."""
        b = self.body.b
        kinds = [POINTER, BYTE, WORD, BIT]
        function = elementary.declared(
            b.module, "llvm.memset.p0.i64", ir.VoidType(), kinds
        )
        call = b.call(function, [a.data, BYTE(0), size, BIT(0)])
        self.body.scopes.mark(call, a.scope)

    def copy(self, to: Register, source: Register, size: Register) -> None:
        b = self.body.b
        kinds = [POINTER, POINTER, WORD, BIT]
        function = elementary.declared(
            b.module, "llvm.memcpy.p0.p0.i64", ir.VoidType(), kinds
        )
        b.call(function, [to, source, size, BIT(0)])

    def borrow(self, a: Any, row: Register, at: int) -> None:
        """An array that a library made and keeps: words say where, and how long."""
        b, slot = self.body.b, self.body.slot
        if a not in self.borrowed:
            dims = tuple(slot(WORD) for _ in range(a.type.rank))
            self.borrowed[a] = Heap(slot(POINTER), slot(WORD), dims)
        found = self.borrowed[a]
        data = b.gep(row, [WORD(at)], source_etype=WORD)
        b.store(b.load(data, typ=POINTER), found.data)
        for k, d in enumerate(found.dims):
            place = b.gep(row, [WORD(at + 1 + k)], source_etype=WORD)
            b.store(b.load(place, typ=WORD), d)

    # ---- other names, results --------------------------------------------------

    def alias(self, s: Load) -> None:
        """A whole array under another name, which must not change while that is used.

        The lowering copies where it would.
        """
        source = self.source(s.source)
        if isinstance(source, Buffer) and _changes_while_used(self.body, s, source):
            raise Refused(f"the array '{source.name}' as it was before a store yet")
        self.same[s.out] = s.source

    def take_over(self, out: Any, words: Register) -> None:
        """An array that a call made belongs to this function."""
        b, slots = self.body.b, self.slots(out)
        self.release(slots)
        found = [b.load(p, typ=k) for p, k in self._words(words, len(slots.dims))]
        b.store(found[0], slots.data)
        for d, slot in zip(found[1:], slots.dims, strict=True):
            b.store(d, slot)

    def make(self, out: Any, data: Register, count: Register) -> None:
        """An array of this function's own, of words that stand elsewhere."""
        b, slots = self.body.b, self.slots(out)
        self.release(slots)
        size = b.mul(count, WORD(8))
        own = self.malloc(size)
        self.copy(own, data, size)
        b.store(own, slots.data)
        b.store(count, slots.dims[0])

    def hand_over(self, r: Any, words: Register) -> None:
        """An array goes to the caller, who gives it back."""
        b, place = self.body.b, self.source(r)
        a = self.current(place)
        data = a.data
        if place in self.heap and place not in self.body.handed:
            self.body.handed.add(place)
            b.store(ir.Constant(POINTER, None), self.heap[place].data)
        else:
            if a.layout != ROWS:
                raise Refused("an argument as a result of a function inside yet")
            size = self.bytes(a.dims, a)
            data = self.malloc(size)
            self.copy(data, a.data, size)
        targets = self._words(words, len(a.dims))
        for x, (p, _) in zip([data, *a.dims], targets, strict=True):
            b.store(x, p)

    def _words(self, base: Register, rank: int) -> Iterator[tuple[Register, Any]]:
        """The places of an address and of lengths, and what kinds these are."""
        for k in range(1 + rank):
            place = self.body.b.gep(base, [WORD(k)], source_etype=WORD)
            yield place, WORD if k else POINTER


def _changes_while_used(body: Body, s: Load, source: Any) -> bool:
    """Whether an array may be stored into between a load of it and a use of that."""
    found = _home(body.function.body, s)
    assert found is not None
    later = found[found.index(s) + 1 :]
    results: list[Any] = list(body.function.results)
    is_result = any(r is s.out for r in results)
    if is_result and found is not body.function.body:
        return True
    names = {s.out}
    for t in later:  # names of the same array
        if isinstance(t, Load) and t.source in names and not t.index:
            names.add(t.out)
            is_result = is_result or any(r is t.out for r in results)
    uses = [k for k, t in enumerate(later) if names & set(all_reads(t))]
    last = len(later) if is_result else max(uses, default=-1) + 1
    every = sum(1 for t in _all(body.function.body) if s.out in _direct(t))
    inside = sum(1 for u in later for t in _all([u]) if s.out in _direct(t))
    if every != inside:
        return True
    return any(_changes(t, source) for t in later[:last])


def _changes(t: Statement, source: Any) -> bool:
    if source in stores(t):
        return True
    return any(
        isinstance(u, Call) and any(o is source for o in u.operands) for u in _all([t])
    )


def _all(block: list[Statement]) -> Iterator[Statement]:
    for s in block:
        yield s
        for b in blocks(s):
            yield from _all(b)


def _direct(t: Statement) -> set[Any]:
    from gradwright.transform.core import reads

    return set(reads(t))


def _home(block: list[Statement], s: Statement) -> list[Statement] | None:
    """The block in which a statement stands."""
    if any(t is s for t in block):
        return block
    for t in block:
        for b in blocks(t):
            found = _home(b, s)
            if found is not None:
                return found
    return None
