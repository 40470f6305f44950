"""Products of all samples: the forms that are read off the ranks of two operands."""

import itertools
from typing import Any

import numpy as np
import pytest

import gradwright as gw

rng = np.random.default_rng(8)
COUNT = 3


def batch(*shape: int) -> Any:
    return rng.normal(size=(COUNT, *shape))


def hold(f: Any, given: list[Any], axes: tuple[int | None, ...]) -> None:
    """Values and gradients are those of each sample."""
    some = [a if axis == 0 else a[0] for a, axis in zip(given, axes, strict=True)]

    def one(k: int) -> list[Any]:
        pairs = zip(some, axes, strict=True)
        return [a[k] if axis == 0 else a for a, axis in pairs]

    def total(*operands: Any) -> Any:
        return np.sum(f(*operands) ** 2)

    for g in (f, gw.grad(total, argnums=tuple(range(len(given))))):
        found = gw.vmap(g, in_axes=axes, how="axis")(*some)
        each = [g(*one(k)) for k in range(COUNT)]
        if not isinstance(found, tuple):
            found, each = (found,), [(e,) for e in each]
        for k, leaf in enumerate(found):
            wanted = np.stack([e[k] for e in each])
            assert leaf.shape == wanted.shape
            np.testing.assert_allclose(leaf, wanted, 1e-10, 1e-12)


AXES = [(0, 0), (0, None), (None, 0)]
SHAPES = {
    np.matmul: [
        ((4,), (4,)), ((2, 4), (4,)), ((4,), (4, 2)), ((2, 4), (4, 3)),
        ((5, 2, 4), (4,)), ((4,), (5, 4, 2)), ((5, 2, 4), (4, 3)),
        ((2, 4), (5, 4, 3)), ((5, 2, 4), (5, 4, 3)),
    ],
    np.dot: [((4,), (4,)), ((5, 2, 4), (4, 3)), ((2, 4), (5, 4, 3)), ((), (2, 3))],
    np.inner: [((4,), (4,)), ((2, 4), (3, 4)), ((2, 4), (4,)), ((), (4,))],
    np.outer: [((4,), (2,)), ((2, 3), (4,)), ((), (4,))],
    np.kron: [((4,), (2,)), ((2, 3), (4, 2)), ((2, 3), (4,)), ((4,), (2, 3))],
    np.vecdot: [((4,), (4,)), ((2, 4), (4,)), ((4,), (2, 4))],
    np.cross: [((3,), (3,)), ((2, 3), (3,)), ((3,), (2, 3))],
    np.linalg.solve: [((4, 4), (4, 2)), ((5, 4, 4), (4, 2)), ((4, 4), (4,))],
}  # fmt: skip
CASES = [(f, *shapes) for f, pairs in SHAPES.items() for shapes in pairs]


@pytest.mark.parametrize("axes", AXES, ids=str)
@pytest.mark.parametrize(("f", "one", "other"), CASES)
def test_products(f: Any, one: Any, other: Any, axes: Any) -> None:
    calls = {
        np.matmul: lambda a, b: a @ b,
        np.dot: lambda a, b: np.dot(a, b),
        np.inner: lambda a, b: np.inner(a, b),
        np.outer: lambda a, b: np.outer(a, b),
        np.kron: lambda a, b: np.kron(a, b),
        np.vecdot: lambda a, b: np.vecdot(a, b),
        np.cross: lambda a, b: np.cross(a, b),
        np.linalg.solve: lambda a, b: np.linalg.solve(a, b),
    }
    hold(calls[f], [batch(*one), batch(*other)], axes)


@pytest.mark.parametrize("axes", [*itertools.product((0, None), repeat=3)], ids=str)
def test_chains(axes: Any) -> None:
    if not any(axis == 0 for axis in axes):
        return
    given = [batch(2, 4), batch(4, 3), batch(3)]
    hold(lambda a, b, c: np.linalg.multi_dot([a, b, c]), given, axes)
    given = [batch(2), batch(2, 3), batch(3, 5)]
    hold(lambda a, b, c: np.linalg.multi_dot([a, b, c]), given, axes)


@pytest.mark.parametrize("axes", AXES, ids=str)
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("lengths", [(4, 2), (2, 5), (3, 3), (4, 1)], ids=str)
def test_slid(lengths: tuple[int, int], mode: str, axes: Any) -> None:
    given = [batch(n) for n in lengths]
    if mode == "full":
        hold(lambda a, v: np.convolve(a, v), given, axes)
        hold(lambda a, v: np.correlate(a, v, "full"), given, axes)
    elif mode == "same":
        hold(lambda a, v: np.convolve(a, v, "same"), given, axes)
        hold(lambda a, v: np.correlate(a, v, "same"), given, axes)
    else:
        hold(lambda a, v: np.convolve(a, v, "valid"), given, axes)
        hold(lambda a, v: np.correlate(a, v, "valid"), given, axes)


@pytest.mark.parametrize("axes", AXES, ids=str)
def test_sums_that_do_not_name_their_result(axes: Any) -> None:
    hold(lambda a, b: np.einsum("...ij,jk", a, b), [batch(5, 2, 4), batch(4, 3)], axes)
    hold(lambda a, b: np.einsum("ba,a", a, b), [batch(2, 4), batch(4)], axes)
