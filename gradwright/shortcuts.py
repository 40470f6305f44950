"""Shortcuts: the calls that were made before, recognised by one generated function.

For a specialisation of f(x, n) for an array of two axes and an int it has the lines

    if (
        type(a0) is ndarray and a0.dtype is dtype_0
        and len(s0 := a0.shape) == 2 and 1 not in s0
        and type(a1) is int
    ):
        return run_0(a0, a1)

so that a call costs little more than what it runs.  Where there is one specialisation
of machine code, its kernel looks at the dtypes and lengths of arrays, which is faster.
All other calls, those with keywords say, go the long way.
"""

from __future__ import annotations

import re
import types
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwright.arguments import PLAIN
from gradwright.emitted import Emitted
from gradwright.lengths import Exceptional
from gradwright.switches import SWITCHED
from gradwright.transform.structure import structure_of

if TYPE_CHECKING:
    from gradwright.entry import Entry
    from gradwright.specialisation import Specialisation

MOST = 4  # specialisations that one function recognises
SLOWEST = 1024  # calls that go the long way between two writings of the function


class Beyond(Exception):
    """An argument that a shortcut does not look into."""


def called(entry: Entry, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """The long way."""
    return entry.call(args, keywords)


@dataclass
class Branch:
    """One specialisation: what tells its calls, and the lines that run it.

    alone: another form of it, which needs no company, where there is one.
    """

    tests: list[str]
    lines: list[str]
    alone: Branch | None = None


class Shortcuts:
    """The specialisations that the function of an entry recognises."""

    def __init__(self) -> None:
        self.found: list[Specialisation] = []
        self.branches: list[Branch] = []
        self.names: dict[str, Any] = {
            "ndarray": np.ndarray, "switched": SWITCHED, "called": called,
        }  # fmt: skip
        self.wait, self.waited = 1, 0  # for so many calls, and how many there were

    def learn(self, entry: Entry, found: Specialisation, args: tuple[Any, ...]) -> None:
        """Recognise the next call of this kind, if that can be done by a short test.

        The function is written seldom where calls are of many kinds.
        """
        self.waited += 1
        if self.waited < self.wait or len(args) != entry.flat_count:
            return
        self.waited, self.wait = 0, min(2 * self.wait, SLOWEST)
        with entry.family.lock:
            self.write(entry, found, args)

    def write(self, entry: Entry, found: Specialisation, args: tuple[Any, ...]) -> None:
        """Write the function anew, with one more specialisation."""
        if found.is_exact or found.apart.stored:
            return
        try:
            branch = _Writer(self.names, entry, found).branch(args)
            if found.looks:
                branch.alone = _Writer(self.names, entry, found, True).branch(args)
        except Beyond:
            return
        # another thread may read this list: it is replaced, not changed
        self.found = [found, *self.found][:MOST]
        self.branches = [branch, *self.branches][:MOST]
        entry.fast = self.function(entry)

    def function(self, entry: Entry) -> Callable[..., Any]:
        """The function of an entry, the arguments of a call and its keywords."""
        count = entry.flat_count
        self.names["code"] = entry.function.__code__
        condition = f"keywords or len(args) != {count} or switched.any"
        lines = [
            "def fast(entry, args, keywords):",
            f"    if {condition} or entry.function.__code__ is not code:",
            "        return called(entry, args, keywords)",
        ]
        if count:
            lines.append(f"    {', '.join(f'a{k}' for k in range(count))}, = args")
        only = self.branches[0].alone if len(self.branches) == 1 else None
        for b in [only] if only else self.branches:
            lines.append(f"    if {' and '.join(b.tests or ['True'])}:")
            lines += [f"        {line}" for line in b.lines]
        lines.append("    return called(entry, args, keywords)")
        names = {"__name__": __name__, **self.names}
        exec("\n".join(lines), names)
        made: Callable[..., Any] = names["fast"]
        return made


class _Writer:
    """Writes one branch; what it names, it puts among the names.

    unseen: the arrays are looked at by the kernel.
    """

    def __init__(
        self,
        names: dict[str, Any],
        entry: Entry,
        found: Specialisation,
        unseen: bool = False,
    ) -> None:
        self.names, self.entry, self.found = names, entry, found
        self.unseen = unseen
        self.temporary = 0
        self.tests: list[str] = []
        self.leaves: list[str] = []

    def name(self, stem: str, thing: Any) -> str:
        """A name for a thing, the same one for the same thing."""
        for name, held in self.names.items():
            if held is thing and name.startswith(stem):
                return name
        name = f"{stem}_{len(self.names)}"
        self.names[name] = thing
        return name

    def fresh(self, text: str) -> tuple[str, str]:
        """A short name for what an expression gives, and the text that binds it."""
        if text.isidentifier():
            return text, text
        self.temporary += 1
        name = f"b{self.temporary}"
        return name, f"({name} := {text})"

    # ---- tests -----------------------------------------------------------------

    def branch(self, args: tuple[Any, ...]) -> Branch:
        """All of it, for calls like this one."""
        entry = self.entry
        for k, (n, a) in enumerate(zip(entry.names, args, strict=True)):
            if n in entry.static:
                self.known(a, f"a{k}")
            else:
                self.look(a, f"a{k}", n in entry.family.by_value)
        return Branch(self.tests, [*self.run()])

    def look(self, a: Any, text: str, by_value: bool) -> None:
        """The tests for an argument, and the leaves in it."""
        t = type(a)
        name, bound = self.fresh(text)
        if t in PLAIN or isinstance(a, np.generic):
            self.tests.append(f"type({bound}) is {self.name('kind', t)}")
            if by_value and t is int:
                self.tests.append(f"{name} == {a}")
            else:
                self.leaves.append(name)
        elif t is np.ndarray:
            self.array(a, name, bound)
        elif a is None:
            self.tests.append(f"{bound} is None")
        elif t is str:
            self.tests.append(f"type({bound}) is str and {name} == {a!r}")
        elif (held := structure_of(a)) is not None:
            self.structure(held, a, name, bound)
            for access, item in self.items(held, name):
                self.look(item, access, by_value)
        else:
            self.identity(a, bound)

    def array(self, a: Any, name: str, bound: str) -> None:
        self.leaves.append(name)
        if self.unseen:
            self.tests.append(f"type({bound}) is ndarray")
            return
        self.temporary += 1
        shape = f"s{self.temporary}"
        self.tests += [
            f"type({bound}) is ndarray",
            f"{name}.dtype is {self.name('dtype', a.dtype)}",
            f"len({shape} := {name}.shape) == {a.ndim}",
        ]
        if 1 in a.shape:
            signs = ("==" if n == 1 else "!=" for n in a.shape)
            self.tests += [f"{shape}[{k}] {sign} 1" for k, sign in enumerate(signs)]
        elif a.ndim:
            self.tests.append(f"1 not in {shape}")

    def structure(self, held: Any, a: Any, name: str, bound: str) -> None:
        self.tests.append(f"type({bound}) is {self.name('kind', held.kind)}")
        if held.keys is None:
            self.tests.append(f"len({name}) == {len(held.items)}")
        elif all(type(k) is str for k in held.keys):
            self.tests.append(f"[*{name}] == {[*held.keys]!r}")
        else:
            raise Beyond

    def items(self, held: Any, name: str) -> Iterator[tuple[str, Any]]:
        keys = range(len(held.items)) if held.keys is None else held.keys
        for k, item in zip(keys, held.items, strict=True):
            yield f"{name}[{k!r}]", item

    def known(self, a: Any, text: str) -> None:
        """A static argument must be of this type and value."""
        t = type(a)
        name, bound = self.fresh(text)
        if a is None:
            self.tests.append(f"{bound} is None")
        elif t in (int, str, bool) or (t is float and a == a and a):
            self.tests.append(f"type({bound}) is {self.name('kind', t)}")
            self.tests.append(f"{name} == {a!r}")
        elif isinstance(a, tuple) and (held := structure_of(a)) is not None:
            self.structure(held, a, name, bound)
            for access, item in self.items(held, name):
                self.known(item, access)
        else:
            self.identity(a, bound)

    def identity(self, a: Any, bound: str) -> None:
        """An object must be this very one; a function may be another of one code."""
        if isinstance(a, types.FunctionType):
            raise Beyond
        try:
            found = weakref.ref(a)
        except TypeError:
            raise Beyond from None
        self.tests.append(f"{bound} is {self.name('object', found)}()")

    # ---- what is run -----------------------------------------------------------

    def run(self) -> Iterator[str]:
        found = self.found
        it = self.name("found", found)
        given = list(self.leaves)
        hidden = [f"hidden[{name!r}]" for name, _, _ in found.hidden]
        if not found.is_free:
            alone = "entry.alone"
            self.tests.append(f"(hidden := {it}.captured({alone})) is not None")
        values = [*given, *hidden]
        if found.checks and not self.unseen:
            fits = " and ".join(found.checks)
            self.tests.append(
                re.sub(r"values\[(\d+)\]", lambda m: values[int(m[1])], fits)
            )
        yield f"entry.last = {it}"
        yield f"{it}.used = True"
        runner: Any = found.forward
        if isinstance(runner, Emitted):
            function = self.name("function", runner.function)
            pairs = zip(found.hidden, hidden, strict=True)
            named = [f"{name}={text}" for (name, _, _), text in pairs]
            yield f"try: out = {function}({', '.join([*given, *named])})"
            yield f"except Exception as e: {self.name('noted', runner.note)}(e); raise"
        else:
            again = self.name("again", runner.again)
            compiled = self.name("compiled", runner)
            everything = ", ".join([str(self.unseen), *given, *hidden])
            way = "look" if self.unseen else "direct"
            yield f"try: out = {compiled}.{way}({everything})"
            exceptional = self.name("other", Exceptional)
            if self.unseen:
                other = self.name("other", runner.other)
                yield f"except {other}: return called(entry, args, keywords)"
            yield f"except {again} as e:"
            yield f"    try: out = {compiled}.otherwise(e, {everything})"
            yield f"    except {exceptional}: return called(entry, args, keywords)"
        if found.is_as_it_is:
            yield "return out"
        else:
            yield f"return {self.name('assemble', found.assemble)}(out)"
