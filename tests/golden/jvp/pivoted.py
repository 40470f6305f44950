import numpy as np


def pivoted_jvp(a, a_dot):
    u_dot = a_dot.copy()
    u = a.copy()
    total = 0.0
    total_dot = 0.0
    for k in range(len(a)):
        p = k + int(np.argmax(np.abs(u[k:, k])))
        if p != k:
            u_dot[[k, p]] = u_dot[[p, k]]
            u[[k, p]] = u[[p, k]]
        for i in range(k + 1, len(a)):
            u_item = u[k, k]
            quotient = u[i, k] / u_item
            u_part = u[k, k:]
            quotient_dot = u_dot[i, k] / u_item - quotient / u_item * u_dot[k, k]
            u_dot[i, k:] -= u_part * quotient_dot + quotient * u_dot[k, k:]
            u[i, k:] -= quotient * u_part
        u_item_1 = u[k, k]
        absolute = np.abs(u_item_1)
        total_dot += np.sign(u_item_1) * u_dot[k, k] / absolute
        total += np.log(absolute)
    return total, total_dot
