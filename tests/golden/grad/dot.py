import numpy as np


def dot_grad(u, v):
    u_bar = np.zeros_like(u)
    v_bar = np.zeros_like(v)
    for i in range(len(u)):
        # programs.py  total += u[i] * v[i]
        v_bar[i] += u[i]
        u_bar[i] += v[i]
    return u_bar, v_bar
