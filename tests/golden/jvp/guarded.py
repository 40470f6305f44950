import math


def guarded_jvp(x, y, x_dot, y_dot):
    total_dot = y * x_dot + x * y_dot
    gt = x > 0.0
    total_dot_1 = total_dot
    total = x * y
    if gt and math.log(x) < y:
        log = math.log(x)
        total_dot_1 += log * y_dot + y * (x_dot / x)
        total += y * log
    le = x <= 0.0
    if le or math.sqrt(x) > y:
        product = x * y
        total_dot_1 -= math.cos(product) * total_dot
        total -= math.sin(product)
    return total, total_dot_1
