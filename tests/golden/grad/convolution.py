import numpy as np


def convolution_grad(signal, kernel):
    # forward sweep
    out = np.zeros(len(signal) - len(kernel) + 1)
    for k in range(len(kernel)):
        out = out + kernel[k] * signal[k:k + len(signal) - len(kernel) + 1]
    # reverse sweep
    signal_bar = np.zeros_like(signal)
    kernel_bar = np.zeros_like(kernel)
    # programs.py  return np.sum(out**2)
    out_bar = 2.0 * out
    for k in reversed(range(len(kernel))):
        # programs.py  out = out + kernel[k] * signal[k : k + n]
        signal_bar[k:k + len(signal) - len(kernel) + 1] += out_bar * kernel[k]
        kernel_bar[k] += np.sum(out_bar * signal[k:k + len(signal) - len(kernel) + 1])
    return signal_bar, kernel_bar
