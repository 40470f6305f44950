import math


def smooth_step_grad(x, sharpness):
    # forward sweep
    inside = min(max(x, 0.0), 1.0)
    rise = inside ** sharpness
    fall = (1.0 - inside) ** sharpness
    # reverse sweep
    # programs.py  return rise / (rise + fall)
    total = rise + fall
    quotient = rise / (rise + fall) / total
    # programs.py  fall = (1.0 - inside) ** sharpness
    difference = 1.0 - inside
    ge = sharpness >= 1
    by_base = sharpness * difference ** (sharpness - 1) if ge else sharpness * (fall /
        difference) if sharpness < 0 else sharpness * (fall / difference
        ) if difference != 0 else 0.0 if sharpness == 0 else math.inf
    by_exponent = fall * math.log(difference
        ) if difference > 0 else 0.0 if difference == 0 else math.nan
    # programs.py  rise = inside**sharpness
    rise_bar = 1 / total - quotient
    by_base_1 = sharpness * inside ** (sharpness - 1) if ge else sharpness * (rise /
        inside) if sharpness < 0 else sharpness * (rise / inside
        ) if inside != 0 else 0.0 if sharpness == 0 else math.inf
    by_exponent_1 = rise * math.log(inside
        ) if inside > 0 else 0.0 if inside == 0 else math.nan
    # programs.py  inside = min(max(x, 0.0), 1.0)
    larger_bar = (quotient * by_base + rise_bar * by_base_1) * (0.0 if 1.0 < max(x, 
        0.0) else 1.0)
    return larger_bar * (0.0 if 0.0 > x else 1.0
        ), rise_bar * by_exponent_1 - quotient * by_exponent
