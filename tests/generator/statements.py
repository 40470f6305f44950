"""Statements: assignments, branches and loops."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from generator.expressions import Expressions
from generator.words import (
    DEPTH,
    STATEMENTS,
    TRIPS,
    WHILE,
    Lines,
    Name,
    Scope,
    indent,
    join,
    vector,
)


class Statements(Expressions):
    """Writes blocks of statements, and keeps what is known after each."""

    # ------------------------------------------------------------- statements

    def block(self, most: int = 5) -> Lines:
        """Statements that follow each other; what they define is known after them."""
        lines: Lines = []
        for _ in range(most):
            if self.budget <= 0 or self.below(6 if lines else 12) == 0:
                break
            self.budget -= 1
            write = getattr(self, self.word(STATEMENTS + self.profile.statements))
            lines += write() or self.assign()
        return lines or (self.assign() if self.below(4) else ["pass"])

    def arm(self, most: int = 2) -> tuple[Lines, Scope]:
        """A block of a branch, and what is known at its end."""
        before, self.depth = self.names, self.depth + 1
        lines, after = self.block(most), self.names
        self.names, self.depth = before, self.depth - 1
        return indent(lines), after

    def target(self, kind: str) -> str:
        """A name to assign to: one that holds such a value, or a new one."""
        held = [name.text for name in self.known(kind) if name.text in self.free]
        if held and kind in ("float", "complex") and self.below(3):
            return self.pick(held)
        return self.fresh(kind)

    def assign(self) -> Lines:
        kind = self.word(self.profile.kinds)
        if kind == "array":
            if not (u := self.array()) or len(u.shape) > 1:
                return self.assign() if self.maybe() else ["pass"]
            name = self.fresh("array")
            self.names = {**self.names, name: replace(u, text=name)}
            return [f"{name} = {u.text}"]
        text, name = self.make(kind), self.target(kind)
        if name in self.names and self.maybe():  # a recurrence
            text = f"0.6 * {name} - 0.4 * ({text})"
        return [f"{self.define(name, kind, low=-40, high=40)} = {text}"]

    def fresh_floats(self, n: int) -> Lines:
        return [self.define(self.fresh("float"), "float") for _ in range(n)]

    def unpack(self) -> Lines:
        """Tuples taken apart, names exchanged, one value for two names."""
        held = [name.text for name in self.known("float") if name.text in self.free]
        if len(held) > 1 and self.maybe():
            a, b = held[0], held[-1]
            return [f"{a}, {b} = {b}, {self.pick([a, f'0.5 * {a}'])}"]
        values = [self.number(1) for _ in range(3)]
        form = self.pick([
            "{}, {} = {}, {}",
            "{}, {}, {} = ({}, {}, {})",
            "{}, ({}, {}) = ({}, ({}, {}))",
            "{} = {} = {}",
        ])  # fmt: skip
        n = form.split(" = (")[0].count("{}") if "(" in form else 2
        return [form.format(*self.fresh_floats(n), *values)]

    def pair(self) -> Lines:
        """A tuple under a name."""
        text = f"({self.number(1)}, {self.number(1)})"
        return [f"{self.define(self.fresh('pair'), 'pair', fixed=True)} = {text}"]

    def start(self) -> Lines:
        """A name that loops may add to."""
        kinds = {"float": "sum", "int": "count", "complex": "total"}
        kind = kinds.get(self.word(self.profile.kinds), "sum")
        zeros = {"sum": ["0.0", "0.5", "0"], "count": ["0"], "total": ["0j", "0.0"]}
        text = self.pick(zeros[kind])
        return [f"{self.define(self.fresh(kind), kind, high=40)} = {text}"]

    def augment(self) -> Lines | None:
        """Augmented assignment of a number."""
        kinds = ("sum", "total", "count", "float")
        held = [n for kind in kinds for n in self.known(kind) if n.text in self.free]
        if not held:
            return None
        name, kind = (n := self.pick(held)).text, n.kind
        if kind == "count":
            return [f"{name} += 1"]
        if kind == "float" or self.maybe(5):
            ends = ["*= math.cos({F})", "/= 2.5 + math.sin({F})", "*= 0.5"]
            ends += ["%= 1.5"] * (kind == "float")
            return [f"{name} {self.fill(self.pick(ends), 1)}"]
        text = self.make("complex" if kind == "total" else "float")
        return [f"{name} {self.pick(['+=', '-='])} {text}"]

    def branch(self) -> Lines | None:
        if self.depth >= DEPTH:
            return None
        lines: Lines = []
        ends: list[Scope] = []
        for word in ("if", "elif", "elif"):
            test = self.make("bool")
            if word == "if" and self.maybe(5):
                text = self.number(1)
                test = f"({self.fresh_floats(1)[0]} := {text}) {self.pick('<>')} 0.4"
            body, end = self.arm()
            lines += [f"{word} {test}:", *body]
            ends.append(end)
            if self.maybe():
                break
        if self.below(3):
            body, end = self.arm()
            lines += ["else:", *body]
            ends.append(end)
        else:
            ends.append(self.names)
        self.names = join(ends)
        return lines

    def escape(self) -> Lines | None:
        """A loop's break, continue or return."""
        if self.exits is None or self.depth >= DEPTH + 1:
            return None
        test, before = self.make("bool", 1), self.names
        body, self.names = self.arm(1) if self.maybe(3) else ([], before)
        exit = self.pick(["break", "continue", f"return {self.returned()}"])
        if "return" not in exit:
            self.exits.append(self.names)
        self.names = before
        lines = [f"if {test}:", *body, f"    {exit}"]
        if self.maybe(5):
            body, self.names = self.arm(1)
            lines += ["else:", *body]
        return lines

    def leave(self) -> Lines:
        """An early return."""
        return [f"if {self.make('bool', 1)}:", f"    return {self.returned()}"]

    def returned(self) -> str:
        if self.is_entry:
            return f"{self.pick((0.9, 1.5, -0.8))} * ({self.number(2)})"
        return ", ".join(f"({self.make(kind)})" for kind in self.results)

    def check(self) -> Lines:
        """What holds, asserted, or raised for if it did not."""
        a = self.number(1)
        return self.pick([
            [f"assert abs({a}) < 1000.0"],
            [f"assert -1e6 < ({a}) < 1e6, f'too large: {{{self.atom()}}}'"],
            [f"if ({a}) > 1e3:", "    raise ValueError('too large')"],
        ])  # fmt: skip

    def walrus(self) -> Lines:
        text, other = self.number(1), self.atom()
        t, name = self.fresh_floats(2)
        return [f"{name} = 0.5 * (({t} := {text}) + math.sin({t}) * {other})"]

    # ------------------------------------------------------------------ loops

    def loop_over(
        self,
        header: str,
        targets: Iterable[Name],
        most: int,
        sure: bool,
        first: Callable[[], Lines] = list,
    ) -> Lines:
        """A loop of at most so many passes, of at least one if `sure`."""
        lines = self.start() if self.maybe() else []
        before, exits, passes = self.names, self.exits, self.passes
        self.names = {**before, **{target.text: target for target in targets}}
        self.exits, self.passes, self.depth = [], passes * max(most, 1), self.depth + 1
        body = [*first(), *self.block(4)]
        if self.maybe(3):
            body += self.escape() or []
        if lines or self.maybe(3):
            body += self.augment() or self.assign()
        ends = [self.names, *self.exits]
        self.exits, self.passes, self.depth = exits, passes, self.depth - 1
        self.names = join(ends) if sure else before
        lines += [header, *indent(body)]
        if self.maybe(4):
            self.names = before
            lines += ["else:", *self.arm()[0]]
        return lines

    def fits(self, passes: int) -> bool:
        return self.depth < DEPTH and 0 <= passes * self.passes <= self.most

    def counted(self) -> Lines | None:
        """A loop over a range."""
        i, n = self.fresh("loop"), self.pick(TRIPS)
        a, s = self.pick((0, 1, -2)), self.pick((1, 2, 3))
        every = [
            (f"range({n})", 0, 1, n),
            (f"range({a}, {a + n})", a, 1, n),
            (f"range({a}, {a + s * n}, {s})", a, s, n),
            (f"range({a}, {a + s * n}, {s})", a, s, n),
            (f"range({a}, {a - s * n}, {-s})", a, -s, n),
            (f"reversed(range({n}))", 0, 1, n),
        ]
        for u in self.known("array"):
            m = u.shape[0]
            every.append((f"range(len({u.text}))", 0, 1, m))
            every.append((f"range(len({u.text}) - 1, -1, -1)", m - 1, -1, m))
        for k in self.ints(0, 5):
            every.append((f"range({k})", 0, 1, self.names[k].high))
        text, a, s, n = self.pick(every)
        if not self.fits(n):
            return None
        last = a + s * max(n - 1, 0)
        target = Name(i, "int", min(a, last), max(a, last))
        bound = self.names.get(text.removeprefix("range(")[:-1])
        sure = n > 0 and (not bound or bound.low > 0)
        return self.loop_over(f"for {i} in {text}:", [target], n, sure)

    def over(self) -> Lines | None:
        """A loop over arrays: plain, reversed, numbered or zipped."""
        u, other = self.array(1, (1, 2)), self.array()
        if not u or not self.fits(u.high):
            return None
        i, start = self.fresh("loop"), self.pick((0, 1, 3))
        if len(u.shape) > 1:
            v = vector(self.fresh("array"), u.shape[1])
        else:
            v = Name(self.fresh("float"), "float")
        number = Name(i, "int", start, start + max(u.high - 1, 0))
        count = f", {'start=' if start > 1 else ''}{start}" if start else ""
        every = [
            (f"{v.text} in {u.text}", [v]),
            (f"{i}, {v.text} in enumerate({u.text}{count})", [v, number]),
            (f"{v.text} in reversed({u.text})", [v]),
            (f"{v.text}, {i} in zip({u.text}, range({start}, 9))", [v, number]),
        ]
        sure = u.shape[0] > 0
        if other:
            w = Name(self.fresh("float"), "float")
            both = f"zip({u.text}, {other.text})"
            every.append((f"{v.text}, {w.text} in {both}", [v, w]))
            header = f"{i}, ({v.text}, {w.text}) in enumerate({both}{count})"
            every.append((header, [v, w, number]))
        header, targets = self.pick(every)
        sure = sure and not (other and "zip" in header and other.shape[0] <= 0)
        return self.loop_over(f"for {header}:", targets, u.high, sure)

    def until(self) -> Lines | None:
        """A while loop that is sure to end."""
        before, test, first = self.pick(WHILE)
        n, u = self.pick(TRIPS), self.array()
        if test == "True":
            n = max(n, 1)
        if "{u}" in before:
            n = u.high if u else 99
        elif "{t}" in before:
            n = 3
        if not self.fits(n):
            return None
        kind = {"{n}": "int", "{t}": "float", "{u}": "array"}[before[:3]]
        name = self.fresh(kind)
        shown = {"most": str(n), before[1]: name}
        if u:
            shown["A"] = u.text

        def show(template: str) -> str:
            for hole, text in shown.items():
                template = template.replace(f"{{{hole}}}", text)
            return self.fill(template, 1)

        lines = [show(before)]
        # Its own loop alone changes the name.
        if kind == "array":
            self.names = {**self.names, name: Name(name, kind, 0, n, (-1,))}
        else:
            self.define(name, kind, fixed=True, high=n)

        def start() -> Lines:
            body = [show(first)]
            if kind == "array":
                head = self.define(self.fresh("float"), "float")
                body = [f"{head} = {name}[{self.pick([0, -1])}]", *body]
            if test == "True":
                early = self.pick(["", f" or {self.make('bool', 0)}"])
                body += [*self.assign(), f"if {name} >= {n}{early}:", "    break"]
                assert self.exits is not None
                self.exits.append(self.names)
            return body

        header, sure = f"while {show(test)}:", test == "True"
        return lines + self.loop_over(header, [], n, sure, start)

    def search(self) -> Lines | None:
        """A loop that finds something, or its else: defined on both ways out."""
        u, names = self.array(), self.names
        if not u or not self.fits(u.high):
            return None
        v, other = self.fresh("float"), self.number(1)
        self.define(v, "float", fixed=True)
        test = self.pick([f"{v} > 0.6", f"{v} < -0.3", self.make("bool", 0)])
        value, self.names = self.number(1), names
        (found,) = self.fresh_floats(1)
        return [
            f"for {v} in {u.text}:",
            f"    if {test}:",
            *indent(indent([f"{found} = {value}", "break"])),
            "else:",
            f"    {found} = {other}",
        ]

    def best(self) -> Lines | None:
        """The best of an array, None before the first."""
        arrays = [u for u in self.known("array") if u.shape > (0,) and not u.shape[1:]]
        if not arrays or not self.fits(5):
            return None
        v, (best,) = self.fresh("float"), self.fresh_floats(1)
        lines = [f"{best} = None", f"for {v} in {self.pick(arrays).text}:"]
        test = f"{best} is None or {v} {self.pick('<>')} {best}"
        return [*lines, f"    if {test}:", f"        {best} = {v}"]
