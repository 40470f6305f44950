import math


def moments_jvp(xs, ws, xs_dot, ws_dot):
    total = 0.0
    total_dot = 0.0
    for i in range(min(len(xs), len(ws))):
        x = xs[i]
        w = ws[i]
        power = x ** (i + 1)
        by_base = (i + 1) * x ** i if i + 1 >= 1 else (i + 1) * (power / x
            ) if i + 1 < 0 else (i + 1) * (power / x
            ) if x != 0 else 0.0 if i + 1 == 0 else math.inf
        total_dot += power * ws_dot[i] + w * (by_base * xs_dot[i])
        total += w * power
    return total, total_dot
