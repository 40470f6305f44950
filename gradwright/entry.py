"""What happens at a call, from the caller's arguments to the source that runs.

A call is bound to the parameters, its arguments' kinds are looked up, and the emitted
function of that kind runs on the numbers and arrays inside them.  Captured numbers are
read anew at every call; captured functions must be the ones that were rewritten.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from dataclasses import replace
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
from gradwright.batches import one_sample
from gradwright.cache import REGISTRY, Family
from gradwright.callee import Callee, steps_of
from gradwright.lowered import Lowered
from gradwright.mapping import Form, given_by
from gradwright.nans import run_checked
from gradwright.pipeline import build, is_compiled
from gradwright.pull import Half, moved
from gradwright.reports import explain_miss, log_compile, title
from gradwright.shortcuts import Shortcuts, called
from gradwright.specialisation import Specialisation
from gradwright.statics import reader, static_kind, static_pattern, static_positions
from gradwright.switches import DEBUG_NANS, DISABLE_JIT, SWITCHED
from gradwright.transform import source as sources
from gradwright.transform.axes import of_parameters
from gradwright.transform.errors import EffectError, GradwrightError, ShapeError
from gradwright.transform.specialise import NeedsValue
from gradwright.transform.specialise.abstract import Path, Static
from gradwright.transform.specialise.frame import NeedsLengths, type_of_input
from gradwright.transform.step import Step

H = TypeVar("H", bound=Half)
Found = tuple[Specialisation, dict[str, Any]]
LIFTED = "vmap", "jacfwd", "jacrev"  # what may give arrays one more axis
STARRED = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


class Entry:
    """The way from the arguments of one transformed function to its specialisations."""

    def __init__(
        self,
        target: Any,
        *more: Step,
        compiles: bool = True,
        form: Form | None = None,
        loops: bool = False,
    ) -> None:
        callee = Callee(target, *more)
        self.target, self.more = target, more
        self.function = callee.function
        self.bound, self.keywords, self.steps = (
            callee.bound,
            callee.keywords,
            callee.steps,
        )
        self.is_jitted = compiles and is_compiled(self.steps)
        if not compiles:
            self.steps = tuple(_as_source(step) for step in self.steps)
        if loops:
            self.steps = tuple(_in_a_loop(step) for step in self.steps)
        self.loops = loops
        self._as_source: Entry | None = None
        self.form = form
        self.asked = self.steps  # before it is known of vmap which argument is mapped
        self.is_mapped = any(step.kind == "vmap" for step in self.steps)
        self.may_be_lifted = any(step.kind in LIFTED for step in self.steps)
        self._formed: dict[Form, Entry] = {}
        self.last: Specialisation | None = None
        self.family: Family
        self.names: list[str] = []
        self.static: frozenset[str] = frozenset()
        self._signature: inspect.Signature | None = None
        self.flat_count = -1  # arguments of a call that needs no binding
        self.alone = (self.function,)  # what is given where no argument is a function
        self.read: tuple[Any, ...] = (None, None, None)
        self.short = Shortcuts()
        self.fast = called  # with the entry, the arguments and the keywords of a call
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
        static = static_positions(self.steps)
        self.static = frozenset(n for k, n in enumerate(self.names) if k in static)
        if self.is_mapped and self.form is not None:
            given = given_by(self.signature, self.bound, self.keywords, self.form)
            self.steps = tuple(
                of_parameters(step, given, self.static) for step in self.asked
            )
        is_flat = is_plain and not (self.bound or self.keywords)
        self.flat_count = code.co_argcount if is_flat else -1
        self.family = REGISTRY.family(f, self.steps)
        self.family.entries.add(self)
        self.forget()
        self.alone = (f,)
        self.read = f.__code__, f.__defaults__, f.__kwdefaults__

    def forget(self) -> None:
        """Nothing is remembered of earlier calls here."""
        self.short, self.fast, self.last = Shortcuts(), called, None

    @property
    def is_off(self) -> bool:
        """Whether it is to run its emitted source in the place of machine code."""
        return self.is_jitted and DISABLE_JIT.on

    @property
    def as_source(self) -> Entry:
        """The way to the same function's specialisations without machine code."""
        if self._as_source is None:
            self._as_source = Entry(
                self.target,
                *self.more,
                compiles=False,
                form=self.form,
                loops=self.loops,
            )
        return self._as_source

    def formed(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Entry:
        """The way for calls of this form: vmap maps what is given by name otherwise."""
        if not self.is_mapped or self.form is not None:
            return self
        form = len(args), tuple(keywords)
        found = self._formed.get(form)
        if found is None:
            compiles = self.is_jitted or not is_compiled(self.asked)
            found = Entry(
                self.target,
                *self.more,
                compiles=compiles,
                form=form,
                loops=self.loops,
            )
            found.bind(args, keywords)  # it is a form in which it can be called
            self._formed[form] = found
        return found

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
        if keywords and len(args) + len(keywords) == self.flat_count:
            try:
                return (*args, *[keywords[n] for n in self.names[len(args) :]])
            except KeyError:  # the signature knows what is wrong
                pass
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
        named = zip(self.names, args, strict=True)
        kinds = tuple([self.kind(n, a) for n, a in named])
        given = given or self.given(args)
        return kinds if len(given) == 1 else (*kinds, sharing(given))

    def kind(self, name: str, a: Any) -> Any:
        """What of an argument decides which specialisation a call gets."""
        if name in self.static:
            return "static", static_kind(a, name)
        if name in self.family.by_value:
            return (kind_of(a), *ints_in(a))
        return kind_of(a)

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
            if SWITCHED.any:
                what = title(self.function, self.steps)
                explain_miss(what, self.names, key, family.known)
            return self.make(args, exact)

    def make(self, args: tuple[Any, ...], exact: bool = False) -> Found:
        family = self.family
        source = sources.read(self.function)
        if self.is_mapped:
            one_sample(self.steps, self.patterns(args, exact=True))  # of these lengths
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
        if built.changes is not None and self.is_jitted:
            from gradwright.compiled import warn_of_changes

            warn_of_changes(*built.changes)
        hidden = made.captured(root)
        if hidden is None:
            raise EffectError(
                f"what {source.name} captured is another object at every look, "
                f"as a property may give",
                at=source.location(source.node),
                instead="an argument for it",
            )
        if exact:
            made.fits, made.is_exact = None, True
            made.looks = False
        key = self.key(args, exact)
        family.add(key, made, args)
        if SWITCHED.any:
            what = title(self.function, self.steps)
            kinds = key[1] if exact else key
            log_compile(what, self.names, kinds, built.seconds)
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
        if name in self.static:
            return static_pattern(a, name, given)
        bound = any(a is b for b in (*self.bound, *self.keywords.values()))
        bound = bound or self._is_owner(name, a)
        seen_into = type(a) is types.FunctionType or items_of(a) is not None
        if (
            bound and type_of_input(a) is None and not seen_into
        ):  # it may be any object, as self may
            return Static(a, Path(name, ("bound", id(a)), reader(a)))
        return pattern_of(a, name, name in self.family.by_value, given)

    def _is_owner(self, name: str, a: Any) -> bool:
        """Whether an argument is the object that the function is a method of."""
        if name != self.names[0]:
            return False
        held = (v for cls in type(a).__mro__ for v in vars(cls).values())
        return any(
            hasattr(v, "__gradwright__") and steps_of(v)[0] is self.function
            for v in held
        )

    def leaves(self, args: tuple[Any, ...]) -> list[Any]:
        """The numbers and arrays of a call, but for those that became literals."""
        by_value, static = self.family.by_value, self.static
        found: list[Any] = []
        for n, a in zip(self.names, args, strict=True):
            if n in static:
                continue
            literal = n in by_value
            found.extend(v for v in flat(a) if not (literal and type(v) is int))
        return found

    def moving(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments, None for those that are static: nothing is tangent to them."""
        if not self.static:
            return args
        named = zip(self.names, args, strict=True)
        return tuple(None if n in self.static else a for n, a in named)

    # ---- calls -----------------------------------------------------------------

    def call(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """The result of a call, in its structure."""
        formed = self.formed(args, keywords)
        if formed is not self:
            out = formed.fast(formed, args, keywords)
            self.last = formed.last
            return out
        if SWITCHED.any and self.is_off:
            return self.as_source.call(args, keywords)
        bound = self.bind(args, keywords)
        if len(bound) == self.flat_count and (keywords or len(bound) != len(args)):
            return self.fast(self, bound, {})
        given, args = args, bound
        hidden: dict[str, Any] | None = None
        classes = tuple(map(type, args))
        for found in self.family.known.get(classes, ()):
            hidden = found.captured(self.alone)
            if hidden is not None:  # numbers only, as the key says
                break
        values: Any = args
        if hidden is None:
            found, hidden = self.find(args)
            is_flat = not (self.family.by_value or self.static)
            if not is_flat or any(type(a) not in PLAIN for a in args):
                values = self.leaves(args)
        if found.fits is not None:
            found, hidden = self.fitting(found, hidden, args, values)
        self.last = found
        if found.is_itself:
            return self.itself(given, keywords)
        if found.hand_back is not None:
            return self.handing_back(found, args, values, hidden, (given, keywords))
        out = found.assemble(self.run(found, values, hidden))
        if found not in self.short.found:
            self.short.learn(self, found, args)
        return out

    def itself(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """What the user's function gives, run as it is."""
        return self.function(*self.bound, *args, **{**self.keywords, **keywords})

    def handing_back(
        self,
        found: Specialisation,
        args: tuple[Any, ...],
        values: Any,
        hidden: dict[str, Any],
        given: tuple[tuple[Any, ...], dict[str, Any]],
    ) -> Any:
        """The result of a call that changes lists of the caller's, and that change.

        One that fails has changed a part of them, which only the function itself knows.
        """
        assert found.hand_back is not None
        kept = found.apart.kept(values, hidden)
        try:
            out = self.run(found, values, hidden)
        except (GradwrightError, FloatingPointError):
            raise
        except Exception:
            for a, before in kept:
                a[...] = before
            return self.itself(*given)
        return found.hand_back(out, dict(zip(self.names, args, strict=True)))

    def in_a_loop(
        self, e: Exception, args: tuple[Any, ...], keywords: dict[str, Any]
    ) -> Any:
        """What a loop over the samples gives, or raises: it knows at which one it is.

        The same goes for the rows or columns of a Jacobian.

        Raises:
            Exception: That of the loop; the given one, where it was one, too.
        """
        formed = self.formed(args, keywords)
        is_ours = isinstance(e, GradwrightError)
        if is_ours or not formed.of_call(formed.bind(args, keywords)).is_lifted:
            raise e
        return Entry(self.target, *self.more, compiles=False, loops=True).call(
            args, keywords
        )

    def fitting(
        self, found: Specialisation, hidden: dict[str, Any], args: Any, values: Any
    ) -> Found:
        """The specialisation itself, or one for the exact lengths of this call."""
        arrays = (*values[: found.inputs], *hidden.values()) if hidden else values
        if found.fits is None or found.fits(arrays):
            return found, hidden
        return self.find(args, exact=True)

    def of_call(self, args: tuple[Any, ...]) -> Specialisation:
        """The specialisation that a call with these arguments runs."""
        found, hidden = self.find(args)
        return self.fitting(found, hidden, args, self.leaves(args))[0]

    def lower(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Lowered:
        """The specialisation for these arguments, to look at and to call."""
        formed = self.formed(args, keywords)
        bound = formed.bind(args, keywords)
        return Lowered(formed, formed.of_call(bound), bound)

    def run(self, found: Specialisation, values: Any, hidden: dict[str, Any]) -> Any:
        """Call the emitted function."""
        found.used = True
        if found.apart.stored:
            found.apart.check(values, hidden)
        if SWITCHED.any and DEBUG_NANS.on:
            return run_checked(found.forward, values, hidden)
        return found.forward.run(values, hidden)

    def jvp(self, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
        """(value, tangent), and the auxiliary results where there are any."""
        if len(tangents) != len(primals):
            raise ShapeError(
                f"jvp needs a tangent for each primal: {len(primals)} primals, "
                f"{len(tangents)} tangents"
            )
        formed = self.formed(primals, {})
        if formed is not self:
            return formed.jvp(primals, tangents)
        if SWITCHED.any and self.is_off:
            return self.as_source.jvp(primals, tangents)
        args = self.bind(primals, {})
        moving = self.moving(args)
        dots = list(moved(self.places(len(primals)), moving, tangents))
        found, hidden = self.find(args)
        values = [*self.leaves(args), *dots]
        found, hidden = self.fitting(found, hidden, args, values)
        self.last = self.family.last = found
        return found.assemble(self.run(found, values, hidden))

    def split(
        self, given: tuple[Any, ...], half: type[H], of: Callable[[], str]
    ) -> tuple[Any, H, Any]:
        """The value, the function that is the second half, and what comes beside."""
        formed = self.formed(given, {})
        if formed is not self:
            return formed.split(given, half, of)
        if SWITCHED.any and self.is_off:
            return self.as_source.split(given, half, of)
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
        moving = self.moving(args)
        made = half(found, places, moving, leaves, hidden, residuals, value, count, of)
        return value, made, aux


def _as_source(step: Step) -> Step:
    """A jit that runs the emitted source."""
    if step.kind != "jit":
        return step
    return replace(step, backend="numpy", fastmath=False)


def _in_a_loop(step: Step) -> Step:
    """A vmap that makes a loop over the samples, a Jacobian row by row."""
    return replace(step, how="loop") if step.kind in LIFTED else step


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
