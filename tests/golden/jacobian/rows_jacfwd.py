"""jacfwd: tangents have an axis of the columns in front."""

import numpy as np


def rows_jacfwd(table):
    size = len(table) * table.shape[1]
    table_dot = np.reshape(np.eye(size), (size, len(table), table.shape[1]))
    product = np.sum(table * table, axis=1) * table_dot[:, 0, 1][:, None]
    diag = np.diag(np.reshape(2.0 * table, (size,)))
    total_dot = np.sum(np.reshape(diag, (size, len(table), table.shape[1])), axis=-1)
    product_dot = table[0, 1] * total_dot + product
    return np.reshape(product_dot.T, (len(table), len(table), table.shape[1]))
