import math


def smooth_step_grad(x, sharpness):
    # forward sweep
    inside = min(max(x, 0.0), 1.0)
    rise = inside**sharpness
    difference = 1.0 - inside
    fall = difference**sharpness
    # reverse sweep
    # programs.py  return rise / (rise + fall)
    quotient = rise / (rise + fall) / (rise + fall)
    if sharpness >= 1 or difference != 0:
        # programs.py  fall = (1.0 - inside) ** sharpness
        slope = sharpness * difference ** (sharpness - 1)
    else:
        slope = sharpness * math.inf if sharpness != 0 else 0.0
    # programs.py  rise = inside**sharpness
    rise_bar = 1 / (rise + fall) - quotient
    if sharpness >= 1 or inside != 0:
        by_inside = sharpness * inside ** (sharpness - 1)
    else:
        by_inside = sharpness * math.inf if sharpness != 0 else 0.0
    product = quotient * (0.0 if difference == 0 else fall * math.log(difference))
    inside_bar = quotient * slope + rise_bar * by_inside
    x_bar = inside_bar * (0.0 if 1.0 < max(x, 0.0) else 1.0) * (0.0 if 0.0 > x else 1.0)
    return x_bar, rise_bar * (0.0 if inside == 0 else rise * math.log(inside)) - product
