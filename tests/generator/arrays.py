"""Programs of arrays: every rank from 0 to 3, lengths 0 and 1, and shapes that stretch.

An expression grows from a name by one operation at a time. NumPy computes it as it
grows, at numbers that stand for the names: a step is taken back if NumPy refuses it,
or if what it gives is too large or too long. So no template knows of shapes.

A name keeps its shape and dtype for life. Each template below keeps values within a
radius of 3, hardly enlarging differences.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from generator.words import ROWS, Function, Lines, Name, forms
from generator.writer import Writer

# Holes: {A} what has grown so far, {B} an array to go with it, {F} a number, {x} an
# axis of {A}, {n} a length known to the program, {i} an index, {s} a shape.
ELEMENTWISE = forms("""
    0.5 * ({A} + {B}); {A} - 0.5 * {B}; 0.5 * {B} - {A}; 0.3 * {A} * {B}; -{A};
    {A} / (6.0 + {B}); 0.3 * {A} ** 2; {A} / 2; 2.0 / (6.0 + {A}); 0.3 * {A} * {A};
    {A} * 0.7; {F} * {A} / 3.0; {A} - 0.5 * {F}; {F} + 0.2 * {A}; np.sin({A});
    0.4 * np.exp(0.5 * {A}); np.tanh(0.4 * {A}); np.where({M}, {A}, 0.5 * {B});
    np.where({M}, {F}, {A}); ({M}) * {A}; 0.1 * {A} ** 3; np.conj({A});
    {A}.conj() * 0.5; {A} if {T} else 0.5 * {A}; np.sqrt(6.0 + {A})
""")
REAL = forms("""
    np.maximum({A}, {B}); np.minimum({A}, 0.4); np.clip({A}, -0.8, 0.9);
    {A}.clip(-1.1, None); np.abs({A}); {A} % 1.5; np.sign({A}) * {B};
    0.8 * (2.5 + np.sin({A})) ** np.cos({B}); np.hypot({A}, 1.0 + 0.2 * {B});
    np.arctan2({A}, 2.5 + np.sin({B})); np.where({A} > 0.3, np.log({A}), 0.5 * {A});
    np.where({A} > 0.0, np.sqrt({A}), {B}); np.floor({A}) + {A}; {A}.real;
    np.square({A}) * 0.3; np.logaddexp({A}, 0.5 * {B}) * 0.5
""")
COMPLEX = forms("""
    {A}.real; {A}.imag; np.abs(6.0 + {A}) * 0.3; np.real({A}); np.imag({A});
    {A} * (0.4 - 0.3j); np.angle(6.0 + {A}); 0.3 * ({A} * {A}.conj()).real
""")
REDUCED = forms("""
    0.3 * np.sum({A}{by}); 0.3 * {A}.sum({only}); np.mean({A}{by}); {A}.mean({only});
    np.prod(0.8 * np.cos({A}){by}); np.var({A}{by}); {A}.std({only}) * 0.7;
    np.average({A}{on}); np.cumsum({A}{on}) * 0.3; np.cos({A}).cumprod({just});
    np.sin({A}).cumprod({just})
""")
ORDERED = forms("""
    np.max({A}{by}); {A}.max({only}); np.min({A}{by}); {A}.min({only}); np.ptp({A}{on});
    np.median({A}{by}); np.sort({A}{on}); np.sort({A});
    np.take_along_axis({A}, np.argsort({A}{on}){on});
    {A}[np.argmax({A}{on})]; 0.3 * np.argmax({A}{on}) * {A}; {A}[{A}.argmin({just})]
""")
SHAPED = forms("""
    {A}.T; np.transpose({A}); np.transpose({A}, {p}); {A}.transpose({q});
    np.reshape({A}, -1); {A}.reshape({s}); {A}.reshape(-1);
    np.reshape({A}, {s}); {A}.ravel();
    {A}.flatten(); {A}.copy(); np.ravel({A}); np.swapaxes({A}, {x}, {x});
    {A}.swapaxes(0, -1); np.moveaxis({A}, {x}, {x}); np.expand_dims({A}, {x});
    np.squeeze({A}[None], axis=0); {A}[..., None].squeeze(-1); np.flip({A});
    np.flip({A}{on});
    np.roll({A}, 1); np.roll({A}, -2{on}); np.fliplr({A}); np.flipud({A});
    np.rot90({A}); np.atleast_1d({A}); np.atleast_2d({A});
    np.concatenate([{A}, {B}]{on}); np.concatenate(({A}, 0.5 * {A}, {B}){on});
    np.stack([{A}, 0.6 * {A}]{on}); np.stack([{A}, {B}]); np.hstack([{A}, {B}]);
    np.vstack([{A}, {B}]); np.column_stack([{A}, {B}]); np.append({A}, {B});
    np.append({A}, {A}{on}); np.array([{A}, 0.5 * {A}]);
    np.repeat({A}, 2); np.repeat({A}, 2{on}); np.tile({A}, 2); np.tile({A}, (2, 1));
    np.broadcast_to({A}, (2, *{A}.shape)); np.broadcast_to({A}, {s});
    np.pad({A}, 1); np.pad({A}, (0, 1), mode='edge'); np.pad({A}, 1, mode='wrap');
    np.pad({A}, (1, 2), constant_values=0.5); np.diff({A}{on}); np.diff({A});
    np.split({A}, 1{on})[0]; np.array_split({A}, [1]{on})[-1]; np.split({A}, 2)[1];
    np.tril({A}); np.triu({A}, 1); np.diag({A}); np.diagonal({A}); np.trace({A}) * 0.3;
    np.take({A}, [0, -1, 0]{on}); np.take({A}, 0{on}); {A}.astype(np.float64);
    np.meshgrid({A}, {A})[0]; {A} * np.ones({n})
""")
PRODUCTS = forms("""
    0.3 * ({A} @ {B}); 0.3 * ({B} @ {A}); 0.3 * np.dot({A}, {B}); 0.3 * {A}.dot({B});
    0.3 * np.matmul({A}, {A}.T); 0.3 * np.outer({A}, {B}); 0.2 * np.inner({A}, {B});
    0.2 * np.vdot({A}, {B}); 0.2 * np.tensordot({A}, {B}, axes=1);
    0.3 * np.einsum('i,i', {A}, {B}); 0.3 * np.einsum('ij,jk->ik', {A}, {B});
    0.3 * np.einsum('ij,j->i', {A}, {B}); 0.3 * np.einsum('...i,...i->...', {A}, {B});
    0.3 * ({A}.T @ {A}); np.linalg.norm(1.5 + 0.3 * {A}) * 0.3
""")
MADE = forms("""
    0.1 * np.arange({n}); np.linspace(0.0, 1.0, {n}); np.zeros({s}); np.ones({s});
    np.full({s}, {F}); np.zeros_like({a}); np.ones_like({a}); np.full_like({a}, 0.4);
    np.eye({n}); np.array([{F}, {F}]); np.array([[{F}, 0.5], [-0.3, {F}]]);
    np.array({F}); {F} * np.ones({s}); np.asarray({a}); 0.1 * np.arange(1, {n} + 1)
""")
NUMBERS = forms("""
    0.3 * np.sum({A}); 0.3 * {A}.sum(); np.mean({A}); {A}.mean(); 0.3 * sum({v});
    float(np.sum({A})) * 0.3; {A}.size * 0.1; {A}.ndim * 0.5; 0.2 * len({v});
    np.sum(np.cos({A}).cumprod()) / 6.0; {A}.shape[{x}] * 0.3;
    0.5 * np.sum({A} ** 2) / 6.0;
    np.var({A})
""")
ORDERED_NUMBERS = forms("""
    np.max({A}); {A}.max(); np.min({A}); {A}.min(); np.ptp({A});
    0.2 * np.argmax({A}); 0.2 * int({A}.argmin()); np.median({A})
""")
CONDITIONS = forms("""
    np.sum({A}) > 0.3; {A}.mean() < 0.4; np.any({A} > 0.9); np.all({A} < 2.9);
    ({A} > 0.2).any(); {A}.shape[0] > 1; len({v}) == 1; {A}.ndim == 2; {A}.size > 3;
    np.max({A}) < 1.7
""")
MASKS = forms("""
    {A} > 0.2; {A} < {F}; {A} >= {B}; ({A} > -0.6) & ({A} < 0.9); ~({A} > 0.4);
    ({A} < -0.5) | ({A} > 0.3); np.logical_not({A} < 0.3); np.abs({A}) < 0.8;
    np.isfinite({A}); {A} != 0.25; np.logical_and({A} > -0.9, {A} < 1.1)
""")
SUMS = ("0.5 * np.sum({})", "0.7 * {}.sum()", "0.2 * np.sum({} ** 2)")
SLICES = "1: :-1 ::-1 ::2 ::2 : : :2 -2: ::-2 1::2 -1:0:-1 5:".split()
LENGTHS = (2, 3, 1, 2, 0)
MOST = 60  # elements of an array


def called_by_templates() -> list[str]:
    """What the templates call: "np.sum", and ".sum" for the method."""
    families = ELEMENTWISE, REAL, COMPLEX, REDUCED, ORDERED, SHAPED, PRODUCTS, MADE
    text = " ".join(" ".join(family) for family in families)
    functions = re.findall(r"np\.(?:linalg\.)?\w+(?=\()", text)
    return sorted({*functions, *re.findall(r"(?<=[}\)])\.\w+(?=\()", text)})


@dataclass
class Grown:
    """An expression, and what it is at the numbers that stand for the names."""

    text: str
    value: Any

    @property
    def is_complex(self) -> bool:
        return bool(np.iscomplexobj(self.value))

    @property
    def is_single(self) -> bool:
        return self.value.dtype in (np.float32, np.complex64)


@dataclass
class ArrayWriter(Writer):
    """Writes programs of arrays."""

    values: dict[str, Any] = field(default_factory=dict)  # of arrays and functions
    dtypes: tuple[Any, ...] = ()  # of arguments
    sizes: tuple[int, int, int] = (2, 3, 2)  # lengths that shapes are made of

    # ---------------------------------------------------------------- numbers

    def standing(self, name: Name) -> Any:
        """A number for a name of another kind."""
        numbers = {"float": 0.7, "complex": 0.4 + 0.3j, "bool": True, "sum": 0.5}
        numbers |= {"int": max(name.low, 0), "pair": (0.7, -0.4), "count": 1}
        return numbers.get(name.kind, 0.5 + 0.1j if name.kind == "total" else math.tanh)

    def evaluate(self, text: str) -> Any:
        """The value of an expression here; None if NumPy refuses it."""
        known = {text: self.standing(name) for text, name in self.names.items()}
        space = {"np": np, "math": math, **known, **self.values}
        try:
            with np.errstate(all="raise", under="ignore"), warnings.catch_warnings():
                warnings.simplefilter("error")
                return eval(text, space)
        except Exception:
            return None

    def grown(self, text: str) -> Grown | None:
        """An expression, if it is an array or a NumPy number and not too large."""
        value = self.evaluate(text)
        if not isinstance(value, np.ndarray | np.generic) or len(text) > 150:
            return None
        fits = value.dtype.kind in "fci" and value.size <= MOST and value.ndim <= 3
        if not fits or not np.all(np.abs(value) <= 6.0):
            return None
        return Grown(text, value)

    # ----------------------------------------------------------------- arrays

    def leaves(self) -> list[Grown]:
        every = [*self.known("tensor"), *self.known("places")]
        return [Grown(n.text, self.values[n.text]) for n in every]

    def leaf(self) -> Grown:
        every = [n for n in self.leaves() if n.value.dtype.kind != "b"]
        floats = [n for n in every if n.value.dtype.kind != "i"]
        every += 3 * floats
        if floats and self.maybe(7):
            made = self.pick(MADE)
            if found := self.grown(self.filled(made, self.pick(floats), 0)):
                return found
        if every:
            return self.pick(every)
        text = f"np.array([{self.atom()}, 0.4])"
        return self.grown(text) or Grown("np.ones(2)", np.ones(2))

    def tensor(self, depth: int = 3) -> Grown:
        """An array, or a NumPy number, by so many operations at most."""
        found = self.leaf()
        for _ in range(1 + self.below(depth + 1)):
            found = self.step(found, depth - 1)
        return found

    def step(self, a: Grown, depth: int) -> Grown:
        """One operation more; the same again where none of a few fits."""
        for _ in range(4):
            families = [ELEMENTWISE, COMPLEX if a.is_complex else REAL, ["index"] * 3]
            if a.value.ndim:  # NumPy takes axis=0 of a number for what it is not
                families += [*[SHAPED] * 5, REDUCED, REDUCED, PRODUCTS]
                families += [] if a.is_complex else [ORDERED, ["row"]]
            families += [["call"]] * (depth > 0)
            template = self.pick(self.pick(families))
            if template == "index":
                text: str | None = self.indexed(a)
            elif template == "row":
                text = self.filled(self.elementwise_row(), a, depth)
            elif template == "call":
                text = self.applied(a)
            else:
                text = self.filled(template, a, depth)
            if text and (found := self.grown(text)):
                return found
        return a

    def elementwise_row(self) -> str:
        template = self.pick(list(ROWS["np"].values()))
        return template.replace("{F}", "{A}", 1).replace("{F}", "{B}")

    def applied(self, a: Grown) -> str | None:
        """A call of a function that takes an array and gives one."""
        known = [fn for fn in self.callables() if fn.results == ("tensor",)]
        return self.call(self.pick(known), 1) if known else None

    def beside(self, a: Grown, depth: int) -> str:
        """An array to go with another one."""
        same = [n for n in self.leaves() if self.go_together(n.value, a.value)]
        if same and self.below(4):
            chosen = self.pick(same)
            return (self.step(chosen, 0) if depth > 0 and self.maybe() else chosen).text
        return self.tensor(1).text if depth > 0 and self.maybe() else a.text

    def go_together(self, a: Any, b: Any) -> bool:
        try:
            return a.dtype.kind != "b" and np.broadcast(a, b).size <= MOST
        except ValueError:
            return False

    def filled(self, template: str, a: Grown, depth: int) -> str:
        """A template with its holes filled."""
        rank = a.value.ndim
        axes = [str(k) for k in range(-rank, rank)] or ["0"]
        keep = self.pick(["", "", "keepdims=True"])
        axis = self.pick([*axes, *axes, *self.pairs(rank), "None"])
        some = ", ".join(filter(None, [f"axis={axis}", keep]))
        # Python's sum of no complex numbers is a real one.
        lines = [n for n in self.leaves() if n.value.ndim == 1]
        vectors = [
            n.text for n in lines if n.value.size or not np.iscomplexobj(n.value)
        ]
        order = [str(k) for k in range(rank)]
        self.random.shuffle(order)
        holes = {
            "A": lambda: f"({a.text})",
            "B": lambda: f"({self.beside(a, depth)})",
            "F": lambda: self.scalar(a, depth),
            "M": lambda: self.filled(self.pick(MASKS), a, 0),
            "T": lambda: self.make("bool", 0),
            "a": lambda: self.pick(self.leaves() or [a]).text,
            "v": lambda: self.pick(vectors or ["np.ones(2)"]),
            "x": lambda: self.pick(axes),
            "by": lambda: self.pick(["", f", {some}", f", {some}"]),
            "only": lambda: self.pick(["", some, some]),
            "on": lambda: self.pick([f", axis={x}" for x in axes]),
            "just": lambda: self.pick(["", *(f"axis={x}" for x in axes)]),
            "p": lambda: f"({', '.join(order)}{',' * (rank == 1)})",
            "q": lambda: ", ".join(order),
            "n": lambda: self.pick(self.lengths()),
            "s": lambda: self.pick(self.shapes(a)),
        }
        return self.replaced(template, holes)

    @staticmethod
    def replaced(template: str, holes: dict[str, Any]) -> str:
        text, *parts = template.split("{")
        for part in parts:
            hole, _, rest = part.partition("}")
            text += holes[hole]() + rest
        return text

    def pairs(self, rank: int) -> Lines:
        return ["(0, 1)", "(-1, 0)", "(0,)"] if rank > 1 else []

    def scalar(self, a: Grown, depth: int) -> str:
        """A number that leaves an array its dtype."""
        constants = ["0.5", "-0.7", "1.5", "1", "0.9"]
        if a.is_single or not self.known("float"):
            return self.pick(constants)
        return f"({self.number(1)})" if depth > 0 and self.maybe() else self.atom()

    def lengths(self) -> Lines:
        """Lengths that are known here, and some that are known to all."""
        found = ["2", "3", *(n.text for n in self.known("int") if n.low == n.high)]
        for n in self.known("tensor"):
            if n.shape:
                found += [f"len({n.text})", f"{n.text}.shape[-1]"] * 2
                found += [f"{n.text}.shape[0] + 1", f"{n.text}.size"]
        return found

    def shapes(self, a: Grown) -> Lines:
        """Shapes, among them some of as many elements as an array."""
        n = self.pick(self.lengths())
        known = [f"{name.text}.shape" for name in self.known("tensor")]
        return [
            n, f"({n}, 2)", f"(2, {n})", "(-1, 1)", "(1, -1)", "(2, -1)", "(-1,)",
            "(-1, 3)", f"({n}, -1)", f"(2, *({a.text}).shape)", *known * 2,
        ]  # fmt: skip

    def indexed(self, a: Grown) -> str | None:
        """Every kind of index, axis by axis."""
        shape = np.shape(a.value)
        if not isinstance(a.value, np.ndarray):
            return None
        if shape and self.maybe(8) and not a.is_complex:
            return f"({a.text})[{self.filled(self.pick(MASKS), a, 0)}]"
        if not shape:
            return f"({a.text})[{self.pick(['()', '...', 'None', 'np.newaxis'])}]"
        items: Lines = []
        for axis, n in enumerate(shape):
            if self.maybe(6):
                items.append(self.pick(["None", "np.newaxis"]))
            if self.maybe(8) and "..." not in items:
                items.append("...")
                break
            items.append(self.item(a, axis, n))
        while items and items[-1] == ":" and self.maybe():
            items.pop()
        return f"({a.text})[{', '.join(items)}]" if items else None

    def item(self, a: Grown, axis: int, n: int) -> str:
        """One item of an index."""
        match self.pick(["slice"] * 4 + ["one"] * 3 + ["places", "mask", "sorted"]):
            case "one" if n:
                length = f"({a.text}).shape[{axis}]"
                options = ["0", "-1", str(n - 1), *self.ints(-n, n - 1) * 3]
                options += [f"{k} % {length}" for k in self.ints(-99, 99)]
                return self.pick(options)
            case "places" if n:
                options = ["[0, -1, 0]", f"[{n - 1}, 0]", f"np.arange({n})[::-1]"]
                options += ["[[0, -1], [-1, 0]]", "np.array([0, 0, -1])", "[-1]"]
                known = [p for p in self.known("places") if p.high < n]
                return self.pick(options + [p.text for p in known] * 5)
            case "mask":
                same = [m.text for m in self.known("mask") if m.shape == (n,)]
                mine = [
                    f"{v.text} > 0.1"
                    for v in self.known("tensor")
                    if v.shape == (n,) and not np.iscomplexobj(self.values[v.text])
                ]
                return self.pick([*same, *mine, f"np.arange({n}) > 0"])
            case "sorted" if n:
                same = [v.text for v in self.known("tensor") if v.shape == (n,)]
                same = [v for v in same if not np.iscomplexobj(self.values[v])]
                return self.pick([f"np.argsort({v})" for v in same] or [":"])
        ends = [str(k) for k in self.ints(0, 9)]
        return self.pick([*SLICES, *SLICES, *(f"{k}:" for k in ends)])

    # ---------------------------------------------------------------- numbers

    def made_number(self, depth: int) -> str | None:
        """A number that an array gives."""
        a = self.tensor(1 + (depth > 0))
        if a.value.dtype.kind == "i" and self.maybe():
            a = self.leaf()
        if a.value.size and a.value.ndim and self.maybe(3):
            at = ", ".join(
                self.index(f"({a.text})", k, n) for k, n in enumerate(a.value.shape)
            )
            text = f"({a.text})[{at}]"
        else:
            forms = NUMBERS if a.is_complex else NUMBERS + ORDERED_NUMBERS
            text = self.filled(self.pick(forms), a, 0)
        value = self.evaluate(text)
        if not isinstance(value, float | int | complex | np.generic) or abs(value) > 6:
            return None
        if isinstance(value, complex | np.complexfloating):
            return f"({text}).real"
        if isinstance(value, int | np.integer):
            return f"0.4 * ({text})"
        is_single = isinstance(value, np.float32)
        return f"float({text})" if is_single else f"({text})"

    def made_condition(self) -> str | None:
        a = self.leaf()
        if a.is_complex:
            return None
        text = self.filled(self.pick(CONDITIONS), a, 0)
        value = self.evaluate(text)
        return text if isinstance(value, bool | np.bool_) else None

    def make(self, kind: str, depth: int = 2) -> str:
        if kind == "tensor":
            return self.like(*self.returns).text
        if kind in ("B", "bool") and self.maybe() and (text := self.made_condition()):
            return text
        return super().make(kind, depth)

    returns: tuple[Any, Any] = ((2,), np.float64)  # shape and dtype of a result

    def like(self, shape: tuple[int, ...], dtype: Any, depth: int = 2) -> Grown:
        """An array of a shape and dtype."""

        def fits(a: Grown) -> bool:
            is_array = isinstance(a.value, np.ndarray)
            return is_array and a.value.shape == shape and a.value.dtype == dtype

        for _ in range(6):
            if fits(found := self.tensor(depth)):
                return found
        if known := [n for n in self.leaves() if fits(n)]:
            found = self.pick(known)
            again = self.grown(self.filled(self.pick(ELEMENTWISE), found, 1))
            return again if again and fits(again) else found
        of_kind = "" if dtype == np.float64 else f", dtype=np.{np.dtype(dtype)}"
        text = f"np.full({shape}, 0.4{of_kind})"
        return Grown(text, self.evaluate(text))

    # ------------------------------------------------------------- statements

    def hold(self, text: str, value: Any, fixed: bool = False) -> str:
        """A name for an array."""
        self.values[text] = value
        value = np.asarray(value)
        more = {"shape": value.shape, "dtype": str(value.dtype)}
        high = value.shape[0] if value.ndim else 0
        return self.define(text, "tensor", fixed, high=high, **more)

    def array_assign(self) -> Lines | None:
        """An array under a name: a new one, or in place of one of its kind."""
        held = [n for n in self.known("tensor") if n.text in self.free]
        if held and self.below(3):
            n = self.pick(held)
            a = self.like(n.shape, np.dtype(n.dtype))
            text = self.pick([
                f"0.6 * {n.text} - 0.4 * ({a.text})",
                f"{n.text} + 0.1 * ({a.text})",
                a.text,
            ])  # fmt: skip
            value = self.evaluate(text)
            alike = isinstance(value, np.ndarray) and value.dtype == n.dtype
            if alike and value.shape == n.shape:
                return [f"{n.text} = {text}"]
        a = self.tensor()
        if not isinstance(a.value, np.ndarray) or a.value.dtype.kind == "i":
            return None
        return [f"{self.hold(self.fresh('tensor'), a.value)} = {a.text}"]

    def taken_apart(self) -> Lines | None:
        """Parts of an array, or its shape, under names."""
        a = self.leaf()
        if not a.value.ndim:
            return None
        if self.maybe():
            names = [self.define(self.fresh("int"), "int", True, low=n, high=n)
                     for n in a.value.shape]  # fmt: skip
            return [f"{', '.join(names)}{',' * (len(names) == 1)} = ({a.text}).shape"]
        k = self.pick([k for k, n in enumerate(a.value.shape)])
        text = self.pick([f"np.split({a.text}, 2, axis={k})",
                          f"np.array_split({a.text}, [1], axis={k})"])  # fmt: skip
        parts = self.evaluate(text)
        if parts is None or a.value.dtype.kind == "i":
            return None
        names = [self.hold(self.fresh("tensor"), part) for part in parts]
        return [f"{', '.join(names)} = {text}"]

    def over_rows(self) -> Lines | None:
        """A loop over the rows of an array, or over those of two."""
        a, b = self.leaf() if self.maybe() else self.tensor(2), self.leaf()
        if not np.ndim(a.value) or not self.fits(len(a.value)):
            return None
        b = b if np.ndim(b.value) else a
        passes, i = len(a.value), self.fresh("loop")
        row, other = self.row_of(a.value), self.row_of(b.value)
        number = Name(i, "int", 0, max(passes - 1, 0))
        every = [
            (f"{row.text} in {a.text}", [row]),
            (f"{row.text} in reversed({a.text})", [row]),
            (f"{i}, {row.text} in enumerate({a.text})", [row, number]),
            (f"{i} in range(({a.text}).shape[0])", [number]),
            (f"{i} in range(len({a.text}) - 1, -1, -1)", [number]),
        ]
        if np.ndim(b.value) and b.value.dtype.kind != "b":
            both = f"{row.text}, {other.text} in zip({a.text}, {b.text})"
            every += [(both, [row, other])] * 2
        header, targets = self.pick(every)
        sure = passes > 0 and not ("zip" in header and len(b.value) == 0)
        return self.loop_over(f"for {header}:", targets, passes, sure)

    def row_of(self, value: Any) -> Name:
        """A name for one row: an array, or a number."""
        value = np.asarray(value)
        shape, dtype = value.shape[1:], str(value.dtype)
        if not shape and value.dtype == np.float64:
            return Name(self.fresh("float"), "float")
        if not shape and value.dtype.kind in "ib":
            return Name(self.fresh("int"), "int", -99, 99)
        text = self.fresh("row")
        item = value[0] if len(value) else np.zeros(shape, dtype)
        self.values[text] = item
        return Name(text, "tensor", 0, shape[0] if shape else 0, shape, dtype)

    # -------------------------------------------------------------- functions

    def parameter(self) -> Name:
        if self.below(3):
            return super().parameter()
        text, shape = self.fresh("tensor"), self.shape()
        self.values[text] = self.drawn(shape, np.float64)
        return Name(text, "tensor", 0, shape[0] if shape else 0, shape, "float64")

    def argument(self, p: Name, depth: int) -> str:
        if p.kind == "tensor":
            return self.like(p.shape, np.dtype(p.dtype), 1).text
        return super().argument(p, depth)

    def function(self, name: str, size: int) -> Lines:
        """A function, run so as to know what a call of it gives."""
        shape = self.shape()
        before, self.returns = self.returns, (shape, np.float64)
        lines = super().function(name, size)
        self.returns = before
        known = {text: self.standing(name) for text, name in self.names.items()}
        space = {"np": np, "math": math, **known, **self.values}
        exec("\n".join(lines), space)
        self.values[name] = space[name]
        return lines

    def kinds_of_results(self) -> list[tuple[str, ...]]:
        return [*super().kinds_of_results(), ("tensor",), ("tensor",), ("tensor",)]

    def bind(self) -> Lines:
        lines = super().bind()
        name, _, text = lines[0].partition(" = ")
        if (value := self.evaluate(text)) is not None:
            self.values[name] = value
        return lines

    @contextmanager
    def inside(self, fn: Function, size: int) -> Iterator[None]:
        with super().inside(fn, size):
            self.free |= {p.text for p in fn.params if p.kind == "tensor"}
            yield

    # ---------------------------------------------------------------- program

    def shape(self) -> tuple[int, ...]:
        n, m, k = self.sizes
        return self.pick([
            (m,), (n, m), (n, m), (m,), (n, 1), (1, m), (), (n,), (n, n), (k, n, m),
            (k, 1, m), (m, n),
        ])  # fmt: skip

    def drawn(self, shape: tuple[int, ...], dtype: Any) -> Any:
        size = math.prod(shape)
        value = np.array(self.reals(size)).reshape(shape)
        if np.dtype(dtype).kind == "c":
            value = value + 1j * np.array(self.reals(size)).reshape(shape)
        return np.asarray(value).astype(dtype)

    def arguments(self) -> dict[Name, Any]:
        given: dict[Name, Any] = {}
        self.sizes = (self.pick(LENGTHS), self.pick((3, 2, 1, 4)), self.pick((2, 1)))
        doubles = (np.float64,)
        dtype = self.pick([doubles, doubles, doubles, (np.float64, np.complex128)])
        self.dtypes = self.pick([dtype, dtype, dtype, dtype, (np.float32,)])
        for text in ("A", "B", "C")[: 1 + self.below(3)]:
            shape = self.shape()
            value = self.drawn(shape, self.pick(self.dtypes))
            self.values[text] = value
            high = shape[0] if shape else 0
            given[Name(text, "tensor", 0, high, shape, str(value.dtype))] = value
        if self.maybe():
            (x,) = self.reals(1)
            given[Name("x", "float")] = self.pick((x, x, np.float64(x)))
        return given

    def options(self) -> dict[Name, Any]:
        given: dict[Name, Any] = {}
        n = self.sizes[1]
        if self.maybe(3):
            value = np.array(
                [self.below(n) for _ in range(self.pick((3, 2, 1, 0)))], int
            )
            given[Name("order", "places", 0, n - 1, value.shape, "int64")] = value
            self.values["order"] = value
        if self.maybe(5):
            value = np.array([self.maybe() for _ in range(n)])
            given[Name("kept", "mask", 0, n, (n,), "bool")] = value
            self.values["kept"] = value
        return {**given, **super().options()}

    def captured(self) -> Lines:
        lines = super().captured()
        if self.maybe(4):
            value = np.array(self.reals(self.sizes[1]))
            self.hold("TABLE", value, fixed=True)
            lines.append(f"TABLE = np.array({value.tolist()})")
        return lines

    def free_arguments(self, args: dict[Name, Any]) -> set[str]:
        return {p.text for p in args if p.kind in ("float", "complex", "tensor")}

    def result(self) -> str:
        texts = [super().result()]
        for n in self.known("tensor"):
            if (n.text.isupper() and len(n.text) > 1) or not self.below(4):
                continue
            part = self.pick(
                ["0.5 * np.sum({})", "0.7 * {}.sum()", "0.2 * np.sum({} ** 2)"]
            )
            text = part.format(n.text)
            value = self.values[n.text]
            text = f"({text}).real" if np.iscomplexobj(value) else text
            texts.append(
                f"float({text})" if n.dtype in ("float32", "complex64") else text
            )
        return " + ".join(texts)
