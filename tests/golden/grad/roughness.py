import numpy as np


def roughness_grad(series, width):
    # forward sweep
    for i in range(len(series) - width + 1):
        series[i:i + width]
        series[i]
    # reverse sweep
    series_bar = np.zeros_like(series)
    for i in range(len(series) - width + 1):
        mean = np.sum(series[i:i + width]) / width
        # programs.py  total += (series[i] - mean) ** 2
        by_base = 2 * (series[i] - mean)
        series_bar[i] += by_base
        # programs.py  mean = np.sum(series[i : i + width]) / width
        series_bar[i:i + width] -= by_base / width
    return series_bar
