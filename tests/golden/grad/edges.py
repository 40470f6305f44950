import numpy as np


def edges_grad(image):
    # forward sweep
    padded = np.pad(image, 1)
    across = padded[:, 1:] - padded[:, :-1]
    down = padded[1:] - padded[:-1]
    # reverse sweep
    # programs.py  return np.sum(across**2) + np.sum(down**2)
    down_bar = 2.0 * down
    across_bar = 2.0 * across
    padded_bar = np.zeros_like(padded)
    # programs.py  down = np.diff(padded, axis=0)
    padded_bar[:-1] -= down_bar
    padded_bar[1:] += down_bar
    # programs.py  across = np.diff(padded, axis=1)
    padded_bar[:, :-1] -= across_bar
    padded_bar[:, 1:] += across_bar
    return padded_bar[1:len(image) + 1, 1:image.shape[1] + 1]
