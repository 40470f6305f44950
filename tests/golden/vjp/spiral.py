import math


def spiral_forward(x, y):
    r = math.hypot(x, y)
    angle = math.atan2(y, x)
    quotient = angle / r
    return r * angle, quotient, r, quotient, angle


def spiral_backward(r, quotient, angle, x, y, product_bar, quotient_bar):
    # programs.py  return math.hypot(x, y), math.atan2(y, x)
    angle_bar = quotient_bar / r + r * product_bar
    r2 = y * y + x * x
    r_bar = angle * product_bar - quotient / r * quotient_bar
    product_1 = angle_bar * (-y / r2 if r2 != 0 else 0.0)
    x_bar = product_1 + r_bar * (x / r if r != 0 else 0.0)
    product = angle_bar * (x / r2 if r2 != 0 else 0.0)
    return x_bar, product + r_bar * (y / r if r != 0 else 0.0)
