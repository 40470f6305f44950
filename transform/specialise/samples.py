"""Samples: what a function under vmap is called with, a part of each mapped argument.

in_axes (1, None)  for  X: float[3, n], w: float   ->   x: float[3], w: float
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from gradwright.transform.axes import spread
from gradwright.transform.core import type_of
from gradwright.transform.errors import ShapeError
from gradwright.transform.indices import Linear
from gradwright.transform.specialise.abstract import is_operand, leaves, mapped
from gradwright.transform.step import Step
from gradwright.transform.types import Type, array, numpy_scalar


@dataclass(eq=False)
class Samples:
    """What one sample of the arguments is.

    step: with the axis of each leaf, and its length.  lengths: of the mapped axes.
    """

    step: Step
    arguments: dict[str, Any]
    lengths: list[Linear]


def samples(
    step: Step,
    arguments: dict[str, Any],
    make: Callable[[Any, Type], Any] = lambda leaf, type: type,
) -> Samples:
    """The arguments of one sample: types, or what `make` makes of a leaf and its type.

    Args:
        step: A vmap, whose in_axes has an entry for each parameter.
        arguments: By parameter, a structure of types or operands.
        make: Makes what stands for one sample of a mapped leaf.

    Raises:
        ShapeError: There is no such axis, or the samples are not as many everywhere.
    """
    axes: list[int | None] = []
    sizes: list[int | None] = []
    met: list[tuple[str, int, Linear]] = []
    found: dict[str, Any] = {}
    for (name, a), entry in zip(arguments.items(), step.in_axes, strict=True):
        wanted = spread(entry, a, "in_axes", f"the argument {name}")
        pairs = zip(list(leaves(a)), wanted, strict=True)

        def sample(leaf: Any, name: str = name, pairs: Any = pairs) -> Any:
            _, axis = next(pairs)
            t = _type(leaf)
            if axis is None or t is None:
                axes.append(None)
                sizes.append(None)
                return leaf
            k = _position(axis, t, name)
            axes.append(k)
            dims = t.dims or ()
            n = dims[k].constant
            sizes.append(None if n == -1 else n)
            met.append((name, k, dims[k]))
            return make(leaf, without(t, k))

        found[name] = mapped(sample, a)
    _check_sizes(step, met)
    step = replace(step, axes=tuple(axes), sizes=tuple(sizes))
    return Samples(step, found, [d for _, _, d in met])


def _type(leaf: Any) -> Type | None:
    """The type of what can be mapped at all; None of a text, a function, None."""
    if isinstance(leaf, Type):
        return leaf if leaf.is_number else None
    if is_operand(leaf) and type_of(leaf).is_number:
        return type_of(leaf)
    return None


def _position(axis: int, t: Type, name: str) -> int:
    if not -t.rank <= axis < t.rank:
        what = f"has {t.rank} axes" if t.dims else "is a number"
        raise ShapeError(
            f"vmap maps axis {axis} of the argument {name}, which {what}",
            instead="None in in_axes for what is the same for all samples",
        )
    return axis % t.rank


def without(t: Type, axis: int) -> Type:
    """The type of an array without one of its axes."""
    dims = tuple(d for k, d in enumerate(t.dims or ()) if k != axis)
    return array(t.dtype, dims) if dims else numpy_scalar(t.dtype)


def _check_sizes(step: Step, met: list[tuple[str, int, Linear]]) -> None:
    """There is a number of samples, and as far as it is known it is one."""
    if not met and step.axis_size is None:
        raise ShapeError(
            "vmap maps none of the arguments of this call: in_axes is None for all",
            instead="an axis for one of them, or axis_size",
        )
    known = [
        (f"axis {k} of the argument {name}", d.constant)
        for name, k, d in met
        if d.constant not in (None, -1)
    ]
    if step.axis_size is not None:
        known.append(("axis_size", step.axis_size))
    for what, n in known:
        if n != known[0][1]:
            raise ShapeError(
                f"vmap needs mapped axes of one size: {known[0][0]} has "
                f"{known[0][1]} samples, and {what} has {n}"
            )
