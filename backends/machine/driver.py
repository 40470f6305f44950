"""The driver: Python that fills a frame, calls the kernel, and gives the results.

It is written for each kernel, as text that packs and unpacks all words at once:

    def run(unseen, x, A):
        out_0 = zeros((A.shape[0],), dtype_0)
        pack(words, 24, unseen, x, id(A), id(out_0))
        while status := kernel(address): ...

Arrays go as NumPy's own objects, by `id`: the kernel reads address, lengths and layout
there, which costs less than any way of asking for them from Python.
"""

from __future__ import annotations

import ctypes
import struct
import sys
import time
from collections import deque
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from gradwright.backends.machine import (
    arrays,
    build,
    disk,
    kernel,
    library,
    sites,
    threads,
)
from gradwright.backends.machine.arrays import layout_of
from gradwright.backends.machine.program import (
    CALLS,
    DEEPEST,
    DTYPES,
    END,
    FIRST,
    NEEDED,
    NO_ROOM,
    NONE,
    NOTED,
    OTHER_KIND,
    OTHER_LAYOUT,
    RAISED,
    TOO_LONG,
    Facts,
    Layouts,
    Program,
    element_of,
    is_scalar,
    is_text,
)
from gradwright.backends.machine.scalars import dtype_of
from gradwright.backends.machine.sizes import Sizes, text
from gradwright.transform.core import Alloc, Buffer, Function, type_of
from gradwright.transform.errors import BackendError
from gradwright.transform.types import Type

MOST_KEPT = 2**28  # bytes of workspace that wait for the next call, in each frame
MOST_FRAMES = 8


class OtherLayout(Exception):
    """An array does not lie in memory as the kernel takes it to lie."""


class OtherKind(Exception):
    """An array has another dtype or rank, or a length of one where it had none."""


class Noted(Exception):
    """Something failed that a careful kernel has to find again."""


class Machine:
    """A function compiled: one kernel for each way in which its arrays lie.

    `watch` is told of every further kernel: for which layouts, and of its seconds.
    With more than one of `threads`, these share the samples of a vmap.
    """

    other_kind = OtherKind

    def __init__(
        self,
        function: Function,
        facts: Facts = NONE,
        fastmath: bool = False,
        threads: int = 1,
    ) -> None:
        _check_objects()
        self.function, self.facts, self.fastmath = function, facts, fastmath
        self.threads = threads
        self.watch: Callable[[Layouts, float], None] | None = None
        self.kernels: dict[tuple[Layouts, bool], Kernel] = {}
        self.hidden = [p for p in function.params if p in function.hidden]
        self.names = [p.settled for p in self.hidden]  # type: ignore[attr-defined]
        self.array_at = [k for k, p in enumerate(function.params) if p.type.is_array]
        usual: Layouts = tuple(
            "C" if p.type.is_array else None for p in function.params
        )
        self.usual = self.kernel(usual)
        self.run_usual = self.usual.run

    def kernel(self, layouts: Layouts, careful: bool = False) -> Kernel:
        """The kernel for these layouts."""
        found = self.kernels.get((layouts, careful))
        if found is None:
            start = time.perf_counter()
            found = Kernel(self.function, layouts, self.facts, careful, self.fastmath)
            if self.threads > 1:
                found.share_out(self.threads)
            self.kernels[layouts, careful] = found
            if self.watch is not None:
                self.watch(layouts, time.perf_counter() - start)
        return found

    def run(self, values: Any, hidden: dict[str, Any]) -> Any:
        """The results of a call."""
        if self.names:
            values = (*values, *[hidden[n] for n in self.names])
        try:
            return self.run_usual(False, *values)
        except (OtherLayout, Noted) as e:
            return self.otherwise(e, False, values)
        except OtherKind:  # a dtype may be equal to another, and not the same object
            return self.otherwise(OtherLayout(), False, self.respelled(values))

    def run_unseen(self, values: Any, hidden: dict[str, Any]) -> Any:
        """The same, where only the classes of the arguments are known to fit.

        Raises:
            OtherKind: The arrays are not of the function's kinds.
        """
        if self.names:
            values = (*values, *[hidden[n] for n in self.names])
        try:
            return self.run_usual(True, *values)
        except (OtherLayout, Noted) as e:
            return self.otherwise(e, True, values)

    def otherwise(self, e: Exception, unseen: bool, values: Any) -> Any:
        """What the kernel for these arrays gives, or a careful one."""
        if isinstance(e, OtherLayout):
            try:
                kernel = self.laid_out(values)
                if not kernel.takes_all:  # arrays that come next often lie so, too
                    self.run_usual = kernel.run
                return kernel.run(unseen, *values)
            except Noted:
                pass
        return self.laid_out(values, careful=True).run(unseen, *values)

    def respelled(self, values: Any) -> list[Any]:
        """The same arrays, each with the very dtype that kernels look for."""
        found = list(values)
        for k in self.array_at:
            a, p = found[k], self.function.params[k]
            dtype = np.dtype(p.type.dtype)
            if a.dtype != dtype or a.ndim != p.type.rank:
                raise BackendError(
                    f"an array of {a.dtype} with {a.ndim} axes for '{p.name}', "
                    f"compiled for {dtype} with {p.type.rank}"
                )
            if a.dtype is not dtype:
                found[k] = a.view(dtype)
        return found

    def laid_out(self, values: Any, careful: bool = False) -> Kernel:
        """The kernel for the layouts of these arguments."""
        layouts: list[str | None] = [None] * len(self.function.params)
        for k in self.array_at:
            layouts[k] = layout_of(values[k])
        return self.kernel(tuple(layouts), careful)


class Kernel:
    """Machine code, and the frames of calls of it that wait."""

    def __init__(
        self,
        function: Function,
        layouts: Layouts,
        facts: Facts,
        careful: bool,
        fastmath: bool = False,
    ) -> None:
        program = kernel.translated(function, layouts, facts, careful, fastmath)
        self.sites = program.sites
        self.takes_all = "S" in layouts
        self.frame_layout = program.frame
        self.text, self.name = build.text_of(program)
        self.compiled = disk.load(self.name)
        if self.compiled is None:
            self.compiled = build.compiled(self.text, self.name)
            disk.save(self.name, self.compiled)
        self.call = self.compiled.entry_point
        self.frames: deque[Frame] = deque()
        self.all_frames: dict[int, Frame] = {}  # by address
        self.callback: Any = None
        if program.callings:
            self.callback = library.callback(program.callings, self.all_frames)
        self.driver, self.sharing, names = _written(program)
        self.names = names
        names.update(
            kernel=self.call,
            take=self.frames.pop,
            give=self.give,
            new=self.new,
            failed=self.failed,
        )
        exec(self.driver, names)
        self.run: Callable[..., Any] = names["run"]

    def share_out(self, count: int) -> None:
        """From now on so many threads share the samples, if there are any."""
        if self.sharing is not None:
            self.names.update(
                kernel=threads.without_lock(self.compiled),
                shares=lambda samples: self.shares(samples, count),
                in_threads=threads.in_threads,
                joined=threads.joined,
            )
            exec(self.sharing, self.names)
            self.run = self.names["run"]

    def shares(self, samples: int, count: int) -> list[Frame]:
        """The frames of threads, each with its share."""
        found = []
        for first, end in threads.shares(samples, count):
            try:
                frame = self.frames.pop()
            except IndexError:
                frame = self.new()
            frame.share(first, end)
            found.append(frame)
        return found

    def as_text(self, stage: str) -> str:
        """The module as it was written ("llvm"), or what was made of it ("asm")."""
        return self.text if stage == "llvm" else self.asm

    @cached_property
    def asm(self) -> str:
        """What was made of the module; LLVM writes it differently each time."""
        return str(self.compiled.library.get_asm_str())

    def new(self) -> Frame:
        frame = Frame(self.frame_layout.size)
        frame.held[DEEPEST] = sys.getrecursionlimit()
        frame.share(0, threads.EVERY)
        if self.callback is not None:
            address = ctypes.cast(self.callback, ctypes.c_void_p).value or 0
            frame.held[CALLS] = address
            self.all_frames[frame.address] = frame
        for k, dtype in enumerate(self.frame_layout.dtypes):
            frame.held[DTYPES + k] = id(dtype)
        return frame

    def give(self, frame: Frame) -> None:
        """A frame waits for the next call; not with more memory than is good."""
        if frame.room.nbytes > MOST_KEPT:
            frame.grow(0)
        if frame.borrowed:
            frame.borrowed.clear()
        if len(self.frames) < MOST_FRAMES:
            self.frames.append(frame)
        else:
            self.all_frames.pop(frame.address, None)

    def failed(self, status: int, frame: Frame) -> None:
        """Do what a signal asks for, so that the kernel can be called again; or raise.

        Raises:
            OtherLayout: There must be another kernel for these arrays.
            OtherKind: There must be another function.
            BaseException: What the program raises.
        """
        words = np.frombuffer(frame.words, np.int64)
        if status == NO_ROOM:
            frame.grow(int(words[NEEDED]))
            return
        if status == OTHER_LAYOUT:
            raise OtherLayout
        if status == NOTED:
            frame.pending = None
            raise Noted
        if status == RAISED:
            pending, frame.pending = frame.pending, None
            assert pending is not None
            raise pending
        if status == OTHER_KIND:
            raise OtherKind
        if status == TOO_LONG:
            raise BackendError(
                f"an array of more than {arrays.LONGEST} elements along an axis"
            )
        if status < 0:
            raise MemoryError("there is no room for an array of compiled code")
        site = self.sites[status - 1]
        raise site.raised(words[self.frame_layout.failure :])


class Frame:
    """The words of one call at a time, and the workspace that it may use."""

    def __init__(self, size: int) -> None:
        self.held = np.zeros(size, np.int64)
        self.words = memoryview(self.held.data).cast("B")
        self.address = self.held.ctypes.data
        self.room = np.empty(0, np.uint8)
        self.borrowed: dict[Any, Any] = {}  # arrays that libraries made
        self.pending: BaseException | None = None  # what a library raised

    def share(self, first: int, end: int) -> None:
        """Work on these samples only."""
        self.held[FIRST : END + 1] = first, end

    def grow(self, size: int) -> None:
        """Another workspace, of at least so many bytes."""
        self.held[0:2] = 0
        self.room = np.empty(0, np.uint8)  # the old one goes first
        if size:
            self.room = np.empty(size + 64, np.uint8)
            start = self.room.ctypes.data
            begin = -start % 64
            self.held[0:2] = start + begin, size


# ---- the text of a driver ----------------------------------------------------------

LETTERS = {
    "bool": "?7x", "int8": "b7x", "int16": "h6x", "int32": "i4x", "int64": "q",
    "uint8": "B7x", "uint16": "H6x", "uint32": "I4x", "uint64": "Q",
    "float16": "e6x", "float32": "f4x", "float64": "d",
    "complex64": "f4xf4x", "complex128": "dd",
}  # fmt: skip


def _written(program: Program) -> tuple[str, str | None, dict[str, Any]]:
    """The driver's text, that for threads, and what stands behind the names in them."""
    function = program.function
    params = [f"a{k}" for k in range(len(function.params))]
    names: dict[str, Any] = {"struct_error": struct.error, "overflow": _overflow}
    lines = [f"def run({', '.join(['unseen', *params])}):"]
    given: list[str] = []
    letters = "=q"
    for p, name in zip(function.params, params, strict=True):
        if p.type.is_array:
            letters, given = letters + "q", [*given, f"id({name})"]
            continue
        letters += LETTERS[dtype_of(_present(p.type)).name]
        held = f"(0 if {name} is None else {name})" if p.type.optional else name
        given += [f"{held}.real", f"{held}.imag"] if p.type.is_complex else [held]
        if p.type.optional:
            letters, given = letters + "q", [*given, f"{name} is None"]
    fresh = kernel.given(function)
    sizes = Sizes(function)
    blank = {s.place: s.blank for s in function.body if isinstance(s, Alloc)}
    for k, place in fresh.items():
        shape = sizes.shape(place.like)
        assert shape is not None
        make = "empty" if blank[place] else "zeros"
        lengths = ", ".join(f"max({text(s, params)}, 0)" for s in shape)
        if not isinstance(place.like, tuple) or all(_is_length(s) for s in shape):
            lengths = ", ".join(text(s, params) for s in shape)
        lines += [
            "    try:",
            f"        r{k} = {make}(({lengths},), dtype_{k})",
            "    except IndexError:",  # of fewer axes, where nobody has looked
            "        raise OtherKind from None",
        ]
        names[f"dtype_{k}"] = np.dtype(place.type.dtype)
        given.append(f"id(r{k})")
    arrays_out = [k for k, r in enumerate(function.results) if not _is_number(r)]
    letters += "".join("q" if k in fresh else "8x" for k in arrays_out)
    names["pack"] = struct.Struct(letters).pack_into
    names.update(zeros=np.zeros, empty=np.empty, OtherKind=OtherKind)
    values = "".join(f", {g}" for g in given)
    pack = f"pack(frame.words, {8 * program.frame.unseen}, unseen{values})"
    results = _results(program, fresh, params, names)
    returned = f"    return {_returned(function, fresh, params, names)}"
    missed = [
        "    except struct_error:",
        f"        overflow({', '.join(params)})",
        "        raise",
    ]
    run = [
        *lines,
        "    try:",
        "        frame = take()",
        "    except IndexError:",
        "        frame = new()",
        "    try:",
        f"        {pack}",
        "        while status := kernel(frame.address):",
        "            failed(status, frame)",
        *results,
        *missed,
        "    finally:",
        "        give(frame)",
        returned,
    ]
    size = None if program.shared is None else sizes.of(program.shared.stop)
    if size is None or set(arrays_out) != set(fresh):
        return "\n".join(run) + "\n", None, names
    sharing = [
        *lines,
        f"    frames = shares({text(size, params)})",
        "    try:",
        "        for frame in frames:",
        f"            {pack}",
        "        in_threads(work, frames)",
        "        frame = frames[0]",
        *results,
        *missed,
        "    finally:",
        "        joined(frames, give)",
        returned,
        "",
        "",
        "def work(frame):",
        "    while status := kernel(frame.address):",
        "        failed(status, frame)",
    ]
    return "\n".join(run) + "\n", "\n".join(sharing) + "\n", names


def _is_number(r: Any) -> bool:
    return bool(is_scalar(type_of(r)))


def _is_length(size: Any) -> bool:
    from gradwright.backends.machine.sizes import Length

    return isinstance(size, Length) and size.axis is not None


def _results(
    program: Program, fresh: dict[int, Buffer], params: list[str], names: dict[str, Any]
) -> list[str]:
    """The lines that take the results out of a frame."""
    function, frame = program.function, program.frame
    letters, targets, more = "=", [], []
    for k, r in enumerate(function.results):
        t = type_of(r)
        if is_text(r):
            continue
        if is_scalar(t):
            e = element_of(t)
            letters += LETTERS[dtype_of(_present(e)).name]
            targets += [f"r{k}", f"i{k}"] if e.is_complex else [f"r{k}"]
            if e.optional:
                letters, targets = letters + "q", [*targets, f"n{k}"]
        else:
            letters += f"{8 * (1 + t.rank)}x"
            place = kernel.origin(function, r)
            if k not in fresh and not kernel.is_argument(function, place):
                first = next(
                    j
                    for j, q in enumerate(function.results)
                    if type_of(q).is_array and kernel.origin(function, q) is place
                )
                if first == k:
                    names[f"copied_{k}"] = _copier(frame.results[k], t)
                    more.append(f"        r{k} = copied_{k}(frame)")
                else:
                    more.append(f"        r{k} = r{first}.copy()")
    if not targets:
        return more
    names["unpack"] = struct.Struct(letters).unpack_from
    if not function.results:
        return more
    at = 8 * frame.results[0]
    return [f"        {', '.join(targets)}, = unpack(frame.words, {at})", *more]


def _copier(at: int, t: Type) -> Callable[[Frame], Any]:
    """An array that the kernel leaves in memory of its own, as NumPy's."""
    dtype, rank = np.dtype(t.dtype), t.rank
    libc = ctypes.CDLL(None)
    libc.free.argtypes = [ctypes.c_void_p]

    def copied(frame: Frame) -> Any:
        address, *shape = frame.held[at : at + 1 + rank].tolist()
        made = np.empty(shape, dtype)
        if made.nbytes:
            ctypes.memmove(made.ctypes.data, address, made.nbytes)
        libc.free(address)
        return made

    return copied


def _present(t: Type) -> Type:
    from dataclasses import replace

    return replace(t, optional=False)


def _returned(
    function: Function, fresh: dict[int, Buffer], params: list[str], names: Any
) -> str:
    """The results, of the kinds that the program has."""
    found = []
    for k, r in enumerate(function.results):
        t = type_of(r)
        if is_text(r):
            names[f"text_{k}"] = r.value  # type: ignore[union-attr]
            found.append(f"text_{k}")
            continue
        if not is_scalar(t):
            place = kernel.origin(function, r)
            if kernel.is_argument(function, place):
                index = next(j for j, p in enumerate(function.params) if p is place)
                found.append(params[index])
            else:
                found.append(f"r{k}")
            continue
        e = _present(element_of(t))
        value = f"complex(r{k}, i{k})" if e.is_complex else f"r{k}"
        if not e.python:
            names[f"kind_{k}"] = np.dtype(e.dtype).type
            value = f"kind_{k}({value})"
        if t.dims == ():
            names["asarray"] = np.asarray
            value = f"asarray({value})"
        if t.optional:
            value = f"(None if n{k} else {value})"
        found.append(value)
    return ", ".join(found) if len(found) != 1 else found[0]


def _overflow(*values: Any) -> None:
    """The error for an int argument of more than 64 bits."""
    raise OverflowError(sites.TOO_LARGE) from None


def _check_objects() -> None:
    """NumPy's array objects must be laid out as the kernels read them."""
    a = np.arange(6.0).reshape(2, 3)[:, ::2]
    words = ctypes.cast(id(a), ctypes.POINTER(ctypes.c_int64))
    dims = ctypes.cast(words[arrays.DIMS // 8], ctypes.POINTER(ctypes.c_int64))
    strides = ctypes.cast(words[arrays.STRIDES // 8], ctypes.POINTER(ctypes.c_int64))
    flags = ctypes.cast(id(a) + arrays.FLAGS, ctypes.POINTER(ctypes.c_int))[0]
    found = words[arrays.DATA // 8], (dims[0], dims[1]), (strides[0], strides[1])
    if found != (a.ctypes.data, a.shape, a.strides) or flags != a.flags.num:
        raise BackendError("this NumPy keeps its arrays in another form")
