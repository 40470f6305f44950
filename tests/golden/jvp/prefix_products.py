import numpy as np


def prefix_products_jvp(xs, xs_dot):
    products_dot = np.zeros(len(xs))
    products = np.zeros(len(xs))
    products_dot[0] = xs_dot[0]
    products[0] = xs[0]
    for i in range(1, len(xs)):
        products_i = products[i - 1]
        xs_i = xs[i]
        products_dot[i] = xs_i * products_dot[i - 1] + products_i * xs_dot[i]
        products[i] = products_i * xs_i
    return np.mean(products), np.sum(products_dot) / len(xs)
