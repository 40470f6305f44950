"""The kernel: the function that the driver calls, which takes its frame apart.

It looks at the layouts of the arrays first, and asks for workspace where there is too
little; until then nothing has happened, and it can be called again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from llvmlite import ir

from gradwright.backends.machine import arrays, formulas, sites
from gradwright.backends.machine.arrays import ROWS, STRIDED, Array
from gradwright.backends.machine.body import Body
from gradwright.backends.machine.program import (
    CAPACITY,
    DTYPES,
    NEEDED,
    NO_ROOM,
    NONE,
    OTHER_KIND,
    OTHER_LAYOUT,
    TOO_LONG,
    WORKSPACE,
    Facts,
    Instance,
    Layouts,
    Program,
    element_of,
    is_scalar,
    is_text,
)
from gradwright.backends.machine.scalars import (
    BIT,
    BYTE,
    POINTER,
    WORD,
    Refused,
    Register,
    Scalar,
    convert,
    dtype_of,
    from_element,
    memory_type,
)
from gradwright.backends.machine.sites import words_of
from gradwright.backends.machine.sizes import Length, Size, Sizes
from gradwright.transform.core import (
    Alloc,
    Buffer,
    Function,
    If,
    Resize,
    Statement,
    Value,
    blocks,
    type_of,
    walk,
)
from gradwright.transform.errors import UnsupportedSyntax
from gradwright.transform.types import Type

FLAGS_OF = {
    "C": arrays.C_CONTIGUOUS | arrays.ALIGNED,
    "F": arrays.F_CONTIGUOUS | arrays.ALIGNED,
    "S": 0,
}
STAGGER = 64 * 9  # so that buffers of a round size do not begin at one place of a page


def translated(
    function: Function,
    layouts: Layouts,
    facts: Facts = NONE,
    careful: bool = False,
    fastmath: bool = False,
) -> Program:
    """A function of loop core, and all it calls, as one module with its kernel.

    A `careful` one stops at the first thing that fails, and says what it was.  Another
    one may note that something did, and leave it to a careful one to find it again.
    """
    careful = careful or any(isinstance(p, Buffer) for p in function.params)
    try:
        program = Program(function, layouts, facts, careful, fastmath)
    except Refused as e:
        raise UnsupportedSyntax(f"jit cannot compile {e.message} yet") from None
    kind = ir.FunctionType(WORD, [POINTER])
    kernel = ir.Function(program.module, kind, "kernel")
    Kernel(program, Instance(function, layouts, kernel)).build()
    while program.waiting:
        Body(program, program.waiting.pop(0)).build()
    return program


class Kernel(Body):
    """The function itself, with a frame for its arguments and results."""

    def begin(self) -> None:
        function, layouts = self.function, self.instance.layouts
        objects: list[tuple[Any, Register, str | None]] = []
        for p, at, layout in zip(
            function.params, self.program.frame.arguments, layouts, strict=True
        ):
            if not is_scalar(p.type) or p.type.dims == ():
                found = self.word(at, POINTER)
                objects.append((p, found, layout))
            else:
                self.set(p, self.number(at, element_of(p.type)))
        unseen = self.b.icmp_signed("!=", self.word(self.program.frame.unseen), WORD(0))
        for k, (p, found, layout) in enumerate(objects):
            self.check_kind(p, found, self.word(DTYPES + k), unseen)
            self.check_layout(found, layout)
        for p, found, layout in objects:
            self.take(p, found, layout)
        self.check_facts(unseen)
        self.place_arrays()

    def word(self, at: int, kind: Any = WORD) -> Register:
        """A word of the frame."""
        place = self.b.gep(self.frame, [WORD(at)], source_etype=WORD)
        return self.b.load(place, typ=kind)

    def number(self, at: int, t: Type) -> Scalar:
        """A number that stands in the frame, and last whether it is None."""
        present = replace(t, optional=False)
        kind, count = memory_type(dtype_of(present)), words_of(present)
        parts = tuple(self.word(at + k, kind) for k in range(count))
        x = from_element(self.b, present, parts)
        if not t.optional:
            return x
        absent = self.b.icmp_signed("!=", self.word(at + count), WORD(0))
        return Scalar(t, x.parts, x.low, x.high, absent)

    def leave_with(self, bit: Register, signal: int) -> None:
        """Leave with a signal where a bit is set."""
        with self.rarely(bit):
            self.b.store(WORD(signal), self.status)
            self.b.branch(self.exit)

    def check_kind(self, p: Any, found: Register, dtype: Register, unseen: Any) -> None:
        """Leave where an array has another dtype, rank, or other lengths of one.

        Those of one are looked at where no key was made of the arguments.
        """
        b, kind = self.b, ir.IntType(32)
        other = b.or_(
            b.icmp_signed("!=", arrays.field(b, found, arrays.DTYPE, WORD), dtype),
            b.icmp_signed(
                "!=", arrays.field(b, found, arrays.RANK, kind), kind(p.type.rank)
            ),
        )
        self.leave_with(other, OTHER_KIND)
        base = arrays.field(b, found, arrays.DIMS, POINTER)
        other = BIT(0)
        for length, dim in zip(
            arrays.words_at(b, base, p.type.rank), p.type.dims, strict=True
        ):
            order = "!=" if dim.constant == 1 else "=="
            other = b.or_(other, b.icmp_signed(order, length, WORD(1)))
        if p.type.rank:
            self.leave_with(b.and_(unseen, other), OTHER_KIND)

    def check_facts(self, unseen: Register) -> None:
        """Leave where the lengths of the arrays are not as the function takes them."""
        facts, sizes = self.program.facts, Sizes(self.function)
        for form in (*facts.zero, *facts.at_least_zero):
            size = sizes.of(form)
            assert size is not None
            order = "!=" if form in facts.zero else "<"
            wrong = self.b.icmp_signed(order, self.size(size), WORD(0))
            self.leave_with(self.b.and_(unseen, wrong), OTHER_KIND)

    def check_layout(self, found: Register, layout: str | None) -> None:
        wanted = FLAGS_OF[layout or STRIDED]
        if not wanted:
            return
        flags = arrays.field(self.b, found, arrays.FLAGS, ir.IntType(32))
        kind = ir.IntType(32)
        masked = self.b.and_(flags, kind(wanted))
        bit = self.b.icmp_unsigned("!=", masked, kind(wanted))
        self.leave_with(bit, OTHER_LAYOUT)

    def take(self, p: Any, found: Register, layout: str | None) -> None:
        """An array argument: NumPy's object says where it lies."""
        b = self.b
        data = arrays.field(b, found, arrays.DATA, POINTER)
        if is_scalar(p.type):
            a = Array(p.type, data, (), layout or ROWS)
            self.set(p, arrays.load(b, self.scopes, a, []))
            return
        rank = p.type.rank
        dims = arrays.words_at(b, arrays.field(b, found, arrays.DIMS, POINTER), rank)
        for d in dims:
            self.leave_with(b.icmp_unsigned(">", d, WORD(arrays.LONGEST)), TOO_LONG)
        strides: tuple[Register, ...] = ()
        if layout == STRIDED:
            base = arrays.field(b, found, arrays.STRIDES, POINTER)
            strides = arrays.words_at(b, base, rank)
        scope = None
        if isinstance(p, Buffer):
            scope = p
            flags = arrays.field(b, found, arrays.FLAGS, ir.IntType(32))
            kind = ir.IntType(32)
            writable = b.and_(flags, kind(arrays.WRITEABLE))
            error = sites.says(ValueError, "assignment destination is read-only")
            self.fail_if(b.icmp_signed("==", writable, kind(0)), error, ())
        self.arrays[p] = Array(p.type, data, dims, layout or ROWS, strides, scope)

    # ---- room ------------------------------------------------------------------

    def place_arrays(self) -> None:
        """Where the arrays stand whose sizes are known."""
        frame, function = self.program.frame, self.function
        for k, place in given(function).items():
            found = self.word(frame.given[k], POINTER)
            data = arrays.field(self.b, found, arrays.DATA, POINTER)
            dims = self.sizes(place)
            self.memory.fixed[place] = Array(place.type, data, dims, ROWS, (), place)
            self.zeroed.add(place)
        room: list[tuple[Buffer, tuple[Register, ...], Register]] = []
        b, total = self.b, WORD(0)
        for place in workspace(function):
            dims = self.sizes(place)
            size = self.memory.bytes(dims, Array(place.type, None, dims))
            room.append((place, dims, total))
            whole = b.and_(b.add(size, WORD(63)), WORD(-64))
            total = b.add(total, b.add(whole, WORD(STAGGER)))
        if not room:
            return
        needed = self.b.gep(self.frame, [WORD(NEEDED)], source_etype=WORD)
        b.store(total, needed)
        lacks = b.icmp_unsigned(">", total, self.word(CAPACITY))
        self.leave_with(lacks, NO_ROOM)
        base = self.word(WORKSPACE, POINTER)
        for place, dims, offset in room:
            data = b.gep(base, [offset], source_etype=BYTE)
            self.memory.fixed[place] = Array(place.type, data, dims, ROWS, (), place)

    def sizes(self, place: Buffer) -> tuple[Register, ...]:
        """The lengths of a buffer, from the arguments; none below zero."""
        shape = Sizes(self.function).shape(place.like)
        assert shape is not None
        found = []
        for size in shape:
            d = self.size(size)
            is_less = self.b.icmp_signed("<", d, WORD(0))
            found.append(self.b.select(is_less, WORD(0), d))
        return tuple(found)

    def size(self, size: Size) -> Register:
        b = self.b
        match size:
            case int():
                return WORD(size)
            case Length():
                return self.length(size)
        terms, offset = size
        total: Register = WORD(offset)
        for c, s in terms:
            total = b.add(total, b.mul(WORD(c), self.length(s)))
        return total

    def length(self, s: Length) -> Register:
        if s.function is not None:
            x, y = (self.size(o) for o in s.operands)
            return formulas.of_sizes(self.b, s.function, x, y)
        p = self.function.params[s.parameter]
        if s.axis is not None:
            return self.arrays[p].dims[s.axis]
        return self.read(p).part

    # ---- results ---------------------------------------------------------------

    def end(self) -> None:
        frame = self.program.frame
        for k, (r, at) in enumerate(
            zip(self.function.results, frame.results, strict=True)
        ):
            t = type_of(r)
            if is_text(r):
                continue
            if is_scalar(t):
                x = convert(self.b, self.operand(r), element_of(t))
                self.to_words(at, x)
                continue
            place = self.memory.source(r)
            if place in self.memory.heap and place not in self.handed:
                base = self.b.gep(self.frame, [WORD(at)], source_etype=WORD)
                self.memory.hand_over(place, base)
            elif not (
                k in given(self.function)
                or is_argument(self.function, place)
                or place in self.handed
                or place in self.memory.fixed
            ):
                raise Refused(f"the array '{place.name}' as a result yet")


def is_argument(function: Function, place: Any) -> bool:
    """Whether an array is one that the caller gave."""
    return any(place is p for p in function.params)


def given(function: Function) -> dict[int, Buffer]:
    """By result, the buffers that the driver makes: results that begin just once."""
    sizes, resized = Sizes(function), _resized(function)
    born = {
        s.place: s
        for s in function.body
        if isinstance(s, Alloc) and isinstance(s.place, Buffer)
    }
    counts: dict[Any, int] = {}
    for s in walk(function.body):
        if isinstance(s, Alloc):
            counts[s.place] = counts.get(s.place, 0) + 1
    found: dict[int, Buffer] = {}
    for k, r in enumerate(function.results):
        place = origin(function, r)
        if place not in born or place in resized or counts[place] > 1:
            continue
        if sizes.shape(place.like) is not None and place not in found.values():
            found[k] = place
    return found


def origin(function: Function, r: Any) -> Any:
    """The buffer or argument that a result is a name of."""
    from gradwright.transform.core import Load

    names = {
        s.out: s.source
        for s in walk(function.body)
        if isinstance(s, Load) and isinstance(s.out, Value) and s.out.type.is_array
    }
    while r in names:
        r = names[r]
    return r


def workspace(function: Function) -> list[Buffer]:
    """The buffers of known sizes that are no results, wherever they begin."""
    sizes, resized = Sizes(function), _resized(function)
    results = [origin(function, r) for r in function.results if _is_array(r)]
    found: dict[Buffer, None] = {}
    for s in _certain(function.body):
        if isinstance(s, Alloc) and isinstance(s.place, Buffer):
            if s.place in resized or any(s.place is r for r in results):
                continue
            if sizes.shape(s.place.like) is not None:
                found[s.place] = None
    return list(found)


def _is_array(r: Any) -> bool:
    return type_of(r).is_array and not is_scalar(type_of(r))


def _certain(block: list[Statement]) -> list[Statement]:
    """The statements outside of branches."""
    found = []
    for s in block:
        found.append(s)
        if not isinstance(s, If):
            for b in blocks(s):
                found += _certain(b)
    return found


def _resized(function: Function) -> set[Any]:
    return {s.place for s in walk(function.body) if isinstance(s, Resize)}
