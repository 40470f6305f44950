"""Jacobians by rows and by columns: against each other and differences, as text."""

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright.transforms import Step, Transformed

X = np.array([0.3, -0.7, 1.1])
TABLE = np.array([[0.4, 0.9, -0.2], [1.3, 0.1, 0.7]])


def waves(x):
    return np.sin(x) * x[0]


def looped(x, n=3):
    for _ in range(n):
        x = np.sin(x) * x + 0.5
    return x


def rows(table):
    return np.sum(table * table, axis=1) * table[0, 1]


def outer(x, y):
    return x[:, None] * np.exp(y)


def turned(x):
    y = x * 0.0 + 1.0
    for k in range(3):
        y = y * np.cos(x) if k < 2 else y + x
    return {"y": y, "sum": np.sum(y), "first": y[0]}


def switched(x):
    return np.tanh(x) if x[0] > 0.0 else x * x


def called(x):
    return helper(x, 2.0) + helper(x, 3.0)


def helper(x, a):
    for _ in range(2):
        x = a * np.sin(x)
    return x


def counted(x):
    scale = 0.5
    while x[0] < 3.0:
        x = np.exp(x) * scale
        scale = scale + 1.5
    return x


def first_only(x):
    return x[0] * x[0], x[1:], 3.0 * x


PROGRAMS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "waves": (waves, (X,)),
    "looped": (looped, (X,)),
    "rows": (rows, (TABLE,)),
    "outer": (outer, (X, TABLE[0])),
    "turned": (turned, (X,)),
    "switched": (switched, (X,)),
    "switched the other way": (switched, (-X,)),
    "called": (called, (X,)),
    "counted": (counted, (X,)),
    "several results": (first_only, (X,)),
    "numbers": (lambda x, y: (x * y, math.sin(x)), (2.0, 3.0)),
    "a number and an array": (lambda a, x: a * x * x, (2.0, X)),
    "one element": (lambda x: x * x, (X[:1],)),
    "no element": (lambda x: x * x, (X[:0],)),
    "of rank none": (lambda x: x * x, (np.array(2.0),)),
    "float32": (lambda x: x * x, (X.astype(np.float32),)),
    "float32 by a number": (lambda a, x: a * x, (2.0, X.astype(np.float32))),
}


def numeric(f: Any, args: tuple[Any, ...], k: int) -> list[np.ndarray]:
    """The blocks of all results by one argument, by central differences."""
    a, step = np.asarray(args[k], dtype=float), 1e-6

    def at(place: Any, h: float) -> list[np.ndarray]:
        moved = a.copy()
        moved[place] += h
        given = moved if isinstance(args[k], np.ndarray) else float(moved)
        return leaves(f(*args[:k], given, *args[k + 1 :]))

    shapes = [np.shape(y) for y in leaves(f(*args))]
    blocks = [np.zeros(shape + a.shape) for shape in shapes]
    for place in np.ndindex(a.shape):
        pairs = zip(at(place, step), at(place, -step), strict=True)
        for block, (high, low) in zip(blocks, pairs, strict=True):
            block[(..., *place)] = (high - low) / (2 * step)
    return blocks


def leaves(y: Any) -> list[np.ndarray]:
    if isinstance(y, dict):
        return [leaf for item in y.values() for leaf in leaves(item)]
    if isinstance(y, tuple):
        return [leaf for item in y for leaf in leaves(item)]
    return [np.asarray(y, dtype=float)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_against_differences(name: str) -> None:
    f, args = PROGRAMS[name]
    exact = np.float32 in [getattr(a, "dtype", None) for a in args]
    for k in range(len(args)):
        if not exact:
            wanted = numeric(f, args, k)
        for transform in (gw.jacrev, gw.jacfwd):
            found = leaves(transform(f, k)(*args))
            if exact:
                wanted = wanted if transform is gw.jacfwd else found
            assert [b.shape for b in found] == [b.shape for b in wanted]
            for block, block_wanted in zip(found, wanted, strict=True):
                np.testing.assert_allclose(block, block_wanted, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_two_are_one(name: str) -> None:
    f, args = PROGRAMS[name]
    every = tuple(range(len(args)))
    by_rows = leaves(gw.jacrev(f, every)(*args))
    by_columns = leaves(gw.jacfwd(f, every)(*args))
    for a, b in zip(by_rows, by_columns, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("name", PROGRAMS)
def test_all_at_once_or_in_turn(name: str) -> None:
    """The same, to the dtypes and shapes; compiled, too."""
    f, args = PROGRAMS[name]
    every = tuple(range(len(args)))
    for kind, transform in (("jacrev", gw.jacrev), ("jacfwd", gw.jacfwd)):
        wanted = kept_leaves(in_turn(kind, f, every)(*args))
        for made in (transform(f, every), gw.jit(transform(f, every))):
            found = kept_leaves(made(*args))
            assert [type(a) for a in found] == [type(a) for a in wanted]
            for a, b in zip(found, wanted, strict=True):
                near = 1e-5 if np.asarray(b).dtype == np.float32 else 1e-12
                assert np.asarray(a).dtype == np.asarray(b).dtype
                np.testing.assert_allclose(a, b, near, near, strict=True)


def kept_leaves(y: Any) -> list[Any]:
    if isinstance(y, dict):
        return [leaf for item in y.values() for leaf in kept_leaves(item)]
    if isinstance(y, tuple):
        return [leaf for item in y for leaf in kept_leaves(item)]
    return [y]


HEADS = {
    "jacrev: cotangents have an axis of the rows in front.": (
        lambda: gw.jacrev(waves).source(X)
    ),
    "jacfwd: tangents have an axis of the columns in front.": (
        lambda: gw.jacfwd(waves).source(X)
    ),
    "hessian: tangents have an axis of the columns in front.": (
        lambda: gw.hessian(valley).source(X)
    ),
    "jacrev: a loop over the rows: several results share a tape.": (
        lambda: gw.jacrev(lambda x: (looped(x), x * x)).source(X)
    ),
    "hessian: a loop over the columns: machine code is faster with one at a time.": (
        lambda: gw.jit(gw.hessian(valley)).source(X)
    ),
}


@pytest.mark.parametrize("head", HEADS)
def test_the_head_says_how_its_directions_are_gone_through(head: str) -> None:
    assert HEADS[head]().startswith(f'"""{head}"""')


def test_one_direction_needs_neither() -> None:
    assert not gw.jacrev(lambda x: np.sum(x * x)).source(X).startswith('"""')
    assert not gw.jacfwd(lambda a: a * X).source(2.0).startswith('"""')


def test_arguments_are_as_they_were_and_results_are_new() -> None:
    x = X.copy()
    first = gw.jacrev(waves)(x)
    first[:] = 0.0
    assert x.tolist() == X.tolist()
    assert np.any(gw.jacrev(waves)(x))


def valley(x):
    total = 0.0
    for k in range(len(x) - 1):
        total += 100.0 * (x[k + 1] - x[k] ** 2) ** 2 + (1.0 - x[k]) ** 2
    return total


def polar(r, t):
    radial = r * r * np.cos(t)
    return {"radial": radial, "shear": np.array([r * t, t * t, 1.0 / r])}


def smoothed(x):
    return np.convolve(np.sin(x), x)


def squares(x, table):
    y = np.tanh(table @ x)
    return {"y": y, "energy": np.sum(y * y), "products": y[1:] * y[:-1]}


def layers(W, V, x):
    return V @ np.tanh(W @ np.sin(x))


def squashed(W, x):
    return np.sum(np.tanh(W @ np.sin(x)) ** 2)


def in_turn(kind: str, f: Any, argnums: Any = 0) -> Any:
    """A Jacobian in a loop over its rows or columns, as it is where it must be."""
    return Transformed(f, Step(kind, argnums, how="loop"))


def hessian_in_turn(f: Any, argnums: Any = 0) -> Any:
    by_rows = Transformed(f, Step("jacrev", argnums, how="loop"))
    return Transformed(by_rows, Step("jacfwd", argnums, how="loop"))


SOURCES: dict[str, Callable[[], str]] = {
    "waves_jacrev": lambda: gw.jacrev(waves).source(X),
    "waves_jacfwd": lambda: gw.jacfwd(waves).source(X),
    "looped_jacrev": lambda: gw.jacrev(looped).source(X),
    "waves_jacrev_loop": lambda: in_turn("jacrev", waves).source(X),
    "waves_jacfwd_loop": lambda: in_turn("jacfwd", waves).source(X),
    "looped_jacrev_loop": lambda: in_turn("jacrev", looped).source(X),
    "looped_jacfwd": lambda: gw.jacfwd(looped).source(X),
    "rows_jacrev": lambda: gw.jacrev(rows).source(TABLE),
    "rows_jacfwd": lambda: gw.jacfwd(rows).source(TABLE),
    "smoothed_jacrev": lambda: gw.jacrev(smoothed).source(X),
    "smoothed_jacfwd": lambda: gw.jacfwd(smoothed).source(X),
    "squares_jacrev": lambda: gw.jacrev(squares).source(X, TABLE),
    "squares_jacfwd": lambda: gw.jacfwd(squares).source(X, TABLE),
    "layers_jacrev": lambda: gw.jacrev(layers, 2).source(TABLE, TABLE.T, X),
    "layers_jacfwd": lambda: gw.jacfwd(layers, 2).source(TABLE, TABLE.T, X),
    "squashed_hessian": lambda: gw.hessian(squashed, 1).source(TABLE, X),
    "squashed_hessian_loop": lambda: hessian_in_turn(squashed, 1).source(TABLE, X),
    "polar_jacrev": lambda: gw.jacrev(polar, (0, 1)).source(2.0, 0.5),
    "polar_jacfwd": lambda: gw.jacfwd(polar, (0, 1)).source(2.0, 0.5),
    "valley_hessian_compiled": lambda: gw.jit(gw.hessian(valley)).source(X),
    "valley_hessian": lambda: gw.hessian(valley).source(X),
    "helper_linearize": lambda: gw.source(helper, 0.5, 2.0, kind="linearize"),
}


@pytest.mark.parametrize("name", SOURCES)
def test_source(name: str, golden: Callable[[str, str], None]) -> None:
    text = re.sub(r"(# test_jacobian\.py):\d+", r"\1", SOURCES[name]())
    golden(f"jacobian/{name}.py", text)


def test_the_forward_sweep_stands_before_the_loop() -> None:
    for kind in ("jacrev", "jacfwd"):
        before, inside = in_turn(kind, waves).source(X).split("for i in", 1)
        assert "np.sin(x)" in before
        assert " = np.sin(x)" not in inside
    text = in_turn("jacfwd", called).source(X)
    assert text.count("helper_jvp(") == 3


def test_tapes_are_fresh_for_every_row() -> None:
    text = in_turn("jacrev", looped).source(X)
    assert text.count(".copy()") == text.count(" = []") > 0
    recursive = gw.jacrev(lambda x: again(x, 2))
    np.testing.assert_allclose(recursive(X), gw.jacfwd(lambda x: again(x, 2))(X))


def again(x, n):
    if n == 0:
        return x * x
    return again(np.sin(x), n - 1) * x


@pytest.mark.parametrize("transform", [gw.jacrev, gw.jacfwd])
def test_it_is_differentiated_again(transform: Any) -> None:
    def squares(x):
        return np.sum(transform(waves)(x) ** 2)

    gw.check_grads(squares, (X,), order=2)


def test_of_third_order() -> None:
    def cubic(x):
        return x[0] * x[1] * x[2] + np.sum(x**3)

    third = gw.jacfwd(gw.hessian(cubic))(X)
    wanted = np.zeros((3, 3, 3))
    for place in [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]:
        wanted[place] = 1.0
    wanted[(0, 1, 2), (0, 1, 2), (0, 1, 2)] = 6.0
    np.testing.assert_allclose(third, wanted, atol=1e-12)
    np.testing.assert_allclose(gw.jacrev(gw.hessian(cubic))(X), wanted, atol=1e-12)
    np.testing.assert_allclose(gw.hessian(gw.grad(cubic))(X), wanted, atol=1e-12)


def test_the_reverse_of_several_sweeps_on_one_tape() -> None:
    """Cotangents of what the sweeps read are added up, tape by tape."""

    def squares(x):
        of_one, of_other = gw.jacrev(lambda x: (looped(x), helper(x, 2.0)))(x)
        return np.sum((of_one + of_other) ** 2)

    gw.check_grads(squares, (X,), order=2)
    assert "for a, b in zip(" in gw.grad(squares).source(X)

    def pulled(x):
        y, pull = gw.vjp(looped, x)
        return np.sum(pull(y)[0] * pull(x * x)[0])

    gw.check_grads(pulled, (X,), order=2)
    gw.check_grads(lambda x: np.sum(gw.hessian(curved)(x) ** 2), (X,))
    third = gw.jacrev(gw.jacrev(gw.jacrev(curved)))(X)
    np.testing.assert_allclose(third, gw.jacfwd(gw.hessian(curved))(X), rtol=1e-10)


def curved(x):
    y = 1.0
    for v in x:
        y = y * np.sin(v) + v * v
    return y


def test_a_copied_tape_may_be_left_alone() -> None:
    """A cotangent that never came is zero: nothing pulled, no row."""

    def f(x, n):
        y, pull = gw.vjp(curved_by, x)
        for _ in range(n):
            y = y * pull(1.0)[0]
        return y

    gw.check_grads(f, (1.3, 0))
    gw.check_grads(f, (1.3, 2))
    assert gw.grad(lambda x: np.sum(gw.jacrev(looped)(x)))(X[:0]).shape == (0,)


def curved_by(x):
    y = x
    for _ in range(3):
        y = y * math.sin(x)
    return y


def test_tapes_inside_tapes() -> None:
    def nested(x):
        for k in range(2):
            for _ in range(k + 1):
                x = np.sin(x) * x
        return x

    np.testing.assert_allclose(gw.jacrev(nested)(X), gw.jacfwd(nested)(X), rtol=1e-12)
    gw.check_grads(lambda x: np.sum(gw.jacrev(nested)(x)), (X,))
    gw.check_grads(lambda x: np.sum(gw.jacrev(lambda x: again(x, 2))(x)), (X,))
