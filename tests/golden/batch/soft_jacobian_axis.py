"""vmap: arrays have an axis of the samples in front."""

import numpy as np


def soft_jacrev_batched(x_batch):
    # forward sweep
    extremum = np.max(x_batch, axis=-1)[:, None]
    e = np.exp(x_batch - extremum)
    total = np.sum(e, axis=-1)[:, None]
    quotient = e / total
    # reverse sweep
    jacobian = np.zeros((len(x_batch), x_batch.shape[1], x_batch.shape[1]))
    for i in range(x_batch.shape[1]):
        quotient_bar = np.zeros_like(x_batch)
        quotient_bar[:, i] = 1.0
        # test_batch.py:145  e = np.exp(x - np.max(x))
        total_1 = np.sum(quotient / total * quotient_bar, axis=-1)[:, None]
        difference_bar = e * (quotient_bar / total - total_1)
        x_is_equal = x_batch == extremum
        quotient_1 = x_is_equal / np.count_nonzero(x_is_equal, axis=-1)[:, None]
        x_bar = difference_bar - np.sum(difference_bar, axis=-1)[:, None] * quotient_1
        jacobian[:, i] = x_bar
    return jacobian
