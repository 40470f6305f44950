import numpy as np


def roughness_grad(series, width):
    series_bar = np.zeros_like(series)
    for i in range(len(series) - width + 1):
        mean = np.sum(series[i:i + width]) / width
        # programs.py  total += (series[i] - mean) ** 2
        difference_bar = 2.0 * (series[i] - mean)
        series_bar[i] += difference_bar
        # programs.py  mean = np.sum(series[i : i + width]) / width
        series_bar[i:i + width] -= difference_bar / width
    return series_bar
