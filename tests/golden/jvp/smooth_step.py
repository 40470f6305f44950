import math


def smooth_step_jvp(x, sharpness, x_dot, sharpness_dot):
    larger = max(x, 0.0)
    inside = min(larger, 1.0)
    inside_dot = (0.0 if 1.0 < larger else 1.0) * ((0.0 if 0.0 > x else 1.0) * x_dot)
    rise = inside ** sharpness
    ge = sharpness >= 1
    by_base = sharpness * inside ** (sharpness - 1) if ge else sharpness * (rise /
        inside) if sharpness < 0 else sharpness * (rise / inside
        ) if inside != 0 else 0.0 if sharpness == 0 else math.inf
    by_exponent = rise * math.log(inside
        ) if inside > 0 else 0.0 if inside == 0 else math.nan
    rise_dot = by_base * inside_dot + by_exponent * sharpness_dot
    difference = 1.0 - inside
    fall = difference ** sharpness
    by_base = sharpness * difference ** (sharpness - 1) if ge else sharpness * (fall /
        difference) if sharpness < 0 else sharpness * (fall / difference
        ) if difference != 0 else 0.0 if sharpness == 0 else math.inf
    by_exponent = fall * math.log(difference
        ) if difference > 0 else 0.0 if difference == 0 else math.nan
    fall_dot = by_exponent * sharpness_dot - by_base * inside_dot
    total = rise + fall
    quotient = rise / total
    difference = rise_dot / total - quotient / total * (rise_dot + fall_dot)
    return quotient, difference
