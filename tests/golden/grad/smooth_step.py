import math


def smooth_step_grad(x, sharpness):
    # forward sweep
    inside = min(max(x, 0.0), 1.0)
    power = inside ** sharpness
    power_1 = inside ** sharpness
    power_2 = (1.0 - inside) ** sharpness
    total = power_1 + power_2
    # reverse sweep
    # programs.py  return inside**sharpness / (inside**sharpness + (1.0 - inside) ** sharpness)
    quotient = power / total / total
    difference = 1.0 - inside
    ge = sharpness >= 1
    by_base = sharpness * difference ** (sharpness - 1) if ge else sharpness * (power_2
         / difference) if sharpness < 0 else sharpness * (power_2 / difference
        ) if difference != 0 else 0.0 if sharpness == 0 else math.inf
    by_exponent = power_2 * math.log(difference
        ) if difference > 0 else 0.0 if difference == 0 else math.nan
    by_base_1 = sharpness * inside ** (sharpness - 1) if ge else sharpness * (power_1 /
        inside) if sharpness < 0 else sharpness * (power_1 / inside
        ) if inside != 0 else 0.0 if sharpness == 0 else math.inf
    gt = inside > 0
    by_exponent_1 = power_1 * math.log(inside
        ) if gt else 0.0 if inside == 0 else math.nan
    by_base_2 = sharpness * inside ** (sharpness - 1) if ge else sharpness * (power /
        inside) if sharpness < 0 else sharpness * (power / inside
        ) if inside != 0 else 0.0 if sharpness == 0 else math.inf
    by_exponent_2 = power * math.log(inside) if gt else 0.0 if inside == 0 else math.nan
    # programs.py  inside = min(max(x, 0.0), 1.0)
    inside_bar = quotient * by_base - quotient * by_base_1 + by_base_2 / total
    x_bar = inside_bar * (0.0 if 1.0 < max(x, 0.0) else 1.0) * (0.0 if 0.0 > x else 1.0)
    sharpness_bar = by_exponent_2 / total - (quotient * by_exponent + quotient *
        by_exponent_1)
    return x_bar, sharpness_bar
