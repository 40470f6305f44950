import numpy as np


def masked_mean_jvp(xs, threshold, xs_dot, threshold_dot):
    xs_is_above = xs > threshold
    kept = xs[xs_is_above]
    return np.mean(kept), np.sum(xs_dot[xs_is_above]) / len(kept)
