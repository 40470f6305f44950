import numpy as np


def prefix_products_grad(xs):
    # forward sweep
    products = np.zeros(len(xs))
    products[0] = xs[0]
    products_tape = []
    for i in range(1, len(xs)):
        products_tape.append(products[i])
        products[i] = products[i - 1] * xs[i]
    # reverse sweep
    xs_bar = np.zeros_like(xs)
    products_bar = np.zeros(len(xs))
    # programs.py  return np.mean(products)
    products_bar += 1 / len(xs)
    for i in reversed(range(1, len(xs))):
        # programs.py  products[i] = products[i - 1] * xs[i]
        products_bar_1 = products_bar[i]
        products_bar[i] = 0.0
        products[i] = products_tape.pop()
        xs_bar[i] += products_bar_1 * products[i - 1]
        products_bar[i - 1] += products_bar_1 * xs[i]
    # programs.py  products[0] = xs[0]
    xs_bar[0] += products_bar[0]
    return xs_bar
