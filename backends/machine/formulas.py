"""Formulas: operations that are plain Python over other rows, made core when needed.

gcd(a, b) of int64    ->    a core function of two int64, which kernels call
"""

from __future__ import annotations

import operator
import os
import threading
from collections.abc import Callable
from typing import Any

from gradwright.backends.machine.scalars import WORD, Register
from gradwright.transform import source as sources
from gradwright.transform.core import Function
from gradwright.transform.indices import linear
from gradwright.transform.simplify import simplify
from gradwright.transform.specialise import specialise
from gradwright.transform.types import Type

_known: dict[Any, Function] = {}
_lock = threading.RLock()


def _renew_lock() -> None:
    """After a fork a lock of a thread that is no more would stay closed."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


def core_of(formula: Callable[..., Any], kinds: tuple[Type, ...]) -> Function:
    """A formula as core, of operands of these kinds."""
    key = formula, kinds
    with _lock:
        found = _known.get(key)
        if found is None:
            source = sources.read(formula)
            names = formula.__code__.co_varnames[: formula.__code__.co_argcount]
            given: list[Any] = list(kinds)
            if len(given) < len(names):  # the rest are ints by default
                rest = (formula.__defaults__ or ())[len(given) - len(names) :]
                given += [linear(n) for n in rest]
            arguments = dict(zip(names, given, strict=True))
            made = specialise(source, arguments, _no_transform)
            found = _known[key] = simplify(made.function)
        return found


def _no_transform(*_: Any) -> Any:
    raise AssertionError("a formula differentiates nothing")


def of_sizes(b: Any, function: Any, x: Register, y: Register) -> Register:
    """An operation on sizes, of which none is too large."""
    if function in (max, min):
        order = ">" if function is max else "<"
        return b.select(b.icmp_signed(order, x, y), x, y)
    if function is operator.floordiv:
        quotient, rest = b.sdiv(x, y), b.srem(x, y)
        unlike = b.icmp_signed("<", b.xor(rest, y), WORD(0))
        is_off = b.and_(b.icmp_signed("!=", rest, WORD(0)), unlike)
        return b.select(is_off, b.sub(quotient, WORD(1)), quotient)
    name = {operator.add: "add", operator.sub: "sub", operator.mul: "mul"}[function]
    return getattr(b, name)(x, y)
