import numpy as np


def gauss_seidel_jvp(u, sweeps, u_dot):
    u_dot = u_dot.copy()
    u_1 = u.copy()
    for _ in range(sweeps):
        for i in range(1, len(u) - 1):
            u_dot[i] = 0.5 * (u_dot[i - 1] + u_dot[i + 1])
            u_1[i] = 0.5 * (u_1[i - 1] + u_1[i + 1])
    return np.sum(u_1 * u_1), np.sum(2.0 * (u_1 * u_dot))
