"""jacfwd: tangents have an axis of the columns in front."""

import numpy as np


def looped_jacfwd(x, n):
    x_dot = np.eye(len(x))
    for _ in range(n):
        sin = np.sin(x)
        x_dot = x * (np.cos(x) * x_dot) + sin * x_dot
        x = sin * x + 0.5
    return x_dot.T
