import math


def simpson_forward(a, b, n, stretch):
    h = (b - a) / n
    cos = math.cos(a)
    sqrt = math.sqrt(1.0 + (stretch * cos) ** 2)
    cos_1 = math.cos(b)
    sqrt_1 = math.sqrt(1.0 + (stretch * cos_1) ** 2)
    total = sqrt + sqrt_1
    for k in range(1, n):
        sqrt_2 = math.sqrt(1.0 + (stretch * math.cos(a + k * h)) ** 2)
        total += (4.0 if k % 2 else 2.0) * sqrt_2
    return total, h, sqrt_1, stretch * cos_1, cos_1, sqrt, stretch * cos, cos


def simpson_backward(
    total,
    h,
    sqrt,
    product,
    cos,
    sqrt_1,
    product_1,
    cos_1,
    a,
    b,
    n,
    stretch,
    product_bar,
):
    # forward sweep
    total_1 = total
    # reverse sweep
    # programs.py  return h / 3.0 * total
    total_bar = product_bar * h / 3.0
    h_bar = product_bar * total_1 / 3.0
    a_bar = 0.0
    stretch_bar = 0.0
    for k in range(1, n):
        total_2 = a + k * h
        cos_2 = math.cos(total_2)
        product_2 = stretch * cos_2
        sqrt_2 = math.sqrt(1.0 + product_2**2)
        # programs.py  return math.sqrt(1.0 + (stretch * math.cos(t)) ** 2)
        slope = 0.5 / sqrt_2 if sqrt_2 != 0 else math.inf
        product_bar_1 = 2.0 * (4.0 if k % 2 else 2.0) * total_bar * slope * product_2
        stretch_bar += cos_2 * product_bar_1
        product_3 = math.sin(total_2) * stretch * product_bar_1
        # programs.py  total += (4.0 if k % 2 else 2.0) * f(a + k * h)
        a_bar -= product_3
        h_bar -= k * product_3
    # programs.py  return math.sqrt(1.0 + (stretch * math.cos(t)) ** 2)
    product_bar_2 = 2.0 * total_bar * (0.5 / sqrt if sqrt != 0 else math.inf) * product
    stretch_bar += cos * product_bar_2
    slope_1 = 0.5 / sqrt_1 if sqrt_1 != 0 else math.inf
    product_bar_3 = 2.0 * total_bar * slope_1 * product_1
    a_bar -= math.sin(a) * stretch * product_bar_3
    # programs.py  h = (b - a) / n
    difference_bar = h_bar / n
    b_bar = difference_bar - math.sin(b) * stretch * product_bar_2
    return a_bar - difference_bar, b_bar, stretch_bar + cos_1 * product_bar_3


def arc_length_grad(a, b, stretch):
    total, h, sqrt, product, cos, sqrt_1, product_1, cos_1 = simpson_forward(
        a, b, 4, stretch
    )
    return simpson_backward(
        total, h, sqrt, product, cos, sqrt_1, product_1, cos_1, a, b, 4, stretch, 1.0
    )
