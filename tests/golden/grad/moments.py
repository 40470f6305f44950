import math
import numpy as np


def moments_grad(xs, ws):
    xs_bar = np.zeros_like(xs)
    ws_bar = np.zeros_like(ws)
    for i in range(min(len(xs), len(ws))):
        x = xs[i]
        w = ws[i]
        if i + 1 >= 1 or x != 0:
            # programs.py  total += w * x**k
            by_x = (i + 1) * x**i
        else:
            by_x = (i + 1) * math.inf if i + 1 != 0 else 0.0
        ws_bar[i] += x ** (i + 1)
        xs_bar[i] += w * by_x
    return xs_bar, ws_bar
