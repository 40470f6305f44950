"""hessian: a loop over the columns: machine code is faster with one at a time."""

import numpy as np


def valley_hessian(x):
    hessian = np.zeros((len(x), len(x)))
    for i in range(len(x)):
        x_dot = np.zeros_like(x)
        x_dot[i] = 1.0
        x_bar_dot = np.zeros_like(x)
        for k in range(len(x) - 1):
            x_k = x[k]
            x_k_dot = x_dot[k]
            difference_dot = x_dot[k + 1] - 2.0 * x_k * x_k_dot
            product = 200.0 * (x[k + 1] - x_k**2) * x_k_dot
            total_dot = 2.0 * (200.0 * x_k * difference_dot + product) - 2.0 * x_k_dot
            x_bar_dot[k] -= total_dot
            x_bar_dot[k + 1] += 200.0 * difference_dot
        hessian[:, i] = x_bar_dot
    return hessian
