"""What rules share: rows for which there is a loop over the samples, of them alone."""

from collections.abc import Callable
from typing import Any

import numpy as np
import optree
import pytest

import gradwright as gw

rng = np.random.default_rng(5)
XS = np.sort(rng.normal(size=(3, 4)))
YS = rng.normal(size=(3, 4))
PLACES = np.array([0, 2, 2, 1])


def heights(x: Any, y: Any) -> Any:
    """Points of its own in every sample."""
    return np.interp(np.array([-0.3, 0.1]), x, y) * y[0]


def slid(x: Any, y: Any) -> Any:
    return np.convolve(x, y[:2], mode="same") + np.correlate(x, y[1:], mode="same")


def added(x: Any, y: Any) -> Any:
    return np.sum(np.bincount(PLACES, x * y, minlength=3) ** 2)


def rows(x: Any, y: Any) -> Any:
    """A part that takes one sample at a time, within a loop of the program."""
    z = y
    for _ in range(2):
        z = np.tanh(np.convolve(z, x[:3], mode="valid")[0] * y)
    return z


def pairs(x: Any, y: Any) -> Any:
    """Several results in one loop; a table of numbers is laid out flat."""
    one, two = np.meshgrid(np.outer(x[:2], y[:2]), y)
    return one * two, two


def looked_up(x: Any, y: Any) -> Any:
    """Places that differ, in what differs and in what is the same for all."""
    k = np.argsort(y)
    return x[k] * PLACES[k], x[k[0]], np.outer(x, y)[k[1], k]


def stored(x: Any, y: Any) -> Any:
    k = np.argsort(y)
    z = np.zeros((4, 2))
    z[k, 1] = x * y
    z[k[0]] += 0.5
    z[k[1], 0] = y[2]
    return z


FUNCTIONS = [heights, slid, added, rows, pairs, looked_up, stored]
over = pytest.mark.parametrize("f", FUNCTIONS)


def leaves(result: Any) -> list[Any]:
    return optree.tree_leaves(result, namespace="gw")  # type: ignore[arg-type]


def hold(f: Callable[..., Any], *given: Any) -> str:
    """All samples at once are the stack of each; the source."""
    batched = gw.vmap(f, how="axis")
    each = [leaves(f(*(a[k] for a in given))) for k in range(len(given[0]))]
    for found in (batched(*given), gw.jit(batched)(*given)):
        for k, leaf in enumerate(leaves(found)):
            wanted = np.stack([e[k] for e in each])
            assert (leaf.shape, leaf.dtype) == (wanted.shape, wanted.dtype)
            np.testing.assert_allclose(leaf, wanted, 1e-11, 1e-12)
    return str(batched.source(*given))


def total(f: Callable[..., Any]) -> Callable[..., Any]:
    def g(x: Any, y: Any) -> Any:
        found = f(x, y)
        parts = found if isinstance(found, tuple) else (found,)
        s = 0.0
        for p in parts:
            s = s + np.sum(np.sin(p))
        return s

    return g


@over
def test_values(f: Callable[..., Any]) -> None:
    hold(f, XS, YS)


@over
def test_gradients(f: Callable[..., Any]) -> None:
    hold(gw.grad(total(f), argnums=(0, 1)), XS, YS)


@over
def test_a_derivative_of_all_samples(f: Callable[..., Any]) -> None:
    """The loop over a statement is differentiated as any other."""
    batched = gw.vmap(total(f), how="axis")
    found = gw.grad(lambda x, y: np.sum(batched(x, y)), argnums=(0, 1))(XS, YS)
    g = gw.grad(total(f), argnums=(0, 1))
    wanted = zip(*(g(x, y) for x, y in zip(XS, YS, strict=True)), strict=True)
    for a, each in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, np.stack(each), 1e-11, 1e-12)


@over
def test_samples_of_samples(f: Callable[..., Any]) -> None:
    twice = gw.vmap(gw.vmap(f, how="axis"), how="axis")
    given = [np.stack([a, 1.1 * a]) for a in (XS, YS)]
    found = leaves(twice(*given))
    for j in range(2):
        wanted = leaves(gw.vmap(f, how="axis")(given[0][j], given[1][j]))
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_allclose(a[j], b, 1e-11, 1e-12)


def test_no_samples() -> None:
    assert gw.vmap(heights, how="axis")(XS[:0], YS[:0]).shape == (0, 2)


def test_the_loop_is_that_of_the_statement() -> None:
    text = str(gw.vmap(lambda x, y: 2.0 * np.interp(0.5, x, np.sin(y))).source(XS, YS))
    _, _, body = text.partition("_batched(")
    assert body.splitlines()[1:] == [
        "    sin = np.sin(y_batch)",
        "    interp = np.zeros(len(x_batch))",
        "    for i, (x, sin_1) in enumerate(zip(x_batch, sin)):",
        "        interp[i] = np.interp(0.5, x, sin_1)",
        "    return 2.0 * interp",
    ]


def test_what_one_sample_raises_says_which() -> None:
    xs = np.array([[0.0, 1.0], [0.0, 1.0]])
    counts = np.array([[1, 2], [1, -2]])
    batched = gw.vmap(lambda x, k: np.sum(np.bincount(k, x, minlength=4)))
    with pytest.raises(ValueError, match="negative") as e:
        batched(xs, counts)
    assert any("sample 1" in note or "i = 1" in note for note in e.value.__notes__)


def test_more_counts_than_are_asked_for_are_as_many_as_each_sample_has() -> None:
    counts = np.array([[0, 1], [2, 5]])
    batched = gw.vmap(lambda k: np.sum(np.bincount(k, minlength=3) ** 2))
    np.testing.assert_array_equal(batched(counts), [2, 2])


def test_a_length_that_the_run_knows() -> None:
    with pytest.raises(gw.GradwrightError, match="one sample at a time"):
        gw.vmap(lambda k: np.sum(np.bincount(k)), how="axis")(
            np.array([[0, 1], [2, 5]])
        )
