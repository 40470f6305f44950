import numpy as np


def helper_linear_forward(x, a):
    sin_tape = []
    x_tape = []
    for _ in range(2):
        sin = np.sin(x)
        sin_tape.append(sin)
        x_tape.append(x)
        x = a * sin
    sin_tape_1 = []
    cos_tape = []
    for _ in reversed(range(2)):
        sin_tape_1.append(sin_tape.pop())
        x_1 = x_tape.pop()
        cos_tape.append(np.cos(x_1))
    return x, cos_tape, sin_tape_1


def helper_linear(cos_tape, sin_tape, a, x_dot, a_dot):
    x_dot_1 = x_dot
    for _ in range(2):
        # test_jacobian.py  x = a * np.sin(x)
        x_dot_1 = a * cos_tape.pop() * x_dot_1 + sin_tape.pop() * a_dot
    return x_dot_1
