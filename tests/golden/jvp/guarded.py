import math


def guarded_jvp(x, y, x_dot, y_dot):
    total = x * y
    total_dot = y * x_dot + x * y_dot
    total_dot_1 = total_dot
    if x > 0.0 and math.log(x) < y:
        log = math.log(x)
        total_dot_1 += log * y_dot + y * x_dot / x
        total += y * log
    if x <= 0.0 or math.sqrt(x) > y:
        total_dot_1 -= math.cos(x * y) * total_dot
        total -= math.sin(x * y)
    return total, total_dot_1
