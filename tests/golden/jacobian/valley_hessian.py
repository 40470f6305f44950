"""hessian: tangents have an axis of the columns in front."""

import numpy as np


def valley_hessian(x):
    x_bar_dot = np.zeros((len(x), len(x)))
    x_dot = np.eye(len(x))
    for k in range(len(x) - 1):
        x_k = x[k]
        x_k_dot = x_dot[:, k]
        difference_dot = x_dot[:, k + 1] - 2.0 * (x_k * x_k_dot)
        product = 200.0 * (x[k + 1] - x_k**2) * x_k_dot
        total_dot = 2.0 * (200.0 * (x_k * difference_dot) + product) - 2.0 * x_k_dot
        x_bar_dot[:, k] -= total_dot
        x_bar_dot[:, k + 1] += 200.0 * difference_dot
    return x_bar_dot.T
