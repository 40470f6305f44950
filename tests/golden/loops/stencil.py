from gradwright.transform.lowering.program import LengthsVary
import numpy as np


def stencil_grad(u, steps):
    # forward sweep
    if len(u) - 3 < 0:
        raise LengthsVary(-1)
    if u.shape[1] - 3 < 0:
        raise LengthsVary(-2)
    u_1 = np.empty((len(u), u.shape[1]))
    v = np.empty((len(u), u.shape[1]))
    u_bar = np.zeros((len(u), u.shape[1]))
    v_bar = np.zeros((len(u), u.shape[1]))
    product_bar_padded = np.zeros((len(u) + 2, u.shape[1] + 2))
    u_bar_2 = np.empty((len(u), u.shape[1]))
    # reverse sweep
    for i in range(len(u)):
        for j in range(u.shape[1]):
            u_ij = u[i, j]
            u_1[i, j] = u_ij
            v[i, j] = u_ij
    for _ in range(steps):
        for i in range(len(u) - 2):
            for j in range(u.shape[1] - 2):
                total = u_1[i, j + 1] + u_1[i + 2, j + 1] + u_1[i + 1, j]
                v[i + 1, j + 1] = 0.25 * (total + u_1[i + 1, j + 2])
        for i in range(len(u)):
            for j in range(u.shape[1]):
                u_2 = u_1[i, j]
                u_1[i, j] = v[i, j]
                v[i, j] = u_2
    for i in range(len(u)):
        for j in range(u.shape[1]):
            u_bar[i, j] += 2.0 * u_1[i, j]
    for _ in range(steps):
        for i in range(len(u)):
            for j in range(u.shape[1]):
                u_bar_1 = u_bar[i, j]
                u_bar[i, j] = v_bar[i, j]
                v_bar[i, j] = u_bar_1
        for i in range(len(u) - 2):
            for j in range(u.shape[1] - 2):
                v_bar_1 = v_bar[i + 1, j + 1]
                v_bar[i + 1, j + 1] = 0.0
                product_bar_padded[i + 2, j + 2] = 0.25 * v_bar_1
        for i in range(len(u)):
            for j in range(u.shape[1]):
                product_bar = product_bar_padded[i + 1, j + 2]
                total_1 = product_bar_padded[i + 1, j] + product_bar
                product_bar_1 = product_bar_padded[i + 2, j + 1]
                u_bar[i, j] += total_1 + product_bar_padded[i, j + 1] + product_bar_1
    for i in range(len(u)):
        for j in range(u.shape[1]):
            u_bar_2[i, j] = v_bar[i, j] + u_bar[i, j]
    return u_bar_2
