import numpy as np


def diffusion_grad(u, rate, steps):
    # forward sweep
    u = u.copy()
    u_tape = []
    for _ in range(steps):
        u_tape.append(u[1:-1].copy())
        u[1:-1] += rate * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    # reverse sweep
    # programs.py  return np.sum(u**2)
    u_bar = 2.0 * u
    rate_bar = 0.0
    for _ in range(steps):
        # programs.py  u[1:-1] += rate * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u_bar_1 = u_bar[1:-1]
        u[1:-1] = u_tape.pop()
        rate_bar += np.sum(u_bar_1 * (u[2:] - 2.0 * u[1:-1] + u[:-2]))
        total_bar = rate * u_bar_1
        u_bar[:-2] += total_bar
        u_bar[1:-1] -= 2.0 * total_bar
        u_bar[2:] += total_bar
    return u_bar, float(rate_bar)
