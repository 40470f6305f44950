import numpy as np


def diffusion_jvp(u, rate, steps, u_dot, rate_dot):
    u_dot = u_dot.copy()
    u = u.copy()
    for _ in range(steps):
        total = u[2:] - 2.0 * u[1:-1] + u[:-2]
        total_dot = u_dot[2:] - 2.0 * u_dot[1:-1] + u_dot[:-2]
        u_dot[1:-1] += total * rate_dot + rate * total_dot
        u[1:-1] += rate * total
    return np.sum(u**2), np.sum(2.0 * (u * u_dot))
