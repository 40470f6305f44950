import math


def moments_jvp(xs, ws, xs_dot, ws_dot):
    total = 0.0
    total_dot = 0.0
    for i in range(min(len(xs), len(ws))):
        x = xs[i]
        w = ws[i]
        power = x ** (i + 1)
        if i + 1 >= 1 or x != 0:
            by_x = (i + 1) * x**i
        else:
            by_x = (i + 1) * math.inf if i + 1 != 0 else 0.0
        total_dot += power * ws_dot[i] + w * by_x * xs_dot[i]
        total += w * power
    return total, total_dot
