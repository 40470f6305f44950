"""jacrev: cotangents have an axis of the rows in front."""

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
    # test_jacobian.py  return x
    x_bar = np.eye(len(x))
    for _ in range(n):
        # test_jacobian.py  x = np.sin(x) * x + 0.5
        x = x_tape.pop()
        x_bar = sin_tape.pop() * x_bar + x_bar * x * np.cos(x)
    return x_bar
