import numpy as np


def low_pass_jvp(signal, cut, signal_dot):
    spectrum = np.fft.rfft(signal)
    arange_is_below = np.arange(len(spectrum)) <= cut
    kept = np.where(arange_is_below, spectrum, 0.0)
    kept_dot = np.where(arange_is_below, np.fft.rfft(signal_dot), 0.0)
    difference = signal - np.fft.irfft(kept, n=len(signal))
    difference_dot = signal_dot - np.fft.irfft(kept_dot, n=len(signal))
    return np.sum(difference**2), np.sum(2.0 * (difference * difference_dot))
