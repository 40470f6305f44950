import math


def arc_length_grad(a, b, stretch):
    # forward sweep
    h = (b - a) / 4
    cos = math.cos(a)
    sqrt = math.sqrt(1.0 + (stretch * cos) ** 2)
    cos_1 = math.cos(b)
    sqrt_1 = math.sqrt(1.0 + (stretch * cos_1) ** 2)
    total = sqrt + sqrt_1
    for k in range(1, 4):
        sqrt_2 = math.sqrt(1.0 + (stretch * math.cos(a + k * h)) ** 2)
        total += (4.0 if k % 2 else 2.0) * sqrt_2
    # reverse sweep
    # programs.py  return h / 3.0 * total
    total_bar = h / 3.0
    h_bar = total / 3.0
    a_bar = 0.0
    stretch_bar = 0.0
    for k in range(1, 4):
        total_1 = a + k * h
        cos_2 = math.cos(total_1)
        product = stretch * cos_2
        # programs.py  return math.sqrt(1.0 + (stretch * math.cos(t)) ** 2)
        sqrt_bar = (4.0 if k % 2 else 2.0) * total_bar
        product_2 = sqrt_bar / math.sqrt(1.0 + product**2) * product
        stretch_bar += cos_2 * product_2
        product_1 = math.sin(total_1) * stretch * product_2
        # programs.py  total += (4.0 if k % 2 else 2.0) * f(a + k * h)
        a_bar -= product_1
        h_bar -= k * product_1
    # programs.py  return math.sqrt(1.0 + (stretch * math.cos(t)) ** 2)
    product_3 = total_bar / sqrt_1 * stretch * cos_1
    product_4 = total_bar / sqrt * stretch * cos
    # programs.py  h = (b - a) / n
    difference_bar = h_bar / 4
    a_bar -= math.sin(a) * stretch * product_4 + difference_bar
    b_bar = difference_bar - math.sin(b) * stretch * product_3
    return a_bar, b_bar, stretch_bar + cos_1 * product_3 + cos * product_4
