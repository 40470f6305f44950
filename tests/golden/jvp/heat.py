import numpy as np


def heat_jvp(u, steps, u_dot):
    for _ in range(steps):
        u_part = u[1:-1]
        u_part_dot = u_dot[1:-1]
        bend = u[2:] - 2.0 * u_part + u[:-2]
        bend_dot = u_dot[2:] - 2.0 * u_part_dot + u_dot[:-2]
        inner = u_part + 0.2 * bend
        inner_dot = u_part_dot + 0.2 * bend_dot
        u_dot = np.concatenate((u_dot[:1], inner_dot, u_dot[-1:]))
        u = np.concatenate((u[:1], inner, u[-1:]))
    return np.sum(u**2), np.sum(2.0 * (u * u_dot))
