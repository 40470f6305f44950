import math


def wave_jvp(x, y, x_dot, y_dot):
    r = math.sqrt(x * x + y * y)
    r_dot = (0.5 / r if r != 0 else math.inf) * (2.0 * x * x_dot + 2.0 * y * y_dot)
    quotient = math.sin(3.0 * r) / r
    exp = math.exp(-y)
    quotient_dot = 3.0 * math.cos(3.0 * r) * r_dot / r - quotient / r * r_dot
    return quotient + x * exp, quotient_dot + (exp * x_dot - x * exp * y_dot)
