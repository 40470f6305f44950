import math
import numpy as np


def log_determinant_grad(a):
    # forward sweep
    factor = np.zeros((len(a), len(a)))
    factor_tape_1 = []
    factor_tape = []
    for i in range(len(a)):
        for j in range(i + 1):
            rest = a[i, j] - np.dot(factor[i, :j], factor[j, :j])
            if i == j:
                factor_tape.append(factor[i, i])
                factor[i, i] = np.sqrt(rest)
            else:
                factor_tape_1.append(factor[i, j])
                factor[i, j] = rest / factor[j, j]
    # reverse sweep
    a_bar = np.zeros_like(a)
    # programs.py  return 2.0 * np.sum(np.log(np.diag(factor)))
    factor_bar = np.diag(2.0 * (1 / np.diag(factor)))
    for i in reversed(range(len(a))):
        for j in reversed(range(i + 1)):
            if i == j:
                # programs.py  factor[i, i] = np.sqrt(rest)
                sqrt = factor[i, i]
                factor_bar_1 = factor_bar[i, i]
                factor_bar[i, i] = 0.0
                rest_bar = factor_bar_1 * (0.5 / sqrt if sqrt != 0 else math.inf)
                factor[i, i] = factor_tape.pop()
            else:
                # programs.py  factor[i, j] = rest / factor[j, j]
                factor_bar_2 = factor_bar[i, j]
                factor_bar[i, j] = 0.0
                quotient = factor[i, j]
                factor[i, j] = factor_tape_1.pop()
                factor_item = factor[j, j]
                rest_bar = factor_bar_2 / factor_item
                factor_bar[j, j] -= quotient / factor_item * factor_bar_2
            # programs.py  rest = a[i, j] - np.dot(factor[i, :j], factor[j, :j])
            factor_bar[j, :j] -= rest_bar * factor[i, :j]
            factor_bar[i, :j] -= rest_bar * factor[j, :j]
            a_bar[i, j] += rest_bar
    return a_bar
