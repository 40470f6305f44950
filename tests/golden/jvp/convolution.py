import numpy as np


def convolution_jvp(signal, kernel, signal_dot, kernel_dot):
    out = np.zeros(len(signal) - len(kernel) + 1)
    out_dot = np.zeros_like(out)
    for k in range(len(kernel)):
        kernel_k = kernel[k]
        signal_part = signal[k:k + len(signal) - len(kernel) + 1]
        signal_part_dot = signal_dot[k:k + len(signal) - len(kernel) + 1]
        out_dot = out_dot + (signal_part * kernel_dot[k] + kernel_k * signal_part_dot)
        out = out + kernel_k * signal_part
    return np.sum(out**2), np.sum(2.0 * (out * out_dot))
