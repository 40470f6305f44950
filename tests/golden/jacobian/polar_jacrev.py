"""jacrev: a loop over the rows: 'r_bar' is a number of Python's in every row."""

import math
import numpy as np


def polar_backward(cos, r, t, radial_bar, shear_bar):
    # test_jacobian.py  return {"radial": radial, "shear": np.array([r * t, t * ...
    product_bar = shear_bar[0]
    t_bar = 2.0 * t * shear_bar[1] + r * product_bar - math.sin(t) * radial_bar * r * r
    r_bar = t * product_bar - 1.0 / r / r * shear_bar[2] + 2.0 * r * cos * radial_bar
    return float(r_bar), float(t_bar)


def polar_jacrev(r, t):
    # forward sweep
    cos = np.cos(t)
    shear = np.array([r * t, t * t, 1.0 / r])
    # reverse sweep
    shear_by_r = np.zeros_like(shear)
    shear_by_t = np.zeros_like(shear)
    shear_bar = np.zeros_like(shear)
    radial_by_r, radial_by_t = polar_backward(cos, r, t, 1.0, shear_bar)
    for i in range(3):
        shear_bar_1 = np.zeros_like(shear)
        shear_bar_1[i] = 1.0
        r_bar, t_bar = polar_backward(cos, r, t, 0.0, shear_bar_1)
        shear_by_r[i] = r_bar
        shear_by_t[i] = t_bar
    return radial_by_r, radial_by_t, shear_by_r, shear_by_t
