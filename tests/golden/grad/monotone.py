import numpy as np


def monotone_grad(x):
    # forward sweep
    stack = [x[0]]
    trips_tape = []
    for v in x:
        trips = 0
        while len(stack) > 0 and stack[-1] > v:
            trips += 1
            stack.pop()
        trips_tape.append(trips)
        stack.append(v * v)
    # reverse sweep
    x_bar = np.zeros_like(x)
    stack_bar = [0.0] * len(stack)
    # programs.py  return sum(stack) * len(stack)
    result_bar = 1.0 * len(stack)
    for i in range(len(stack)):
        stack_bar[i] += result_bar
    for i_1 in reversed(range(len(x))):
        # programs.py  stack.append(v * v)
        v = x[i_1]
        # programs.py  stack.pop()
        product = stack_bar.pop() * v
        for _ in range(trips_tape.pop()):
            stack_bar.append(0.0)
        # programs.py  for v in x:
        x_bar[i_1] += 2.0 * product
    # programs.py  stack = [x[0]]
    x_bar[0] += stack_bar.pop()
    return x_bar
