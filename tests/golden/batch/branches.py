"""vmap: a loop over the samples: a branch in line 91 depends on the sample."""

import numpy as np


def branches_batched(u_batch, scale):
    values = np.zeros(len(u_batch))
    for i, u in enumerate(u_batch):
        if u < 0.0:
            result = -u
        else:
            y = u * scale
            while y > 1.0:
                y = 0.5 * y
            result = y
        values[i] = result
    return values
