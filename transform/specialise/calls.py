"""Calls: the user's functions, rows of the table, Python's own builtins.

A small straight-line function is written out where it is called; any other becomes a
function of the residual program, once for each kind of arguments.  Numbers are lifted
to parameters, so that recursion ends; what a callee needs to know (an axis, a key) is
made static on demand.
"""

from __future__ import annotations

import functools
import math
import sys
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import gast
import numpy as np

from gradwright.transform import source as sources
from gradwright.transform.build import constant, own_value
from gradwright.transform.core import (
    Call,
    Const,
    Effect,
    Operand,
    Value,
    type_of,
)
from gradwright.transform.errors import (
    EffectError,
    MissingRule,
    UnsupportedSyntax,
)
from gradwright.transform.indices import Linear, linear
from gradwright.transform.primitives.record import TABLE
from gradwright.transform.primitives.structural import CONJUGATE
from gradwright.transform.source import Source
from gradwright.transform.specialise.abstract import (
    BoundMethod,
    Closure,
    Counting,
    From,
    Items,
    Static,
    Structure,
    Zipped,
    as_constant,
    describe,
    is_operand,
    leaves,
    mapped,
)
from gradwright.transform.specialise.arrays import call_signed
from gradwright.transform.specialise.frame import (
    LIBRARY,
    MOST_UNROLLED,
    Capture,
    Demand,
    Frame,
    ProgramError,
    Unit,
    lift,
)
from gradwright.transform.specialise.methods import METHODS, as_dtype, copy, size
from gradwright.transform.specialise.nested import (
    Derivative,
    Half,
    call_derivative,
    call_half,
    call_hvp,
    call_jvp,
    call_split,
    make_derivative,
    stop_gradient,
    taken_apart,
)
from gradwright.transform.specialise.slots import Unready
from gradwright.transform.specialise.structures import (
    METHODS as OF_STRUCTURES,
)
from gradwright.transform.specialise.structures import (
    dict_of,
    known_key,
    make_namedtuple,
    pairs_of,
)
from gradwright.transform.structure import is_namedtuple, put_together
from gradwright.transform.types import Type, array

BUILTINS: dict[Any, Callable[..., Any]] = {}
LARGEST_INLINED = 12  # statements of a function that is written out where it is called


class InlineInstead(Exception):
    """This function cannot stand alone: it returns a closure over its variables."""


class SeparateInstead(Exception):
    """This function turned out to call itself: it must stand on its own."""

    def __init__(self, code: Any) -> None:
        self.code = code


def builtin(*functions: Any) -> Callable[[Any], Any]:
    """Enter the meaning of a callable of Python or NumPy that is no row."""

    def register(handler: Any) -> Any:
        for f in functions:
            BUILTINS[f] = handler
        return handler

    return register


def call(
    frame: Frame,
    function: Any,
    arguments: list[Any],
    keywords: dict[str, Any],
    node: Any,
) -> Any:
    """The abstract result of a call."""
    match function:
        case Half():
            return call_half(frame, function, arguments, node)
        case Derivative():
            return call_derivative(frame, function, arguments, keywords, node)
        case Closure():
            return call_user(
                frame, function.source, function, arguments, keywords, node
            )
        case BoundMethod(function=None):  # .conjugate() of a number
            return frame.builder.let(CONJUGATE, function.owner, name="conj")
        case BoundMethod(function=f) if f in METHODS.values() or f in OF_STRUCTURES:
            return f(frame, function.owner, arguments, keywords, node)
        case BoundMethod():
            inner = Static(function.function)
            return call(frame, inner, [function.owner, *arguments], keywords, node)
        case Static():
            return _call_static(frame, function, arguments, keywords, node)
    raise frame.error(UnsupportedSyntax, f"{describe(function)} is called here", node)


def _call_static(
    frame: Frame,
    function: Static,
    arguments: list[Any],
    keywords: dict[str, Any],
    node: Any,
) -> Any:
    from gradwright.transform.specialise.expressions import operate

    f = _unwrapped(function.value)
    if isinstance(f, functools.partial):
        bound = [frame.wrap(a, _partial_path(f, k)) for k, a in enumerate(f.args)]
        extra = {n: frame.wrap(a, _partial_path(f, n)) for n, a in f.keywords.items()}
        return call(
            frame, Static(f.func), [*bound, *arguments], {**extra, **keywords}, node
        )
    if hasattr(f, "__gradwright__"):
        return call(frame, taken_apart(function), arguments, keywords, node)
    kind = getattr(f, "__gradwright_kind__", None)
    if kind == "jvp":
        return call_jvp(frame, arguments, keywords, node)
    if kind == "hvp":
        return call_hvp(frame, arguments, keywords, node)
    if kind == "stop_gradient":
        return stop_gradient(frame, arguments, keywords, node)
    if kind in ("vjp", "linearize"):
        return call_split(frame, kind, arguments, keywords, node)
    if kind is not None:
        return make_derivative(frame, kind, arguments, keywords, node)
    if isinstance(f, type) and is_namedtuple(f):
        return make_namedtuple(frame, f, arguments, keywords, node)
    handler = _lookup(BUILTINS, f)
    if handler is not None:
        return handler(frame, arguments, keywords, node)
    TABLE.ensure(f)
    if _lookup(TABLE.known, f) is not None:
        return lift(f(*map(_known, arguments)))
    composed = _lookup(TABLE.compositions, f)
    if composed is not None:
        return call_user(frame, sources.read(composed), None, arguments, keywords, node)
    signed = TABLE.signed(f, len(arguments))
    if signed is not None:
        return call_signed(frame, signed, arguments, keywords, node)
    if TABLE.knows(f):
        _no_keywords(frame, keywords, node)
        return operate(frame, f, node, *arguments)
    if isinstance(f, types.MethodType) and isinstance(f.__func__, types.FunctionType):
        path = function.path and function.path.attribute("__self__")
        owner = Static(f.__self__, path)
        return call(frame, Static(f.__func__), [owner, *arguments], keywords, node)
    if isinstance(f, types.FunctionType) and not _is_library(f):
        frame.program.guard_code(f)
        return call_user(frame, sources.read(f), None, arguments, keywords, node)
    _refuse_impure(frame, function, node)
    raise frame.error(
        MissingRule,
        f"there is no rule for {describe(function)}",
        node,
        instead="a function with a rule, or one of your own in plain Python",
    )


def _known(a: Any) -> Any:
    """What an argument is, where the rewriting needs it."""
    match a:
        case Static() | Const():
            return a.value
        case Linear(constant=int(n)):
            return n
        case Structure():
            return put_together(a.kind, map(_known, a.items), a.keys)
    return a


def _lookup(table: dict[Any, Any], key: Any) -> Any:
    try:
        return table.get(key)
    except TypeError:  # unhashable
        return None


def _unwrapped(f: Any) -> Any:
    """The plain function behind pure memo wrappers and Numba's dispatchers."""
    if isinstance(f, staticmethod):
        return _unwrapped(f.__func__)
    if isinstance(f, functools._lru_cache_wrapper):
        return _unwrapped(f.__wrapped__)
    if type(f).__module__.startswith("numba.") and hasattr(f, "py_func"):
        return _unwrapped(f.py_func)
    return f


def _partial_path(f: functools.partial[Any], key: Any) -> Any:
    from gradwright.transform.specialise.abstract import Path

    found = weakref.ref(f)

    def read(root: Any = None) -> Any:
        held: Any = found()
        return held.args[key] if isinstance(key, int) else held.keywords[key]

    name = key if isinstance(key, str) else f"argument_{key}"
    return Path(name, ("partial", id(f), key), read)


def _is_library(f: types.FunctionType) -> bool:
    top = (f.__module__ or "").split(".")[0]
    return top in sys.stdlib_module_names or top in ("numpy", "scipy", "numba", "cupy")


def _refuse_impure(frame: Frame, function: Static, node: Any) -> None:
    """Files, clocks, eval, global random numbers and changes of captured objects."""
    f = function.value
    module = getattr(f, "__module__", None) or ""
    owner = getattr(f, "__self__", None)
    name = getattr(f, "__name__", str(f))
    if f in (eval, exec, open, input, compile, globals, locals, vars) or module == "io":
        words = "reads or changes what gradwright cannot see"
        raise frame.error(EffectError, f"{name}() {words}", node)
    generators = ("RandomState", "Random")
    if module in ("time", "random") or type(owner).__name__ in generators:
        raise frame.error(
            EffectError,
            f"{name}() gives another number at every call",
            node,
            instead="draw the numbers outside and pass them in",
        )
    if isinstance(owner, list | dict | set):
        raise frame.error(
            EffectError,
            f"{type(owner).__name__}.{name}() may change an object that was captured",
            node,
            instead="pass the value in and return the new one",
        )


# ---- the user's functions ----------------------------------------------------------


def call_user(
    frame: Frame,
    source: Source,
    closure: Closure | None,
    arguments: list[Any],
    keywords: dict[str, Any],
    node: Any,
) -> Any:
    """Call a function with source: in place, or as a function of the program."""
    program = frame.program
    code = source.node
    bound = bind_arguments(frame, source, closure, arguments, keywords, node)
    active = next((f for f in _stack(frame) if f.source.node is code), None)
    if active is not None and code not in program.separate:
        program.separate.add(code)
        raise SeparateInstead(code)
    tree, _ = program.normal_form(code)
    if active is not None and code in program.inlined:
        raise _makes_functions(frame, source, node)
    small = code not in program.separate and (
        code in program.inlined or _is_small(tree) or _is_formula(source, tree)
    )
    if not small:
        program.separate.add(code)
        try:
            return _call_unit(frame, source, closure, bound, node)
        except InlineInstead:
            program.inlined.add(code)
            program.separate.discard(code)
    b = frame.builder
    written, known = len(b.block), dict(b.known)
    try:
        return inline(frame, source, closure, bound, node)
    except SeparateInstead as e:
        if e.code is not code:
            raise
        del b.block[written:]  # of what was written in place, nothing stays
        b.known = known
        try:
            return _call_unit(frame, source, closure, bound, node)
        except InlineInstead:
            raise _makes_functions(frame, source, node) from None


def _makes_functions(frame: Frame, source: Source, node: Any) -> Exception:
    """The error for a function that can neither be written in place nor stand alone."""
    return frame.error(
        UnsupportedSyntax,
        f"{source.node.name} calls itself and returns a function",
        node,
        instead="a loop, or a function that returns numbers",
    )


def _units(frame: Frame | None) -> Iterator[Unit]:
    """The units that are being written, innermost first."""
    while frame is not None:
        yield frame.unit
        frame = frame.unit.caller


def _stack(frame: Frame | None) -> Iterator[Frame]:
    while frame is not None:
        yield frame
        frame = frame.caller


def _is_small(tree: gast.FunctionDef) -> bool:
    nodes = [n for s in tree.body for n in gast.walk(s)]
    if any(isinstance(n, gast.For | gast.While) for n in nodes):
        return False
    return sum(isinstance(n, gast.stmt) for n in nodes) <= LARGEST_INLINED


def _is_formula(source: Source, tree: gast.FunctionDef) -> bool:
    """Whether it is a function of the table's own without a loop at run time."""
    if not (source.function.__module__ or "").startswith(LIBRARY):
        return False
    if source.function in TABLE.apart:
        return False
    return not any(isinstance(n, gast.While) for s in tree.body for n in gast.walk(s))


def bind_arguments(
    frame: Frame,
    source: Source,
    closure: Closure | None,
    arguments: list[Any],
    keywords: dict[str, Any],
    node: Any,
) -> dict[str, Any]:
    """Parameter names to abstract values, by Python's rules for calls."""
    a = source.node.args
    positional = [p.id for p in (*a.posonlyargs, *a.args)]
    only_keywords = [p.id for p in a.kwonlyargs]
    bound = dict(zip(positional, arguments, strict=False))
    name = source.node.name
    extra = arguments[len(positional) :]
    if extra and a.vararg is None:
        raise ProgramError(
            TypeError(
                f"{name}() takes {len(positional)} positional "
                f"argument{'s' * (len(positional) != 1)} "
                f"but {len(arguments)} were given"
            )
        )
    if a.vararg is not None:
        bound[a.vararg.id] = Structure(tuple, tuple(extra))
    others: dict[str, Any] = {}
    for key, value in keywords.items():
        if key in bound:
            raise ProgramError(
                TypeError(f"{name}() got multiple values for argument '{key}'")
            )
        if key not in positional and key not in only_keywords:
            if a.kwarg is not None:
                others[key] = value
                continue
            raise ProgramError(
                TypeError(f"{name}() got an unexpected keyword argument '{key}'")
            )
        bound[key] = value
    defaults = closure.defaults if closure else source.function.__defaults__ or ()
    named = (
        closure.keyword_defaults if closure else source.function.__kwdefaults__ or {}
    )
    offset = len(positional) - len(defaults)
    for k, p in enumerate(positional):
        if p not in bound and k >= offset:
            bound[p] = _default(
                frame, source, closure, defaults[k - offset], p, k - offset
            )
    for p in only_keywords:
        if p not in bound and p in named:
            bound[p] = _default(frame, source, closure, named[p], p, p)
    if a.kwarg is not None:
        bound[a.kwarg.id] = dict_of(list(others.items()))
    _raise_missing(name, "positional", [p for p in positional if p not in bound])
    _raise_missing(name, "keyword-only", [p for p in only_keywords if p not in bound])
    return bound


def _raise_missing(name: str, kind: str, missing: list[str]) -> None:
    """Python's own error about arguments that have no value, in its words."""
    if not missing:
        return
    quoted = [f"'{m}'" for m in missing]
    comma = "," if len(missing) > 2 else ""
    listed = f"{comma} and ".join(
        [", ".join(quoted[:-1]), quoted[-1]][len(missing) == 1 :]
    )
    count = f"{len(missing)} required {kind} argument{'s' * (len(missing) != 1)}"
    raise ProgramError(TypeError(f"{name}() missing {count}: {listed}"))


def _default(
    frame: Frame,
    source: Source,
    closure: Closure | None,
    value: Any,
    name: str,
    key: Any,
) -> Any:
    if closure is not None:
        return value  # abstract already
    from gradwright.transform.specialise.abstract import Path

    f = source.function
    find = frame.program.finder(f)

    def read(root: Any = None) -> Any:
        held = find(root)
        return (
            held.__defaults__[key] if isinstance(key, int) else held.__kwdefaults__[key]
        )

    if _is_constant(value):
        path = Path(name, ("constant", id(f), key), lambda root=None: (read(root),))
        frame.program.guards.setdefault(path.key, (path, (value,)))
        return lift(value)

    return frame.wrap(value, Path(name, ("default", id(f), key), read))


def _is_constant(value: Any) -> bool:
    """Whether it is a number, or a tuple of them, told apart by its value."""
    if type(value) is tuple:
        return all(map(_is_constant, value))
    return isinstance(value, bool | int | float | complex)


def inline(
    frame: Frame,
    source: Source,
    closure: Closure | None,
    bound: dict[str, Any],
    node: Any,
    in_rule: bool = False,
) -> Any:
    """Write a function out where it is called."""
    inner = Frame(
        frame.program, frame.unit, source, closure.frame if closure else None, frame
    )
    inner.in_rule = in_rule or frame.in_rule
    inner.env.update(bound)
    where = frame.builder.where
    result = run_body(inner)
    frame.builder.where = where
    return result


def run_body(frame: Frame) -> Any:
    """Specialise a whole body in normal form; the value it returns."""
    *body, last = frame.node.body
    frame.run(body)
    if not isinstance(last, gast.Return):
        frame.run([last])
        return Static(None)
    if frame.speaks:
        frame.builder.where = frame.location(last)
    if last.value is None:
        return Static(None)
    try:
        return frame.evaluate(last.value)
    except (Unready, ProgramError) as e:
        frame.raise_there(e)
        return constant(math.nan)  # never returned


# ---- functions of the program ------------------------------------------------------


def _call_unit(
    frame: Frame,
    source: Source,
    closure: Closure | None,
    bound: dict[str, Any],
    node: Any,
) -> Any:
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
        for inner in _units(frame):
            inner.waits_for.add(unit)
        raise Unready
    return _emit_call(frame, unit, operands)


def separate_unit(
    frame: Frame,
    source: Source,
    closure: Closure | None,
    bound: dict[str, Any],
    node: Any,
) -> tuple[Unit, list[Operand]]:
    """A function of the program as a unit of its own, never written out in place."""
    static: set[str] = set()
    frame.program.separate.add(source.node)
    while True:
        key, operands = _signature(frame, source, closure, bound, static)
        try:
            key = ("derivative", key)
            unit = frame.program.units.get(key)
            if unit is None:
                unit = _specialise_unit(frame, source, closure, bound, key, static)
            return unit, operands
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
) -> Unit:
    """Write a core function for one kind of arguments; its result type by iteration."""
    program = frame.program
    guess: Any = None
    captures: dict[Any, Capture] = {}
    made_before = dict(program.units)
    while True:
        program.units = dict(made_before)  # an attempt's own callees go with it
        unit = Unit(_name_of(source), frame)
        unit.result = guess
        unit.builder.where = frame.builder.where
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
        try:
            value = run_body(inner)
            _refuse_escaping(value, unit)
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
            _finish(unit, value, result, source)
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
        if isinstance(leaf, BoundMethod | Counting | Items | Zipped):
            raise InlineInstead


def _finish(unit: Unit, value: Any, result: Any, source: Source) -> None:
    unit.result, unit.value, unit.done = result, _known_operands(value), True
    f = unit.function
    f.body = unit.builder.block
    f.results = [x for x in leaves(_known_operands(value)) if _is_runtime(x)]
    f.filename = source.filename


def _is_runtime(leaf: Any) -> bool:
    return is_operand(leaf) and not (
        isinstance(leaf, Const) and not leaf.type.is_number
    )


def _emit_call(frame: Frame, unit: Unit, operands: list[Operand]) -> Any:
    """The call itself, and its results put back into their structure."""
    outs: list[Value] = []

    def fresh(leaf: Any) -> Any:
        if not isinstance(leaf, Type):
            return leaf
        out = own_value(f"{unit.name}_value", leaf)
        outs.append(out)
        return Linear({out: 1}) if leaf.python and leaf.dtype == "int" else out

    result = mapped(fresh, unit.result)
    unit.is_recursive |= not unit.done
    captured = [c.operand_in(frame) for c in unit.captures.values()]
    frame.unit.assume_of_call(unit, [*operands, *captured])
    frame.builder.add(Call(tuple(outs), unit.function, (*operands, *captured)))
    return result


def _name_of(source: Source) -> str:
    name = source.node.name
    return "inner" if name == "<lambda>" else str(name)


# ---- Python's builtins -------------------------------------------------------------


def _no_keywords(
    frame: Frame, keywords: dict[str, Any], node: Any, *known: str
) -> None:
    for k in keywords:
        if k not in known:
            raise frame.error(
                UnsupportedSyntax,
                f"gradwright does not know {k}= of this call yet",
                node,
            )


@builtin(len)
def _len(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    (a,) = arguments
    match a:
        case Structure():
            return constant(len(a.items))
        case Static():
            frame.program.guard_length(a)
            return constant(len(a.value))
        case Value() if a.type.is_array and a.type.dims:
            return a.type.dims[0]
    raise frame.error(UnsupportedSyntax, f"len() of {describe(a)}", node)


@builtin(range)
def _range(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    for a in arguments:
        if not is_operand(a) or not type_of(a).is_integer:
            found = "float" if is_operand(a) else type(a).__name__.lower()
            text = f"'{found}' object cannot be interpreted as an integer"
            raise ProgramError(TypeError(text))
    bounds = [*arguments] if len(arguments) > 1 else [linear(0), *arguments]
    step = bounds[2] if len(bounds) == 3 else linear(1)
    return Counting(bounds[0], bounds[1], step)


@builtin(enumerate)
def _enumerate(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    start = keywords.get("start", arguments[1] if len(arguments) > 1 else linear(0))
    items = iterable(frame, arguments[0], node)
    if isinstance(items, Structure):
        numbered = (
            Structure(tuple, (start + k, item)) for k, item in enumerate(items.items)
        )
        return Structure(tuple, tuple(numbered))
    return Zipped((From(start), items))


@builtin(zip)
def _zip(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    _no_keywords(frame, keywords, node, "strict")
    strict = getattr(keywords.get("strict"), "value", False)
    parts = [iterable(frame, a, node) for a in arguments]
    fixed = [len(p.items) for p in parts if isinstance(p, Structure)]
    if len(fixed) == len(parts):
        if strict and len(set(fixed)) > 1:
            raise ProgramError(_unequal(fixed))
        rows = zip(*(p.items for p in parts), strict=False)
        return Structure(tuple, tuple(Structure(tuple, tuple(r)) for r in rows))
    if fixed:
        raise frame.error(
            UnsupportedSyntax,
            "zip() of a tuple and of something of run-time length",
            node,
        )
    if strict:
        raise frame.error(
            UnsupportedSyntax, "zip() with strict=True of run-time lengths", node
        )
    return Zipped(tuple(parts))


def _unequal(lengths: list[int]) -> ValueError:
    """What zip() raises where its arguments must have one length."""
    k = next(k for k, n in enumerate(lengths) if n != lengths[0])
    word = "shorter" if lengths[k] < lengths[0] else "longer"
    before = "argument 1" if k == 1 else f"arguments 1-{k}"
    return ValueError(f"zip() argument {k + 1} is {word} than {before}")


@builtin(reversed)
def _reversed(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    items = iterable(frame, arguments[0], node)
    match items:
        case Structure():
            return Structure(items.sequence, items.items[::-1])
        case Counting():
            return Counting(items.start, items.stop, items.step, not items.backwards)
        case Items():
            return Items(items.array, not items.backwards)
    raise ProgramError(TypeError("'zip' object is not reversible"))


def iterable(frame: Frame, a: Any, node: Any) -> Any:
    """What a loop runs over."""
    match a:
        case Structure(keys=tuple(keys)):
            return Structure(tuple, tuple(map(lift, keys)))
        case Structure() | Counting() | Items() | Zipped():
            return a
        case Static() if type(a.value) is dict:
            return iterable(frame, frame.opened(a), node)
        case Value() if a.type.dims:
            return Items(a)
        case Static() if isinstance(a.value, str | tuple | list | range):
            frame.program.guard_length(a)
            if a.path is None or isinstance(a.value, str | range):
                return Structure(tuple, tuple(map(lift, a.value)))
            items = (frame.wrap(v, a.path.item(k)) for k, v in enumerate(a.value))
            return Structure(type(a.value), tuple(items))
    raise frame.error(UnsupportedSyntax, f"a loop over {describe(a)}", node)


def known_items(frame: Frame, a: Any, node: Any) -> Any:
    """The items of an iterable of which it is known how many there are."""
    found = iterable(frame, a, node)
    match found:
        case Structure():
            return found.items
        case Counting(
            Linear(constant=int(i)), Linear(constant=int(j)), Linear(constant=int(k))
        ):
            if k and len(range(i, j, k)) <= MOST_UNROLLED:
                numbers = range(i, j, k)
                ordered = reversed(numbers) if found.backwards else numbers
                return [linear(n) for n in ordered]
    raise frame.refusal(node)


@builtin(tuple)
def _tuple(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    return _sequence(tuple, frame, arguments, node)


@builtin(list)
def _list(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    return _sequence(list, frame, arguments, node)


@builtin(dict)
def _dict(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    pairs: list[tuple[Any, Any]] = []
    for a in arguments:
        held = frame.opened(a) if isinstance(a, Static) else a
        if isinstance(held, Structure) and held.keys is not None:
            pairs += pairs_of(held)
            continue
        for pair in known_items(frame, held, node):
            k, v = known_items(frame, pair, node)
            pairs.append((known_key(frame, k, node), v))
    return dict_of([*pairs, *keywords.items()])


@builtin(sorted)
def _sorted(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """Of what is known now, as the keys of a dict are."""
    _no_keywords(frame, keywords, node)
    (a,) = arguments
    known = [known_key(frame, k, node) for k in known_items(frame, a, node)]
    try:
        return Structure(list, tuple(map(lift, sorted(known))))
    except TypeError as e:
        raise ProgramError(e) from None


def _sequence(kind: Any, frame: Frame, arguments: list[Any], node: Any) -> Any:
    if not arguments:
        return Structure(kind, ())
    items = iterable(frame, arguments[0], node)
    if not isinstance(items, Structure):
        raise frame.error(
            UnsupportedSyntax, f"a {kind.__name__} of run-time length yet", node
        )
    return Structure(kind, items.items)


@builtin(isinstance)
def _isinstance(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    a, classes = arguments
    wanted = tuple(c.value for c in leaves(classes))
    return constant(any(_is_instance(a, c) for c in wanted))


def _is_instance(a: Any, cls: Any) -> bool:
    match a:
        case Static():
            return isinstance(a.value, cls)
        case Structure():
            return issubclass(a.kind, cls)
        case Closure():
            return issubclass(types.FunctionType, cls)
    t = type_of(a)
    if t.is_array:
        return issubclass(np.ndarray, cls)
    kinds = {"bool": bool, "int": int, "float": float, "complex": complex, "str": str}
    real = kinds[t.dtype] if t.python else np.dtype(t.dtype).type
    return issubclass(real, cls)


@builtin(print)
def _print(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    from gradwright.transform.specialise.expressions import as_operand

    _no_keywords(frame, keywords, node, "sep", "end", "flush")
    shown = [as_operand(frame, as_constant(a), node) for a in arguments]
    named = tuple(
        (k, as_operand(frame, as_constant(a), node)) for k, a in keywords.items()
    )
    frame.builder.add(Effect(print, tuple(shown), named))
    return Static(None)


@builtin(np.iscomplexobj)
def _is_complex(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    return constant(all(is_operand(a) and type_of(a).is_complex for a in arguments))


@builtin(np.array, np.asarray, np.ascontiguousarray, np.asfortranarray)
def _array(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    from gradwright.transform.specialise.expressions import display

    _no_keywords(frame, keywords, node, "dtype", "copy")
    made = display(frame, arguments[0], node)
    if not type_of(made).is_array:
        made = display(frame, Structure(list, (made,)), node)
        shape = Structure(tuple, ())
        made = call(frame, Static(np.reshape), [made, shape], {}, node)
    wanted = keywords.get("dtype", arguments[1] if len(arguments) > 1 else None)
    if wanted is None or (isinstance(wanted, Static) and wanted.value is None):
        return made
    return as_dtype(frame, made, wanted, node)


@builtin(np.copy)
def _copy(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    (a,) = arguments
    return copy(frame, a, [], keywords, node)


@builtin(np.astype)
def _astype(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    x, wanted = arguments
    return as_dtype(frame, x, wanted, node)


@builtin(np.ndim)
def _ndim(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    (a,) = arguments
    return constant(len(_dims(frame, a, node)))


@builtin(np.shape)
def _np_shape(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    (a,) = arguments
    return Structure(tuple, tuple(_dims(frame, a, node)))


@builtin(np.size)
def _np_size(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    a, *axis = arguments
    dims = _dims(frame, a, node)
    if axis:
        return dims[frame.static_int(axis[0], node, "the axis")]
    return size(frame, array(float, tuple(dims)), node)


def _dims(frame: Frame, a: Any, node: Any) -> Any:
    """The shape of anything that NumPy would take for an array."""
    from gradwright.transform.specialise.expressions import display

    return type_of(display(frame, a, node)).dims or ()


@builtin(slice)
def _slice(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    from gradwright.transform.specialise.subscripts import span

    bounds = [None, *arguments] if len(arguments) == 1 else arguments
    return span(frame, *bounds, *([None] * (3 - len(bounds))))


@builtin(max)
def _max(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    return _extreme(max, frame, arguments, keywords, node)


@builtin(min)
def _min(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    return _extreme(min, frame, arguments, keywords, node)


def _extreme(
    f: Any, frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """The larger or smaller of several arguments, or of the items of one."""
    from gradwright.transform.specialise.expressions import operate

    _no_keywords(frame, keywords, node)
    items = arguments
    if len(arguments) == 1:
        found = iterable(frame, arguments[0], node)
        if not isinstance(found, Structure):
            instead = f"np.{f.__name__}(...)"
            raise frame.error(
                UnsupportedSyntax, f"{f.__name__}() over an array yet", node, instead
            )
        items = list(found.items)
    if not items:
        raise ProgramError(ValueError(f"{f.__name__}() arg is an empty sequence"))
    best = items[0]
    for other in items[1:]:
        pair = [getattr(x, "constant", None) for x in (best, other)]
        known = None not in pair
        best = linear(f(pair)) if known else operate(frame, f, node, best, other)
    return best
