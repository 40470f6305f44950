import numpy as np


def vibrating_string_grad(start, steps, stiffness):
    # forward sweep
    now = start.copy()
    before = start.copy()
    power_tape = []
    now_tape = []
    for _ in range(steps):
        for i in range(1, len(start) - 1):
            pull = now[i - 1] - 2.0 * now[i] + now[i + 1]
            power = pull**2
            power_tape.append(power)
            before[i] = 2.0 * now[i] - before[i] + stiffness * pull * (1.0 + power)
        now_tape.append(now.copy())
        now, before = before, now
    # reverse sweep
    before_bar = np.zeros(len(start))
    # programs.py  return np.sum(now**2)
    now_bar = 2.0 * now
    stiffness_bar = 0.0
    for _ in range(steps):
        # programs.py  now, before = before, now
        now_bar, before_bar = before_bar, now_bar
        # programs.py  for i in range(1, len(start) - 1):
        now[...] = now_tape.pop()
        for i in reversed(range(1, len(start) - 1)):
            # programs.py  before[i] = 2.0 * now[i] - before[i] + stiffness * pu ...
            before_bar_1 = before_bar[i]
            product_bar = before_bar_1 * (1.0 + power_tape.pop())
            pull = now[i - 1] - 2.0 * now[i] + now[i + 1]
            stiffness_bar += product_bar * pull
            before_bar[i] = -before_bar_1
            now_bar[i] += 2.0 * before_bar_1
            # programs.py  pull = now[i - 1] - 2.0 * now[i] + now[i + 1]
            product = 2.0 * before_bar_1 * stiffness * pull * pull
            pull_bar = product + stiffness * product_bar
            now_bar[i + 1] += pull_bar
            now_bar[i] -= 2.0 * pull_bar
            now_bar[i - 1] += pull_bar
    return before_bar + now_bar, float(stiffness_bar)
