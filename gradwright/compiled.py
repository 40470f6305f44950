"""Compiled: a specialisation's function as machine code.

    core   ->  lower  ->  loop core  ->  backends.machine  ->  Compiled

It stands in place of an emitted module, and runs what that says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwright.lengths import Exceptional
from gradwright.transform.core import Function, Substitution
from gradwright.transform.emit import Module
from gradwright.transform.errors import BackendError, UnsupportedSyntax
from gradwright.transform.indices import Dim, Linear

if TYPE_CHECKING:
    from gradwright.backends.machine import Machine
    from gradwright.transform.specialise import Specialised

NOTHING: dict[str, Any] = {}


class Compiled:
    """An emitted module, and the machine code that runs in its place."""

    def __init__(
        self, module: Module, function: Function, specialised: Specialised
    ) -> None:
        self.module = module
        for _, name, at in specialised.stored:
            raise UnsupportedSyntax(
                f"jit cannot compile a store into the argument '{name}' yet",
                at=at,
                instead=f"a store into {name}.copy()",
            )
        facts = facts_of(specialised, function)
        self.looks = facts is not None
        self.machine = machine(lower(function), facts)

    def run(self, values: Any, hidden: dict[str, Any] = NOTHING) -> Any:
        """The results of a call, one or a tuple of several."""
        return self.machine.run(values, hidden)

    def run_unseen(self, values: Any, hidden: dict[str, Any]) -> Any:
        """The same, where only the classes of the arguments were looked at.

        Raises:
            Exceptional: The arrays are of other kinds.
        """
        try:
            return self.machine.run_unseen(values, hidden)
        except self.machine.other_kind:
            raise Exceptional from None


def lower(function: Function) -> Function:
    """The function as loop core; what is none is refused where it is compiled."""
    return function


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


def machine(function: Function, facts: Forms | None) -> Machine:
    """A function of loop core, compiled."""
    try:
        from gradwright.backends.machine import Facts, compile
    except ImportError as e:
        raise BackendError(
            f"jit needs Numba, and {e.name} is not installed",
            instead="pip install 'gradwright[jit]'",
        ) from None
    return compile(function, Facts(*(facts or ())))
