"""Fission: collectives against the same on whole arrays; in loops, in derivatives."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from written import written

import gradwright as gw
from gradwright import lax
from gradwright.transform.fission import is_collective, meets, varying

X = np.array([0.5, 2.0, -1.0, 1.5])
TABLE = np.sin(1.0 + np.arange(12.0)).reshape(4, 3)
SQUARE = np.cos(np.arange(32.0)).reshape(4, 4, 2)


def share(x):
    y = x * x
    return y / lax.psum(y, "i")


def centred(x):
    return x - lax.pmean(x, axis_name="i")


def ranges(x):
    return lax.pmax(x, "i") - lax.pmin(x, "i"), x * lax.pmax(x, "i")


def rotated(x):
    n = 4
    y = lax.ppermute(x * x, "i", [(k, (k + 1) % n) for k in range(n)])
    return y * x


def shifted(x):
    return lax.ppermute(x, "i", ((0, 1), (1, 2))) + x


def gathered(x):
    rows = lax.all_gather(x, "i")
    return rows @ x if rows.ndim == 2 else np.sum(rows * x)


def gathered_last(x):
    return np.sum(lax.all_gather(np.sin(x), "i", axis=-1) ** 2, axis=0)


def exchanged(x):
    return lax.all_to_all(x * x, "i", 0, 1)


def numbered(x):
    k = lax.axis_index("i")
    return x * k + lax.axis_size("i"), lax.psum(1, "i")


def structured(x):
    total = lax.psum({"a": x, "b": (x * x, x > 0.0)}, "i")
    return total["a"] * x + total["b"][0], total["b"][1]


def stepped(x):
    for k in range(3):
        mean = lax.pmean(x, "i")
        if k > 0:
            x = x - 0.5 * mean * x
        else:
            x = x + 0.1 * mean
    return x


def until(x):
    y = 0.0 * x
    n = 0
    while n < 3:
        y = y + x * lax.psum(np.sin(x), "i")
        n += 1
    return y + n


def kept(x):
    out = np.zeros(3)
    for k in range(3):
        out[k] = x * (k + 1.0)
    total = lax.psum(out[1], "i")
    if x > 0.0:
        out[0] = total
    best = lax.psum(x, "i")
    out[2] += best
    return np.sum(out * out)


def helped(x):
    return helper(x) * helper(2.0 * x)


def helper(x):
    return np.sin(x) - lax.pmean(x, "i")


def whole(program: Callable[..., Any], x: Any) -> Any:
    """What each program makes of all samples at once, as NumPy says it."""
    n = len(x)
    match program.__name__:
        case "share":
            return x * x / np.sum(x * x, axis=0)
        case "centred":
            return x - np.mean(x, axis=0)
        case "ranges":
            most, least = np.max(x, axis=0), np.min(x, axis=0)
            return np.broadcast_to(most - least, x.shape), x * most
        case "rotated":
            return np.roll(x * x, 1, axis=0) * x
        case "shifted":
            parts = np.zeros_like(x)
            parts[1:3] = x[:2]
            return parts + x
        case "gathered":
            return x @ x.T if x.ndim == 2 else x * np.sum(x)
        case "gathered_last":
            return np.broadcast_to(np.sum(np.sin(x).T ** 2, axis=0), (n, n))
        case "exchanged":
            return np.moveaxis(np.swapaxes(x * x, 0, 1), 1, 2)
        case "numbered":
            k = np.arange(n).reshape((n,) + (1,) * (x.ndim - 1))
            return x * k + n, np.full(n, n)
        case "structured":
            total = np.sum(x, axis=0) * x + np.sum(x * x, axis=0)
            return total, np.broadcast_to(np.sum(x > 0.0, axis=0), x.shape)
        case "stepped":
            for k in range(3):
                mean = np.mean(x, axis=0)
                x = x - 0.5 * mean * x if k > 0 else x + 0.1 * mean
            return x
        case "until":
            return 3.0 * x * np.sum(np.sin(x), axis=0) + 3
        case "kept":
            out = x[:, None] * np.arange(1.0, 4.0)
            out[:, 0] = np.where(x > 0.0, np.sum(out[:, 1]), out[:, 0])
            out[:, 2] += np.sum(x)
            return np.sum(out * out, axis=1)
    mean = np.mean(x, axis=0)
    return (np.sin(x) - mean) * (np.sin(2.0 * x) - 2.0 * mean)


CASES: list[tuple[Callable[..., Any], Any]] = [
    *((f, X) for f in (share, centred, ranges, rotated, shifted, gathered, numbered)),
    *((f, X) for f in (structured, stepped, until, kept, helped)),
    *((f, TABLE) for f in (share, centred, ranges, rotated, gathered, gathered_last)),
    *((f, TABLE) for f in (numbered, structured, stepped, until, helped)),
    (exchanged, SQUARE),
]
IDS = [f"{f.__name__}_{x.ndim}" for f, x in CASES]


def flat(a: Any) -> list[Any]:
    return [leaf for i in a for leaf in flat(i)] if isinstance(a, tuple) else [a]


@pytest.mark.parametrize(("f", "x"), CASES, ids=IDS)
def test_values(f: Callable[..., Any], x: Any) -> None:
    for g in (gw.vmap(f, axis_name="i"), gw.jit(gw.vmap(f, axis_name="i"))):
        for found, expected in zip(flat(g(x)), flat(whole(f, x)), strict=True):
            assert found.shape == expected.shape
            assert_allclose(found, expected, rtol=1e-12)


def smooth(f: Callable[..., Any], x: Any) -> Any:
    """The first result of a program, of all samples at once."""
    return flat(whole(f, x))[0]


def slope(f: Callable[..., Any], x: Any, direction: Any, seed: Any) -> float:
    step = 1e-6
    up, down = (smooth(f, x + sign * step * direction) for sign in (1.0, -1.0))
    return float(np.sum(seed * (up - down)) / (2.0 * step))


@pytest.mark.parametrize(("f", "x"), CASES, ids=IDS)
def test_derivatives_of_a_vmap(f: Callable[..., Any], x: Any) -> None:
    rng = np.random.default_rng(0)

    def first(x: Any) -> Any:
        found = gw.vmap(f, axis_name="i")(x)
        return found[0] if isinstance(found, tuple) else found

    direction, seed = rng.standard_normal(x.shape), None
    value, tangent = gw.jvp(first, (x,), (direction,))
    seed = rng.standard_normal(value.shape)
    expected = slope(f, x, direction, seed)
    assert np.sum(seed * tangent) == pytest.approx(expected, rel=1e-6, abs=1e-6)
    pulled = gw.vjp(first, x)[1](seed)[0]
    assert np.sum(pulled * direction) == pytest.approx(expected, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(("f", "x"), CASES, ids=IDS)
def test_derivatives_inside_of_a_vmap(f: Callable[..., Any], x: Any) -> None:
    """That of the sum over all samples: what a sample gave comes back from all."""

    def total(x: Any) -> Any:
        found = f(x)
        return np.sum(found[0] if isinstance(found, tuple) else found)

    g = gw.vmap(gw.grad(total), axis_name="i")
    if f is ranges:
        with pytest.raises(gw.NotDifferentiable, match=r"pm(ax|in) has no derivative"):
            g(x)
        return
    rng = np.random.default_rng(1)
    direction = rng.standard_normal(x.shape)
    expected = slope(f, x, direction, 1.0)
    found = np.sum(g(x) * direction)
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-6)
    pushed = gw.vmap(lambda x, d: gw.jvp(total, (x,), (d,))[1], axis_name="i")
    found = np.sum(pushed(x, direction))
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_axes_inside_of_axes() -> None:
    def f(x):
        return x * lax.psum(x, "i") + lax.psum(x * x, "j")

    g = gw.vmap(gw.vmap(f, axis_name="j"), axis_name="i")
    expected = TABLE * np.sum(TABLE, axis=0) + np.sum(TABLE**2, axis=1)[:, None]
    assert_allclose(g(TABLE), expected)
    turned = gw.vmap(gw.vmap(f, axis_name="i"), axis_name="j")
    expected = TABLE * np.sum(TABLE, axis=1)[:, None] + np.sum(TABLE**2, axis=0)
    assert_allclose(turned(TABLE), expected)


def test_what_samples_share_comes_out_once() -> None:
    f = gw.vmap(lambda x: (x, lax.psum(x, "i")), axis_name="i", out_axes=(0, None))
    values, total = f(X)
    assert values.tolist() == X.tolist() and total == 3.0
    with pytest.raises(gw.ShapeError, match="a result that depends on the sample"):
        gw.vmap(lambda x: x + lax.psum(x, "i"), axis_name="i", out_axes=None)(X)


# ---- refused -----------------------------------------------------------------------


def on_one_path(x):
    if x > 0.0:
        x = x + lax.psum(x, "i")
    return x


def as_long_as_it_takes(x):
    while x < 3.0:
        x = x + lax.pmax(x, "i") + 1.0
    return x


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (
            on_one_path,
            "psum over the axis 'i' stands in a branch or a loop that depends",
        ),
        (as_long_as_it_takes, "pmax over the axis 'i' stands in a branch or a loop"),
    ],
)
def test_what_is_refused(f: Any, message: str) -> None:
    with pytest.raises(gw.UnsupportedSyntax, match=message) as e:
        gw.vmap(f, axis_name="i")(X)
    assert "test_fission.py" in str(e.value)


# ---- core and text -----------------------------------------------------------------

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


def test_what_varies_from_sample_to_sample() -> None:
    f = written(POWERS)
    names = {v.name for v in varying(f.body, {f.params[0]})}
    assert names == {"x", "y", "s", "end"}
    names = {v.name for v in varying(f.body, {f.params[2]})}
    assert {"s", "end"} <= names and "v" not in names


def test_where_samples_meet() -> None:
    f = written(POWERS)
    assert not meets(f.body, "i") and not any(map(is_collective, f.body))


@pytest.mark.parametrize("f", [share, stepped], ids=["share", "stepped"])
def test_source(f: Any, golden: Callable[[str, str], None]) -> None:
    for name, g in (("", f), ("_grad", gw.grad(f))):
        text = gw.vmap(g, axis_name="i").source(X)
        golden(f"batch/{f.__name__}{name}.py", re.sub(r"# .*/", "# ", text))
