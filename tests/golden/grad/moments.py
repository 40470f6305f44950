import math
import numpy as np


def moments_grad(xs, ws):
    xs_bar = np.zeros_like(xs)
    ws_bar = np.zeros_like(ws)
    for i in range(min(len(xs), len(ws))):
        x = xs[i]
        w = ws[i]
        power = x ** (i + 1)
        # programs.py  total += w * x**k
        by_base = (i + 1) * x ** i if i + 1 >= 1 else (i + 1) * (power / x
            ) if i + 1 < 0 else (i + 1) * (power / x
            ) if x != 0 else 0.0 if i + 1 == 0 else math.inf
        ws_bar[i] += power
        xs_bar[i] += w * by_base
    return xs_bar, ws_bar
