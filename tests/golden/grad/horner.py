import numpy as np


def horner_grad(coefficients, x):
    # forward sweep
    value = 0.0
    value_tape = []
    for k in range(len(coefficients) - 1, -1, -1):
        value_tape.append(value)
        value = value * x + coefficients[k]
    # reverse sweep
    coefficients_bar = np.zeros_like(coefficients)
    # programs.py  return value
    value_bar = 1.0
    x_bar = 0.0
    for k in reversed(range(len(coefficients) - 1, -1, -1)):
        # programs.py  value = value * x + coefficients[k]
        coefficients_bar[k] += value_bar
        value = value_tape.pop()
        x_bar += value_bar * value
        value_bar = x * value_bar
    return coefficients_bar, float(x_bar)
