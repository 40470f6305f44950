"""jacrev: cotangents have an axis of the rows in front."""

import math
import numpy as np


def polar_jacrev(r, t):
    # test_jacobian.py  return {"radial": radial, "shear": np.array([r * t, t * ...
    shear_bar = np.eye(3)
    product_bar = shear_bar[:, 0]
    shear_by_r = t * product_bar - 1.0 / r / r * shear_bar[:, 2]
    shear_by_t = 2.0 * (t * shear_bar[:, 1]) + r * product_bar
    t_bar = -(math.sin(t) * r * r)
    return float(2.0 * r * np.cos(t)), float(t_bar), shear_by_r, shear_by_t
