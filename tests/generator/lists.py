"""Programs that keep numbers and arrays in lists, which grow and shrink.

As in programs that store into arrays, every change is made, as it is written, to the
lists that stand for the names; a list may have several names, or be an item of another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from generator.arrays import Grown
from generator.listed import (
    ARRAYS,
    BEGUN,
    BEGUN_OF_ARRAYS,
    BEGUN_OF_LISTS,
    CHANGES,
    CHANGES_OF_ARRAYS,
    CHANGES_OF_LISTS,
    LOOPS,
    LOOPS_OF_ARRAYS,
    LOOPS_OF_LISTS,
    NUMBERS,
)
from generator.stores import LARGEST, StoreWriter
from generator.words import Function, Lines, Name

KINDS = ("list", "rows", "table")
LONGEST = 7


class ListWriter(StoreWriter):
    """Writes programs that change lists."""

    # ---------------------------------------------------------- lists that stand

    def every_list(self) -> list[list[Any]]:
        known = [v for v in self.values.values() if isinstance(v, list)]
        for v in known:
            known += [item for item in v if isinstance(item, list)]
        return known

    def every_array(self) -> list[Any]:
        held = [a for v in self.every_list() for a in v if isinstance(a, np.ndarray)]
        return [*super().every_array(), *(a for a in held if a.flags.writeable)]

    @contextmanager
    def put_back(self) -> Iterator[None]:
        kept = [(v, list(v)) for v in self.every_list()]
        with super().put_back():
            yield
        for v, old in kept:
            v[:] = old

    def done(self, lines: Lines) -> Lines | None:
        kept = [(v, list(v)) for v in self.every_list()]
        if super().done(lines) and all(map(fits, self.every_list())):
            return lines
        for v, old in kept:
            v[:] = old
        return None

    def lists(self, kind: str) -> list[Name]:
        return [n for n in self.known(kind) if isinstance(self.values[n.text], list)]

    def lists_shared_first(self, kind: str) -> list[Name]:
        """Half of the time, the lists that have another name as well."""
        known = self.lists(kind)
        every = [id(v) for v in [*self.values.values(), *self.every_list()]]
        shared = [n for n in known if every.count(id(self.values[n.text])) > 2]
        return shared if shared and self.maybe() else known

    def keep(self, kind: str, name: str, value: list[Any], item: Any = ()) -> str:
        """A name for a list."""
        self.values[name] = value
        shape, dtype = (item.shape, str(item.dtype)) if kind == "rows" else ((), "")
        return self.define(name, kind, shape=shape, dtype=dtype)

    # ------------------------------------------------------------------- holes

    def list_holes(self, kind: str, name: Name | None) -> dict[str, Callable[[], str]]:
        """What fills the holes of a template about a list, some the same throughout."""
        item = self.item_of(name)
        known = self.lists(kind)
        same = [n.text for n in known if name is None or n.shape == name.shape]
        blank = {"list": f"[{self.number(1)}, 0.4]", "table": "[[0.4], [0.5]]"}
        other = self.pick(same) if same else blank.get(kind, "[np.ones(2)]")
        own = name.text if name else other
        vectors = [n.text for n in self.known("tensor") if len(n.shape) == 1]
        vectors = [v for v in vectors if not np.iscomplexobj(self.values[v])]
        numbers = [n.text for n in self.lists("list")]
        places = ["0", "-1", "1", "-2", f"len({own}) - 1", f"len({own}) // 2"]
        places += [f"{k} % len({own})" for k in self.ints(-99, 99)] * 2
        places += self.ints(0, 3) * 3
        fresh = {"t": "float", "u": "float", "i": "loop", "w": "row", "N": kind}
        new: dict[str, str] = {}

        def named_once(hole: str) -> str:
            if hole not in new:
                new[hole] = self.fresh(fresh[hole])
            return new[hole]

        names = [m.text for m in self.stored_into() if m.shape == item.shape]
        names = [m for m in names if self.values[m].dtype == item.dtype]
        names = [m for m in names if m in self.free]

        def item_text() -> str:
            return f"({self.like(item.shape, item.dtype, 1).text})"

        beds = [
            m.text
            for m in self.known("tensor")
            if m.shape[1:] == item.shape and m.shape and m.dtype == str(item.dtype)
        ]
        holes: dict[str, Callable[[], str]] = {
            "L": lambda: own if kind == "list" else self.pick(numbers or ["[0.4]"]),
            "K": lambda: other if kind == "list" else self.pick(numbers or ["[0.3]"]),
            "R": lambda: own,
            "S": lambda: other,
            "D": lambda: own,
            "F": lambda: f"({self.number(1)})",
            "v": lambda: self.pick(vectors or ["np.array([0.4, -0.6])"]),
            "n": lambda: self.pick(["2", "3", "1", "0", *self.ints(0, 3)]),
            "p": lambda: self.pick(places),
            "A": item_text,
            "T": lambda: self.pick(names or [""]),  # no program, then
            "B": lambda: self.pick(beds) if beds else f"[{item_text()}]",
        }
        return {**holes, **{h: lambda h=h: named_once(h) for h in fresh}}  # type: ignore[misc]

    def item_of(self, name: Name | None) -> Any:
        """An array like the items of a list of arrays; for a new one, like any."""
        if name is not None and name.kind == "rows":
            return np.zeros(name.shape, name.dtype)
        known = [n for n in self.known("tensor") if n.shape and n.dtype == "float64"]
        shape = self.pick(known).shape if known else (2,)
        return np.zeros(shape if np.prod(shape) < 13 else (2,))

    def about(self, kind: str, templates: Any, begins: bool = False) -> tuple[Any, Any]:
        """A template filled: of one list of a kind, or of none known yet."""
        known = self.lists_shared_first(kind)
        name = self.pick(known) if known else None
        if name is None and not begins:
            return None, None
        holes = self.list_holes(kind, name)
        template = self.pick(templates)
        if isinstance(template, str):
            return self.replaced(template, holes), name
        return [self.replaced(line, holes) for line in template], name

    # -------------------------------------------------------------- statements

    def block(self, most: int = 5) -> Lines:
        """A program of lists begins with some, and is longer than others."""
        lines: Lines = []
        if self.is_entry and self.depth == 0:
            self.budget += 4
            lines += [s for _ in range(2) for s in self.list_begun() or []]
        return lines + [s for s in super().block(most) if s != "pass" or not lines]

    def list_begun(self, kind: str = "") -> Lines | None:
        """A new list under a name: a new one, or one that holds such a list."""
        kind = kind or self.pick(("list", "list", "rows", "rows", "table"))
        if kind != "list" and not self.lists("list"):
            kind = "list"
        forms = {"list": BEGUN, "rows": BEGUN_OF_ARRAYS, "table": BEGUN_OF_LISTS}[kind]
        for _ in range(4):
            text, _ = self.about(kind, forms, begins=True)
            value = self.evaluate(text)
            if isinstance(value, list) and fits(value):
                lines = self.named_list(kind, text, value)
                if lines and self.maybe(4):
                    first, _, _ = lines[0].partition(" = ")
                    lines += self.named_list(kind, first, value) or []
                return lines
        return None

    def named_list(self, kind: str, text: str, value: list[Any]) -> Lines | None:
        item = value[0] if value else self.item_of(None)
        alike = all(np.shape(a) == np.shape(item) for a in value) or kind == "table"
        fitting = (kind == "rows") is isinstance(item, np.ndarray) or not value
        if not alike or not fitting:
            return None
        shape = np.shape(item) if kind == "rows" else ()
        held = [n.text for n in self.lists(kind) if n.shape == shape]
        held = [n for n in held if n in self.free and n != text]
        name = self.pick(held) if held and self.maybe(4) else self.fresh(kind)
        return [f"{self.keep(kind, name, value, np.asarray(item))} = {text}"]

    def list_changed(self) -> Lines | None:
        """Changes of a list, most often several."""
        kind = self.pick(("list", "list", "list", "rows", "rows", "table"))
        forms = {"list": CHANGES, "rows": CHANGES_OF_ARRAYS, "table": CHANGES_OF_LISTS}
        if not self.lists(kind):
            return self.list_begun(kind)
        lines: Lines = []
        for _ in range(4):
            text, name = self.about(kind, forms[kind])
            bound = text.startswith(f"{name.text} +=")
            if not bound or name.text in self.free:
                lines += self.done([text]) or []
            if len(lines) > self.below(4):
                break
        return lines or None

    def list_loop(self) -> Lines | None:
        """A loop that changes a list."""
        kind = self.pick(("list", "list", "list", "rows", "rows", "table"))
        forms = {"list": LOOPS, "rows": LOOPS_OF_ARRAYS, "table": LOOPS_OF_LISTS}
        if not self.fits(4):
            return None
        if not self.lists(kind):
            return self.list_begun(kind)
        for _ in range(4):
            lines, name = self.about(kind, forms[kind])
            if name.text not in self.free:
                return None
            if self.done(lines):
                return lines
        return None

    def popped(self) -> Lines | None:
        """A number taken from a list."""
        if not (known := self.lists("list")):
            return self.list_begun("list")
        xs = self.pick(known).text
        t = self.fresh("float")
        if lines := self.done(
            [f"{t} = {xs}.pop({self.pick(['', '', '0', '-1', '1'])})"]
        ):
            self.define(t, "float")
            return lines
        return None

    def list_alias(self) -> Lines | None:
        """Another name for a list, for one of two, or for one in a list."""
        kind = self.pick(("list", "list", "rows", "table"))
        if not (known := self.lists(kind)):
            return self.list_begun(kind)
        n = self.pick(known)
        if kind == "table":
            k = self.pick(("0", "-1"))
            row = self.evaluate(f"{n.text}[{k}]")
            return self.named_list("list", f"{n.text}[{k}]", row) if row else None
        same = [m for m in known if m.shape == n.shape and m.text != n.text]
        if same and self.maybe(4):
            text = f"{n.text} if {self.make('bool', 1)} else {self.pick(same).text}"
            return self.named_list(kind, text, self.values[n.text])
        return self.named_list(kind, n.text, self.values[n.text])

    def list_exchange(self) -> Lines | None:
        known = [n for n in self.lists("list") if n.text in self.free]
        if len(known) < 2:
            return None
        a, b = known[0].text, known[-1].text
        self.values[a], self.values[b] = self.values[b], self.values[a]
        return [f"{a}, {b} = {b}, {a}"]

    # ---------------------------------------------------------------- readings

    def list_number(self, depth: int) -> str | None:
        """A number that a list gives."""
        kind = self.pick(("list", "list", "rows", "table"))
        for _ in range(3):
            text, _ = self.about(kind, NUMBERS[kind])
            value = None if text is None else self.evaluate(text)
            if isinstance(value, int | float | np.floating) and abs(value) < 6:
                return f"float({text})" if self.is_single() else f"({text})"
        return None

    def leaf(self) -> Grown:
        if self.maybe(4):
            kind = self.pick(("list", "rows", "rows", "table"))
            text, _ = self.about(kind, ARRAYS[kind])
            if text is not None and (found := self.grown(text)):
                if found.value.dtype == np.float64 and np.ndim(found.value):
                    return found
        return super().leaf()

    def list_named_array(self) -> Lines | None:
        """An array of what a list holds, by name."""
        kind = self.pick(("list", "rows", "rows", "table"))
        text, _ = self.about(kind, ARRAYS[kind])
        value = None if text is None else self.evaluate(text)
        if not isinstance(value, np.ndarray) or not value.ndim:
            return None
        return self.named(text, value) if fits([value]) else None

    # --------------------------------------------------------------- functions

    def parameter(self) -> Name:
        if self.below(3):
            return super().parameter()
        kind = self.pick(("list", "list", "rows"))
        text = self.fresh(kind)
        if kind == "list":
            self.values[text] = [0.4, -0.8, 0.3]
            return Name(text, kind)
        item = self.item_of(None)
        self.values[text] = [item + 0.4, item - 0.6]
        return Name(text, kind, shape=item.shape, dtype="float64")

    def argument(self, p: Name, depth: int) -> str:
        if p.kind not in KINDS:
            return super().argument(p, depth)
        known = [n.text for n in self.lists(p.kind) if n.shape == p.shape]
        if known and self.below(6):
            return self.pick([*known, *known, f"{self.pick(known)}[:]"])
        if p.kind == "list":
            return f"[{self.number(1)}, 0.4]"
        return f"[{self.like(p.shape, np.dtype(p.dtype), 1).text}]"

    def kinds_of_results(self) -> list[tuple[str, ...]]:
        return [*super().kinds_of_results(), (), (), ("list",), ("list",)]

    def make(self, kind: str, depth: int = 2) -> str:
        if kind == "list":
            known = [n.text for n in self.lists("list")]
            return self.pick([*known, *known, f"[{self.number(1)}, {self.number(1)}]"])
        return super().make(kind, depth)

    def call_for_effect(self) -> Lines | None:
        known = [fn for fn in self.callables() if any(
            p.kind in (*KINDS, "tensor") for p in fn.params)]  # fmt: skip
        return self.done([self.call(self.pick(known))]) if known else None

    def list_of_call(self) -> Lines | None:
        """What a function returned, a list that it was given perhaps, by name."""
        known: list[Function] = [
            fn for fn in self.callables() if fn.results == ("list",)
        ]
        if not known:
            return None
        text = self.call(self.pick(known))
        value = self.evaluate(text)
        return self.named_list("list", text, value) if isinstance(value, list) else None

    # ---------------------------------------------------------------- program

    def arguments(self) -> dict[Name, Any]:
        given = super().arguments()
        for text in ("ps", "qs"):
            if self.maybe(3):
                value = self.reals(self.pick((3, 2, 1, 4)))
                self.values[text] = list(value)
                given[Name(text, "list")] = value
        return given

    def is_single(self) -> bool:
        """Whether numbers may be NumPy's of single precision."""
        return np.float32 in self.dtypes

    def free_arguments(self, args: dict[Name, Any]) -> set[str]:
        lists = {p.text for p in args if p.kind in KINDS}
        return super().free_arguments(args) | lists

    def result(self) -> str:
        texts = [super().result()]
        sums = {
            "list": ["0.5 * sum({})", "0.7 * sum({})"],
            "rows": ["0.3 * np.sum(sum({}))"],
        }
        sums["table"] = ["0.3 * sum({}[0])"]
        for kind in KINDS:
            for n in self.lists(kind):
                if self.below(4):
                    text = self.pick(sums[kind]).format(n.text)
                    texts.append(f"float({text})" if self.is_single() else text)
        return " + ".join(texts)


def fits(a: Any) -> bool:
    """Whether a list is short enough, and what it holds small enough."""
    if isinstance(a, list):
        return len(a) <= LONGEST and all(map(fits, a))
    is_number = isinstance(a, float | int | np.ndarray | np.floating)
    return is_number and bool(np.all(np.abs(a) <= LARGEST)) and np.size(a) < 40
