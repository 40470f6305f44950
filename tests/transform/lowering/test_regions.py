"""Parts of arrays: slices of every bound and step, places, masks."""

import itertools
from typing import Any

import numpy as np
import pytest
from lowered import assert_compiles, assert_differentiates, texts

X = np.arange(1.0, 8.0)
A = np.arange(24.0).reshape(4, 6) + 0.5
BOUNDS = [None, 0, 2, 9, -2, -9]
STEPS = [None, 2, -1, -3]


def test_every_slice() -> None:
    """All pairs of bounds, for each step, as one program."""
    for step in STEPS:
        slices = [slice(a, b, step) for a, b in itertools.product(BOUNDS, BOUNDS)]
        lines = [
            f"    s += np.sum(x[{shown(s)}] * w[:len(x[{shown(s)}])])" for s in slices
        ]
        f = made("def f(x, w):\n    s = 0.0\n" + "\n".join(lines) + "\n    return s\n")
        weights = np.array([1.0, 3.0, 7.0, 13.0, 29.0, 31.0, 57.0])
        for n in (7, 3, 1, 0):
            assert_compiles(f, X[:n], weights)


def shown(s: slice) -> str:
    parts = [("" if p is None else str(p)) for p in (s.start, s.stop, s.step)]
    return ":".join(parts)


def made(text: str) -> Any:
    import linecache

    filename = f"<slices {hash(text)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    space: dict[str, Any] = {"np": np, "__name__": "slices"}
    exec(compile(text, filename, "exec"), space)
    return space["f"]


def between(x, a, b):
    return x[a:b] * 2.0


@pytest.mark.parametrize(("a", "b"), [(1, 4), (-3, -1), (-9, 2), (5, 2), (3, 99)])
@pytest.mark.parametrize("n", [7, 1, 0])
def test_bounds_that_only_the_run_knows(a: int, b: int, n: int) -> None:
    assert_compiles(between, X[:n], a, b)


def stored(x, a, b):
    y = x.copy()
    y[a:b] = 5.0
    y[b:] += x[b:]
    y[::-2] *= 2.0
    return y


@pytest.mark.parametrize(("a", "b"), [(1, 4), (-3, -1), (0, 0), (5, 2)])
@pytest.mark.parametrize("n", [7, 1])
def test_stores_into_slices(a: int, b: int, n: int) -> None:
    assert_compiles(stored, X[:n], a, b)


def at(x, k):
    return x[k] * 2.0


@pytest.mark.parametrize("k", [0, 3, 6, -1, -7, 7, -8])
def test_a_place_is_counted_from_the_end_or_misses(k: int) -> None:
    assert_compiles(at, X, k)


def of_two_axes(a, k, rows, columns):
    return (
        a[k],
        a[:, k],
        a[rows],
        a[rows, columns],
        a[:, columns],
        a[1:, columns],
        a[k, columns],
        a[rows[:, None], columns],
        a[..., None, k],
        a[None, k, ::-1],
    )


def test_places_and_slices_together() -> None:
    rows, columns = np.array([0, 3, -1]), np.array([5, -6, 2])
    assert_compiles(of_two_axes, A, 1, rows, columns)
    assert_compiles(of_two_axes, A, -1, rows, columns)


def missing(a, rows):
    return a[rows] * 1.0


def test_an_array_of_places_misses() -> None:
    assert_compiles(missing, A, np.array([0, 4]))
    assert_compiles(missing, A, np.array([-5, 0]))


def missing_where_it_is_not_wanted(a, rows, n):
    b = a[rows] * 2.0
    if n > 1:
        return np.sum(b)
    a[rows]
    return 1.0


@pytest.mark.parametrize("n", [1, 2])
def test_a_missing_place_raises_where_the_program_meets_it(n: int) -> None:
    assert_compiles(missing_where_it_is_not_wanted, A, np.array([0, 4]), n)
    assert_compiles(missing_where_it_is_not_wanted, A, np.array([0, 3]), n)


def masked(a, m):
    b = a.copy()
    b[m] = 0.0
    b[~m] += 1.0
    return b, a[m], a[m.any(axis=1)], np.sum(a[m] ** 2)


@pytest.mark.parametrize("limit", [-1.0, 7.0, 99.0])
def test_masks(limit: float) -> None:
    assert_compiles(masked, A, A > limit)


def part_of_a_part(a):
    b = a.copy()
    b[1:][::-1, 2:][:, ::2] = 7.0
    b.T[3] += 1.0
    return b, a[1:][::-1, 2:][:, ::2]


def test_parts_of_parts() -> None:
    assert_compiles(part_of_a_part, A)


def stencil(u):
    v = u.copy()
    for k in range(1, len(u) - 1):
        v[k] = u[k - 1] + u[k + 1]
    return v


def test_a_place_that_is_known_to_be_inside_is_not_asked() -> None:
    (text,) = texts(stencil, X)
    assert "range(len(u))[" not in text
    for n in (7, 2, 1, 0):
        assert_compiles(stencil, X[:n])


def picked_beside_a_mask(a):
    """What a mask names is one place, and goes with all of the others."""
    a.T[np.arange(2)[::-1], None, np.arange(2) > 0, [[0, -1], [-1, 0]]] //= 0.7
    return np.sum(a)


def test_places_that_a_mask_names_are_stretched() -> None:
    a = np.sin(np.arange(4.0)).reshape(1, 2, 2)
    assert_compiles(picked_beside_a_mask, a)
    assert_compiles(lambda x, m: x[m, [0, 1, 0]], np.arange(6.0).reshape(3, 2), MASK)


MASK = np.array([False, True, False])


# ---- steps that only the run knows ---------------------------------------------------


def stepped(x, lower, upper, step):
    return x[lower:upper:step], x[::step], x[lower::step], x[:upper:step]


def stored_in_steps(x, lower, upper, step):
    y = x.copy()
    y[lower:upper:step] = y[lower:upper:step] * 2.0
    y[::step] += 1.0
    return y


def cubes_in_steps(x, lower, upper, step):
    s = np.sum(x[lower:upper:step] ** 3)
    for v in x[::step]:
        s = 0.5 * s + v * v
    return s


@pytest.mark.parametrize("step", [-9, -3, -1, 1, 2, 9, 0])
@pytest.mark.parametrize("f", [stepped, stored_in_steps])
def test_steps_of_the_run(f: Any, step: int) -> None:
    for lower, upper in itertools.product((-9, -2, 0, 3, 9), repeat=2):
        assert_compiles(f, X, lower, upper, step)


@pytest.mark.parametrize("step", [-3, -1, 1, 2])
def test_gradients_of_steps_of_the_run(step: int) -> None:
    for lower, upper in ((-9, 9), (9, -9), (1, 5), (5, 0)):
        assert_differentiates(cubes_in_steps, X, lower, upper, step)


def open_bounds(x, k):
    """Bounds that may be None."""
    return np.sum(x[(None if k > 1 else 1) : (None if k < 3 else -1)] ** 2)


@pytest.mark.filterwarnings("error::gradwright.CompileWarning")
@pytest.mark.parametrize("k", range(5))
def test_bounds_that_may_be_none(k: int) -> None:
    assert_compiles(open_bounds, X, k)
    assert_differentiates(open_bounds, X, k)
