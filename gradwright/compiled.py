"""Compiled: a specialisation's function as machine code.

    core   ->  lower  ->  loop core  ->  backends.machine  ->  Compiled

It stands in place of an emitted module, and runs what that says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwright.transform.core import Function
from gradwright.transform.emit import Module
from gradwright.transform.errors import BackendError, UnsupportedSyntax
from gradwright.transform.lowering.lower import Lowered
from gradwright.transform.lowering.program import LengthsVary

if TYPE_CHECKING:
    from gradwright.backends.machine import Machine
    from gradwright.transform.specialise import Specialised

NOTHING: dict[str, Any] = {}


class Compiled:
    """An emitted module, and the machine code that runs in its place."""

    def __init__(
        self, module: Module, lowered: Lowered, specialised: Specialised
    ) -> None:
        self.module = module
        for _, name, at in specialised.stored:
            raise UnsupportedSyntax(
                f"jit cannot compile a store into the argument '{name}' yet",
                at=at,
                instead=f"a store into {name}.copy()",
            )
        self.lowered = lowered
        self.machine = machine(lowered.function)

    def run(self, values: Any, hidden: dict[str, Any] = NOTHING) -> Any:
        """The results of a call, one or a tuple of several."""
        try:
            return self.machine.run(values, hidden)
        except LengthsVary as e:
            self.lowered.widen(e.args[0])
            self.machine = machine(self.lowered.function)
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
