"""jacrev: a loop over the rows: np.convolve takes one row at a time."""

import numpy as np


def smoothed_jacrev(x):
    # forward sweep
    sin = np.sin(x)
    convolve = np.convolve(sin, x)
    # reverse sweep
    jacobian = np.zeros((2 * len(x) - 1, len(x)))
    for i in range(2 * len(x) - 1):
        convolve_bar = np.zeros_like(convolve)
        convolve_bar[i] = 1.0
        product = np.convolve(convolve_bar, x[::-1], mode="valid") * np.cos(x)
        jacobian[i] = np.convolve(convolve_bar, sin[::-1], mode="valid") + product
    return jacobian
