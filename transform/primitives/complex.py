"""Complex numbers taken apart and put together; all angles are in radians.

A function from complex to real numbers has a partial too: f_x - i f_y of z = x + iy,
whose product with a tangent of z has the tangent of f as its real part.
"""

# Rules are formulas: they have operands, not types.
# mypy: allow-untyped-defs, allow-untyped-calls

import cmath
import math

import numpy as np

from gradwright.transform.primitives.record import (
    always,
    composition,
    elementwise,
    linear,
    pairs,
)
from gradwright.transform.types import FLOAT

COMPLEX_SAMPLES = (0.3 + 1.2j, -0.7 - 0.4j, 1.5 - 0.2j, -0.1 + 0.8j)


@linear(np.real, samples=COMPLEX_SAMPLES, view=True)
def real(y_bar):
    """The real part."""
    return y_bar


@linear(np.imag, samples=COMPLEX_SAMPLES, view=True)
def imag(y_bar):
    """The imaginary part."""
    return -1j * y_bar


@linear(np.conjugate, samples=COMPLEX_SAMPLES)
def conj(y_bar):
    """The complex conjugate."""
    return np.conj(y_bar)


def angle_of(z):
    """The angle of the point (real part, imaginary part)."""
    return np.arctan2(np.imag(z), np.real(z))


@elementwise(
    cmath.phase,
    scalar=angle_of,
    samples=COMPLEX_SAMPLES,
    kinks=((0j, 0.0),),
    complex_too=True,
    type=always(FLOAT),
)
@elementwise(
    np.angle,
    samples=COMPLEX_SAMPLES,
    kinks=((0j, 0.0),),
    complex_too=True,
    scalar=angle_of,
)
def angle(z):
    """The angle of z, in (-π, π]; at 0 the derivative is 0."""
    return -1j / z if z != 0 else 0.0


def rect_of(r, phi):
    """The number of this length and angle."""
    return complex(r * math.cos(phi), r * math.sin(phi))


@elementwise(cmath.rect, samples=pairs((0.3, 2), (-3, 3)), raises=True, scalar=rect_of)
def rect(r, phi, y):
    """The number r * exp(i * phi)."""
    return cmath.rect(1.0, phi), 1j * y


@composition(cmath.polar)
def polar(z):
    """The pair (|z|, angle of z)."""
    return abs(z), cmath.phase(z)
