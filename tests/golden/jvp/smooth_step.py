import math


def smooth_step_jvp(x, sharpness, x_dot, sharpness_dot):
    larger = max(x, 0.0)
    inside = min(larger, 1.0)
    inside_dot = (0.0 if 1.0 < larger else 1.0) * ((0.0 if 0.0 > x else 1.0) * x_dot)
    power = inside ** sharpness
    ge = sharpness >= 1
    by_base = sharpness * inside ** (sharpness - 1) if ge else sharpness * (power /
        inside) if sharpness < 0 else sharpness * (power / inside
        ) if inside != 0 else 0.0 if sharpness == 0 else math.inf
    gt = inside > 0
    by_exponent = power * math.log(inside) if gt else 0.0 if inside == 0 else math.nan
    power_1 = inside ** sharpness
    by_base_1 = sharpness * inside ** (sharpness - 1) if ge else sharpness * (power_1 /
        inside) if sharpness < 0 else sharpness * (power_1 / inside
        ) if inside != 0 else 0.0 if sharpness == 0 else math.inf
    by_exponent_1 = power_1 * math.log(inside
        ) if gt else 0.0 if inside == 0 else math.nan
    difference = 1.0 - inside
    power_2 = difference ** sharpness
    by_base_2 = sharpness * difference ** (sharpness - 1) if ge else sharpness * (
        power_2 / difference) if sharpness < 0 else sharpness * (power_2 / difference
        ) if difference != 0 else 0.0 if sharpness == 0 else math.inf
    by_exponent_2 = power_2 * math.log(difference
        ) if difference > 0 else 0.0 if difference == 0 else math.nan
    total = power_1 + power_2
    total_1 = by_base_1 * inside_dot + by_exponent_1 * sharpness_dot + (
        by_exponent_2 * sharpness_dot - by_base_2 * inside_dot)
    quotient = power / total
    quotient_1 = (by_base * inside_dot + by_exponent * sharpness_dot) / total
    return quotient, quotient_1 - quotient / total * total_1
