import math


def simpson_jvp(a, b, n, stretch, a_dot, b_dot, stretch_dot):
    h = (b - a) / n
    h_dot = (b_dot - a_dot) / n
    cos = math.cos(a)
    product = stretch * cos
    difference = cos * stretch_dot - stretch * (math.sin(a) * a_dot)
    sqrt = math.sqrt(1.0 + product ** 2)
    product_1 = (0.5 / sqrt if sqrt != 0 else math.inf) * (2 * product * difference)
    cos = math.cos(b)
    product = stretch * cos
    difference = cos * stretch_dot - stretch * (math.sin(b) * b_dot)
    sqrt_1 = math.sqrt(1.0 + product ** 2)
    product = (0.5 / sqrt_1 if sqrt_1 != 0 else math.inf) * (2 * product * difference)
    total_dot = product_1 + product
    total = sqrt + sqrt_1
    for k in range(1, n):
        chosen = 4.0 if k % 2 else 2.0
        total_1 = a + k * h
        cos = math.cos(total_1)
        product = stretch * cos
        product_1 = stretch * (math.sin(total_1) * (a_dot + k * h_dot))
        sqrt = math.sqrt(1.0 + product ** 2)
        product = (0.5 / sqrt if sqrt != 0 else math.inf) * (2 * product * (cos *
            stretch_dot - product_1))
        total_dot += chosen * product
        total += chosen * sqrt
    quotient = h / 3.0
    total_1 = total * (0.3333333333333333 * h_dot) + quotient * total_dot
    return quotient * total, total_1

def arc_length_jvp(a, b, stretch, a_dot, b_dot, stretch_dot):
    simpson_value, simpson_value_dot = simpson_jvp(a, b, 4, stretch, a_dot, b_dot,
        stretch_dot)
    return simpson_value, simpson_value_dot
