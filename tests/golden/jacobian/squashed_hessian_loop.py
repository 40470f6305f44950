import numpy as np


def squashed_hessian(W, x):
    sin = np.sin(x)
    tanh = np.tanh(W @ sin)
    difference = 1 - tanh * tanh
    transpose = W.T
    sin_bar = transpose @ (2.0 * (tanh * difference))
    cos = np.cos(x)
    hessian = np.zeros((W.shape[1], len(x)))
    for i in range(len(x)):
        x_dot = np.zeros_like(x)
        x_dot[i] = 1.0
        tanh_dot = difference * (W @ (cos * x_dot))
        product_dot = difference * tanh_dot - 2.0 * (tanh * (tanh * tanh_dot))
        sin_bar_dot = transpose @ (2.0 * product_dot)
        hessian[:, i] = cos * sin_bar_dot - sin_bar * (sin * x_dot)
    return hessian
