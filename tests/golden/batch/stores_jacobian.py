"""vmap: a loop over the samples: a branch in line 101 depends on the sample."""

import numpy as np


def stores_batched_jacrev(x_batch):
    # forward sweep
    for x in x_batch:
        x = x.copy()
        for k in range(1, x_batch.shape[1]):
            if x[k] > x[k - 1]:
                x[k] -= x[k - 1]
    # reverse sweep
    jacobian = np.zeros(
        (len(x_batch), x_batch.shape[1], len(x_batch), x_batch.shape[1])
    )
    for j in range(len(x_batch)):
        for l in range(x_batch.shape[1]):
            values_bar = np.zeros_like(x_batch)
            values_bar[j, l] = 1.0
            x_batch_bar = np.zeros_like(x_batch)
            values_bar_1 = values_bar.copy()
            for i, x in enumerate(x_batch):
                x = x.copy()
                x_k_is_above_tape = []
                for k in range(1, x_batch.shape[1]):
                    x_k_is_above = x[k] > x[k - 1]
                    x_k_is_above_tape.append(x_k_is_above)
                    if x_k_is_above:
                        x[k] -= x[k - 1]
                x_bar = np.zeros(x_batch.shape[1])
                # test_batch.py:103  return x
                x_bar += values_bar_1[i]
                for k in reversed(range(1, x_batch.shape[1])):
                    if x_k_is_above_tape.pop():
                        # test_batch.py:102  x[k] -= x[k - 1]
                        x_bar[k - 1] -= x_bar[k]
                x_batch_bar[i] += x_bar
            jacobian[j, l] = x_batch_bar
    return jacobian
