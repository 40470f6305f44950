import numpy as np


def three_layers_grad(x, y, W1, b1, W2, b2, W3, b3):
    # forward sweep
    h1 = np.tanh(x @ W1 + b1)
    h2 = np.tanh(h1 @ W2 + b2)
    error = h2 @ W3 + b3 - y
    # reverse sweep
    # programs.py  return np.mean(error**2)
    error_bar = 2.0 * (error / len(x))
    # programs.py  h2 = np.tanh(h1 @ W2 + b2)
    total_bar = np.outer(error_bar, W3) * (1 - h2 * h2)
    # programs.py  h1 = np.tanh(x @ W1 + b1)
    total_bar_1 = total_bar @ W2.T * (1 - h1 * h1)
    b1_bar = np.sum(total_bar_1, axis=0)
    b2_bar = np.sum(total_bar, axis=0)
    b3_bar = float(np.sum(error_bar))
    x_bar = total_bar_1 @ W1.T
    W1_bar = x.T @ total_bar_1
    W2_bar = h1.T @ total_bar
    return x_bar, -error_bar, W1_bar, b1_bar, W2_bar, b2_bar, h2.T @ error_bar, b3_bar
