from gradwright.transform.lowering.program import LengthsVary
import numpy as np


def durbin(r):
    if len(r) - 1 < 0:
        raise LengthsVary(-1)
    y = np.zeros(len(r))
    total_1 = np.empty(len(r) - 1)
    r_0 = r[0]
    alpha = -r_0
    beta = 1.0
    y[0] = -r_0
    for k in range(1, len(r)):
        beta = (1.0 - alpha * alpha) * beta
        total = np.float64(0.0)
        for i in range(k):
            total += r[k - i - 1] * y[i]
        alpha = -(r[k] + total) / beta
        for i in range(k):
            total_1[i] = y[i] + alpha * y[k - i - 1]
        for i in range(k):
            y[i] = total_1[i]
        y[k] = alpha
    return y
