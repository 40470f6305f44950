import numpy as np


def edges_jvp(image, image_dot):
    padded = np.pad(image, 1)
    pad = np.pad(image_dot, 1)
    across = padded[:, 1:] - padded[:, :-1]
    across_dot = pad[:, 1:] - pad[:, :-1]
    down = padded[1:] - padded[:-1]
    down_dot = pad[1:] - pad[:-1]
    total_dot = np.sum(2.0 * (across * across_dot)) + np.sum(2.0 * (down * down_dot))
    return np.sum(across**2) + np.sum(down**2), total_dot
