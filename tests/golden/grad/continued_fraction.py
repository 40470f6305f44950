import numpy as np


def continued_fraction_grad(terms):
    # forward sweep
    value = 0.0
    value_tape = []
    for i in reversed(range(len(terms))):
        a = terms[i]
        value_tape.append(value)
        value = 1.0 / (a + value)
    # reverse sweep
    terms_bar = np.zeros_like(terms)
    # programs.py  return value
    value_bar = 1.0
    for i_1 in range(len(terms)):
        # programs.py  value = 1.0 / (a + value)
        a = terms[i_1]
        value = value_tape.pop()
        total = a + value
        value_bar = -(1.0 / total / total * value_bar)
        terms_bar[i_1] += value_bar
    return terms_bar
