import math


def smooth_step_jvp(x, sharpness, x_dot, sharpness_dot):
    larger = max(x, 0.0)
    inside = min(larger, 1.0)
    inside_dot = (0.0 if 1.0 < larger else 1.0) * (0.0 if 0.0 > x else 1.0) * x_dot
    rise = inside**sharpness
    if sharpness >= 1 or inside != 0:
        by_inside = sharpness * inside ** (sharpness - 1)
    else:
        by_inside = sharpness * math.inf if sharpness != 0 else 0.0
    product = (0.0 if inside == 0 else rise * math.log(inside)) * sharpness_dot
    rise_dot = by_inside * inside_dot + product
    difference = 1.0 - inside
    fall = difference**sharpness
    if sharpness >= 1 or difference != 0:
        slope = sharpness * difference ** (sharpness - 1)
    else:
        slope = sharpness * math.inf if sharpness != 0 else 0.0
    slope_1 = 0.0 if difference == 0 else fall * math.log(difference)
    fall_dot = slope_1 * sharpness_dot - slope * inside_dot
    product_1 = rise / (rise + fall) / (rise + fall) * (rise_dot + fall_dot)
    return rise / (rise + fall), rise_dot / (rise + fall) - product_1
