"""vmap: a loop over the samples, in parts where they meet."""

import numpy as np


def share_grad_batched(x_batch):
    # forward sweep
    y_psum = 0.0
    y_batch = np.zeros(len(x_batch))
    for i, x in enumerate(x_batch):
        y = x * x
        y_batch[i] = y
        y_psum += y
    total_bar = 0.0
    for i in range(len(x_batch)):
        y = y_batch[i]
        total_bar -= y / y_psum / y_psum
    # reverse sweep
    # test_fission.py:22  y = x * x
    y_bar = 1 / y_psum + total_bar
    x_bar_batch = np.zeros(len(x_batch))
    for i, x in enumerate(x_batch):
        x_bar_batch[i] = 2.0 * x * y_bar
    return x_bar_batch
