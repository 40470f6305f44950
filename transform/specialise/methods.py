"""Attributes and methods of numbers and arrays: what x.name is, and x.name(...).

X.sum(axis=0)  ->  np.sum(X, axis=0)          X.T  ->  np.transpose(X)
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from gradwright.transform.build import constant
from gradwright.transform.core import Const, Operand, Value, type_of
from gradwright.transform.errors import EffectError, UnsupportedSyntax
from gradwright.transform.indices import linear
from gradwright.transform.primitives.structural import CAST, COPY
from gradwright.transform.specialise.abstract import (
    BoundMethod,
    Static,
    Structure,
    describe,
)
from gradwright.transform.specialise.frame import Frame, ProgramError
from gradwright.transform.types import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    Type,
    numpy_scalar,
)

Call = Callable[[Frame, Any, list[Any], dict[str, Any], Any], Any]

# Methods that are NumPy's functions, with the array as the first argument.
FUNCTIONS: dict[str, Any] = {
    name: getattr(np, name)
    for name in (
        "sum", "prod", "max", "min", "mean", "var", "std", "any", "all", "argmax",
        "argmin", "argsort", "clip", "conj", "conjugate", "cumprod", "cumsum",
        "diagonal", "dot", "nonzero", "ravel", "repeat", "searchsorted", "squeeze",
        "swapaxes", "take", "trace",
    )
}  # fmt: skip
IN_PLACE = ("partition", "resize", "setfield", "setflags")
PROPERTIES = {"real": np.real, "imag": np.imag}


def number_attribute(frame: Frame, owner: Operand, name: str, node: Any) -> Any:
    """An attribute of a number or an array."""
    from gradwright.transform.specialise.expressions import operate

    t = type_of(owner)
    if name in PROPERTIES:
        part = operate(frame, PROPERTIES[name], node, owner)
        if t.python and isinstance(part, Value):
            part.type = FLOAT  # the attribute of Python's number, not NumPy's function
        return part
    if name in SHAPES and (not t.python or frame.is_library):
        return SHAPES[name](frame, t, node)
    if not t.python:
        if name == "T":
            return operate(frame, np.transpose, node, owner)
        if name == "mT" and t.rank > 1:
            axes = (linear(-1), linear(-2))
            return call_function(frame, np.swapaxes, [owner, *axes], {}, node)
    if name == "conjugate" and not t.is_array:
        return BoundMethod(owner, None)
    if not t.python and (name in FUNCTIONS or name in METHODS):
        return BoundMethod(owner, METHODS.get(name, FUNCTIONS.get(name)))
    if t.is_array and name in IN_PLACE:
        raise frame.error(
            EffectError,
            f".{name}() changes an array in place",
            node,
            instead="the function of NumPy that returns a new array",
        )
    raise frame.error(
        UnsupportedSyntax,
        f"gradwright does not know .{name} of {describe(owner)} yet",
        node,
    )


# ---- what is known without the elements --------------------------------------------


def size(frame: Frame, t: Type, node: Any) -> Any:
    """How many elements there are: the product of the dims."""
    from gradwright.transform.specialise.expressions import binary

    product: Any = linear(1)
    for d in t.dims or ():
        product = binary(frame, operator.mul, product, d, node)
    return product


SHAPES: dict[str, Callable[[Frame, Type, Any], Any]] = {
    "shape": lambda frame, t, node: Structure(tuple, tuple(t.dims or ())),
    "ndim": lambda frame, t, node: constant(t.rank),
    "dtype": lambda frame, t, node: Static(np.dtype(t.dtype)),
    "size": size,
}


# ---- methods of their own ----------------------------------------------------------


def call_function(
    frame: Frame,
    function: Any,
    arguments: list[Any],
    keywords: dict[str, Any],
    node: Any,
) -> Any:
    """A call of a function of NumPy."""
    from gradwright.transform.specialise.calls import call

    return call(frame, Static(function), arguments, keywords, node)


def one_argument(arguments: list[Any]) -> Any:
    """`reshape(2, 3)` as `reshape((2, 3))`."""
    if len(arguments) == 1:
        return arguments[0]
    return Structure(tuple, tuple(arguments))


def reshape(
    frame: Frame, x: Any, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """x.reshape(*shape)."""
    shape = [one_argument(arguments)] if arguments else []
    return call_function(frame, np.reshape, [x, *shape], keywords, node)


def transpose(
    frame: Frame, x: Any, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """x.transpose(*axes)."""
    axes = [one_argument(arguments)] if arguments else []
    return call_function(frame, np.transpose, [x, *axes], keywords, node)


def copy(
    frame: Frame, x: Any, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """x.copy(): what is stored into one is not in the other."""
    if not type_of(x).is_array:
        return x
    made = frame.builder.let(COPY, x)
    if isinstance(made, Value) and not arguments and not keywords:
        frame.program.copied.add(made)
    return made


def astype(
    frame: Frame, x: Any, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """x.astype(dtype)."""
    for name in keywords:
        if name not in ("dtype", "copy"):
            raise frame.error(UnsupportedSyntax, f"astype with {name}= yet", node)
    wanted = keywords.get("dtype", arguments[0] if arguments else None)
    made = as_dtype(frame, x, wanted, node)
    return as_new(frame, made, keywords) if made is x else made


def as_new(frame: Frame, x: Operand, keywords: dict[str, Any]) -> Operand:
    """The same array: copied, as NumPy does, where a store could tell."""
    kept = keywords.get("copy", Static(True))
    if isinstance(kept, Static | Const) and kept.value in (None, False):
        return x
    inner: Frame | None = frame
    while inner is not None:
        if inner.stored.places and type_of(x).is_array:
            return frame.builder.let(COPY, x)
        inner = inner.caller
    return x


def flatten(
    frame: Frame, x: Any, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """x.flatten(): an array of its own."""
    flat = call_function(frame, np.ravel, [x, *arguments], keywords, node)
    return as_new(frame, flat, {})


def conjugate(
    frame: Frame, x: Any, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """x.conj(): of real numbers the array itself, not a new one."""
    if type_of(x).is_array and not type_of(x).is_complex:
        return x
    return call_function(frame, np.conjugate, [x, *arguments], keywords, node)


def as_dtype(frame: Frame, x: Operand, wanted: Any, node: Any) -> Any:
    """An array or a NumPy number of another dtype."""
    dtype = known_dtype(frame, wanted, node)
    t = type_of(x)
    target = numpy_scalar(dtype)
    if t.is_array:
        target = Type(target.dtype, dims=t.dims)
    return (
        x if t == target else frame.builder.let(CAST, x, attribute=target, type=target)
    )


def known_dtype(frame: Frame, wanted: Any, node: Any) -> np.dtype[Any]:
    """The dtype that an argument names."""
    try:
        if isinstance(wanted, Static):
            found: np.dtype[Any] = np.dtype(wanted.value)
            return found
    except TypeError as e:
        raise ProgramError(e) from None
    raise frame.error(UnsupportedSyntax, f"{describe(wanted)} as a dtype", node)


def item(
    frame: Frame, x: Any, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """x.item() of a NumPy number: Python's own."""
    t = type_of(x)
    if t.is_array or arguments:
        raise frame.error(
            UnsupportedSyntax, ".item() of an array yet", node, instead="x[0]"
        )
    python = COMPLEX if t.is_complex else FLOAT if t.is_inexact else INT
    python = BOOL if t.is_bool else python
    return frame.builder.let(CAST, x, attribute=python, type=python)


METHODS: dict[str, Call] = {
    "reshape": reshape,
    "transpose": transpose,
    "copy": copy,
    "conj": conjugate,
    "conjugate": conjugate,
    "astype": astype,
    "flatten": flatten,
    "item": item,
}
