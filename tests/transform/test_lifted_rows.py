"""Every row that takes arrays, over samples: against a loop over NumPy's own results.

The samples are those of the table, so that a new row is tested by being there. Each
operand differs alone, and all do; so do the gradients of a number that is made of them.
"""

import itertools
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import optree
import pytest
from test_array_primitives import (
    ROWS,
    SMOOTH,
    VALUE,
    Program,
    all_kinds,
    is_complex,
    over_rows,
)

import gradwright as gw
from gradwright.transform.primitives.record import Primitive

COUNT = 3
SQUARES = "np.sum(np.real({}) ** 2)"  # a number that depends on all of a result

# The rows that are the same loop over the samples that any other function is.
LOOPED = """
    np.tile np.linspace np.meshgrid np.searchsorted np.diag np.diagonal np.trace
    np.interp np.convolve np.correlate np.linalg.multi_dot np.quantile
    np.sum(where=) np.mean(where=) np.prod(where=)
""".split()


def name(p: Primitive) -> str:
    """A row as it is listed: that of parts beside the one of all elements."""
    of_parts = p.signature is not None and "where" in p.signature.parameters
    return f"{p.spelling}(where=)" if of_parts else p.spelling


def axes_of(program: Program) -> Iterator[tuple[int | None, ...]]:
    """Which operands differ: each alone, and all."""
    active = program.active
    chosen = [(k,) for k in active] + [active] * (len(active) > 1)
    for some in chosen:
        yield tuple(0 if k in some else None for k in range(len(program.operands)))


def stacked(program: Program, axes: tuple[int | None, ...]) -> list[Any]:
    """Samples near to the operands, the first at these."""
    rng = np.random.default_rng(0)
    found = []
    for x, axis in zip(program.operands, axes, strict=True):
        factors = 1.0 + 0.1 * np.arange(COUNT) * rng.uniform(0.5, 1.0)
        found.append(x if axis is None else np.stack([x * f for f in factors]))
    return found


def one(given: list[Any], axes: tuple[int | None, ...], k: int) -> list[Any]:
    pairs = zip(given, axes, strict=True)
    return [x if axis is None else x[k] for x, axis in pairs]


def assert_stacked(f: Any, wanted: Any, given: list[Any], axes: Any, text: str) -> str:
    """The results of all samples are those of each; how the source says they come."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            each = [wanted(*one(given, axes, k)) for k in range(COUNT)]
        except (ValueError, np.linalg.LinAlgError, gw.GradwrightError):
            return ""  # it takes no such samples
        batched = gw.vmap(f, in_axes=axes)
        try:
            found = batched(*given)
        except gw.GradwrightError as e:
            assert "may differ from sample to sample" in str(e), (text, e)
            return ""
    trees = [optree.tree_leaves(tuple(e) if isinstance(e, list) else e) for e in each]
    for k, leaf in enumerate(optree.tree_leaves(found)):
        right = np.stack([np.asarray(tree[k]) for tree in trees])
        assert leaf.shape == right.shape, (text, axes)
        assert leaf.dtype == right.dtype, (text, axes)
        size = np.max(np.abs(right), initial=1.0, where=np.isfinite(right))
        np.testing.assert_allclose(leaf, right, 1e-9, 1e-9 * size, err_msg=text)
    return str(batched.source(*given)).partition('"""')[2].partition("\n")[0]


@over_rows(ROWS)
def test_values(p: Primitive) -> None:
    lines = []
    for program in all_kinds(p):
        f = program.function(VALUE)
        for axes in axes_of(program):
            given = stacked(program, axes)
            lines.append(assert_stacked(f, f, given, axes, program.call))
    said = [line for line in lines if line]
    is_lifted = any("have an axis" in line for line in said)
    assert not said or is_lifted != (name(p) in LOOPED), {*said}


@over_rows(SMOOTH)
def test_gradients(p: Primitive) -> None:
    for program in itertools.islice(all_kinds(p), 4):
        if any(map(is_complex, program.operands)):
            continue
        f = program.function(SQUARES)
        for axes in axes_of(program):
            g = gw.grad(f, argnums=program.active)
            assert_stacked(g, g, stacked(program, axes), axes, program.call)


def test_the_rows_of_loops_are_rows() -> None:
    assert {*LOOPED} <= {name(p) for p in ROWS}


@pytest.mark.parametrize("size", [0, 1])
def test_no_samples_and_one(size: int) -> None:
    """Of a program that is lifted, of an array with no elements too."""

    def soft(x: Any) -> Any:
        e = np.exp(x - np.sum(x))
        return e / np.sum(e)

    for n in (1, 3):
        x = np.ones((size, n))
        np.testing.assert_array_equal(gw.vmap(soft)(x), np.full((size, n), 1 / n))
        assert gw.vmap(gw.jacrev(soft))(x).shape == (size, n, n)
