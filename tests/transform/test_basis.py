"""Sweeps over all unit vectors at once: what stays a diagonal, and what does not."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright.entry import Entry
from gradwright.transforms import Step, Transformed

X = np.array([0.3, -0.7, 1.1])
Y = np.array([1.4, 0.6, -0.9])
W = np.array([[0.4, 0.9, -0.2], [1.3, 0.1, 0.7]])
SQUARE = np.array([[0.4, 0.9, -0.2], [1.3, 0.1, 0.7], [-0.5, 0.8, 0.3]])


def last_line(text: str) -> str:
    return text.rstrip().rsplit("\n", 1)[1].strip()


# What is written for each, where the last line says it.
WRITTEN: dict[str, tuple[Callable[[], str], str]] = {
    "each element by itself": (
        lambda: gw.jacrev(lambda x: np.sin(x)).source(X),
        "return np.diag(np.cos(x))",
    ),
    "each by itself, by columns": (
        lambda: gw.jacfwd(lambda x: np.sin(x)).source(X),
        "return np.diag(np.cos(x))",
    ),
    "a number times each": (
        lambda: gw.jacrev(lambda x: 3.0 * x).source(X),
        "return 3.0 * np.eye(len(x))",
    ),
    "a sign": (
        lambda: gw.jacrev(lambda x: -x).source(X),
        "return -np.eye(len(x))",
    ),
    "two ways": (
        lambda: gw.jacrev(lambda x: x * np.sin(x)).source(X),
        "return np.diag(np.sin(x) + x * np.cos(x))",
    ),
    "a quotient": (
        lambda: gw.jacrev(lambda x, y: x / y).source(X, Y),
        "return np.diag(1.0 / y)",
    ),
    "a matrix": (
        lambda: gw.jacrev(lambda x, a: a @ x).source(X, W),
        "return a.copy()",
    ),
    "a matrix, by columns": (
        lambda: gw.jacfwd(lambda x, a: a @ x).source(X, W),
        "return a.copy()",
    ),
    "a matrix from the left": (
        lambda: gw.jacrev(lambda x, a: x @ a).source(X, SQUARE),
        "return a.T.copy()",
    ),
    "rows of a matrix": (
        lambda: gw.jacrev(lambda x, a: np.sin(a @ x)).source(X, W),
        "return np.cos(a @ x)[:, None] * a",
    ),
    "rows by columns": (
        lambda: gw.jacfwd(lambda x, a: np.sin(a @ x)).source(X, W),
        "return (np.cos(a @ x) * a.T).T",
    ),
    "a matrix and a diagonal": (
        lambda: gw.jacrev(lambda x, a: a @ x + x * x).source(X, SQUARE),
        "return np.diag(2.0 * x) + a",
    ),
    "a vector": (
        lambda: gw.jacfwd(lambda x, y: np.sin(x) @ y).source(X, Y),
        "return np.cos(x) * y",
    ),
    "a sum": (
        lambda: gw.jacfwd(lambda x: np.sum(x * x)).source(X),
        "return 2.0 * x",
    ),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_written(name: str) -> None:
    source, wanted = WRITTEN[name]
    assert last_line(source()) == wanted


def summed_parts(x):
    return x[1:] - x[:-1], x[::2] * x[0]


def stored(x):
    y = x.copy()
    for k in range(1, len(x)):
        y[k] = np.sin(y[k - 1]) + y[k]
    return y


def branched(x, n=3):
    y = x
    for k in range(n):
        y = y * x if k % 2 else np.tanh(y) / (1.0 + y * y)
    return y


def chosen(x):
    return np.where(x > 0.0, x * x, np.sin(x)) * np.max(x)


def normalised(x):
    centred = x - np.mean(x)
    return centred / np.sqrt(np.var(x) + 1e-3)


def of_tables(t):
    return np.tanh(t) * t[0, 0], t.T @ t


def called(x):
    return helped(x) * helped(np.sin(x))


def helped(x):
    y = x
    for _ in range(2):
        y = np.cos(y) * x
    return y


def until(x):
    while np.sum(x) < 20.0:
        x = x * x + 1.0
    return x


TRIED: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "parts": (summed_parts, (X,)),
    "stores": (stored, (X,)),
    "a branch": (branched, (X,)),
    "a choice": (chosen, (X,)),
    "norms": (normalised, (X,)),
    "tables": (of_tables, (W,)),
    "calls": (called, (X,)),
    "a loop of unknown length": (until, (X,)),
    "products": (lambda x, y: np.outer(x, y) @ (x * y), (X, Y)),
    "a product with a stack": (lambda x: np.ones((2, 3, 3)) @ x, (X,)),
    "a number by np.dot": (lambda x, a: np.dot(np.sin(x), a), (X, 2.0)),
    "np.dot": (lambda x, a: np.dot(a, x) * np.dot(x, x), (X, W)),
    "matvec": (lambda x, a: np.matvec(a, x), (X, W)),
    "vecmat": (lambda x, a: np.vecmat(x, a), (X, SQUARE)),
    "solve": (lambda a, x: np.linalg.solve(a, x), (SQUARE, X)),
    "einsum": (lambda a, x: np.einsum("ij,j->i", a, x * x), (W, X)),
    "numbers": (lambda x, y: x / len(x) * 2 - y / np.sum(x), (X, Y)),
    "single": (lambda x: np.sin(x) * 2.0, (X.astype(np.float32),)),
    "single by double": (lambda x, y: x * y, (X.astype(np.float32), Y)),
    "rank none": (lambda a, x: a * x, (np.array(2.0), X)),
    "length one": (lambda x, y: x * y, (X[:1], Y)),
    "a column by a table": (lambda c, t: c * t, (X[:, None], SQUARE)),
    "nothing": (lambda x: np.sin(x) * x, (X[:0],)),
}


@pytest.fixture
def at_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails with an axis is not done again in a loop."""

    def in_a_loop(entry: Entry, failed: Exception, *_: Any) -> Any:
        raise failed

    monkeypatch.setattr(Entry, "in_a_loop", in_a_loop)


@pytest.mark.usefixtures("at_first")
@pytest.mark.parametrize("kind", ["jacrev", "jacfwd"])
@pytest.mark.parametrize("name", TRIED)
def test_as_one_by_one(name: str, kind: str) -> None:
    f, args = TRIED[name]
    every = tuple(range(len(args)))
    by_one = Transformed(f, Step(kind, every, how="loop"))  # type: ignore[arg-type]
    wanted = flat(by_one(*args))
    together = getattr(gw, kind)(f, every)
    for made in (together, gw.jit(together)):
        found = flat(made(*args))
        for a, b in zip(found, wanted, strict=True):
            near = 1e-5 if b.dtype == np.float32 else 1e-12
            assert a.dtype == b.dtype
            np.testing.assert_allclose(a, b, near, near, strict=True)


def flat(y: Any) -> list[np.ndarray]:
    if isinstance(y, tuple):
        return [leaf for item in y for leaf in flat(item)]
    return [np.asarray(y)]


@pytest.mark.parametrize("kind", ["jacrev", "jacfwd"])
def test_complex_numbers(kind: str) -> None:
    z = X + 1j * Y

    def f(z):
        return np.exp(2j * z) * z + SQUARE @ z + np.vecmat(np.conj(z), SQUARE)

    found = getattr(gw, kind)(f, holomorphic=True)(z)
    by_one = Transformed(f, Step(kind, 0, holomorphic=True, how="loop"))
    np.testing.assert_allclose(found, by_one(z), rtol=1e-13)
    wanted = np.diag(np.exp(2j * z) * (1 + 2j * z)) + SQUARE + SQUARE.T
    np.testing.assert_allclose(found, wanted, rtol=1e-13)


def test_no_infinity_comes_from_another_element() -> None:
    """Beside a diagonal stand zeros, whatever is on it."""
    with np.errstate(divide="ignore"):
        found = gw.jacrev(lambda x: np.log(x))(np.array([0.0, 2.0]))
    assert found.tolist() == [[np.inf, 0.0], [0.0, 0.5]]


def test_results_are_new() -> None:
    for transform in (gw.jacrev, gw.jacfwd):
        found = transform(lambda x, a: a @ x)(X, W)
        assert not np.may_share_memory(found, W)
        found[:] = 0.0
        assert np.all(W)


def test_what_fails_together_is_done_in_turn() -> None:
    """And raises what it raises there, with the user's line."""

    def f(x):
        if x[0] < 0.0:
            raise ValueError("below")
        return x * x[3]

    for transform in (gw.jacrev, gw.jacfwd):
        with pytest.raises(ValueError, match="below"):
            transform(f)(np.array([-1.0, 0.0]))
        with pytest.raises(IndexError) as caught:
            transform(f)(X)
        assert "test_basis.py" in caught.value.__notes__[0]


def test_nothing_in_a_row() -> None:
    """NumPy does not say how many rows an array without elements has."""
    found = gw.jacfwd(lambda t: np.ravel(t) * 2.0)(W[:, :0])
    assert found.shape == (0, 2, 0)


def test_what_is_stored_into_is_compiled_one_by_one() -> None:
    """But where the unit vectors share what takes long, they go together."""

    def moved(x):
        y = x.copy()
        for _ in range(3):
            y[1:] += 0.1 * y[:-1] * y[1:]
        return y

    for transform in (gw.jacrev, gw.jacfwd):
        assert "for i in range(len(x))" in gw.jit(transform(moved)).source(X)
        assert "for i in range(len(x))" not in transform(moved).source(X)
        assert "np.eye(len(x))" in gw.jit(transform(stored)).source(X)
        assert "np.eye(" not in gw.jit(transform(of_one_table)).source(W)


def of_one_table(t):
    return np.sum(t, axis=0) * t[0]
