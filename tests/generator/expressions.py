"""Choices, and expressions of every kind."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, TypeVar

from generator.words import (
    COMPLEX,
    CONDITIONS,
    CONNECTED,
    FRESH,
    INTEGERS,
    NUMBERS,
    PASSES,
    ROWS,
    SLICES,
    TEMPLATES,
    Function,
    Lines,
    Name,
    Profile,
    Scope,
    vector,
)

T = TypeVar("T")


@dataclass
class Expressions:
    """Writes one program; its state is what may be said at the current place."""

    random: Random
    profile: Profile
    used: set[str] = field(default_factory=set)  # no name is used for two things
    names: Scope = field(default_factory=dict)  # what is certainly defined here
    free: set[str] = field(default_factory=set)  # what may be assigned here
    functions: dict[str, Function] = field(default_factory=dict)
    results: tuple[str, ...] = ("float",)
    is_entry: bool = False
    exits: list[Scope] | None = None  # what is defined where the loop is left
    depth: int = 0
    passes: int = 1
    most: int = PASSES
    budget: int = 14  # of statements

    # ---------------------------------------------------------------- choices

    def below(self, n: int) -> int:
        return self.random.randrange(n) if n > 1 else 0

    def pick(self, options: Sequence[T]) -> T:
        return options[self.below(len(options))]

    def word(self, text: str) -> str:
        return self.pick(text.split())

    def maybe(self, often: int = 2) -> bool:
        """True once in so many times; simplest where it is not."""
        return self.below(often) == often - 1

    def fresh(self, kind: str) -> str:
        turns = ((name, n) for n in range(1, 40) for name in FRESH[kind])
        every = (f"{name}{n}" if n > 1 else name for name, n in turns)
        name = next(name for name in every if name not in self.used)
        self.used.add(name)
        return name

    def known(self, kind: str) -> list[Name]:
        return [name for name in self.names.values() if name.kind == kind]

    def callables(self) -> list[Function]:
        return [self.functions[name.text] for name in self.known("function")]

    def define(self, text: str, kind: str, fixed: bool = False, **more: Any) -> str:
        self.names = {**self.names, text: Name(text, kind, **more)}
        if not fixed:
            self.free.add(text)
        return text

    def ints(self, low: int, high: int) -> Lines:
        """Integer names within bounds."""
        every = [*self.known("int"), *self.known("count")]
        return [k.text for k in every if low <= k.low and k.high <= high]

    # ------------------------------------------------------------ expressions

    def fill(self, template: str, depth: int) -> str:
        """A template with its holes filled, the same name in the same small hole."""
        names = {"f": "float", "k": "int", "flag": "bool"}
        same: dict[str, str] = {}

        def hole(match: re.Match[str]) -> str:
            kind = match[1]
            if kind not in names:
                return f"({self.make(kind, depth)})"
            if kind not in same:
                every = self.known(names[kind])
                # What no name can fill is filled by a simple expression.
                simple = {"f": "0.5", "k": "2", "flag": "True"}[kind]
                same[kind] = self.pick(every).text if every else simple
            return same[kind]

        return re.sub(r"\{(\w+)\}", hole, template)

    def make(self, kind: str, depth: int = 2) -> str:
        """An expression of a kind, nested so deep at most."""
        match kind:
            case "F" | "float":
                return self.number(depth)
            case "C" | "complex":
                return self.complex_number(depth)
            case "I" | "int":
                return self.integer(depth)
            case "B" | "bool":
                every = CONDITIONS + CONNECTED * (depth > 0)
                return self.fill(self.pick(every), depth - 1)
        raise ValueError(kind)

    def number(self, depth: int) -> str:
        if depth <= 0 or self.below(8) == 0:
            return self.atom()
        form = self.word(NUMBERS + self.profile.numbers)
        if form in TEMPLATES:
            return self.fill(self.pick(TEMPLATES[form]), depth - 1)
        text: str | None = getattr(self, form)(depth - 1)
        return text or self.atom()

    def atom(self) -> str:
        """A float to begin with: a name, else a part of one, or a constant."""
        every = [name.text for name in self.known("float")]
        every += [f"{pair.text}[{i}]" for pair in self.known("pair") for i in (0, -1)]
        every += [f"0.04 * {name.text}" for name in self.known("sum")]
        if not every:
            every += [f"{z.text}.real" for z in self.known("complex")]
            every += [f"np.sum({u.text}) / 6.0" for u in self.known("array")]
        constants = ["0.5", "1.5", "-0.7", "2.0", "0.25", "1.0", "-1.3", "0.9"]
        return self.pick([*every * 4, None]) or self.pick(constants)

    def complex_number(self, depth: int) -> str:
        every = [z.text for z in self.known("complex")]
        every += [f"0.04 * {z.text}" for z in self.known("total")]
        if depth > 0 and self.below(3):
            call = self.called(depth - 1, "complex") if self.maybe(4) else None
            return call or self.fill(self.pick(COMPLEX), depth - 1)
        return self.pick(every) if every else self.fill("0.7 * {F} + 0.7j * {F}", 0)

    def integer(self, depth: int) -> str:
        every = self.ints(-99, 99)
        every += [f"len({u.text})" for u in self.known("array")]
        every += [f"{u.text}.shape[{len(u.shape) - 1}]" for u in self.known("array")]
        if depth > 0 and self.below(3):
            return self.fill(self.pick(INTEGERS), depth - 1)
        return self.pick([*every, *every, "2", "1"])

    def row(self, depth: int) -> str:
        """A function of math or NumPy."""
        rows = ROWS[self.pick(["math", "np"])]
        return self.fill(rows[self.pick(list(rows))], depth)

    def element(self, depth: int) -> str | None:
        """An element of an array."""
        arrays = [u for u in self.known("array") if min(u.shape) > 0]
        if not arrays:
            return None
        u = self.pick(arrays)
        at = [self.index(u.text, axis, n) for axis, n in enumerate(u.shape)]
        return f"{u.text}[{self.pick([', ', '][']).join(at)}]"

    def index(self, array: str, axis: int, n: int) -> str:
        """An integer within an axis of length n."""
        length = f"len({array})" if axis == 0 else f"{array}.shape[{axis}]"
        options = ["0", "-1", str(n - 1), str(-n)]
        options += self.ints(-n, n - 1) * 3
        for k in self.ints(0, n - 1):
            options += [f"-1 - {k}", f"{length} - 1 - {k}"]
        options += [f"{k} + 1" for k in self.ints(-n, n - 2)]
        options += [f"{k} % {length}" for k in self.ints(-99, 99)[:2]]
        return self.pick(options)

    def reduced(self, depth: int) -> str | None:
        u = self.array(depth, (1, 2))
        if not u:
            return None
        if min(u.shape) <= 0 or self.maybe():
            return f"np.sum({u.text}) / 6.0"
        return f"np.{self.pick(['max', 'min'])}({u.text})"

    def called(self, depth: int, kind: str = "float") -> str | None:
        """A call of a function that gives a number."""
        known = [fn for fn in self.callables() if fn.results == (kind,)]
        return self.call(self.pick(known), depth) if known else None

    def array(
        self, depth: int = 1, ranks: tuple[int, ...] = (1,), length: int = -1
    ) -> Name | None:
        """An array, of a given length or of any."""
        views = [view for u in self.known("array") for view in (u, u, *self.views(u))]
        views = [u for u in views if len(u.shape) in ranks]
        views = [u for u in views if length in (-1, u.shape[0])]
        n = 1 + self.below(3) if length < 0 else length
        if 0 < n < 5 and self.maybe(5 if views else 2):
            items = [self.number(depth) for _ in range(n - 1)]
            items.append(f"0.9 * {self.atom()}")
            return vector(f"np.array([{', '.join(items)}])", n)
        if not views:
            return None
        u = self.pick(views)
        if depth <= 0 or self.maybe():
            return u
        common = [*TEMPLATES["linear"], "{F} / (2.5 + np.sin({F}))", "0.3 * {F} ** 2"]
        template = self.pick([self.pick(common), self.pick(list(ROWS["np"].values()))])
        same = [v.text for v in views if v.shape == u.shape and -1 not in u.shape]
        others = [*same[:4], self.atom()] if same else [u.text]
        text, *parts = template.split("{F}")
        for at, part in enumerate(parts):
            text += f"({self.pick(others) if at else u.text}){part}"
        return replace(u, text=f"({text})")

    def views(self, u: Name) -> list[Name]:
        """Every basic index that leaves an array."""
        if -1 in u.shape:
            return []
        n, *rest = u.shape
        found = [("...", u.shape)]
        found += [(text, (size(n), *rest)) for text, size in SLICES.items()]
        if rest:
            (m,) = rest
            row = self.pick(["0", "-1", *self.ints(-n, n - 1)])
            found += [(f":, {text}", (n, size(m))) for text, size in SLICES.items()]
            found += [(row, (m,)), (f"{row}, 1:", (m - 1,)), (f"{row}, ::-1", (m,))] * 2
            found += [(":, 0", (n,)), ("..., -1", (n,)), ("1:, :2", (n - 1, min(m, 2)))]
        else:
            found += [("None, :", (1, n)), (":, np.newaxis", (n, 1))]
            for k in self.ints(0, 99):
                found += [(f"{k}:", (-1,)), (f":{k}", (-1,)), (f"{k} + 1:", (-1,))]
        return [
            Name(f"{u.text}[{text}]", "array", 0, n if -1 in shape else shape[0], shape)
            for text, shape in found
        ]
