"""Core programs as text, one line a statement: what `stages` and failing tests show.

    for k in range(0, n, 1):
        x_1 = load x
        product = mul x_1, x_1
        store x, product

One statement a line, one name for each value and place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gradwright.transform.core import (
    AddUp,
    Alloc,
    Assert,
    At,
    Break,
    Call,
    Const,
    Effect,
    Exchange,
    For,
    Function,
    If,
    Insert,
    Let,
    Library,
    Load,
    NewAxis,
    Pick,
    Pop,
    Push,
    Raise,
    Remove,
    Resize,
    Span,
    Statement,
    Store,
    Take,
    While,
    program,
    steps,
)
from gradwright.transform.indices import Dim, Linear


def notation(function: Function) -> str:
    """The function and all it calls, callees first."""
    names = _Names()
    return "\n\n".join(_function(f, names) for f in program(function))


class _Names:
    """Every value and place under a name of its own."""

    def __init__(self) -> None:
        self.given: dict[Any, str] = {}
        self.counts: dict[str, int] = {}

    def __call__(self, o: Any) -> str:
        match o:
            case Const():
                return o.text or repr(o.value)
            case Linear():
                return self._linear(o)
        if o not in self.given:
            count = self.counts[o.name] = self.counts.get(o.name, -1) + 1
            self.given[o] = f"{o.name}_{count}" if count else o.name
        return self.given[o]

    def _linear(self, form: Linear) -> str:
        text = ""
        for s, c in form.terms.items():
            name = f"{self(s.array)}.shape[{s.axis}]" if isinstance(s, Dim) else self(s)
            term = name if abs(c) == 1 else f"{abs(c)} * {name}"
            sign = " - " if c < 0 else " + "
            text += (sign if text else sign.strip(" +")) + term
        if form.offset or not text:
            sign = " - " if form.offset < 0 else " + "
            text += f"{sign}{abs(form.offset)}" if text else str(form.offset)
        return text

    def index(self, index: Any) -> str:
        def item(i: Any) -> str:
            match i:
                case At():
                    return self(i.position)
                case Span():
                    bounds = (
                        "" if b is None else self(b) for b in (i.lower, i.upper, i.step)
                    )
                    return ":".join(bounds)
                case Pick():
                    return self(i.places)
                case NewAxis():
                    return "None"
            return "..."

        text = ""
        for items, view in steps(index):
            text += f"[{', '.join(map(item, items))}]" if items else ""
            if view is not None and view.primitive is not None:
                text += f".{view.primitive.name}({', '.join(map(self, view.operands))})"
        return text


def _function(f: Function, n: _Names) -> str:
    params = ", ".join(f"{n(p)}: {p.type}" for p in f.params)
    lines = [f"def {f.name}({params}):", *_block(f.body, n, 1)]
    return "\n".join([*lines, f"    return {', '.join(map(n, f.results))}"])


def _block(body: list[Statement], n: _Names, depth: int) -> Iterator[str]:
    indent = "    " * depth
    for s in body:
        match s:
            case If():
                yield f"{indent}if {n(s.condition)}:"
                yield from _block(s.then, n, depth + 1)
                if s.orelse:
                    yield f"{indent}else:"
                    yield from _block(s.orelse, n, depth + 1)
            case For():
                bounds = ", ".join(map(n, (s.start, s.stop, s.step)))
                counting = (
                    f"reversed(range({bounds}))" if s.backwards else f"range({bounds})"
                )
                yield f"{indent}for {n(s.symbol)} in {counting}:"
                yield from _block(s.body, n, depth + 1)
            case While():
                header = list(_block(s.header, n, depth + 1))
                yield (
                    f"{indent}while:" if header else f"{indent}while {n(s.condition)}:"
                )
                yield from header
                if header:
                    yield f"{indent}test {n(s.condition)}:"
                yield from _block(s.body, n, depth + 1)
            case _:
                yield indent + _line(s, n)


def _line(s: Statement, n: _Names) -> str:
    match s:
        case Let():
            operands = ", ".join(map(n, s.operands))
            attribute = "" if s.attribute is None else f" {{{s.attribute}}}"
            return f"{n(s.out)} = {s.primitive.name} {operands}{attribute}"
        case Load():
            return f"{n(s.out)} = load {n(s.source)}{n.index(s.index)}"
        case Alloc():
            return f"{type(s.place).__name__.lower()} {n(s.place)}"
        case Store():
            verb = "add" if s.accumulate else "store"
            return f"{verb} {n(s.place)}{n.index(s.index)}, {n(s.operand)}"
        case AddUp():
            return f"add {n(s.tape)}, {n(s.operand)}"
        case Insert():
            at = "" if s.position is None else f" at {n(s.position)}"
            return f"insert {n(s.place)}{n.index(s.path)}{at}, {n(s.operand)}"
        case Remove():
            at = "" if s.position is None else f" at {n(s.position)}"
            return f"{n(s.out)} = remove {n(s.place)}{n.index(s.path)}{at}"
        case Take():
            return f"take {n(s.place)}, {n(s.source)}"
        case Exchange():
            pairs = zip(s.places, s.sources, strict=True)
            return f"exchange {', '.join(f'{n(a)} = {n(b)}' for a, b in pairs)}"
        case Resize():
            return f"resize {n(s.place)}, {n(s.length)}"
        case Library():
            outs = ", ".join(map(n, s.outs))
            operands = ", ".join(map(n, s.operands))
            return f"{outs}[...] = {s.primitive.spelling} {operands}"
        case Push():
            return f"push {n(s.tape)}, {n(s.operand)}"
        case Pop():
            return f"{n(s.out)} = pop {n(s.tape)}"
        case Call():
            outs = ", ".join(map(n, s.outs))
            return f"{outs} = call {s.function.name} {', '.join(map(n, s.operands))}"
        case Break():
            return "break"
        case Raise():
            return f"raise {s.exception.__name__} {', '.join(map(n, s.operands))}"
        case Assert():
            return f"assert {n(s.condition)}"
        case Effect():
            return f"effect {s.function.__name__} {', '.join(map(n, s.operands))}"
    raise AssertionError(s)
