"""What programs are made of: templates with holes, names, functions, profiles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

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
    "tensor": "X Y Z W U V".split(),
    "row": "row line vec".split(),
    "list": "items terms stack queue".split(),
    "rows": "layers frames states".split(),
    "table": "table board".split(),
    "function": "inner part curve".split(),
}
SLICES = {  # text, length of that slice of n elements
    text: eval(f"lambda n: len(range(n)[{text}])")
    for text in "1: :-1 1:-1 ::-1 ::2 :2 -2: ::-2 1::2 2:1 :".split()
}
TRIPS = (2, 1, 0, 3, 1, 0, 5)  # of a loop
PASSES, DEPTH = 30, 3  # of all loops round a statement; of nesting


SINGLE = (np.dtype(np.float32), np.dtype(np.complex64))


def copies(args: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(a.copy() if isinstance(a, np.ndarray | list) else a for a in args)


def apart(args: Iterable[Any]) -> list[Any]:
    """The numbers and arrays of arguments, those in lists one by one."""
    return [part for a in args for part in (a if isinstance(a, list) else [a])]


def together(parts: Iterable[Any], like: Iterable[Any]) -> tuple[Any, ...]:
    """What `apart` took apart, put together as other arguments are."""
    rest = iter(parts)
    return tuple(
        [next(rest) for _ in a] if isinstance(a, list) else next(rest) for a in like
    )


@dataclass(frozen=True)
class Program:
    """A module's text and the arguments of its `f`.

    `options` are integers, bools and arrays of them, which are also the defaults of
    the parameters that take them; `args` are what `f` is differentiated by.
    """

    source: str
    args: tuple[Any, ...]
    options: tuple[Any, ...] = ()

    @property
    def given(self) -> tuple[Any, ...]:
        """All arguments, arrays copied: the program may store into them."""
        return copies((*self.args, *self.options))

    @property
    def is_single(self) -> bool:
        """Whether it computes in single precision."""
        return any(np.asarray(arg).dtype in SINGLE for arg in apart(self.args))

    def in_double(self) -> Program:
        """The same in double precision, in which differences say more."""
        parts = (
            np.asarray(arg, float) if np.asarray(arg).dtype in SINGLE else arg
            for arg in apart(self.args)
        )
        source = self.source.replace("np.float32", "np.float64")
        return Program(source, together(parts, self.args), self.options)

    def __repr__(self) -> str:
        return f"\n{self.source}\n\nf{(*self.args, *self.options)!r}\n"


@dataclass(frozen=True)
class Name:
    """A name, or an expression for an array; ints lie between `low` and `high`.

    An array has a shape, (-1,) where its length is not known but at most `high`; one of
    the programs of arrays has a dtype as well.
    """

    text: str
    kind: str
    low: int = 0
    high: int = 0
    shape: tuple[int, ...] = ()
    dtype: str = ""


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
        if (
            len(every) == len(scopes)
            and len({(n.kind, n.shape, n.dtype) for n in every}) == 1
        ):
            low, high = min(n.low for n in every), max(n.high for n in every)
            joined[text] = replace(name, low=low, high=high)
    return joined


STATEMENTS = """
    assign assign assign unpack pair augment augment branch branch check walrus leave
    counted counted over over until search best escape escape inner bind results_of
    start
"""
NUMBERS = """
    linear linear product quotient power modulo row row row builtin choice either
    truth whole element reduced called called
"""
