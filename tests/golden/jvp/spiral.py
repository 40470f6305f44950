import math


def spiral_jvp(x, y, x_dot, y_dot):
    r = math.hypot(x, y)
    r_dot = (x / r if r != 0 else 0.0) * x_dot + (y / r if r != 0 else 0.0) * y_dot
    angle = math.atan2(y, x)
    r2 = y * y + x * x
    product = (-y / r2 if r2 != 0 else 0.0) * x_dot
    angle_dot = (x / r2 if r2 != 0 else 0.0) * y_dot + product
    quotient_dot = angle_dot / r - angle / r / r * r_dot
    return r * angle, angle / r, angle * r_dot + r * angle_dot, quotient_dot
