"""jacfwd: tangents have an axis of the columns in front."""

import numpy as np


def squares_jacfwd(x, table):
    y = np.tanh(table @ x)
    y_dot = (1 - y * y) * table.T
    products_dot = y[:-1] * y_dot[:, 1:] + y[1:] * y_dot[:, :-1]
    return y_dot.T, np.sum(2.0 * (y * y_dot), axis=-1), products_dot.T
