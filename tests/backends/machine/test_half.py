"""Halves: each of them, what is rounded to one, and programs beside NumPy's."""

import operator
from typing import Any

import numpy as np
import pytest

import gradwright as gw

EVERY = np.arange(65536, dtype=np.uint16).view(np.float16)
NUMBERS = EVERY[np.isfinite(EVERY)]
SPECIAL = np.array(
    [0.0, -0.0, 1.0, -1.0, 0.5, 3.14, -11.1, 2049.0, 65504.0, -65504.0, 6e-8, -6e-8,
     6.1e-5, 1e-6, np.inf, -np.inf, np.nan],
    np.float16,
)  # fmt: skip
RANDOM = np.random.default_rng(3)
X, Y = RANDOM.normal(size=(2, 60)).astype(np.float16)
A = np.concatenate([np.repeat(SPECIAL, len(SPECIAL)), X, NUMBERS[::31]])
B = np.concatenate(
    [np.tile(SPECIAL, len(SPECIAL)), Y, RANDOM.permutation(NUMBERS[::31])]
)


def bits(x: Any) -> Any:
    """Halves as ints, NaN as one of them."""
    x = np.asarray(x)
    assert x.dtype == np.float16
    return np.where(np.isnan(x), 0x7E00, x.view(np.uint16))


def place(x: Any) -> Any:
    """Where halves stand in their order; both zeros at one place."""
    found = bits(x).astype(int)
    return np.where(found >> 15, -(found & 0x7FFF), found)


def outcome(f: Any, *args: Any) -> Any:
    with np.errstate(all="ignore"):
        return f(*args)


def check(f: Any, *args: Any, units: int = 0) -> None:
    """A function gives the same compiled, up to so many units in the last place."""
    found, wanted = outcome(gw.jit(f), *args), outcome(f, *args)
    compare(found, wanted, units)


def compare(found: Any, wanted: Any, units: int = 0) -> None:
    if isinstance(wanted, tuple | list):
        for a, b in zip(found, wanted, strict=True):
            compare(a, b, units)
        return
    assert type(found) is type(wanted)
    if np.asarray(wanted).dtype != np.float16:
        np.testing.assert_array_equal(found, wanted, strict=True)
        return
    assert np.shape(found) == np.shape(wanted)
    if not units:
        np.testing.assert_array_equal(bits(found), bits(wanted))
    assert np.max(np.abs(place(found) - place(wanted)), initial=0) <= units


# ---- in memory ---------------------------------------------------------------------


def moved(x):
    y = np.empty_like(x)
    for i in range(len(x)):
        y[i] = x[i]
    return y


def test_every_half_is_loaded_and_stored() -> None:
    found = gw.jit(moved)(EVERY)
    np.testing.assert_array_equal(found.view(np.uint16), EVERY.view(np.uint16))
    steps = np.repeat(EVERY, 3)[::3]
    found = gw.jit(moved)(steps)
    np.testing.assert_array_equal(found.view(np.uint16), EVERY.view(np.uint16))


def wider(x):
    return x.astype(np.float32), x.astype(np.float64), x.astype(np.complex64)


def narrower(x):
    return x.astype(np.float16)


def test_every_half_as_a_wider_number() -> None:
    check(wider, EVERY)


def near(dtype: Any) -> Any:
    """All halves, what lies between two of them, and the numbers beside these."""
    x = NUMBERS.astype(dtype)
    between = (np.sort(x)[1:] + np.sort(x)[:-1]) / 2
    ends = np.array([65520.0, -65520.0, 65536.0, 1e30, np.inf, -np.inf, np.nan], dtype)
    at = np.concatenate([x, between, ends])
    up, down = (np.nextafter(at, dtype(far)) for far in (np.inf, -np.inf))
    size = np.exp2(RANDOM.uniform(-30.0, 18.0, 20_000))
    return np.concatenate([at, up, down, (RANDOM.normal(size=20_000) * size)]).astype(
        dtype
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_float_is_rounded_once(dtype: Any) -> None:
    check(narrower, near(dtype))


@pytest.mark.parametrize("dtype", "?bBhHiIqQ")
def test_an_int_is_rounded(dtype: str) -> None:
    few = [*range(0, 128), *range(2040, 2060), *range(65480, 65560), 2**24 + 1]
    x = np.array(few).astype(dtype)
    if dtype != "?":
        info = np.iinfo(dtype)
        more = RANDOM.integers(info.min, info.max, 1000, dtype, endpoint=True)
        x = np.concatenate([x, more])
    check(narrower, x)


def integers(x):
    return x.astype(np.int32), x.astype(np.int8), x.astype(bool)


def test_a_half_as_an_int() -> None:
    check(integers, np.array([0.0, -0.5, 1.5, -2.5, 100.0, 0.001], np.float16))


# ---- operations --------------------------------------------------------------------


def arithmetic(x, y):
    return x + y, x - y, x * y, x / y, x // y, x % y, np.fmod(x, y), x**2


def extremes(x, y):
    return (
        np.maximum(x, y),
        np.minimum(x, y),
        np.fmax(x, y),
        np.where(x > y, x, y),
        np.clip(x, -1.0, y),
        np.copysign(x, y),
        np.heaviside(x, y),
    )


def orders(x, y):
    return x < y, x <= y, x == y, x != y, x < 0.1, x == 0.1, np.isnan(x), np.isfinite(y)


def of_one(x, y):
    return (
        -x,
        abs(x),
        np.sign(x),
        np.floor(x),
        np.ceil(x),
        np.trunc(x),
        np.rint(x),
        np.round(x),
        np.sqrt(x),
        np.square(x),
        np.reciprocal(x),
        np.signbit(x),
    )


def neighbours(x, y):
    return np.nextafter(x, y), np.spacing(x)


def weak(x, y):
    return 0.1 * x, x + 2049, x * 70000, x - 1e-9, x / 3, np.maximum(x, 0.1), x + True


def mixed(x, y):
    return (
        x + np.float16(0.1),
        x * np.int8(3),
        x * np.float32(0.1),
        x * np.float64(0.1),
        x + np.int16(3),
        (x + np.complex64(2.0)).real,
    )


def in_place(x, y):
    z = x.copy()
    z += y
    z *= x
    z -= 0.1
    z /= 3
    return z


def stored(x, y):
    z = np.zeros_like(x)
    for i in range(len(x)):
        z[i] = np.float64(x[i]) * 1.0001
        z[i] += y[i]
    return z


def fused(x, y):
    return (x * y + x) * 0.5 - y / (1 + x * x)


EXACT = [
    arithmetic, extremes, orders, of_one, neighbours, weak, mixed, in_place, stored,
    fused,
]  # fmt: skip


@pytest.mark.parametrize("f", EXACT, ids=lambda f: f.__name__)
def test_operations_are_numpys_bit_for_bit(f: Any) -> None:
    check(f, A, B)


def test_fastmath_rounds_as_well() -> None:
    found = outcome(gw.jit(fused, fastmath=True), A, B)
    compare(found, outcome(fused, A, B))


def elementary(x, y):
    return (
        np.exp(x), np.expm1(x), np.log(x), np.log1p(x), np.sin(x), np.cos(x), np.tan(x),
        np.arcsin(x), np.arctan(x), np.sinh(x), np.tanh(x), np.cbrt(x), np.hypot(x, y),
        np.arctan2(x, y), x**y, np.logaddexp(x, y), np.degrees(x), np.sinc(x),
    )  # fmt: skip


def test_elementary_functions() -> None:
    check(elementary, A, B, units=1)


def of_ints(x):
    return np.sin(x), np.sqrt(x), np.exp(x) * 2.0, np.hypot(x, x)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, bool])
def test_functions_of_small_ints_are_halves(dtype: Any) -> None:
    check(of_ints, np.arange(11).astype(dtype), units=1)


# ---- sums, products, orders --------------------------------------------------------


def sums(x, y):
    return np.sum(x), np.mean(x), np.var(x), np.std(x), np.prod(x), np.max(x), np.ptp(x)


def sums_of_rows(x, y):
    m = x.reshape(6, 10)
    return np.sum(m, axis=0), np.sum(m, axis=1), np.mean(m, axis=1), np.prod(m, axis=1)


def running(x, y):
    return np.cumsum(x), np.cumprod(x), np.diff(x)


def products(x, y):
    m, n = x.reshape(6, 10), y.reshape(10, 6)
    return (
        np.dot(x, y), m @ n, m @ y[:10], x[:6] @ m, np.outer(x, y), np.vdot(x, y),
        np.inner(m, m), np.tensordot(m, n, 1),
    )  # fmt: skip


def sorting(x, y):
    s = np.sort(x)
    return s, np.argsort(x), np.searchsorted(s, y), np.argmax(x), np.median(x)


@pytest.mark.parametrize(
    "f",
    [sums, sums_of_rows, running, products, sorting],
    ids=lambda f: f.__name__,
)
def test_many_at_once(f: Any) -> None:
    check(f, X, Y, units=2)


def products_of_rows(m, v):
    return m @ m.T, m @ v, np.dot(m, v), np.dot(m[0], v), np.inner(m, m)


def sums_of_columns(m):
    return np.mean(m, axis=0), np.sum(m, axis=0), np.mean(m, axis=1), np.sum(m, axis=1)


def test_sums_and_products_are_not_rounded_on_the_way() -> None:
    """Ones more than 2048 are lost where each sum is rounded, and threes soon after."""
    ones = np.ones(3000, np.float16)
    check(sums, ones, ones)
    check(products_of_rows, np.full((2, 1500), 3.0, np.float16), ones[:1500])
    check(sums_of_columns, ones.reshape(1500, 2) + ones.reshape(1500, 2))


def einsum(m, v):
    return np.einsum("ij,j->i", m, v)


def test_einsum() -> None:
    m = np.ones((3, 3000), np.float16)
    found = gw.jit(einsum)(m, m[0])
    np.testing.assert_array_equal(found, np.full(3, 3000.0, np.float16), strict=True)


def filled(n):
    steps = np.arange(np.float16(0.1), np.float16(5.0), np.float16(0.3))
    return np.full(n, 0.1, np.float16), np.zeros(n, np.float16), steps


def test_arrays_that_are_made() -> None:
    check(filled, 3)


# ---- numbers -----------------------------------------------------------------------


def of_numbers(x, y):
    z = x * 2.5 + y
    return z, float(z), int(z), max(z, 0.1), abs(z), z // y, z > 0.1, np.float16(0.1)


@pytest.mark.parametrize("x", [1.1, -0.0, 6e-8, 65504.0])
def test_numbers_as_arguments_and_results(x: float) -> None:
    check(of_numbers, np.float16(x), np.float16(3.3)) if x < 1e4 else None
    found = gw.jit(operator.pos)(np.float16(x))
    compare(found, np.float16(x))
    compare(gw.jit(operator.neg)(np.float16(np.inf)), np.float16(-np.inf))


def tripled(x):
    return x * 3.0


def test_an_array_without_axes() -> None:
    x = np.array(1.1, np.float16)
    found = gw.jit(tripled)(x)
    assert np.asarray(found).dtype == np.float16
    assert found == tripled(x)


def greatest(x, y):
    best = None
    for i in range(len(x)):
        if x[i] > y and (best is None or x[i] > best):
            best = x[i]
    return best


def test_a_half_or_none() -> None:
    check(greatest, X, np.float16(0.0))
    assert gw.jit(greatest)(X, np.float16(100.0)) is None


def refused(x):
    if x[0] < 100:
        raise ValueError(f"{x[0]} is small, and so is {x[1]!r}")
    return x[0]


def test_an_error_tells_the_half() -> None:
    with pytest.raises(
        ValueError, match=r"^1.099\d+ is small, and so is np.float16\(2"
    ):
        gw.jit(refused)(np.array([1.1, 2.2], np.float16))


def solved(m, v):
    return np.linalg.solve(m, v)


def transformed(v):
    return np.fft.fft(v)


def test_libraries_take_halves_as_they_do() -> None:
    with pytest.raises(TypeError, match="float16 is unsupported in linalg"):
        gw.jit(solved)(np.eye(3, dtype=np.float16), np.ones(3, np.float16))
    check(transformed, X)


# ---- programs ----------------------------------------------------------------------


def smooth(x, y):
    return np.sum(np.tanh(x * y) + np.exp(-x * x)) + np.mean(x) * np.max(y)


def waves(x, y):
    s = x[0]
    for i in range(len(x)):
        s = np.sin(s) * y[i] + x[i]
    return s


def chain(x, y):
    z = np.zeros_like(x)
    for i in range(1, len(x)):
        z[i] = 0.5 * z[i - 1] + x[i] * y[i]
    return np.sum(z * z)


def listed(x, y):
    kept = []
    for i in range(len(x)):
        if x[i] > 0:
            kept.append(x[i] * y[i])
    total = np.float16(0.0)
    for v in kept:
        total += v * v
    return total


def tower(x, n):
    if n == 0:
        return x
    return tower(np.sin(x * x), n - 1) * x


def recursive(x, y):
    return tower(x[0], 4) * y[1]


def multiplied(x, y):
    return np.sum((x.reshape(6, 10) @ y.reshape(10, 6)) ** 2)


PROGRAMS = [smooth, waves, chain, listed, recursive, multiplied]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_programs_and_their_derivatives(f: Any) -> None:
    check(f, X, Y, units=2)
    check(gw.grad(f, argnums=(0, 1)), X, Y, units=2)

    def pushed(x, y):
        return gw.jvp(f, (x, y), (y, x))[0]

    check(pushed, X, Y, units=2)


def test_samples() -> None:
    check(gw.vmap(fused), X, Y)
    rows = np.stack([X, Y])
    check(gw.vmap(gw.grad(waves)), rows[:, :20], rows[::-1, 20:40].copy(), units=2)
    check(gw.jacfwd(fused), X[:5], Y[:5])
    check(gw.jacrev(fused), X[:5], Y[:5])
