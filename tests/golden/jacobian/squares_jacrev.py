"""jacrev: cotangents have an axis of the rows in front."""

import numpy as np


def squares_jacrev(x, table):
    # forward sweep
    y = np.tanh(table @ x)
    # reverse sweep
    # test_jacobian.py  y = np.tanh(table @ x)
    difference = 1 - y * y
    y_bar = np.zeros((len(table) - 1, len(table)))
    # test_jacobian.py  return {"y": y, "energy": np.sum(y * y), "products": y[1 ...
    y_bar[:, :-1] += np.diag(y[1:])
    y_bar[:, 1:] += np.diag(y[:-1])
    energy_by_x = table.T @ (2.0 * (y * difference))
    return difference[:, None] * table, energy_by_x, y_bar * difference @ table
