import math


def guarded_grad(x, y):
    # forward sweep
    both = x > 0.0 and math.log(x) < y
    if both:
        log = math.log(x)
    # reverse sweep
    x_bar = 0.0
    y_bar = 0.0
    if x <= 0.0 or math.sqrt(x) > y:
        # programs.py  total -= math.sin(x * y)
        cos = math.cos(x * y)
        x_bar -= y * cos
        y_bar -= x * cos
    if both:
        # programs.py  total += y * math.log(x)
        y_bar += log
        x_bar += y / x
    return x_bar + y, y_bar + x
