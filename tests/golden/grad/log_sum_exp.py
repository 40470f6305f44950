import math
import numpy as np


def log_sum_exp_grad(a):
    # forward sweep
    largest = a[0]
    a_i_is_above_tape = []
    for i in range(1, len(a)):
        a_i_is_above = a[i] > largest
        a_i_is_above_tape.append(a_i_is_above)
        if a_i_is_above:
            largest = a[i]
    total = 0.0
    for x in a:
        total += math.exp(x - largest)
    math.log(total)
    # reverse sweep
    a_bar = np.zeros_like(a)
    # programs.py  return largest + math.log(total)
    total_bar = 1 / total
    largest_bar = 1.0
    for i, x in enumerate(a):
        # programs.py  total += math.exp(x - largest)
        difference_bar = math.exp(x - largest) * total_bar
        largest_bar -= difference_bar
        # programs.py  for x in a:
        a_bar[i] += difference_bar
    for i in reversed(range(1, len(a))):
        if a_i_is_above_tape.pop():
            # programs.py  largest = a[i]
            a_bar[i] += largest_bar
            largest_bar = 0.0
    # programs.py  largest = a[0]
    a_bar[0] += largest_bar
    return a_bar
