import numpy as np


def kernel_regression_jvp(x, xs, ys, width, x_dot, xs_dot, ys_dot, width_dot):
    quotient = (x[:, None] - xs) / width
    weights = np.exp(-0.5 * quotient**2)
    quotient_dot = (x_dot[:, None] - xs_dot) / width - quotient / width * width_dot
    product = weights * (quotient * quotient_dot)
    weights_dot = -product
    total = np.sum(weights, axis=1)
    quotient_1 = weights @ ys / total
    quotient_2 = (weights_dot @ ys + weights @ ys_dot) / total
    return quotient_1, quotient_2 + quotient_1 / total * np.sum(product, axis=1)
