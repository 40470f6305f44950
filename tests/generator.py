"""Hypothesis writes whole programs: a module with a function `f`, and its arguments.

    >>> program = hypothesis.find(programs("loops"), lambda p: "while" in p.source)
    >>> print(program.source)

What is drawn is the program itself, one small choice at a time and the simplest first,
so hypothesis shrinks a failing program to the few lines that matter.

Programs are numerically tame, because their derivatives are held against differences.
A name keeps its kind for life: "float" and "complex" lie within a radius of 3, "sum"
and "total" are what loops add to. Each template below maps such values to such a value,
hardly enlarging differences, and moves the argument of a function into its domain.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, TypeVar

import numpy as np
from hypothesis import strategies as st

T = TypeVar("T")
Scope = dict[str, "Name"]
Lines = list[str]


def forms(text: str) -> Lines:
    return [form.strip() for form in text.replace("\n", " ").split(";")]


# Holes: {F} float, {I} int, {B} condition, {C} complex; {f} {k} {flag} a known name of
# a float, int, bool. Here with the functions that fit, as "math's name:NumPy's name".
ROW_TEMPLATES = {
    "{row}({F})": "sin cos tanh atan:arctan asinh:arcsinh erf: erfc: radians :deg2rad "
    "fabs :abs :absolute :negative :positive :sign floor ceil trunc :rint",
    "{row}({m}.sin({F}))": "tan sinh cosh exp exp2 expm1",
    "{row}(0.9 * {m}.sin({F}))": "asin:arcsin acos:arccos atanh:arctanh",
    "{row}(2.5 + {m}.sin({F}))": "acosh:arccosh log log2 log10 log1p sqrt cbrt lgamma: "
    "gamma: :reciprocal",
    "0.05 * {row}({F})": "degrees :rad2deg",
    "0.3 * {row}({F})": ":square",
    "{row}({F}, 2.5 + {m}.sin({F}))": "atan2:arctan2 fmod remainder :mod :floor_divide "
    ":divide :true_divide",
    "0.7 * {row}({F}, 2.5 + {m}.sin({F}))": "hypot",
    "0.8 * {row}(2.5 + {m}.sin({F}), {m}.cos({F}))": "pow:power :float_power",
    "{row}({F}, {F})": "copysign :maximum :minimum :fmax :fmin :heaviside",
    "0.5 * {row}({F}, {F})": ":add :subtract :logaddexp :logaddexp2",
    "0.3 * {row}({F}, {F})": ":multiply",
}
ROWS: dict[str, dict[str, str]] = {"math": {}, "np": {}}  # by module: name, template
for template, names in ROW_TEMPLATES.items():
    for both in names.split():
        mine, _, numpys = both.partition(":") if ":" in both else (both, "", both)
        for module, name in (("math", mine), ("np", numpys)):
            if name:
                filled = template.replace("{row}", f"{module}.{name}")
                ROWS[module][f"{module}.{name}"] = filled.replace("{m}", module)

TEMPLATES = {
    "linear": forms("0.5 * ({F} + {F}); {F} - 0.5 * {F}; 0.6 * {F} - 0.4 * {F}; -{F}"),
    "product": forms("0.3 * {F} * {F}; 0.3 * {F} ** 2; {F} * math.sin({F})"),
    "quotient": forms("{F} / (2.5 + math.sin({F})); 1.5 / (1.0 + {F} ** 2); {F} / 2.0"),
    "power": forms("""0.1 * {F} ** 3; math.cos({F}) ** ({I} % 4);
        0.8 * (2.5 + math.sin({F})) ** math.cos({F})"""),
    "modulo": forms("{F} % 1.5; {F} // 1.5; {F} % (2.5 + math.sin({F}))"),
    "builtin": forms("abs({F}); max({F}, {F}); min({F}, {F}); min({F}, {F}, {F})"),
    "choice": forms("""{F} if {B} else {F}; math.sqrt({f}) if {f} > 0.3 else {F};
        {F} if {f} <= 0.3 else np.log({f})"""),
    "either": forms("{F} or {F}; {F} and {F}"),
    "truth": forms("({B}) * {F}; {F} * ({B})"),
    "whole": forms("""0.05 * {I}; {F} / (1 + {I} ** 2); float({I} % 3);
        0.4 * ({I} % 4) * {F}"""),
    "part": forms("""{C}.real; {C}.imag; np.real({C}); np.imag({C});
        0.3 * abs(6.0 + {C}); 0.3 * np.abs(6.0 + {C}); np.angle(6.0 + {C});
        0.03 * abs(6.0 + {C}) ** 2; 0.3 * ({C} * {C}.conjugate()).real"""),
}
COMPLEX = forms("""
    0.5 * ({C} + {C}); {C} - 0.5 * {C}; 0.3 * {C} * {C}; 0.3 * {C} ** 2;
    {C} * math.sin({F}); 0.3 * {F} * {C}; {C} / (6.0 + {C}); {C} / 2.0;
    complex(0.7 * {F}, 0.7 * {F}); 0.7 * {F} + 0.7j * {F}; {C}.conjugate();
    {C} if {B} else {C}.conjugate(); np.exp(0.3 * {C}); np.sin(0.3 * {C});
    np.cos(0.3 * {C}); np.tanh(0.4 * {C}); np.sqrt(6.0 + {C}); np.log(6.0 + {C});
    0.3 * np.square({C}); np.reciprocal(6.0 + {C}); np.conj({C}); np.conjugate({C})
""")
CONDITIONS = forms("""
    {F} < 0.3; {F} > -0.2; {F} >= {F}; -0.4 < {F} <= 1.1; {F} <= {F} < 0.9;
    {k} % 2 == 0; {k} != 1; 1 <= {I} < 3; {k}; {flag}; {flag}
""")
CONNECTED = forms("""
    not ({B}); ({B}) and ({B}); ({B}) or ({B});
    {f} > 0.2 and math.log({f}) < {F}; {f} <= 0.2 or math.sqrt({f}) > {F}
""")
INTEGERS = forms("""
    {I} + 1; 2 - {I}; 2 * {k}; {I} % 3; {I} // 2; -{k}; max({I}, 1);
    {I} if {B} else 3
""")
# A while loop: what stands before it, its test, the first line of its body.
WHILE = [
    ("{n} = 0", "{n} < {most}", "{n} += 1"),
    ("{n} = 0", "{n} < {most} and {B}", "{n} += 1"),
    ("{n} = 0", "({B}) and {n} < {most}", "{n} += 1"),
    ("{n} = 0", "not {n} >= {most}", "{n} += 1"),
    ("{n} = {most}", "{n}", "{n} -= 1"),
    ("{n} = {most}", "{n} > 0 and {B}", "{n} -= 1"),
    ("{n} = 0", "True", "{n} += 1"),
    ("{n} = 0", "True", "{n} += 1"),
    ("{t} = {F}", "{t} > 0.4", "{t} *= 0.5"),
    ("{t} = {F}", "{t} > 0.4", "{t} = 0.6 * {t} - 0.1"),
    ("{t} = {F}", "abs({t}) > 0.9", "{t} = -0.4 * {t}"),
    ("{t} = {F}", "not {t} < 0.4", "{t} /= 2.0"),
    ("{u} = {A}", "len({u}) > 0", "{u} = {u}[1:]"),
    ("{u} = {A}", "{u}.shape[0]", "{u} = {u}[:-1]"),
]
FRESH = {
    "float": "a b c d p q r s t h x_bar y_dot a_tape f_grad".split(),
    "complex": "z w v z_bar".split(),
    "int": "k m l step".split(),
    "bool": "flag ok".split(),
    "array": "u e ys us".split(),
    "pair": "pair both".split(),
    "sum": "total area count_dot".split(),
    "total": "wave field".split(),
    "count": "count hits".split(),
    "loop": "i j o".split(),
    "function": "inner part curve".split(),
}
SLICES = {  # text, length of that slice of n elements
    text: eval(f"lambda n: len(range(n)[{text}])")
    for text in "1: :-1 1:-1 ::-1 ::2 :2 -2: ::-2 1::2 2:1 :".split()
}
TRIPS = (2, 1, 0, 3, 1, 0, 5)  # of a loop
PASSES, DEPTH = 30, 3  # of all loops round a statement; of nesting


@dataclass(frozen=True)
class Program:
    """A module's text and the arguments of its `f`.

    `options` are integers and bools, which are also the defaults of the parameters
    that take them; `args` are what `f` is differentiated by.
    """

    source: str
    args: tuple[Any, ...]
    options: tuple[int, ...] = ()

    def __repr__(self) -> str:
        return f"\n{self.source}\n\nf{(*self.args, *self.options)!r}\n"


@dataclass(frozen=True)
class Name:
    """A name, or an expression for an array; ints lie between `low` and `high`.

    An array has a shape, (-1,) where its length is not known but at most `high`.
    """

    text: str
    kind: str
    low: int = 0
    high: int = 0
    shape: tuple[int, ...] = ()


def vector(text: str, length: int) -> Name:
    return Name(text, "array", 0, length, (length,))


@dataclass(frozen=True)
class Function:
    """What later code may call: parameters, defaults of the last, kinds of results."""

    name: str
    params: tuple[Name, ...]
    results: tuple[str, ...] = ("float",)
    defaults: int = 0
    keyword_only: bool = False
    star: bool = False

    @property
    def is_unary(self) -> bool:
        """Whether it may stand for a function of one number."""
        plain = self.results == ("float",) and not (self.star or self.keyword_only)
        return plain and [p.kind for p in self.params] == ["float"]


@dataclass(frozen=True)
class Profile:
    """What the programs of a profile are made of, each as often as it stands there."""

    statements: str  # more of the statements and numbers that all have
    numbers: str
    kinds: str  # of what is assigned
    args: str  # kinds of arguments, of which a few are drawn
    helpers: int  # at most


def indent(lines: Iterable[str]) -> Lines:
    return ["    " + line for line in lines]


def join(scopes: Sequence[Scope]) -> Scope:
    """The names that all paths define, as wide as any path makes them."""
    first, *others = scopes
    joined = {}
    for text, name in first.items():
        every = [name, *(scope[text] for scope in others if text in scope)]
        if len(every) == len(scopes) and len({(n.kind, n.shape) for n in every}) == 1:
            low, high = min(n.low for n in every), max(n.high for n in every)
            joined[text] = replace(name, low=low, high=high)
    return joined


@dataclass
class Writer:
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

    # -------------------------------------------------------------- functions

    def parameter(self) -> Name:
        kinds = {"array", "complex"}.intersection(self.profile.kinds.split())
        kind = self.pick(["float", "float", "float", "int", "function", *sorted(kinds)])
        name = self.fresh(kind)
        if kind == "function":
            self.functions[name] = Function(name, (Name("t", "float"),))
        if kind == "array":
            lengths = [u.shape[0] for u in self.known("array") if len(u.shape) == 1]
            return vector(name, self.pick([n for n in lengths if n >= 0] or [2]))
        return Name(name, kind, 0, 3)

    def function(self, name: str, size: int) -> Lines:
        """A function, known after it, that sees what is known here."""
        results = [("float",), ("float",), ("float", "float"), ("float", "int")]
        results += [("complex",)] * 2 * ("complex" in self.profile.kinds)
        params = [Name(self.fresh("float"), "float")][self.below(4) // 3 :]
        params += [self.parameter() for _ in range(self.below(3))]
        numbers = [p.kind in ("float", "int") for p in params]
        defaults = self.below(len(params) + 1)
        if not all(numbers[len(params) - defaults :]):
            defaults = 0
        keyword_only = bool(defaults) and self.maybe(3)
        star = not defaults and self.maybe(4)
        signature = [p.text for p in params]
        for at in range(len(params) - defaults, len(params)):
            default = 2 if params[at].kind == "int" else self.pick((0.5, -1.3))
            signature[at] += f"={default}"
        if keyword_only:
            signature.insert(len(params) - defaults, "*")
        signature += ["*rest"] * star
        extra = (defaults, keyword_only, star)
        fn = Function(name, tuple(params), self.pick(results), *extra)
        with self.inside(fn, size):
            body = self.rest() if star else []
            body += [line for line in self.block(size) if line != "pass"]
            body.append(f"return {self.returned()}")
        self.know(fn)
        return [f"def {name}({', '.join(signature)}):", *indent(body)]

    def know(self, fn: Function) -> None:
        self.functions[fn.name] = fn
        self.define(fn.name, "function", fixed=True)

    @contextmanager
    def inside(self, fn: Function, size: int) -> Iterator[None]:
        """Write the body of a function here."""
        state = dict(vars(self))
        self.names = {**self.names, **{p.text: p for p in fn.params}}
        self.free = {p.text for p in fn.params if p.kind in ("float", "complex")}
        self.results, self.is_entry, self.exits = fn.results, False, None
        self.depth, self.passes, self.most, self.budget = 1, 1, 6, size
        yield
        vars(self).update(state, budget=state["budget"] - 1)

    def rest(self) -> Lines:
        """What a function does with its two further arguments."""
        if self.maybe():
            s, v = self.fresh_floats(1)[0], self.fresh("float")
            return [f"{s} = 0.5", f"for {v} in rest:", f"    {s} = 0.4 * ({s} - {v})"]
        return [f"{', '.join(self.fresh_floats(2))} = rest"]

    def inner(self) -> Lines | None:
        """A nested function, which sees the names around it."""
        return self.function(self.fresh("function"), 2) if self.depth < DEPTH else None

    def bind(self) -> Lines:
        """A function under another name, most often a lambda."""
        text, name = self.function_value(2), self.fresh("function")
        self.know(Function(name, (Name("t", "float"),)))
        return [f"{name} = {text}"]

    def function_value(self, depth: int) -> str:
        """A function of one number."""
        options = [fn.name for fn in self.callables() if fn.is_unary]
        options += ["math.tanh", "np.arctan", "np.cos"][: 1 + self.below(3)]
        if self.maybe(3):
            return self.pick(options)
        t = self.fresh("float")
        with self.inside(Function("", (Name(t, "float"),)), 0):
            text = self.number(depth)
        if self.maybe(3):
            return f"(lambda {t}, by=0.6: by * ({text}))"
        return f"(lambda {t}: {text})"

    def argument(self, p: Name, depth: int) -> str:
        """A value for a parameter."""
        match p.kind:
            case "function":
                return self.function_value(depth)
            case "int":
                wraps = [f"{k} % {p.high + 1}" for k in self.ints(-99, 99)]
                fits = self.ints(0, p.high)
                return self.pick(["1", "0", str(p.high), *fits, *fits, *wraps])
            case "array":
                u = self.array(depth, length=p.shape[0])
                spare = [0.4, -0.8, 0.3, 1.2][: p.high]
                return u.text if u and u.high < 5 else f"np.array({spare})"
        return self.make(p.kind, depth)

    def call(self, fn: Function, depth: int = 1) -> str:
        """A call by position, keyword, default and star."""
        texts: Lines = []
        pairs = [pair.text for pair in self.known("pair")]
        pairs = pairs or [f"({self.atom()}, 0.5)"]
        params, required = list(fn.params), len(fn.params) - fn.defaults
        floats = [p.kind for p in params[:2]] == ["float", "float"]
        if floats and required > 1 and self.maybe(3):
            texts.append(f"*{self.pick(pairs)}")
            params, required = params[2:], required - 2
        keyword = False
        for at, p in enumerate(params):
            if at >= required and self.maybe():
                keyword = True
                continue
            keyword = keyword or (at >= required and fn.keyword_only)
            keyword = keyword or (p.text != "t" and not fn.star and self.maybe(4))
            value = self.argument(p, depth - 1)
            texts.append(f"{p.text}={value}" if keyword else value)
        if fn.star:
            texts.append(self.pick([f"*{self.pick(pairs)}", f"{self.atom()}, 0.7"]))
        return f"{fn.name}({', '.join(texts)})"

    def results_of(self) -> Lines | None:
        """A call whose results are taken apart, or kept in a pair."""
        known = [fn for fn in self.callables() if len(fn.results) > 1]
        if not known:
            return None
        fn = self.pick(known)
        call, kinds = self.call(fn), fn.results
        if kinds == ("float", "float") and self.maybe(3):
            name = self.define(self.fresh("pair"), "pair", fixed=True)
            return [f"{name} = {call}"]
        names = [self.define(self.fresh(k), k, low=-40, high=40) for k in kinds]
        return [f"{', '.join(names)} = {call}"]

    def recursive(self, name: str) -> Lines:
        """A function that calls itself, as deep as a number or an array tells it to."""
        by_array, a = self.maybe(3), Name(self.fresh("float"), "float")
        if by_array:
            n = Name(self.fresh("array"), "array", 0, 4, (-1,))
            test, shorter, item = f"len({n.text}) == 0", f"{n.text}[1:]", f"{n.text}[0]"
        else:
            n = Name(self.fresh("int"), "int", 0, 3)
            test = f"{n.text} {self.pick(['<= 0', '== 0', '< 1'])}"
            shorter, item = f"{n.text} - 1", f"0.3 * {n.text}"
        fn = Function(name, (a, n))
        with self.inside(fn, 2):
            base, self.passes = self.returned(), 4
            lines = [line for line in self.block(2) if line != "pass"]
            again = [
                f"0.4 * {name}({self.pick([self.number(1), item])}, {shorter})"
                for _ in range(1 if by_array else self.pick((1, 1, 2)))
            ]
            end = f"return {' - '.join(again)} + 0.5 * ({self.number(1)})"
        body = [f"if {test}:", f"    return {base}", *lines, end]
        self.know(fn)
        return [f"def {name}({a.text}, {n.text}):", *indent(body)]

    # ---------------------------------------------------------------- program

    def reals(self, n: int) -> list[float]:
        """Numbers that no constant of a condition equals."""
        sizes = [round(0.031 + 0.173 * self.below(15), 3) for _ in range(n)]
        return [size * self.pick((1, -1)) for size in sizes]

    def arguments(self) -> dict[Name, Any]:
        """The parameters of `f` and their values."""
        given: dict[Name, Any] = {}
        names = {"float": ["x", "y"], "complex": ["zeta"], "array": ["xs", "ws"]}
        names["matrix"] = ["grid"]
        for at in range(4):
            if at and not self.below(4):
                break
            kind = self.word(self.profile.args)
            if not names[kind]:
                continue
            name = names[kind].pop(0)
            if kind == "array":
                n = self.pick((2, 3, 1, 0, 4))
                given[vector(name, n)] = np.array(self.reals(n))
            elif kind == "matrix":
                n, m = self.pick(((2, 2), (2, 3), (3, 1), (1, 2)))
                value = np.array(self.reals(n * m)).reshape(n, m)
                given[replace(vector(name, n), shape=(n, m))] = value
            else:
                parts = self.reals(2 if kind == "complex" else 1)
                given[Name(name, kind)] = complex(*parts) if parts[1:] else parts[0]
        return given

    def options(self) -> dict[Name, int]:
        """Parameters that are integers or bools, and their values."""
        given: dict[Name, int] = {}
        for name in ("n", "size"):
            if self.maybe(3):
                k = self.pick((1, 0, 2, 3))
                given[Name(name, "int", k, k)] = k
        if self.maybe(4):
            given[Name("on", "bool")] = self.maybe()
        return given

    def captured(self) -> Lines:
        """Numbers and an array of the module."""
        lines = []
        for name, kind, text in (("SCALE", "float", "0.7"), ("ORDER", "int", "2")):
            if self.maybe(3):
                self.define(name, kind, fixed=True, low=2, high=2)
                lines.append(f"{name} = {text}")
        if "array" in self.profile.kinds and self.maybe(3):
            values = self.reals(self.pick((2, 3)))
            self.names = {**self.names, "WEIGHTS": vector("WEIGHTS", len(values))}
            lines.append(f"WEIGHTS = np.array({values})")
        return lines

    def program(self) -> Program:
        args, options = self.arguments(), self.options()
        params = [*args, *options]
        self.used = {p.text for p in params}
        lines = self.captured()
        helpers = self.below(self.profile.helpers + 1)
        for name in ("helper", "blend", "again")[:helpers]:
            lines += self.recursive(name) if self.maybe(3) else self.function(name, 3)
        self.names = {**self.names, **{p.text: p for p in params}}
        self.free = {p.text for p in args if p.kind in ("float", "complex")}
        self.is_entry = True
        body = self.block(8)
        body += (self.results_of() or []) if self.maybe() else []
        body.append(f"return {self.result()}")
        signature = [p.text for p in args]
        signature += [f"{p.text}={value!r}" for p, value in options.items()]
        lines += [f"def f({', '.join(signature)}):", *indent(body)]
        text = "\n".join(lines)
        for module, short in (("math", "math"), ("numpy as np", "np")):
            if f"{short}." in text:
                text = f"import {module}\n{text}"
        source = ast.unparse(ast.parse(text))
        return Program(source, tuple(args.values()), tuple(options.values()))

    def result(self) -> str:
        """A real number made of most of what is known."""
        texts = [self.returned()]
        kinds = {
            "float": ["0.5 * {}", "1.5 * {}", "-0.8 * {}"],
            "sum": ["0.7 * {}"],
            "complex": ["0.3 * {}.real", "0.3 * {}.imag", "0.1 * abs(6.0 + {}) ** 2"],
            "total": ["0.3 * {}.real", "0.3 * {}.imag", "0.1 * (0.1 * {}).imag"],
            "array": ["0.5 * np.sum({})"],
            "int": ["0.1 * {}"],
            "count": ["0.1 * {}"],
        }
        for name in self.names.values():
            if name.text.isupper() or not self.below(4):
                continue
            if name.kind in kinds:
                texts.append(self.pick(kinds[name.kind]).format(name.text))
        for fn in self.callables():
            if fn.results == ("float",) and self.below(3):
                texts.append(f"0.5 * {self.call(fn)}")
        return " + ".join(texts)


STATEMENTS = """
    assign assign assign unpack pair augment augment branch branch check walrus leave
    counted counted over over until search best escape escape inner bind results_of
    start
"""
NUMBERS = """
    linear linear product quotient power modulo row row row builtin choice either
    truth whole element reduced called called
"""
PROFILES = {
    "branches": Profile(
        statements="branch branch branch leave",
        numbers="choice either truth",
        kinds="float int bool",
        args="float",
        helpers=1,
    ),
    "loops": Profile(
        statements="counted counted until until over augment escape escape escape",
        numbers="whole element",
        kinds="float float int array",
        args="float array",
        helpers=1,
    ),
    "functions": Profile(
        statements="inner bind results_of pair",
        numbers="called called",
        kinds="float float bool array",
        args="float",
        helpers=3,
    ),
    "arrays": Profile(
        statements="over over counted",
        numbers="element element reduced reduced",
        kinds="float array array int",
        args="array array matrix float",
        helpers=2,
    ),
    "complex": Profile(
        statements="assign augment",
        numbers="part part part",
        kinds="complex complex float",
        args="complex float",
        helpers=2,
    ),
}


def programs(name: str) -> st.SearchStrategy[Program]:
    """The programs of a profile.

    They are drawn through `randoms`, because of what it leaves out: hypothesis follows
    each example with five in which it repeats a part that a strategy has drawn, and
    so would try few programs many times.
    """
    return st.randoms().map(lambda random: Writer(random, PROFILES[name]).program())
