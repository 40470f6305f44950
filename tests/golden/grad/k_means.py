import numpy as np


def k_means_grad(points, centres):
    # forward sweep
    offset = points[:, None] - centres[None]
    distance = np.sum(offset**2, axis=2)
    # reverse sweep
    # programs.py  return np.sum(np.min(distance, axis=1))
    distance_is_equal = distance == np.min(distance, axis=1)[:, None]
    # programs.py  distance = np.sum(offset**2, axis=2)
    count_nonzero = np.count_nonzero(distance_is_equal, axis=1, keepdims=True)
    offset_bar = 2.0 * ((distance_is_equal / count_nonzero)[..., None] * offset)
    return np.sum(offset_bar, axis=1), -np.sum(offset_bar, axis=0)
