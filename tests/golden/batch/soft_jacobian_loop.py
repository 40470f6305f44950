"""vmap: a loop over the samples, as how='loop' says."""

import numpy as np


def soft_jacrev_batched(x_batch):
    values = np.zeros((len(x_batch), x_batch.shape[1], x_batch.shape[1]))
    for j, x in enumerate(x_batch):
        extremum = np.max(x)
        e = np.exp(x - extremum)
        total = np.sum(e)
        quotient = e / total
        jacobian = np.zeros((x_batch.shape[1], x_batch.shape[1]))
        for i in range(x_batch.shape[1]):
            quotient_bar = np.zeros_like(x)
            quotient_bar[i] = 1.0
            # test_batch.py:145  e = np.exp(x - np.max(x))
            e_bar = quotient_bar / total - np.sum(quotient / total * quotient_bar)
            difference_bar = e * e_bar
            x_is_equal = x == extremum
            quotient_1 = x_is_equal / np.count_nonzero(x_is_equal)
            jacobian[i] = difference_bar - np.sum(difference_bar) * quotient_1
        values[j] = jacobian
    return values
