"""vmap: a loop over the samples, as how='loop' says."""

import numpy as np


def loss_grad_batched(W, b, v, x_batch, y_batch):
    W_bar_batch = np.zeros((len(x_batch), len(W), x_batch.shape[1]))
    b_bar_batch = np.zeros((len(x_batch), len(W)))
    v_bar_batch = np.zeros((len(x_batch), len(W)))
    for i in range(len(x_batch)):
        x = x_batch[i]
        y = y_batch[i]
        tanh = np.tanh(W @ x + b)
        # test_batch.py:141  return (v @ layer(W, b, x) - y) ** 2
        difference_bar = 2.0 * (v @ tanh - y)
        # test_batch.py:137  return np.tanh(W @ x + b)
        b_bar = difference_bar * v * (1 - tanh * tanh)
        W_bar_batch[i] = np.outer(b_bar, x)
        b_bar_batch[i] = b_bar
        v_bar_batch[i] = difference_bar * tanh
    return W_bar_batch, b_bar_batch, v_bar_batch
