import numpy as np


def smoothed_jvp(signal, weight, signal_dot, weight_dot):
    work_dot = signal_dot.copy()
    work = signal.copy()
    for i in range(1, len(signal) - 1):
        total = work[i - 1] - 2.0 * work[i] + work[i + 1]
        total_dot = work_dot[i - 1] - 2.0 * work_dot[i] + work_dot[i + 1]
        work_dot[i] += total * weight_dot + weight * total_dot
        work[i] += weight * total
    return np.sum(work**2), np.sum(2.0 * (work * work_dot))
