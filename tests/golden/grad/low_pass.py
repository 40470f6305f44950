import numpy as np


def low_pass_grad(signal, cut):
    # forward sweep
    spectrum = np.fft.rfft(signal)
    arange_is_below = np.arange(len(spectrum)) <= cut
    kept = np.where(arange_is_below, spectrum, 0.0)
    # reverse sweep
    # programs.py  return np.sum((signal - np.fft.irfft(kept, len(signal))) ** 2)
    difference_bar = 2.0 * (signal - np.fft.irfft(kept, n=len(signal)))
    rfft = np.fft.rfft(-difference_bar, norm="forward")
    k = np.arange(len(rfft))
    found = np.conjugate(rfft) * np.where((k == 0) | (2 * k == len(signal)), 1.0, 2.0)
    zeros_part = np.pad(found, ((0, len(spectrum)),))[:len(spectrum)]
    spectrum_bar = np.where(arange_is_below, zeros_part, 0.0)
    return difference_bar + np.fft.fft(spectrum_bar, n=len(signal)).real
