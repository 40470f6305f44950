import math


def arc_length_jvp(a, b, stretch, a_dot, b_dot, stretch_dot):
    h = (b - a) / 4
    h_dot = (b_dot - a_dot) / 4
    cos = math.cos(a)
    sqrt = math.sqrt(1.0 + (stretch * cos) ** 2)
    cos_1 = math.cos(b)
    sqrt_1 = math.sqrt(1.0 + (stretch * cos_1) ** 2)
    total = sqrt + sqrt_1
    product_1 = stretch * cos_1 * (cos_1 * stretch_dot - stretch * math.sin(b) * b_dot)
    product_dot = cos * stretch_dot - stretch * math.sin(a) * a_dot
    total_dot = stretch * cos * product_dot / sqrt + product_1 / sqrt_1
    for k in range(1, 4):
        chosen = 4.0 if k % 2 else 2.0
        total_1 = a + k * h
        cos_2 = math.cos(total_1)
        product = stretch * cos_2
        sqrt_2 = math.sqrt(1.0 + product**2)
        product_2 = stretch * math.sin(total_1) * (a_dot + k * h_dot)
        total_dot += chosen * product * (cos_2 * stretch_dot - product_2) / sqrt_2
        total += chosen * sqrt_2
    return h / 3.0 * total, total * h_dot / 3.0 + h / 3.0 * total_dot
