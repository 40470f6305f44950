"""Functions and whole programs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from generator.statements import Statements
from generator.words import DEPTH, Function, Lines, Name, Program, indent, vector


class Writer(Statements):
    """Writes one program; its state is what may be said at the current place."""

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
        results = self.kinds_of_results()
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

    def kinds_of_results(self) -> list[tuple[str, ...]]:
        results = [("float",), ("float",), ("float", "float"), ("float", "int")]
        return results + [("complex",)] * 2 * ("complex" in self.profile.kinds)

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

    def options(self) -> dict[Name, Any]:
        """Parameters that are integers or bools, and their values."""
        given: dict[Name, Any] = {}
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

    def free_arguments(self, args: dict[Name, Any]) -> set[str]:
        """The arguments that `f` may assign to."""
        return {p.text for p in args if p.kind in ("float", "complex")}

    def program(self) -> Program:
        args, options = self.arguments(), self.options()
        params = [*args, *options]
        self.used = {p.text for p in params}
        lines = self.captured()
        helpers = self.below(self.profile.helpers + 1)
        for name in ("helper", "blend", "again")[:helpers]:
            lines += self.recursive(name) if self.maybe(3) else self.function(name, 3)
        self.names = {**self.names, **{p.text: p for p in params}}
        self.free = self.free_arguments(args)
        self.is_entry = True
        body = self.block(8)
        body += (self.results_of() or []) if self.maybe() else []
        body.append(f"return {self.result()}")
        signature = [p.text for p in args]
        signature += [f"{p.text}={written(value)}" for p, value in options.items()]
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


def written(value: Any) -> str:
    """The default of a parameter."""
    if isinstance(value, np.ndarray):
        return f"np.array({value.tolist()}, {value.dtype.name.removesuffix('64')})"
    return repr(value)
