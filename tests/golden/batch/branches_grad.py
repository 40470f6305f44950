"""vmap: a loop over the samples: a branch in line 91 depends on the sample."""

import numpy as np


def branches_grad_batched(u_batch, scale):
    u_bar_batch = np.zeros(len(u_batch))
    for i, u in enumerate(u_batch):
        if not u < 0.0:
            y = u * scale
            trips = 0
            while y > 1.0:
                trips += 1
                y = 0.5 * y
            trips_1 = trips
        if u < 0.0:
            # test_batch.py:92  return -u
            u_bar = -1.0
        else:
            # test_batch.py:96  return y
            y_bar = 1.0
            for _ in range(trips_1):
                # test_batch.py:95  y = 0.5 * y
                y_bar = 0.5 * y_bar
            # test_batch.py:93  y = u * scale
            u_bar = scale * y_bar
        u_bar_batch[i] = u_bar
    return u_bar_batch
