import math


def rotated_grad(point_0, point_1, turn):
    # forward sweep
    r = math.hypot(point_0, point_1)
    angle = math.atan2(point_1, point_0)
    cos = math.cos(angle + turn)
    x = r * cos
    sin = math.sin(angle + turn)
    y = r * sin
    # reverse sweep
    # programs.py  return math.hypot(x, y), math.atan2(y, x)
    turn_bar = r * x * cos - sin * r * y
    r2 = point_1 * point_1 + point_0 * point_0
    r_bar = sin * x + cos * y
    product_1 = turn_bar * (-point_1 / r2 if r2 != 0 else 0.0)
    point_0_bar = product_1 + r_bar * (point_0 / r if r != 0 else 0.0)
    product = turn_bar * (point_0 / r2 if r2 != 0 else 0.0)
    return point_0_bar, product + r_bar * (point_1 / r if r != 0 else 0.0), turn_bar
