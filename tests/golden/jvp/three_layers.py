import numpy as np


def three_layers_jvp(
    x,
    y,
    W1,
    b1,
    W2,
    b2,
    W3,
    b3,
    x_dot,
    y_dot,
    W1_dot,
    b1_dot,
    W2_dot,
    b2_dot,
    W3_dot,
    b3_dot,
):
    h1 = np.tanh(x @ W1 + b1)
    h1_dot = (1 - h1 * h1) * (x_dot @ W1 + x @ W1_dot + b1_dot)
    h2 = np.tanh(h1 @ W2 + b2)
    h2_dot = (1 - h2 * h2) * (h1_dot @ W2 + h1 @ W2_dot + b2_dot)
    error = h2 @ W3 + b3 - y
    error_dot = h2_dot @ W3 + h2 @ W3_dot + b3_dot - y_dot
    return np.mean(error**2), np.sum(2.0 * (error * error_dot)) / len(x)
