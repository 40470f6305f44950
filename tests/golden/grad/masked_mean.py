import numpy as np


def masked_mean_grad(xs, threshold):
    # forward sweep
    kept = xs[xs > threshold]
    # reverse sweep
    xs_bar = np.zeros_like(xs)
    # programs.py  kept = xs[xs > threshold]
    xs_bar[xs > threshold] += 1 / len(kept)
    return xs_bar, 0.0
