import numpy as np


def structures_batched(p_w_batch, p_b, x_batch):
    line_batch = np.zeros((len(p_w_batch), len(x_batch)))
    count_batch = np.zeros(len(p_w_batch), np.int64)
    sum_batch = np.zeros(len(p_w_batch))
    for i, p_w in enumerate(p_w_batch):
        x = x_batch[:, i]
        line_batch[i] = p_w * x + p_b
        count_batch[i] = len(x_batch)
        sum_batch[i] = np.sum(x)
    return line_batch, count_batch, sum_batch
