import numpy as np


def pivoted_grad(a):
    # forward sweep
    u = a.copy()
    p_tape = []
    u_tape = []
    for k in range(len(a)):
        p = k + int(np.argmax(np.abs(u[k:, k])))
        p_tape.append(p)
        if p != k:
            u[[k, p]] = u[[p, k]]
        for i in range(k + 1, len(a)):
            u_tape.append(u[i, k:].copy())
            u[i, k:] -= u[i, k] / u[k, k] * u[k, k:]
    # reverse sweep
    u_bar = np.zeros((len(a), a.shape[1]))
    for k in reversed(range(len(a))):
        # programs.py  total += np.log(np.abs(u[k, k]))
        u_item = u[k, k]
        u_bar[k, k] += np.sign(u_item) / np.abs(u_item)
        for i in reversed(range(k + 1, len(a))):
            # programs.py  u[i, k:] -= u[i, k] / u[k, k] * u[k, k:]
            u_bar_1 = u_bar[i, k:]
            u[i, k:] = u_tape.pop()
            total = np.sum(u_bar_1 * u[k, k:])
            u_item_1 = u[k, k]
            quotient = u[i, k] / u_item_1
            u_bar[k, k:] -= u_bar_1 * quotient
            u_bar[k, k] += quotient / u_item_1 * total
            u_bar[i, k] -= total / u_item_1
        # programs.py  u[[k, p]] = u[[p, k]]
        p = p_tape.pop()
        if p != k:
            u_bar[[p, k]] = u_bar[[k, p]]
            u[[p, k]] = u[[k, p]]
    return u_bar
