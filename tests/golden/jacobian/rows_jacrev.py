"""jacrev: cotangents have an axis of the rows in front."""

import numpy as np


def rows_jacrev(table):
    # test_jacobian.py  return np.sum(table * table, axis=1) * table[0, 1]
    table_bar = 2.0 * (table * (table[0, 1] * np.eye(len(table)))[..., None])
    table_bar[:, 0, 1] += np.sum(table * table, axis=1)
    return table_bar
