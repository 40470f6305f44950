import math


def spiral_jvp(x, y, x_dot, y_dot):
    r = math.hypot(x, y)
    r_is_nonzero = r != 0
    product = (x / r if r_is_nonzero else 0.0) * x_dot
    r_dot = product + (y / r if r_is_nonzero else 0.0) * y_dot
    angle = math.atan2(y, x)
    r2 = y * y + x * x
    r2_is_nonzero = r2 != 0
    product_1 = (-y / r2 if r2_is_nonzero else 0.0) * x_dot
    angle_dot = (x / r2 if r2_is_nonzero else 0.0) * y_dot + product_1
    quotient_dot = angle_dot / r - angle / r / r * r_dot
    return r * angle, angle / r, angle * r_dot + r * angle_dot, quotient_dot
