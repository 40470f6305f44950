import math
import numpy as np


def polar_jacfwd(r, t):
    radial_dot = 2.0 * np.cos(t) * r
    radial_dot_1 = -r * r * math.sin(t)
    shear_by_r = np.array([t, 0.0, -1.0 / r / r])
    return radial_dot, radial_dot_1, shear_by_r, np.array([r, 2.0 * t, 0.0])
