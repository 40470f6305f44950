"""What derivatives are held against: the function itself, moved a little.

The value must be the function's own to the last bit, the derivative that of central
differences; gradients must be of their argument's kind, and agree between the modes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import gradwright as gw

STEP = 2.0**-14


def check(
    f: Callable[..., Any], *args: Any, tolerance: float = 1e-6, exact: bool = True
) -> Any:
    """Judge value_and_grad, jvp and vjp of a real function of these arguments.

    Args:
        f: The function.
        args: Where to judge it; only floats and complex numbers are moved.
        tolerance: Of the differences.
        exact: The value is the function's to the last bit; not so where the function
            itself calls a derivative, whose terms may be added in another order.

    Returns:
        The gradients, a tuple with one for each argument that has any.
    """
    wanted = f(*args)
    which = tuple(k for k, a in enumerate(args) if has_numbers(a))
    value, gradients = gw.value_and_grad(f, argnums=which)(*args)

    def judge(value: Any) -> None:
        if exact:
            same(value, wanted)
        else:
            assert type(value) is type(wanted)
            near(value, wanted, 1e-12, "value")

    judge(value)
    for k, gradient in zip(which, gradients, strict=True):
        like(gradient, args[k])

    direction = tuple(toward(a) for a in args)
    slope = differences(f, args, direction)
    along = sum(inner(g, direction[k]) for k, g in zip(which, gradients, strict=True))
    near(along, slope, tolerance, "gradient and differences")

    value, tangent = gw.jvp(f, args, direction)
    judge(value)
    near(tangent, along, 1e-9, "jvp and gradient")

    value, pull = gw.vjp(f, *args)
    judge(value)
    for seed in (1.0, -0.5, 1.0):  # it may be called again
        bars = pull(seed)
        pulled = sum(inner(bars[k], direction[k]) for k in which)
        near(pulled, seed * along, 1e-9, "vjp and gradient")
    for k in which:
        like(bars[k], args[k])
    return gradients


def differences(
    f: Callable[..., Any], args: tuple[Any, ...], direction: tuple[Any, ...]
) -> float:
    """The slope along a direction: central differences, extrapolated once."""

    def at(step: float) -> float:
        moved = (move(a, d, step) for a, d in zip(args, direction, strict=True))
        return float(f(*moved))

    coarse = (at(STEP) - at(-STEP)) / (2.0 * STEP)
    fine = (at(STEP / 2) - at(-STEP / 2)) / STEP
    return (4.0 * fine - coarse) / 3.0


def leaves(a: Any) -> Iterator[Any]:
    """The numbers and arrays of an argument, depth first."""
    if isinstance(a, tuple | list):
        for item in a:
            yield from leaves(item)
    else:
        yield a


def is_number(a: Any) -> bool:
    """Whether a leaf can be differentiated."""
    return isinstance(a, float | complex | np.inexact) or (
        isinstance(a, np.ndarray) and a.dtype.kind in "fc"
    )


def has_numbers(a: Any) -> bool:
    """Whether an argument has a leaf that can be differentiated."""
    return any(map(is_number, leaves(a)))


def toward(a: Any) -> Any:
    """A direction in the space of an argument, no component of it near zero."""
    if isinstance(a, tuple | list):
        return type(a)(toward(item) for item in a)
    if not is_number(a):
        return a
    parts = 0.6 + 0.1 * np.cos(np.arange(np.size(a))).reshape(np.shape(a))
    if np.iscomplexobj(a):
        parts = parts - 0.7j * parts
    if isinstance(a, np.ndarray):
        return parts.astype(a.dtype)
    return type(a)(parts.item())


def move(a: Any, d: Any, step: float) -> Any:
    """The argument, a step along the direction."""
    if isinstance(a, tuple | list):
        return type(a)(move(x, y, step) for x, y in zip(a, d, strict=True))
    return a + step * d if is_number(a) else a


def inner(gradient: Any, direction: Any) -> float:
    """The slope that a gradient gives along a direction, in JAX's convention."""
    pairs = zip(leaves(gradient), leaves(direction), strict=True)
    return float(sum(np.real(np.sum(g * d)) for g, d in pairs if is_number(d)))


def near(got: Any, wanted: Any, tolerance: float, what: str) -> None:
    """Refuse two numbers that differ by more than the tolerance, in either sense."""
    assert abs(got - wanted) <= tolerance * (1.0 + abs(wanted)), (
        f"{what}: {got!r} and {wanted!r}"
    )


def same(got: Any, wanted: Any) -> None:
    """Refuse a value that is not of the same type and the same bits."""
    assert type(got) is type(wanted), f"{got!r} must be of the type of {wanted!r}"
    if isinstance(wanted, tuple | list):
        assert len(got) == len(wanted), f"{got!r} must be {wanted!r}"
        for x, y in zip(got, wanted, strict=True):
            same(x, y)
    elif isinstance(wanted, float | complex | np.generic | np.ndarray):
        assert np.shape(got) == np.shape(wanted), f"{got!r} must be {wanted!r}"
        x, y = np.asarray(got), np.asarray(wanted)
        bits = x.dtype == y.dtype and x.tobytes() == y.tobytes()
        assert bits, f"{got!r} must be {wanted!r}"
    else:
        assert got == wanted, f"{got!r} must be {wanted!r}"


def like(gradient: Any, argument: Any) -> None:
    """Refuse a gradient that has not its argument's structure, shape and dtype."""
    assert type(gradient) is type(argument), f"{gradient!r} for {argument!r}"
    if isinstance(argument, tuple | list):
        for g, a in zip(gradient, argument, strict=True):
            like(g, a)
    elif isinstance(argument, np.ndarray):
        assert gradient.shape == argument.shape, f"{gradient!r} for {argument!r}"
        assert gradient.dtype == argument.dtype, f"{gradient!r} for {argument!r}"
