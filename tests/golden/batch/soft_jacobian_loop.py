"""jacrev: cotangents have an axis of the rows in front.
vmap: a loop over the samples, as how='loop' says."""

import numpy as np


def soft_jacrev_batched(x_batch):
    values = np.zeros((len(x_batch), x_batch.shape[1], x_batch.shape[1]))
    for i, x in enumerate(x_batch):
        extremum = np.max(x)
        e = np.exp(x - extremum)
        total = np.sum(e)
        # test_batch.py:145  e = np.exp(x - np.max(x))
        e_bar = np.eye(x_batch.shape[1]) / total - (e / total / total)[:, None]
        difference_bar = e * e_bar
        x_is_equal = x == extremum
        total_1 = np.sum(difference_bar, axis=-1)[:, None]
        product = total_1 * (x_is_equal / np.count_nonzero(x_is_equal))
        values[i] = difference_bar - product
    return values
