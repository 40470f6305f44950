import numpy as np


def heat_grad(u, steps):
    # forward sweep
    u_1 = u
    for _ in range(steps):
        u_part = u_1[1:-1]
        bend = u_1[2:] - 2.0 * u_part + u_1[:-2]
        inner = u_part + 0.2 * bend
        u_1 = np.concatenate((u_1[:1], inner, u_1[-1:]))
    # reverse sweep
    # programs.py  return np.sum(u**2)
    u_bar = 2.0 * u_1
    for _ in range(steps):
        # programs.py  u = np.concatenate((u[:1], inner, u[-1:]))
        concatenate_bar_part = u_bar[1:len(u) - 1]
        u_bar_1 = np.zeros_like(u)
        u_bar_1[-1:] += u_bar[len(u) - 1:]
        u_bar_1[:1] += u_bar[:1]
        # programs.py  inner = u[1:-1] + 0.2 * bend
        bend_bar = 0.2 * concatenate_bar_part
        # programs.py  bend = u[2:] - 2.0 * u[1:-1] + u[:-2]
        u_bar_1[:-2] += bend_bar
        u_bar_1[1:-1] += concatenate_bar_part - 2.0 * bend_bar
        u_bar_1[2:] += bend_bar
        u_bar = u_bar_1
    return u_bar
