import numpy as np


def leaky_grad(x, slope):
    # forward sweep
    y = x.copy()
    y_is_negative = y < 0.0
    y_part = y[y_is_negative]
    y[y_is_negative] = y_part * slope
    x_part = x[x > 1.0]
    y[x > 1.0] = 1.0 + np.log(x_part)
    # reverse sweep
    # programs.py  return np.sum(y * y)
    y_bar = 2.0 * y
    # programs.py  y[x > 1.0] = 1.0 + np.log(x[x > 1.0])
    x_is_above = x > 1.0
    y_bar_1 = y_bar[x_is_above]
    y_bar[x_is_above] = 0.0
    # programs.py  y[y < 0.0] *= slope
    y_bar_2 = y_bar[y_is_negative]
    y_bar[y_is_negative] = slope * y_bar_2
    # programs.py  y = x.copy()
    x_bar = y_bar.copy()
    # programs.py  y[x > 1.0] = 1.0 + np.log(x[x > 1.0])
    x_bar[x_is_above] += y_bar_1 / x_part
    return x_bar, float(np.sum(y_part * y_bar_2))
