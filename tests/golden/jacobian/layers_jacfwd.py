"""jacfwd: tangents have an axis of the columns in front."""

import numpy as np


def layers_jacfwd(W, V, x):
    tanh = np.tanh(W @ np.sin(x))
    return V @ ((1 - tanh * tanh) * (np.cos(x)[:, None] * W.T)).T
