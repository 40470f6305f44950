import numpy as np


def polynomial_grad(x, y, c):
    # forward sweep
    power = x**2
    features = np.stack([x, power, x**3], axis=1)
    r = features @ c - y
    # reverse sweep
    # programs.py  r = features @ c - y
    r_bar = 2.0 * r
    features_bar = np.outer(r_bar, c)
    x_bar = features_bar[:, 0] + 3.0 * (features_bar[:, 2] * power)
    return x_bar + 2.0 * (features_bar[:, 1] * x), -r_bar, features.T @ r_bar
