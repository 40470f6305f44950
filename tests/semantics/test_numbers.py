"""The value is NumPy's and Python's own, bit for bit."""

import cmath
import math
from typing import Any

import numpy as np
import pytest
from semantics.oracle import same

import gradwright as gw


def kahan(xs):
    total, lost = 0.0, 0.0
    for x in xs:
        y = x - lost
        t = total + y
        lost = (t - total) - y
        total = t
    return total


def running(xs):
    s = 0.0
    for x in xs:
        s -= x * 0.1
        s = s + x
        s = x + s
        s *= 1.1
        s = s - 1
    return s


def whole_periods(x):
    return x - 0.1 * math.floor(x / 0.1)


def mixed_sums(xs):
    return np.sum(xs) + xs.mean() - np.prod(xs) / 3 + np.max(xs) ** 2 % 0.7


def logistic(x):
    for _ in range(50):
        x = 3.9 * x * (1.0 - x)
    return x


def integers(x):
    n = 3**50
    product = 1
    for k in range(1, 26):
        product = product * k
    return x * (n % 1000007) + product / n + (n >> 60) + (-7) // 2 + (-7) % 3


def orbit(x):
    z = complex(x, 0.5)
    for _ in range(8):
        z = z * z - 0.4 + 0.1j
    return abs(z) + z.real - cmath.phase(z)


def single(xs):
    s = np.float32(0.1)
    for x in xs:
        s = s * np.float32(0.3) + x
    return s * 1.1


def chained(x):
    a = x / 3.0 * 3.0
    b = x / (3.0 * 3.0)
    return (a + b) - a - b + x**3 - x * x * x + x**0.5 - math.sqrt(x)


def assigned_sign(x):
    s = -0.0
    for k in range(2):
        s -= k * 0
    return s * x


NUMBERS = np.random.default_rng(1).uniform(-1.0, 3.0, 101)
PROGRAMS: list[tuple[Any, Any]] = [
    (kahan, np.full(1000, 0.1)),
    (kahan, NUMBERS),
    (running, NUMBERS),
    (running, NUMBERS.astype(np.float32)),
    (whole_periods, 0.7),
    (mixed_sums, NUMBERS),
    (mixed_sums, NUMBERS.astype(np.float32)),
    (logistic, 0.3),
    (logistic, np.float32(0.3)),
    (integers, 0.7),
    (orbit, 0.2),
    (single, NUMBERS.astype(np.float32)),
    (single, NUMBERS),
    (chained, 0.7),
    (chained, np.float64(0.7)),
    (assigned_sign, 2.0),
]


@pytest.mark.parametrize(
    ("f", "x"), PROGRAMS, ids=lambda v: getattr(v, "__name__", type(v).__name__)
)
def test_values_to_the_last_bit(f, x: Any) -> None:
    every_mode(f, x)


SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324, 1.7e308]
OPERATIONS = [
    lambda x: x + 0.0,
    lambda x: x - x,
    lambda x: x * 0.0,
    lambda x: 0.0 * x,
    lambda x: 0.0 - x,
    lambda x: -x,
    lambda x: +x,
    lambda x: x * 1.0 + 0.0 * x,
    lambda x: x * 2.0 - x,
    lambda x: x / 2.0,
    lambda x: abs(x),
    lambda x: math.copysign(1.0, x),
    lambda x: max(x, 0.0),
    lambda x: max(0.0, x),
    lambda x: min(x, 0.0),
    lambda x: math.atan2(x + 0.0, -1.0),
    lambda x: math.atan2(x, -1.0),
    lambda x: 1.0 if x == x else 2.0,
    lambda x: x if x < 1.0 else -x,
    lambda x: x if not x < 1.0 else -x,
    lambda x: 3.0 if 0.0 <= x <= 1.0 else 4.0,
    lambda x: x**0,
    lambda x: 1.0**x,
]


@pytest.mark.parametrize("x", SPECIAL, ids=repr)
@pytest.mark.parametrize("f", OPERATIONS, ids=range(len(OPERATIONS)))
def test_nan_infinity_and_signed_zeros(f, x: float) -> None:
    every_mode(f, x)


@pytest.mark.parametrize("x", SPECIAL, ids=repr)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_special_numbers_of_numpy(x: float) -> None:
    """NumPy's numbers do not raise where Python's do."""
    numpy_only = [
        lambda x: 1.0 / x,
        lambda x: np.sqrt(x),
        lambda x: np.log(x),
        lambda x: np.exp(x),
        lambda x: x % 0.0,
        lambda x: np.maximum(x, 0.0),
        lambda x: np.fmax(x, 0.0),
    ]
    for f in OPERATIONS + numpy_only:
        every_mode(f, np.float64(x))
        every_mode(lambda xs, f=f: f(xs[0]), np.array([x, x]))


@pytest.mark.filterwarnings("ignore:overflow")
def test_integers() -> None:
    """Python's are exact, NumPy's wrap."""

    def powers(x, n):
        p = n
        for _ in range(4):
            p = p * p
        return x * (p % 97)

    for n in (12345678901, np.int64(12345678901), np.int32(12345), np.uint8(201)):
        wanted = powers(0.5, n)
        value, gradient = gw.value_and_grad(powers)(0.5, n)
        same(value, wanted)
        assert gradient == wanted / 0.5


def every_mode(f, x: Any) -> None:
    """Refuse a value that any of the modes has changed."""
    wanted = f(x)
    one = np.ones_like(x) if isinstance(x, np.ndarray) else type(x)(1.0)
    same(gw.value_and_grad(f)(x)[0], wanted)
    same(gw.jvp(f, (x,), (one,))[0], wanted)
    same(gw.vjp(f, x)[0], wanted)


def test_compiled_sums_keep_their_order_unless_told_otherwise() -> None:
    """A sum with its lost part carried along is exact, and as fast math is not."""
    xs = np.full(10_000, 0.1)
    assert gw.jit(kahan)(xs) == kahan(xs)
    assert gw.jit(kahan, fastmath=True)(xs) == pytest.approx(1000.0, rel=1e-6)
    assert "fastmath" in gw.jit(kahan, fastmath=True).source(xs).splitlines()[0]
