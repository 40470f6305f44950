import numpy as np


def relaxed_grad(heat, sweeps):
    # forward sweep
    new = np.zeros(len(heat))
    old = np.zeros(len(heat))
    for _ in range(sweeps):
        new[1:-1] = 0.5 * (old[:-2] + old[2:] + heat[1:-1])
        new, old = old, new
    # reverse sweep
    heat_bar = np.zeros_like(heat)
    new_bar = np.zeros(len(heat))
    # programs.py  return np.sum(old**2)
    old_bar = 2.0 * old
    for _ in range(sweeps):
        # programs.py  new, old = old, new
        new_bar, old_bar = old_bar, new_bar
        # programs.py  new[1:-1] = 0.5 * (old[:-2] + old[2:] + heat[1:-1])
        new_bar_1 = new_bar[1:-1].copy()
        new_bar[1:-1] = 0.0
        total_bar = 0.5 * new_bar_1
        heat_bar[1:-1] += total_bar
        old_bar[2:] += total_bar
        old_bar[:-2] += total_bar
    return heat_bar
