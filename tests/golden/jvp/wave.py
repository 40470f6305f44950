import math


def wave_jvp(x, y, x_dot, y_dot):
    r = math.sqrt(x * x + y * y)
    r_dot = (0.5 / r if r != 0 else math.inf) * (2.0 * (x * x_dot) + 2.0 * (y * y_dot))
    product = 3.0 * r
    quotient = math.sin(product) / r
    difference = math.cos(product) * (3.0 * r_dot) / r - quotient / r * r_dot
    exp = math.exp(-y)
    return quotient + x * exp, difference + (exp * x_dot - x * (exp * y_dot))
