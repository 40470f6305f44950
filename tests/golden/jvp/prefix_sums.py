import numpy as np


def prefix_sums_jvp(x, x_dot):
    totals_dot = x_dot.copy()
    totals = x.copy()
    for i in range(1, len(x)):
        totals_dot[i] += totals_dot[i - 1]
        totals[i] += totals[i - 1]
    return np.sum(totals**2), np.sum(2.0 * (totals * totals_dot))
