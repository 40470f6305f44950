import numpy as np


def roughness_jvp(series, width, series_dot):
    total = 0.0
    total_dot = 0.0
    for i in range(len(series) - width + 1):
        mean = np.sum(series[i:i + width]) / width
        mean_dot = np.sum(series_dot[i:i + width]) / width
        difference = series[i] - mean
        total_dot += 2.0 * difference * (series_dot[i] - mean_dot)
        total += difference**2
    return total, total_dot
