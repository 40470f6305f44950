"""Compiled: a specialisation's function as machine code.

    core   ->  lower  ->  loop core  ->  backends.machine  ->  Compiled

It stands in place of an emitted module, and runs what that says.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradwright.emitted import NOTHING, Emitted
from gradwright.lengths import Exceptional
from gradwright.reports import log_layout
from gradwright.transform.core import Buffer, For, Function, Substitution, walk
from gradwright.transform.emit import Module
from gradwright.transform.errors import BackendError, UnsupportedSyntax
from gradwright.transform.indices import Dim, Linear
from gradwright.transform.lowering.lower import Lowered
from gradwright.transform.lowering.program import LengthsVary

if TYPE_CHECKING:
    from gradwright.backends.machine import Machine
    from gradwright.transform.specialise import Specialised


class CompileWarning(UserWarning):
    """A jitted function runs as its emitted source: it has no machine code."""


class Compiled:
    """An emitted module, and the machine code that runs in its place.

    What has no machine code yet runs as it was emitted, with a warning that says why.
    """

    def __init__(
        self,
        module: Module,
        lowered: Lowered,
        specialised: Specialised,
        fastmath: bool,
    ) -> None:
        self.module = module
        self.lowered = lowered
        self.specialised = specialised
        self.fastmath = fastmath
        self.seconds = 0.0  # that compiling has taken
        self.looks = False
        params = lowered.source.params
        self.stored = [k for k, p in enumerate(params) if isinstance(p, Buffer)]
        self.again, self.other = signals()
        self.has_samples = any(
            isinstance(s, For) and s.samples for s in walk(lowered.source.body)
        )
        self._settle(self._made())

    def _made(self) -> Any:
        refusal, function = self.lowered.refusal, self.lowered.function
        if function is not None:
            facts = facts_of(self.specialised, function)
            start = time.perf_counter()
            try:
                made = machine(function, facts, self.fastmath)
                made.watch = self._another_layout
                self.looks = facts is not None
                return made
            except UnsupportedSyntax as e:
                refusal = self.lowered.refusal = e
            finally:
                self.seconds += time.perf_counter() - start
        warnings.warn(
            f"this runs as its emitted source, without machine code: {refusal}",
            CompileWarning,
            stacklevel=6,
        )
        self.looks = False
        return Emitted(self.module)

    def _another_layout(self, layouts: tuple[str | None, ...], spent: float) -> None:
        """There is machine code for arrays that lie in memory in another way."""
        params = self.lowered.source.params
        log_layout(self.module.name, [p.settled for p in params], layouts, spent)  # type: ignore[attr-defined]

    def _settle(self, made: Any) -> None:
        """What runs from now on.

        `direct` takes whether it has to look at the arrays, and all values of a call,
        captured ones last.  Where it raises one of `again`, `run` knows what to do.
        """
        self.machine: Any = made
        self.direct: Callable[..., Any] = getattr(made, "run_usual", self._emitted)
        if self.has_samples and not self.stored and hasattr(made, "run_usual"):
            self.direct = self._numbered

    def _numbered(self, unseen: bool, *values: Any) -> Any:
        """What the machine code gives; what it raises says of which sample it is."""
        try:
            return self.machine.run_usual(unseen, *values)
        except (*self.again, self.other):
            raise
        except Exception as e:
            self._note_sample(e, *self._apart(values))
            raise

    def _note_sample(self, e: Exception, values: Any, hidden: dict[str, Any]) -> None:
        """The emitted source fails at the same sample, and knows which one it is."""
        try:
            Emitted(self.module).run(values, hidden)
        except type(e) as found:
            for note in getattr(found, "__notes__", ()):
                if note not in getattr(e, "__notes__", ()):
                    e.add_note(note)

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

    def run(self, values: Any, hidden: dict[str, Any] = NOTHING) -> Any:
        """The results of a call, one or a tuple of several."""
        for k in self.stored:
            if not values[k].flags.writeable:  # the store itself says so, if it is met
                return Emitted(self.module).run(values, hidden)
        try:
            return self.machine.run(values, hidden)
        except LengthsVary as e:
            self._widen(e)
            return self.run(values, hidden)
        except Exception as e:
            if self.has_samples and not self.stored:
                self._note_sample(e, values, hidden)
            raise

    def _widen(self, e: LengthsVary) -> None:
        self.lowered.widen(e.args[0])
        self._settle(self._made())

    def run_unseen(self, values: Any, hidden: dict[str, Any]) -> Any:
        """The same, where only the classes of the arguments were looked at.

        Raises:
            Exceptional: The arrays are of other kinds.
        """
        if not self.looks:  # any more
            raise Exceptional
        try:
            return self.machine.run_unseen(values, hidden)
        except LengthsVary as e:
            self._widen(e)
            raise Exceptional from None  # by the way that looks
        except self.machine.other_kind:
            raise Exceptional from None
        except Exception as e:
            if self.has_samples and not self.stored:
                self._note_sample(e, values, hidden)
            raise


Forms = tuple[tuple[Linear, ...], tuple[Linear, ...]]


def facts_of(specialised: Specialised, function: Function) -> Forms | None:
    """What was taken for granted of lengths, in those of the function's arguments.

    None: a part of it is not of these.
    """
    inputs = specialised.inputs
    captured = [p for _, p in specialised.hidden]
    hidden = [p for p in function.params if p in function.hidden]
    if len(hidden) != len(captured) or len(inputs) > len(function.params):
        return None
    own = dict(zip(inputs, function.params, strict=False))
    own.update(zip(captured, hidden, strict=True))
    if any(p.type.rank != q.type.rank for p, q in own.items()):
        return None
    found = Substitution(own)
    zero = [found.operand(a - b) for a, b in specialised.equal_dims]
    above = [found.operand(form) for form in specialised.at_least_zero]
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


def machine(function: Function, facts: Forms | None, fastmath: bool = False) -> Machine:
    """A function of loop core, compiled."""
    try:
        from gradwright.backends.machine import Facts, compile
    except ImportError as e:
        raise BackendError(
            f"jit needs Numba, and {e.name} is not installed",
            instead="pip install 'gradwright[jit]'",
        ) from None
    return compile(function, Facts(*(facts or ())), fastmath)
