import math


def rotated_jvp(point_0, point_1, turn, point_0_dot, point_1_dot, turn_dot):
    r = math.hypot(point_0, point_1)
    ne = r != 0
    r_dot = (point_0 / r if ne else 0.0) * point_0_dot + (point_1 / r if ne else 0.0
        ) * point_1_dot
    angle = math.atan2(point_1, point_0)
    r2 = point_1 * point_1 + point_0 * point_0
    ne = r2 != 0
    angle_dot = (point_0 / r2 if ne else 0.0) * point_1_dot + (-(point_1 / r2) if ne
         else 0.0) * point_0_dot
    total = angle + turn
    total_1 = angle_dot + turn_dot
    cos = math.cos(total)
    x = r * cos
    x_dot = cos * r_dot - r * (math.sin(total) * total_1)
    total = angle + turn
    sin = math.sin(total)
    y = r * sin
    y_dot = sin * r_dot + r * (math.cos(total) * total_1)
    return x * y, y * x_dot + x * y_dot
