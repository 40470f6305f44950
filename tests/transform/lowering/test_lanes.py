"""Samples side by side: each lane gives what its sample gives alone."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from lowered import assert_alike, in_both

import gradwright as gw
from gradwright.transform.lowering import lanes

rng = np.random.default_rng(5)


@pytest.fixture(autouse=True)
def few_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several blocks of few samples."""
    monkeypatch.setattr(lanes, "LANES", 4)
    monkeypatch.setattr(lanes, "LANES_OF_ARRAYS", 3)


def counted(x, n):
    for k in range(3):
        x = np.sin(x) + 0.1 * k * n
    return x


def until(x, n):
    """A different number of trips for each sample."""
    k = 0
    while x < n:
        x = x * x + 1.0
        k += 1
    return x + k


def as_often(x, n):
    s = 0.0
    for t in range(n):
        x = x + 0.1 * np.sin(x)
        s = s + x * x * t
    return s


def downwards(x, n):
    for t in range(n, 1, -2):
        x = x * t - 0.1 * x * x
    return x


def from_there(x, n):
    s = 0.0 * x
    for t in range(n, 6):
        s += np.cos(x * t)
    return s


def left(x, n):
    for t in range(n):
        x = 1.3 * x
        if x > 2.0:
            break
        x = x + 0.1
    return x


def left_later(x, n):
    for t in range(50):
        x = 1.1 * x
        if x > n:
            break
    else:
        x = 0.5 * x
    return x


def skipped(x, n):
    for t in range(n):
        if t % 2:
            continue
        x = np.tanh(x) + 0.1 * t
    return x


def nested(x, n):
    s = 0.0
    for i in range(n):
        for j in range(i):
            s = s + x * j
            x = x * 0.9
    return s + x


def branches(x, n):
    if x > 0.5:
        for t in range(n):
            x = np.sqrt(x) + t
    elif x > 0.0:
        x = 2.0 * x
    else:
        while x < 3.0:
            x += 0.5 + 0.01 * n
    return x


def in_a_branch_of_a_loop(x, n):
    s = 0.0
    for i in range(4):
        if x > 0.1 * i:
            for j in range(n):
                s += x * x
                x = 0.95 * x
        else:
            s -= x
    return s


def stored(x, n):
    """An array of its own for each sample."""
    y = np.zeros(5)
    y[0] = x
    for k in range(1, 5):
        y[k] = 0.5 * y[k - 1] * y[k - 1] + 0.1 * n
    return np.sum(y * y)


def of_its_own_length(x, n):
    y = np.zeros(n + 1)
    y[0] = x
    for k in range(n):
        y[k + 1] = y[k] * y[k] + 0.1
    return y[n]


def early(x, n):
    for t in range(n):
        if x > 1.5:
            return x * t
        x = x + 0.3
    return -x


def of_numbers(x, n):
    """Numbers of Python's, which could raise."""
    k = 7
    for t in range(n):
        k = k // 2 + t
    return x * k


def checked(x, n):
    for t in range(n):
        x = x * x + 0.1
        assert x < 1e9, f"too large: {x}"
    if n > 90:
        raise ValueError("never")
    return x


def looked_up(x, n):
    """A place of each sample's own."""
    for t in range(3):
        x = x + 0.1 * TABLE[n] * TABLE[t + n - 1]
    return x


PROGRAMS: list[Callable[..., Any]] = [
    counted, until, as_often, downwards, from_there, left, left_later, skipped, nested,
    branches, in_a_branch_of_a_loop, stored, of_its_own_length, early, of_numbers,
    checked, looked_up,
]  # fmt: skip
TABLE = np.sin(np.arange(9.0))


def samples(count: int) -> tuple[Any, Any]:
    return rng.uniform(-0.5, 1.4, count), rng.integers(0, 6, count)


@pytest.mark.parametrize("count", [0, 1, 4, 11])
@pytest.mark.parametrize("f", PROGRAMS)
def test_values(f: Any, count: int) -> None:
    xs, ns = samples(count)
    wanted = np.array([f(x, n) for x, n in zip(xs, ns, strict=True)], float)
    with in_both() as made:
        found = gw.jit(gw.vmap(f, how="loop"))(xs, ns)
    text = "\n\n".join(program.text for program in made)
    assert_alike(found, wanted, text)
    assert ("for lane in" in text) == (count != 1), text


@pytest.mark.parametrize("count", [1, 11])
@pytest.mark.parametrize("f", PROGRAMS)
def test_gradients(f: Any, count: int) -> None:
    xs, ns = samples(count)
    g = gw.grad(f)
    wanted = np.array([g(x, n) for x, n in zip(xs, ns, strict=True)], float)
    with in_both() as made:
        found = gw.jit(gw.vmap(g, how="loop"))(xs, ns)
    text = "\n\n".join(program.text for program in made)
    assert_alike(found, wanted, text)


def grown(x, n):
    """A tape that grows in some lanes beyond its first room."""
    while x < 40.0 * n:
        x = x + 0.3 * np.sqrt(1.0 + x)
    return x


def appended(x, n):
    ys = [x]
    while ys[-1] < n:
        ys.append(1.5 * ys[-1] + 0.4)
    return np.sum(np.array(ys) ** 2)


@pytest.mark.parametrize("f", [grown, appended])
def test_room_for_what_grows(f: Any) -> None:
    xs, ns = samples(7)
    for g in (f, gw.grad(f)):
        wanted = np.array([g(x, n) for x, n in zip(xs, ns, strict=True)], float)
        with in_both() as made:
            found = gw.jit(gw.vmap(g, how="loop"))(xs, ns)
        assert_alike(found, wanted, made[0].text)


def failing(x, n):
    for _ in range(n):
        x = x * TABLE[n]
    assert x < 2.0, f"{x} is too large"
    return x


@pytest.mark.parametrize(
    ("xs", "ns", "error", "text", "sample"),
    [
        ([1.0, 9.0, 1.0], [1, 0, 99], AssertionError, "9.0 is too large", 1),
        ([1.0, 1.0, 9.0], [1, 99, 0], IndexError, "index 99 is out of bounds", 1),
        ([9.0, 8.0], [0, 0], AssertionError, "9.0 is too large", 0),
    ],
)
def test_the_first_sample_that_fails_is_the_one_that_says_so(
    xs: Any, ns: Any, error: type[Exception], text: str, sample: int
) -> None:
    """Also where a later one fails sooner, as statements go."""
    batched = gw.jit(gw.vmap(failing))
    for _ in range(2):
        with pytest.raises(error, match=text) as e:
            batched(np.array(xs), np.array(ns))
        assert e.value.__notes__[-1] == f"  in sample {sample} of vmap"
    assert batched(np.ones(5), np.zeros(5, int)).tolist() == [1.0] * 5


def sorted_often(x, n):
    """What calls libraries is made of all samples at once, if it can be."""
    s = 0.0
    for _ in range(3):
        x = np.sort(x * 1.1 - 0.1)
        s = s + np.sin(x[1]) * n
    return s


def test_what_does_not_stand_side_by_side_gets_an_axis() -> None:
    xs, n = rng.normal(size=(7, 5)), 2.0
    batched = gw.jit(gw.vmap(sorted_often, (0, None)))
    np.testing.assert_allclose(batched(xs, n), [sorted_often(x, n) for x in xs])
    head = "vmap: arrays have an axis of the samples in front."
    assert batched.source(xs, n).startswith(f'"""{head}"""')
    loop = gw.jit(gw.vmap(sorted_often, (0, None), how="loop"))
    np.testing.assert_allclose(loop(xs, n), batched(xs, n))
    assert "how='loop'" in loop.source(xs, n)
