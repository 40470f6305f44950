"""Library calls: functions of NumPy on whole arrays, from inside of a kernel.

    solve(A, b)    ->    the kernel writes where A, b and x lie into a row of words and
                         calls back; Python makes arrays of them and fills x

BLAS, LAPACK, FFTs and sorting stay what they are.  A call costs a few microseconds more
than it does in Python.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir

from gradwright.backends.machine import arrays, blas, sites
from gradwright.backends.machine.arrays import STRIDED
from gradwright.backends.machine.program import CALLS, RAISED, is_scalar
from gradwright.backends.machine.scalars import (
    POINTER,
    WORD,
    Register,
    as_words,
    dtype_of,
    from_element,
    memory_type,
)
from gradwright.backends.machine.sites import words_of
from gradwright.transform.core import Buffer, Library, Value, type_of
from gradwright.transform.errors import Location, note_user_line
from gradwright.transform.indices import Dim, Linear
from gradwright.transform.primitives.record import Primitive
from gradwright.transform.primitives.structural import PRODUCT
from gradwright.transform.types import Type

if TYPE_CHECKING:
    from gradwright.backends.machine.body import Body
    from gradwright.backends.machine.driver import Frame

SIGNATURE = ctypes.CFUNCTYPE(
    ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64
)
Reader = Callable[[Any], Any]


@dataclass(frozen=True)
class Part:
    """An operand or a result of a call, in its row of words.

    An array is its address, its lengths and its strides; a number its own words.  What
    is `born` is an array that the call itself makes.
    """

    type: Type
    at: int
    is_array: bool
    born: bool = False


@dataclass(frozen=True)
class Calling:
    """One place of a kernel that calls a library."""

    primitive: Primitive
    attribute: Any
    operands: tuple[Part, ...]
    outs: tuple[Part, ...]
    where: Location | None

    def run(self, words: Any, frame: Frame, number: int) -> None:
        """Call the function on what the words say."""
        given = [
            _array(p, words) if p.is_array else _number(p, words) for p in self.operands
        ]
        if self.primitive is PRODUCT:
            turned = zip(given, self.attribute, strict=True)
            a, b = (x.T if is_turned else x for x, is_turned in turned)
            found = a @ b
        elif self.primitive.signature is None:
            found = self.primitive.function(*given)
        else:
            template = self.primitive.template(self.attribute)
            found = self.primitive.call(template.filled(lambda k: given[k]))
        several = found if isinstance(found, tuple | list) else (found,)
        for k, (p, x) in enumerate(zip(self.outs, several, strict=True)):
            if p.born:
                kept = np.ascontiguousarray(x, p.type.dtype)
                frame.borrowed[number, k] = kept
                words[p.at] = kept.ctypes.data
                words[p.at + 1 : p.at + 1 + kept.ndim] = kept.shape
            elif p.is_array:
                _array(p, words)[...] = x
            else:
                _put(p, x, words)


def _array(p: Part, words: Any) -> Any:
    """The array that lies where the words say."""
    rank = p.type.rank
    shape = tuple(words[p.at + 1 : p.at + 1 + rank].tolist())
    strides = tuple(words[p.at + 1 + rank : p.at + 1 + 2 * rank].tolist())
    dtype = np.dtype(p.type.dtype)
    if 0 in shape:
        return np.empty(shape, dtype)
    low = sum(min(0, s * (n - 1)) for s, n in zip(strides, shape, strict=True))
    high = sum(max(0, s * (n - 1)) for s, n in zip(strides, shape, strict=True))
    start = int(words[p.at]) + low
    memory = (ctypes.c_char * (high - low + dtype.itemsize)).from_address(start)
    return np.ndarray(shape, dtype, memory, -low, strides)


def _number(p: Part, words: Any) -> Any:
    return sites.number_in(p.type, words[p.at : p.at + words_of(p.type)])


def _put(p: Part, x: Any, words: Any) -> None:
    """A number into its words."""
    dtype = dtype_of(p.type)
    x = dtype.type(x)
    parts = (x.real, x.imag) if dtype.kind == "c" else (x,)
    for k, part in enumerate(parts):
        held = np.zeros(8, np.uint8)
        raw = np.frombuffer(part.tobytes(), np.uint8)
        held[: len(raw)] = raw
        words[p.at + k] = held.view(np.int64)[0]


def callback(callings: list[Calling], frames: dict[int, Frame]) -> Any:
    """What a kernel calls: with its frame, the number of the place, and the words."""

    def run(frame_at: int, number: int, words_at: int) -> int:
        frame = frames[frame_at]
        calling = callings[number]
        try:
            memory = (ctypes.c_int64 * _size(calling)).from_address(words_at)
            with np.errstate(all="ignore"):
                calling.run(np.ctypeslib.as_array(memory), frame, number)
        except BaseException as e:
            e.__traceback__ = None
            if calling.where is not None:
                note_user_line(e, calling.where)
            frame.pending = e
            return 1
        return 0

    return SIGNATURE(run)


def _size(calling: Calling) -> int:
    parts = (*calling.operands, *calling.outs)
    return max((p.at + _words(p.type) for p in parts), default=1)


def _words(t: Type) -> int:
    return words_of(t) if is_scalar(t) else 1 + 2 * t.rank


def _stands_in_memory(o: Any) -> bool:
    """Whether it is an array for NumPy; one without axes may be a number here."""
    return isinstance(o, Buffer) or not is_scalar(type_of(o))


# ---- in a kernel -------------------------------------------------------------------


def write(body: Body, s: Library) -> None:
    """The instructions of a call."""
    if s.primitive is PRODUCT and blas.write(body, s):
        return
    b = body.b
    at, operands, outs = 0, [], []
    for o in s.operands:
        t = type_of(o)
        operands.append(Part(t, at, _stands_in_memory(o)))
        at += _words(t)
    for o in s.outs:
        born = isinstance(o, Buffer) and is_born(o)
        outs.append(Part(o.type, at, _stands_in_memory(o), born))
        at += _words(o.type)
    slot = body.slot(ir.ArrayType(WORD, max(at, 1)))
    row = b.inttoptr(b.ptrtoint(slot, WORD), POINTER)  # of words of any kind

    def place(k: int) -> Register:
        return b.gep(row, [WORD(k)], source_etype=WORD)

    for p, o in zip(operands, s.operands, strict=True):
        if p.is_array:
            _lay_out(body, body.array(o), p, place)
        else:
            for k, part in enumerate(as_words(b, body.operand(o))):
                b.store(part, place(p.at + k))
    for p, o in zip(outs, s.outs, strict=True):
        if p.is_array and not p.born:
            _lay_out(body, body.array(o), p, place)
    number = len(body.program.callings)
    body.program.callings.append(
        Calling(s.primitive, s.attribute, tuple(operands), tuple(outs), body.where)
    )
    kind = ir.FunctionType(WORD, [POINTER, WORD, POINTER])
    address = b.gep(body.frame, [WORD(CALLS)], source_etype=WORD)
    function = b.inttoptr(b.load(address, typ=WORD), kind.as_pointer())
    status = b.call(function, [body.frame, WORD(number), row])
    with body.rarely(b.icmp_signed("!=", status, WORD(0))):
        b.store(WORD(RAISED), body.status)
        b.branch(body.exit)
    for p, o in zip(outs, s.outs, strict=True):
        if p.born:
            body.memory.borrow(o, row, p.at)
        elif isinstance(o, Value):
            dtype = dtype_of(o.type)
            parts = tuple(
                b.load(place(p.at + k), typ=memory_type(dtype))
                for k in range(words_of(o.type))
            )
            body.set(o, from_element(b, o.type, parts))


def _lay_out(body: Body, a: Any, p: Part, place: Callable[[int], Register]) -> None:
    """An array's address, lengths and strides."""
    b, rank = body.b, p.type.rank
    b.store(a.data, place(p.at))
    strides = a.strides
    if a.layout != STRIDED:
        found: list[Register] = []
        step: Register = WORD(a.dtype.itemsize)
        order = a.dims if a.layout == arrays.COLUMNS else a.dims[::-1]
        for d in order:
            found.append(step)
            step = b.mul(step, d)
        strides = tuple(found if a.layout == arrays.COLUMNS else found[::-1])
    for k in range(rank):
        b.store(a.dims[k], place(p.at + 1 + k))
        b.store(strides[k], place(p.at + 1 + rank + k))


def is_born(place: Buffer) -> bool:
    """Whether an array is made by the call whose result it is."""
    assert isinstance(place.like, tuple)
    return any(
        isinstance(t, Dim) and t.array is place
        for n in place.like
        if isinstance(n, Linear)
        for t in n.symbols()
    )
