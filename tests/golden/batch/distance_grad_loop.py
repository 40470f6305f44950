"""vmap: a loop over the samples, as how='loop' says."""

import math
import numpy as np


def distance_grad_batched(p, q_batch):
    p_bar_batch = np.zeros((len(q_batch), len(p)))
    for i, q in enumerate(q_batch):
        difference = p - q
        sqrt = np.sqrt(np.sum(difference**2))
        p_bar_batch[i] = 2.0 * ((0.5 / sqrt if sqrt != 0 else math.inf) * difference)
    return p_bar_batch
