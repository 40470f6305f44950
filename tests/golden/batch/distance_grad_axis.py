"""vmap: arrays have an axis of the samples in front."""

import math
import numpy as np


def distance_grad_batched(p, q_batch):
    difference = p - q_batch
    sqrt = np.sqrt(np.sum(difference**2, axis=-1))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return 2.0 * (np.where(sqrt != 0, 0.5 / sqrt, math.inf)[:, None] * difference)
