"""jacrev: cotangents have an axis of the rows in front."""

import numpy as np


def smoothed_jacrev(x):
    # test_jacobian.py  return np.convolve(np.sin(x), x)
    x_part = x[::-1]
    convolve_bar = np.eye(2 * len(x) - 1)
    larger = max(2 * len(x) - 1, len(x))
    smaller = min(2 * len(x) - 1, len(x))
    sin_bar = np.zeros((2 * len(x) - 1, larger - smaller + 1))
    for i, convolve_bar_1 in enumerate(convolve_bar):
        sin_bar[i] = np.convolve(convolve_bar_1, x_part, mode="valid")
    sin_part = np.sin(x)[::-1]
    convolve = np.zeros((2 * len(x) - 1, larger - smaller + 1))
    for i, convolve_bar_2 in enumerate(convolve_bar):
        convolve[i] = np.convolve(convolve_bar_2, sin_part, mode="valid")
    return convolve + sin_bar * np.cos(x)
