"""Programs that store into arrays: by every index, through views and other names.

Every store is run as it is written, at the arrays that stand for the names, so views
and names of one array change together; a store is taken back if NumPy refuses it, or if
what it leaves is too large.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from generator.arrays import MASKS, MOST, ArrayWriter, Grown
from generator.words import Lines, Name, forms, indent

# Holes as in programs of arrays; {T} the array that is stored into, {V} a value for
# it, {W} another name for an array of the same shape, {i} a new index.
VIEWS = forms("""
    {T}.T; {T}.reshape(-1); {T}.ravel(); np.transpose({T}); {T}.swapaxes(0, -1);
    {T}[::-1]; {T}[None]; {T}[...]; {T}[1:]; {T}[:-1]; {T}[::2]; {T}[-1:0:-1]; {T}[0];
    {T}[-1]; {T}[..., 0]; {T}[..., None]; {T}[1:-1]; {T}[1:][::-1]; {T}.T[0];
    {T}[::-1][1:]; {T}.reshape({s}); np.reshape({T}, {s}); {T}[:]; {T}[..., ::-1];
    np.squeeze({T}); {T}[:, 1:]; {T}[:, ::-1]; {T}[:, 0]; {T}[1:, :2]; np.asarray({T})
""")
CHAINS = forms("""
    {T}; {T}; {T}; {T}; {T}; {T}; {T}.T; {T}[::-1]; {T}[1:]; {T}.reshape(-1); {T}[0];
    {T}[..., None]; {T}.ravel(); {T}[:, ::-1]; {T}[:-1]
""")
COPIES = forms("""
    {T}.copy(); np.array({T}); np.copy({T}); {T}[1:].copy(); {T} + 0.0; {T}.flatten();
    {T}[::-1].copy(); {T}.T.copy(); np.array({T}[...]); 1.0 * {T}
""")
UPDATES = forms("""
    = {V}; = {V}; = {V}; += {V}; += 0.5 * ({V}); -= 0.4 * ({V}); -= 0.3 * ({V}); *= 0.7;
    *= np.cos({V}); /= 2.0; /= 2.5 + np.sin({V}); **= 2; **= 3; %= 1.5; //= 0.7; *= {V}
""")
WHOLE = forms("""
    += {V}; -= 0.4 * ({V}); *= 0.6; *= np.cos({V}); /= 2.5 + np.sin({V}); **= 2;
    %= 1.5; //= 0.7; @= 0.3 * {W}; *= {W}
""")
# Loops over an array of one axis: header, body.
STENCILS = [
    (
        "for {i} in range(1, len({T})):",
        "{T}[{i}] = 0.5 * {T}[{i} - 1] + 0.4 * {W}[{i}]",
    ),
    ("for {i} in range(1, len({T})):", "{T}[{i}] += 0.3 * {T}[{i} - 1] * {W}[{i}]"),
    (
        "for {i} in range(1, len({T}) - 1):",
        "{T}[{i}] = 0.3 * ({W}[{i} - 1] + {T}[{i}] + {T}[{i} + 1])",
    ),
    ("for {i} in range(len({T}) - 2, -1, -1):", "{T}[{i}] -= 0.3 * {T}[{i} + 1] ** 2"),
    ("for {i} in range(len({T})):", "{T}[{i}] = np.tanh({T}[{i}]) * {W}[-1 - {i}]"),
    (
        "for {i} in range(2):",
        "{T}[1:-1] = 0.3 * ({T}[2:] + {T}[:-2]) + 0.2 * {W}[1:-1] * {T}[1:-1]",
    ),
    ("for {i} in range(3):", "{T}[1:] += 0.4 * {W}[:-1]"),
    ("for {i}, {t} in enumerate({W}):", "{T}[{i}] *= 0.5 * {t}"),
]
BUFFERS = forms("""
    {W}[:] = 0.5 * {T} + 0.2 * {T} ** 2; {W}[1:] = 0.7 * {T}[:-1]; {W} += 0.4 * {T};
    {W}[0] = 0.5 * {T}[-1] * {T}[0]; {W}[...] = np.sin({T}); {W}[::-1] -= 0.4 * {T}
""")
# What stores without a subscript; {U} something else of the shape of {T}, {P} places
# of its first axis, {M} a mask of its shape, {X} another array of its kind.
CALLS = forms("""
    np.add.at({T}, {P}, {V}); np.add.at({T}, {P}, 0.5 * ({V}));
    np.add.at({T}, {P}, 0.3); np.subtract.at({T}, {P}, 0.4 * ({V}));
    np.multiply.at({T}, {P}, 0.8);
    np.multiply.at({T}, {P}, np.cos({V})); np.divide.at({T}, {P}, 2.5 + np.sin({V}));
    np.copyto({T}, {U}); np.copyto({T}, 0.5 * {U}); np.copyto({T}, {F});
    np.copyto({T}, {U}, where={M}); np.copyto({T}, 0.4, where={M}); np.copyto({T}, {V});
    np.add({U}, {T}, out={T}); np.multiply({T}, 0.6, out={T}); np.sin({U}, out={T});
    np.subtract(0.5 * {U}, 0.3 * {T}, {T}); np.multiply({U}, 0.4 * {T}, out={T});
    np.divide({U}, 2.5 + np.sin({T}), out={T}); np.maximum({T}, 0.2, out={T});
    np.tanh({T}, out={T}, where={M}); np.add({U}, 0.5, out={T}, where={M});
    np.clip({T}, -0.8, 0.9, out={T}); np.cumsum(0.3 * {U}, axis=0, out={T});
    np.add({X}, 0.1 * {T}, out={X}); np.sqrt(6.0 + {U}, out={T}); np.negative({T}, {T});
    {T}.fill({F}); {T}.fill({F}); {T}.sort(); {T}.sort(); {T}.sort(axis=0);
    np.put({T}, {P}, {F}); np.put({T}, {P}, {F}); np.put({T}, {P}, 0.3);
    np.putmask({T}, {M}, {F}); np.fill_diagonal({T}, {F});
    np.matmul(0.3 * {U}, {U}, out={X}); np.place({T}, {M}, 0.3)
""")
RETURNED = forms("""
    np.add({U}, {T}, out={T}); np.sin({U}, out={T}); np.multiply({T}, 0.6, out={T});
    np.tanh({U}, out={T}, where={M}); np.subtract(0.5 * {U}, 0.3 * {T}, {T});
    np.cumsum(0.3 * {U}, axis=0, out={T})
""")
LARGEST = 6.0


class StoreWriter(ArrayWriter):
    """Writes programs that store into arrays."""

    # --------------------------------------------------------- arrays that stand

    @contextmanager
    def put_back(self) -> Iterator[None]:
        """What is stored here is put back."""
        kept = [(a, a.copy()) for a in self.every_array()]
        try:
            yield
        finally:
            for a, old in kept:
                a[...] = old

    def every_array(self) -> list[Any]:
        return [
            a
            for a in self.values.values()
            if isinstance(a, np.ndarray) and a.flags.writeable
        ]

    def evaluate(self, text: str) -> Any:
        with self.put_back():
            return super().evaluate(text)

    def done(self, lines: Lines) -> Lines | None:
        """The lines, run; None, and nothing changed, if NumPy refuses them."""
        known = {text: self.standing(name) for text, name in self.names.items()}
        space = {"np": np, "math": math, **known, **self.values}
        kept = [(a, a.copy()) for a in self.every_array()]
        try:
            with np.errstate(all="raise", under="ignore"), warnings.catch_warnings():
                warnings.simplefilter("error")
                exec("\n".join(lines), space)
            fits = all(np.all(np.abs(a) <= LARGEST) for a, _ in kept)
        except Exception:
            fits = False
        if fits:
            return lines
        for a, old in kept:
            a[...] = old
        return None

    def arguments(self) -> dict[Name, Any]:
        given = super().arguments()
        for name in given:
            if name.kind == "tensor":
                self.values[name.text] = given[name].copy()
        return given

    # ------------------------------------------------------------------ stores

    def stored_into(self, rank: int = 0) -> list[Name]:
        """The names of arrays that a store may change."""
        return [
            n
            for n in self.known("tensor")
            if not (n.text.isupper() and len(n.text) > 1)
            and isinstance(self.values[n.text], np.ndarray)
            and self.values[n.text].flags.writeable
            and len(n.shape) >= rank
        ]

    def alike(self, n: Name) -> list[Name]:
        """Other names for arrays of the same kind."""
        return [
            m
            for m in self.stored_into()
            if (m.shape, m.dtype) == (n.shape, n.dtype) and m.text != n.text
        ]

    def value_for(self, shape: tuple[int, ...], dtype: Any) -> str:
        """What stretches to a shape."""
        forms = [shape, shape, shape, shape[1:], (1,) * len(shape), ()]
        chosen = self.pick(forms)
        if not chosen or self.maybe(4):
            a = Grown("np.ones(())", np.ones((), dtype))
            return self.scalar(a, 1)
        return self.like(chosen, np.dtype(dtype), 1).text

    def shared_first(self, every: list[Name]) -> list[Name]:
        """Half of the time, the names of arrays that have another name as well."""
        arrays = {n.text: self.values[n.text] for n in self.stored_into()}
        shared = [
            n
            for n in every
            if any(
                np.shares_memory(a, self.values[n.text])
                for other, a in arrays.items()
                if other != n.text
            )
        ]
        return shared if shared and not self.maybe(2) else every

    def store(self) -> Lines | None:
        """One store by a subscript, most often of a name."""
        every = self.shared_first(self.stored_into())
        for _ in range(4):
            if not every:
                return None
            n = self.pick(every)
            chain = self.filled_view(self.pick(CHAINS), n)
            value = self.evaluate(chain)
            if not isinstance(value, np.ndarray):
                continue
            target = self.indexed(Grown(chain, value))
            region = self.evaluate(target) if target else None
            if region is None or np.size(region) > MOST:
                continue
            assert target is not None
            target = target.replace(f"({chain})", chain, 1)
            index = target[len(chain) :]
            others = [m.text for m in self.alike(n)] + [n.text]
            if chain == n.text and self.maybe(4):
                text = f"0.6 * {self.pick(others)}{index}"
            elif ">" in index or "<" in index or "kept" in index:
                text = self.scalar(Grown(chain, value), 1)
            else:
                text = self.value_for(np.shape(region), value.dtype)
            update = self.pick(UPDATES).replace("{V}", text)
            if lines := self.done([f"{target} {update}"]):
                return lines
        return None

    def store_whole(self) -> Lines | None:
        """An augmented assignment of a name, in place."""
        every = [n for n in self.stored_into() if n.text in self.free]
        if not every:
            return None
        n = self.pick(self.shared_first(every))
        others = [m.text for m in self.alike(n)] or [n.text]
        value = self.value_for(n.shape, self.values[n.text].dtype)
        is_square = len(n.shape) == 2 and n.shape[0] == n.shape[1]
        update = "@= 0.3 * {W}" if is_square and self.maybe(2) else self.pick(WHOLE)
        update = update.replace("{W}", self.pick(others))
        return self.done([f"{n.text} {update.replace('{V}', value)}"])

    def store_by_call(self) -> Lines | None:
        """A function that puts what it gives into an array, or changes one."""
        for _ in range(6):
            if text := self.filled_call(self.pick(CALLS)):
                if lines := self.done([text]):
                    return lines
        return None

    def name_of_output(self) -> Lines | None:
        """What a function returns that was given `out=`, by a name."""
        text = self.filled_call(self.pick(RETURNED))
        value = self.evaluate(text) if text else None
        if text is None or value is None or not self.done([text]):
            return None
        return self.named(text, value)

    def filled_call(self, template: str) -> str | None:
        """A call that stores into an array, or into a view of one."""
        every = self.shared_first(self.stored_into(1))
        if not every:
            return None
        n = self.pick(every)
        target = n.text
        if self.maybe():
            target = self.filled_view(self.pick(CHAINS), n)
        value = self.evaluate(target)
        if not isinstance(value, np.ndarray) or not value.ndim:
            return None
        a, length = Grown(target, value), len(value)
        places = ["[0, -1, 0]", f"np.arange({length})", "0", "-1", "[-1]", "[0, 0]"]
        places += [p.text for p in self.known("places") if p.high < length] * 4
        others = [m.text for m in self.stored_into() if m.shape == value.shape]
        at = self.pick(places)
        region = self.evaluate(f"({target})[{at}]") if length else value
        holes = {
            "T": lambda: target,
            "U": lambda: (
                self.pick([*others, *others, target])
                if self.maybe()
                else f"({self.like(value.shape, value.dtype, 1).text})"
            ),
            "V": lambda: self.value_for(np.shape(region), value.dtype),
            "F": lambda: self.scalar(a, 1),
            "P": lambda: at,
            "M": lambda: self.filled(self.pick(MASKS), a, 0),
            "X": lambda: self.pick([m.text for m in self.alike(n)] or [target]),
        }
        return self.replaced(template, holes)

    def filled_view(self, template: str, n: Name) -> str:
        shape = self.pick(self.shapes(Grown(n.text, self.values[n.text])))
        return template.replace("{T}", n.text).replace("{s}", shape)

    # -------------------------------------------------- names, views and copies

    def named(self, text: str, value: Any) -> Lines | None:
        """A name for an array: a new one, or one that holds such an array."""
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "fc":
            return None
        if value.size > MOST or value.ndim > 3:
            return None
        held = [
            m.text
            for m in self.known("tensor")
            if (m.shape, m.dtype) == (value.shape, str(value.dtype))
            and m.text in self.free
            and m.text != text
        ]
        name = self.pick(held) if held and self.maybe(4) else self.fresh("tensor")
        return [f"{self.hold(name, value)} = {text}"]

    def view(self) -> Lines | None:
        """A view under a name."""
        if not (every := self.stored_into()):
            return None
        for _ in range(4):
            text = self.filled_view(self.pick(VIEWS), self.pick(every))
            if lines := self.named(text, self.evaluate(text)):
                return lines
        return None

    def alias(self) -> Lines | None:
        """Another name for an array, or for one of two."""
        if not (every := self.stored_into()):
            return None
        n = self.pick(every)
        if (alike := self.alike(n)) and self.maybe(4):
            other = self.pick(alike).text
            choice = f"{n.text} if {self.make('bool', 1)} else {other}"
            name = self.hold(self.fresh("tensor"), self.values[n.text])
            return [f"{name} = {choice}"]
        return self.named(n.text, self.values[n.text])

    def exchange(self) -> Lines | None:
        """Two arrays change names."""
        every = [n for n in self.stored_into() if n.text in self.free]
        pairs = [(n, m) for n in every for m in self.alike(n) if m.text in self.free]
        if not pairs:
            return None
        a, b = (n.text for n in self.pick(pairs))
        self.values[a], self.values[b] = self.values[b], self.values[a]
        return [f"{a}, {b} = {b}, {a}"]

    def copied(self) -> Lines | None:
        if not (every := self.stored_into()):
            return None
        text = self.filled_view(self.pick(COPIES), self.pick(every))
        value = self.evaluate(text)
        return self.named(text, None if value is None else value.copy())

    # ------------------------------------------------------------------- loops

    def stencil(self) -> Lines | None:
        """A loop that stores what it has read, or what it reads later."""
        every = [n for n in self.stored_into(1) if n.shape[0] > 0 and not n.shape[1:]]
        if not every or not self.fits(4):
            return None
        n = self.pick(every)
        other = self.pick([m.text for m in self.alike(n)] + [n.text])
        i, t = self.fresh("loop"), self.fresh("float")
        return self.done([
            line.format(T=n.text, W=other, i=i, t=t)
            for line in self.with_body(*self.pick(STENCILS))
        ])  # fmt: skip

    @staticmethod
    def with_body(header: str, *body: str) -> Lines:
        return [header, *indent(body)]

    def buffered(self) -> Lines | None:
        """Two buffers that are exchanged at every pass."""
        every = [n for n in self.stored_into(1) if n.text in self.free]
        pairs = [(n, m) for n in every for m in self.alike(n) if m.text in self.free]
        if not pairs or not self.fits(3):
            return None
        n, m = self.pick(pairs)
        step = self.pick(BUFFERS).format(T=n.text, W=m.text)
        swap = f"{n.text}, {m.text} = {m.text}, {n.text}"
        i = self.fresh("loop")
        header = f"for {i} in range({self.pick((2, 3, 1, 0))}):"
        return self.done(self.with_body(header, step, swap))

    # --------------------------------------------------------------- functions

    def kinds_of_results(self) -> list[tuple[str, ...]]:
        return [*super().kinds_of_results(), (), (), ("tensor",)]

    def make(self, kind: str, depth: int = 2) -> str:
        if kind == "tensor" and self.maybe():
            shape, dtype = self.returns
            same = [
                n.text
                for n in self.known("tensor")
                if (n.shape, n.dtype) == (shape, str(np.dtype(dtype)))
            ]
            if same:
                return self.pick(same)
        return super().make(kind, depth)

    def argument(self, p: Name, depth: int) -> str:
        """An array under its name or a view of one, that a function may store into."""
        if p.kind == "tensor" and self.below(4):
            every = self.stored_into()
            same = [n.text for n in every if (n.shape, n.dtype) == (p.shape, p.dtype)]
            for n in every:
                text = self.filled_view(self.pick(VIEWS), n)
                value = self.evaluate(text)
                alike = np.shape(value) == p.shape and isinstance(value, np.ndarray)
                if alike and str(value.dtype) == p.dtype:
                    same.append(text)
            if same:
                return self.pick(same)
        return super().argument(p, depth)

    def call_for_effect(self) -> Lines | None:
        """A call whose result, if any, is dropped."""
        known = [fn for fn in self.callables() if any(
            p.kind == "tensor" for p in fn.params)]  # fmt: skip
        return self.done([self.call(self.pick(known))]) if known else None

    def view_of_call(self) -> Lines | None:
        """What a function returned, an argument or a view of one perhaps, by name."""
        known = [fn for fn in self.callables() if fn.results == ("tensor",)]
        if not known:
            return None
        text = self.call(self.pick(known))
        return self.named(text, self.evaluate(text))
