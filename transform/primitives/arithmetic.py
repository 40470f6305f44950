"""Arithmetic: operators, powers, absolute values, extremes of two, conversions."""

# Rules are formulas: they have operands, not types.
# mypy: allow-untyped-defs, allow-untyped-calls

import math
import operator
import sys

import numpy as np

from gradwright.transform.primitives.record import (
    CLIP,
    always,
    composition,
    constant,
    elementwise,
    is_written,
    over,
    pairs,
)
from gradwright.transform.types import COMPLEX, FLOAT, INT, Type, join

# ---- sums and products -------------------------------------------------------------


@elementwise(
    operator.add, np.add, samples=pairs((-2, 2), (-3, 3)), complex_too=True, cheap=True
)
def add(a, b):
    """The sum a + b."""
    return 1.0, 1.0


@elementwise(
    operator.sub,
    np.subtract,
    samples=pairs((-2, 2), (-3, 3)),
    complex_too=True,
    cheap=True,
)
def subtract(a, b):
    """The difference a - b."""
    return 1.0, -1.0


@elementwise(
    operator.mul,
    np.multiply,
    samples=pairs((-2, 2), (-3, 3)),
    complex_too=True,
    cheap=True,
)
def multiply(a, b):
    """The product a * b."""
    return b, a


@elementwise(
    operator.truediv,
    np.true_divide,
    samples=pairs((-2, 2), (0.3, 3)),
    complex_too=True,
    raises=True,
    cheap=True,
)
def divide(a, b, y):
    """The quotient a / b."""
    return 1 / b, -y / b


@elementwise(
    operator.neg, np.negative, samples=over(-2, 2), complex_too=True, cheap=True
)
def negative(x):
    """The negative -x."""
    return -1.0


@elementwise(
    operator.pos, np.positive, samples=over(-2, 2), complex_too=True, cheap=True
)
def positive(x):
    """The number itself, +x."""
    return 1.0


@elementwise(np.square, samples=over(-2, 2), complex_too=True, cheap=True)
def square(x):
    """The square x²."""
    return 2 * x


@elementwise(np.reciprocal, samples=over(0.3, 3), complex_too=True, cheap=True)
def reciprocal(x, y):
    """The reciprocal 1 / x."""
    return -y * y


if sys.version_info >= (3, 13):

    @elementwise(
        math.fma,
        samples=pairs((-2, 2), (-3, 3), (-1, 1)),
        raises=True,
        covered=False,
        cheap=True,
        scalar="fma",
    )
    def fma(a, b, c):
        """The product and sum a * b + c, rounded once."""
        return b, a, 1.0


# ---- powers ------------------------------------------------------------------------


@elementwise(
    math.pow, samples=pairs((0.2, 3), (-2, 3)), raises=True, covered=False, scalar="pow"
)
@elementwise(
    operator.pow,
    pow,
    np.power,
    np.float_power,
    samples=(*pairs((0.2, 3), (-2, 3)), (1.7, 3), (-1.2, 2), (1.1, -2), (0.7, 1)),
    kinks=(
        ((0.0, 3.0), (0.0, 0.0)),
        ((0.0, 1.0), (1.0, 0.0)),
        ((0.0, 0.5), (math.inf, 0.0)),
        ((0.0, 0.0), (0.0, 0.0)),
        ((2.0, 0.0), (0.0, math.log(2.0))),
        ((-2.0, 3.0), (12.0, math.nan)),
        ((0j, 2 + 0j), (0.0, 0.0)),
    ),
    complex_too=True,
    raises=True,
    covered=False,
)
def power(a, b, y):
    """The power a ** b.

    At a = 0 the partial by the base is 0 for b = 0 and infinite for 0 < b < 1; the
    partial by the exponent is 0.  A negative real base has no neighbouring exponents:
    its partial by the exponent is NaN.  For a written exponent below 1 the partial is
    a quotient, which costs less than a power.  Source: JAX, lax.pow.
    """
    # fmt: off
    by_base = (
        (b * (y / a) if a != 0 else 0.0) if np.iscomplexobj(b)
        else (b * (y / a) if a != 0 else b * math.inf if b != 0 else 0.0)
            if is_written(b) and b < 1
        else b * a ** (b - 1) if b >= 1 or a != 0
        else b * math.inf if b != 0
        else 0.0
    )
    by_exponent = (
        (y * np.log(a) if a != 0 else 0.0) if np.iscomplexobj(a)
        else 0.0 if a == 0
        else math.nan if a < 0
        else y * np.log(a)
    )
    # fmt: on
    return by_base, by_exponent


def power_modulo_of(a, n, modulus):
    """The power a ** n modulo an int, n not negative."""
    if n < 0 or modulus == 0 or abs(modulus) > 2**31:
        raise ValueError("compiled code has no such power")
    result = 1 % modulus
    a = a % modulus
    while n > 0:
        if n & 1:
            result = result * a % modulus
        a = a * a % modulus
        n = n >> 1
    return result


constant(
    pow,
    scalar=power_modulo_of,
    reason="a power modulo an integer is an integer",
    samples=((3, 4, 5), (7, 2, 10)),
    raises=True,
    type=always(INT),
)


# ---- remainders --------------------------------------------------------------------


@elementwise(
    operator.mod,
    np.remainder,
    samples=pairs((-4, 4), (0.7, 1.9)),
    raises=True,
    covered=False,
    cheap=True,
)
def remainder(a, b):
    """The remainder a - b * (a // b), with the sign of b."""
    return 1.0, -(a // b)


@elementwise(
    math.fmod,
    np.fmod,
    samples=pairs((-4, 4), (0.7, 1.9)),
    raises=True,
    covered=False,
    scalar="fmod",
)
def fmod(a, b, y):
    """The remainder a - b * n with the sign of a, where n is trunc(a / b)."""
    return 1.0, (y - a) / b


@elementwise(
    math.remainder,
    samples=pairs((-4, 4), (0.7, 1.9)),
    raises=True,
    covered=False,
    scalar="remainder",
)
def ieee_remainder(a, b, y):
    """The remainder a - b * n, where n is the integer nearest to a / b."""
    return 1.0, (y - a) / b


constant(
    operator.floordiv,
    np.floor_divide,
    reason="the integer part of a quotient is piecewise constant",
    samples=(*pairs((-4, 4), (0.7, 1.9)), (7, 2)),
    raises=True,
)


@composition(divmod)
def quotient_and_remainder(a, b):
    """The pair (a // b, a % b)."""
    return a // b, a % b


@composition(np.divmod)
def floor_divide_and_remainder(a, b):
    """The pair (a // b, a % b), of NumPy's numbers."""
    return np.floor_divide(a, b), np.remainder(a, b)


@composition(math.modf)
def fraction_and_whole(x):
    """The fraction and the whole part of x, both with its sign."""
    if math.isinf(x):
        return math.copysign(0.0, x), x
    fraction = math.fmod(x, 1.0)
    return fraction, math.copysign(x - fraction, x)


# ---- absolute values and signs -----------------------------------------------------


@elementwise(
    abs,
    math.fabs,
    samples=over(-2, 2),
    kinks=((0.0, 0.0), (math.inf, 1.0), (0j, 0.0)),
    complex_too=True,
    cheap=True,
)
def modulus(x, y):
    """The absolute value |x|; at 0 the derivative is 0.

    Of a complex x = a + ib it is a function of a and b, of partials a / |x|, b / |x|.
    """
    return (
        (np.conj(x) / y if y != 0 else 0.0) if np.iscomplexobj(x)
        else 1.0 if x > 0 else -1.0 if x < 0 else 0.0
    )  # fmt: skip


@elementwise(
    np.absolute,
    np.fabs,
    samples=over(-2, 2),
    kinks=((0.0, 0.0), (math.inf, 1.0), (0j, 0.0)),
    complex_too=True,
    cheap=True,
)
def absolute(x, y):
    """The absolute value |x| of NumPy's numbers; at 0 the derivative is 0."""
    return (np.conj(x) / y if y != 0 else 0.0) if np.iscomplexobj(x) else np.sign(x)


@elementwise(
    math.copysign,
    np.copysign,
    samples=(*pairs((0.3, 2), (-2, 2)), (-0.8, 1.1), (-0.6, -0.9)),
    kinks=(((0.0, 1.0), (1.0, 0.0)), ((0.0, -1.0), (-1.0, 0.0))),
    cheap=True,
)
def copysign(a, b):
    """The value |a| with the sign of b; at a = 0, as from the side of a's sign."""
    return np.copysign(1.0, a) * np.copysign(1.0, b), 0.0


# ---- the larger and the smaller of two ---------------------------------------------


def type_of_either(a: Type, b: Type) -> Type:
    """The type of a value that is one of the two."""
    joined = join(a, b)
    if joined is None:
        raise TypeError(f"one of {a} and {b} has no type")
    return joined


@elementwise(
    max,
    samples=pairs((-2, 2), (-1.5, 2.5)),
    kinks=(((1.0, 1.0), (1.0, 0.0)),),
    cheap=True,
    type=type_of_either,
)
def larger(a, b):
    """Python's max(a, b): b where b > a, else a; a tie follows a."""
    return 0.0 if b > a else 1.0, 1.0 if b > a else 0.0


@elementwise(
    min,
    samples=pairs((-2, 2), (-1.5, 2.5)),
    kinks=(((1.0, 1.0), (1.0, 0.0)),),
    cheap=True,
    type=type_of_either,
)
def smaller(a, b):
    """Python's min(a, b): b where b < a, else a; a tie follows a."""
    return 0.0 if b < a else 1.0, 1.0 if b < a else 0.0


@elementwise(
    np.maximum,
    samples=pairs((-2, 2), (-1.5, 2.5)),
    kinks=(((1.0, 1.0), (0.5, 0.5)),),
    cheap=True,
)
def maximum(a, b):
    """The larger of two; a tie is shared half and half.  Source: JAX, lax.max."""
    return (
        1.0 if a > b else 0.5 if a == b else 0.0,
        1.0 if b > a else 0.5 if a == b else 0.0,
    )


@elementwise(
    np.minimum,
    samples=pairs((-2, 2), (-1.5, 2.5)),
    kinks=(((1.0, 1.0), (0.5, 0.5)),),
    cheap=True,
)
def minimum(a, b):
    """The smaller of two; a tie is shared half and half.  Source: JAX, lax.min."""
    return (
        1.0 if a < b else 0.5 if a == b else 0.0,
        1.0 if b < a else 0.5 if a == b else 0.0,
    )


@elementwise(
    np.fmax,
    np.fmin,
    samples=pairs((-2, 2), (-1.5, 2.5)),
    kinks=(
        ((1.0, 1.0), (0.5, 0.5)),
        ((math.nan, 1.0), (0.0, 1.0)),
        ((1.0, math.nan), (1.0, 0.0)),
    ),
    cheap=True,
)
def extreme(a, b, y):
    """The larger or smaller of two, NaN apart; a tie is shared half and half."""
    return (
        0.5 if a == b else 1.0 if a == y else 0.0,
        0.5 if a == b else 1.0 if b == y else 0.0,
    )


@composition(np.clip)
def clipped(a, a_min=None, a_max=None, *, min=None, max=None):
    """The number held between two bounds, or from one side."""
    return held_between(a, a_min if min is None else min, a_max if max is None else max)


def held_between(a, low, high):
    """The number held between two bounds, None where there is none."""
    if low is None:
        return a if high is None else np.minimum(a, high)
    return np.maximum(a, low) if high is None else CLIP(a, low, high)


@elementwise(
    CLIP,
    samples=(*pairs((-3, 3), (-1.5, -0.5), (0.5, 1.5)), (0.3, 1.2, 0.9)),
    kinks=(
        ((-1.0, -1.0, 1.0), (0.5, 0.5, 0.0)),
        ((1.0, -1.0, 1.0), (0.5, 0.0, 0.5)),
    ),
)
def clip(x, low, high):
    """The number x held between two bounds; a tie is shared half and half.

    Where low > high the result is high.  Source: minimum(maximum(x, low), high).
    """
    inner = 1.0 if x > low else 0.5 if x == low else 0.0
    held = np.maximum(x, low)
    below = 1.0 if held < high else 0.5 if held == high else 0.0
    return inner * below, (1.0 - inner) * below, 1.0 - below


# ---- conversions -------------------------------------------------------------------


@elementwise(float, samples=over(-2, 2), cheap=True, type=always(FLOAT))
def as_float(x):
    """The number as Python's float."""
    return 1.0


@elementwise(np.float64, np.float32, np.float16, samples=over(-2, 2), cheap=True)
def as_floating(x):
    """The number as one of NumPy's floats."""
    return 1.0


@elementwise(
    complex, samples=over(-2, 2), complex_too=True, cheap=True, type=always(COMPLEX)
)
@elementwise(
    np.complex128, np.complex64, samples=over(-2, 2), complex_too=True, cheap=True
)
def as_complex(x):
    """The number as a complex one."""
    return 1.0


@elementwise(
    complex,
    samples=pairs((-2, 2), (-3, 3)),
    complex_too=True,
    cheap=True,
    type=always(COMPLEX),
)
def complex_of_parts(a, b):
    """The complex number a + ib."""
    return 1.0, 1j


# ---- integers ----------------------------------------------------------------------

constant(
    operator.and_,
    operator.or_,
    operator.xor,
    np.bitwise_and,
    np.bitwise_or,
    np.bitwise_xor,
    reason="bits are integers",
    samples=((6, 3), (12, 10)),
)
constant(
    operator.lshift,
    operator.rshift,
    np.left_shift,
    np.right_shift,
    reason="bits are integers",
    samples=((6, 1), (12, 3)),
    raises=True,
)
constant(
    operator.invert,
    reason="bits are integers",
    samples=(6, 3),
    type=lambda x: INT if x.python else x,
)
constant(np.invert, np.bitwise_count, reason="bits are integers", samples=(6, 3))


def greatest_divisor_of(a, b):
    """The greatest common divisor of two, by Euclid's algorithm."""
    a, b = abs(a), abs(b)
    while b > 0:
        a, b = b, a % b
    return a


def least_multiple_of(a, b):
    """The least common multiple of two; of zero, zero."""
    divisor, rest = abs(a), abs(b)
    while rest > 0:
        divisor, rest = rest, divisor % rest
    return abs(a) // divisor * abs(b) if divisor > 0 else divisor


def divisor_of_three(a, b=0, c=0):
    """The greatest common divisor of up to three."""
    return greatest_divisor_of(greatest_divisor_of(a, b), c)


def multiple_of_three(a, b=1, c=1):
    """The least common multiple of up to three."""
    return least_multiple_of(least_multiple_of(a, b), c)


def choices_of(n, k):
    """How many choices of k of n there are."""
    if n < 0 or k < 0:
        raise ValueError("a number of choices is of numbers from 0")
    if k > n - k:
        k = n - k
    result = 1 if k >= 0 else 0
    i = 1
    while i <= k:
        divisor = greatest_divisor_of(result, i)
        result = result // divisor * ((n - k + i) // (i // divisor))
        i = i + 1
    return result


def orders_of(n, k):
    """How many orders of k of n there are."""
    if n < 0 or k < 0:
        raise ValueError("a number of orders is of numbers from 0")
    result = 1 if k <= n else 0
    i = n - k + 1
    while 0 < i <= n:
        result = result * i
        i = i + 1
    return result


def factorial_of(n):
    """The product of the numbers from 1 to n."""
    if n < 0:
        raise ValueError("a factorial is of a number from 0")
    result = 1
    while n > 1:
        result = result * n
        n = n - 1
    return result


def whole_root_of(n):
    """The integer part of a root: that of a float, put right."""
    if n < 0:
        raise ValueError("a root is of a number from 0")
    root = min(int(math.sqrt(n)), 3037000499)
    while root * root > n:
        root = root - 1
    while root < 3037000499 and (root + 1) * (root + 1) <= n:
        root = root + 1
    return root


DIVISOR = "a divisor or a multiple is an integer"
constant(
    math.gcd,
    reason=DIVISOR,
    samples=((12,), (12, 18), (12, 18, 8), (-12, 0)),
    type=always(INT),
    scalar=divisor_of_three,
)
constant(
    math.lcm,
    reason=DIVISOR,
    samples=((12,), (12, 18), (12, 18, 8), (-12, 0)),
    type=always(INT),
    scalar=multiple_of_three,
)
constant(np.gcd, reason=DIVISOR, samples=((12, 18), (9, 6)), scalar=greatest_divisor_of)
constant(np.lcm, reason=DIVISOR, samples=((12, 18), (9, 6)), scalar=least_multiple_of)
constant(
    math.comb,
    reason="a number of choices is an integer",
    samples=((5, 2), (7, 3), (3, 7), (60, 30)),
    raises=True,
    type=always(INT),
    scalar=choices_of,
)
constant(
    math.perm,
    reason="a number of orders is an integer",
    samples=((5, 2), (7, 3), (3, 7)),
    raises=True,
    type=always(INT),
    scalar=orders_of,
)
constant(
    math.perm,
    math.factorial,
    reason="a number of orders is an integer",
    samples=(5, 7),
    raises=True,
    type=always(INT),
    scalar=factorial_of,
)
constant(
    math.isqrt,
    reason="the integer part of a root is an integer",
    samples=(5, 17),
    raises=True,
    type=always(INT),
    scalar=whole_root_of,
)
