import math
import numpy as np


def log_determinant_jvp(a, a_dot):
    factor_dot = np.zeros((len(a), len(a)))
    factor = np.zeros((len(a), len(a)))
    for i in range(len(a)):
        for j in range(i + 1):
            factor_part = factor[i, :j]
            factor_part_1 = factor[j, :j]
            rest = a[i, j] - np.dot(factor_part, factor_part_1)
            dot = np.dot(factor_dot[i, :j], factor_part_1)
            rest_dot = a_dot[i, j] - (dot + np.dot(factor_part, factor_dot[j, :j]))
            if i == j:
                sqrt = np.sqrt(rest)
                factor_dot[i, i] = (0.5 / sqrt if sqrt != 0 else math.inf) * rest_dot
                factor[i, i] = sqrt
            else:
                factor_item = factor[j, j]
                quotient = rest / factor_item
                product = quotient / factor_item * factor_dot[j, j]
                factor_dot[i, j] = rest_dot / factor_item - product
                factor[i, j] = quotient
    diag = np.diag(factor)
    return 2.0 * np.sum(np.log(diag)), 2.0 * np.sum(np.diag(factor_dot) / diag)
