import math


def guarded_grad(x, y):
    # forward sweep
    gt = x > 0.0
    both = gt and math.log(x) < y
    if both:
        log = math.log(x)
    le = x <= 0.0
    # reverse sweep
    x_bar = 0.0
    y_bar = 0.0
    if le or math.sqrt(x) > y:
        # programs.py  total -= math.sin(x * y)
        cos = math.cos(x * y)
        x_bar -= y * cos
        y_bar -= x * cos
    if both:
        # programs.py  total += y * math.log(x)
        y_bar += log
        x_bar += y / x
    # programs.py  total = x * y
    x_bar += y
    y_bar += x
    return x_bar, y_bar
