"""Arguments of an array primitive as the core keeps them: what is static, with holes.

    np.concatenate([a, b], axis=1)     ->     operands a, b and the template
                                              arrays=[hole 0, hole 1], axis=1

A template is data: hashable, equal where the calls are alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Hole:
    """Where an operand stands among the arguments: which one."""

    position: int


@dataclass(frozen=True)
class Sequence:
    """A tuple or list among the arguments."""

    kind: type
    items: tuple[Any, ...]


@dataclass(frozen=True)
class Template:
    """Arguments by the name of their parameter, in the order of the signature."""

    arguments: tuple[tuple[str, Any], ...]

    def __str__(self) -> str:
        return ", ".join(f"{name}={_text(a)}" for name, a in self.arguments)

    def __getitem__(self, name: str) -> Any:
        return dict(self.arguments)[name]

    def filled(self, operand: Callable[[int], Any]) -> dict[str, Any]:
        """The arguments as Python's own, `operand(k)` in each hole."""
        return {name: fill(a, operand) for name, a in self.arguments}


def fill(argument: Any, operand: Callable[[int], Any]) -> Any:
    """One argument with operands in its holes."""
    if isinstance(argument, Hole):
        return operand(argument.position)
    if isinstance(argument, Sequence):
        return argument.kind(fill(i, operand) for i in argument.items)
    return argument


def holes(argument: Any) -> list[int]:
    """The operands that stand in an argument, in order."""
    if isinstance(argument, Hole):
        return [argument.position]
    if isinstance(argument, Sequence):
        return [k for i in argument.items for k in holes(i)]
    return []


def _text(argument: Any) -> str:
    if isinstance(argument, Hole):
        return f"${argument.position}"
    if isinstance(argument, Sequence):
        left, right = "()" if argument.kind is tuple else "[]"
        return left + ", ".join(map(_text, argument.items)) + right
    return repr(argument)
