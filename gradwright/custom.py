"""Rules that users write themselves: custom_jvp, custom_vjp and custom_vmap.

f.defjvp(rule): the rule takes primals and tangents; f.defvjp(fwd, bwd): two halves.
f.def_vmap(rule): the rule takes all samples at once.
"""

from __future__ import annotations

import functools
import inspect
import linecache
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from gradwright.positions import must_be_callable


class Ruled:
    """A function with rules of its own; called, it is the function."""

    __gradwright_custom__ = ""
    __wrapped__: Any

    def __init__(self, what: str, fun: Callable[..., Any]) -> None:
        must_be_callable(what, fun)
        functools.update_wrapper(self, fun)
        self.fun = fun
        self._written: types.FunctionType | None = None

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self.fun(*args, **keywords)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    @property
    def written(self) -> types.FunctionType:
        """A function with source that calls this one."""
        if self._written is None:
            self._written = _written(self)
        return self._written


class Custom(Ruled):
    """A function with derivatives of its own."""

    __gradwright_custom__ = "derivatives"

    def __init__(self, fun: Callable[..., Any], nondiff_argnums: Sequence[int]) -> None:
        super().__init__("a custom derivative", fun)
        self.nondiff_argnums = tuple(nondiff_argnums)
        self.jvp: Any = None
        self.fwd: Any = None
        self.bwd: Any = None

    def defjvp(self, jvp: Callable[..., Any]) -> Callable[..., Any]:
        """The rule of forward mode, and of reverse mode where there is no other.

        Args:
            jvp: Takes the arguments of nondiff_argnums, then a tuple of the others and
                a tuple of their tangents; returns the value and its tangent, which is
                linear in the tangents.
        """
        must_be_callable("defjvp", jvp)
        self.jvp = jvp
        return jvp

    def defvjp(self, fwd: Callable[..., Any], bwd: Callable[..., Any]) -> None:
        """The rules of reverse mode.

        Args:
            fwd: Takes the arguments; returns the value and what `bwd` needs.
            bwd: Takes the arguments of nondiff_argnums, what `fwd` has kept and a
                cotangent of the value; returns a tuple with a cotangent for each other
                argument, or None for zero.
        """
        must_be_callable("defvjp", fwd)
        must_be_callable("defvjp", bwd)
        self.fwd, self.bwd = fwd, bwd


class CustomVmap(Ruled):
    """A function with a rule of its own for all samples of a vmap."""

    __gradwright_custom__ = "batches"

    def __init__(self, fun: Callable[..., Any]) -> None:
        super().__init__("custom_vmap", fun)
        self.batch: Any = None

    def def_vmap(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """The rule that takes the place of a call in vmap.

        Args:
            rule: Takes the number of samples; a list with an entry for each argument,
                in its structure: whether the samples differ in it; and the arguments,
                with the samples along axis 0 where they differ. Returns the results,
                and in their structure for which of them the samples lie along axis 0.
        """
        must_be_callable("def_vmap", rule)
        self.batch = rule
        return rule


def custom_jvp(
    fun: Callable[..., Any] | None = None, nondiff_argnums: Sequence[int] = ()
) -> Any:
    """A function whose derivatives follow from a rule for tangents, see `defjvp`.

    Args:
        fun: The function; left out, it is a decorator.
        nondiff_argnums: Arguments that are not differentiated, functions say.

    Example:
        >>> import gradwright as gw
        >>> @custom_jvp
        ... def half_square(x):
        ...     return 0.5 * x * x
        >>> @half_square.defjvp
        ... def half_square_jvp(primals, tangents):
        ...     (x,), (x_dot,) = primals, tangents
        ...     return half_square(x), 100.0 * x * x_dot
        >>> gw.grad(half_square)(3.0)
        300.0
    """
    if fun is None:
        return lambda f: Custom(f, nondiff_argnums)
    return Custom(fun, nondiff_argnums)


def custom_vjp(
    fun: Callable[..., Any] | None = None, nondiff_argnums: Sequence[int] = ()
) -> Any:
    """A function whose derivatives follow from rules for cotangents, see `defvjp`.

    Args:
        fun: The function; left out, it is a decorator.
        nondiff_argnums: Arguments that are not differentiated, functions say.

    Example:
        >>> import gradwright as gw
        >>> @custom_vjp
        ... def clipped(x):
        ...     return 1.0 * x
        >>> def backward(_, g):
        ...     return (min(g, 1.0),)
        >>> clipped.defvjp(lambda x: (clipped(x), None), backward)
        >>> gw.grad(lambda x: 5.0 * clipped(x))(3.0)
        1.0
    """
    return custom_jvp(fun, nondiff_argnums)


def custom_vmap(fun: Callable[..., Any]) -> CustomVmap:
    """A function whose calls in vmap are one call of a rule, see `def_vmap`.

    Outside of vmap it is the function itself, and so are its derivatives. A derivative
    round the vmap is that of the rule; a vmap round a derivative goes over the samples
    one by one, as it does for any function.

    Args:
        fun: The function.

    Example:
        >>> import gradwright as gw
        >>> import numpy as np
        >>> @custom_vmap
        ... def rank(x, others):
        ...     return np.sum(others < x)
        >>> @rank.def_vmap
        ... def ranks(axis_size, in_batched, x, others):
        ...     assert in_batched == [True, False]
        ...     return np.searchsorted(np.sort(others), x), True
        >>> gw.vmap(rank, (0, None))(np.array([0.5, 2.5]), np.array([2.0, 3.0, 1.0]))
        array([0, 2])
    """
    return CustomVmap(fun)


def _written(custom: Ruled) -> types.FunctionType:
    given, passed = [], []
    for p in inspect.signature(custom.fun).parameters.values():
        star = "*" * (p.kind is p.VAR_POSITIONAL) + "**" * (p.kind is p.VAR_KEYWORD)
        given.append(f"{star}{p.name}")
        passed.append(f"{p.name}={p.name}" if p.kind is p.KEYWORD_ONLY else given[-1])
    name = getattr(custom.fun, "__name__", "function")
    name = name if name.isidentifier() else "function"
    text = f"def {name}({', '.join(given)}):\n    return custom({', '.join(passed)})\n"
    code = getattr(custom.fun, "__code__", None)
    place = f" {Path(code.co_filename).name}:{code.co_firstlineno}" if code else ""
    filename = f"<gradwright custom {name}{place}>"
    scope: dict[str, Any] = {"custom": custom, "__name__": "gradwright.custom"}
    exec(compile(text, filename, "exec"), scope)
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    made = scope[name]
    assert isinstance(made, types.FunctionType)
    made.__defaults__ = getattr(custom.fun, "__defaults__", None)
    made.__kwdefaults__ = getattr(custom.fun, "__kwdefaults__", None)
    return made
