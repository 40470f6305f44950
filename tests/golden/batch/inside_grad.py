import numpy as np


def inside_grad(w, xs):
    # forward sweep
    tanh = np.tanh(np.sum(w * xs, axis=-1))
    # reverse sweep
    # test_batch.py:115  return np.sum(gw.vmap(lambda x: np.tanh(np.sum(w * x)))(xs))
    total_bar = (1 - tanh * tanh)[:, None]
    return np.sum(xs * total_bar, axis=0), w * total_bar
