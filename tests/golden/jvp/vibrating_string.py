import numpy as np


def vibrating_string_jvp(start, steps, stiffness, start_dot, stiffness_dot):
    copy_1 = start_dot.copy()
    now_dot = copy_1.copy()
    now = start.copy()
    before_dot = copy_1.copy()
    before = start.copy()
    for _ in range(steps):
        for i in range(1, len(start) - 1):
            pull = now[i - 1] - 2.0 * now[i] + now[i + 1]
            pull_dot = now_dot[i - 1] - 2.0 * now_dot[i] + now_dot[i + 1]
            product = stiffness * pull
            total = 1.0 + pull**2
            product_1 = total * (pull * stiffness_dot + stiffness * pull_dot)
            product_dot = product_1 + 2.0 * product * pull * pull_dot
            before_dot[i] = 2.0 * now_dot[i] - before_dot[i] + product_dot
            before[i] = 2.0 * now[i] - before[i] + product * total
        now_dot, now, before_dot, before = before_dot, before, now_dot, now
    return np.sum(now**2), np.sum(2.0 * (now * now_dot))
