import numpy as np


def waves_jacrev(x):
    # forward sweep
    sin = np.sin(x)
    x_0 = x[0]
    # reverse sweep
    jacobian = np.zeros((len(x), len(x)))
    for i in range(len(x)):
        product_bar = np.zeros_like(x)
        product_bar[i] = 1.0
        # test_jacobian.py  return np.sin(x) * x[0]
        x_bar = x_0 * product_bar * np.cos(x)
        x_bar[0] += np.sum(sin * product_bar)
        jacobian[i] = x_bar
    return jacobian
