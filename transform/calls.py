"""Calls, core to core: which functions of a program stay functions.

    def f(a, n): ... g(a, 4) ...   ->   def f(a, n): ...    the lines of g in its place
    def f(x, n): ... f(x, n - 1)   ->   def f(x, n): return f(x, n)

A function that is called at one place only, once, is written there: its derivative
needs no residuals to be handed from half to half.  A program that is recursive calls
itself from the start: its lines are then differentiated once, not at the top and below.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, is_dataclass, replace
from typing import Any

from gradwright.transform.build import own_value
from gradwright.transform.core import (
    Call,
    For,
    Function,
    If,
    Place,
    Statement,
    Substitution,
    Value,
    While,
    callees,
    fresh,
    is_recursive,
    program,
    walk,
)
from gradwright.transform.custom import has_rules
from gradwright.transform.indices import Linear
from gradwright.transform.types import INT, Type

Block = list[Statement]


# ---- what is called once -----------------------------------------------------------


def inline(
    function: Function, everywhere: bool = False, last: bool = False
) -> Function:
    """Write functions that are called once where they are called; in place.

    Those with rules of the user's only after the `last` transform.

    With `everywhere` those that are called more often, too: for machine code.
    """
    calls = Counter(g for f in program(function) for g in callees(f))
    if everywhere:
        calls = Counter(dict.fromkeys(calls, 1))
    for f in program(function):
        mapping: dict[Any, Any] = {}
        f.body = _inlined(f.body, calls, mapping, everywhere, last)
        if mapping:
            substitution = Substitution(mapping)
            f.body = substitution.block(f.body)
            substitution.rename_lengths(f.body)
            f.results = [substitution.operand(r) for r in f.results]
    return function


def _inlined(
    body: Block,
    calls: Counter[Function],
    mapping: dict[Any, Any],
    in_loops: bool = False,
    last: bool = False,
) -> Block:
    """The block, and in `mapping` what stands for the results of calls."""
    found: Block = []
    for s in body:
        match s:
            case Call(function=g) if (
                calls[g] == 1 and not is_recursive(g) and (last or not has_rules(g))
            ):
                found += _lines(s, mapping)
            case If():
                then, orelse = (
                    _inlined(b, calls, mapping, in_loops, last)
                    for b in (s.then, s.orelse)
                )
                found.append(replace(s, then=then, orelse=orelse))
            case For() if in_loops:
                found.append(
                    replace(s, body=_inlined(s.body, calls, mapping, True, last))
                )
            case While() if in_loops:
                header, body = (
                    _inlined(b, calls, mapping, True, last) for b in (s.header, s.body)
                )
                found.append(replace(s, header=header, body=body))
            case _:
                found.append(s)
    return found


def _lines(s: Call, mapping: dict[Any, Any]) -> Block:
    """The lines of a function, for the operands of a call."""
    g = s.function
    operands = map(Substitution(mapping).operand, s.operands)  # of calls before this
    given = fresh(g.body, dict(zip(g.params, operands, strict=True)))
    results = map(given.operand, g.results)
    mapping.update(zip(s.outs, results, strict=True))
    return given.block(g.body)


# ---- what calls itself -------------------------------------------------------------


def recalled(function: Function) -> Function:
    """A call of the function that a recursive program is a copy of."""
    for g in callees(function):
        if is_recursive(g) and _is_copy(function, g):
            outs = tuple(own_value(f"{g.name}_value", r.type) for r in g.results)  # type: ignore[union-attr]
            return replace(
                function,
                body=[Call(outs, g, tuple(map(_operand, function.params)))],
                results=list(map(_operand, outs)),
            )
    return function


def _operand(v: Any) -> Any:
    return Linear({v: 1}) if v.type == INT else v


def _is_copy(f: Function, g: Function) -> bool:
    """Whether two functions are one, written twice."""
    if not all(isinstance(r, Value) for r in g.results):
        return False
    known: dict[Any, Any] = {}
    return all(
        _same(a, b, known)
        for a, b in ((f.params, g.params), (f.body, g.body), (f.results, g.results))
    )


def _same(a: Any, b: Any, known: dict[Any, Any]) -> bool:
    """Whether two parts of a program are equal, but for whose values they are of."""
    match a:
        case Value() | Place():
            if a in known or type(a) is not type(b):
                return known.get(a) is b
            known[a] = b
            of_a, of_b = a.type, b.type
            return (a.name, of_a.dtype, of_a.python) == (
                b.name,
                of_b.dtype,
                of_b.python,
            )
        case Linear():
            return bool(Substitution(known).operand(a) == b)
        case Function():
            return a is b
        case list() | tuple():
            return (
                isinstance(b, list | tuple)
                and len(a) == len(b)
                and all(_same(x, y, known) for x, y in zip(a, b, strict=True))
            )
        case Statement():
            return type(a) is type(b) and all(
                _same(getattr(a, part.name), getattr(b, part.name), known)
                for part in fields(a)
                if part.name not in ("where", "pair")
            )
    if is_dataclass(a) and not isinstance(a, type) and type(a) is type(b):
        return a is b or all(
            _same(getattr(a, part.name), getattr(b, part.name), known)
            for part in fields(a)
        )
    return bool(a == b)


def _kind(t: Type) -> Any:
    return t.dtype, t.python, len(t.dims or ())


def knotted(function: Function) -> Function:
    """A program that only calls a recursive function is that function; in place."""
    match function.body:
        case [Call(function=g) as s] if _only_passes_on(function, s):
            given = Substitution(dict(zip(g.params, s.operands, strict=True)))
            function.body = given.block(g.body)
            function.results = list(map(given.operand, g.results))
            for t in walk(function.body):
                if isinstance(t, Call) and t.function is g:
                    t.function = function
    return function


def _only_passes_on(f: Function, s: Call) -> bool:
    """Whether a function is a call of a recursive one that no other one calls."""
    callers = [h for h in program(s.function) if s.function in callees(h)]
    return (
        callers == [s.function]
        and not f.hidden
        and list(s.operands) == list(map(_operand, f.params))
        and list(map(_operand, s.outs)) == f.results
    )
