import numpy as np


def inside_grad(w, xs):
    xs_bar = np.zeros_like(xs)
    values_bar = np.zeros(len(xs))
    values_bar += 1.0
    w_bar = np.zeros_like(w)
    for i, x in enumerate(xs):
        tanh = np.tanh(np.sum(w * x))
        # test_batch.py:115  return np.sum(gw.vmap(lambda x: np.tanh(np.sum(w * x))) ...
        total_bar = values_bar[i] * (1 - tanh * tanh)
        w_bar += x * total_bar
        xs_bar[i] += w * total_bar
    return w_bar, xs_bar
