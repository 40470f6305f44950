"""The transforms that users call: grad, value_and_grad, jvp, vjp; and looking inside.

Each returns or works through a `Transformed` function, which only remembers what to
do: the rewriting happens at the first call with a new kind of argument.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from gradwright import inspection
from gradwright.callee import Callee
from gradwright.transform.errors import NotDifferentiable, SourceError
from gradwright.transform.step import Step

if TYPE_CHECKING:
    from gradwright.entry import Entry


def _entry(target: Any, *more: Step) -> Entry:
    """The way to a function's specialisations, and with it the whole pipeline."""
    # Imported at the first call: a program that only asks does not wait for it.
    from gradwright.entry import Entry

    return Entry(target, *more)


class Transformed:
    """A function and a transform of it: callable, with its source to look at."""

    __slots__ = ("__dict__", "__weakref__", "_entry", "_step")
    __wrapped__: Any

    def __init__(self, function: Any, step: Step) -> None:
        functools.update_wrapper(self, function, updated=())
        self.__wrapped__ = function
        self._step = step
        self._entry: Entry | None = None

    # No part of __dict__, which functools.wraps copies to functions of another meaning.
    @property
    def __gradwright__(self) -> Step:
        return self._step

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self.__wrapped__)

    @property
    def entry(self) -> Entry:
        """The way to the specialisations of this function."""
        if self._entry is None:
            self._entry = _entry(self)
        return self._entry

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return (self._entry or self.entry).call(args, keywords)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if isinstance(self.__wrapped__, staticmethod):
            return self
        if isinstance(self.__wrapped__, classmethod):
            return Transformed(self.__wrapped__.__get__(instance, owner), self._step)
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        return inspection.describe(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return Transformed, (self.__wrapped__, self._step)

    def source(self, *args: Any, **keywords: Any) -> str:
        """The source that runs for these arguments, or for those of the last call."""
        return inspection.source(self, *args, **keywords)

    def show(self, *args: Any, **keywords: Any) -> Any:
        """Print the source in colour; in a notebook, as HTML."""
        return inspection.show(self, *args, **keywords)

    def stages(self, *args: Any, **keywords: Any) -> inspection.Stages:
        """The program after every stage of its rewriting."""
        return inspection.stages(self, *args, **keywords)


def grad(
    fun: Callable[..., Any] | None = None,
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    *,
    argnames: str | Sequence[str] | None = None,
) -> Any:
    """The gradient of a function that returns one real number.

    Args:
        fun: The function; left out, `grad(...)` is a decorator.
        argnums: Which arguments to differentiate: an int, or a tuple for several.
        has_aux: The function returns (value, aux), and so the gradient function
            returns (gradient, aux).
        argnames: The arguments by name, in place of argnums.

    Returns:
        A function of the same arguments; its result has the structure, shape and
        dtype of the argument. For a complex argument it is df/dx - i df/dy.

    Raises:
        NotDifferentiable: At the call, if the argument or the result is not a float.

    Example:
        >>> def energy(x):
        ...     return 0.5 * x * x
        >>> grad(energy)(3.0)
        3.0
    """
    return _make("grad", fun, argnums, has_aux, argnames)


def value_and_grad(
    fun: Callable[..., Any] | None = None,
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    *,
    argnames: str | Sequence[str] | None = None,
) -> Any:
    """The value and the gradient, from one forward sweep; arguments as for `grad`.

    Example:
        >>> def energy(x):
        ...     return 0.5 * x * x
        >>> value_and_grad(energy)(3.0)
        (4.5, 3.0)
    """
    return _make("value_and_grad", fun, argnums, has_aux, argnames)


def _make(kind: str, fun: Any, argnums: Any, has_aux: bool, argnames: Any) -> Any:
    if fun is None:
        return lambda f: _make(kind, f, argnums, has_aux, argnames)
    _must_be_callable(kind, fun)
    return Transformed(
        fun, Step(kind, _positions(kind, fun, argnums, argnames), has_aux)
    )


def _must_be_callable(kind: str, fun: Any) -> None:
    if not callable(fun) and not isinstance(fun, classmethod):
        raise NotDifferentiable(
            f"{kind} needs a function, and got {type(fun).__name__}: {fun!r}"
        )


# ---- argnums and argnames ----------------------------------------------------------


def _positions(
    kind: str, fun: Any, argnums: Any, argnames: Any
) -> int | tuple[int, ...]:
    """argnums, with argnames resolved; non-negative, and within the parameters."""
    try:
        target = fun.__func__ if isinstance(fun, classmethod) else fun
        callee = Callee(target)
    except SourceError:  # it is raised at the first call
        return argnums if isinstance(argnums, int) else tuple(argnums)
    names = callee.names[1:] if isinstance(fun, classmethod) else callee.names
    code = callee.function.__code__
    has_star = bool(code.co_flags & inspect.CO_VARARGS)
    wanted = argnums if argnames is None else argnames
    one = isinstance(wanted, int | str)
    if not one and not isinstance(wanted, tuple | list):
        raise _refused(
            kind, callee, names, f"{wanted!r} is neither a number nor a name"
        )
    found = []
    for w in [wanted] if one else wanted:
        k = names.index(w) if isinstance(w, str) and argnames and w in names else w
        if type(k) is not int:
            raise _refused(kind, callee, names, f"{w!r} is none of its parameters")
        if not (-len(names) <= k < len(names) or (has_star and k >= 0)):
            raise _refused(kind, callee, names, f"it has no argument {k}")
        found.append(k + len(names) if k < 0 else k)
    return found[0] if one else tuple(found)


def _refused(
    kind: str, callee: Callee, names: list[str], why: str
) -> NotDifferentiable:
    function = f"{callee.function.__name__}({', '.join(names)})"
    return NotDifferentiable(
        f"{kind} of {function} with respect to what? {why}",
        instead="argnums=0 or (0, 1), counted from 0, or argnames='x' or ('x', 'y')",
    )


# ---- forward and reverse -----------------------------------------------------------


def jvp(
    fun: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    has_aux: bool = False,
) -> Any:
    """The value and its derivative along a direction: forward mode.

    Args:
        fun: The function, of any numbers and arrays.
        primals: Its arguments, a tuple or list.
        tangents: A direction for each, of its structure; an int's is not looked at.
        has_aux: The function returns (value, aux), and aux comes out last.

    Returns:
        (value, tangent), the tangent with the structure of the value; or
        (value, tangent, aux).

    Example:
        >>> jvp(lambda x, y: x * y, (2.0, 3.0), (1.0, 0.0))
        (6.0, 3.0)
    """
    if not isinstance(primals, tuple | list) or not isinstance(tangents, tuple | list):
        raise NotDifferentiable("jvp takes its primals and tangents as tuples or lists")
    _must_be_callable("jvp", fun)
    entry = _entry(fun, Step("jvp", None, has_aux))
    return entry.jvp(tuple(primals), tuple(tangents))


def vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The value and a function that pulls cotangents back: reverse mode.

    Args:
        fun: The function, of any numbers and arrays.
        primals: Its arguments.
        has_aux: The function returns (value, aux), and aux comes out last.

    Returns:
        (value, pull) or (value, pull, aux): pull takes a cotangent with the structure
        of the value and returns a tuple, one cotangent for each argument; it may be
        called again, and `pull.source()` is its text.

    Example:
        >>> value, pull = vjp(lambda x, y: x * y, 2.0, 3.0)
        >>> value, pull(1.0)
        (6.0, (3.0, 2.0))
    """
    _must_be_callable("vjp", fun)
    entry = _entry(fun, Step("vjp", None, has_aux))
    value, pull, aux = entry.vjp(primals, lambda: repr(transformed(fun, "vjp")))
    return (value, pull, aux) if has_aux else (value, pull)


def transformed(fun: Any, kind: str, has_aux: bool = False) -> Transformed:
    """The jvp or vjp of a function as an object."""
    _must_be_callable(kind, fun)
    return Transformed(fun, Step(kind, None, has_aux))


for _transform in (grad, value_and_grad, jvp, vjp):
    vars(_transform)["__gradwright_kind__"] = _transform.__name__
