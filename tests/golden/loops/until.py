import math
import numpy as np


def until_grad(x, n):
    # forward sweep
    k = 0
    x_tape = np.empty(16)
    x_top = 0
    room = 16
    trips = 0
    while k < n and x < 3.0:
        trips += 1
        if x_top + 1 > room:
            room = max(2 * room, x_top + 1)
            x_tape = np.resize(x_tape, room)
        k += 1
        x_tape[x_top] = x
        x_top += 1
        x += math.sin(x) * 0.5
    # reverse sweep
    x_bar = 1.0
    for _ in range(trips):
        x_top -= 1
        x = x_tape[x_top]
        x_bar += 0.5 * x_bar * math.cos(x)
    return x_bar
