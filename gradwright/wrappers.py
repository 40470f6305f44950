"""Functions with source for callables that have none, but a row in the table.

    math.sin   ->   def sin(x):
                        return math.sin(x)

So `grad(math.sin)` is the gradient of a small Python function, like any other.
"""

from __future__ import annotations

import inspect
import linecache
import math
import operator
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from gradwright.transform.primitives import load_rows
from gradwright.transform.primitives.record import TABLE, spelling_of

NAMES = ("x", "y", "z")
SPELLED = {"math": math, "np": np, "operator": operator}
_made: dict[Any, types.FunctionType] = {}  # one for a row at most


def with_source(function: Any) -> types.FunctionType | None:
    """A Python function that calls a callable of the table; None without a row."""
    load_rows()
    if not callable(function) or isinstance(function, types.FunctionType):
        return None
    if not TABLE.knows(function):
        return None
    if function not in _made:
        _made[function] = _written(function)
    return _made[function]


def _written(function: Callable[..., Any]) -> types.FunctionType:
    called = spelling_of(function)
    if getattr(function, "__module__", None) == "_operator":
        called = f"operator.{function.__name__}"
    elif not called.replace(".", "").isidentifier():
        called = function.__name__
    given = ", ".join(_parameters(function))
    name = called.rpartition(".")[2]
    if name == called:  # a builtin, which its wrapper must not hide from itself
        name = f"{called}_value"
    text = f"def {name}({given}):\n    return {called}({given})\n"
    filename = f"<gradwright {called}>"
    scope = {**SPELLED, "__name__": "gradwright.wrappers"}
    exec(compile(text, filename, "exec"), scope)
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    made = scope[name]
    assert isinstance(made, types.FunctionType)
    return made


def _parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    composed = TABLE.compositions.get(function)
    if composed is not None:
        parameters = inspect.signature(composed).parameters.values()
        return tuple(p.name for p in parameters if p.default is p.empty)
    arities = [arity for f, arity in TABLE.rows if f is function]
    return NAMES[: min(n if isinstance(n, int) else 1 for n in arities)]
