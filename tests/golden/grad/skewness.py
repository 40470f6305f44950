import numpy as np


def skewness_grad(X, w):
    # forward sweep
    total = np.sum(w, axis=0, keepdims=True)
    w = w / total
    mean = np.sum(w * X, axis=0, keepdims=True)
    difference = X - mean
    power = difference**2
    variance = np.sum(w * power, axis=0)
    power_1 = (X - mean) ** 3
    power_2 = variance**1.5
    # reverse sweep
    # programs.py  return np.sum(np.sum(w * (X - mean) ** 3, axis=0) / variance* ...
    product = np.sum(w * power_1, axis=0) / power_2 / power_2 * variance**0.5
    difference_bar = 3.0 * (w / power_2 * power)
    # programs.py  variance = np.sum(w * (X - mean) ** 2, axis=0)
    product_1 = 3.0 * (w * product * difference)
    # programs.py  mean = np.sum(w * X, axis=0, keepdims=True)
    sum_to = np.sum(difference_bar, axis=0, keepdims=True)
    mean_bar = np.sum(product_1, axis=0, keepdims=True) - sum_to
    # programs.py  w = w / np.sum(w, axis=0, keepdims=True)
    w_bar = power_1 / power_2 - 1.5 * (power * product) + X * mean_bar
    w_bar = w_bar / total - np.sum(w / total * w_bar, axis=0, keepdims=True)
    return difference_bar - product_1 + w * mean_bar, w_bar
