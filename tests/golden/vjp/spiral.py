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
    ne = r2 != 0
    r_bar = angle * product_bar - quotient / r * quotient_bar
    ne_1 = r != 0
    x_bar = angle_bar * (-(y / r2) if ne else 0.0) + r_bar * (x / r if ne_1 else 0.0)
    y_bar = angle_bar * (x / r2 if ne else 0.0) + r_bar * (y / r if ne_1 else 0.0)
    return x_bar, y_bar
