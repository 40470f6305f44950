"""hessian: tangents have an axis of the columns in front."""

import numpy as np


def squashed_hessian(W, x):
    sin = np.sin(x)
    tanh = np.tanh(W @ sin)
    difference = 1 - tanh * tanh
    cos = np.cos(x)
    tanh_dot = difference * (cos[:, None] * W.T)
    sin_bar_dot = 2.0 * (difference * tanh_dot - 2.0 * (tanh * (tanh * tanh_dot))) @ W
    return (cos * sin_bar_dot - np.diag(W.T @ (2.0 * (tanh * difference)) * sin)).T
