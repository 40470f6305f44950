"""vmap: a loop over the samples, as how='loop' says."""

import numpy as np


def solved_grad_batched(A_batch, b):
    A_bar_batch = np.zeros((len(A_batch), len(b), len(b)))
    b_bar_batch = np.zeros((len(A_batch), len(b)))
    for i, A in enumerate(A_batch):
        result = np.linalg.solve(A, b)
        # test_batch.py:162  return np.linalg.solve(A, b) @ b
        inner = np.linalg.solve(A.T, b)
        A_bar_batch[i] = -np.outer(inner, result)
        b_bar_batch[i] = result + inner
    return A_bar_batch, b_bar_batch
