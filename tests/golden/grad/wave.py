import math


def wave_grad(x, y):
    # forward sweep
    r = math.sqrt(x * x + y * y)
    exp = math.exp(-y)
    # reverse sweep
    # programs.py  r = math.sqrt(x * x + y * y)
    r_bar = 3.0 * math.cos(3.0 * r) / r - math.sin(3.0 * r) / r / r
    total_bar = r_bar * (0.5 / r if r != 0 else math.inf)
    return exp + 2.0 * x * total_bar, 2.0 * y * total_bar - exp * x
