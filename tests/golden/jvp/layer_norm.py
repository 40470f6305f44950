import math
import numpy as np


def layer_norm_jvp(x, gain, bias, x_dot, gain_dot, bias_dot):
    centred = x - np.mean(x, axis=-1, keepdims=True)
    centred_dot = x_dot - np.sum(x_dot, axis=-1, keepdims=True) / x.shape[1]
    variance = np.mean(centred**2, axis=-1, keepdims=True)
    power_dot = 2.0 * (centred * centred_dot)
    variance_dot = np.sum(power_dot, axis=-1, keepdims=True) / x.shape[1]
    sqrt = np.sqrt(variance + 1e-05)
    quotient = gain * centred / sqrt
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        sqrt_dot = np.where(sqrt != 0, 0.5 / sqrt, math.inf) * variance_dot
        quotient_1 = (centred * gain_dot + gain * centred_dot) / sqrt
        return quotient + bias, quotient_1 - quotient / sqrt * sqrt_dot + bias_dot
