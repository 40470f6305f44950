"""vmap: a loop over the samples, in parts where they meet."""

import numpy as np


def stepped_batched(x_batch):
    x_batch_1 = np.zeros(len(x_batch))
    for i, x in enumerate(x_batch):
        x_batch_1[i] = x
    for k in range(3):
        x_pmean = 0.0
        x_batch_2 = np.zeros(len(x_batch))
        for i in range(len(x_batch)):
            x = x_batch_1[i]
            x_batch_2[i] = x
            x_pmean += x
        mean = x_pmean / len(x_batch)
        k_is_positive = k > 0
        for i in range(len(x_batch)):
            if k_is_positive:
                x_batch_1[i] -= 0.5 * mean * x_batch_2[i]
            else:
                x_batch_1[i] += 0.1 * mean
    values = np.zeros(len(x_batch))
    for i in range(len(x_batch)):
        values[i] = x_batch_1[i]
    return values
