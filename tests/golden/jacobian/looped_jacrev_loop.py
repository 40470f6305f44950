import numpy as np


def looped_jacrev(x, n):
    # forward sweep
    x_1 = x
    sin_tape = []
    x_tape = []
    for _ in range(n):
        sin = np.sin(x_1)
        sin_tape.append(sin)
        x_tape.append(x_1)
        x_1 = sin * x_1 + 0.5
    # reverse sweep
    jacobian = np.zeros((len(x), len(x)))
    for i in range(len(x)):
        x_bar = np.zeros_like(x)
        x_bar[i] = 1.0
        sin_tape_1 = sin_tape.copy()
        x_tape_1 = x_tape.copy()
        for _ in range(n):
            # test_jacobian.py  x = np.sin(x) * x + 0.5
            x_1 = x_tape_1.pop()
            x_bar = sin_tape_1.pop() * x_bar + x_bar * x_1 * np.cos(x_1)
        jacobian[i] = x_bar
    return jacobian
