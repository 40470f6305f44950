import math


def rotated_jvp(point_0, point_1, turn, point_0_dot, point_1_dot, turn_dot):
    r = math.hypot(point_0, point_1)
    product = (point_0 / r if r != 0 else 0.0) * point_0_dot
    r_dot = product + (point_1 / r if r != 0 else 0.0) * point_1_dot
    angle = math.atan2(point_1, point_0)
    r2 = point_1 * point_1 + point_0 * point_0
    product_1 = (-point_1 / r2 if r2 != 0 else 0.0) * point_0_dot
    angle_dot = (point_0 / r2 if r2 != 0 else 0.0) * point_1_dot + product_1
    cos = math.cos(angle + turn)
    sin = math.sin(angle + turn)
    x = r * cos
    x_dot = cos * r_dot - r * sin * (angle_dot + turn_dot)
    y = r * sin
    y_dot = sin * r_dot + r * cos * (angle_dot + turn_dot)
    return x * y, y * x_dot + x * y_dot
