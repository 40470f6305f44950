"""The transforms that users call: grad, value_and_grad, jvp, vjp; and looking inside.

Each returns or works through a `Transformed` function, which only remembers what to
do: the rewriting happens at the first call with a new kind of argument.
"""

from __future__ import annotations

import functools
import inspect
import types
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from gradwright import inspection
from gradwright.entry import Entry
from gradwright.pipeline import plain_function, steps_of
from gradwright.transform.specialise.nested import Step


class Transformed:
    """A function and a transform of it: callable, with its source to look at."""

    __wrapped__: Any

    def __init__(self, function: Any, step: Step) -> None:
        if not callable(function):
            raise TypeError(
                f"{step.kind} needs a function, and got {type(function).__name__}: "
                f"{function!r}"
            )
        functools.update_wrapper(self, function, updated=())
        self.__wrapped__ = function
        self.__gradwright__ = step
        self._entry: Entry | None = None

    @property
    def entry(self) -> Entry:
        """The specialisations of this function."""
        if self._entry is None:
            self._entry = Entry(self.__wrapped__, self)
        return self._entry

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self.entry.call(args, keywords)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        return inspection.describe(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return Transformed, (self.__wrapped__, self.__gradwright__)

    def source(self, *args: Any, **keywords: Any) -> str:
        """The source that runs for these arguments; without any, for the last call's."""
        return inspection.source(self, *args, **keywords)

    def show(self, *args: Any, **keywords: Any) -> Any:
        """Print the source in colour; in a notebook, as HTML."""
        return inspection.show(self, *args, **keywords)

    def stages(self, *args: Any, **keywords: Any) -> inspection.Stages:
        """The program after every stage of its rewriting."""
        return inspection.stages(self, *args, **keywords)


def _positions(
    function: Any, argnums: int | Sequence[int], argnames: str | Sequence[str] | None
) -> int | tuple[int, ...]:
    """argnums with argnames resolved; non-negative."""
    if argnames is None and isinstance(argnums, int) and argnums >= 0:
        return argnums
    user, _ = steps_of(function)
    plain, bound, _ = plain_function(user)
    names = list(inspect.signature(plain, follow_wrapped=False).parameters)[len(bound) :]
    if argnames is not None:
        wanted = [argnames] if isinstance(argnames, str) else list(argnames)
        for n in wanted:
            if n not in names:
                raise ValueError(f"{plain.__name__}() has no parameter named {n!r}")
        positions = tuple(names.index(n) for n in wanted)
        return positions[0] if isinstance(argnames, str) else positions
    if isinstance(argnums, int):
        return argnums % len(names) if names else argnums
    return tuple(k % len(names) if k < 0 else k for k in argnums)


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
    if not callable(fun):
        raise TypeError(f"{kind} needs a function, and got {type(fun).__name__}: {fun!r}")
    return Transformed(fun, Step(kind, _positions(fun, argnums, argnames), has_aux))


def jvp(fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """The value and its derivative along a direction: forward mode.

    Args:
        fun: The function, of any numbers and arrays.
        primals: Its arguments, a tuple or list.
        tangents: A direction for each, of its structure; an int's is not looked at.

    Returns:
        (value, tangent), the tangent with the structure of the value.

    Example:
        >>> jvp(lambda x, y: x * y, (2.0, 3.0), (1.0, 0.0))
        (6.0, 3.0)
    """
    if not isinstance(primals, tuple | list) or not isinstance(tangents, tuple | list):
        raise TypeError("jvp takes its primals and tangents as tuples or lists")
    return _through(fun, "jvp").entry.jvp(tuple(primals), tuple(tangents))


def vjp(fun: Callable[..., Any], *primals: Any) -> tuple[Any, Any]:
    """The value and a function that pulls cotangents back: reverse mode.

    Returns:
        (value, pull): pull takes a cotangent with the structure of the value and
        returns a tuple, one cotangent for each argument; it may be called again.

    Example:
        >>> value, pull = vjp(lambda x, y: x * y, 2.0, 3.0)
        >>> value, pull(1.0)
        (6.0, (3.0, 2.0))
    """
    return _through(fun, "vjp").entry.vjp(primals)


_kept: weakref.WeakKeyDictionary[Any, dict[str, Transformed]] = weakref.WeakKeyDictionary()


def _through(fun: Any, kind: str) -> Transformed:
    """The transform of a function, remembered for as long as the function lives."""
    try:
        made = _kept.setdefault(fun, {})
    except TypeError:  # cannot be referred to weakly, or is no function at all
        return Transformed(fun, Step(kind, None))
    if kind not in made:
        made[kind] = Transformed(fun, Step(kind, None))
    return made[kind]


for _transform in (grad, value_and_grad, jvp, vjp):
    _transform.__gradwright_kind__ = _transform.__name__  # type: ignore[attr-defined]
