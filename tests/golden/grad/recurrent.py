import numpy as np


def recurrent_grad(xs, W):
    # forward sweep
    h = np.zeros(len(W))
    h_tape = []
    for x in xs:
        h_tape.append(h)
        h = np.tanh(W @ h + x)
    # reverse sweep
    xs_bar = np.zeros_like(xs)
    # programs.py  return np.sum(h**2)
    h_bar = 2.0 * h
    W_bar = np.zeros_like(W)
    for i in reversed(range(len(xs))):
        # programs.py  h = np.tanh(W @ h + x)
        total_bar = h_bar * (1 - h * h)
        h = h_tape.pop()
        W_bar += np.outer(total_bar, h)
        h_bar = W.T @ total_bar
        # programs.py  for x in xs:
        xs_bar[i] += total_bar
    return xs_bar, W_bar
