"""Functions of the residual program: one for each kind of arguments.

    def f(x, n): ... f(x, n - 1)     ->     Function f(x: float, n: int), and Call f

Numbers are lifted to parameters, so that recursion ends; what a function needs to know
(an axis, a key) is made static on demand.  The type of a recursive function's result is
found by iteration.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import gast

from gradwright.transform.build import constant, own_value
from gradwright.transform.core import Call, Const, Operand, Value, type_of
from gradwright.transform.errors import AliasError, UnsupportedSyntax
from gradwright.transform.indices import Linear
from gradwright.transform.source import Source
from gradwright.transform.specialise.abstract import (
    BoundMethod,
    Closure,
    Counting,
    Generator,
    Items,
    Static,
    Structure,
    Zipped,
    as_constant,
    describe,
    is_operand,
    leaves,
    mapped,
    of_caller,
)
from gradwright.transform.specialise.aliases import refuse_old_views
from gradwright.transform.specialise.births import given, lists_in, note_change
from gradwright.transform.specialise.frame import (
    Capture,
    Demand,
    Frame,
    ProgramError,
    Unit,
)
from gradwright.transform.specialise.listing import refuse_results
from gradwright.transform.specialise.regions import (
    Copies,
    base_of,
    copied_parameters,
    read_once,
    stored_parameters,
)
from gradwright.transform.specialise.rows import refuse_changed_rows
from gradwright.transform.specialise.slots import Unready
from gradwright.transform.specialise.structures import pairs_of
from gradwright.transform.types import INT, Type


class InlineInstead(Exception):
    """This function cannot stand alone: it returns a closure over its variables."""

    def __init__(self, reason: str = "returns a function") -> None:
        self.reason = reason


def run_body(frame: Frame) -> Any:
    """Specialise a whole body in normal form; the value it returns."""
    *body, last = frame.node.body
    frame.run(body)
    if not isinstance(last, gast.Return):
        frame.run([last])
        return Static(None)
    frame.current = last
    if frame.speaks:
        frame.builder.where = frame.location(last)
    if last.value is None:
        return Static(None)
    try:
        return frame.evaluate(last.value)
    except (Unready, ProgramError) as e:
        frame.raise_there(e)
        return constant(math.nan)  # never returned


def units(frame: Frame | None) -> Iterator[Unit]:
    """The units that are being written, innermost first."""
    while frame is not None:
        yield frame.unit
        frame = frame.unit.caller


def call_unit(
    frame: Frame,
    source: Source,
    closure: Closure | None,
    bound: dict[str, Any],
    node: Any,
) -> Any:
    """The result of a call of a function of the program, written if need be."""
    program = frame.program
    static: set[str] = set()
    while True:
        key, operands = _signature(frame, source, closure, bound, static)
        unit = program.units.get(key)
        if unit is not None:
            break
        try:
            unit = _specialise_unit(frame, source, closure, bound, key, static)
            break
        except Demand as e:
            if e.parameter is None:
                raise
            _make_static(frame, bound[e.parameter], node)
            static.add(e.parameter)
    if not unit.done and unit.result is None:  # a recursive call, of a type yet unknown
        unit.unready = True
        for inner in units(frame):
            inner.waits_for.add(unit)
        raise Unready
    return _emit_call(frame, unit, operands)


def separate_unit(
    frame: Frame,
    source: Source,
    closure: Closure | None,
    bound: dict[str, Any],
    node: Any,
    label: Any = "derivative",
) -> tuple[Unit, list[Operand]]:
    """A function of the program as a unit of its own, never written out in place."""
    static: set[str] = set()
    name = _name_of(source)
    for here in (a for v in bound.values() for a in of_caller(v)):
        raise frame.error(
            UnsupportedSyntax,
            f"a derivative of {name} is taken here, which is handed {describe(here)}",
            node,
            instead="np.array(...) of it",
        )
    frame.program.separate.add(source.node)
    while True:
        key, operands = _signature(frame, source, closure, bound, static)
        try:
            key = (label, key)
            unit = frame.program.units.get(key)
            if unit is None:
                unit = _specialise_unit(
                    frame, source, closure, bound, key, static, copies=True
                )
            refuse_overlap(frame, unit, operands, node)
            _refuse_same(frame, unit, bound, node)
            _note_lent(frame, unit, unit.stored.items(), operands)
            return unit, operands
        except InlineInstead as e:
            text = f"a derivative of {name} is taken here, which {e.reason}"
            raise frame.error(UnsupportedSyntax, text, node) from None
        except Demand as e:
            if e.parameter is None:
                raise
            _make_static(frame, bound[e.parameter], node)
            static.add(e.parameter)


def _make_static(frame: Frame, value: Any, node: Any) -> None:
    """Pass a demand on to whoever holds the number, unless it is known here."""
    for leaf in leaves(value):
        frame.static_int(leaf, node, "this argument")


def _signature(
    frame: Frame,
    source: Source,
    closure: Closure | None,
    bound: dict[str, Any],
    static: set[str],
) -> tuple[Any, list[Operand]]:
    """The key of a unit and the operands of a call of it."""
    operands: list[Operand] = []

    def part(a: Any, keep: bool) -> Any:
        a = as_constant(a)
        if isinstance(a, Structure):
            return a.form, tuple(part(i, keep) for i in a.items)
        if is_operand(a):
            if isinstance(a, Linear) and keep and a.constant is not None:
                return "static", a.constant
            if isinstance(a, Const) and not a.type.is_number:
                return "static", a.value
            operands.append(a)
            return _kind_of(type_of(a))
        held = a.value if isinstance(a, Static) else a
        return "static", type(held), id(held)

    parts = tuple((n, part(a, n in static)) for n, a in bound.items())
    scope = id(closure) if closure else id(source.function.__globals__)
    cells = None if closure else tuple(map(id, source.function.__closure__ or ()))
    return (id(source.node), scope, cells, parts), operands


def _kind_of(t: Type) -> Any:
    if t.dims is None:
        return t
    return t.dtype, tuple(d.constant for d in t.dims)


def _specialise_unit(
    frame: Frame,
    source: Source,
    closure: Closure | None,
    bound: dict[str, Any],
    key: Any,
    static: set[str],
    copies: bool = False,
) -> Unit:
    """Write a core function for one kind of arguments; its result type by iteration.

    With `copies` it changes none of them: what it stores into it copies first.
    """
    program = frame.program
    guess: Any = None
    captures: dict[Any, Capture] = {}
    made_before = dict(program.units)
    while True:
        program.units = dict(made_before)  # an attempt's own callees go with it
        unit = Unit(_name_of(source), frame)
        unit.result = guess
        unit.builder.where = frame.builder.where
        unit.stands_alone = copies
        inner = Frame(program, unit, source, closure.frame if closure else None, frame)
        unit.arguments = _lifted_arguments(unit, bound, static)
        inner.env.update(unit.arguments)
        for name, capture in captures.items():  # found by an earlier attempt
            held = capture.param
            t, hint = type_of(held), held.name if isinstance(held, Value) else "count"
            unit.captures[name] = Capture(unit.param(hint, t), capture.operand_in)
        parameters_of = {s: n for n, s in _owners(inner.env)}
        unit.function.params = unit.params
        program.units[key] = unit
        if copies:
            lists = ((n, given(inner, a, (n,))) for n, a in unit.arguments.items())
            inner.env.update(lists)
        own = copied_parameters(inner) if copies else {}
        try:
            value = run_body(inner)
            _refuse_escaping(value, unit)
            _refuse_lists(inner, value)
        except Demand as e:
            del program.units[key]
            e.parameter = parameters_of.get(e.symbol)
            for capture in unit.captures.values():
                if (
                    isinstance(capture.param, Linear)
                    and e.symbol in capture.param.symbols()
                ):
                    _make_static(frame, capture.operand_in(frame), source.node)
            raise
        except BaseException:
            del program.units[key]
            raise
        result = mapped(_abstract_type, _known_operands(value))
        settled = guess is None or _same_result(guess, result)
        if (
            settled
            and not unit.unready
            and not (unit.is_recursive and set(captures) != set(unit.captures))
        ):
            _finish(unit, value, result, source, own)
            unit.own_results = refuse_old_views(unit.function, program.own)
            refuse_changed_rows(unit.function)
            if any(not u.done for u in unit.waits_for):
                del program.units[key]  # a branch was left out: good for its type only
            return unit
        guess, captures = result, unit.captures


def _lifted_arguments(
    unit: Unit, bound: dict[str, Any], static: set[str]
) -> dict[str, Any]:
    """Parameters for the run-time parts of the arguments."""

    def lift(name: str, a: Any) -> Any:
        a = as_constant(a)
        if isinstance(a, Structure):
            return a.of([lift(f"{name}_{k}", i) for k, i in pairs_of(a)])
        if isinstance(a, Linear) and name in static and a.constant is not None:
            return a
        if isinstance(a, Const) and not a.type.is_number:
            return Static(a.value)
        if isinstance(a, Static) and isinstance(a.value, bool):
            return constant(a.value)  # it is known inside, too
        return unit.param(name, type_of(a)) if is_operand(a) else a

    return {n: lift(n, a) for n, a in bound.items()}


def _owners(env: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, a in env.items():
        for leaf in leaves(a):
            if isinstance(leaf, Linear):
                for s in leaf.symbols():
                    yield name, s
            elif isinstance(leaf, Value):
                yield name, leaf


def _known_operands(value: Any) -> Any:
    return mapped(as_constant, value)


def _abstract_type(leaf: Any) -> Any:
    """A result leaf by its type; what is static stays as it is."""
    if isinstance(leaf, Const) and not leaf.type.is_number:
        return Static(leaf.value)
    return type_of(leaf) if is_operand(leaf) else leaf


def _same_result(a: Any, b: Any) -> bool:
    if isinstance(a, Structure) and isinstance(b, Structure):
        pairs = zip(a.items, b.items, strict=False)
        return a.form == b.form and all(_same_result(p, q) for p, q in pairs)
    return _same_leaf(a, b)


def _same_leaf(a: Any, b: Any) -> bool:
    if isinstance(a, Type) and isinstance(b, Type):
        return bool(_kind_of(a) == _kind_of(b))
    if isinstance(a, Static) and isinstance(b, Static):
        return a.value is b.value
    return a is b


def _refuse_escaping(value: Any, unit: Unit) -> None:
    for leaf in leaves(value):
        if isinstance(leaf, Closure) and leaf.frame.unit is unit:
            raise InlineInstead
        if isinstance(leaf, BoundMethod | Counting | Items | Zipped | Generator):
            raise InlineInstead


def _refuse_lists(frame: Frame, value: Any) -> None:
    """A list of the caller's that is returned is the same list there."""
    refuse_results(frame, value, frame.node.body[-1])
    given = {id(a) for b in frame.unit.arguments.values() for a in _lists(b)}
    if any(id(a) in given for a in _lists(value)):
        raise InlineInstead("returns a list that it is given")


def _lists(a: Any) -> Iterator[Structure]:
    """The lists in a structure."""
    if isinstance(a, Structure):
        if a.kind is list:
            yield a
        for item in a.items:
            yield from _lists(item)


def _finish(
    unit: Unit, value: Any, result: Any, source: Source, copies: Copies
) -> None:
    f = unit.function
    f.body = unit.builder.block
    again = read_once(f)
    unit.stored, others = stored_parameters(f, copies)
    value = mapped(lambda x: again.get(x, x), _known_operands(value))
    value = mapped(lambda x: others.get(x, x), value)
    unit.result, unit.value, unit.done = result, value, True
    f.results = [x for x in leaves(value) if _is_runtime(x)]
    f.filename = source.filename


def refuse_overlap(
    frame: Frame, unit: Unit, operands: list[Operand], node: Any
) -> None:
    """Refuse one array for a parameter that is stored into and for another one."""
    given = dict(zip(unit.params, operands, strict=False))
    for name, p in unit.stored.items():
        own = base_of(frame, given.get(p))
        others = (base_of(frame, o) for q, o in given.items() if q is not p)
        if own is not None and any(o is own for o in others):
            raise frame.error(
                AliasError,
                f"'{name}' is stored into, and shares memory with another array of "
                "this call",
                node,
                instead=f"a copy of the array for '{name}'",
            )


def _refuse_same(frame: Frame, unit: Unit, bound: dict[str, Any], node: Any) -> None:
    """Refuse one list for an argument that is changed and for another one."""
    every = [found for n, a in bound.items() for found in lists_in(a, (n,))]
    program = frame.program
    for path, a in every:
        if path not in unit.changed:
            continue
        if any(b is a for p, b in every if p != path):
            raise frame.error(
                AliasError,
                f"'{path[0]}' is changed, and is the same list as another one of "
                "this call",
                node,
                instead=f"list(...) of it for '{path[0]}'",
            )
        birth = program.births.get(program.behind.get(a, a))
        if birth is not None:  # nor may one be of the caller's
            note_change(frame, birth)


def _note_lent(
    frame: Frame,
    unit: Unit,
    stored: Iterable[tuple[str, Any]],
    operands: Sequence[Any],
) -> None:
    """Arrays that go to a derivative which stores into its copy: none may overlap."""
    given = dict(zip(unit.params, operands, strict=False))
    for name, p in stored:
        own = base_of(frame, given.get(p))
        others = [o for q, o in given.items() if q is not p]
        if own is not None and any(type_of(o).is_array for o in others):
            frame.unit.lent.setdefault(own, name)


def _is_runtime(leaf: Any) -> bool:
    return is_operand(leaf) and not (
        isinstance(leaf, Const) and not leaf.type.is_number
    )


def emit_custom(frame: Frame, unit: Unit, operands: list[Any]) -> Any:
    """A call of a function with rules of the user's."""
    outs: list[Any] = []
    seen = unit.seen_from(operands)

    def fresh(leaf: Any) -> Any:
        if not _is_runtime(leaf):
            return leaf
        out = own_value(getattr(leaf, "name", "value"), type_of(leaf))
        if out.type.dims is not None:
            pairs = zip(type_of(leaf).dims or (), out.type.dims, strict=True)
            dims = tuple(seen(d) if unit.sees(d) else own for d, own in pairs)
            out.type = replace(out.type, dims=dims)
        outs.append(out)
        return Linear({outs[-1]: 1}) if outs[-1].type == INT else outs[-1]

    result = mapped(fresh, unit.value)
    frame.unit.assume_of_call(unit, operands)
    frame.builder.add(Call(tuple(outs), unit.function, tuple(operands)))
    return result


def _emit_call(frame: Frame, unit: Unit, operands: list[Operand]) -> Any:
    """The call itself, and its results put back into their structure."""
    outs: list[Value] = []

    def fresh(leaf: Any) -> Any:
        if not isinstance(leaf, Type):
            return leaf
        out = own_value(f"{unit.name}_value", leaf)
        if leaf.dims is not None and out.type.dims is not None:
            pairs = zip(leaf.dims, out.type.dims, strict=True)
            dims = tuple(seen(d) if unit.sees(d) else own for d, own in pairs)
            out.type = replace(out.type, dims=dims)
        outs.append(out)
        return Linear({out: 1}) if leaf.python and leaf.dtype == "int" else out

    captured = [c.operand_in(frame) for c in unit.captures.values()]
    seen = unit.seen_from([*operands, *captured])
    result = mapped(fresh, unit.result)
    unit.is_recursive |= not unit.done
    frame.unit.assume_of_call(unit, [*operands, *captured])
    frame.builder.add(Call(tuple(outs), unit.function, (*operands, *captured)))
    lent = [(name, own) for own, name in unit.lent.items()]
    _note_lent(frame, unit, lent, [*operands, *captured])
    frame.program.own.update(outs[k] for k in unit.own_results)
    return result


def _name_of(source: Source) -> str:
    name = source.node.name
    return "inner" if name in ("<lambda>", "_") else str(name)
