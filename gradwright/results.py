"""Structures put together and taken apart: results, gradients, tangents, cotangents.

What a rewritten program returns is flat; `assembler` writes the small function that
puts it back into the structure of the user's result.  `matched` goes the other way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gradwright.arguments import is_inexact
from gradwright.transform.errors import NotDifferentiable, ShapeError
from gradwright.transform.specialise.abstract import Static
from gradwright.transform.structure import Structure, put_together, structure_of
from gradwright.transform.types import Type

Assemble = Callable[[Any], Any]


# ---- results -----------------------------------------------------------------------


def assembler(template: Any, fits: dict[int, Type]) -> Assemble:
    """The function from the flat results of a program to the user's structure.

    Args:
        template: The structure; its operands are the flat results, in order.
        fits: By position, the type of the argument whose gradient stands there.

    Example:
        For a pair of a value and the gradient of a Python float it is
        `lambda out: (out[0], as_float(out[1]))`.
    """
    writer = Writer(fits)
    text = writer.expression(template)
    if writer.count == 1:
        text = text.replace("out[0]", "out")
    as_they_are = _tuple_text([f"out[{k}]" for k in range(writer.count)])
    if writer.count and text in ("out", as_they_are):
        return as_it_is
    made = eval(f"lambda out: {text}", writer.names)
    return made  # type: ignore[no-any-return]


def as_it_is(out: Any) -> Any:
    """What a program returns, where that is the user's structure already."""
    return out


class Writer:
    """An expression that builds a structure from `out`, and the names it uses."""

    def __init__(self, fits: dict[int, Type]) -> None:
        self.fits = fits
        self.count = 0
        self.names: dict[str, Any] = {}

    def expression(self, template: Any) -> str:
        if isinstance(template, Structure):
            items = [self.expression(i) for i in template.items]
            if template.kind is tuple:
                return _tuple_text(items)
            if template.kind is list:
                return f"[{', '.join(items)}]"
            if template.keys is not None:
                keys = map(self.key, template.keys)
                pairs = (f"{k}: {i}" for k, i in zip(keys, items, strict=True))
                return f"{{{', '.join(pairs)}}}"
            return f"{self.name(template.kind._make)}({_tuple_text(items)})"  # type: ignore[attr-defined]
        if isinstance(template, Static):
            return self.name(template.value)
        k, self.count = self.count, self.count + 1
        fit = fit_of(self.fits[k]) if k in self.fits else None
        return f"out[{k}]" if fit is None else f"{self.name(fit)}(out[{k}])"

    def key(self, key: Any) -> str:
        return repr(key) if type(key) in (str, int, bool) else self.name(key)

    def name(self, thing: Any) -> str:
        name = f"thing_{len(self.names)}"
        self.names[name] = thing
        return name


def _tuple_text(items: list[str]) -> str:
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def fit_of(type_: Type) -> Callable[[Any], Any] | None:
    """What makes a gradient of the kind of its argument; None for an array as it is."""
    if type_.is_array:
        return _as_array_of(np.dtype(type_.dtype)) if not type_.dims else None
    if type_.python:
        return complex if type_.is_complex else as_float
    scalar: type[Any] = np.dtype(type_.dtype).type
    return scalar


def as_float(gradient: Any) -> float:
    """A gradient as a Python float; a complex one is refused."""
    if type(gradient) is float:
        return gradient
    if isinstance(gradient, complex):
        raise NotDifferentiable(
            f"the derivative with respect to a real number came out complex: "
            f"{gradient}; a power of a negative number has left the real numbers"
        )
    return float(gradient)


def _as_array_of(dtype: np.dtype[Any]) -> Callable[[Any], Any]:
    return lambda gradient: np.asarray(gradient, dtype)


# ---- gradients of a call -----------------------------------------------------------


def gradient_like(a: Any, gradients: Iterator[Any]) -> Any:
    """The cotangent of an argument, of its structure and kinds; zero for an int."""
    held = structure_of(a)
    if held is not None:
        items = [gradient_like(i, gradients) for i in held.items]
        return put_together(held.kind, items, held.keys)
    if is_inexact(a):
        found = next(gradients)
        if isinstance(a, np.ndarray):
            return np.asarray(found, a.dtype)
        if isinstance(a, np.generic):
            return type(a)(found)
        return complex(found) if isinstance(a, complex) else as_float(found)
    if isinstance(a, np.ndarray):
        return np.zeros_like(a)
    return type(a)(0) if isinstance(a, int | np.generic) else a


# ---- tangents and cotangents -------------------------------------------------------


def matched(like: Any, given: Any, what: str) -> Iterator[Any]:
    """The inexact leaves of `given`, which must have the structure of `like`.

    A dict's items are found by their keys.  What stands beside an int, a text or None
    is not looked at.
    """
    held = structure_of(like)
    if held is not None:
        for a, b in zip(held.items, _items(held, like, given, what), strict=True):
            yield from matched(a, b, what)
    elif is_inexact(like):
        if not isinstance(given, int | float | complex | np.generic | np.ndarray):
            raise _unlike(like, given, what)
        yield _fitted(given, like, what)


def _items(held: Structure, like: Any, given: Any, what: str) -> list[Any]:
    """The items of `given` in the order of those they belong to."""
    if held.keys is not None:
        if type(given) is not dict or given.keys() != like.keys():
            raise _unlike(like, given, what)
        return [given[k] for k in held.keys]
    plain = held.kind in (tuple, list) and type(given) in (tuple, list)
    if not (plain or type(given) is held.kind) or len(given) != len(held.items):
        raise _unlike(like, given, what)
    return list(given)


def _unlike(like: Any, given: Any, what: str) -> ShapeError:
    return ShapeError(
        f"the {what} {in_short(given)} does not have the structure of {in_short(like)}"
    )


def in_short(a: Any) -> str:
    """A value in one line of a message."""
    text = " ".join(repr(a).split())
    return text if len(text) < 80 else f"{text[:76]} ..."


def _fitted(given: Any, like: Any, what: str) -> Any:
    """A tangent or cotangent as a number or array of the kind of its primal."""
    if type(given) is float and type(like) is float:
        return given
    if np.shape(given) != np.shape(like):
        raise ShapeError(
            f"a {what} of shape {np.shape(given)} for a value of shape {np.shape(like)}"
        )
    if np.iscomplexobj(given) and not np.iscomplexobj(like):
        raise ShapeError(f"a complex {what} for a real value")
    if isinstance(like, np.ndarray):
        return np.asarray(given).astype(like.dtype, copy=False)
    if isinstance(like, np.generic):
        return type(like)(given)
    return complex(given) if isinstance(like, complex) else float(given)


def zeros(a: Any) -> Any:
    """A tangent for an argument that the call does not move."""
    return (
        np.zeros_like(a)[()] if isinstance(a, np.ndarray | np.generic) else type(a)(0)
    )


def outline(value: Any) -> Any:
    """The structure and kinds of a value, without its memory."""
    held = structure_of(value)
    if held is not None:
        return put_together(held.kind, map(outline, held.items), held.keys)
    if isinstance(value, np.ndarray):
        return np.broadcast_to(np.zeros((), value.dtype), value.shape)
    return value
