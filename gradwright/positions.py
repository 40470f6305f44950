"""Which arguments a transform is about: positions, from what the user said.

Of f(x, y), argnums=-1 is 1, and argnames=("x", "y") is (0, 1).
"""

from __future__ import annotations

import inspect
from typing import Any

from gradwright.callee import Callee
from gradwright.transform.errors import NotDifferentiable, SourceError

Number = int | tuple[int, ...]


def must_be_callable(kind: str, fun: Any) -> None:
    """Refuse to transform what is no function."""
    if not callable(fun) and not isinstance(fun, classmethod):
        raise NotDifferentiable(
            f"{kind} needs a function, and got {type(fun).__name__}: {fun!r}"
        )


def positions(kind: str, fun: Any, argnums: Any, argnames: Any) -> Number:
    """argnums, with argnames resolved; non-negative, and within the parameters."""
    try:
        signature = Signature(fun)
    except SourceError:  # it is raised at the first call
        return argnums if isinstance(argnums, int) else tuple(argnums)
    wanted = argnums if argnames is None else argnames
    one = isinstance(wanted, int | str)
    found = []
    try:
        if not one and not isinstance(wanted, tuple | list):
            raise _Refused(f"{wanted!r} is neither a number nor a name")
        for w in [wanted] if one else wanted:
            named = argnames is not None and isinstance(w, str)
            found.append(signature.named(w) if named else signature.position(w))
    except _Refused as e:
        raise NotDifferentiable(
            f"{kind} of {signature} with respect to what? {e}",
            instead="argnums=0 or (0, 1), counted from 0, "
            "or argnames='x' or ('x', 'y')",
        ) from None
    return found[0] if one else tuple(found)


def options_of_jit(fun: Any, **options: Any) -> dict[str, tuple[int, ...]]:
    """Parameters that are named or numbered by options of jit, as positions.

    Raises:
        TypeError: There are no such parameters.
    """
    found: dict[str, tuple[int, ...]] = {}
    for option, wanted in options.items():
        several = (wanted,) if isinstance(wanted, int | str) else wanted
        if not isinstance(several, tuple | list):
            raise TypeError(f"{option} of jit: {wanted!r} is no position and no name")
        if not several:
            found[option] = ()
            continue
        try:
            signature = Signature(fun)
        except SourceError:  # it is raised at the first call
            found[option] = ()
            continue
        of = signature.named if option.endswith("names") else signature.position
        try:
            found[option] = tuple(of(w) for w in several)
        except _Refused as e:
            raise TypeError(f"{option} of jit of {signature}: {e}") from None
        star = signature.star
        by_name = option.endswith("names")
        if star is not None and any(
            k == star or (k > star and not by_name) for k in found[option]
        ):
            raise TypeError(
                f"{option} of jit of {signature}: what stands behind the star has no "
                f"position of its own"
            )
    return found


class _Refused(Exception):
    """What a user said of an argument is true of none."""


class Signature:
    """The parameters of a function that a call of it can give."""

    def __init__(self, fun: Any) -> None:
        callee = Callee(fun.__func__ if isinstance(fun, classmethod) else fun)
        names = callee.names
        self.names = names[1:] if isinstance(fun, classmethod) else names
        self.function = callee.function
        code = callee.function.__code__
        self.has_star = bool(code.co_flags & inspect.CO_VARARGS)

    def __str__(self) -> str:
        return f"{self.function.__name__}({', '.join(self.names)})"

    @property
    def star(self) -> int | None:
        """Where the parameter for further arguments stands."""
        if not self.has_star:
            return None
        code = self.function.__code__
        name = code.co_varnames[code.co_argcount + code.co_kwonlyargcount]
        return self.names.index(name) if name in self.names else None

    def position(self, k: Any) -> int:
        """A position, counted from the start."""
        count = len(self.names)
        if type(k) is not int:
            raise _Refused(f"{k!r} is none of its parameters")
        if not (-count <= k < count or (self.has_star and k >= 0)):
            raise _Refused(f"it has no argument {k}")
        return k + count if k < 0 else k

    def named(self, name: Any) -> int:
        """The position of a parameter."""
        if name not in self.names:
            raise _Refused(f"{name!r} is none of its parameters")
        return self.names.index(name)
