import numpy as np


def skewness_jvp(X, w, X_dot, w_dot):
    total = np.sum(w, axis=0, keepdims=True)
    w = w / total
    w_dot = w_dot / total - w / total * np.sum(w_dot, axis=0, keepdims=True)
    mean = np.sum(w * X, axis=0, keepdims=True)
    mean_dot = np.sum(X * w_dot + w * X_dot, axis=0, keepdims=True)
    difference = X - mean
    difference_dot = X_dot - mean_dot
    power = difference**2
    variance = np.sum(w * power, axis=0)
    total_1 = power * w_dot + 2.0 * (w * (difference * difference_dot))
    variance_dot = np.sum(total_1, axis=0)
    power_1 = (X - mean) ** 3
    power_2 = variance**1.5
    quotient = np.sum(w * power_1, axis=0) / power_2
    total_dot = np.sum(power_1 * w_dot + 3.0 * (w * (power * difference_dot)), axis=0)
    product = 1.5 * (quotient / power_2 * (variance**0.5 * variance_dot))
    return np.sum(quotient), np.sum(total_dot / power_2 - product)
