"""The entry: what happens at a call, from the caller's arguments to the source that runs.

A call is bound to the parameters, its arguments' kinds are looked up, and the emitted
function of that kind runs on the numbers and arrays inside them.  Captured numbers are
read anew at every call; captured functions must be the ones that were rewritten.
"""

from __future__ import annotations

import inspect
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gradwright.backends.numpy import load
from gradwright.pipeline import Built, build, plain_function, steps_of
from gradwright.transform import source as sources
from gradwright.transform.core import Const
from gradwright.transform.emit import Module
from gradwright.transform.errors import NotDifferentiable, note_user_line
from gradwright.transform.indices import Dim, Linear
from gradwright.transform.specialise import NeedsValue
from gradwright.transform.specialise.abstract import Path, Static, Structure
from gradwright.transform.specialise.frame import type_of_input

ALL: weakref.WeakSet[Entry] = weakref.WeakSet()
MOST_SPECIALISATIONS = 1024
PLAIN = (float, int, bool, complex, np.float64, np.float32, np.complex128, np.int64)


# ---- kinds of arguments ------------------------------------------------------------


def kind_of(a: Any) -> Any:
    """What of an argument decides which specialisation it gets; hashable."""
    t = type(a)
    if t in PLAIN:
        return t
    if t is np.ndarray:
        return a.dtype, tuple([n == 1 for n in a.shape])
    if t in (tuple, list):
        return t, tuple([kind_of(i) for i in a])
    if a is None or t is str:
        return t, a
    if isinstance(a, np.generic):
        return t
    return t, id(a)


def pattern_of(a: Any, name: str, by_value: bool = False) -> Any:
    """An argument as `specialise` takes it: a type, a structure, or a static object."""
    if type(a) in (tuple, list):
        return Structure(type(a), tuple(pattern_of(i, name, by_value) for i in a))
    if by_value and type(a) is int:
        return Linear({}, a)
    found = type_of_input(a)
    if found is not None and found.dtype != "str":
        return found
    if a is None or isinstance(a, str | type) or callable(a):
        return Static(a)
    raise NotDifferentiable(
        f"the argument {name} is a {type(a).__name__}: gradwright takes numbers, arrays, "
        f"strings, functions, None, and tuples and lists of these"
    )


def ints_in(a: Any) -> tuple[int, ...]:
    """The Python ints inside an argument whose value must be known."""
    return tuple(leaf for leaf in flat(a) if type(leaf) is int)


def flat(a: Any) -> Iterator[Any]:
    """The numbers and arrays inside an argument."""
    if type(a) in (tuple, list):
        for item in a:
            yield from flat(item)
    elif type(a) is np.ndarray or isinstance(a, np.generic | int | float | complex):
        yield a


# ---- one specialisation ------------------------------------------------------------


class Specialisation:
    """An emitted function with its checks, and how to put its results together."""

    def __init__(self, built: Built, positions: list[int], keep: tuple[Any, ...]) -> None:
        self.built = built
        self.module: Module = built.module
        self.function = load(built.module)
        self.guards = [(p.read, v, p) for p, v in built.specialised.guards]
        self.hidden = [
            (v.settled, p.read, kind_of(p.read()))  # type: ignore[attr-defined]
            for p, v in built.specialised.hidden
        ]
        self.result = built.derived.result
        self.positions = positions
        self.keep = keep  # static arguments: their identity is part of the key
        self.is_single = not isinstance(self.result, Structure)
        self.checks = list(_dim_checks(built))

    def is_current(self) -> bool:
        """Whether what the program captured is still what was rewritten."""
        for read, expected, _ in self.guards:
            try:
                found = read()
            except (AttributeError, LookupError, ValueError):
                return False
            if found is not expected and not _is_same(found, expected):
                return False
        return all(kind_of(read()) == kind for _, read, kind in self.hidden)

    def run(self, leaves: list[Any]) -> Any:
        """Call the emitted function; the user's exceptions gain the user's line."""
        for check in self.checks:
            check(leaves)
        try:
            if self.hidden:
                return self.function(*leaves, **{n: read() for n, read, _ in self.hidden})
            return self.function(*leaves)
        except Exception as e:
            _note(e, self.function.__code__.co_filename, self.module)
            raise


def _is_same(a: Any, b: Any) -> bool:
    """Whether two plain objects say the same; other objects must be identical."""
    return type(a) is type(b) and type(a) in (str, int, bool, tuple) and a == b


def _note(e: BaseException, filename: str, module: Module) -> None:
    """Add the user's line for the line of emitted source that raised."""
    tb = e.__traceback__
    found = None
    while tb is not None:
        if tb.tb_frame.f_code.co_filename == filename:
            found = module.lines.get(tb.tb_lineno, found)
        tb = tb.tb_next
    if found is not None:
        note_user_line(e, found)


def _dim_checks(built: Built) -> Iterator[Callable[[list[Any]], None]]:
    """The equalities of dims that the program relies on."""
    params = [
        p for p in built.derived.function.params if p not in built.derived.function.hidden
    ]

    def place(form: Linear) -> tuple[int, int] | None:
        (s,) = form.symbols() if len(form.terms) == 1 else (None,)
        if isinstance(s, Dim) and s.array in params and form == Linear({s: 1}):
            return params.index(s.array), s.axis
        return None

    for a, b, where in built.specialised.equal_dims:
        left, right = place(a), place(b)
        if left is None or right is None:
            continue

        def check(
            leaves: list[Any],
            left: tuple[int, int] = left,
            right: tuple[int, int] = right,
            where: Any = where,
        ) -> None:
            x, y = leaves[left[0]], leaves[right[0]]
            if x.shape[left[1]] != y.shape[right[1]]:
                error = ValueError(
                    f"operands could not be broadcast together with shapes "
                    f"{_shape(x)} {_shape(y)} "
                )
                if where is not None:
                    note_user_line(error, where)
                raise error

        yield check


def _shape(x: Any) -> str:
    return str(x.shape).replace(" ", "")


def filled(template: Any, values: Iterator[Any]) -> Any:
    """Results put back into their structure."""
    if isinstance(template, Structure):
        return template.kind(filled(i, values) for i in template.items)
    if isinstance(template, Static):
        return template.value
    if isinstance(template, Const) and not template.type.is_number:
        return template.value
    return next(values)


# ---- a transformed function --------------------------------------------------------


class Entry:
    """The specialisations of one transformed function, and the way to them."""

    def __init__(self, target: Any, owner: Any) -> None:
        user, self.steps = steps_of(owner)
        self.owner = owner
        function, self.bound, self.keywords = plain_function(user)
        self.function = function
        self.source: sources.Source | None = None
        self.signature: inspect.Signature | None = None
        self.specialisations: dict[Any, Specialisation] = {}
        self.by_value: set[str] = set()
        self.last: Specialisation | None = None
        self.lock = threading.RLock()
        self.names: list[str] = []
        self.is_flat = False
        self.read: tuple[Any, ...] = ()
        ALL.add(self)

    def open(self) -> None:
        """Read the source, once for each code and defaults; refuse what has none."""
        f = self.function
        now = (
            getattr(f, "__code__", None),
            getattr(f, "__defaults__", None),
            getattr(f, "__kwdefaults__", None),
        )
        if len(self.read) != 3 or any(a is not b for a, b in zip(now, self.read, strict=True)):
            self.specialisations.clear()
            self.read = now
            self.source = sources.read(self.function)
            self.signature = inspect.signature(self.function, follow_wrapped=False)
            self.names = list(self.signature.parameters)
            kinds = {p.kind for p in self.signature.parameters.values()}
            self.is_flat = kinds <= {
                inspect.Parameter.POSITIONAL_ONLY,
                inspect.Parameter.POSITIONAL_OR_KEYWORD,
            } and not (self.bound or self.keywords)

    def bind(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Any, ...]:
        """The arguments in the order of the parameters, defaults filled in."""
        self.open()
        if self.is_flat and not keywords and len(args) == len(self.names):
            return args
        assert self.signature is not None
        try:
            bound = self.signature.bind(*self.bound, *args, **{**self.keywords, **keywords})
        except TypeError as e:
            raise TypeError(f"{self.function.__name__}() {e}") from None
        bound.apply_defaults()
        return tuple(bound.arguments[n] for n in self.names)

    def find(self, args: tuple[Any, ...]) -> Specialisation:
        """The specialisation for these arguments, made if there is none."""
        found = self.specialisations.get(self.key(args))
        if found is None or not ((not found.guards and not found.hidden) or found.is_current()):
            with self.lock:
                found = self.make(args)
        self.last = found
        return found

    def key(self, args: tuple[Any, ...]) -> Any:
        """What decides which specialisation a call gets."""
        if not self.by_value:
            return tuple([kind_of(a) for a in args])
        named = zip(self.names, args, strict=True)
        return tuple(
            [(kind_of(a), *ints_in(a)) if n in self.by_value else kind_of(a) for n, a in named]
        )

    def leaves(self, args: tuple[Any, ...]) -> list[Any]:
        """The numbers and arrays of a call; not those that the source has as literals."""
        found = []
        for n, a in zip(self.names, args, strict=True):
            kept = flat(a)
            if n in self.by_value:
                kept = (leaf for leaf in kept if type(leaf) is not int)
            found.extend(kept)
        return found

    def make(self, args: tuple[Any, ...]) -> Specialisation:
        assert self.source is not None
        while True:
            patterns = {
                n: self.pattern(n, a) for n, a in zip(self.names, args, strict=True)
            }
            try:
                built = build(self.owner, self.source, patterns)
                break
            except NeedsValue as e:
                if e.parameter in self.by_value:
                    raise
                self.by_value.add(e.parameter)
        keep = tuple(a for a in args if not isinstance(a, np.ndarray | float | complex))
        made = Specialisation(built, [], keep)
        while len(self.specialisations) >= MOST_SPECIALISATIONS:
            del self.specialisations[next(iter(self.specialisations))]
        self.specialisations[self.key(args)] = made
        return made

    def pattern(self, name: str, a: Any) -> Any:
        """An argument as `specialise` takes it; a bound one may be any object."""
        if any(a is b for b in (*self.bound, *self.keywords.values())):
            found = type_of_input(a)
            if found is None:
                return Static(a, Path(name, ("bound", id(a)), lambda: a))
        return pattern_of(a, name, name in self.by_value)

    def call(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        args = self.bind(args, keywords)
        found = self.find(args)
        plain = not self.by_value and not _nested(args)
        out = found.run([*args] if plain else self.leaves(args))
        if found.is_single:
            return _single(found.result, out)
        return filled(found.result, _several(out, found))

    # ---- jvp and vjp -------------------------------------------------------------

    def jvp(self, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
        args = self.bind(tuple(primals), {})
        if len(tangents) != len(primals):
            raise ValueError(
                f"jvp needs a tangent for each primal: {len(primals)} primals, "
                f"{len(tangents)} tangents"
            )
        found = self.find(args)
        dots = list(matched(tuple(primals), tuple(tangents), "tangent"))
        dots += [np.zeros_like(p)[()] for a in args for p in flat(a) if is_inexact(p)][len(dots):]
        out = found.run([*self.leaves(args), *dots])
        return filled(found.result, _several(out, found))

    def vjp(self, args: tuple[Any, ...]) -> tuple[Any, Pull]:
        given = args
        args = self.bind(args, {})
        found = self.find(args)
        leaves = self.leaves(args)
        out = found.run(leaves)
        count = len(found.built.derived.function.results)
        values = list(out) if isinstance(out, tuple) else [out]
        value = filled(found.result, iter(values[:count]))
        return value, Pull(found, given, leaves, values[count:], value)


def clear_caches() -> None:
    """Forget every specialisation and every source that was read."""
    for entry in list(ALL):
        with entry.lock:
            entry.specialisations.clear()
            entry.last = None
    sources.clear_cache()


def _nested(args: tuple[Any, ...]) -> bool:
    return any(type(a) not in PLAIN and type(a) is not np.ndarray for a in args)


def _single(template: Any, out: Any) -> Any:
    return template.value if isinstance(template, Static) else out


def _several(out: Any, found: Specialisation) -> Iterator[Any]:
    return iter(out if isinstance(out, tuple) else (out,))


def is_inexact(a: Any) -> bool:
    """Whether a number or array is float or complex."""
    if isinstance(a, np.ndarray | np.generic):
        return a.dtype.kind in "fc"
    return isinstance(a, float | complex)


def matched(like: Any, given: Any, what: str) -> Iterator[Any]:
    """The inexact leaves of `given`, which must have the structure of `like`."""
    if type(like) in (tuple, list):
        if type(given) not in (tuple, list) or len(given) != len(like):
            raise ValueError(
                f"the {what} {given!r} does not have the structure of {like!r}"
            )
        for a, b in zip(like, given, strict=True):
            yield from matched(a, b, what)
    elif is_inexact(like):
        if not isinstance(given, int | float | complex | np.generic | np.ndarray):
            raise ValueError(f"the {what} {given!r} does not have the structure of {like!r}")
        yield fit(given, like, what)


def fit(given: Any, like: Any, what: str) -> Any:
    """A tangent or cotangent as a number or array of the kind of its primal."""
    if np.shape(given) != np.shape(like):
        raise ValueError(
            f"a {what} of shape {np.shape(given)} for a value of shape {np.shape(like)}"
        )
    if isinstance(like, np.ndarray):
        return np.asarray(given).astype(like.dtype, copy=False)
    if np.iscomplexobj(given) and not np.iscomplexobj(like):
        raise ValueError(f"a complex {what} for a real value")
    if isinstance(like, np.generic):
        return type(like)(given)
    return complex(given) if isinstance(like, complex) else float(given)


class Pull:
    """The function that vjp returns: from a cotangent of the result to the arguments'.

    It may be called any number of times.
    """

    def __init__(
        self,
        found: Specialisation,
        args: tuple[Any, ...],
        leaves: list[Any],
        residuals: list[Any],
        value: Any,
    ) -> None:
        split, module = found.built.derived.split, found.built.backward
        assert split is not None and module is not None
        self.module = module
        self.function = load(module)
        self.args = args
        self.value = value
        self.residuals = residuals
        self.kept = [_copied(leaves[k]) if k < len(leaves) else None for k in split.needed]
        params = found.built.derived.function.params
        hidden = found.built.derived.function.hidden
        for j, k in enumerate(split.needed):
            if params[k] in hidden:
                self.kept[j] = _copied(hidden[params[k]].read())

    def __call__(self, cotangent: Any) -> tuple[Any, ...]:
        bars = matched(self.value, cotangent, "cotangent")
        out = self.function(*map(_fresh, self.residuals), *self.kept, *bars)
        gradients = iter(out if isinstance(out, tuple) else (out,))
        return tuple(_gradient_like(a, gradients) for a in self.args)

    def source(self) -> str:
        """The text of the backward half."""
        return self.module.text


def _copied(a: Any) -> Any:
    """The array as it is now, whatever its owner does to it later."""
    return a.copy() if isinstance(a, np.ndarray) else a


def _fresh(residual: Any) -> Any:
    """A tape is used up by the backward half: each call gets its own."""
    return [_fresh(i) for i in residual] if isinstance(residual, list) else residual


def _gradient_like(a: Any, gradients: Iterator[Any]) -> Any:
    if type(a) in (tuple, list):
        return type(a)(_gradient_like(i, gradients) for i in a)
    if is_inexact(a):
        return next(gradients)
    if isinstance(a, np.ndarray):
        return np.zeros_like(a)
    return type(a)(0) if isinstance(a, int | np.generic) else a
