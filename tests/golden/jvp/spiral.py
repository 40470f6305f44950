import math


def spiral_jvp(x, y, x_dot, y_dot):
    r = math.hypot(x, y)
    ne = r != 0
    r_dot = (x / r if ne else 0.0) * x_dot + (y / r if ne else 0.0) * y_dot
    angle = math.atan2(y, x)
    r2 = y * y + x * x
    ne = r2 != 0
    angle_dot = (x / r2 if ne else 0.0) * y_dot + (-(y / r2) if ne else 0.0) * x_dot
    quotient = angle / r
    return (r * angle, quotient, angle * r_dot + r * angle_dot, angle_dot / r - 
        quotient / r * r_dot)
