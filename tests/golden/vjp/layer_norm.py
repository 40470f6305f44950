import numpy as np


def layer_norm_forward(x, gain, bias):
    centred = x - np.mean(x, axis=-1, keepdims=True)
    variance = np.mean(centred**2, axis=-1, keepdims=True)
    sqrt = np.sqrt(variance + 1e-05)
    quotient = gain * centred / sqrt
    return quotient + bias, sqrt, quotient, centred


import math
import numpy as np


def layer_norm_backward(sqrt, quotient, centred, x, gain, total_bar):
    # programs.py  return gain * centred / np.sqrt(variance + 1e-5) + bias
    product_bar = total_bar / sqrt
    # programs.py  centred = x - np.mean(x, axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        sum_to = np.sum(quotient / sqrt * total_bar, axis=1, keepdims=True)
        quotient_1 = sum_to * np.where(sqrt != 0, 0.5 / sqrt, math.inf) / x.shape[1]
        centred_bar = gain * product_bar - 2.0 * (quotient_1 * centred)
    x_bar = centred_bar - np.sum(centred_bar, axis=1, keepdims=True) / x.shape[1]
    return x_bar, np.sum(centred * product_bar, axis=0), np.sum(total_bar, axis=0)
