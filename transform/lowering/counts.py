"""Counts: what a function in loops does, as formulas in the sizes of its arguments.

    for i in range(len(A)):                     flops        2 * len(A) * A.shape[1]
        for j in range(A.shape[1]):     ->      bytes read   16 * len(A) * A.shape[1]
            y += A[i, j] * x[j]

A formula is a sum of products of linear forms: how often each loop runs.  What a branch
does counts as if the longer way were taken; what only the run knows has a name of its
own, and no value.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from gradwright.transform.core import (
    Alloc,
    At,
    Buffer,
    Call,
    Cell,
    For,
    Function,
    If,
    Let,
    Library,
    Load,
    Resize,
    Statement,
    Store,
    Value,
    While,
    type_of,
    walk,
)
from gradwright.transform.indices import Dim, Linear, symbol
from gradwright.transform.primitives.structural import PRODUCT
from gradwright.transform.types import Type

Factor = tuple[Linear, bool]  # a form, and whether it counts, and is never below zero
Evaluate = Callable[[Any], int | None]
OF_COMPLEX = {"+": 2, "-": 2, "*": 6, "/": 11}
FREE = ("structural", "constant")
COUNTED = ("flops", "transcendentals", "bytes read", "bytes written", "library calls")


@dataclass(frozen=True, eq=False)
class Unknown:
    """An int that a formula names: from other ints, or known to the run only."""

    text: str
    value: Callable[[Evaluate], int | None] = lambda _: None


class Formula:
    """A sum of products: by its factors, the coefficient of each."""

    def __init__(self, terms: dict[tuple[Factor, ...], Fraction] | None = None) -> None:
        self.terms = {f: c for f, c in (terms or {}).items() if c}

    def __add__(self, other: Formula) -> Formula:
        terms = dict(self.terms)
        for f, c in other.terms.items():
            terms[f] = terms.get(f, Fraction(0)) + c
        return Formula(terms)

    def times(self, *factors: Factor, coefficient: Fraction = Fraction(1)) -> Formula:
        """The same, multiplied by forms and a number."""
        found: dict[tuple[Factor, ...], Fraction] = {}
        for f, c in self.terms.items():
            key, c = _product((*f, *factors), c * coefficient)
            found[key] = found.get(key, Fraction(0)) + c
        return Formula(found)

    def value(self, of: Evaluate) -> int | None:
        """The number that it is; None where a symbol in it has no value."""
        total = Fraction(0)
        for f, c in self.terms.items():
            for form, counts in f:
                found = value_of(form, of)
                if found is None:
                    return None
                c *= max(found, 0) if counts else found
            total += c
        return int(total)

    def text(self, name: Callable[[Any], str]) -> str:
        """The formula, its symbols by their names."""
        parts = sorted(
            (_term(f, c, name) for f, c in self.terms.items()),
            key=lambda t: (-t.count("*"), t),
        )
        return " + ".join(parts).replace("+ -", "- ") or "0"


ZERO = Formula()


def number(n: int) -> Formula:
    """A formula that is a number."""
    return Formula({(): Fraction(n)})


def _product(
    factors: tuple[Factor, ...], c: Fraction
) -> tuple[tuple[Factor, ...], Fraction]:
    """Factors in their order, numbers among them taken out."""
    kept = []
    for form, counts in factors:
        known = form.constant
        if known is None:
            kept.append((form, counts))
        else:
            c *= max(known, 0) if counts else known
    return tuple(sorted(kept, key=lambda f: (hash(f[0]), f[1]))), c


def value_of(form: Linear, of: Evaluate) -> int | None:
    """A linear form where its symbols have values."""
    total = form.offset
    for s, c in form.terms.items():
        found = s.value(of) if isinstance(s, Unknown) else of(s)
        if found is None:
            return None
        total += c * found
    return total


def _term(factors: tuple[Factor, ...], c: Fraction, name: Any) -> str:
    texts = sorted(form_text(form, name) for form, _ in factors)
    powers = {t: texts.count(t) for t in texts}
    parts = [t if n == 1 else f"{t}**{n}" for t, n in powers.items()]
    if c.numerator != 1 or not parts:
        parts.insert(0, str(c.numerator))
    return " * ".join(parts) + (f" / {c.denominator}" if c.denominator != 1 else "")


def form_text(form: Linear, name: Callable[[Any], str]) -> str:
    """A linear form as Python; in parentheses where it is a sum."""
    parts = []
    for s, c in form.terms.items():
        text = s.text if isinstance(s, Unknown) else name(s)
        parts.append(text if c == 1 else f"{c} * {text}")
    if form.offset or not parts:
        parts.append(str(form.offset))
    text = " + ".join(parts).replace("+ -1 * ", "- ").replace("+ -", "- ")
    return f"({text})" if len(parts) > 1 else text


# ---- counting ----------------------------------------------------------------------

Counts = dict[str, Formula]


def add(a: Counts, b: Counts) -> Counts:
    """Both, one behind the other."""
    return {k: a.get(k, ZERO) + b.get(k, ZERO) for k in {**a, **b}}


def larger(a: Counts, b: Counts) -> Counts:
    """The larger one of two ways; their sum where that cannot be told."""
    return {k: _larger(a.get(k, ZERO), b.get(k, ZERO)) for k in {**a, **b}}


def _larger(a: Formula, b: Formula) -> Formula:
    for p, q in ((a, b), (b, a)):
        if all(p.terms.get(f, 0) >= c for f, c in q.terms.items()):
            return p
    return a + b


class Counting:
    """What is counted of one function."""

    def __init__(self, function: Function, name: Callable[[Any], str]) -> None:
        self.function, self.name = function, name
        self.made: dict[Any, Let] = {
            s.out: s for s in walk(function.body) if isinstance(s, Let)
        }
        self.given: set[Any] = set(function.params)
        self.symbols: set[Any] = set()  # of the loops round this place
        self.unknown: dict[Any, Unknown] = {}
        self.lengths: dict[Any, Any] = {
            s.place: s.place.like
            for s in walk(function.body)
            if isinstance(s, Alloc) and isinstance(s.place, Buffer)
        }

    def counts(self) -> Counts:
        """Of the whole function, each kind of what is counted."""
        found = self.block(self.function.body)
        return {k: found.get(k, ZERO) for k in COUNTED}

    # ---- forms -----------------------------------------------------------------

    def form(self, o: Any) -> Linear:
        """An int in terms of the arguments, as far as it can be."""
        if not isinstance(o, Linear):
            return self.of(o) if isinstance(o, Value) else self.other("n", o)
        return o.substitute(self.of)

    def of(self, s: Any) -> Linear:
        """A symbol in terms of the arguments."""
        if s in self.given or s in self.symbols:
            return symbol(s)
        if isinstance(s, Dim):
            if s.array in self.given:
                return symbol(s)
            like = self.lengths.get(s.array)
            if isinstance(like, Value):
                return self.of(Dim(like, s.axis))
            if like is None or s in self._own(like):
                return self.other(f"len({s.array.name})", s)
            return self.form(like[s.axis])
        made = self.made.get(s)
        if made is not None and made.primitive.function in ARITHMETIC:
            return self.computed(s, made)
        if made is not None and made.primitive.spelling == "named":
            return self.form(made.operands[0])
        return self.other(s.name, s)

    def _own(self, like: Any) -> Iterator[Any]:
        return (s for n in like if isinstance(n, Linear) for s in n.symbols())

    def other(self, text: str, key: Any) -> Linear:
        """An int that only the run knows."""
        return symbol(self.unknown.setdefault(key, Unknown(text)))

    def computed(self, s: Any, made: Let) -> Linear:
        """An int that was computed from others."""
        a, b = (self.form(o) for o in made.operands)
        if any(t in self.symbols for f in (a, b) for t in f.symbols()):
            return self.other(s.name, s)
        text, function = ARITHMETIC[made.primitive.function]
        x, y = (form_text(f, self.name) for f in (a, b))

        def value(of: Evaluate) -> int | None:
            p, q = value_of(a, of), value_of(b, of)
            return None if p is None or q is None else int(function(p, q))

        return symbol(
            self.unknown.setdefault(s, Unknown(text.format(_bare(x), _bare(y)), value))
        )

    # ---- statements ------------------------------------------------------------

    def block(self, body: list[Statement]) -> Counts:
        found: Counts = {}
        for s in body:
            found = add(found, self.statement(s))
        return found

    def statement(self, s: Statement) -> Counts:
        match s:
            case Let():
                return self.let(s)
            case Load(source=source) if not isinstance(source, Cell):
                return {"bytes read": number(_size(s.index, source.type))}
            case Store(place=place):
                return self.store(s, place)
            case For():
                return self.loop(s)
            case While():
                trips = self.other(f"trips_{len(self.unknown) + 1}", s)
                header = self.block(s.header)
                rounds = scaled(add(header, self.block(s.body)), trips)
                return add(header, rounds)
            case If():
                return larger(self.block(s.then), self.block(s.orelse))
            case Library():
                return self.library(s)
            case Call():
                return {"library calls": number(1)}
        return {}

    def let(self, s: Let) -> Counts:
        p = s.primitive
        if p.kind in FREE or not (s.out.type.is_inexact or _compares(s)):
            return {}
        if p.cheap or p.kind != "elementwise" or _compares(s):
            flops = OF_COMPLEX.get(p.spelling, 2) if s.out.type.is_complex else 1
            return {"flops": number(flops)}
        return {"transcendentals": number(1)}

    def store(self, s: Store, place: Any) -> Counts:
        found: Counts = {}
        if s.accumulate and place.type.is_inexact:
            found["flops"] = number(2 if place.type.is_complex else 1)
        if isinstance(place, Buffer):
            size = number(_size(s.index, place.type))
            found["bytes written"] = size
            if s.accumulate:
                found["bytes read"] = size
        return found

    def library(self, s: Library) -> Counts:
        """A call of a library: its own work is known of products of matrices only."""
        found = {"library calls": number(1)}
        if s.primitive is PRODUCT:
            a, out = s.operands[0], s.outs[0]
            dims = [Dim(out, 0), Dim(out, 1), Dim(a, 0 if s.attribute[0] else 1)]
            factors = ((self.form(symbol(d)), True) for d in dims)
            found["flops"] = number(8 if out.type.is_complex else 2).times(*factors)
        for key, arrays in (("bytes read", s.operands), ("bytes written", s.outs)):
            found[key] = ZERO
            for a in arrays:
                if not isinstance(a, Linear) and type_of(a).is_array:
                    found[key] += self.size(a)
        return found

    def size(self, a: Any) -> Formula:
        """The bytes of an array."""
        dims = [self.form(symbol(Dim(a, k))) for k in range(a.type.rank)]
        return number(itemsize(a.type)).times(*((n, True) for n in dims))

    def loop(self, s: For) -> Counts:
        start, stop, step = (self.form(o) for o in (s.start, s.stop, s.step))
        count = self.trips(start, stop, step)
        self.symbols.add(s.symbol)
        inside = self.block(s.body)
        self.symbols.discard(s.symbol)
        by = step.constant or 1
        return {k: summed(f, s.symbol, start, by, count) for k, f in inside.items()}

    def trips(self, start: Linear, stop: Linear, step: Linear) -> Linear:
        """How often a loop over a range runs."""
        by = step.constant
        if by in (1, -1):
            return (stop - start) * by
        if by is None:
            return self.other(f"trips_{len(self.unknown) + 1}", object())
        distance = stop - start if by > 0 else start - stop
        size = abs(by)
        if any(s in self.symbols for s in distance.symbols()):
            return self.other(f"trips_{len(self.unknown) + 1}", object())

        def value(of: Evaluate) -> int | None:
            found = value_of(distance, of)
            return None if found is None else -(-found // size)

        text = f"ceil({_bare(form_text(distance, self.name))} / {size})"
        return symbol(self.unknown.setdefault((distance, size), Unknown(text, value)))

    # ---- memory ----------------------------------------------------------------

    def memory(self) -> Counts:
        """The bytes of its arguments, results, tapes and other arrays."""
        f = self.function
        found = dict.fromkeys(("arguments", "outputs", "tape", "workspace"), ZERO)
        results = {_source(f, r) for r in f.results if not isinstance(r, Linear)}
        for p in f.params:
            if type_of(p).is_array:
                found["arguments"] += self.size(p)
        grown = {s.place for s in walk(f.body) if isinstance(s, Resize)}
        seen: set[Any] = set()
        for s in walk(f.body):
            if not isinstance(s, Alloc) or not isinstance(s.place, Buffer):
                continue
            a = s.place
            if a in seen or a in self.given:
                continue
            seen.add(a)
            kind = "outputs" if a in results else "workspace"
            if kind == "workspace" and a.is_tape:
                kind = "tape"
            size = self.size(a)
            if a in grown:
                items = self.other(f"items_of_{a.name}", ("items", a))
                dims = [self.form(symbol(Dim(a, k))) for k in range(1, a.type.rank)]
                factors = [(items, True), *((n, True) for n in dims)]
                size = number(itemsize(a.type)).times(*factors)
            found[kind] += size
        return found


def _source(f: Function, r: Any) -> Any:
    """The buffer that a result is a name of."""
    names = {s.out: s.source for s in walk(f.body) if isinstance(s, Load)}
    while r in names:
        r = names[r]
    return r


def scaled(counts: Counts, count: Linear) -> Counts:
    """So many times."""
    return {k: f.times((count, True)) for k, f in counts.items()}


def summed(f: Formula, s: Any, start: Linear, step: int, count: Linear) -> Formula:
    """The sum over a loop whose variable is `start + j * step`, for j below `count`.

    Sums of j, j**2 and j**3 are written out; of what is of a higher degree in the
    loop variable, its largest value counts.
    """
    found = ZERO
    for factors, c in f.terms.items():
        outside = tuple(g for g in factors if s not in g[0].terms)
        inside = [g[0] for g in factors if s in g[0].terms]
        whole = Formula({outside: c})
        if not inside:
            found += whole.times((count, True))
            continue
        first = [g.substitute(lambda t: start if t is s else symbol(t)) for g in inside]
        slopes = [g.terms[s] * step for g in inside]
        powers: dict[int, Formula] = {0: whole}  # of j
        for a, b in zip(first, slopes, strict=True):
            grown: dict[int, Formula] = {}
            for k, g in powers.items():
                grown[k] = grown.get(k, ZERO) + g.times((a, False))
                more = g.times(coefficient=Fraction(b))
                grown[k + 1] = grown.get(k + 1, ZERO) + more
            powers = grown
        for k, g in powers.items():
            forms, divisor = sum_of_powers(k, count)
            found += g.times(*forms, coefficient=Fraction(1, divisor))
    return found


def sum_of_powers(k: int, n: Linear) -> tuple[list[Factor], int]:
    """The factors and the divisor of 0**k + 1**k ... + (n - 1)**k."""
    whole, less = (n, True), (n - 1, False)
    match k:
        case 0:
            return [whole], 1
        case 1:
            return [whole, less], 2
        case 2:
            return [whole, less, (n * 2 - 1, False)], 6
        case 3:
            return [whole, whole, less, less], 4
    return [whole, *[less] * k], 1


def _size(index: Any, t: Type) -> int:
    """The bytes of an element; of none where an index names no single one."""
    return itemsize(t) if index and all(isinstance(i, At) for i in index) else 0


def itemsize(t: Type) -> int:
    """The bytes of one number in memory."""
    return np.dtype(t.element.weak() if t.element.python else t.element.dtype).itemsize


def _compares(s: Let) -> bool:
    """Whether floats are compared."""
    operands = [o for o in s.operands if not isinstance(o, Linear)]
    return s.out.type.is_bool and any(type_of(o).is_inexact for o in operands)


def _bare(text: str) -> str:
    return text[1:-1] if text.startswith("(") and text.endswith(")") else text


ARITHMETIC: dict[Any, tuple[str, Callable[[int, int], int]]] = {
    operator.mul: ("{} * {}", operator.mul),
    operator.floordiv: ("({}) // ({})", lambda a, b: a // b if b else 0),
    operator.mod: ("({}) % ({})", lambda a, b: a % b if b else 0),
    max: ("max({}, {})", max),
    min: ("min({}, {})", min),
}
