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
from gradwright.transform.lifted import RULES
from gradwright.transform.primitives.record import TABLE, Primitive

COUNT = 3
SQUARES = "np.sum(np.real({}) ** 2)"  # a number that depends on all of a result

# How many elements these give, only the run of each sample knows: of these operands.
RAGGED = {
    "np.arange": ["np.arange(x0, x1)", "np.arange(x0, x1, x2)"],
    "np.bincount": ["np.bincount(x0, x1)"],
}
# Of these NumPy has no form for some operands of many samples: of the statement there
# is a loop over the samples.
ONE_BY_ONE = """
    np.interp np.searchsorted  in points of each sample's own
    np.convolve np.correlate   as windows would take the memory of many arrays
    np.bincount                in rows that are as long as is asked for
    np.quantile                of a number of each sample's own
    np.meshgrid                of other than vectors
    np.pad                     with values of each sample's own
"""
# Rows of which all samples are compiled, too.
COMPILED = """
    np.tile np.linspace np.meshgrid np.diag np.diagonal np.trace np.convolve
    np.correlate np.kron np.linalg.multi_dot np.sum np.mean np.prod np.cross
    np.tril np.inner np.dot np.outer
""".split()
LOOPS = {word for word in ONE_BY_ONE.split() if word.startswith("np.")}


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
    """The results of all samples are those of each; the source that gives them."""
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
    return str(batched.source(*given))


def assert_lifted(p: Primitive, call: str, source: str) -> bool:
    """The source says that it is lifted; whether a loop stands in it."""
    if not source or call in RAGGED.get(p.spelling, ()):
        return False
    assert "have an axis" in source, (call, source)
    return "    for " in source


@over_rows(ROWS)
def test_values(p: Primitive) -> None:
    has_loop = False
    for program in all_kinds(p):
        f = program.function(VALUE)
        for axes in axes_of(program):
            given = stacked(program, axes)
            source = assert_stacked(f, f, given, axes, program.call)
            has_loop |= assert_lifted(p, program.call, source)
    assert has_loop == (p.spelling in LOOPS)


@over_rows(SMOOTH)
def test_gradients(p: Primitive) -> None:
    for program in itertools.islice(all_kinds(p), 4):
        if any(map(is_complex, program.operands)):
            continue
        f = program.function(SQUARES)
        for axes in axes_of(program):
            g = gw.grad(f, argnums=program.active)
            source = assert_stacked(g, g, stacked(program, axes), axes, program.call)
            has_loop = assert_lifted(p, program.call, source)
            assert not has_loop or p.spelling in LOOPS, source


@over_rows([p for p in ROWS if p.spelling in COMPILED])
def test_values_in_machine_code(p: Primitive) -> None:
    """Of every sample of the table, all operands differing."""
    for program in all_kinds(p):
        f = program.function(VALUE)
        *_, axes = axes_of(program)
        batched = gw.jit(gw.vmap(f, in_axes=axes))
        given = stacked(program, axes)
        wanted = optree.tree_leaves(gw.vmap(f, in_axes=axes)(*given))
        for found, right in zip(
            optree.tree_leaves(batched(*given)), wanted, strict=True
        ):
            assert found.dtype == right.dtype
            np.testing.assert_allclose(found, right, 1e-12, 1e-12)


def test_every_row_has_a_rule() -> None:
    """A new row says what it is for all samples, if only that it takes one alone."""
    rows = [p for p in TABLE.rows.values() if p.signature is not None]
    without = [p.spelling for p in rows if p.function not in RULES]
    assert not without, "enter a rule in lifted_rows or lifted_products"


def test_the_rows_that_are_listed_are_rows() -> None:
    assert {*RAGGED, *LOOPS, *COMPILED} <= {p.spelling for p in ROWS}


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
