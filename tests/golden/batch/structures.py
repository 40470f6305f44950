import numpy as np


def structures_batched(p_w_batch, p_b, x_batch):
    values = np.zeros((len(p_w_batch), len(x_batch)))
    values_1 = np.zeros(len(p_w_batch), np.int64)
    values_2 = np.zeros(len(p_w_batch))
    for i, p_w in enumerate(p_w_batch):
        x = x_batch[:, i]
        values[i] = p_w * x + p_b
        values_1[i] = len(x_batch)
        values_2[i] = np.sum(x)
    return values, values_1, values_2
