"""jacfwd: tangents have an axis of the columns in front."""

import numpy as np


def smoothed_jacfwd(x):
    sin = np.sin(x)
    sin_dot = np.diag(np.cos(x))
    convolve = np.zeros((len(x), 2 * len(x) - 1))
    for i, sin_dot_1 in enumerate(sin_dot):
        convolve[i] = np.convolve(sin_dot_1, x)
    x_dot = np.eye(len(x))
    convolve_1 = np.zeros((len(x), 2 * len(x) - 1))
    for i, x_dot in enumerate(x_dot):
        convolve_1[i] = np.convolve(sin, x_dot)
    return (convolve + convolve_1).T
