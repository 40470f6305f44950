"""Derivatives against differences, and the two modes against each other."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from gradwright.arguments import is_inexact
from gradwright.transforms import grad, jvp, vjp


def check_grads(
    f: Callable[..., Any],
    args: Sequence[Any],
    order: int = 1,
    modes: Sequence[str] = ("fwd", "rev"),
    atol: float = 1e-6,
    rtol: float = 1e-5,
    eps: float = 1e-6,
    seed: int = 0,
) -> None:
    """Check the derivatives of a function along one random direction.

    Args:
        f: The function, of floats, complex numbers, float arrays, tuples and lists.
        args: Where to check; ints and other arguments stay as they are.
        order: Derivatives up to this order are checked.
        modes: "fwd" compares jvp with a central difference, "rev" vjp with jvp.
        atol: Largest error allowed.
        rtol: The same, relative to the derivative.
        eps: Square of the central difference's step, in units of each argument's size.
        seed: Of the direction.

    Raises:
        AssertionError: If a derivative is off; it says which, and by how much.

    Example:
        >>> check_grads(lambda x: x**3, (2.0,), order=2)
    """
    unknown = set(modes) - {"fwd", "rev"}
    if unknown:
        raise ValueError(f"modes are 'fwd' and 'rev', not {sorted(unknown)}")
    if not modes:
        raise ValueError("check_grads needs at least one mode")
    rng = np.random.default_rng(seed)
    tree = tuple(args)
    direction = _in_proportion(_like(tree, rng), tree)
    value = _check_first(f, tree, direction, rng, modes, (atol, rtol), eps)
    if order > 1:
        for g in _derivatives(f, tree, direction, value):
            check_grads(g, tree, order - 1, modes, atol, rtol, eps, seed + 1)


def _check_first(
    f: Callable[..., Any],
    tree: Any,
    direction: Any,
    rng: np.random.Generator,
    modes: Sequence[str],
    allowed: tuple[float, float],
    eps: float,
) -> Any:
    """Check the first derivative; returns the value."""
    name = getattr(f, "__name__", "function")
    value, tangent = jvp(f, tree, direction)
    difference = _difference(f, tree, direction, eps)
    if "fwd" in modes:
        _compare(f"jvp of {name}", tangent, difference, *allowed)
    if "rev" in modes:
        cotangent = _like(value, rng)
        _, pull = vjp(f, *tree)
        pulled = _dot(pull(cotangent), direction)
        against = tangent if "fwd" in modes else difference
        _compare(f"vjp of {name}", pulled, _dot(cotangent, against), *allowed)
    return value


def _derivatives(
    f: Callable[..., Any], tree: Any, direction: Any, value: Any
) -> Iterator[Callable[..., Any]]:
    """The functions whose derivatives are of the next order."""

    def derivative(*args: Any) -> Any:
        return jvp(f, args, direction)[1]

    yield derivative
    if is_inexact(value) and not np.shape(value) and not np.iscomplexobj(value):
        for k, a in enumerate(tree):
            if is_inexact(a) and not np.shape(a):
                yield grad(f, argnums=k)


def _trees() -> Any:
    """Optree, which only a check needs."""
    import optree

    return optree


def _like(tree: Any, rng: np.random.Generator) -> Any:
    """Random numbers in the structure of a tree; zero beside what is not inexact."""

    def leaf(x: Any) -> Any:
        if not is_inexact(x):
            return 0
        drawn = rng.standard_normal(np.shape(x))
        if np.iscomplexobj(x):
            drawn = drawn + 1j * rng.standard_normal(np.shape(x))
        if isinstance(x, np.ndarray | np.generic):
            return np.asarray(drawn).astype(x.dtype)[()]
        return complex(drawn) if isinstance(x, complex) else float(drawn)

    return _trees().tree_map(leaf, tree)


def _in_proportion(direction: Any, tree: Any) -> Any:
    """The direction with each argument's part scaled to that argument's size."""

    def leaf(d: Any, x: Any) -> Any:
        return d * max(1.0, float(np.max(np.abs(x), initial=0.0)))

    return _trees().tree_map(
        lambda d, x: leaf(d, x) if is_inexact(x) else d, direction, tree
    )


def _moved(tree: Any, direction: Any, step: float) -> Any:
    def leaf(x: Any, d: Any) -> Any:
        return type(x)(x + step * d) if not isinstance(x, np.ndarray) else x + step * d

    return _trees().tree_map(
        lambda x, d: leaf(x, d) if is_inexact(x) else x, tree, direction
    )


def _difference(f: Callable[..., Any], args: Any, direction: Any, eps: float) -> Any:
    """A central difference with one step of Richardson's extrapolation."""
    step = math.sqrt(eps)

    def central(h: float) -> Any:
        high, low = f(*_moved(args, direction, h)), f(*_moved(args, direction, -h))
        return _trees().tree_map(lambda a, b: (a - b) / (2 * h), high, low)

    coarse, fine = central(step), central(step / 2)
    return _trees().tree_map(lambda c, g: (4 * g - c) / 3, coarse, fine)


def _dot(a: Any, b: Any) -> float:
    """The real part of the sum of products: how cotangents meet tangents."""
    pairs = zip(_trees().tree_leaves(a), _trees().tree_leaves(b), strict=True)
    return float(sum(np.real(np.sum(np.asarray(x) * np.asarray(y))) for x, y in pairs))


def _compare(what: str, got: Any, wanted: Any, atol: float, rtol: float) -> None:
    for g, w in zip(
        _trees().tree_leaves(got), _trees().tree_leaves(wanted), strict=True
    ):
        error = np.max(np.abs(np.asarray(g) - np.asarray(w)), initial=0.0)
        allowed = atol + rtol * np.max(np.abs(np.asarray(w)), initial=0.0)
        if not error <= allowed:
            raise AssertionError(f"{what} is off by {error:.3g}: got {g}, expected {w}")
