from gradwright.transform.lowering.program import LengthsVary
import math
import numpy as np


def cholesky_grad(a):
    # forward sweep
    if a.shape[1] - len(a) < 0:
        raise LengthsVary(-1)
    low = np.zeros((len(a), len(a)))
    a_bar = np.zeros((len(a), a.shape[1]))
    low_bar_2 = np.zeros((len(a), len(a)))
    low_bar_3 = np.zeros((len(a), len(a)))
    sqrt_tape = np.empty(len(a))
    low_tape = np.empty(len(a))
    low_tape_1 = np.empty(len(a) * max(len(a) - 1, 0))
    sqrt_top = 0
    low_top = 0
    low_top_1 = 0
    for j in range(len(a)):
        total = np.float64(0.0)
        for i in range(j):
            total += low[j, i] ** 2
        s = a[j, j] - total
        sqrt = math.sqrt(s)
        sqrt_tape[sqrt_top] = sqrt
        sqrt_top += 1
        low_tape[low_top] = low[j, j]
        low_top += 1
        low[j, j] = sqrt
        for i in range(j + 1, len(a)):
            total = np.float64(0.0)
            for i_1 in range(j):
                total += low[i, i_1] * low[j, i_1]
            low_tape_1[low_top_1] = low[i, j]
            low_top_1 += 1
            low[i, j] = (a[i, j] - total) / low[j, j]
    # reverse sweep
    for i in range(len(a)):
        low_bar_3[i, i] = 1 / low[i, i]
    for i in range(len(a)):
        for j in range(len(a)):
            low_bar_2[i, j] += low_bar_3[i, j]
    for j in reversed(range(len(a))):
        for i in reversed(range(j + 1, len(a))):
            low_bar = low_bar_2[i, j]
            low_top_1 -= 1
            low_bar_2[i, j] = 0.0
            quotient = low[i, j]
            low[i, j] = low_tape_1[low_top_1]
            low_item = low[j, j]
            difference_bar = low_bar / low_item
            low_bar_2[j, j] -= quotient / low_item * low_bar
            for i_1 in range(j):
                low_bar_2[j, i_1] -= difference_bar * low[i, i_1]
            for i_1 in range(j):
                low_bar_2[i, i_1] -= difference_bar * low[j, i_1]
            a_bar[i, j] += difference_bar
        sqrt_top -= 1
        sqrt_1 = sqrt_tape[sqrt_top]
        low_top -= 1
        low_bar_1 = low_bar_2[j, j]
        low_bar_2[j, j] = 0.0
        s_bar = low_bar_1 * (0.5 / sqrt_1 if sqrt_1 != 0 else math.inf)
        low[j, j] = low_tape[low_top]
        for i in range(j):
            low_bar_2[j, i] -= 2.0 * s_bar * low[j, i]
        a_bar[j, j] += s_bar
    return a_bar
