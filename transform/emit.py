"""Emit: core to readable source, NumPy only.

    Let(p, mul, [w, y]); Let(v, tanh, [p]); Store(y, v)   ->   y = math.tanh(w * y)

`writer` makes a tree of each function, `names` settles what things are called, `layout`
prints, and what does not fit on its line is taken apart again by `outline`.
"""

from __future__ import annotations

import ast
import builtins
import functools
import keyword
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gradwright.transform.core import Function, Value, program
from gradwright.transform.errors import Location
from gradwright.transform.layout import Printed, printed
from gradwright.transform.names import free, settle, spell
from gradwright.transform.outline import outline, put_back
from gradwright.transform.spelling import MODULES
from gradwright.transform.writer import Writer

ROUNDS = 12  # of taking long lines apart
# Python's own; a prompt or a notebook adds names such as `_` to them as it runs.
BUILTINS = {
    name
    for name, held in vars(builtins).items()
    if getattr(held, "__module__", "builtins") in ("builtins", "io", "_io")
    and not name.startswith("_")
}


@dataclass(frozen=True)
class Module:
    """An emitted module: text, main function, and the user's line of each line.

    samples: the loops over the samples of a batch, outermost first, by their first and
    their last line and the name of the sample's number.
    """

    text: str
    name: str
    lines: dict[int, Location]
    samples: tuple[tuple[int, int, str], ...] = ()

    def __str__(self) -> str:
        return self.text


class Late:
    """A module that is written when somebody asks for it."""

    def __init__(self, make: Callable[[], Module]) -> None:
        self._make = make

    @functools.cached_property
    def _made(self) -> Module:
        return self._make()

    @property
    def text(self) -> str:
        return self._made.text

    @property
    def name(self) -> str:
        return self._made.name

    @property
    def lines(self) -> dict[int, Location]:
        return self._made.lines

    @property
    def samples(self) -> tuple[tuple[int, int, str], ...]:
        return self._made.samples

    def __str__(self) -> str:
        return self.text


def emit(function: Function, header: str = "") -> Module:
    """The source of a function and of all that it calls, callees first."""
    functions = program(function)
    names = _function_names(functions)
    taken = set(names.values()) | set(MODULES) | set(keyword.kwlist) | BUILTINS
    imports: dict[str, None] = {}
    parts = [_printed(f, names, imports, taken) for f in functions]
    head = f'"""{header}"""'.splitlines() if header else []
    if imports:
        head += ["", *sorted(imports)] if head else sorted(imports)
    lines, locations = list(head), dict[int, Location]()
    samples: list[tuple[int, int, str]] = []
    for part in parts:
        lines += ["", ""] if lines else []
        locations.update({len(lines) + n: where for n, where in part.locations.items()})
        n = len(lines)
        samples += sorted((n + a, n + z, name) for a, z, name in part.samples)
        lines += part.lines
    text = "\n".join(lines) + "\n"
    return Module(text, names[id(function)], locations, tuple(samples))


def _function_names(functions: list[Function]) -> dict[int, str]:
    names: dict[int, str] = {}
    for f in reversed(functions):
        names[id(f)] = free(spell(f.name), set(names.values()))
    return names


def _printed(
    f: Function, names: dict[int, str], imports: dict[str, None], taken: set[str]
) -> Printed:
    """One function, named and laid out; what is too long is taken apart, and again."""
    named: set[Value] = set()
    body = Writer(f, names, imports, named).body()
    is_tidy = False
    for last in [*[False] * ROUNDS, True]:
        settled = settle(body, f.params, taken)
        for p in f.params:
            p.settled = settled[p]  # type: ignore[union-attr]
        tree = _definition(f, names[id(f)], settled, body)
        text = printed(tree, f.commented)
        known = len(named)
        if last:
            break
        if not outline(text.long, named):
            if is_tidy or not put_back(body):
                break
            is_tidy = True
        if len(named) > known:
            body = Writer(f, names, imports, named).body()
    return text


def _definition(
    f: Function, name: str, settled: dict[Any, str], body: list[ast.stmt]
) -> ast.FunctionDef:
    hidden = [ast.arg(settled[p]) for p in f.params if p in f.hidden]
    arguments = ast.arguments(
        posonlyargs=[],
        args=[ast.arg(settled[p]) for p in f.params if p not in f.hidden],
        kwonlyargs=hidden,
        kw_defaults=[None] * len(hidden),
        defaults=[],
    )
    body = body or [ast.Pass()]
    return ast.FunctionDef(name=name, args=arguments, body=body, decorator_list=[])
