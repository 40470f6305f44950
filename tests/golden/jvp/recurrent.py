import numpy as np


def recurrent_jvp(xs, W, xs_dot, W_dot):
    h = np.zeros(len(W))
    h_dot = np.zeros_like(h)
    for x, x_dot in zip(xs, xs_dot):
        tanh = np.tanh(W @ h + x)
        h_dot = (1 - tanh * tanh) * (W_dot @ h + W @ h_dot + x_dot)
        h = tanh
    return np.sum(h**2), np.sum(2.0 * (h * h_dot))
