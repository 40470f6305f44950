"""vmap: a loop over the samples, in parts where they meet."""

import numpy as np


def share_batched(x_batch):
    y_psum = 0.0
    y_batch = np.zeros(len(x_batch))
    for i, x in enumerate(x_batch):
        y = x * x
        y_batch[i] = y
        y_psum += y
    values = np.zeros(len(x_batch))
    for i in range(len(x_batch)):
        y = y_batch[i]
        values[i] = y / y_psum
    return values
