"""vmap: arrays have an axis of the samples in front."""

import numpy as np


def loss_grad_batched(W, b, v, x_batch, y_batch):
    # forward sweep
    tanh = np.tanh(x_batch @ W.T + b)
    # reverse sweep
    # test_batch.py:141  return (v @ layer(W, b, x) - y) ** 2
    difference_bar = (2.0 * (tanh @ v - y_batch))[:, None]
    # test_batch.py:137  return np.tanh(W @ x + b)
    b_bar = difference_bar * v * (1 - tanh * tanh)
    return b_bar[..., None] * x_batch[:, None], b_bar, difference_bar * tanh
