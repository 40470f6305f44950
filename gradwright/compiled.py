"""Compiled: a specialisation's function as machine code.

    core   ->  lower  ->  loop core  ->  backends.machine  ->  Compiled

It stands in place of an emitted module, and runs what that says.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradwright.emitted import NOTHING, Emitted
from gradwright.handed import Handed, Unreadable, as_emitted, packed, unpacked
from gradwright.lengths import Exceptional
from gradwright.reports import log_layout
from gradwright.transform.core import Buffer, For, Function, Substitution, walk
from gradwright.transform.emit import Late, Module
from gradwright.transform.errors import (
    BackendError,
    CompileWarning,
    Location,
    UnsupportedSyntax,
)
from gradwright.transform.indices import Dim, Linear
from gradwright.transform.lowering.lower import Lowered
from gradwright.transform.lowering.program import LengthsVary

if TYPE_CHECKING:
    from gradwright.backends.machine import Machine
    from gradwright.pipeline import Built
    from gradwright.transform.specialise import Specialised


class Compiled:
    """An emitted module, and the machine code that runs in its place.

    What has no machine code yet runs as it was emitted, with a warning that says why.
    """

    def __init__(self, module: Module | Late, lowered: Lowered, built: Built) -> None:
        self.module = module
        self.lowered = lowered
        self.granted = Granted(built.specialised)
        self.fastmath, self.threads = built.fastmath, built.threads
        is_written = bool(built.specialised.handed_back)
        self.otherwise_as = "it is written" if is_written else "its emitted source"
        self.seconds = 0.0  # that compiling has taken
        self.looks = False
        params = lowered.source.params
        self.stored = [k for k, p in enumerate(params) if isinstance(p, Buffer)]
        self.again, self.other = signals()
        self.is_numbered = not self.stored and any(
            isinstance(s, For) and s.samples for s in walk(lowered.source.body)
        )
        self._settle(self._made())

    @property
    def is_machine_code(self) -> bool:
        """Whether it does not run as it was emitted."""
        return not isinstance(self.machine, Emitted)

    def _made(self) -> Any:
        refusal, function = self.lowered.refusal, self.lowered.function
        if function is not None:
            facts = facts_of(self.granted, function)
            start = time.perf_counter()
            try:
                made = machine(function, facts, self.fastmath, self.threads)
                made.watch = self._another_layout
                self.looks = facts is not None
                return made
            except UnsupportedSyntax as e:
                refusal = self.lowered.refusal = e
            finally:
                self.seconds += time.perf_counter() - start
        _warn(f"this runs as {self.otherwise_as}, without machine code: {refusal}")
        self.looks = False
        return Emitted(self.module)

    def _another_layout(self, layouts: tuple[str | None, ...], spent: float) -> None:
        """There is machine code for arrays that lie in memory in another way."""
        params = self.lowered.source.params
        names = [getattr(p, "settled", p.name) for p in params]
        log_layout(self.module.name, names, layouts, spent)

    def _settle(self, made: Any) -> None:
        """What runs from now on.

        `direct` takes False, and all values of a call, captured ones last; `look` takes
        True and the same values, of which only the classes are known.  Where one of
        them raises one of `again`, `otherwise` knows what to do.
        """
        self.machine: Any = made
        self.handed = self.lowered.handed if self.is_machine_code else {}
        self.hands_over_words = any(x.is_words for x in self.handed.values())
        self.direct: Callable[..., Any] = getattr(made, "run_usual", self._emitted)
        if self.is_numbered and hasattr(made, "run_usual"):
            self.direct = self._numbered
        self.look = self.direct if self.looks else self._blind

    def _numbered(self, unseen: bool, *values: Any) -> Any:
        """What the machine code gives; what it raises says of which sample it is."""
        try:
            return self.machine.run_usual(unseen, *values)
        except (*self.again, self.other):
            raise
        except Exception as e:
            raise self._of_sample(e, *self._apart(values)) from None

    def _of_sample(
        self, e: Exception, values: Any, hidden: dict[str, Any]
    ) -> Exception:
        """What the first sample that fails raises, and which one it is.

        The emitted source goes from one sample to the next, which machine code need
        not do.
        """
        try:
            Emitted(self.module).run(as_emitted(values), hidden)
        except Unreadable:
            return e
        except Exception as found:
            return found
        return e

    def _apart(self, values: Any) -> tuple[Any, dict[str, Any]]:
        """The values that a call gives, and those that were captured, by name."""
        hidden = [
            p for p in self.lowered.source.params if p in self.lowered.source.hidden
        ]
        count = len(values) - len(hidden)
        pairs = zip(hidden, values[count:], strict=True)
        return values[:count], {p.settled: v for p, v in pairs}  # type: ignore[attr-defined]

    def _emitted(self, unseen: bool, *values: Any) -> Any:
        """The emitted source, which takes what was captured by name."""
        return self.machine.run(*self._apart(values))

    def otherwise(self, e: Exception, unseen: bool, *values: Any) -> Any:
        """The results of a call that `direct` or `look` has put off.

        Raises:
            Exceptional: Other kinds of arrays, or more is known of lengths now.
        """
        if isinstance(e, LengthsVary):
            self._widen(e)
            raise Exceptional from None
        try:
            found = self.machine.otherwise(e, unseen, values)
        except LengthsVary as e:
            self._widen(e)
            raise Exceptional from None
        except self.other:
            raise Exceptional from None
        except Exception as failed:
            if self.is_numbered:
                raise self._of_sample(failed, *self._apart(values)) from None
            raise
        run = self._numbered if self.is_numbered else self.machine.run_usual
        self.direct = run
        self.look = run if self.looks else self._blind
        return found

    def _blind(self, unseen: bool, *values: Any) -> Any:
        raise self.other

    def run(self, values: Any, hidden: dict[str, Any] = NOTHING) -> Any:
        """The results of a call, one or a tuple of several."""
        for k in self.stored:
            if not values[k].flags.writeable:  # the store itself says so, if it is met
                return Emitted(self.module).run(values, hidden)
        if self.lowered.given and not self._takes(values):
            return self._as_source(values, hidden)
        given = unpacked(values) if self.lowered.given else values
        try:
            return packed(self.machine.run(given, hidden), self.handed)
        except LengthsVary as e:
            self._widen(e)
            return self.run(values, hidden)
        except Exception as e:
            if self.is_numbered:
                raise self._of_sample(e, values, hidden) from None
            raise

    def _takes(self, values: Any) -> bool:
        """Whether there is machine code for what the other half has handed over.

        It is lowered once more for tapes that lie in memory in another way.
        """
        layouts = {k: v.layout for k, v in enumerate(values) if isinstance(v, Handed)}
        if len(layouts) == len(self.lowered.given) and layouts != self.lowered.given:
            self.lowered.take(layouts)
            self._settle(self._made())
        return self.is_machine_code and layouts == self.lowered.given

    def _as_source(self, values: Any, hidden: dict[str, Any]) -> Any:
        """What the emitted source gives, for what machine code has handed over."""
        try:
            return Emitted(self.module).run(as_emitted(values), hidden)
        except Unreadable:
            raise BackendError(
                f"{self.module.name} has no machine code for these lengths, and its "
                f"source cannot read what machine code has handed over",
                instead="the call without jit",
            ) from None

    def _widen(self, e: LengthsVary) -> None:
        self.lowered.widen(e.args[0])
        self._settle(self._made())


Forms = tuple[tuple[Linear, ...], tuple[Linear, ...]]


def warn_of_changes(what: str, at: Location) -> None:
    """A function that changes what is the caller's is the user's own one."""
    _warn(
        f"this runs as it is written, without machine code: {at}: "
        f"{what}\n{at.excerpt()}"
    )


def _warn(text: str) -> None:
    warnings.warn(text, CompileWarning, stacklevel=_caller())


def _caller() -> int:
    """How far the user's frame is from the one that warns."""
    level, frame = 0, sys._getframe(1)
    while frame is not None and frame.f_globals["__name__"].startswith("gradwright."):
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    return level + 1


class Granted:
    """What a specialisation takes for granted of lengths; no more of it is kept."""

    def __init__(self, specialised: Specialised) -> None:
        self.inputs = specialised.inputs
        self.captured = [p for _, p in specialised.hidden]
        self.equal = specialised.equal_dims
        self.natural = specialised.at_least_zero


def facts_of(granted: Granted, function: Function) -> Forms | None:
    """What was taken for granted of lengths, in those of the function's arguments.

    None: a part of it is not of these.
    """
    inputs, captured = granted.inputs, granted.captured
    hidden = [p for p in function.params if p in function.hidden]
    if len(hidden) != len(captured) or len(inputs) > len(function.params):
        return None
    own = dict(zip(inputs, function.params, strict=False))
    own.update(zip(captured, hidden, strict=True))
    if any(p.type.rank != q.type.rank for p, q in own.items()):
        return None
    found = Substitution(own)
    zero = [found.operand(a - b) for a, b in granted.equal]
    above = [found.operand(form) for form in granted.natural]
    params = set(function.params)
    for form in (*zero, *above):
        if not all(isinstance(s, Dim) and s.array in params for s in form.symbols()):
            return None
    return tuple(zero), tuple(above)


def signals() -> tuple[tuple[type[Exception], ...], type[Exception]]:
    """What machine code raises: to be called otherwise; for arrays of other kinds."""
    try:
        from gradwright.backends.machine import driver
    except ImportError:
        return (LengthsVary,), LengthsVary
    return (driver.OtherLayout, driver.Noted, LengthsVary), driver.OtherKind


def machine(
    function: Function, facts: Forms | None, fastmath: bool = False, threads: int = 1
) -> Machine:
    """A function of loop core, compiled."""
    try:
        from gradwright.backends.machine import Facts, compile
    except ImportError as e:
        raise BackendError(
            f"jit needs Numba, and {e.name} is not installed",
            instead="pip install 'gradwright[jit]'",
        ) from None
    return compile(function, Facts(*(facts or ())), fastmath, threads)
