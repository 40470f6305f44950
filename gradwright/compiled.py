"""Compiled: a specialisation's function as machine code.

    core   ->  lower  ->  loop core  ->  backends.machine  ->  Compiled

It stands in place of an emitted module, and runs what that says.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from gradwright.emitted import NOTHING, Emitted, Runner
from gradwright.transform.core import Function
from gradwright.transform.emit import Module
from gradwright.transform.errors import BackendError, UnsupportedSyntax
from gradwright.transform.lowering.lower import Lowered
from gradwright.transform.lowering.program import LengthsVary

if TYPE_CHECKING:
    from gradwright.backends.machine import Machine
    from gradwright.transform.specialise import Specialised


class CompileWarning(UserWarning):
    """A jitted function runs as its emitted source: a part of it has no machine code."""


class Compiled:
    """An emitted module, and the machine code that runs in its place.

    What has no machine code yet runs as it was emitted, with a warning that says why.
    """

    def __init__(
        self, module: Module, lowered: Lowered, specialised: Specialised
    ) -> None:
        self.module = module
        self.lowered = lowered
        self.machine: Runner = self._made()

    def _made(self) -> Runner:
        refusal, function = self.lowered.refusal, self.lowered.function
        if function is not None:
            try:
                return machine(function)
            except UnsupportedSyntax as e:
                refusal = self.lowered.refusal = e
        warnings.warn(
            f"this runs as its emitted source, without machine code: {refusal}",
            CompileWarning,
            stacklevel=6,
        )
        return Emitted(self.module)

    def run(self, values: Any, hidden: dict[str, Any] = NOTHING) -> Any:
        """The results of a call, one or a tuple of several."""
        try:
            return self.machine.run(values, hidden)
        except LengthsVary as e:
            self.lowered.widen(e.args[0])
            self.machine = self._made()
            return self.run(values, hidden)


def machine(function: Function) -> Machine:
    """A function of loop core, compiled."""
    try:
        from gradwright.backends.machine import compile
    except ImportError as e:
        raise BackendError(
            f"jit needs Numba, and {e.name} is not installed",
            instead="pip install 'gradwright[jit]'",
        ) from None
    return compile(function)
