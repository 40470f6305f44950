import numpy as np


def relaxed_jvp(heat, sweeps, heat_dot):
    new_dot = np.zeros(len(heat))
    new = np.zeros(len(heat))
    old_dot = np.zeros(len(heat))
    old = np.zeros(len(heat))
    for _ in range(sweeps):
        new_dot[1:-1] = 0.5 * (old_dot[:-2] + old_dot[2:] + heat_dot[1:-1])
        new[1:-1] = 0.5 * (old[:-2] + old[2:] + heat[1:-1])
        new_dot, new, old_dot, old = old_dot, old, new_dot, new
    return np.sum(old**2), np.sum(2.0 * (old * old_dot))
