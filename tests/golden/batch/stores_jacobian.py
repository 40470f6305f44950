"""vmap: a loop over the samples: a branch in line 101 depends on the sample.
jacrev: cotangents have an axis of the rows in front."""

import numpy as np


def stores_batched_jacrev(x_batch):
    # forward sweep
    size = len(x_batch) * x_batch.shape[1]
    # reverse sweep
    x_batch_bar = np.zeros((size, len(x_batch), x_batch.shape[1]))
    values_bar = np.reshape(np.eye(size), (size, len(x_batch), x_batch.shape[1])).copy()
    for i, x in enumerate(x_batch):
        x = x.copy()
        x_k_is_above_tape = []
        for k in range(1, x_batch.shape[1]):
            x_k_is_above = x[k] > x[k - 1]
            x_k_is_above_tape.append(x_k_is_above)
            if x_k_is_above:
                x[k] -= x[k - 1]
        x_bar = np.zeros((size, x_batch.shape[1]))
        # test_batch.py:103  return x
        x_bar += values_bar[:, i]
        for k in reversed(range(1, x_batch.shape[1])):
            if x_k_is_above_tape.pop():
                # test_batch.py:102  x[k] -= x[k - 1]
                x_bar[:, k - 1] -= x_bar[:, k]
        x_batch_bar[:, i] += x_bar
    jacobian = np.reshape(
        x_batch_bar, (len(x_batch), x_batch.shape[1], len(x_batch), x_batch.shape[1])
    )
    return jacobian
