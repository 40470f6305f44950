"""Comparisons, predicates, truth; and the choice that they make."""

# Rules are formulas: they have operands, not types.
# mypy: allow-untyped-defs, allow-untyped-calls

import cmath
import math
import operator

import numpy as np

from gradwright.transform.primitives.record import (
    always,
    constant,
    elementwise,
    over,
    pairs,
)
from gradwright.transform.types import BOOL, INT, Type, broadcast, numpy_scalar, promote

TRUTH = "a truth value"

constant(
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
    operator.eq,
    operator.ne,
    np.less,
    np.less_equal,
    np.greater,
    np.greater_equal,
    np.equal,
    np.not_equal,
    reason=TRUTH,
    samples=(*pairs((-2, 2), (-1.5, 2.5)), (1.0, 1.0)),
)
constant(
    operator.is_,
    operator.is_not,
    reason=TRUTH,
    samples=((1.5, None), (None, None)),
    type=always(BOOL),
)
constant(operator.not_, reason=TRUTH, samples=(0.0, 1.5), type=always(BOOL))
constant(np.logical_not, reason=TRUTH, samples=(0.0, 1.5))
constant(
    np.logical_and,
    np.logical_or,
    np.logical_xor,
    reason=TRUTH,
    samples=((0.0, 1.5), (1.0, 2.0)),
)
constant(
    math.isnan,
    math.isinf,
    math.isfinite,
    cmath.isnan,
    cmath.isinf,
    cmath.isfinite,
    reason=TRUTH,
    samples=(*over(-2, 2), math.nan, math.inf),
    type=always(BOOL),
)
constant(
    np.isnan,
    np.isinf,
    np.isfinite,
    np.isposinf,
    np.isneginf,
    np.isreal,
    np.iscomplex,
    reason=TRUTH,
    samples=(*over(-2, 2), math.nan, math.inf),
)
constant(
    np.isrealobj,
    np.iscomplexobj,
    np.isscalar,
    reason=TRUTH,
    samples=(1.5, 1j),
    type=always(BOOL),
)
CLOSE = ((1.0, 1.0 + 1e-12), (1.0, 2.0), (math.inf, math.inf), (math.nan, 1.0))


def is_close_of(a, b):
    """Whether two numbers differ by no more than 1e-9 of the larger.

    Source: CPython, math_isclose_impl.
    """
    if a == b:
        return True
    if abs(a) == math.inf or abs(b) == math.inf:
        return False
    d = abs(b - a)
    return d <= 1e-9 * abs(b) or d <= 1e-9 * abs(a)


def is_close_as_numpy_of(a, b):
    """Whether two numbers differ by no more than 1e-8 and 1e-5 of the second."""
    if a == b:
        return True
    return abs(a - b) <= 1e-8 + 1e-5 * abs(b) and abs(b) != math.inf


def is_equal_of(a, b):
    """Whether two numbers are equal."""
    return a == b


constant(
    math.isclose,
    cmath.isclose,
    reason=TRUTH,
    samples=CLOSE,
    type=always(BOOL),
    scalar=is_close_of,
)
constant(
    np.allclose,
    reason=TRUTH,
    samples=CLOSE,
    type=always(BOOL),
    scalar=is_close_as_numpy_of,
)
constant(
    np.array_equal,
    reason=TRUTH,
    samples=CLOSE,
    type=always(BOOL),
    scalar=is_equal_of,
)
constant(np.isclose, reason=TRUTH, samples=CLOSE, scalar=is_close_as_numpy_of)


def one_of(x):
    """The number of elements of a number."""
    return 1


def none_of(x):
    """The number of axes of a number."""
    return 0


constant(np.size, reason="a count", samples=(1.5, 2.5), type=always(INT), scalar=one_of)
constant(
    np.ndim, reason="a count", samples=(1.5, 2.5), type=always(INT), scalar=none_of
)


def type_of_where(condition: Type, a: Type, b: Type) -> Type:
    """An array, also of scalars: then one of no axes."""
    element = promote(a, b).dtype
    dims = broadcast(condition, a, b) or ()
    return Type(numpy_scalar(element).dtype, dims=dims)


@elementwise(
    np.where,
    samples=((True, 0.7, -1.2), (False, 0.4, 2.1)),
    complex_too=True,
    cheap=True,
    type=type_of_where,
)
def where(condition, a, b):
    """The element of a where the condition holds, else that of b."""
    return 0.0, 1.0 if condition else 0.0, 0.0 if condition else 1.0
