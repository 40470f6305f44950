import math


def arc_distance_grad(phi_a, lam_a, phi_b, lam_b):
    # forward sweep
    product = 0.5 * (phi_b - phi_a)
    sin_phi = math.sin(product)
    product_1 = 0.5 * (lam_b - lam_a)
    sin_lam = math.sin(product_1)
    cos = math.cos(phi_a)
    cos_1 = math.cos(phi_b)
    product_2 = cos * cos_1
    power = sin_lam**2
    h = sin_phi**2 + product_2 * power
    sqrt = math.sqrt(h)
    # reverse sweep
    # programs.py  return 2.0 * math.asin(math.sqrt(h))
    by_sqrt = 1 / math.sqrt((1 - sqrt) * (1 + sqrt)) if sqrt * sqrt != 1 else math.inf
    h_bar = 2.0 * by_sqrt * (0.5 / sqrt if sqrt != 0 else math.inf)
    # programs.py  h = sin_phi**2 + math.cos(phi_a) * math.cos(phi_b) * sin_lam**2
    product_bar = power * h_bar
    # programs.py  sin_lam = math.sin(0.5 * (lam_b - lam_a))
    product_3 = product_2 * h_bar * sin_lam * math.cos(product_1)
    # programs.py  sin_phi = math.sin(0.5 * (phi_b - phi_a))
    product_4 = h_bar * sin_phi * math.cos(product)
    total = math.sin(phi_a) * cos_1 * product_bar + product_4
    phi_b_bar = product_4 - math.sin(phi_b) * cos * product_bar
    return -total, -product_3, phi_b_bar, product_3
