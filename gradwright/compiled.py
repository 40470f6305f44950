"""Compiled: a specialisation's function as machine code.

    core   ->  lower  ->  loop core  ->  backends.machine  ->  Compiled

It stands in place of an emitted module, and runs what that says.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradwright.emitted import NOTHING, Emitted, Runs
from gradwright.reports import log_layout
from gradwright.transform.core import Buffer, Function
from gradwright.transform.emit import Module
from gradwright.transform.errors import BackendError, UnsupportedSyntax
from gradwright.transform.lowering.lower import Lowered
from gradwright.transform.lowering.program import LengthsVary

if TYPE_CHECKING:
    from gradwright.backends.machine import Machine


class CompileWarning(UserWarning):
    """A jitted function runs as its emitted source: it has no machine code."""


class Compiled:
    """An emitted module, and the machine code that runs in its place.

    What has no machine code yet runs as it was emitted, with a warning that says why.
    """

    def __init__(self, module: Module, lowered: Lowered, fastmath: bool) -> None:
        self.module = module
        self.lowered = lowered
        self.fastmath = fastmath
        self.seconds = 0.0  # that compiling has taken
        self._settle(self._made())
        self.again = again()
        params = lowered.source.params
        self.stored = [k for k, p in enumerate(params) if isinstance(p, Buffer)]

    def _made(self) -> Runs:
        refusal, function = self.lowered.refusal, self.lowered.function
        if function is not None:
            start = time.perf_counter()
            try:
                made = machine(function, self.fastmath)
                made.watch = self._another_layout
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
        return Emitted(self.module)

    def _another_layout(self, layouts: tuple[str | None, ...], spent: float) -> None:
        """There is machine code for arrays that lie in memory in another way."""
        params = self.lowered.source.params
        log_layout(self.module.name, [p.settled for p in params], layouts, spent)  # type: ignore[attr-defined]

    def _settle(self, made: Runs) -> None:
        """What runs from now on; `direct` takes all values of a call, captured last.

        Where that raises one of `again`, `run` knows what to do.
        """
        self.machine: Runs = made
        self.direct: Callable[..., Any] = getattr(made, "run_usual", self._emitted)

    def _emitted(self, *values: Any) -> Any:
        """The emitted source, which takes what was captured by name."""
        hidden = [
            p for p in self.lowered.source.params if p in self.lowered.source.hidden
        ]
        count = len(values) - len(hidden)
        pairs = zip(hidden, values[count:], strict=True)
        return self.machine.run(values[:count], {p.settled: v for p, v in pairs})  # type: ignore[attr-defined]

    def run(self, values: Any, hidden: dict[str, Any] = NOTHING) -> Any:
        """The results of a call, one or a tuple of several."""
        for k in self.stored:
            if not values[k].flags.writeable:  # the store itself says so, if it is met
                return Emitted(self.module).run(values, hidden)
        try:
            return self.machine.run(values, hidden)
        except LengthsVary as e:
            self.lowered.widen(e.args[0])
            self._settle(self._made())
            return self.run(values, hidden)


def again() -> tuple[type[Exception], ...]:
    """What machine code raises that wants to be called in another way."""
    try:
        from gradwright.backends.machine.driver import OtherLayout
    except ImportError:
        return (LengthsVary,)
    return OtherLayout, LengthsVary


def machine(function: Function, fastmath: bool = False) -> Machine:
    """A function of loop core, compiled."""
    try:
        from gradwright.backends.machine import compile
    except ImportError as e:
        raise BackendError(
            f"jit needs Numba, and {e.name} is not installed",
            instead="pip install 'gradwright[jit]'",
        ) from None
    return compile(function, fastmath)
