import math


def smooth_step_jvp(x, sharpness, x_dot, sharpness_dot):
    larger = max(x, 0.0)
    inside = min(larger, 1.0)
    inside_dot = (0.0 if 1.0 < larger else 1.0) * (0.0 if 0.0 > x else 1.0) * x_dot
    rise = inside**sharpness
    sharpness_is_above = sharpness >= 1
    if sharpness_is_above:
        by_inside = sharpness * inside ** (sharpness - 1)
    elif inside != 0:
        by_inside = sharpness * rise / inside
    else:
        by_inside = sharpness * math.inf if sharpness != 0 else 0.0
    if inside > 0:
        slope = rise * math.log(inside)
    else:
        slope = 0.0 if inside == 0 else math.nan
    rise_dot = by_inside * inside_dot + slope * sharpness_dot
    difference = 1.0 - inside
    fall = difference**sharpness
    if sharpness_is_above:
        slope_1 = sharpness * difference ** (sharpness - 1)
    elif difference != 0:
        slope_1 = sharpness * fall / difference
    else:
        slope_1 = sharpness * math.inf if sharpness != 0 else 0.0
    if difference > 0:
        slope_2 = fall * math.log(difference)
    else:
        slope_2 = 0.0 if difference == 0 else math.nan
    fall_dot = slope_2 * sharpness_dot - slope_1 * inside_dot
    total = rise + fall
    return rise / total, rise_dot / total - rise / total / total * (rise_dot + fall_dot)
