"""What happens at a call, from the caller's arguments to the source that runs.

A call is bound to the parameters, its arguments' kinds are looked up, and the emitted
function of that kind runs on the numbers and arrays inside them.  Captured numbers are
read anew at every call; captured functions must be the ones that were rewritten.
"""

from __future__ import annotations

import inspect
import types
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

from gradwright.arguments import (
    PLAIN,
    flat,
    functions_in,
    ints_in,
    items_of,
    kind_of,
    pattern_of,
    shapes_in,
    sharing,
    with_lengths,
)
from gradwright.cache import REGISTRY, Family
from gradwright.callee import Callee
from gradwright.lengths import Exceptional
from gradwright.pipeline import build
from gradwright.pull import Half, moved
from gradwright.specialisation import Specialisation
from gradwright.transform import source as sources
from gradwright.transform.errors import EffectError, ShapeError
from gradwright.transform.specialise import NeedsValue
from gradwright.transform.specialise.abstract import Path, Static
from gradwright.transform.specialise.frame import NeedsLengths, type_of_input
from gradwright.transform.step import Step

H = TypeVar("H", bound=Half)
Found = tuple[Specialisation, dict[str, Any]]
STARRED = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


class Entry:
    """The way from the arguments of one transformed function to its specialisations."""

    def __init__(self, target: Any, *more: Step) -> None:
        callee = Callee(target, *more)
        self.function = callee.function
        self.bound, self.keywords, self.steps = (
            callee.bound,
            callee.keywords,
            callee.steps,
        )
        self.last: Specialisation | None = None
        self.family: Family
        self.names: list[str] = []
        self._signature: inspect.Signature | None = None
        self.flat_count = -1  # arguments of a call that needs no binding
        self.alone = (self.function,)  # what is given where no argument is a function
        self.read: tuple[Any, ...] = (None, None, None)
        self.open()

    def open(self) -> None:
        """Look at the function anew: code, defaults; refuse what has no source."""
        f = self.function
        sources.read(f)
        code = f.__code__
        self._signature = None
        is_plain = not (code.co_flags & STARRED or code.co_kwonlyargcount)
        self.names = list(
            code.co_varnames[: code.co_argcount]
            if is_plain
            else self.signature.parameters
        )
        is_flat = is_plain and not (self.bound or self.keywords)
        self.flat_count = code.co_argcount if is_flat else -1
        self.family = REGISTRY.family(f, self.steps)
        self.alone = (f,)
        self.read = f.__code__, f.__defaults__, f.__kwdefaults__

    # ---- binding ---------------------------------------------------------------

    @property
    def signature(self) -> inspect.Signature:
        """That of the function itself, looked at when a call needs it."""
        if self._signature is None:
            self._signature = inspect.signature(self.function, follow_wrapped=False)
        return self._signature

    def bind(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Any, ...]:
        """The arguments in the order of the parameters, defaults filled in."""
        f, (code, defaults, named) = self.function, self.read
        if (
            f.__code__ is not code
            or f.__defaults__ is not defaults
            or f.__kwdefaults__ is not named
        ):
            self.open()
        if not keywords and len(args) == self.flat_count:
            return args
        try:
            bound = self.signature.bind(
                *self.bound, *args, **{**self.keywords, **keywords}
            )
        except TypeError as e:
            raise TypeError(f"{f.__name__}() {e}") from None
        bound.apply_defaults()
        return tuple(bound.arguments[n] for n in self.names)

    def places(self, count: int) -> tuple[Any, ...]:
        """By parameter, which argument of the call stands there; None: none of them."""
        if count == self.flat_count:
            return tuple(range(count))
        marks = tuple(_Mark(k) for k in range(count))
        bound = self.signature.bind(*self.bound, *marks, **self.keywords)
        bound.apply_defaults()
        return tuple(_place(bound.arguments[n]) for n in self.names)

    # ---- specialisations -------------------------------------------------------

    def key(
        self,
        args: tuple[Any, ...],
        exact: bool = False,
        given: tuple[Any, ...] | None = None,
    ) -> Any:
        """What decides which specialisation a call gets; its lengths too if `exact`."""
        if exact:
            return ("exact", self.key(args, given=given), *(shapes_in(a) for a in args))
        by_value = self.family.by_value
        named = zip(self.names, args, strict=True)
        kinds = tuple(
            [
                (kind_of(a), *ints_in(a)) if n in by_value else kind_of(a)
                for n, a in named
            ]
        )
        given = given or self.given(args)
        return kinds if len(given) == 1 else (*kinds, sharing(given))

    def given(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The function that is called, and those among its arguments."""
        return (self.function, *(f for a in args for f in functions_in(a)))

    def find(self, args: tuple[Any, ...], exact: bool = False) -> Found:
        """The specialisation for these arguments, made if there is none."""
        root = self.given(args)
        found, hidden = self.known_or_made(args, exact, root)
        if found.apart.changed:
            found.apart.check_lists(zip(self.names, args, strict=True), root)
        return found, hidden

    def known_or_made(
        self, args: tuple[Any, ...], exact: bool, root: tuple[Any, ...]
    ) -> Found:
        family = self.family
        exact = exact or family.by_length
        key = self.key(args, exact, root)
        for found in family.known.get(key, ()):
            hidden = found.captured(root)
            if hidden is not None:
                return found, hidden
        with family.lock:
            key = self.key(args, exact, root)  # another thread may have changed it
            for found in family.known.get(key, ()):
                hidden = found.captured(root)
                if hidden is not None:
                    return found, hidden
            return self.make(args, exact)

    def make(self, args: tuple[Any, ...], exact: bool = False) -> Found:
        family = self.family
        source = sources.read(self.function)
        while True:
            try:
                built = build(self.steps, source, self.patterns(args, exact), exact)
                break
            except NeedsValue as e:
                if e.parameter in family.by_value:
                    raise
                family.by_value.add(e.parameter)
                family.known.clear()
            except NeedsLengths:
                family.by_length = exact = True
                family.known.clear()
        root = self.given(args)
        made = Specialisation(built, root)
        hidden = made.captured(root)
        if hidden is None:
            raise EffectError(
                f"what {source.name} captured is another object at every look, "
                f"as a property may give",
                at=source.location(source.node),
                instead="an argument for it",
            )
        if exact:
            made.checks = []
        family.add(self.key(args, exact), made, args)
        return made, hidden

    def patterns(self, args: tuple[Any, ...], exact: bool = False) -> dict[str, Any]:
        """The arguments as `specialise` takes them."""
        given = self.given(args)
        named = zip(self.names, args, strict=True)
        found = {n: self._pattern(n, a, given) for n, a in named}
        if not exact:
            return found
        return {
            n: with_lengths(p, a) for (n, p), a in zip(found.items(), args, strict=True)
        }

    def _pattern(self, name: str, a: Any, given: tuple[Any, ...]) -> Any:
        bound = any(a is b for b in (*self.bound, *self.keywords.values()))
        seen_into = type(a) is types.FunctionType or items_of(a) is not None
        if (
            bound and type_of_input(a) is None and not seen_into
        ):  # it may be any object, as self may
            return Static(a, Path(name, ("bound", id(a)), _reader(a)))
        return pattern_of(a, name, name in self.family.by_value, given)

    def leaves(self, args: tuple[Any, ...]) -> list[Any]:
        """The numbers and arrays of a call, but for those that became literals."""
        by_value = self.family.by_value
        found: list[Any] = []
        for n, a in zip(self.names, args, strict=True):
            literal = n in by_value
            found.extend(v for v in flat(a) if not (literal and type(v) is int))
        return found

    # ---- calls -----------------------------------------------------------------

    def call(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """The result of a gradient's call, in its structure."""
        args = self.bind(args, keywords)
        hidden: dict[str, Any] | None = None
        for found in self.family.known.get(tuple(map(type, args)), ()):
            hidden = found.captured(self.alone)
            if hidden is not None:  # numbers only, as the key says
                break
        values: Any = args
        if hidden is None:
            found, hidden = self.find(args)
            if self.family.by_value or any(type(a) not in PLAIN for a in args):
                values = self.leaves(args)
        if found.checks:
            found, hidden = self.fitting(found, hidden, args, values)
        self.last = found
        return found.assemble(self.run(found, values, hidden))

    def fitting(
        self, found: Specialisation, hidden: dict[str, Any], args: Any, values: Any
    ) -> Found:
        """The specialisation itself, or one for the exact lengths of this call."""
        arrays = (*values[: found.inputs], *hidden.values()) if hidden else values
        try:
            for check in found.checks:
                check(arrays)
        except Exceptional:
            return self.find(args, exact=True)
        return found, hidden

    def of_call(self, args: tuple[Any, ...]) -> Specialisation:
        """The specialisation that a call with these arguments runs."""
        found, hidden = self.find(args)
        return self.fitting(found, hidden, args, self.leaves(args))[0]

    def run(self, found: Specialisation, values: Any, hidden: dict[str, Any]) -> Any:
        """Call the emitted function."""
        found.used = True
        if found.apart.stored:
            found.apart.check(values, hidden)
        return found.forward.run(values, hidden)

    def jvp(self, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
        """(value, tangent), and the auxiliary results where there are any."""
        if len(tangents) != len(primals):
            raise ShapeError(
                f"jvp needs a tangent for each primal: {len(primals)} primals, "
                f"{len(tangents)} tangents"
            )
        args = self.bind(primals, {})
        dots = list(moved(self.places(len(primals)), args, tangents))
        found, hidden = self.find(args)
        values = [*self.leaves(args), *dots]
        found, hidden = self.fitting(found, hidden, args, values)
        self.last = self.family.last = found
        return found.assemble(self.run(found, values, hidden))

    def split(
        self, given: tuple[Any, ...], half: type[H], of: Callable[[], str]
    ) -> tuple[Any, H, Any]:
        """The value, the function that is the second half, and what comes beside."""
        args = self.bind(given, {})
        found, hidden = self.find(args)
        leaves = self.leaves(args)
        found, hidden = self.fitting(found, hidden, args, leaves)
        self.last = self.family.last = found
        out = self.run(found, leaves, hidden)
        flat_out = list(out) if isinstance(out, tuple) else [out]
        results, residuals = flat_out[: found.count], flat_out[found.count :]
        value, aux = found.assemble(results[0] if found.count == 1 else tuple(results))
        places, count = self.places(len(given)), len(given)
        made = half(found, places, args, leaves, hidden, residuals, value, count, of)
        return value, made, aux


class _Mark:
    """An argument of a call, while it is looked for among the parameters."""

    def __init__(self, position: int) -> None:
        self.position = position


def _place(a: Any) -> Any:
    if isinstance(a, _Mark):
        return a.position
    if type(a) is tuple and any(isinstance(i, _Mark) for i in a):
        return tuple(map(_place, a))
    return None


def _reader(a: Any) -> Any:
    """Finds a bound object again without keeping it alive, where that can be."""
    try:
        found = weakref.ref(a)
    except TypeError:
        return lambda root=None: a
    return lambda root=None: found()
