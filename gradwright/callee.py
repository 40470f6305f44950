"""What a callable stands for: its function with source, what is bound, its transforms.

    grad(grad(partial(f, 2.0)))   ->   f, bound (2.0,), steps (grad, grad)

Only what is known to call one function with these arguments is seen through; a wrapper
made by a decorator is a function like any other, `__wrapped__` or not.
"""

from __future__ import annotations

import functools
import inspect
import types
from dataclasses import replace
from typing import Any

from gradwright.transform import source as sources
from gradwright.transform.errors import SourceError
from gradwright.transform.step import Step


class Callee:
    """The function with source behind a transformed one, and what was bound on the way.

    steps: the transforms, innermost first; positions count the bound arguments too.
    """

    def __init__(self, target: Any, *more: Step) -> None:
        user, steps = steps_of(target)
        self.function, self.bound, self.keywords = plain_function(user)
        self.steps = tuple(_behind(step, len(self.bound)) for step in (*steps, *more))

    @property
    def names(self) -> list[str]:
        """The parameters that a call can give."""
        signature = inspect.signature(self.function, follow_wrapped=False)
        return list(signature.parameters)[len(self.bound) :]


def _behind(step: Step, count: int) -> Step:
    """A step whose positions are counted behind so many more arguments, or fewer."""
    if not count:
        return step
    if step.kind == "vmap":
        return replace(step, first=step.first + count)
    if step.kind == "jit":
        static, donated = (
            tuple(k + count for k in positions)
            for positions in (step.static, step.donated)
        )
        return replace(step, static=static, donated=donated)
    if step.argnums is None:
        return step
    if isinstance(step.argnums, tuple):
        return replace(step, argnums=tuple(k + count for k in step.argnums))
    return replace(step, argnums=step.argnums + count)


def steps_of(target: Any) -> tuple[Any, list[Step]]:
    """The function under nested transforms, and the transforms, innermost first."""
    steps: list[Step] = []
    while hasattr(target, "__gradwright__"):
        if isinstance(target, types.MethodType):
            inner, more = steps_of(target.__func__)  # they count the object as well
            bound = types.MethodType(inner, target.__self__)
            return bound, [*(_behind(step, -1) for step in more), *steps]
        steps.insert(0, target.__gradwright__)
        target = target.__wrapped__
    return target, steps


def plain_function(
    target: Any,
) -> tuple[types.FunctionType, tuple[Any, ...], dict[str, Any]]:
    """The function with source behind a callable, and the arguments bound to it."""
    if isinstance(target, types.FunctionType):
        return target, (), {}
    if isinstance(target, functools.partial):
        function, args, keywords = plain_function(target.func)
        return function, (*args, *target.args), {**keywords, **target.keywords}
    if isinstance(target, types.MethodType):
        function, args, keywords = plain_function(target.__func__)
        return function, (*args, target.__self__), keywords
    if isinstance(target, functools._lru_cache_wrapper):
        return plain_function(target.__wrapped__)
    if isinstance(target, staticmethod | classmethod):
        return plain_function(target.__func__)
    if type(target).__module__.startswith("numba.") and hasattr(target, "py_func"):
        return plain_function(target.py_func)
    if getattr(type(target), "__gradwright_custom__", ""):
        return target.written, (), {}
    called = inspect.getattr_static(type(target), "__call__", None)
    if isinstance(called, types.FunctionType):
        name = type(target).__name__
        raise SourceError(
            f"an object of type {name} is no function, though it can be called",
            instead=f"its method, as in grad({name.lower()}.__call__)",
        )
    # The table is imported where it is asked: a function with source does without.
    from gradwright.wrappers import with_source

    written = with_source(target)
    if written is None:
        sources.read(target)  # says that it has no source
        raise AssertionError(target)
    return written, (), {}
