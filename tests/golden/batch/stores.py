"""vmap: a loop over the samples: a branch in line 101 depends on the sample."""

import numpy as np


def stores_batched(x_batch):
    values = np.zeros((x_batch.shape[1], len(x_batch)))
    for i, x in enumerate(x_batch):
        x = x.copy()
        for k in range(1, x_batch.shape[1]):
            if x[k] > x[k - 1]:
                x[k] -= x[k - 1]
        values[:, i] = x
    return values
