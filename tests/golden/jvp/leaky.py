import numpy as np


def leaky_jvp(x, slope, x_dot, slope_dot):
    y_dot = x_dot.copy()
    y = x.copy()
    y_is_negative = y < 0.0
    y_part = y[y_is_negative]
    y_dot[y_is_negative] = slope * y_dot[y_is_negative] + y_part * slope_dot
    y[y_is_negative] = y_part * slope
    x_is_above = x > 1.0
    x_part = x[x_is_above]
    x_is_above_1 = x > 1.0
    y_dot[x_is_above_1] = x_dot[x_is_above] / x_part
    y[x_is_above_1] = 1.0 + np.log(x_part)
    return np.sum(y * y), np.sum(2.0 * (y * y_dot))
