import numpy as np


def waves_jacfwd(x):
    sin = np.sin(x)
    x_0 = x[0]
    jacobian = np.zeros((len(x), len(x)))
    for i in range(len(x)):
        x_dot = np.zeros_like(x)
        x_dot[i] = 1.0
        jacobian[:, i] = x_0 * (np.cos(x) * x_dot) + sin * x_dot[0]
    return jacobian
