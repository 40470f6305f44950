import numpy as np


def prefix_sums(x):
    s = np.zeros(len(x) + 1)
    for k in range(len(x)):
        s[k + 1] = s[k] + x[k]
    return s
