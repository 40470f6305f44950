"""Batches: every program of the tests against a loop over samples, and as text."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from written import written

import gradwright as gw
from gradwright.transform.batch import Out, Ragged, batch, needed
from gradwright.transform.core import Value
from gradwright.transform.notation import notation
from gradwright.transform.types import FLOAT
from programs import PROGRAMS, Program

COUNT = 3


def is_mapped(a: Any) -> bool:
    """Whether an argument of a program is mapped: floats and complex numbers."""
    return np.asarray(a).dtype.kind in "fc"


def batches(program: Program, k: int) -> tuple[list[Any], tuple[Any, ...]]:
    """A batch round one sample of a program, and its axes."""
    rng = np.random.default_rng(k)
    given, axes = [], []
    for a in program.samples[k].values():
        if isinstance(a, float | complex | np.ndarray | np.generic) and is_mapped(a):
            factors = [1.0, *(1.0 + 0.05 * rng.standard_normal(COUNT - 1))]
            parts = [np.asarray(a * np.asarray(a).dtype.type(f)) for f in factors]
            given.append(np.stack(parts))
            axes.append(0)
        else:
            given.append(a)
            axes.append(None)
    return given, tuple(axes)


def one(given: list[Any], axes: tuple[Any, ...], k: int) -> list[Any]:
    """One sample of a batch, in memory of its own."""
    return [
        np.array(a[k])[()] if axis == 0 else a
        for a, axis in zip(given, axes, strict=True)
    ]


def stacked(results: list[Any]) -> Any:
    first = results[0]
    if isinstance(first, tuple):
        return tuple(stacked([*parts]) for parts in zip(*results, strict=True))
    return np.stack([np.asarray(r) for r in results])


def hold(found: Any, expected: Any) -> None:
    """The two are the same, kinds and structure too."""
    if isinstance(expected, tuple):
        assert type(found) is tuple and len(found) == len(expected)
        for a, b in zip(found, expected, strict=True):
            hold(a, b)
        return
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_every_program_against_a_loop(program: Program) -> None:
    for k in range(len(program.samples)):
        given, axes = batches(program, k)
        if not any(axis == 0 for axis in axes):
            continue
        f = program.function
        wrt = axes.index(0)
        for g in (f, gw.grad(f, wrt), gw.value_and_grad(f, wrt)):
            samples = range(COUNT)
            try:
                expected = stacked([g(*one(given, axes, j)) for j in samples])
            except gw.GradwrightError:  # it has no such derivative
                continue
            before = [np.copy(a) for a in given]
            hold(gw.vmap(g, in_axes=axes)(*given), expected)
            assert all(map(np.array_equal, given, before))


# ---- as text -----------------------------------------------------------------------


def branches(u, scale):
    if u < 0.0:
        return -u
    y = u * scale
    while y > 1.0:
        y = 0.5 * y
    return y


def stores(x):
    for k in range(1, len(x)):
        if x[k] > x[k - 1]:
            x[k] -= x[k - 1]
    return x


def structures(p, x):
    return {"line": p["w"] * x + p["b"], "count": len(x), "sum": np.sum(x)}


def rows(table, v):
    return table @ v


def inside(w, xs):
    return np.sum(gw.vmap(lambda x: np.tanh(np.sum(w * x)))(xs))


X = np.array([[0.5, -1.0, 2.0], [1.0, 2.0, 0.0]])
GOLDEN: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "branches": (gw.vmap(branches, in_axes=(0, None)), (X[0], 1.5)),
    "branches_grad": (gw.vmap(gw.grad(branches), in_axes=(0, None)), (X[0], 1.5)),
    "stores": (gw.vmap(stores, out_axes=1), (X,)),
    "structures": (
        gw.vmap(structures, in_axes=({"w": 0, "b": None}, -1)),
        ({"w": X[:, 0], "b": 1.0}, X.T),
    ),
    "nested": (
        gw.vmap(gw.vmap(rows, in_axes=(None, 0)), in_axes=(0, None)),
        (np.ones((4, 2, 3)), X),
    ),
    "inside_grad": (gw.grad(inside, argnums=(0, 1)), (X[0], X)),
    "stores_jacobian": (gw.jacrev(gw.vmap(stores)), (X,)),
}


def layer(W, b, x):
    return np.tanh(W @ x + b)


def loss(W, b, v, x, y):
    return (v @ layer(W, b, x) - y) ** 2


def soft(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


def stencil(u, n):
    for _ in range(n):
        v = u.copy()
        v[1:-1] += 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u = v
    return u


def distance(p, q):
    return np.sqrt(np.sum((p - q) ** 2))


def solved(A, b):
    return np.linalg.solve(A, b) @ b


W = np.ones((2, 3))
SQUARES = np.stack([np.eye(3), 2.0 * np.eye(3)])
BOTH: dict[str, tuple[Callable[..., Any], Any, tuple[Any, ...]]] = {
    "layer": (layer, (None, None, 0), (W, X[:, 0], X)),
    "loss_grad": (
        gw.grad(loss, argnums=(0, 1, 2)),
        (None, None, None, 0, 0),
        (W, X[:, 0], X[:, 0], X, X[:, 1]),
    ),
    "soft_jacobian": (gw.jacrev(soft), 0, (X,)),
    "stencil": (stencil, (0, None), (X, 3)),
    "distance_grad": (gw.grad(distance), (None, 0), (X[0], X + 1.0)),
    "solved_grad": (gw.grad(solved, argnums=(0, 1)), (0, None), (SQUARES, X[0])),
}
for name, (f, axes, arguments) in BOTH.items():
    for how in ("axis", "loop"):
        GOLDEN[f"{name}_{how}"] = gw.vmap(f, in_axes=axes, how=how), arguments


@pytest.mark.parametrize("name", BOTH)
def test_both_ways_are_one(name: str) -> None:
    f, axes, arguments = BOTH[name]
    in_front = gw.vmap(f, in_axes=axes, how="axis")
    loop = gw.vmap(f, in_axes=axes, how="loop")
    hold(in_front(*arguments), loop(*arguments))
    hold(gw.jit(in_front)(*arguments), loop(*arguments))


@pytest.mark.parametrize("name", GOLDEN)
def test_source(name: str, golden: Callable[[str, str], None]) -> None:
    function, arguments = GOLDEN[name]
    text = re.sub(r"# .*/", "# ", function.source(*arguments))  # type: ignore[attr-defined]
    golden(f"batch/{name}.py", text)


# ---- core --------------------------------------------------------------------------


POWERS = """
    def f(x: float, w: float, n: int):
        cell s
        store s, 0.0
        v = multiply w, w
        for k in range(0, n, 1):
            y = multiply x, v
            add s, y
        end = load s
        return end, v
"""


def test_a_loop_stands_round_the_program() -> None:
    f = written(POWERS)
    x = f.params[0]
    assert isinstance(x, Value)
    made = batch(
        f, {x: (0, None)}, None, [Out(0, FLOAT), Out(None, FLOAT)], "f_batched"
    )
    text = notation(made.function)
    assert made.function.name == "f_batched" and "for i in range(0" in text
    assert [p.name for p in made.function.params] == ["x_batch", "w", "n"]
    assert text.count("multiply w, w") == 2  # once for the result, once in the loop
    assert made.equal == [] and f.params[0] is x


def test_two_mapped_axes_are_as_long() -> None:
    f = written(POWERS)
    x, w = f.params[:2]
    assert isinstance(x, Value) and isinstance(w, Value)
    axes = {x: (0, None), w: (0, None)}
    made = batch(f, axes, None, [Out(0, FLOAT)] * 2, "f_batched")
    assert len(made.equal) == 1
    axes = {x: (0, 4), w: (0, 4)}
    assert batch(f, axes, None, [Out(0, FLOAT)] * 2, "f_batched").equal == []


def test_what_a_result_needs() -> None:
    f = written(POWERS)
    (only,) = needed(f.body, [f.results[1]])
    assert only is f.body[2]
    assert needed(f.body, [f.results[0]]) == f.body


def test_a_shape_that_a_sample_decides() -> None:
    assert issubclass(Ragged, Exception)
    with pytest.raises(gw.ShapeError, match="may differ from sample to sample"):
        gw.vmap(lambda x: x[x > 0.0])(X)
