"""The error function, the gamma function and their derivatives."""

# Rules are formulas: they have operands, not types.
# mypy: allow-untyped-defs, allow-untyped-calls

import math

import numpy as np

from gradwright.transform.primitives.record import elementwise, over


@elementwise(math.erf, samples=over(-2, 2), scalar="erf")
def erf(x):
    """The error function: 2/√π times the integral of exp(-t²) from 0 to x."""
    return 2.0 / math.sqrt(math.pi) * np.exp(-x * x)


@elementwise(math.erfc, samples=over(-2, 2), scalar="erfc")
def erfc(x):
    """The complement 1 - erf(x)."""
    return -2.0 / math.sqrt(math.pi) * np.exp(-x * x)


@elementwise(
    math.gamma, samples=(*over(0.2, 5), -0.4, -1.7), raises=True, scalar="tgamma"
)
def gamma(x, y):
    """The gamma function, (x - 1)! at positive integers."""
    return y * digamma(x)


@elementwise(
    math.lgamma, samples=(*over(0.2, 5), -0.4, -1.7), raises=True, scalar="lgamma"
)
def lgamma(x):
    """The logarithm of |gamma(x)|."""
    return digamma(x)


def digamma(x):
    """The derivative of log(gamma(x)).

    Reflection at 0, recurrence up to 8, then the asymptotic series.
    Source: Abramowitz and Stegun 1964, 6.3.5, 6.3.7 and 6.3.18.
    """
    if x == -math.inf:
        return math.nan
    result = 0.0
    if x <= 0.0:
        result -= math.pi / math.tan(math.pi * math.remainder(x, 1.0))
        x = 1.0 - x
    while x < 8.0:
        result -= 1.0 / x
        x += 1.0
    t = 1.0 / (x * x)
    tail = 1 / 252 - t * (1 / 240 - t * (1 / 132 - t * (691 / 32760 - t / 12)))
    return result + math.log(x) - 0.5 / x - t * (1 / 12 - t * (1 / 120 - t * tail))
