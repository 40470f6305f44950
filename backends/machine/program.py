"""A program: the functions of loop core as one module of LLVM, and what may fail in it.

The kernel takes the address of a frame, a row of words that the driver fills:

    0  workspace   1  its bytes   2  the bytes that are needed   3  what calls libraries
    4  how many calls of recursive functions are open   5  how many may be
    6  the first sample that a thread works on   7  where it ends
    8  the dtypes of the arrays, then whether nobody has looked at these, then the
       arguments (numbers; arrays as NumPy's own objects), then results, then the
       operands of what failed

and returns 0, the number of a site, or one of the signals below.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import ir

from gradwright.backends.machine.arrays import ROWS
from gradwright.backends.machine.scalars import (
    POINTER,
    WORD,
    Refused,
    Scalar,
    register_types,
)
from gradwright.backends.machine.sites import Site, words_of
from gradwright.backends.machine.threads import shared_out
from gradwright.transform.core import (
    Buffer,
    Const,
    Function,
    List,
    Tape,
    Value,
    type_of,
)
from gradwright.transform.indices import Linear
from gradwright.transform.types import Type

OTHER_LAYOUT, NO_ROOM, TOO_LONG, NO_MEMORY, OTHER_KIND, RAISED, NOTED = range(
    -1, -8, -1
)
WORKSPACE, CAPACITY, NEEDED, CALLS, DEPTH, DEEPEST, FIRST, END, DTYPES = range(9)
Layouts = tuple[str | None, ...]


def is_scalar(t: Type) -> bool:
    """Whether a value stands in registers; an array of no axes does."""
    return t.dims is None or t.dims == ()


def is_text(r: Any) -> bool:
    """Whether a result is a text that is known, or None."""
    return isinstance(r, Const) and not r.type.is_number


def element_of(t: Type) -> Type:
    """The number that such a value is."""
    return t.element


@dataclass(eq=False)
class Instance:
    """A function for arguments of these layouts, as LLVM has it."""

    function: Function
    layouts: Layouts
    llvm: Any


@dataclass(frozen=True)
class Facts:
    """Forms of the lengths of arguments that are zero, and that are not negative."""

    zero: tuple[Linear, ...] = ()
    at_least_zero: tuple[Linear, ...] = ()


NONE = Facts()


class Program:
    """The module under way: instances of functions, and sites."""

    def __init__(
        self,
        function: Function,
        layouts: Layouts,
        facts: Facts = NONE,
        careful: bool = False,
        fastmath: bool = False,
    ) -> None:
        self.careful = careful
        self.facts = facts
        self.fastmath = fastmath
        self.module = ir.Module("gradwright")
        self.sites: list[Site] = []
        self.callings: list[Any] = []  # of libraries
        self.instances: dict[Any, Instance] = {}
        self.waiting: list[Instance] = []
        self.function = function
        self.layouts = layouts
        self.frame = Frame(function)
        self.shared = shared_out(function)  # the loop that threads share

    def site(self, site: Site) -> int:
        """The number of a new site, from 1."""
        self.sites.append(site)
        return len(self.sites)

    def instance(self, function: Function, layouts: Layouts) -> Instance:
        """A function for these layouts; its body is written later."""
        key = id(function), layouts
        found = self.instances.get(key)
        if found is None:
            kinds: list[Any] = [POINTER]
            for p, layout in zip(function.params, layouts, strict=True):
                kinds += parameter_types(p, layout)
            for r in function.results:
                kinds += [POINTER] * result_pointers(r)
            name = f"function_{len(self.instances)}"
            made = ir.Function(self.module, ir.FunctionType(WORD, kinds), name)
            made.linkage = "internal"
            found = self.instances[key] = Instance(function, layouts, made)
            self.waiting.append(found)
        return found


def parameter_types(p: Any, layout: str | None) -> list[Any]:
    """The registers of a parameter: a number's, or an array's address and lengths."""
    if isinstance(p, List):
        raise Refused("a list as an argument")
    if isinstance(p, Tape):
        return [POINTER]
    if is_scalar(p.type):
        return list(register_types(element_of(p.type)))
    words = p.type.rank * (1 if layout in (ROWS, "F") else 2)
    return [POINTER, *[WORD] * words]


def result_pointers(r: Any) -> int:
    """How many addresses a caller gives for a result to be stored at."""
    if isinstance(r, Tape | List):
        raise Refused("a list as a result")
    t = type_of(r)
    return len(register_types(element_of(t))) if is_scalar(t) else 1


class Frame:
    """Where each argument and result stands among the words of a frame."""

    def __init__(self, function: Function) -> None:
        self.arguments: list[int] = []
        self.dtypes = [
            np.dtype(p.type.dtype)
            for p in function.params
            if isinstance(p, Value | Buffer) and p.type.is_array
        ]
        self.unseen = DTYPES + len(self.dtypes)
        at = self.unseen + 1
        for p in function.params:
            self.arguments.append(at)
            is_number = not isinstance(p, Tape | List | Buffer) and is_scalar(p.type)
            is_object = isinstance(p, Value) and p.type.dims == ()
            at += 1 if is_object or not is_number else words_of(p.type)
        self.given: dict[int, int] = {}  # by result, the word of a fresh array
        self.results: list[int] = []
        for k, r in enumerate(function.results):
            if isinstance(r, Tape | List):
                raise Refused("a list as a result")
            t = type_of(r)
            self.given[k] = at
            at += 0 if is_scalar(t) else 1
        for r in function.results:
            t = type_of(r)
            self.results.append(at)
            if is_text(r):
                continue
            at += words_of(element_of(t)) if is_scalar(t) else 1 + t.rank
        self.failure = at
        self.size = at

    def fails_with(self, kinds: Sequence[Type]) -> None:
        """Make room for the operands of a site."""
        words = sum(map(words_of, kinds))
        self.size = max(self.size, self.failure + words)


Known = Callable[[Any], Scalar]
