from gradwright.transform.lowering.program import LengthsVary
import math
import numpy as np


def softmax_grad(x):
    # forward sweep
    if x.shape[1] - 1 < 0:
        raise LengthsVary(-1)
    extremum_1 = np.empty((len(x), 1))
    e = np.empty((len(x), x.shape[1]))
    total_1 = np.empty((len(x), 1))
    p = np.empty((len(x), x.shape[1]))
    p_bar = np.zeros((len(x), x.shape[1]))
    sum_to_1 = np.empty((len(x), 1))
    x_is_equal = np.empty((len(x), x.shape[1]), np.bool)
    count_nonzero_1 = np.empty((len(x), 1), np.int64)
    x_bar = np.empty((len(x), x.shape[1]))
    for i in range(len(x)):
        for j in range(1):
            extremum = np.float64(-math.inf)
            for k in range(x.shape[1]):
                extremum = np.maximum(extremum, x[i, k])
            extremum_1[i, j] = extremum
    for i in range(len(x)):
        for j in range(x.shape[1]):
            e[i, j] = np.exp(x[i, j] - extremum_1[i, 0])
    for i in range(len(x)):
        for j in range(1):
            total = np.float64(0.0)
            for k in range(x.shape[1]):
                total += e[i, k]
            total_1[i, j] = total
    # reverse sweep
    for i in range(len(x)):
        for j in range(x.shape[1]):
            p[i, j] = e[i, j] / total_1[i, 0]
    for i in range(len(x)):
        p_bar[i, 0] -= 1 / p[i, 0]
    for i in range(len(x)):
        for j in range(1):
            sum_to = np.float64(0.0)
            for k in range(x.shape[1]):
                sum_to += p[i, k] / total_1[i, 0] * p_bar[i, k]
            sum_to_1[i, j] = sum_to
    for i in range(len(x)):
        for j in range(x.shape[1]):
            p[i, j] = e[i, j] * (p_bar[i, j] / total_1[i, 0] - sum_to_1[i, 0])
            x_is_equal[i, j] = x[i, j] == extremum_1[i, 0]
    for i in range(len(x)):
        for j in range(1):
            sum_to = np.float64(0.0)
            for k in range(x.shape[1]):
                sum_to += p[i, k]
            extremum_1[i, j] = sum_to
            count_nonzero = np.int64(0)
            for k in range(x.shape[1]):
                count_nonzero += np.int64(x_is_equal[i, k])
            count_nonzero_1[i, j] = count_nonzero
    for i in range(len(x)):
        for j in range(x.shape[1]):
            product = extremum_1[i, 0] * x_is_equal[i, j] / count_nonzero_1[i, 0]
            x_bar[i, j] = p[i, j] - product
    return x_bar
