import numpy as np


def selected_grad(x, limit):
    # forward sweep
    squares = [v * v for v in x if v > limit]
    # reverse sweep
    x_bar = np.zeros_like(x)
    squares_bar = [0.0] * len(squares)
    # programs.py  return total * len(squares)
    total_bar = 1.0 * len(squares)
    for k, s in enumerate(squares):
        # programs.py  for k, s in enumerate(squares):
        squares_bar[k] += 2.0 * k * total_bar * s
    # programs.py  total = squares[0]
    squares_bar[0] += total_bar
    for i in reversed(range(len(x))):
        # programs.py  squares = [v * v for v in x if v > limit]
        v = x[i]
        v_bar = 0.0
        if v > limit:
            v_bar += 2.0 * squares_bar.pop() * v
        x_bar[i] += v_bar
    return x_bar, 0.0
