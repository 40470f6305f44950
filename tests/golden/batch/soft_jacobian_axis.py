"""jacrev: cotangents have an axis of the rows in front.
vmap: arrays have an axis of the samples in front."""

import numpy as np


def soft_jacrev_batched(x_batch):
    # forward sweep
    extremum = np.max(x_batch, axis=-1)[:, None]
    e = np.exp(x_batch - extremum)
    total = np.sum(e, axis=-1)
    total_1 = total[:, None]
    # reverse sweep
    # test_batch.py:145  e = np.exp(x - np.max(x))
    quotient = np.eye(x_batch.shape[1]) / total[:, None, None]
    difference_bar = e[:, None] * (quotient - (e / total_1 / total_1)[:, :, None])
    x_is_equal = x_batch == extremum
    quotient_1 = (x_is_equal / np.count_nonzero(x_is_equal, axis=-1)[:, None])[:, None]
    return difference_bar - np.sum(difference_bar, axis=-1)[:, :, None] * quotient_1
