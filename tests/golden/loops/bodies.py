from gradwright.transform.lowering.program import LengthsVary
import math
import numpy as np


def bodies_grad(x, m):
    # forward sweep
    if len(x) - len(m) < 0:
        raise LengthsVary(-1)
    x_bar = np.zeros((len(x), x.shape[1]))
    d = np.empty(x.shape[1])
    d_bar = np.empty(x.shape[1])
    # reverse sweep
    for i in range(len(m)):
        for j in range(i):
            total = np.float64(0.0)
            for i_1 in range(x.shape[1]):
                d_1 = x[i, i_1] - x[j, i_1]
                d[i_1] = d_1
                total += d_1 * d_1
            sqrt = math.sqrt(total + 0.01)
            slope = 0.5 / sqrt if sqrt != 0 else math.inf
            total_bar = m[i] * m[j] / sqrt / sqrt * slope
            for i_1 in range(x.shape[1]):
                d_bar_1 = 2.0 * d[i_1] * total_bar
                d_bar[i_1] = d_bar_1
                x_bar[j, i_1] -= d_bar_1
            for i_1 in range(x.shape[1]):
                x_bar[i, i_1] += d_bar[i_1]
    return x_bar
