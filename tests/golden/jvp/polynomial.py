import numpy as np


def polynomial_jvp(x, y, c, x_dot, y_dot, c_dot):
    power = x**2
    features = np.stack([x, power, x**3], axis=1)
    r = features @ c - y
    matmul = np.stack([x_dot, 2.0 * (x * x_dot), 3.0 * (power * x_dot)], axis=1) @ c
    r_dot = matmul + features @ c_dot - y_dot
    return r @ r, r_dot @ r + r @ r_dot
