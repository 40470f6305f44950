"""The transform over batches that users call: vmap; and which arguments it maps.

vmap(f)(xs) is stack([f(x) for x in xs]): a loop over the samples round the program.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from gradwright.positions import must_be_callable
from gradwright.transform.axes import BY_NAME, Axes, frozen
from gradwright.transform.step import Step
from gradwright.transforms import Transformed

Form = tuple[int, tuple[str, ...]]  # of a call: arguments by position, and by name


def vmap(
    fun: Callable[..., Any] | None = None,
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_name: Any = None,
    axis_size: int | None = None,
    how: str | None = None,
) -> Any:
    """The function of many samples: `vmap(f)(xs)` is `stack([f(x) for x in xs])`.

    Every sample goes its own way through the branches and loops of the function. No
    argument is changed, and what is not mapped is not copied.

    Args:
        fun: The function; left out, `vmap(...)` is a decorator.
        in_axes: Along which axis of the arguments the samples lie: an int for all, or
            a tuple with an entry for each argument by position; in place of an int
            None for what is the same for all samples, or a tuple, list or dict in the
            structure of the argument. Arguments given by name are mapped along axis 0.
        out_axes: Along which axis of the results the samples come to lie, in the same
            way; None for a result that is the same for all samples.
        axis_name: The name by which `psum` and its relatives know the samples.
        axis_size: How many samples there are, where no argument says so.
        how: "axis" gives every array one more axis, "loop" makes a loop over the
            samples. Left out, it is an axis where all samples go one way through the
            function, and all that differs between them is of NumPy.

    Returns:
        A function of the same arguments, with one more axis in what is mapped. Floats
        of Python become arrays of float64, ints of int64 and bools of bool.

    Raises:
        ShapeError: At the call, if an argument has no such axis, or not as many
            samples as another one, or if the shapes of results may differ.
        UnsupportedSyntax: At the call, if `how` is "axis" and a loop is needed.
        TypeError: in_axes or out_axes holds something else.
        ValueError: `how` is something else.

    Example:
        >>> import numpy as np
        >>> def collatz(n):
        ...     steps = 0
        ...     while n > 1:
        ...         n = n // 2 if n % 2 == 0 else 3 * n + 1
        ...         steps += 1
        ...     return steps
        >>> vmap(collatz)(np.array([1, 6, 7]))
        array([ 0,  8, 16])
    """
    if fun is None:
        return lambda f: vmap(f, in_axes, out_axes, axis_name, axis_size, how)
    must_be_callable("vmap", fun)
    mapped = frozen(in_axes, "in_axes")
    if isinstance(mapped, Axes) and mapped.kind not in (tuple, list):
        raise TypeError(
            "in_axes of vmap is an int, None, or a tuple with an entry for each "
            f"argument, and not {in_axes!r}"
        )
    if axis_size is not None and type(axis_size) is not int:
        raise TypeError(f"axis_size of vmap is an int, and not {axis_size!r}")
    if how not in (None, "axis", "loop"):
        raise ValueError(f"how of vmap is 'axis' or 'loop', and not {how!r}")
    step = Step(
        "vmap",
        None,
        in_axes=mapped,
        out_axes=frozen(out_axes, "out_axes"),
        axis_name=axis_name,
        axis_size=axis_size,
        how=how,
    )
    return Transformed(fun, step)


vars(vmap)["__gradwright_kind__"] = "vmap"


# ---- which parameters --------------------------------------------------------------


def given_by(
    signature: inspect.Signature,
    bound: tuple[Any, ...],
    keywords: dict[str, Any],
    form: Form,
) -> dict[str, Any]:
    """For each parameter which argument of a call stands there.

    That is its position, counted with the bound ones, or BY_NAME; None for a default
    and for what is bound; a tuple or dict of these behind stars.
    """
    count, names = form
    marks = [*[None] * len(bound), *range(len(bound), len(bound) + count)]
    by_name = {**dict.fromkeys(keywords), **dict.fromkeys(names, BY_NAME)}
    try:
        found = signature.bind(*marks, **by_name).arguments
    except TypeError:  # the call says so itself
        return dict.fromkeys(signature.parameters)
    stars: dict[Any, Any] = {
        inspect.Parameter.VAR_POSITIONAL: (),
        inspect.Parameter.VAR_KEYWORD: {},
    }
    return {n: found.get(n, stars.get(p.kind)) for n, p in signature.parameters.items()}
