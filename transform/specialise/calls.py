"""Calls: the user's functions, rows of the table, Python's own builtins.

A small straight-line function is written out where it is called; any other becomes a
function of the residual program, once for each kind of arguments.  Numbers are lifted
to parameters, so that recursion ends; what a callee needs to know (an axis, a key) is
made static on demand.
"""

from __future__ import annotations

import functools
import inspect
import types
import weakref
from collections.abc import Iterator
from typing import Any

import gast

from gradwright.transform.core import Const, type_of
from gradwright.transform.errors import (
    EffectError,
    MissingRule,
    UnsupportedSyntax,
)
from gradwright.transform.indices import Linear
from gradwright.transform.primitives.record import TABLE
from gradwright.transform.primitives.structural import CONJUGATE
from gradwright.transform.source import Source, is_library
from gradwright.transform.specialise import inplace, masked, regions, windows
from gradwright.transform.specialise.abstract import (
    BoundMethod,
    Closure,
    Generator,
    Listed,
    Static,
    Structure,
    describe,
    is_operand,
    of_caller,
)
from gradwright.transform.specialise.arrays import call_signed
from gradwright.transform.specialise.builtins import BUILTINS, no_keywords
from gradwright.transform.specialise.collectives import PARAMETERS, call_collective
from gradwright.transform.specialise.custom import call_custom
from gradwright.transform.specialise.frame import (
    LIBRARY,
    Frame,
    ProgramError,
    lift,
)
from gradwright.transform.specialise.gathering import drained
from gradwright.transform.specialise.listing import METHODS as OF_LISTS
from gradwright.transform.specialise.listing import of_numpy
from gradwright.transform.specialise.lists import as_array
from gradwright.transform.specialise.methods import METHODS
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
from gradwright.transform.specialise.structures import (
    METHODS as OF_STRUCTURES,
)
from gradwright.transform.specialise.structures import (
    dict_of,
    make_namedtuple,
)
from gradwright.transform.specialise.units import InlineInstead, call_unit, run_body
from gradwright.transform.structure import is_namedtuple, put_together

LARGEST_INLINED = 12  # statements of a function that is written out where it is called


class SeparateInstead(Exception):
    """This function turned out to call itself: it must stand on its own."""

    def __init__(self, code: Any) -> None:
        self.code = code


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
        case BoundMethod(function=f) if (
            f in METHODS.values() or f in OF_STRUCTURES or f in OF_LISTS.values()
        ):
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
    if getattr(type(f), "__gradwright_custom__", ""):
        return call_custom(frame, Static(f, function.path), arguments, keywords, node)
    kind = getattr(f, "__gradwright_kind__", None)
    if kind == "jvp":
        return call_jvp(frame, arguments, keywords, node)
    if kind == "hvp":
        return call_hvp(frame, arguments, keywords, node)
    if kind == "stop_gradient":
        return stop_gradient(frame, arguments, keywords, node)
    if kind in ("vjp", "linearize"):
        return call_split(frame, kind, arguments, keywords, node)
    if kind in PARAMETERS:
        return call_collective(frame, kind, arguments, keywords, node)
    if kind is not None:
        return make_derivative(frame, kind, arguments, keywords, node)
    if isinstance(f, type) and is_namedtuple(f):
        return make_namedtuple(frame, f, arguments, keywords, node)
    handler = (
        _lookup(BUILTINS, f)
        or windows.meaning(f)
        or inplace.meaning(f, arguments, keywords)
        or masked.meaning(f, keywords)
    )
    if handler is not None:
        return handler(frame, arguments, keywords, node)
    TABLE.ensure(f)
    if _lookup(TABLE.known, f) is not None:
        return lift(f(*map(_known, arguments)))
    if getattr(f, "__module__", "") in ("builtins", "math"):
        arguments = [_gone_through(frame, a, node) for a in arguments]
    if arguments and isinstance(arguments[0], Listed):
        made = of_numpy(frame, f, arguments[0], keywords, node)
        if made is not None:
            return made
    if f in (all, any) and all(map(_is_known_bool, _items(arguments))):
        return lift(f(*map(_known, arguments)))
    composed = _lookup(TABLE.compositions, f)
    if composed is not None and composed not in TABLE.apart:
        arguments = [
            as_array(frame, a, node) if isinstance(a, Listed) else a for a in arguments
        ]
    if composed is not None:
        source = frame.source_of(composed, node)
        return call_user(frame, source, None, arguments, keywords, node)
    signed = TABLE.signed(f, len(arguments))
    if signed is not None:
        return call_signed(frame, signed, arguments, keywords, node)
    if TABLE.knows(f):
        arguments, keywords = _in_order(f, arguments, keywords)
        no_keywords(frame, keywords, node)
        return operate(frame, f, node, *arguments)
    if isinstance(f, types.MethodType) and isinstance(f.__func__, types.FunctionType):
        path = function.path and function.path.attribute("__self__")
        owner = Static(f.__self__, path)
        return call(frame, Static(f.__func__), [owner, *arguments], keywords, node)
    if isinstance(f, types.FunctionType) and not is_library(f):
        frame.program.guard_code(f)
        source = frame.source_of(f, node)
        return call_user(frame, source, None, arguments, keywords, node)
    _refuse_impure(frame, function, node)
    raise frame.error(
        MissingRule,
        f"there is no rule for {describe(function)}",
        node,
        instead="a function with a rule, or one of your own in plain Python",
    )


def _gone_through(frame: Frame, a: Any, node: Any) -> Any:
    """What a function of Python's takes out of a generator."""
    return drained(frame, a, node) if isinstance(a, Generator) else a


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


def _items(arguments: list[Any]) -> list[Any]:
    """What a structure holds that is the only argument."""
    (a,) = arguments if len(arguments) == 1 else (None,)
    return list(a.items) if isinstance(a, Structure) else [a]


def _in_order(
    f: Any, arguments: list[Any], keywords: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """What is given by name in the place that it has, if it has one."""
    try:
        bound = inspect.signature(f).bind(*arguments, **keywords)
    except (TypeError, ValueError):
        return arguments, keywords
    return list(bound.args), bound.kwargs


def _is_known_bool(a: Any) -> bool:
    return isinstance(a, Const) and isinstance(a.value, bool)


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
    here = next((a for v in bound.values() for a in of_caller(v)), None)
    if here is not None and (active is not None or frame.in_rule):
        raise frame.error(
            UnsupportedSyntax,
            f"{describe(here)} is handed to {source.node.name}, which calls itself",
            node,
            instead="np.array(...) of it",
        )
    small = here is not None or (
        code not in program.separate
        and (
            code in program.inlined
            or _is_small(tree)
            or _is_formula(source, tree)
            or _stores(frame, source, bound)
        )
    )
    if not small:
        program.separate.add(code)
        try:
            return call_unit(frame, source, closure, bound, node)
        except InlineInstead as e:
            program.inlined.add(code)
            program.separate.discard(code)
            program.reasons[code] = e.reason
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
            return call_unit(frame, source, closure, bound, node)
        except InlineInstead as e:
            program.reasons[code] = e.reason
            raise _makes_functions(frame, source, node) from None


def _makes_functions(frame: Frame, source: Source, node: Any) -> Exception:
    """The error for a function that can neither be written in place nor stand alone."""
    reason = frame.program.reasons.get(source.node, "returns a function")
    return frame.error(
        UnsupportedSyntax,
        f"{source.node.name} calls itself and {reason}",
        node,
        instead="a loop, or a function that returns numbers",
    )


def _stack(frame: Frame | None) -> Iterator[Frame]:
    while frame is not None:
        yield frame
        frame = frame.caller


def _is_small(tree: gast.FunctionDef) -> bool:
    nodes = [n for s in tree.body for n in gast.walk(s)]
    if any(isinstance(n, gast.For | gast.While) for n in nodes):
        return False
    return sum(isinstance(n, gast.stmt) for n in nodes) <= LARGEST_INLINED


def _stores(frame: Frame, source: Source, bound: dict[str, Any]) -> bool:
    """Whether a function may store into an array that it does not make itself."""
    stored = frame.program.findings.stored(source)
    arrays = {k for k, v in bound.items() if is_operand(v) and type_of(v).is_array}
    return bool(stored.surely & stored.free or stored.places & arrays)


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
    if node is not None:
        inner.site = (*frame.site, (node.lineno, node.col_offset))
    for name, value in bound.items():
        inner.env[name] = regions.bound(inner, name, value, source.node)
    where = frame.builder.where
    result = run_body(inner)
    frame.builder.where = where
    return result
